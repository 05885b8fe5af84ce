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
from ecorche.base.quads import fours, quad, read_quad, write_rows
from ecorche.errors import EcorcheError
from ecorche.muscles.lofted import LoftedMuscle, Wrap
from ecorche.muscles.triples import plus, read, times, unit
from ecorche.muscles.wrapping import (
    AT_BIND_OF_BALL,
    BALL,
    COLUMNS,
    CYLINDER,
    LENGTH,
    SPHERE,
    STRAIGHT,
    along,
    bind_angle,
    wrap,
)

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Naturals = npt.NDArray[np.uint32]

_SHAPES = {"sphere": SPHERE, "cylinder": CYLINDER, "ball": BALL}
_SHORTEST = 1e-6
"""Of a line from origin to insertion [m]."""


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
        rows = np.zeros((len(moved), len(self.names), COLUMNS))
        _pose(self.plan, moved, rows)
        return PosedCurves(rows.reshape(*batch, len(self.names), COLUMNS))


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
        owner = np.repeat(np.arange(len(curves), dtype=np.uint32), share.shape[-1])
        named = np.stack([fours(owner), fours(np.arange(len(owner), dtype=np.uint32))], axis=1)
        found = np.empty((len(owner), 8))
        _along(curves, named, fours(np.broadcast_to(share, shape).ravel()), found)
        return found[:, :3].reshape(*shape, 3), found[:, 4:7].reshape(*shape, 3)


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
        np.zeros(count),
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
    return RootCurves(tuple(m.name for m in muscles), plan, joint_count)


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
    start, end = plan.ends[number].reshape(2, 3)
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
    if obstacle.shape == "ball":
        plan.at_bind[number] = AT_BIND_OF_BALL
        return
    plan.at_bind[number] = bind_angle(
        plan.shapes[number],
        tuple(start),
        tuple(end),
        tuple(plan.centres[number]),
        tuple(axis),
        float(obstacle.radius),
    )


@njit(inline="always")  # type: ignore[untyped-decorator]
def carried(moved: Floats, joint: int, point: Any) -> Any:
    """A point after its joint has moved, ``p + (M − I) p`` with ``M − I`` in rows of twelve numbers."""
    change = times(moved, joint, point)
    return (
        point[0] + (change[0] + moved[joint, 3]),
        point[1] + (change[1] + moved[joint, 7]),
        point[2] + (change[2] + moved[joint, 11]),
    )


@njit(inline="always")  # type: ignore[untyped-decorator]
def pose_curve(plan: Any, muscle: int, moved: Floats, curves: Floats) -> None:
    """One root curve into its row of ``curves``, for ``M − I`` of the joints (joints, 12)."""
    origin = carried(moved, plan.joints[muscle, 0], read(plan.ends, muscle, 0))
    insertion = carried(moved, plan.joints[muscle, 1], read(plan.ends, muscle, 3))
    joint = plan.joints[muscle, 2]
    centre = carried(moved, joint, read(plan.centres, muscle))
    axis, chord = read(plan.axes, muscle), read(plan.chords, muscle)
    axis = unit(plus(axis, 1.0, times(moved, joint, axis)))
    chord = unit(plus(chord, 1.0, times(moved, joint, chord)))
    wrap(
        plan.shapes[muscle],
        origin,
        insertion,
        centre,
        axis,
        chord,
        plan.radii[muscle],
        plan.at_bind[muscle],
        curves,
        muscle,
    )


@njit(cache=True, error_model="numpy")  # type: ignore[untyped-decorator]
def _pose(plan: CurvePlan, moved: Floats, rows: Floats) -> None:
    for frame in range(len(moved)):
        for muscle in range(len(plan.shapes)):
            pose_curve(plan, muscle, moved[frame], rows[frame])


@njit(cache=True, error_model="numpy")  # type: ignore[untyped-decorator]
def _along(curves: Floats, named: Naturals, shares: Floats, found: Floats) -> None:
    """Points and tangents at shares (groups, 4) of the curves named first, into the rows named second."""
    zero = quad(0.0)
    for group in range(len(named)):
        point, tangent = along(curves, named, 2 * group, read_quad(shares, group))
        write_rows(found, named, 2 * group + 1, 8, 0, (point[0], point[1], point[2], zero))
        write_rows(found, named, 2 * group + 1, 8, 4, (tangent[0], tangent[1], tangent[2], zero))
