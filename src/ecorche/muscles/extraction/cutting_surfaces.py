"""Families of surfaces that cut a skin: parallel planes, concentric spheres, planes that fan round a bend.

Text 001, "Profile Curves of Skin Model" and its figure 1(c): muscles show best in sections perpendicular to
them. Muscles of the abdomen run along the trunk: parallel planes. Those that converge on a shoulder are cut
by spheres about it. Those that leave the neck for the shoulders, or the shoulders for the arms, turn on their
way; the text draws surfaces that turn with them, here planes through a common axis on the inner side of the
bend, with parallel planes before and after it. Each family is the level sets of one value, a length.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

STRAIGHT = 0.03
"""A bend by less [rad] is none: planes stay parallel."""


class CuttingSurfaces(Protocol):
    """A family of surfaces, one for every level."""

    def values(self, points: Floats) -> Floats:
        """The level of the surface through each point [m], (P,) of (P, 3)."""
        ...

    def upward(self, points: Floats) -> Floats:
        """Unit vectors towards higher levels, (P, 3)."""
        ...

    def place(self, level: float) -> tuple[Floats, Floats]:
        """Origin (3,) and frame (3, 3) of a level's surface: rows x, y in it, z towards higher ones."""
        ...

    def flat(self, points: Floats, level: float) -> Floats:
        """Points of the surface of a level, unrolled into (x, y) [m], (P, 2) of (P, 3)."""
        ...


@dataclass(frozen=True, eq=False)
class Planes:
    """Parallel planes: level 0 through ``origin``, rising along the last row of ``frame`` (3, 3)."""

    origin: Floats
    frame: Floats

    def values(self, points: Floats) -> Floats:
        """Height over the plane of level 0."""
        heights: Floats = (points - self.origin) @ self.frame[2]
        return heights

    def upward(self, points: Floats) -> Floats:
        """The same everywhere."""
        return np.broadcast_to(self.frame[2], points.shape)

    def place(self, level: float) -> tuple[Floats, Floats]:
        """The origin moved along z."""
        return self.origin + level * self.frame[2], self.frame

    def flat(self, points: Floats, level: float) -> Floats:  # noqa: ARG002
        """Coordinates in the plane: nothing is distorted."""
        across: Floats = (points - self.origin) @ self.frame[:2].T
        return across


@dataclass(frozen=True, eq=False)
class Spheres:
    """Concentric spheres about ``centre``; the last row of ``frame`` points to where most of the skin is.

    Unrolled they keep distances from that pole and directions there (azimuthal equidistant): a curve round
    the pole is stretched along itself, by 1.2 at 60° from the pole.
    """

    centre: Floats
    frame: Floats

    def values(self, points: Floats) -> Floats:
        """Distance from the centre."""
        distances: Floats = np.linalg.norm(points - self.centre, axis=-1)
        return distances

    def upward(self, points: Floats) -> Floats:
        """Away from the centre."""
        away = points - self.centre
        outward: Floats = away / np.maximum(np.linalg.norm(away, axis=-1), 1e-12)[..., None]
        return outward

    def place(self, level: float) -> tuple[Floats, Floats]:
        """The pole of the sphere and its frame."""
        return self.centre + level * self.frame[2], self.frame

    def flat(self, points: Floats, level: float) -> Floats:
        """Direction from the pole, and distance from it along the sphere."""
        local = (points - self.centre) @ self.frame.T
        across = np.linalg.norm(local[:, :2], axis=1)
        arc = level * np.arctan2(across, local[:, 2])
        unrolled: Floats = local[:, :2] * (arc / np.maximum(across, 1e-12))[:, None]
        return unrolled


