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
    quad,
    read_quad,
    read_rows,
    square_roots,
    where_above,
    write_quad,
    write_rows,
)
from ecorche.muscles.loft import swelling
from ecorche.muscles.loft_plan import (
    AT_BIND,
    BIND_ALONG,
    BIND_OUT,
    BIND_POINT,
    FOLLOWING,
    GAIN,
    GIVING,
    JOINT_CARRIER,
    JOINT_KEPT,
    JOINT_MUSCLE,
    JOINT_NAMED,
    JOINT_PLACE,
    JOINT_ROW,
    KNOT,
    LARGEST,
    MIDDLE,
    MOMENTS,
    OUT_OUT,
    OUT_SIDE,
    PIECE_COLUMNS,
    PLACE_KEPT,
    PLACE_MUSCLE,
    PLACE_NAMED,
    PLACE_PIECE,
    PLACE_ROW,
    SHARE,
    SIDE_SIDE,
    LoftPlan,
)
from ecorche.muscles.posed_joints import MOVED, TURN, pose_joints
from ecorche.muscles.root_curves import CurveGroups, pose_curves
from ecorche.muscles.triples import cross, dot, plus, scaled
from ecorche.muscles.wrapping import COLUMNS, LENGTH, along

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Naturals = npt.NDArray[np.uint32]

NO_SCAPULAE, NO_VECTORS = np.zeros((0, 3), np.int64), np.zeros((0, 4, 3))
"""Muscles found in the skin hang on the skeleton's own joints."""

# quads of four muscle joints' frames
POINT, ALONG, OUT, SIDE, FRAME = 0, 3, 6, 9, 12
# columns of a muscle in a frame: its length over that at bind, κ, and how much it stretches outwards and
# sideways under tension
RATIO, STATE = 0, 4
# columns of a place in a frame: point, 1 + κ w, tangent
ON_CURVE, ONWARDS, PLACE = 0, 4, 8


@njit(cache=True, error_model="numpy")  # type: ignore[untyped-decorator]
def _pose_muscles(muscles: Floats, bulge: Floats, curves: Floats, states: Floats) -> bool:
    """States of the muscles along their root curves; False where a bulge cannot be."""
    for muscle in range(len(bulge)):
        length, at_bind, tension = curves[muscle, LENGTH], muscles[muscle, AT_BIND], bulge[muscle]
        if not tension > 0.0:
            return False
        if muscles[muscle, GAIN] != 1.0:
            tension **= muscles[muscle, GAIN]
        states[muscle, RATIO] = max(length / at_bind, 0.5)
        states[muscle, RATIO + 1] = swelling(
            muscles[muscle, MOMENTS],
            muscles[muscle, MOMENTS + 1],
            muscles[muscle, MOMENTS + 2],
            at_bind / length if length > 0.0 else np.inf,
        )
        states[muscle, RATIO + 2], states[muscle, RATIO + 3] = tension, 1.0 / tension
    return True


@njit(inline="always")  # type: ignore[untyped-decorator]
def _cubic(coefficients: Any, x: Any) -> Any:
    a, b, c, d = coefficients
    return a + x * (b + x * (c + x * d))


