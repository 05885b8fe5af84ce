"""One bone of the built-in figure, and how long bones are drawn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ecorche.body.figure.solids import Tube, rod, sections

Floats = npt.NDArray[np.float64]
Places = Mapping[str, Floats]
"""Joints' places, or bones' tips, at bind [m] by canonical name."""
Rows = tuple[tuple[float, ...], ...]

FRONT, SIDE = np.array([0.0, 0.0, 1.0]), np.array([1.0, 0.0, 0.0])


@dataclass(frozen=True, eq=False)
class Bone:
    """One bone, or a few that move as one.

    Attributes:
        joint: The joint that moves it; those of the left side begin with ``l_``.
        parts: Its solids; where ``joined``, they grow together, else each is a surface of its own.
        carved: Solids taken out of it.
        joined: Whether the parts are one surface.
    """

    joint: str
    parts: tuple[Tube, ...]
    carved: tuple[Tube, ...] = ()
    joined: bool = True


def along(near: Floats, far: Floats, rows: Rows) -> list[Floats]:
    """Places at shares of a bone, with offsets forward and lateral [m]."""
    way = (far - near) / np.linalg.norm(far - near)
    front = FRONT - way * way[2]
    front /= np.linalg.norm(front)
    side = np.cross(way, front)
    side = side if side[0] > 0.0 else -side
    return [near + share * (far - near) + ahead * front + out * side for share, ahead, out in rows]


def shaft(near: Floats, far: Floats, rows: Rows) -> Tube:
    """A long bone: share of its length, offsets forward and lateral, half-depth and half-width [m]."""
    table = np.array(rows)
    return sections(along(near, far, tuple(map(tuple, table[:, :3]))), FRONT, table[:, 3], table[:, 4])


def finger_bone(near: Floats, far: Floats, size: float) -> Tube:
    """A small long bone, thicker at its ends, with a gap for the joint's cartilage."""
    length = float(np.linalg.norm(far - near))
    gap = min(0.004, 0.12 * length) / length
    places = [near + share * (far - near) for share in (gap, 0.25, 0.5, 0.75, 1.0 - gap)]
    return rod(places, size * np.array([1.15, 0.85, 0.70, 0.82, 1.05]))
