"""Where a limb may point: a polygon on the unit sphere, convex or not.

After the spherical polygons of thesis 3.3.9 (Korein 1985; Baerlocher 2001). There, a point is
tested against a fan of triangles or convex pieces; here, sides are counted along the meridian
that leads to −z, which needs no pieces, and the nearest direction is the nearest on any side.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ecorche.base.rotations import normalise
from ecorche.errors import SkeletonError
from ecorche.skeleton.limits import TOLERANCE

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class SphericalPolygon:
    """The admissible directions of a limb, in its joint's anatomical frame.

    Sides are the shorter great-circle arcs between successive corners. The inside is the side
    that does not hold −z: there the limb would point opposite to its canonical direction, where
    swing and twist cannot be told apart, so no joint may reach it. Corners may run either way round.

    Attributes:
        corners: Unit directions, shape (corners, 3).
    """

    corners: Floats

    def __post_init__(self) -> None:
        corners = np.array(self.corners, np.float64)
        if corners.ndim != 2 or corners.shape[1] != 3 or len(corners) < 3:
            raise SkeletonError(
                f"the spherical polygon has corners of shape {corners.shape}",
                remedy="Give at least three directions of three numbers each",
            )
        if not np.isfinite(corners).all() or (np.linalg.norm(corners, axis=1) < 1e-9).any():
            raise SkeletonError(
                "a corner of the spherical polygon is no direction",
                remedy="Give finite vectors other than zero",
            )
        corners = normalise(corners)
        object.__setattr__(self, "corners", corners)
        self._check_sides()

    def contains(self, directions: npt.ArrayLike) -> Bools:
        """Whether unit directions (..., 3) are inside or on the border; shape (...)."""
        inside: Bools = self.nearest(directions)[1] == 0.0
        return inside

    def nearest(self, directions: npt.ArrayLike) -> tuple[Floats, Floats]:
        """The nearest admissible directions (..., 3), and the angles to them [rad] (...).

        Directions inside, or on the border within rounding, are returned as they are, at angle 0.
        Where several are equally near, the side that comes first in the list wins.
        """
        directions = np.asarray(directions, np.float64)
        flat = directions.reshape(-1, 3)
        a, b = self.corners, np.roll(self.corners, -1, axis=0)
        inside = np.bitwise_xor.reduce(_crosses_below(flat[:, None], a, b), axis=1)
        outside = flat[~inside]
        candidates = _nearest_on_side(outside[:, None], a, b)
        chords = np.linalg.norm(candidates - outside[:, None], axis=-1)
        best = candidates[np.arange(len(outside)), np.argmin(chords, axis=1)]
        angle = angle_between(outside, best)
        on_border = angle <= TOLERANCE
        nearest, angles = flat.copy(), np.zeros(len(flat))
        nearest[~inside] = np.where(on_border[:, None], outside, best)
        angles[~inside] = np.where(on_border, 0.0, angle)
        return nearest.reshape(directions.shape), angles.reshape(directions.shape[:-1])

    def _check_sides(self) -> None:
        a, b = self.corners, np.roll(self.corners, -1, axis=0)
        lengths = angle_between(a, b)
        for side in np.flatnonzero((lengths < 1e-6) | (lengths > np.pi - 1e-6)):
            what = "the same" if lengths[side] < 1.0 else "opposite"
            raise SkeletonError(
                f"corners {side} and {(side + 1) % len(a)} of the spherical polygon are {what}",
                remedy="Remove one" if what == "the same" else "Put a corner between them",
            )
        first, second = np.triu_indices(len(a), 2)
        apart = (second + 1) % len(a) != first  # the last side and the first share a corner
        first, second = first[apart], second[apart]
        meet = _sides_meet(a[first], b[first], a[second], b[second])
        if meet.any():
            pair = int(np.argmax(meet))
            raise SkeletonError(
                f"sides {first[pair]} and {second[pair]} of the spherical polygon meet",
                remedy="Order the corners along the border",
            )
        opposite = np.array([0.0, 0.0, -1.0])
        if angle_between(_nearest_on_side(opposite, a, b), opposite).min() < 1e-6:
            raise SkeletonError(
                "a side of the spherical polygon passes through −z",
                remedy="Turn the canonical pose so that the limb never points opposite to it",
            )


def angle_between(a: Floats, b: Floats) -> Floats:
    """Angles [rad] (...) between unit vectors (..., 3), accurate also when tiny or near a half-turn."""
    return np.asarray(
        2.0 * np.arctan2(np.linalg.norm(a - b, axis=-1), np.linalg.norm(a + b, axis=-1)), np.float64
    )


def _crosses_below(directions: Floats, a: Floats, b: Floats) -> Bools:
    """Whether sides from a to b (..., 3) cross the meridian from each direction (..., 3) down to −z."""
    radius = np.linalg.norm(directions[..., :2], axis=-1)
    at_pole = radius < 1e-300
    safe = np.where(at_pole, 1.0, radius)
    # any meridian will do at a pole
    x = np.where(at_pole, 1.0, directions[..., 0] / safe)
    y = np.where(at_pole, 0.0, directions[..., 1] / safe)
    # a corner is left or right of the meridian; its two sides must hear the same answer,
    # so this is asked of corners and never of sides
    left_a, left_b = x * a[..., 1] - y * a[..., 0], x * b[..., 1] - y * b[..., 0]
    parts = (left_a >= 0.0) != (left_b >= 0.0)
    across = np.abs(left_b)[..., None] * a + np.abs(left_a)[..., None] * b
    outward = x * across[..., 0] + y * across[..., 1]
    below = across[..., 2] * radius < directions[..., 2] * outward
    return np.asarray(parts & (outward > 0.0) & below)


def _nearest_on_side(directions: Floats, a: Floats, b: Floats) -> Floats:
    """The point nearest to each direction (..., 3) on the arc from a to b (..., 3), without its end b."""
    normal = normalise(np.cross(a, b))
    foot = directions - np.sum(directions * normal, axis=-1, keepdims=True) * normal
    length = np.linalg.norm(foot, axis=-1, keepdims=True)
    after_a = np.sum(foot * np.cross(normal, a), axis=-1, keepdims=True) >= 0.0
    before_b = np.sum(foot * np.cross(b, normal), axis=-1, keepdims=True) >= 0.0
    on_arc = after_a & before_b & (length > 1e-12)
    return np.where(on_arc, foot / np.where(length > 1e-12, length, 1.0), a)


def _sides_meet(a: Floats, b: Floats, c: Floats, d: Floats) -> Bools:
    """Whether the arcs a–b and c–d (each (pairs, 3)) have a point in common; shape (pairs,)."""
    point = normalise(np.cross(np.cross(a, b), np.cross(c, d)))
    meet = (_on_arc(point, a, b) & _on_arc(point, c, d)) | (_on_arc(-point, a, b) & _on_arc(-point, c, d))
    # an end on the other arc, which is all that can happen on one great circle
    return meet | _on_arc(c, a, b) | _on_arc(d, a, b) | _on_arc(a, c, d) | _on_arc(b, c, d)


def _on_arc(p: Floats, a: Floats, b: Floats) -> Bools:
    on_arc: Bools = angle_between(a, p) + angle_between(p, b) <= angle_between(a, b) + TOLERANCE
    return on_arc
