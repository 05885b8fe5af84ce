"""The central lines of muscles found in a skin: where they run at bind and in any pose.

Text 001 calls the line through the centres of a muscle's sections its root curve. Here it is the thread of
`wrapping`, from origin to insertion, straight or round one sphere, ball or cylinder that moves with a joint.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from ecorche.base.checks import require_finite
from ecorche.base.quads import fours, in_lanes, like, read_quad, read_rows, square_roots, where_above
from ecorche.errors import EcorcheError
from ecorche.muscles.lofted import LoftedMuscle, Wrap
from ecorche.muscles.posed_joints import MOVED
from ecorche.muscles.triples import dot, read_vector, scaled, write_vector
from ecorche.muscles.wrapping import (
    AT_BIND_OF_BALL,
    BALL,
    COLUMNS,
    CYLINDER,
    LENGTH,
    MIDST_AT_BIND,
    PHI,
    SPHERE,
    STRAIGHT,
    along,
    wrap,
)

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Naturals = npt.NDArray[np.uint32]
Numbers = npt.NDArray[np.float64] | npt.NDArray[np.float32]

_SHAPES = {"sphere": SPHERE, "cylinder": CYLINDER, "ball": BALL}
_SHORTEST = 1e-6
"""Of a line from origin to insertion [m]."""


# rows of curves: where the matrices of the joints of origin, insertion and obstacle are, and their muscles
OF_ORIGIN, OF_INSERTION, OF_OBSTACLE, MUSCLE, NAMED = 0, 1, 2, 3, 4
# quads of four curves
ORIGIN, INSERTION, CHORD, CENTRE, AXIS, RADIUS, AT_BIND, KEPT = 0, 3, 6, 9, 12, 15, 16, 17


class CurvePlan(NamedTuple):
    """Of M root curves, what stays the same from frame to frame.

    Attributes:
        joints: Of origin, insertion and obstacle, shape (M, 3).
        shapes: `STRAIGHT`, `SPHERE`, `CYLINDER` or `BALL`, shape (M,).
        ends: Origin and insertion at bind [m], shape (M, 6).
        chords: From origin to insertion at bind, unit, shape (M, 3).
        centres, axes: Of the obstacles at bind [m] and unit, shapes (M, 3).
        radii: Of the obstacles [m], shape (M,).
        at_bind: Φ at bind [rad], shape (M,).
    """

    joints: Ints
    shapes: Ints
    ends: Floats
    chords: Floats
    centres: Floats
    axes: Floats
    radii: Floats
    at_bind: Floats

    @property
    def kept(self) -> Floats:
        """Its numbers a curve, in the columns `ORIGIN` to `AT_BIND`, (M, KEPT)."""
        columns = [self.ends, self.chords, self.centres, self.axes, self.radii, self.at_bind]
        return np.column_stack(columns)

    def side_by_side(self, dtype: npt.DTypeLike = np.float64) -> CurveGroups:
        """The same as compiled loops read it: four by four, or eight by eight of float32."""
        width, values = 32 // np.dtype(dtype).itemsize, self.kept
        rows = np.column_stack([MOVED * self.joints, np.arange(len(self.shapes))]).astype(np.uint32)
        alike = [np.flatnonzero(self.shapes == shape) for shape in np.unique(self.shapes)]
        named = [in_lanes(rows[which], width) for which in alike]
        return CurveGroups(
            np.repeat(np.unique(self.shapes), [len(one) for one in named]),
            np.concatenate([np.zeros((0, NAMED, width), np.uint32), *named]),
            np.concatenate(
                [np.zeros((0, KEPT, width)), *(in_lanes(values[which], width) for which in alike)],
                dtype=dtype,
            ),
        )


class CurveGroups(NamedTuple):
    """Root curves in groups of W, four or eight, each round obstacles of one shape.

    Attributes:
        shapes: Of the obstacles, (groups,).
        named, kept: In the rows and quads above, (groups, NAMED, W) and (groups, KEPT, W).
    """

    shapes: Ints
    named: Naturals
    kept: Numbers


@dataclass(frozen=True, eq=False, repr=False)
class RootCurves:
    """The root curves of M muscles, ready to be posed.

    Attributes:
        names: Of the muscles.
        plan: Their constants.
        joint_count: Of the skeleton.
    """

    names: tuple[str, ...]
    plan: CurvePlan
    joint_count: int

    def __repr__(self) -> str:
        return f"RootCurves({len(self.names)}: {', '.join(self.names[:3])}, …)"

    @cached_property
    def groups(self) -> CurveGroups:
        """Their constants as compiled loops read them."""
        return self.plan.side_by_side()

    @cached_property
    def bind(self) -> PosedCurves:
        """The curves at bind."""
        return self.moved(np.zeros((self.joint_count, 4, 4)))

    def moved(self, difference: npt.ArrayLike) -> PosedCurves:
        """The curves for differences from bind ``M − I`` of the joints, (..., joints, 4, 4)."""
        difference = np.asarray(difference, np.float64)
        if difference.shape[-3:] != (self.joint_count, 4, 4):
            raise EcorcheError(
                f"matrices of shape {difference.shape} do not fit {self.joint_count} joints",
                where="root curves",
                remedy=f"Give shape (..., {self.joint_count}, 4, 4)",
            )
        batch = difference.shape[:-3]
        moved = np.ascontiguousarray(difference[..., :3, :]).reshape(-1, self.joint_count, 12)
        quads = np.zeros((len(moved), len(self.groups.shapes), COLUMNS, 4))
        for frame, posed in zip(moved, quads, strict=True):
            pose_curves(self.groups, frame, posed)
        rows = np.swapaxes(quads, -1, -2).reshape(len(moved), -1, COLUMNS)
        lanes = np.zeros(len(self.names), np.int64)
        lanes[self.groups.named[:, MUSCLE].ravel()] = np.arange(rows.shape[1])
        return PosedCurves(rows[:, lanes].reshape(*batch, len(self.names), COLUMNS))


@dataclass(frozen=True, eq=False, repr=False)
class PosedCurves:
    """Root curves in one pose, or in a batch of poses with the leading axes ``...``.

    Attributes:
        rows: In the columns of `wrapping`, shape (..., M, COLUMNS).
    """

    rows: Floats

    @property
    def lengths(self) -> Floats:
        """Of the curves [m], shape (..., M)."""
        return self.rows[..., LENGTH]

    def at(self, share: npt.ArrayLike) -> tuple[Floats, Floats]:
        """Points [m] and unit tangents (..., M, K, 3) at shares 0 to 1 of the length, (K,) or (..., M, K)."""
        share = np.asarray(share, np.float64)
        shape = (*self.rows.shape[:-1], share.shape[-1])
        curves = self.rows.reshape(-1, COLUMNS)
        shares = fours(np.broadcast_to(share, shape).reshape(-1, shape[-1]))
        found = np.empty((len(shares), shape[-1], 6, 4))
        _along(fours(curves), shares, found)
        flat = np.moveaxis(found, -1, 1).reshape(-1, shape[-1], 6)[: len(curves)]
        return flat[..., :3].reshape(*shape, 3), flat[..., 3:].reshape(*shape, 3)


def root_curves(muscles: Sequence[LoftedMuscle], joint_count: int) -> RootCurves:
    """The root curves of muscles on a skeleton of so many joints."""
    count = len(muscles)
    plan = CurvePlan(
        np.zeros((count, 3), np.int64),
        np.full(count, STRAIGHT, np.int64),
        np.zeros((count, 6)),
        np.zeros((count, 3)),
        np.zeros((count, 3)),
        np.tile([0.0, 0.0, 1.0], (count, 1)),
        np.zeros(count),
        np.full(count, MIDST_AT_BIND),
    )
    for number, muscle in enumerate(muscles):
        where = f"muscle {muscle.name!r}"
        ends = np.asarray(muscle.ends, np.float64)
        require_finite(ends, "its end", where, EcorcheError)
        distance = np.linalg.norm(ends[1] - ends[0])
        if not distance > _SHORTEST:
            raise EcorcheError("it ends where it begins", where=where, remedy="Move its ends apart")
        plan.joints[number, :2] = muscle.joints
        plan.ends[number], plan.chords[number] = ends.ravel(), (ends[1] - ends[0]) / distance
        if muscle.wrap is not None:
            _add_obstacle(plan, number, muscle.wrap, where)
        bad = (plan.joints[number] < 0) | (plan.joints[number] >= joint_count)
        if bad.any():
            raise EcorcheError(
                f"there is no joint {plan.joints[number][bad][0]}",
                where=where,
                remedy=f"The skeleton has {joint_count}: give 0 to {joint_count - 1}",
            )
    names = tuple(muscle.name for muscle in muscles)
    still = RootCurves(names, plan, joint_count).bind.rows[:, PHI]
    plan.at_bind[:] = np.where(plan.shapes == BALL, AT_BIND_OF_BALL, still)
    return RootCurves(names, plan, joint_count)


def one_curve(
    shape: int, origin: Floats, insertion: Floats, centre: Floats, axis: Floats, radius: float, at_bind: float
) -> Floats:
    """A single curve where its obstacle stands, as a row of `wrapping`, (COLUMNS,); see `CurvePlan`."""
    chord = (insertion - origin) / np.linalg.norm(insertion - origin)
    kept = np.concatenate([origin, insertion, chord, centre, axis, [radius, at_bind]])
    groups = CurveGroups(
        np.array([shape]), np.zeros((1, NAMED, 4), np.uint32), np.repeat(kept, 4).reshape(1, KEPT, 4)
    )
    curves = np.zeros((1, COLUMNS, 4))
    pose_curves(groups, np.zeros((1, MOVED)), curves)
    return np.asarray(curves[0, :, 0])


def _add_obstacle(plan: CurvePlan, number: int, obstacle: Wrap, where: str) -> None:
    require_finite(obstacle.centre, "the centre it wraps round", where, EcorcheError)
    require_finite(obstacle.axis, "the axis it wraps round", where, EcorcheError)
    if obstacle.shape not in _SHAPES:
        raise EcorcheError(
            f"it wraps round a {obstacle.shape!r}", where=where, remedy=f"Choose one of {', '.join(_SHAPES)}"
        )
    if not (np.isfinite(obstacle.radius) and obstacle.radius > 0.0):
        raise EcorcheError(
            f"it wraps round a radius of {obstacle.radius:g} m",
            where=where,
            remedy="Give a positive radius, or let it run straight",
        )
    axis = np.asarray(obstacle.axis, np.float64)
    if not np.linalg.norm(axis) > 0.0:
        raise EcorcheError(
            "the axis it wraps round has no direction", where=where, remedy="Give one, such as the bone's"
        )
    axis = axis / np.linalg.norm(axis)
    if obstacle.shape != "cylinder" and np.linalg.norm(np.cross(plan.chords[number], axis)) < 0.5:
        raise EcorcheError(
            f"the axis of the {obstacle.shape} it wraps round points along the muscle: that says no side",
            where=where,
            remedy="Give the axis the joint bends about, or its opposite",
        )
    plan.joints[number, 2] = obstacle.joint
    plan.shapes[number] = _SHAPES[obstacle.shape]
    plan.centres[number], plan.axes[number] = obstacle.centre, axis
    plan.radii[number] = obstacle.radius


@njit(inline="always")  # type: ignore[untyped-decorator]
def _matrices(moved: Numbers, named: Naturals, row: int) -> Any:
    return (
        read_rows(moved, named, row, 1, 0),
        read_rows(moved, named, row, 1, 4),
        read_rows(moved, named, row, 1, 8),
    )


@njit(forceinline=True)  # type: ignore[untyped-decorator]
def _carried(m: Any, p: Any) -> Any:
    """Points after their joints have moved, ``p + (M − I) p``."""
    return (
        p[0] + (dot(m[0], p) + m[0][3]),
        p[1] + (dot(m[1], p) + m[1][3]),
        p[2] + (dot(m[2], p) + m[2][3]),
    )


@njit(forceinline=True)  # type: ignore[untyped-decorator]
def _turned(m: Any, a: Any) -> Any:
    """Directions after their joints have moved, unit."""
    moved = a[0] + dot(m[0], a), a[1] + dot(m[1], a), a[2] + dot(m[2], a)
    length = square_roots(dot(moved, moved))
    return scaled(where_above(length, like(length, 0.0), 1.0 / length, like(length, 1.0)), moved)


@njit(cache=True, error_model="numpy", inline="always")  # type: ignore[untyped-decorator]
def pose_curves(groups: CurveGroups, moved: Numbers, curves: Numbers) -> None:
    """All root curves into ``curves`` (groups, COLUMNS, W), for ``M − I`` of the joints (joints, MOVED)."""
    shapes, named, kept = groups
    for group in range(len(shapes)):
        name, keep = NAMED * group, KEPT * group
        obstacle = _matrices(moved, named, name + OF_OBSTACLE)
        wrap(
            shapes[group],
            _carried(_matrices(moved, named, name + OF_ORIGIN), read_vector(kept, keep + ORIGIN)),
            _carried(_matrices(moved, named, name + OF_INSERTION), read_vector(kept, keep + INSERTION)),
            _carried(obstacle, read_vector(kept, keep + CENTRE)),
            _turned(obstacle, read_vector(kept, keep + AXIS)),
            _turned(obstacle, read_vector(kept, keep + CHORD)),
            read_quad(kept, keep + RADIUS),
            read_quad(kept, keep + AT_BIND),
            curves,
            COLUMNS * group,
        )


@njit(cache=True, error_model="numpy")  # type: ignore[untyped-decorator]
def _along(curves: Floats, shares: Floats, found: Floats) -> None:
    """Points and tangents (groups, K, 6, 4) of curves (groups, COLUMNS, 4) at shares (groups, K, 4)."""
    count = shares.shape[1]
    for group in range(len(curves)):
        for k in range(group * count, (group + 1) * count):
            point, tangent = along(curves, COLUMNS * group, read_quad(shares, k))
            write_vector(found, 6 * k, point)
            write_vector(found, 6 * k + 3, tangent)