@dataclass(frozen=True, eq=False)
class Fan:
    """Planes across a way that comes along one line, turns, and leaves along another.

    Attributes:
        hinge: A point of the axis that the planes of the bend have in common [m], (3,).
        axis: Unit vector of that axis, (3,).
        start: Unit vector from the hinge to the way where the bend begins, (3,).
        along: Unit vector of the way there, (3,): ``axis``, ``start`` and it are perpendicular.
        turn: By how much the way turns [rad].
        radius: Of the bend [m]: from the hinge to the way.
    """

    hinge: Floats
    axis: Floats
    start: Floats
    along: Floats
    turn: float
    radius: float

    def values(self, points: Floats) -> Floats:
        """Length of the way to the plane through a point, 0 where the bend begins."""
        out, on = (points - self.hinge) @ self.start, (points - self.hinge) @ self.along
        cosine, sine = np.cos(self.turn), np.sin(self.turn)
        angle = np.arctan2(on, out)
        # behind the hinge a point goes with the nearer of both lines
        before = (angle < 0.0) & (angle >= 0.5 * self.turn - np.pi)
        bent = (angle >= 0.0) & (angle <= self.turn)
        after = self.radius * self.turn + on * cosine - out * sine
        length: Floats = np.where(before, on, np.where(bent, self.radius * angle, after))
        return length

    def upward(self, points: Floats) -> Floats:
        """Along the way."""
        out, on = (points - self.hinge) @ self.start, (points - self.hinge) @ self.along
        angle = np.arctan2(on, out)
        angle = np.where((angle < 0.0) & (angle >= 0.5 * self.turn - np.pi), 0.0, angle)
        angle = np.where((angle < 0.0) | (angle > self.turn), self.turn, angle)[..., None]
        along: Floats = np.cos(angle) * self.along - np.sin(angle) * self.start
        return along

    def beside(self, points: Floats) -> Floats:
        """How far points lie from the hinge towards the way [m], (P,); where positive no planes cross."""
        out, on = (points - self.hinge) @ self.start, (points - self.hinge) @ self.along
        cosine, sine = np.cos(self.turn), np.sin(self.turn)
        apart: Floats = np.where(
            on < 0.0, out, np.where(on * cosine > out * sine, out * cosine + on * sine, np.hypot(out, on))
        )
        return apart

    def place(self, level: float) -> tuple[Floats, Floats]:
        """Where the way meets the plane; x away from the hinge, y along its axis."""
        angle = float(np.clip(level / self.radius, 0.0, self.turn))
        out = np.cos(angle) * self.start + np.sin(angle) * self.along
        on = np.cos(angle) * self.along - np.sin(angle) * self.start
        beyond = level - self.radius * angle
        frame = np.stack([out, np.cross(on, out), on])
        return self.hinge + self.radius * out + beyond * on, frame

    def flat(self, points: Floats, level: float) -> Floats:
        """Coordinates in the plane: nothing is distorted."""
        origin, frame = self.place(level)
        across: Floats = (points - origin) @ frame[:2].T
        return across


def planes_along(start: Floats, end: Floats, sideways: Floats) -> Planes:
    """Planes perpendicular to the way from one point to another, level 0 at the first."""
    return Planes(start, _frame(end - start, sideways))


def spheres_about(centre: Floats, pole: Floats, sideways: Floats) -> Spheres:
    """Spheres about a point, unrolled about the direction ``pole``."""
    return Spheres(centre, _frame(pole, sideways))


def fan_along(before: Floats, corner: Floats, after: Floats, radius: float) -> Fan | None:
    """Planes across the way from one point over a corner to a third, which turns with the radius given [m].

    None where the way goes on straight, or straight back.
    """
    come, go = _unit(corner - before), _unit(after - corner)
    turn = float(np.arctan2(np.linalg.norm(np.cross(come, go)), come @ go))
    if not STRAIGHT < turn < np.pi - STRAIGHT:
        return None
    inward = _unit(go - (go @ come) * come)
    begin = corner - radius * np.tan(0.5 * turn) * come
    return Fan(begin + radius * inward, np.cross(come, inward), -inward, come, turn, radius)


def _frame(z: Floats, sideways: Floats) -> Floats:
    """Rows x, y, z, right-handed: z as given, x as near to ``sideways`` as it can be."""
    up = _unit(z)
    side = sideways - (sideways @ up) * up
    if np.linalg.norm(side) < 1e-9 * np.linalg.norm(sideways):
        side = np.eye(3)[int(np.abs(up).argmin())]
        side = side - (side @ up) * up
    x = _unit(side)
    return np.stack([x, np.cross(up, x), up])


def _unit(vector: Floats) -> Floats:
    unit: Floats = vector / np.linalg.norm(vector)
    return unit
