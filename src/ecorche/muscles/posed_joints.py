"""How far all joints have moved and turned in a frame, virtual scapulae among them; for compiled loops."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit

from ecorche.base.quads import quad, read_rows, square_roots, where_above, write_quad, write_rows
from ecorche.muscles.scapula import SCAPULAR_SHARE, SETTING_PHASE
from ecorche.muscles.triples import cross, dot, plus, read, scaled, times, times_transposed, unit, write

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Naturals = npt.NDArray[np.uint32]

SKEWED = 1e-12
"""Columns of a joint's matrix this far from orthogonal are made a rotation."""
MOVED = 12
"""Columns of a joint's ``M − I``: its upper three rows."""
TURN = 12
"""Columns of a joint's rotation: three rows of three numbers and one that nobody reads."""


@njit(cache=True)  # type: ignore[untyped-decorator]
def _nearest_rotation(linear: Floats, turn: Floats) -> bool:
    """See `transforms.nearest_rotation`; by Newton's iteration for the polar factor. False where singular."""
    for column in range(3):
        length = np.sqrt(linear[0, column] ** 2 + linear[1, column] ** 2 + linear[2, column] ** 2)
        if not length > 0.0:
            return False
        over = 1.0 / length
        for row in range(3):
            turn[row, column] = linear[row, column] * over
    if dot(read(turn, 0), cross(read(turn, 1), read(turn, 2))) < 0.0:
        turn[:, 0] *= -1.0
    skew = 0.0
    for i in range(3):
        for j in range(i):
            product = turn[0, i] * turn[0, j] + turn[1, i] * turn[1, j] + turn[2, i] * turn[2, j]
            skew = max(skew, abs(product))
    if not skew > SKEWED:
        return bool(skew >= 0.0)
    for _ in range(60):
        rows = (
            (turn[0, 0], turn[0, 1], turn[0, 2]),
            (turn[1, 0], turn[1, 1], turn[1, 2]),
            (turn[2, 0], turn[2, 1], turn[2, 2]),
        )
        cofactors = (cross(rows[1], rows[2]), cross(rows[2], rows[0]), cross(rows[0], rows[1]))
        volume = dot(rows[0], cofactors[0])
        if not volume > 1e-9:
            return False
        change = 0.0
        for i in range(3):
            for j in range(3):
                new = 0.5 * (rows[i][j] + cofactors[i][j] / volume)
                change = max(change, abs(new - rows[i][j]))
                turn[i, j] = new
        if change < 1e-15:
            break
    return True


@njit(forceinline=True)  # type: ignore[untyped-decorator]
def _angle(a: Any, b: Any) -> Any:
    a, b = unit(a), unit(b)
    apart, together = plus(a, -1.0, b), plus(a, 1.0, b)
    return 2.0 * np.arctan2(np.sqrt(dot(apart, apart)), np.sqrt(dot(together, together)))


@njit(forceinline=True)  # type: ignore[untyped-decorator]
def _rhythm(elevation: Any) -> Any:
    """See `scapula.scapula_upward_rotation`."""
    u = min(elevation / SETTING_PHASE, 1.0)
    return SCAPULAR_SHARE * (SETTING_PHASE * u * u * (2.0 - u) + max(elevation - SETTING_PHASE, 0.0))


@njit(inline="always")  # type: ignore[untyped-decorator]
def _turn_about(m: Floats, axis: Any) -> Any:
    """By how much a rotation matrix turns about an axis: twice the arc tangent of q · axis over w ≥ 0."""
    trace = m[0, 0] + m[1, 1] + m[2, 2]
    if trace > 0.0:
        along = (m[2, 1] - m[1, 2]) * axis[0] + (m[0, 2] - m[2, 0]) * axis[1] + (m[1, 0] - m[0, 1]) * axis[2]
        return 2.0 * np.arctan2(along, 1.0 + trace)
    k = 0
    for i in range(1, 3):
        if m[i, i] > m[k, k]:
            k = i
    i, j = (k + 1) % 3, (k + 2) % 3
    w = m[j, i] - m[i, j]
    along = (1.0 + m[k, k] - m[i, i] - m[j, j]) * axis[k]
    along += (m[i, k] + m[k, i]) * axis[i] + (m[j, k] + m[k, j]) * axis[j]
    return 2.0 * np.arctan2(-along, -w) if w < 0.0 else 2.0 * np.arctan2(along, w)


