"""The bent centre lines of muscles in one frame, and where along them a point lies.

Text 000 has straight lines only. Here a muscle with via points is followed by `STATIONS` places at even
arc length, each with a plane across the line. A point between the planes of two stations, d past the
first and d' before the second, is ``u = d / (d + d')`` of the way; past both u is 1, before both 0, and on
the inner side of a bend, where planes have crossed, one half. The sum of u over all segments is t. It
is continuous, except on the line in which two planes cross; on a straight muscle it is the projection.

A strongly bent line comes back to where it was, and planes far along it cut through skin that belongs
elsewhere. So t keeps within `REACH` of the place the point had at bind.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ecorche.base.rotations import normalise, rotate_xyzw, shortest_arc_xyzw
from ecorche.errors import EcorcheError
from ecorche.muscles.section_frames import PosedFrames

Floats = npt.NDArray[np.float64]

STATIONS = 9
"""Places along a line at which its frame is known; between them it is blended."""
REACH = 0.25
"""So far [t] skin may slide along a bent muscle from its bind place."""
TINY = 1e-9
"""Decides the share between planes that have crossed [m]; too small to be seen elsewhere."""


class LinePlaces(NamedTuple):
    """Where points lie along one line.

    Attributes:
        t: Place along the line, 0 at the origin and 1 at the insertion, not clamped, shape (points,).
        point: The line there [m], shape (points, 3).
        out: Unit bulge direction there, shape (points, 3).
        side: Unit direction across it, shape (points, 3).
    """

    t: Floats
    point: Floats
    out: Floats
    side: Floats


@dataclass(frozen=True, eq=False, repr=False)
class CentreLines:
    """The centre lines of M muscles in one frame, at `STATIONS` places of even arc length.

    Attributes:
        bent: Whether a muscle has via points; the others keep to their straight line, shape (M,).
        points: The stations [m], shape (M, STATIONS, 3).
        along: Unit normals of the planes across the line, shape (M, STATIONS, 3).
        out: Unit bulge directions, perpendicular to ``along``, shape (M, STATIONS, 3).
        length: Arc length [m], shape (M,).
    """

    bent: npt.NDArray[np.bool_]
    points: Floats
    along: Floats
    out: Floats
    length: Floats

    def __post_init__(self) -> None:
        count = len(self.bent)
        for name in ("points", "along", "out"):
            shape = getattr(self, name).shape
            if shape != (count, STATIONS, 3):
                raise EcorcheError(
                    f"{name} of {count} centre lines has shape {shape}",
                    remedy=f"Give an array of shape {(count, STATIONS, 3)}",
                )

    def __repr__(self) -> str:
        return f"CentreLines({len(self.bent)} muscles, {int(self.bent.sum())} bent)"

    @cached_property
    def side(self) -> Floats:
        """The other axis of the sections, ``along × out``, shape (M, STATIONS, 3)."""
        return np.cross(self.along, self.out)

    def places(self, muscle: int, points: Floats, near: Floats | None = None) -> LinePlaces:
        """Where points [m], shape (points, 3), lie along one muscle.

        Args:
            muscle: Which muscle.
            points: The points [m].
            near: Their t at bind, shape (points,); without it any place will do.
        """
        line, along = self.points[muscle], self.along[muscle]
        behind = points @ along.T - np.sum(line * along, axis=-1)
        past, ahead = np.maximum(behind[:, :-1], 0.0), np.maximum(-behind[:, 1:], 0.0)
        share = (past + TINY) / (past + ahead + 2.0 * TINY)
        before = np.minimum(behind[:, 0], 0.0) / self.length[muscle]
        after = np.maximum(behind[:, -1], 0.0) / self.length[muscle]
        if near is not None:
            lowest, highest = near - REACH, near + REACH
            ends = np.arange(STATIONS) / (STATIONS - 1)
            segments = (ends[:-1], ends[1:])
            lower, upper = (_part_of(bound[:, None], *segments) for bound in (lowest, highest))
            share = np.clip(share, lower, upper)
            before = np.maximum(before, np.minimum(lowest, 0.0))
            after = np.minimum(after, np.maximum(highest - 1.0, 0.0))
        t = share.sum(axis=1) / (STATIONS - 1) + before + after
        out, side = (
            normalise(axis[0] + share @ np.diff(axis, axis=0))
            for axis in (self.out[muscle], self.side[muscle])
        )
        return LinePlaces(t, line[0] + share @ np.diff(line, axis=0), out, side)


def centre_lines(frames: PosedFrames) -> CentreLines:
    """The centre lines of muscles in one pose.

    The plane of a station faces from the station before to the one after: so a sharp corner turns over
    several stations, and planes cross later on its inner side.
    """
    points, tangents, out = frames.at(np.linspace(0.0, 1.0, STATIONS))
    last = STATIONS - 1
    before = np.maximum(np.arange(STATIONS) - 1, 0)
    after = np.minimum(np.arange(STATIONS) + 1, last)
    along = normalise(points[:, after] - points[:, before])
    turned = rotate_xyzw(shortest_arc_xyzw(tangents, along), out)
    bent = np.diff(frames.path.paths.starts) > 2
    return CentreLines(bent, points, along, turned, frames.path.lengths)


def _part_of(t: Floats, start: Floats, end: Floats) -> Floats:
    """How much of the way from start to end is done at t, 0 to 1."""
    return np.clip((t - start) / (end - start), 0.0, 1.0)
