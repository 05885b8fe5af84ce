"""Muscle joints of muscles found in the skin, posed in one compiled call.

Text 001, "Skin Deformation". A muscle changes length as a whole, but the skin over it is not dragged along
its fibres: a muscle joint that lies the share u from the origin at bind has moved to

    s = u L₀ + (L − L₀) h(u)

in a muscle of length L, with h a smooth step at the crossing of the joint between the muscle's ends. Before
it a muscle joint keeps its distance from the origin, behind it from the insertion; what the length has
changed by is taken up between. h rises by at most 1.9 a unit, so s rises with u down to half the length; of
still shorter muscles the shares s/L stay those of half the length. A muscle joint turns as the section does
and dilates as the muscle does where it is now, ``(1 + κ w) T`` outwards and ``(1 + κ w) / T`` sideways, both
to the power of the muscle's gain. It stands in the middle of its section, which is off the root curve by the
centre of the ring.

Under the skin a belly is bound to its limb, and only its tendons cross a joint. So a muscle joint goes with
the limb that carries it, and from there towards the root curve only by the share `following`: nothing at the
crossing, at most `FOLLOW` half a muscle away. (Joints that ride on the curve itself, as the text has them,
pinch the skin at a joint that bends: the line from an origin beyond the joint swings about it.) Where skin
over a muscle follows several limbs, each of them carries muscle joints of its own.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from ecorche.base.smooth_step import smooth_step
from ecorche.muscles.loft import profile_at, swelling
from ecorche.muscles.loft_frames import axes_at
from ecorche.muscles.posed_joints import MOVED, TURN, pose_joints
from ecorche.muscles.root_curves import CurvePlan, carried, pose_curve
from ecorche.muscles.triples import cross, dot, plus, read, scaled, times, turned, unit, write
from ecorche.muscles.wrapping import COLUMNS, LENGTH, along

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

STEEPEST = 1.9
"""The greatest slope of h; below 2, so that places stay in order down to half the length."""
_ROUNDED = 0.1
_WIDTH = 1.0 / STEEPEST + _ROUNDED

FOLLOW = 0.3
"""How much of a root curve's way beside its limb the skin goes along with at most."""

NO_SCAPULAE, NO_VECTORS = np.zeros((0, 3), np.int64), np.zeros((0, 4, 3))
"""Muscles found in the skin hang on the skeleton's own joints."""

# columns of a place where muscle joints stand: bind tangent and out; its share u and h(u); its section's
# centre; where it is on the curve at bind; how much they follow the curve
BIND_ALONG, BIND_OUT, PLACE, GIVING, MIDDLE, BIND_POINT, FOLLOWING, NUMBERS = 0, 3, 6, 7, 8, 10, 13, 14
# columns of its frame
POINT, ALONG, OUT, SIDE, FRAME = 0, 3, 6, 9, 12


def giving(u: npt.ArrayLike, crossing: float) -> Floats:
    """h(u): how much of a change of length lies between the origin and the share u."""
    centre = np.clip(crossing, 0.5 * _WIDTH, 1.0 - 0.5 * _WIDTH)
    x = np.asarray(u, np.float64) - (centre - 0.5 * _WIDTH)
    rising, falling = np.clip(x, 0.0, _ROUNDED), np.clip(_WIDTH - x, 0.0, _ROUNDED)
    even = np.clip(x - _ROUNDED, 0.0, _WIDTH - 2.0 * _ROUNDED)
    # the integral of a slope that rises from 0, holds, and falls to 0
    before = 0.5 * rising**2 / _ROUNDED
    after = 0.5 * (_ROUNDED - falling**2 / _ROUNDED)
    return np.asarray(STEEPEST * (before + even + after))


def following(u: npt.ArrayLike, crossing: float) -> Floats:
    """How much a muscle joint at the share u follows the root curve in place of its limb."""
    return np.asarray(FOLLOW * smooth_step(2.0 * np.abs(np.asarray(u, np.float64) - crossing)))


class LoftPlan(NamedTuple):
    """All numbers of M muscles and their K muscle joints that stay the same from frame to frame.

    Every limb that carries a muscle carries a muscle joint at each of its places, in their order.

    Attributes:
        starts: First cubic of each muscle's shape and, last, their number, shape (M + 1,).
        knots: Where each cubic begins, (pieces,).
        cubics: Their coefficients, (pieces, 4, 5).
        moments: ``m₀, m₁, m₂``, the greatest ``det S``, the length at bind, the gain and T_max, (M, 7).
        place_starts: First place of each muscle and, last, their number, (M + 1,).
        rows: Of the places, in the columns above, (places, NUMBERS).
        joint_starts: First muscle joint of each muscle and, last, their number, (M + 1,).
        carriers: The joint that carries each muscle joint, (K,).
        turning: Which joints' rotations are needed, (joints,).
    """

    starts: Ints
    knots: Floats
    cubics: Floats
    moments: Floats
    place_starts: Ints
    rows: Floats
    joint_starts: Ints
    carriers: Ints
    turning: npt.NDArray[np.bool_]


