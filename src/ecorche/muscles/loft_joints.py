"""Muscle joints of muscles found in the skin, posed in compiled loops, four or eight side by side.

A muscle joint turns as the section does and dilates as the muscle does where it is now, ``(1 + κ w) T``
outwards and ``(1 + κ w) / T`` sideways, both to the power of the muscle's gain. It stands in the middle of
its section, which is off the root curve by the centre of the ring. Where along the muscle: see `loft_plan`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit

from ecorche.base.quads import (
    all_above,
    apart,
    like,
    pick,
    read_quad,
    read_rows,
    square_roots,
    where_above,
    write_numbers,
    write_rows,
)
from ecorche.muscles.loft import MOST_SHORTENED, THINNEST
from ecorche.muscles.loft_plan import (
    ALONG,
    AREA,
    AT_BIND,
    BIND_ALONG,
    BIND_OUT,
    BIND_POINT,
    FIRST_PIECE,
    FOLLOWING,
    FRAME,
    GAIN,
    GIVING,
    JOINT_CARRIER,
    JOINT_KEPT,
    JOINT_NAMED,
    JOINT_PLACE,
    JOINT_ROW,
    MIDDLE,
    MOMENTS,
    MUSCLE_KEPT,
    ON_CURVE,
    ONWARDS,
    OUT,
    PIECE_COLUMNS,
    PLACE,
    PLACE_KEPT,
    POINT,
    SHARE,
    SIDE,
    LoftPlan,
)
from ecorche.muscles.packed_plans import unpacked
from ecorche.muscles.root_curves import MUSCLE, NAMED, Numbers, pose_curves
from ecorche.muscles.triples import cross, dot, plus, read_vector, scaled, write_vector
from ecorche.muscles.wrapping import COLUMNS, LENGTH, along

Floats = npt.NDArray[np.float64]
Naturals = npt.NDArray[np.uint32]

NO_SCAPULAE, NO_VECTORS = np.zeros((0, 3), np.int64), np.zeros((0, 4, 3))
"""Muscles found in the skin hang on the skeleton's own joints."""


@njit(inline="always")  # type: ignore[untyped-decorator]
def _swelling(kept: Numbers, at: int, shortening: Any) -> Any:
    """κ of muscles, see `loft.swelling`."""
    m0, m1, m2 = read_vector(kept, at + MOMENTS)
    thinnest, most = like(m0, THINNEST), like(m0, MOST_SHORTENED)
    missing = m0 * (1.0 - where_above(most, shortening, shortening, most))
    square = m1 * m1 - m2 * missing
    kappa = (0.0 - missing) / (m1 + square_roots(square))
    return where_above(kappa, thinnest, kappa, thinnest)