@njit(cache=True, error_model="numpy")  # type: ignore[untyped-decorator]
def _pose_places(
    starts: Ints,
    pieces: Floats,
    muscles: Floats,
    named: Naturals,
    kept: Floats,
    curves: Floats,
    states: Floats,
    places: Floats,
) -> None:
    """Where the places are on their root curves, and how much the muscles dilate there."""
    shares, lying, zero = np.empty((1, 4)), np.empty((1, 4), np.uint32), quad(0.0)
    for group in range(len(named)):
        name, keep = PLACE_NAMED * group, PLACE_KEPT * group
        ratio, kappa, _, _ = read_rows(states, named, name + PLACE_MUSCLE, STATE, RATIO)
        share = (read_quad(kept, keep + SHARE) + (ratio - 1.0) * read_quad(kept, keep + GIVING)) / ratio
        point, tangent = along(curves, named, name + PLACE_MUSCLE, share)
        # the cubic it lies on is mostly that of bind
        write_quad(shares, 0, share)
        for lane in range(4):
            muscle, piece = named[group, PLACE_MUSCLE, lane], np.int64(named[group, PLACE_PIECE, lane])
            while piece > starts[muscle] and shares[0, lane] < pieces[piece, KNOT]:
                piece -= 1
            while piece + 1 < starts[muscle + 1] and shares[0, lane] >= pieces[piece + 1, KNOT]:
                piece += 1
            lying[0, lane] = piece
        x = share - read_rows(pieces, lying, 0, PIECE_COLUMNS, KNOT)[0]
        out_out = _cubic(read_rows(pieces, lying, 0, PIECE_COLUMNS, OUT_OUT), x)
        out_side = _cubic(read_rows(pieces, lying, 0, PIECE_COLUMNS, OUT_SIDE), x)
        side_side = _cubic(read_rows(pieces, lying, 0, PIECE_COLUMNS, SIDE_SIDE), x)
        area = (out_out * side_side - out_side * out_side) / read_quad(kept, keep + LARGEST)
        factor = 1.0 + kappa * (area * (2.0 - area))
        write_rows(places, named, name + PLACE_ROW, PLACE, ON_CURVE, (point[0], point[1], point[2], factor))
        write_rows(
            places, named, name + PLACE_ROW, PLACE, ONWARDS, (tangent[0], tangent[1], tangent[2], zero)
        )
    per_muscle = len(places) // max(len(muscles), 1)
    for muscle in range(len(muscles)):
        if muscles[muscle, GAIN] != 1.0:
            for place in range(per_muscle * muscle, per_muscle * (muscle + 1)):
                places[place, ON_CURVE + 3] **= muscles[muscle, GAIN]


@njit(inline="always")  # type: ignore[untyped-decorator]
def _vector(quads: Floats, at: int) -> Any:
    return read_quad(quads, at), read_quad(quads, at + 1), read_quad(quads, at + 2)


@njit(inline="always")  # type: ignore[untyped-decorator]
def _write_vector(quads: Floats, at: int, a: Any) -> None:
    write_quad(quads, at, a[0])
    write_quad(quads, at + 1, a[1])
    write_quad(quads, at + 2, a[2])


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
    states: Floats,
    places: Floats,
    bind: Floats,
    frames: Floats,
    result: Floats,
) -> None:
    """Frames of the muscle joints, dilated, as far as there is room for them; and ``M − I`` of them."""
    zero, one = quad(0.0), quad(1.0)
    for group in range(len(named)):
        name, keep, at = JOINT_NAMED * group, JOINT_KEPT * group, FRAME * group
        cx, cy, cz, factor = read_rows(places, named, name + JOINT_PLACE, PLACE, ON_CURVE)
        ax, ay, az, _ = read_rows(places, named, name + JOINT_PLACE, PLACE, ONWARDS)
        p, follow = _vector(kept, keep + BIND_POINT), read_quad(kept, keep + FOLLOWING)
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
        a, d = _vector(kept, keep + BIND_ALONG), _vector(kept, keep + BIND_OUT)
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
        _, _, outwards, sideways = read_rows(states, named, name + JOINT_MUSCLE, STATE, RATIO)
        out, side = scaled(factor * outwards, out), scaled(factor * sideways, side)
        if len(frames) > 0:
            _write_vector(frames, at + POINT, point)
            _write_vector(frames, at + ALONG, tangent)
            _write_vector(frames, at + OUT, out)
            _write_vector(frames, at + SIDE, side)
        p, a, d, e = (
            _vector(bind, at + POINT),
            _vector(bind, at + ALONG),
            _vector(bind, at + OUT),
            _vector(bind, at + SIDE),
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
    curves, states = np.empty((len(bulge), COLUMNS)), np.empty((len(bulge), STATE))
    pose_curves(groups, moved, curves)
    if not _pose_muscles(plan.muscles, bulge, curves, states):
        return False
    places = np.empty((4 * len(plan.place_named), PLACE))
    _pose_places(
        plan.piece_starts,
        plan.pieces,
        plan.muscles,
        plan.place_named,
        plan.place_kept,
        curves,
        states,
        places,
    )
    _pose_frames(plan.joint_named, plan.joint_kept, moved, turn, states, places, bind, frames, result)
    return True