@njit(cache=True, error_model="numpy")  # type: ignore[untyped-decorator]
def pose_axes(
    curves: Floats,
    muscle: int,
    rows: Floats,
    turn: Floats,
    carrier: int,
    found: Floats,
) -> None:
    """Section axes of a posed muscle at places given as rows of the columns above, (places, FRAME)."""
    for k in range(len(rows)):
        point, tangent, out, side = axes_at(
            curves,
            muscle,
            rows[k, PLACE],
            turn,
            carrier,
            read(rows, k, BIND_ALONG),
            read(rows, k, BIND_OUT),
        )
        write(found, k, POINT, point)
        write(found, k, ALONG, tangent)
        write(found, k, OUT, out)
        write(found, k, SIDE, side)


@njit(cache=True, error_model="numpy")  # type: ignore[untyped-decorator]
def pose_muscle_joints(
    curve_plan: CurvePlan, plan: LoftPlan, difference: Floats, bulge: Floats, frames: Floats
) -> bool:
    """Frames of the muscle joints, dilated, (K, FRAME); False where a rotation or a bulge cannot be."""
    count = len(difference)
    moved, turn = np.empty((count, MOVED)), np.empty((count, TURN))
    if not pose_joints(plan.turning, NO_SCAPULAE, NO_VECTORS, difference, moved, turn):
        return False
    curves = np.empty((len(bulge), COLUMNS))
    for muscle in range(len(bulge)):
        pose_curve(curve_plan, muscle, moved, curves)
        at_bind = plan.moments[muscle, 4]
        if not bulge[muscle] > 0.0:
            return False
        length, gain, tension = curves[muscle, LENGTH], plan.moments[muscle, 5], bulge[muscle]
        if gain != 1.0:
            tension **= gain
        shortening = at_bind / length if length > 0.0 else np.inf
        kappa = swelling(
            plan.moments[muscle, 0], plan.moments[muscle, 1], plan.moments[muscle, 2], shortening
        )
        ratio = max(length / at_bind, 0.5)
        first, last = plan.place_starts[muscle], plan.place_starts[muscle + 1]
        for place in range(first, last):
            share = (plan.rows[place, PLACE] + (ratio - 1.0) * plan.rows[place, GIVING]) / ratio
            on_curve, onwards = along(curves, muscle, share)
            w = profile_at(
                plan.knots,
                plan.cubics,
                plan.starts[muscle],
                plan.starts[muscle + 1],
                plan.moments[muscle, 3],
                share,
            )
            factor = 1.0 + kappa * w
            if gain != 1.0:
                factor **= gain
            bind_along, bind_out = read(plan.rows, place, BIND_ALONG), read(plan.rows, place, BIND_OUT)
            bind_point, follow = read(plan.rows, place, BIND_POINT), plan.rows[place, FOLLOWING]
            outwards, sideways = plan.rows[place, MIDDLE], plan.rows[place, MIDDLE + 1]
            for k in range(
                plan.joint_starts[muscle] + place - first, plan.joint_starts[muscle + 1], last - first
            ):
                joint = plan.carriers[k]
                on_limb = carried(moved, joint, bind_point)
                limb_along, limb_out = times(turn, joint, bind_along), times(turn, joint, bind_out)
                point = plus(scaled(1.0 - follow, on_limb), follow, on_curve)
                tangent = unit(plus(scaled(1.0 - follow, limb_along), follow, onwards))
                out = turned(limb_along, tangent, limb_out)
                side = cross(tangent, out)
                write(frames, k, POINT, plus(plus(point, outwards, out), sideways, side))
                write(frames, k, ALONG, tangent)
                write(frames, k, OUT, scaled(factor * tension, out))
                write(frames, k, SIDE, scaled(factor / tension, side))
    return True


@njit(cache=True, error_model="numpy")  # type: ignore[untyped-decorator]
def muscle_joint_difference(
    curve_plan: CurvePlan, plan: LoftPlan, bind: Floats, difference: Floats, bulge: Floats, result: Floats
) -> bool:
    """``(posed − bind) bind⁻¹`` of the muscle joints into ``result`` (K, 4, 4)."""
    frames = np.empty(bind.shape)
    if not pose_muscle_joints(curve_plan, plan, difference, bulge, frames):
        return False
    for k in range(len(bind)):
        place = read(bind, k, POINT)
        tangent, out, side = read(bind, k, ALONG), read(bind, k, OUT), read(bind, k, SIDE)
        for i in range(3):
            x, y, z = (
                frames[k, ALONG + i] - tangent[i],
                frames[k, OUT + i] - out[i],
                frames[k, SIDE + i] - side[i],
            )
            row = plus(plus(scaled(x, tangent), y, out), z, side)
            result[k, i, 0], result[k, i, 1], result[k, i, 2] = row
            result[k, i, 3] = (frames[k, POINT + i] - place[i]) - dot(row, place)
            result[k, 3, i] = 0.0
        result[k, 3, 3] = 0.0
    return True
