"""Muscle joints of muscles found in the skin, posed in one compiled call, four side by side.

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
    apart,
    pick,
    quad,
    read_quad,
    read_rows,
    smallest,
    square_roots,
    where_above,
    write_quad,
    write_rows,
)
from ecorche.muscles.loft import MOST_SHORTENED, THINNEST
from ecorche.muscles.loft_plan import (
    AREA,
    AT_BIND,
    BIND_ALONG,
    BIND_OUT,
    BIND_POINT,
    FOLLOWING,
    GAIN,
    GIVING,
    JOINT_CARRIER,
    JOINT_KEPT,
    JOINT_NAMED,
    JOINT_PLACE,
    JOINT_ROW,
    KNOT,
    MIDDLE,
    MOMENTS,
    MUSCLE_KEPT,
    PIECE_COLUMNS,
    PLACE_KEPT,
    PLACE_NAMED,
    PLACE_PIECE,
    PLACE_ROW,
    SHARE,
    LoftPlan,
)
from ecorche.muscles.posed_joints import MOVED, TURN, pose_joints
from ecorche.muscles.root_curves import MUSCLE, NAMED, CurveGroups, pose_curves
from ecorche.muscles.triples import cross, dot, plus, read_vector, scaled, write_vector
from ecorche.muscles.wrapping import COLUMNS, LENGTH, along

Floats = npt.NDArray[np.float64]
Naturals = npt.NDArray[np.uint32]

NO_SCAPULAE, NO_VECTORS = np.zeros((0, 3), np.int64), np.zeros((0, 4, 3))
"""Muscles found in the skin hang on the skeleton's own joints."""

# quads of four muscle joints' frames
POINT, ALONG, OUT, SIDE, FRAME = 0, 3, 6, 9, 12
# columns of a place in a frame: point and (1 + κ w) T, tangent and (1 + κ w) / T
ON_CURVE, ONWARDS, PLACE = 0, 4, 8


@njit(inline="always")  # type: ignore[untyped-decorator]
def _swelling(kept: Floats, at: int, shortening: Any) -> Any:
    """κ of four muscles, see `loft.swelling`."""
    m0, m1, m2 = read_vector(kept, at + MOMENTS)
    thinnest, most = quad(THINNEST), quad(MOST_SHORTENED)
    missing = m0 * (1.0 - where_above(most, shortening, shortening, most))
    square = m1 * m1 - m2 * missing
    kappa = (quad(0.0) - missing) / (m1 + square_roots(square))
    return where_above(kappa, thinnest, kappa, thinnest)


@njit(cache=True, error_model="numpy")  # type: ignore[untyped-decorator]
def _pose_places(plan: LoftPlan, owners: Naturals, bulge: Floats, curves: Floats, places: Floats) -> bool:
    """Where the places are on their root curves, and how much the muscles dilate there.

    False where a bulge cannot be. ``owners`` are the rows `CurveGroups.named`.
    """
    starts, pieces, muscles, of_muscles, named, kept = plan[:6]
    shares, lying = np.empty((1, 4)), np.empty((1, 4), np.uint32)
    fine, half = quad(1.0), quad(0.5)
    count = named.shape[1]
    for group in range(len(named)):
        keep, length = MUSCLE_KEPT * group, read_quad(curves, COLUMNS * group + LENGTH)
        at_bind = read_quad(of_muscles, keep + AT_BIND)
        ratio, kappa = length / at_bind, _swelling(of_muscles, keep, at_bind / length)
        ratio = where_above(ratio, half, ratio, half)
        tension = pick(bulge, owners, NAMED * group + MUSCLE)
        fine = where_above(tension, quad(0.0), fine, quad(-1.0))
        for number in range(count):
            at = group * count + number
            share = read_quad(kept, PLACE_KEPT * at + SHARE)
            share = (share + (ratio - 1.0) * read_quad(kept, PLACE_KEPT * at + GIVING)) / ratio
            point, tangent = along(curves, COLUMNS * group, share)
            # the piece it lies on is mostly that of bind
            write_quad(shares, 0, share)
            for lane in range(4):
                muscle = owners[group, MUSCLE, lane]
                piece = np.int64(named[group, number, PLACE_PIECE, lane])
                while piece > starts[muscle] and shares[0, lane] < pieces[piece, KNOT]:
                    piece -= 1
                while piece + 1 < starts[muscle + 1] and shares[0, lane] >= pieces[piece + 1, KNOT]:
                    piece += 1
                lying[0, lane] = piece
            c0, c1, c2, c3 = read_rows(pieces, lying, 0, PIECE_COLUMNS, AREA)
            c4, c5, c6, knot = read_rows(pieces, lying, 0, PIECE_COLUMNS, AREA + 4)
            x = share - knot
            area = c0 + x * (c1 + x * (c2 + x * (c3 + x * (c4 + x * (c5 + x * c6)))))
            factor = 1.0 + kappa * (area * (2.0 - area))
            row = PLACE_NAMED * at + PLACE_ROW
            outwards = point[0], point[1], point[2], factor * tension
            sideways = tangent[0], tangent[1], tangent[2], factor / tension
            write_rows(places, named, row, PLACE, ON_CURVE, outwards)
            write_rows(places, named, row, PLACE, ONWARDS, sideways)
    for muscle in range(len(muscles)):
        if muscles[muscle, GAIN] != 1.0:
            for place in range(count * muscle, count * (muscle + 1)):
                places[place, ON_CURVE + 3] **= muscles[muscle, GAIN]
                places[place, ONWARDS + 3] **= muscles[muscle, GAIN]
    return bool(smallest(fine) > 0.0)


