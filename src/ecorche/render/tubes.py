"""Lines in space that have a thickness, so that light and skin treat them like anything else."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ecorche.base.rotations import normalise

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int32]

SIDES = 6


class Tubes:
    """Tubes round polylines whose points move from frame to frame.

    Args:
        counts: Points of each line.
        closed: Whether the last point of each is joined to its first.

    Attributes:
        triangles: Vertex triples, (triangles, 3).
        vertex_count: `SIDES` for every point.
    """

    def __init__(self, counts: Sequence[int], closed: Sequence[bool]) -> None:
        count = int(sum(counts))
        self._sizes = np.asarray(counts, np.int64)
        self._line = np.repeat(np.arange(len(self._sizes)), self._sizes)
        self.vertex_count = SIDES * count
        after, before = np.arange(count) + 1, np.arange(count) - 1
        starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        links = [np.zeros((0, 2), np.int64)]
        for first, last, round_again in zip(starts[:-1], starts[1:], closed, strict=True):
            if first == last:
                continue
            after[last - 1] = first if round_again else last - 1
            before[first] = last - 1 if round_again else first
            own = np.arange(first, last if round_again else last - 1)
            links.append(np.column_stack([own, after[own]]))
        self._after, self._before = after, before
        here, there = np.concatenate(links).T
        side = np.arange(SIDES)
        beside = (side + 1) % SIDES
        a, b = SIDES * here[:, None] + side, SIDES * here[:, None] + beside
        c, d = SIDES * there[:, None] + side, SIDES * there[:, None] + beside
        self.triangles: Ints = np.concatenate(
            [np.stack([a, b, c], axis=-1).reshape(-1, 3), np.stack([b, d, c], axis=-1).reshape(-1, 3)]
        ).astype(np.int32)

    def points(self, lines: Floats, radius: float | Floats) -> npt.NDArray[np.float32]:
        """Vertices [m] (vertex_count, 3) for the points of all lines, one line after another, (points, 3).

        The radius [m] is one number, or one for each point, (points,).
        """
        along = normalise(lines[self._after] - lines[self._before])
        up = self._least_extent(lines)[self._line]
        other = normalise(np.cross(along, up))
        across = np.cross(other, along)
        angle = 2.0 * np.pi * np.arange(SIDES) / SIDES
        ring = np.cos(angle)[:, None] * across[:, None] + np.sin(angle)[:, None] * other[:, None]
        around = np.broadcast_to(radius, (len(lines),))[:, None, None] * ring
        return np.asarray(lines[:, None] + around, np.float32).reshape(-1, 3)

    def _least_extent(self, lines: Floats) -> Floats:
        """The unit direction in which each line reaches least, (lines, 3): across it nearly everywhere."""
        count = max(len(self._sizes), 1)
        middle = np.stack([np.bincount(self._line, x, count) for x in lines.T], axis=1)
        away = lines - (middle / np.maximum(np.bincount(self._line, minlength=count), 1)[:, None])[self._line]
        spread = np.empty((count, 3, 3))
        for i in range(3):
            for k in range(3):
                spread[:, i, k] = np.bincount(self._line, away[:, i] * away[:, k], count)
        return np.asarray(np.linalg.eigh(spread)[1][..., 0])

    def colours(self, of_points: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
        """Colours of the vertices (vertex_count, 3) for those of the lines' points (points, 3)."""
        return np.repeat(of_points, SIDES, axis=0)