@njit(inline="always")  # type: ignore[untyped-decorator]
def _pose_places(plan: LoftPlan, owners: Naturals, bulge: Numbers, curves: Numbers, places: Numbers) -> bool:
    """Where the places are on their root curves, and how much the muscles dilate there.

    False where a bulge cannot be. ``owners`` are the rows `CurveGroups.named`.
    """
    muscles, pieces, knots, of_muscles, named, kept = plan[2:8]
    lying = np.empty((1, named.shape[2]), np.uint32)
    count, borders, fine = named.shape[1], knots.shape[1], True
    for group in range(len(named)):
        keep, length = MUSCLE_KEPT * group, read_quad(curves, COLUMNS * group + LENGTH)
        at_bind, first = read_quad(of_muscles, keep + AT_BIND), read_quad(of_muscles, keep + FIRST_PIECE)
        ratio, kappa = length / at_bind, _swelling(of_muscles, keep, at_bind / length)
        zero, one, half = like(ratio, 0.0), like(ratio, 1.0), like(ratio, 0.5)
        ratio = where_above(ratio, half, ratio, half)
        tension = pick(bulge, owners, NAMED * group + MUSCLE)
        fine = fine and all_above(tension, zero)
        over, across = one / ratio, one / tension
        for at in range(group * count, (group + 1) * count):
            share = read_quad(kept, PLACE_KEPT * at + SHARE)
            share = (share + (ratio - 1.0) * read_quad(kept, PLACE_KEPT * at + GIVING)) * over
            point, tangent = along(curves, COLUMNS * group, share)
            piece = first
            for border in range(group * borders, (group + 1) * borders):
                piece = piece + where_above(share, read_quad(knots, border), one, zero)
            write_numbers(lying, 0, piece)
            c0, c1, c2, c3 = read_rows(pieces, lying, 0, PIECE_COLUMNS, AREA)
            c4, c5, c6, knot = read_rows(pieces, lying, 0, PIECE_COLUMNS, AREA + 4)
            x = share - knot
            area = c0 + x * (c1 + x * (c2 + x * (c3 + x * (c4 + x * (c5 + x * c6)))))
            factor = 1.0 + kappa * (area * (2.0 - area))
            outwards = point[0], point[1], point[2], factor * tension
            sideways = tangent[0], tangent[1], tangent[2], factor * across
            write_rows(places, named, at, 1, ON_CURVE, outwards)
            write_rows(places, named, at, 1, ONWARDS, sideways)
    for muscle in range(len(muscles)):
        if muscles[muscle, GAIN] != 1.0:
            for place in range(count * muscle, count * (muscle + 1)):
                places[place, ON_CURVE + 3] **= muscles[muscle, GAIN]
                places[place, ONWARDS + 3] **= muscles[muscle, GAIN]
    return fine


@njit(forceinline=True)  # type: ignore[untyped-decorator]
def _row(x: Any, y: Any, z: Any, t: Any, tangent: Any, out: Any, side: Any, point: Any) -> Any:
    """A row of ``(bind − posed) bind⁻¹`` from differences of axes and points, and the frame at bind."""
    row = plus(plus(scaled(x, tangent), y, out), z, side)
    return row[0], row[1], row[2], t - dot(row, point)


