"""The bent centre lines of muscles in one frame, and where along them a point lies.

Text 000 has straight lines only. Here a muscle with via points is followed by `STATIONS` places. At bind they
are evenly spaced; each keeps for ever the two nodes it lies between and its share of the way from one to the
other. So a station between two nodes of one limb is fixed in that limb, as the limb's skin is, whatever the
rest of the path does; only its t, arc length over the whole, changes with the length.

A point belongs to one place between two stations, found once, at bind (`find`): with d past the plane of the
first and d' before that of the second it is ``u = d / (d + d')`` of the way; past both u is 1, before both
0, and on the inner side of a bend, where planes have crossed, one half. Posed, everything is blended by that
same u between the same stations: the foot P₀, its t₀ and the axes along, out and side, of which out and side
are given length one. Then with ``V − P₀`` along the line, ``t = t₀ + (V − P₀)·along / L``: skin that has
slid along the muscle finds the section it is over now. Nothing is searched for in a pose, so nothing jumps;
on a straight line t, v and a are the equations' own. The price: a point is measured in the section of its
bind place, so one that slides round a bend is measured a little askew there, and the line between two
stations is their chord.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ecorche.base.rotations import normalise
from ecorche.errors import EcorcheError
from ecorche.muscles.section_frames import PosedFrames, SectionFrames

Floats = npt.NDArray[np.float64]

STATIONS = 9
"""Places along a line at which its frame is known; between them it is blended."""
TINY = 1e-9
"""Decides the share between planes that have crossed [m]; too small to be seen elsewhere."""


class LinePlaces(NamedTuple):
    """Where points lie along one line.

    Attributes:
        t: Place along the line, 0 at the origin and 1 at the insertion, not clamped, shape (points,).
        foot: The line at their bind place [m], shape (points, 3).
        out: Unit bulge direction there, shape (points, 3).
        side: Unit direction across it, shape (points, 3).
    """

    t: Floats
    foot: Floats
    out: Floats
    side: Floats


@dataclass(frozen=True, eq=False, repr=False)
class CentreLines:
    """The centre lines of B bent muscles in one frame, at `STATIONS` places.

    Attributes:
        muscles: Number of each bent muscle, rising, shape (B,).
        points: The stations [m], shape (B, STATIONS, 3).
        along: Unit tangents, shape (B, STATIONS, 3).
        out: Unit bulge directions, perpendicular to ``along``, shape (B, STATIONS, 3).
        t: Arc length from the origin over the whole, shape (B, STATIONS).
        length: The whole arc length [m], shape (B,).
    """

    muscles: npt.NDArray[np.int64]
    points: Floats
    along: Floats
    out: Floats
    t: Floats
    length: Floats

    def __post_init__(self) -> None:
        lines = len(self.muscles)
        vectors = dict.fromkeys(("points", "along", "out"), (lines, STATIONS, 3))
        for name, shape in {**vectors, "t": (lines, STATIONS), "length": (lines,)}.items():
            if getattr(self, name).shape != shape:
                raise EcorcheError(
                    f"{name} of {lines} centre lines has shape {getattr(self, name).shape}",
                    remedy=f"Give an array of shape {shape}",
                )

    def __repr__(self) -> str:
        return f"CentreLines({len(self.muscles)} bent muscles)"

    def line_of(self, muscle: int) -> int | None:
        """The row of a muscle's line; None for a straight muscle."""
        row = int(np.searchsorted(self.muscles, muscle))
        return row if row < len(self.muscles) and self.muscles[row] == muscle else None

    def find(self, line: int, points: Floats) -> Floats:
        """The place of points [m] (points, 3) between the stations at bind, 0 … STATIONS − 1, (points,)."""
        at, along = self.points[line], self.along[line]
        behind = points @ along.T - np.sum(at * along, axis=-1)
        past, ahead = np.maximum(behind[:, :-1], 0.0), np.maximum(-behind[:, 1:], 0.0)
        share = (past + TINY) / (past + ahead + 2.0 * TINY)
        return np.asarray(share.sum(axis=1))

    def places(self, line: int, points: Floats, place: Floats) -> LinePlaces:
        """Where points [m], shape (points, 3), lie along one line.

        Args:
            line: Which line.
            points: The points [m].
            place: Their places between the stations, as `find` gave them at bind, shape (points,).
        """
        before = np.clip(np.floor(place).astype(np.int64), 0, STATIONS - 2)
        u = (place - before)[:, None]

        def between(values: Floats) -> Floats:
            return np.asarray(values[before] + u * (values[before + 1] - values[before]))

        side = np.cross(self.along[line], self.out[line])
        foot, along = between(self.points[line]), between(self.along[line])
        slid = np.sum((points - foot) * along, axis=-1) / self.length[line]
        t = between(self.t[line][:, None])[:, 0] + slid
        return LinePlaces(t, foot, normalise(between(self.out[line])), normalise(between(side)))


def stations(frames: SectionFrames) -> tuple[npt.NDArray[np.int64], Floats]:
    """The stations' nodes and shares, as `PosedPaths.places` gives them, (M, STATIONS): for ever."""
    return frames.paths.bind.places(np.linspace(0.0, 1.0, STATIONS))


def centre_lines(posed: PosedFrames) -> CentreLines:
    """The centre lines of muscles in one pose."""
    node, share = stations(posed.frames)
    points, along, out = posed.on(node, share)
    bent = np.flatnonzero(posed.frames.bent)
    length = posed.path.lengths
    t = posed.path.arc_at(node, share) / length[:, None]
    return CentreLines(bent, points[bent], along[bent], out[bent], t[bent], length[bent])
