"""All joints of a frame, the skeleton's and then the muscles', in one compiled call.

What moves a skin of float32 points is computed in float32, eight muscle joints side by side, and comes as the
rows that skinning reads. There the way of one joint is taken off all others before they are rounded, and
added again at the end: a character far from the origin has muscles as exact as one at it.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit

from ecorche.base.quads import all_above, like, read_quad, read_rows, write_quad
from ecorche.muscles.loft_joints import pose_muscle_joints
from ecorche.muscles.loft_plan import LARGEST_BULGE
from ecorche.muscles.packed_plans import counts, unpacked
from ecorche.muscles.posed_joints import MOVED, TURN, pose_joints
from ecorche.muscles.root_curves import Numbers
from ecorche.muscles.triples import cross, dot

Floats = npt.NDArray[np.float64]
Naturals = npt.NDArray[np.uint32]
Singles = npt.NDArray[np.float32]

_NO_ROTATION = 2e-6
"""How far ``MᵀM − I`` of float32 may be from zero."""


@njit(cache=True)  # type: ignore[untyped-decorator]
def _pose_joints(turned: Naturals, difference: Floats, moved: Floats, turn: Floats) -> bool:
    """See `pose_joints`; ``turned`` are those of `LoftPlan`."""
    turning = np.zeros(len(difference), np.bool_)
    for group in range(len(turned)):
        for lane in range(turned.shape[1]):
            turning[turned[group, lane] // MOVED] = True
    # made here: as constants they cannot be written to, and `pose_joints` would be compiled once more
    scapulae, vectors = np.zeros((0, 3), np.int64), np.zeros((0, 4, 3))
    done: bool = pose_joints(turning, scapulae, vectors, difference, moved, turn)
    return done


@njit(cache=True)  # type: ignore[untyped-decorator]
def _bulge(muscles: Numbers, activation: Floats, bulge: Numbers) -> bool:
    """T of muscles so active; False where an activation is not between 0 and 1."""
    for muscle in range(len(muscles)):
        active, largest = activation[muscle], muscles[muscle, LARGEST_BULGE]
        if not (active >= 0.0 and active <= 1.0 and largest >= 1.0):
            return False
        bulge[muscle] = 1.0 + active * (largest - 1.0)
    return True


@njit(cache=True)  # type: ignore[untyped-decorator]
def difference_of(kept: Floats, difference: Floats, bulge: Floats, result: Floats) -> bool:
    """``M − I`` of the muscle joints (K, 4, 4) from that of the joints and T (M,); False where none is.

    ``kept`` is what `packed` gives of float64.
    """
    count, _, muscle_count = counts(kept)
    if difference.shape != (count, 4, 4) or len(bulge) != muscle_count:
        return False
    _, plan, bind = unpacked(kept)
    moved, turn, rows = np.empty((count, MOVED)), np.empty((count, TURN)), np.empty((len(result), MOVED))
    if not _pose_joints(plan.turned, difference, moved, turn):
        return False
    here = (0.0, 0.0, 0.0)
    if not pose_muscle_joints(kept, moved, turn, bulge, here, bind[:0], rows):
        return False
    for joint in range(len(result)):
        for column in range(4):
            for row in range(3):
                result[joint, row, column] = 0.0 - rows[joint, 4 * row + column]
            result[joint, 3, column] = 0.0
    return True


@njit(cache=True)  # type: ignore[untyped-decorator]
def extend(kept: Floats, difference: Floats, activation: Floats, result: Floats) -> bool:
    """``M − I`` of the joints and then of the muscle joints (joints + K, 4, 4), for muscles so active (M,).

    False where a pose or an activation cannot be.
    """
    count, _, muscle_count = counts(kept)
    bulge = np.empty(muscle_count)
    if len(difference) != count or len(activation) != muscle_count:
        return False
    if not _bulge(unpacked(kept)[1].muscles, activation, bulge):
        return False
    result[:count] = difference
    done: bool = difference_of(kept, difference, bulge, result[count:])
    return done


@njit(cache=True)  # type: ignore[untyped-decorator]
def skin_rows_of(kept: Singles, difference: Floats, activation: Floats, result: Singles) -> bool:
    """``I − M`` of the joints and then of the muscle joints, for muscles so active (M,).

    Args:
        kept: What `packed` gives of float32.
        difference: ``M − I`` of the joints, (joints, 4, 4).
        activation: Of the muscles, (M,).
        result: Where to write the upper three rows of every matrix, (joints + K, MOVED).

    Returns:
        False where a pose or an activation cannot be.
    """
    count, _, muscle_count = counts(kept)
    if difference.shape != (count, 4, 4) or len(activation) != muscle_count:
        return False
    _, plan, bind = unpacked(kept)
    bulge = np.empty(muscle_count, np.float32)
    if not _bulge(plan.muscles, activation, bulge):
        return False
    way = (0.0, 0.0, 0.0)
    if len(plan.turned) > 0:
        first = np.int64(plan.turned[0, 0]) // MOVED
        way = difference[first, 0, 3], difference[first, 1, 3], difference[first, 2, 3]
    moved = np.empty((count, MOVED), np.float32)
    turn = moved[:0]
    for joint in range(count):
        for row in range(3):
            matrix_row = read_quad(difference, 4 * joint + row)
            write_quad(result, 3 * joint + row, 0.0 - matrix_row)
            write_quad(moved, 3 * joint + row, matrix_row)
            moved[joint, 4 * row + 3] = difference[joint, row, 3] - way[row]
    if not _are_rotations(plan.turned, moved):
        exact_moved, exact_turn = np.empty((count, MOVED)), np.empty((count, TURN))
        if not _pose_joints(plan.turned, difference, exact_moved, exact_turn):
            return False
        turn = exact_turn.astype(np.float32)
    done: bool = pose_muscle_joints(kept, moved, turn, bulge, way, bind[:0], result[count:])
    return done


@njit(cache=True)  # type: ignore[untyped-decorator]
def _are_rotations(named: Naturals, moved: Singles) -> bool:
    """Whether the joints' matrices turn and move, and nothing else, to six digits."""
    for group in range(len(named)):
        ax, bx, cx, _ = read_rows(moved, named, group, 1, 0)
        ay, by, cy, _ = read_rows(moved, named, group, 1, 4)
        az, bz, cz, _ = read_rows(moved, named, group, 1, 8)
        # MᵀM − I from M − I
        a, b, c = (ax, ay, az), (bx, by, bz), (cx, cy, cz)
        lengths = ax + ax + dot(a, a), by + by + dot(b, b), cz + cz + dot(c, c)
        angles = ay + bx + dot(a, b), bz + cy + dot(b, c), az + cx + dot(a, c)
        off = dot(lengths, lengths) + dot(angles, angles)
        volume = dot((1.0 + ax, ay, az), cross((bx, 1.0 + by, bz), (cx, cy, 1.0 + cz)))
        if not (all_above(like(off, _NO_ROTATION**2), off) and all_above(volume, like(off, 0.0))):
            return False
    return True
