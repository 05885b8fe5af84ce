"""Tendons keep their length: what a path gains or loses goes to the belly; the mesh slides along the path.

Thesis section 4.8.2. The nodes a mesh hangs on are places along the path, kept by their arc length. At bind
they are the path's own nodes; when the path is longer by ``L − L⁰`` each place is carried on by the share
of the belly that lies before it:

    s_k = s_k⁰ + (L − L⁰) b_k⁰ / B⁰,

with b_k⁰ the length of belly before node k and B⁰ that of all belly at bind. Tendon before, between or after
thus keeps its length exactly, the ends stay where they are, and bind is bind to the last bit. Where the
belly would be left with less than `SHORTEST` of its length the text says nothing: it keeps that much, and the
tendons give way, evenly; such lines are counted. All of it is continuous in the pose.

The path may be any polyline through the nodes: the nodes alone, or finer samples of a smooth curve, so many
to each segment (`subdivisions`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from numba import njit

from ecorche.errors import EcorcheError

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int32]
Bools = npt.NDArray[np.bool_]

SHORTEST = 0.1
"""A belly keeps at least this share of its length at bind."""


@dataclass(frozen=True, eq=False)
class SlidNodes:
    """What the mesh hangs on, in one pose.

    Attributes:
        nodes: Places along the path [m], (N, 3).
        lengths: Of their segments, along the path [m], (N − L,).
        slack: Lines whose belly is as short as it may be, so that tendons gave way, (L,).
    """

    nodes: Floats
    lengths: Floats
    slack: Bools


class Tendons:
    """Which parts of L lines are tendon, and how long all parts are at bind.

    Args:
        starts: Line l owns nodes ``starts[l]`` to ``starts[l + 1] − 1``, (L + 1,).
        path: The path at bind [m]: with k subdivisions, k − 1 points between each two nodes.
        tendon: Whether each segment between nodes is tendon, (N − L,).
        names: Of the lines, for messages.
        subdivisions: Pieces of the path to each segment.
    """

    def __init__(
        self,
        starts: npt.ArrayLike,
        path: npt.ArrayLike,
        tendon: npt.ArrayLike,
        names: Sequence[str],
        *,
        subdivisions: int = 1,
    ) -> None:
        self.starts = np.asarray(starts, np.int32)
        self.subdivisions = subdivisions
        flags, lines = np.ascontiguousarray(tendon, np.bool_), len(self.starts) - 1
        self.tendon = flags
        nodes = int(self.starts[-1])
        points = np.ascontiguousarray(path, np.float64)
        self._points = subdivisions * (nodes - lines) + lines
        if points.shape != (self._points, 3) or flags.shape != (nodes - lines,) or len(names) != lines:
            raise EcorcheError(
                f"a path of shape {points.shape}, {flags.size} segments and {len(names)} names do not fit"
                f" {lines} lines of {nodes} nodes in all",
                where="tendons",
                remedy="Give a flag a segment, and as many points a segment as there are subdivisions",
            )
        arc = np.empty(self._points)
        _arcs(self.starts, subdivisions, points, arc)
        self.arc = np.empty(nodes)
        """Arc length at bind of each node from its line's start [m], (N,)."""
        self.belly = np.zeros(nodes)
        """Belly before each node [m], (N,)."""
        self.lengths = np.empty(nodes - lines)
        """Of the segments at bind [m], (N − L,)."""
        for line, (a, b) in enumerate(zip(self.starts[:-1], self.starts[1:], strict=True)):
            at = subdivisions * (a - line) + line
            self.arc[a:b] = arc[at : at + subdivisions * (b - a - 1) + 1 : subdivisions]
            steps = np.diff(self.arc[a:b])
            if subdivisions == 1:
                steps = np.sqrt(np.sum(np.diff(points[a:b], axis=0) ** 2, axis=1))
            self.lengths[a - line : b - line - 1] = steps
            self.belly[a + 1 : b] = np.cumsum(np.where(flags[a - line : b - line - 1], 0.0, steps))
            if not (np.isfinite(steps).all() and self.belly[b - 1] > 0.0):
                raise EcorcheError(
                    "nothing of it is belly",
                    where=f"line {names[line]!r}",
                    remedy="Mark at least one segment of some length as belly: tendons do not stretch",
                )

    def slid(self, path: npt.ArrayLike) -> SlidNodes:
        """The nodes of the mesh for a path in a pose [m], of as many points as at bind."""
        points = np.ascontiguousarray(path, np.float64)
        if points.shape != (self._points, 3):
            raise EcorcheError(
                f"a path of shape {points.shape} does not fit {self._points} points",
                where="tendons",
                remedy="Pose the lines these tendons belong to",
            )
        nodes, lines = len(self.arc), len(self.starts) - 1
        posed, lengths, slack = np.empty((nodes, 3)), np.empty(nodes - lines), np.zeros(lines, np.bool_)
        arc = np.empty(self._points)
        _arcs(self.starts, self.subdivisions, points, arc)
        known = self.arc, self.belly, self.lengths, self.tendon
        _slide(self.starts, self.subdivisions, points, arc, *known, posed, lengths, slack)
        return SlidNodes(posed, lengths, slack)


@njit(cache=True)  # type: ignore[untyped-decorator]
def _arcs(starts: Ints, pieces: int, path: Floats, arc: Floats) -> None:
    """Arc length along each line up to every point of its path."""
    for line in range(len(starts) - 1):
        first = pieces * (starts[line] - line) + line
        count = pieces * (starts[line + 1] - starts[line] - 1) + 1
        total = 0.0
        arc[first] = 0.0
        for i in range(first + 1, first + count):
            x, y, z = path[i, 0] - path[i - 1, 0], path[i, 1] - path[i - 1, 1], path[i, 2] - path[i - 1, 2]
            total += np.sqrt(x * x + y * y + z * z)
            arc[i] = total


@njit(cache=True, error_model="numpy")  # type: ignore[untyped-decorator]
def _slide(
    starts: Ints,
    pieces: int,
    path: Floats,
    arc: Floats,
    bind: Floats,
    belly: Floats,
    segments: Floats,
    tendon: Bools,
    nodes: Floats,
    lengths: Floats,
    slack: Bools,
) -> None:
    for line in range(len(starts) - 1):
        a, b = starts[line], starts[line + 1]
        first = pieces * (a - line) + line
        last = first + pieces * (b - a - 1)
        gained, flesh = arc[last] - bind[b - 1], belly[b - 1]
        sinew = bind[b - 1] - flesh
        loss = 0.0  # share of their length that tendons lose
        change = gained / flesh
        if change < SHORTEST - 1.0 and sinew > 0.0:  # belly alone has no other to lean on
            slack[line] = True
            change = SHORTEST - 1.0
            loss = (gained - change * flesh) / sinew
        at = first
        for k in range(a, b):
            s = bind[k] + (change * belly[k] + loss * (bind[k] - belly[k]))
            if k > a:
                n = k - line - 1
                lengths[n] = segments[n] + segments[n] * (loss if tendon[n] else change)
            while at < last - 1 and arc[at + 1] <= s:
                at += 1
            if k == a or k == b - 1:
                end = first if k == a else last
                for i in range(3):
                    nodes[k, i] = path[end, i]
                continue
            length = arc[at + 1] - arc[at]
            share = (s - arc[at]) / length if length > 0.0 else 0.0
            for i in range(3):
                nodes[k, i] = path[at, i] + share * (path[at + 1, i] - path[at, i])