@njit(inline="always")  # type: ignore[untyped-decorator]
def _row(x: Any, y: Any, z: Any, t: Any, tangent: Any, out: Any, side: Any, point: Any) -> Any:
    """A row of ``(posed − bind) bind⁻¹`` from differences of axes and points, and the frame at bind."""
    row = plus(plus(scaled(x, tangent), y, out), z, side)
    return row[0], row[1], row[2], t - dot(row, point)


@njit(cache=True, error_model="numpy")  # type: ignore[untyped-decorator]
def _pose_frames(
    named: Naturals,
    kept: Floats,
    moved: Floats,
    turn: Floats,
    places: Floats,
    bind: Floats,
    frames: Floats,
    result: Floats,
) -> None:
    """Frames of the muscle joints, dilated, as far as there is room for them; and ``M − I`` of them."""
    zero, one = quad(0.0), quad(1.0)
    for group in range(len(named)):
        name, keep, at = JOINT_NAMED * group, JOINT_KEPT * group, FRAME * group
        cx, cy, cz, outwards = read_rows(places, named, name + JOINT_PLACE, PLACE, ON_CURVE)
        ax, ay, az, sideways = read_rows(places, named, name + JOINT_PLACE, PLACE, ONWARDS)
        p, follow = read_vector(kept, keep + BIND_POINT), read_quad(kept, keep + FOLLOWING)
        x, y, z = (
            read_rows(moved, named, name + JOINT_CARRIER, MOVED, 0),
            read_rows(moved, named, name + JOINT_CARRIER, MOVED, 4),
            read_rows(moved, named, name + JOINT_CARRIER, MOVED, 8),
        )
        on_limb = p[0] + (dot(x, p) + x[3]), p[1] + (dot(y, p) + y[3]), p[2] + (dot(z, p) + z[3])
        x, y, z = (
            read_rows(turn, named, name + JOINT_CARRIER, TURN, 0),
            read_rows(turn, named, name + JOINT_CARRIER, TURN, 4),
            read_rows(turn, named, name + JOINT_CARRIER, TURN, 8),
        )
        a, d = read_vector(kept, keep + BIND_ALONG), read_vector(kept, keep + BIND_OUT)
        limb_along, limb_out = (dot(x, a), dot(y, a), dot(z, a)), (dot(x, d), dot(y, d), dot(z, d))
        point = plus(scaled(one - follow, on_limb), follow, (cx, cy, cz))
        tangent = plus(scaled(one - follow, limb_along), follow, (ax, ay, az))
        length = square_roots(dot(tangent, tangent))
        tangent = scaled(where_above(length, zero, one / length, one), tangent)
        # the smallest rotation from the limb's tangent to this one takes its direction along
        cosine = one + dot(limb_along, tangent)
        share = dot(limb_out, plus(tangent, -1.0, limb_along)) / cosine
        share = where_above(cosine, quad(1e-12), share, zero)
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
        x, y, z = apart(tangent[0], a[0]), apart(out[0], d[0]), apart(side[0], e[0])
        row = _row(x, y, z, apart(point[0], p[0]), a, d, e, p)
        write_rows(result, named, name + JOINT_ROW, 16, 0, row)
        x, y, z = apart(tangent[1], a[1]), apart(out[1], d[1]), apart(side[1], e[1])
        row = _row(x, y, z, apart(point[1], p[1]), a, d, e, p)
        write_rows(result, named, name + JOINT_ROW, 16, 4, row)
        x, y, z = apart(tangent[2], a[2]), apart(out[2], d[2]), apart(side[2], e[2])
        row = _row(x, y, z, apart(point[2], p[2]), a, d, e, p)
        write_rows(result, named, name + JOINT_ROW, 16, 8, row)
        write_rows(result, named, name + JOINT_ROW, 16, 12, (zero, zero, zero, zero))


@njit(cache=True, error_model="numpy")  # type: ignore[untyped-decorator]
def pose_muscle_joints(
    groups: CurveGroups,
    plan: LoftPlan,
    bind: Floats,
    difference: Floats,
    bulge: Floats,
    frames: Floats,
    result: Floats,
) -> bool:
    """``(posed − bind) bind⁻¹`` of the muscle joints into ``result`` (K, 4, 4).

    Args:
        groups, plan: Constants of root curves and muscle joints.
        bind: Frames of the muscle joints at bind, (groups, FRAME, 4).
        difference: ``M − I`` of the skeleton's joints, (joints, 4, 4).
        bulge: T of the muscles, (M,).
        frames: Where to write the posed frames, as those of bind; nothing is written where it has no groups.
        result: Where to write.

    Returns:
        False where a rotation or a bulge cannot be.
    """
    count = len(difference)
    moved, turn = np.empty((count, MOVED)), np.empty((count, TURN))
    if not pose_joints(plan.turning, NO_SCAPULAE, NO_VECTORS, difference, moved, turn):
        return False
    curves = np.empty((len(groups.shapes), COLUMNS, 4))
    pose_curves(groups, moved, curves)
    places = np.empty((len(bulge) * plan.place_named.shape[1], PLACE))
    if not _pose_places(plan, groups.named, bulge, curves, places):
        return False
    _pose_frames(plan.joint_named, plan.joint_kept, moved, turn, places, bind, frames, result)
    return True