@njit(inline="always")  # type: ignore[untyped-decorator]
def _pose_frames(
    named: Naturals,
    kept: Numbers,
    moved: Numbers,
    turn: Numbers,
    places: Numbers,
    bind: Numbers,
    from_origin: tuple[float, float, float],
    frames: Numbers,
    result: Numbers,
) -> None:
    """Frames of the muscle joints, dilated, as far as there is room for them; and ``I − M`` of them."""
    x_way, y_way, z_way = from_origin
    for group in range(len(named)):
        name, keep, at = JOINT_NAMED * group, JOINT_KEPT * group, FRAME * group
        x, y, z = (
            read_rows(moved, named, name + JOINT_CARRIER, 1, 0),
            read_rows(moved, named, name + JOINT_CARRIER, 1, 4),
            read_rows(moved, named, name + JOINT_CARRIER, 1, 8),
        )
        p, follow = read_vector(kept, keep + BIND_POINT), read_quad(kept, keep + FOLLOWING)
        zero, one = like(follow, 0.0), like(follow, 1.0)
        on_limb = p[0] + (dot(x, p) + x[3]), p[1] + (dot(y, p) + y[3]), p[2] + (dot(z, p) + z[3])
        a, d = read_vector(kept, keep + BIND_ALONG), read_vector(kept, keep + BIND_OUT)
        if len(turn) > 0:
            x, y, z = (
                read_rows(turn, named, name + JOINT_CARRIER, 1, 0),
                read_rows(turn, named, name + JOINT_CARRIER, 1, 4),
                read_rows(turn, named, name + JOINT_CARRIER, 1, 8),
            )
            limb_along, limb_out = (dot(x, a), dot(y, a), dot(z, a)), (dot(x, d), dot(y, d), dot(z, d))
        else:
            limb_along = a[0] + dot(x, a), a[1] + dot(y, a), a[2] + dot(z, a)
            limb_out = d[0] + dot(x, d), d[1] + dot(y, d), d[2] + dot(z, d)
        cx, cy, cz, outwards = read_rows(places, named, name + JOINT_PLACE, 1, ON_CURVE)
        ax, ay, az, sideways = read_rows(places, named, name + JOINT_PLACE, 1, ONWARDS)
        point = plus(scaled(one - follow, on_limb), follow, (cx, cy, cz))
        tangent = plus(scaled(one - follow, limb_along), follow, (ax, ay, az))
        length = square_roots(dot(tangent, tangent))
        # the smallest rotation from the limb's tangent to this one takes its direction along
        cosine = length + dot(limb_along, tangent)
        share = dot(limb_out, tangent) / cosine
        share = where_above(cosine, like(cosine, 1e-12), share, zero)
        tangent = scaled(where_above(length, zero, one / length, one), tangent)
        out = plus(limb_out, zero - share, plus(limb_along, 1.0, tangent))
        side = cross(tangent, out)
        point = plus(
            plus(point, read_quad(kept, keep + MIDDLE), out), read_quad(kept, keep + MIDDLE + 1), side
        )
        out, side = scaled(outwards, out), scaled(sideways, side)
        if len(frames) > 0:
            write_vector(frames, at + POINT, point)
            write_vector(frames, at + ALONG, tangent)
            write_vector(frames, at + OUT, out)
            write_vector(frames, at + SIDE, side)
        p, a, d, e = (
            read_vector(bind, at + POINT),
            read_vector(bind, at + ALONG),
            read_vector(bind, at + OUT),
            read_vector(bind, at + SIDE),
        )
        # not in a loop: numbers that a loop picks out are no longer in registers
        x, y, z = apart(a[0], tangent[0]), apart(d[0], out[0]), apart(e[0], side[0])
        row = _row(x, y, z, apart(p[0], point[0]) - x_way, a, d, e, p)
        write_rows(result, named, name + JOINT_ROW, 1, 0, row)
        x, y, z = apart(a[1], tangent[1]), apart(d[1], out[1]), apart(e[1], side[1])
        row = _row(x, y, z, apart(p[1], point[1]) - y_way, a, d, e, p)
        write_rows(result, named, name + JOINT_ROW, 1, 4, row)
        x, y, z = apart(a[2], tangent[2]), apart(d[2], out[2]), apart(e[2], side[2])
        row = _row(x, y, z, apart(p[2], point[2]) - z_way, a, d, e, p)
        write_rows(result, named, name + JOINT_ROW, 1, 8, row)


@njit(cache=True, error_model="numpy")  # type: ignore[untyped-decorator]
def pose_muscle_joints(
    kept: Numbers,
    moved: Numbers,
    turn: Numbers,
    bulge: Numbers,
    from_origin: tuple[float, float, float],
    frames: Numbers,
    result: Numbers,
) -> bool:
    """``(bind − posed) bind⁻¹`` of the muscle joints, which is ``I − M``, into ``result`` (K, MOVED).

    All numbers are float64, four side by side, or all float32, eight. What it is made of is compiled into
    it: to hand a plan from function to function takes as long as to pose a group of muscle joints.

    Args:
        kept: Constants of root curves and muscle joints, and the latter's frames at bind: see `packed`.
        moved: ``M − I`` of the skeleton's joints, (joints, MOVED).
        turn: Their rotations, (joints, TURN); none where ``M`` are rotations that move.
        bulge: T of the muscles, (M,).
        from_origin: By how much all joints are moved besides [m].
        frames: Where to write the posed frames, as those of bind; nothing is written where it has no groups.
        result: Where to write.

    Returns:
        False where a bulge cannot be.
    """
    groups, plan, bind = unpacked(kept)
    curves = np.empty((len(groups.shapes), COLUMNS, groups.kept.shape[2]), kept.dtype)
    pose_curves(groups, moved, curves)
    places = np.empty((len(bulge) * plan.place_named.shape[1], PLACE), kept.dtype)
    if not _pose_places(plan, groups.named, bulge, curves, places):
        return False
    _pose_frames(plan.joint_named, plan.joint_kept, moved, turn, places, bind, from_origin, frames, result)
    return True
