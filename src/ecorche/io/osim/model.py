"""A musculoskeletal model as far as muscle paths need it: bodies on joints, coordinates, muscle paths.

Everything is metres and radians, in the model's own axes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt

from ecorche.base.names import suggestion
from ecorche.base.rotations import matrix_from_xyzw, normalise, xyzw_from_axis_angle
from ecorche.base.transforms import inverse
from ecorche.errors import EcorcheError, ReadError
from ecorche.io.osim.functions import Function
from ecorche.muscles.lines.wrapped_path import WrapSurface

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Coordinate:
    """A degree of freedom.

    Attributes:
        name: Unique in the model.
        value: Where it stands by default [rad or m].
        low, high: Its range [rad or m].
        locked: Whether it stays at its default.
    """

    name: str
    value: float
    low: float
    high: float
    locked: bool = False


@dataclass(frozen=True, eq=False)
class Dependent:
    """A number that coordinates decide.

    Attributes:
        coordinates: Names of those it depends on.
        function: Of their values, gives the number [rad or m].
    """

    coordinates: tuple[str, ...]
    function: Function

    def at(self, values: Mapping[str, float]) -> float:
        """The number for some values of all coordinates [rad or m]."""
        return self.function([values[name] for name in self.coordinates])


@dataclass(frozen=True, eq=False)
class Axis(Dependent):
    """One of the six motions of a joint: a turn about, or a shift along, a direction.

    Attributes:
        direction: Unit, in the joint's frame, (3,).
    """

    direction: Floats


@dataclass(frozen=True, eq=False)
class OsimJoint:
    """What holds a body to another.

    Attributes:
        name: In the file.
        parent, child: Bodies by name; the ground is ``"ground"``.
        in_parent, in_child: ``body_from_joint_frame``, (4, 4).
        turns: About three directions in turn, each carried by the ones before it.
        shifts: Along three directions of the parent's joint frame.
    """

    name: str
    parent: str
    child: str
    in_parent: Floats
    in_child: Floats
    turns: tuple[Axis, ...] = ()
    shifts: tuple[Axis, ...] = ()

    def parent_from_child(self, values: Mapping[str, float]) -> Floats:
        """Where the child body stands in the parent's frame, (4, 4)."""
        moved = np.eye(4)
        for axis in self.turns:
            turn = matrix_from_xyzw(xyzw_from_axis_angle(axis.direction, axis.at(values)))
            moved[:3, :3] = moved[:3, :3] @ turn
        for axis in self.shifts:
            moved[:3, 3] += axis.at(values) * axis.direction
        return np.asarray(self.in_parent @ moved @ inverse(self.in_child))


@dataclass(frozen=True, eq=False)
class Coupling(Dependent):
    """A coordinate that follows others.

    Attributes:
        name: The one that follows.
    """

    name: str


@dataclass(frozen=True, eq=False)
class PathPoint:
    """A point of a muscle's path on a body.

    Attributes:
        name: In the file.
        body: The body it is on.
        place: In the body's frame [m], (3,); of a moving point where it does not move.
        moving: Three functions of one coordinate each, or none: what the place is instead.
        movers: Names of these coordinates.
        condition: Coordinate and range [rad] within which the point is part of the path, or none.
    """

    name: str
    body: str
    place: Floats
    moving: tuple[Function, ...] = ()
    movers: tuple[str, ...] = ()
    condition: tuple[str, float, float] | None = None

    def at(self, values: Mapping[str, float]) -> Floats:
        """Its place on the body [m], (3,)."""
        if not self.moving:
            return self.place
        return np.array([f([values[name]]) for f, name in zip(self.moving, self.movers, strict=True)])

    def counts(self, values: Mapping[str, float]) -> bool:
        """Whether it is part of the path."""
        if self.condition is None:
            return True
        name, low, high = self.condition
        return low - 1e-6 <= values[name] <= high + 1e-6


@dataclass(frozen=True, eq=False)
class BodySurface:
    """A wrap surface on a body.

    Attributes:
        name: In the file.
        body: The body it is on.
        surface: Its shape.
        body_from_surface: Where it is, (4, 4).
    """

    name: str
    body: str
    surface: WrapSurface
    body_from_surface: Floats


@dataclass(frozen=True, eq=False)
class OsimPath:
    """Where one muscle runs.

    Attributes:
        name: Of the muscle.
        points: From origin to insertion.
        wraps: Surfaces by name, with the first and last point between which the path may wrap round each.
    """

    name: str
    points: tuple[PathPoint, ...]
    wraps: tuple[tuple[str, int, int], ...] = ()


@dataclass(frozen=True, eq=False, repr=False)
class OsimModel:
    """Bodies, joints, coordinates and muscle paths of one file.

    Attributes:
        name: Of the model.
        joints: Each body's, parents first.
        coordinates: By name, in the file's order.
        couplings: Coordinates that follow others.
        surfaces: Wrap surfaces by name.
        muscles: Paths by name, in the file's order.
        notes: What was left out.
    """

    name: str
    joints: tuple[OsimJoint, ...]
    coordinates: Mapping[str, Coordinate]
    couplings: tuple[Coupling, ...]
    surfaces: Mapping[str, BodySurface]
    muscles: Mapping[str, OsimPath]
    notes: tuple[str, ...] = field(default=())

    def __repr__(self) -> str:
        return f"OsimModel({self.name!r}, {len(self.joints)} joints, {len(self.muscles)} muscles)"

    @cached_property
    def free(self) -> tuple[str, ...]:
        """Coordinates that follow no other, by name."""
        led = {coupling.name for coupling in self.couplings}
        return tuple(name for name in self.coordinates if name not in led)

    def values(self, given: Mapping[str, float] | None = None) -> dict[str, float]:
        """All coordinates: those given, the others by default, and last those that follow."""
        values = {name: one.value for name, one in self.coordinates.items()}
        for name, value in (given or {}).items():
            if name not in values:
                raise EcorcheError(
                    f"there is no coordinate {name!r}", where=self.name, remedy=suggestion(name, values)
                )
            values[name] = float(value)
        for coupling in self.couplings:
            values[coupling.name] = coupling.at(values)
        return values

    def bodies(self, values: Mapping[str, float]) -> dict[str, Floats]:
        """``ground_from_body`` of every body by name, (4, 4), for all coordinates (`values`)."""
        found = {"ground": np.eye(4)}
        for joint in self.joints:
            found[joint.child] = found[joint.parent] @ joint.parent_from_child(values)
        return found


def placed(translation: npt.ArrayLike, xyz_angles: npt.ArrayLike) -> Floats:
    """A frame moved [m] and turned about its own x, then its y, then its z axis [rad], (4, 4)."""
    frame = np.eye(4)
    frame[:3, 3] = translation
    for axis, angle in zip(np.eye(3), np.asarray(xyz_angles, np.float64), strict=True):
        frame[:3, :3] = frame[:3, :3] @ matrix_from_xyzw(xyzw_from_axis_angle(axis, angle))
    return frame


def direction(values: npt.ArrayLike, where: str) -> Floats:
    """Three numbers as a unit direction."""
    found = np.asarray(values, np.float64)
    if not np.linalg.norm(found) > 1e-9:
        raise ReadError("an axis has no direction", where=where, remedy="Give three numbers, not all zero")
    return normalise(found)