@njit(cache=True)  # type: ignore[untyped-decorator]
def _move_scapula(
    joints: Ints, vectors: Floats, moved: Floats, turn: Floats, joint: int, work: Floats
) -> None:
    """See `VirtualScapula.moved`: its own ``M − I`` into row ``joint`` of ``moved`` (joints, 12)."""
    girdle, thorax, arm = joints[0], joints[1], joints[2]
    axis, hanging, arm_direction = read(vectors, 1), read(vectors, 2), read(vectors, 3)
    # the girdle on the thorax, and the arm's direction there
    direction = times_transposed(turn, thorax, times(turn, arm, arm_direction))
    for column in range(3):
        of_girdle = turn[girdle, column], turn[girdle, 4 + column], turn[girdle, 8 + column]
        work[0, column], work[1, column], work[2, column] = times_transposed(turn, thorax, of_girdle)
    angle = _rhythm(_angle(hanging, direction)) - _rhythm(_angle(hanging, arm_direction))
    angle -= _turn_about(work, axis)
    w = np.cos(0.5 * angle)
    x, y, z = scaled(np.sin(0.5 * angle), axis)
    about = (
        (-2.0 * (y * y + z * z), 2.0 * (x * y - z * w), 2.0 * (x * z + y * w)),
        (2.0 * (x * y + z * w), -2.0 * (x * x + z * z), 2.0 * (y * z - x * w)),
        (2.0 * (x * z - y * w), 2.0 * (y * z + x * w), -2.0 * (x * x + y * y)),
    )
    pivot = read(vectors, 0)
    shift = -dot(about[0], pivot), -dot(about[1], pivot), -dot(about[2], pivot)
    # (I + G)(I + A) − I, kept as a difference
    for i in range(3):
        row, at = read(moved, girdle, 4 * i), 4 * i
        for j in range(3):
            product = row[0] * about[0][j] + row[1] * about[1][j] + row[2] * about[2][j]
            moved[joint, at + j] = row[j] + about[i][j] + product
        moved[joint, at + 3] = moved[girdle, at + 3] + shift[i] + dot(row, shift)


@njit(forceinline=True)  # type: ignore[untyped-decorator]
def _size(a: Any) -> Any:
    return where_above(a, quad(0.0), a, quad(0.0) - a)


@njit(cache=True)  # type: ignore[untyped-decorator]
def _turn_by_fours(named: Naturals, moved: Floats, turn: Floats, skews: Floats) -> None:
    """Rotations of the joints named by fours, columns made unit; and how far these are from orthogonal."""
    none = quad(0.0)
    for group in range(len(skews)):
        ax, bx, cx, _ = read_rows(moved, named, group, MOVED, 0)
        ay, by, cy, _ = read_rows(moved, named, group, MOVED, 4)
        az, bz, cz, _ = read_rows(moved, named, group, MOVED, 8)
        a, b, c = (ax + 1.0, ay, az), (bx, by + 1.0, bz), (cx, cy, cz + 1.0)
        a = scaled(1.0 / square_roots(dot(a, a)), a)
        b = scaled(1.0 / square_roots(dot(b, b)), b)
        c = scaled(1.0 / square_roots(dot(c, c)), c)
        a = scaled(where_above(none, dot(a, cross(b, c)), quad(-1.0), quad(1.0)), a)
        write_quad(skews, group, _size(dot(a, b)) + _size(dot(b, c)) + _size(dot(c, a)))
        write_rows(turn, named, group, TURN, 0, (a[0], b[0], c[0], none))
        write_rows(turn, named, group, TURN, 4, (a[1], b[1], c[1], none))
        write_rows(turn, named, group, TURN, 8, (a[2], b[2], c[2], none))


@njit(cache=True)  # type: ignore[untyped-decorator]
def _turn_one(moved: Floats, joint: int, turn: Floats, work: Floats, nearest: Floats) -> bool:
    """The rotation nearest to where a joint is; False where there is none."""
    for i in range(3):
        for j in range(3):
            work[i, j] = moved[joint, 4 * i + j] + (1.0 if i == j else 0.0)
    if not _nearest_rotation(work, nearest):
        return False
    for i in range(3):
        write(turn, joint, 4 * i, read(nearest, i))
    return True


@njit(cache=True)  # type: ignore[untyped-decorator]
def pose_joints(
    turning: npt.NDArray[np.bool_],
    scapula_joints: Ints,
    scapula_vectors: Floats,
    difference: Floats,
    moved: Floats,
    turn: Floats,
) -> bool:
    """``M − I`` of the joints that are needed, virtual ones last, (joints, 12), and rotations (joints, TURN).

    False where a joint has no rotation.
    """
    own, count, named = len(difference), 0, np.empty(len(difference) + 3, np.uint32)
    for joint in range(own):
        if turning[joint]:
            for i in range(3):
                for j in range(4):
                    moved[joint, 4 * i + j] = difference[joint, i, j]
            named[count] = joint
            count += 1
    skews = np.empty(((count + 3) // 4, 4))
    for lane in range(count, skews.size):
        named[lane] = named[count - 1]
    _turn_by_fours(named, moved, turn, skews)
    work, nearest = np.empty((3, 3)), np.empty((3, 3))
    for lane in range(count):
        # a scaled joint may be skewed; where there is no rotation, no number says so
        if not skews[lane // 4, lane % 4] <= SKEWED and not _turn_one(
            moved, named[lane], turn, work, nearest
        ):
            return False
    for number in range(len(moved) - own):
        joint = own + number
        if turning[joint]:
            _move_scapula(scapula_joints[number], scapula_vectors[number], moved, turn, joint, work)
            if not _turn_one(moved, joint, turn, work, nearest):
                return False
    return True
