"""Nodes that follow a joint only in part: a share of its swing, another of its twist.

Thesis section 4.8.1: a muscle clings to the bones below it more or less firmly, and a node on a joint of
three degrees of freedom may follow the swing wholly and twist less. No formula is printed. Ours: what the
joint has turned since bind, relative to its parent (or to another joint above it), is split as ``q = swing
⊗ twist``, twist first, about the limb's direction at bind. Each part is taken to its share of the angle,
about its own axis; the node turns by what results about the joint's centre at bind, and goes along with the
parent. What else the joint does, moving or scaling, it follows in the share of the swing.

With both shares 1 the node is rigid on the joint, with both 0 on the parent. Continuous in the pose but for
two places: a twist of half a turn, from which a share goes back either way, and a limb that points back along
itself, where no twist is defined.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit

from ecorche.muscles.lines.turns import product, rotated
from ecorche.muscles.triples import cross, dot, plus, scaled, unit

Floats = npt.NDArray[np.float64]
Matrix = tuple[Any, Any, Any]
"""Three rows of three numbers, in compiled code."""


@njit(inline="always")  # type: ignore[untyped-decorator]
def carried(moved: Floats, joint: int, p: Any) -> Any:
    """Where a joint, moved by ``moved[joint] = M − I``, takes a point [m] of bind; joint −1 never moves."""
    if joint < 0:
        return p
    m = moved[joint]
    return (
        p[0] + (m[0, 0] * p[0] + m[0, 1] * p[1] + m[0, 2] * p[2] + m[0, 3]),
        p[1] + (m[1, 0] * p[0] + m[1, 1] * p[1] + m[1, 2] * p[2] + m[1, 3]),
        p[2] + (m[2, 0] * p[0] + m[2, 1] * p[1] + m[2, 2] * p[2] + m[2, 3]),
    )


@njit(inline="always")  # type: ignore[untyped-decorator]
def change_of_direction(moved: Floats, joint: int, d: Any) -> Any:
    """How a joint has changed a direction of bind: its own less the one at bind."""
    if joint < 0:
        return 0.0, 0.0, 0.0
    m = moved[joint]
    return (
        m[0, 0] * d[0] + m[0, 1] * d[1] + m[0, 2] * d[2],
        m[1, 0] * d[0] + m[1, 1] * d[1] + m[1, 2] * d[2],
        m[2, 0] * d[0] + m[2, 1] * d[1] + m[2, 2] * d[2],
    )


@njit(forceinline=True)  # type: ignore[untyped-decorator]
def times_vector(rows: Any, a: Any) -> Any:
    """A matrix of three rows times a vector."""
    return dot(rows[0], a), dot(rows[1], a), dot(rows[2], a)


@njit(cache=True, error_model="numpy")  # type: ignore[untyped-decorator]
def relative_change(moved: Floats, joint: int, base: int) -> Any:
    """``D − I`` of a joint as seen from a base joint, in the axes of bind: three rows, and a translation [m].

    ``M_joint = M_base D``, so ``D − I = M_base⁻¹ (M_joint − M_base)``: zero at bind.
    """
    m = moved[joint]
    if base < 0:
        rows = (m[0, 0], m[0, 1], m[0, 2]), (m[1, 0], m[1, 1], m[1, 2]), (m[2, 0], m[2, 1], m[2, 2])
        return rows, (m[0, 3], m[1, 3], m[2, 3])
    b = moved[base]
    x = (1.0 + b[0, 0], b[1, 0], b[2, 0])
    y = (b[0, 1], 1.0 + b[1, 1], b[2, 1])
    z = (b[0, 2], b[1, 2], 1.0 + b[2, 2])
    over = 1.0 / dot(x, cross(y, z))
    inverse = scaled(over, cross(y, z)), scaled(over, cross(z, x)), scaled(over, cross(x, y))
    first = times_vector(inverse, (m[0, 0] - b[0, 0], m[1, 0] - b[1, 0], m[2, 0] - b[2, 0]))
    second = times_vector(inverse, (m[0, 1] - b[0, 1], m[1, 1] - b[1, 1], m[2, 1] - b[2, 1]))
    third = times_vector(inverse, (m[0, 2] - b[0, 2], m[1, 2] - b[1, 2], m[2, 2] - b[2, 2]))
    moved_by = times_vector(inverse, (m[0, 3] - b[0, 3], m[1, 3] - b[1, 3], m[2, 3] - b[2, 3]))
    rows = (
        (first[0], second[0], third[0]),
        (first[1], second[1], third[1]),
        (first[2], second[2], third[2]),
    )
    return rows, moved_by


@njit(cache=True, error_model="numpy")  # type: ignore[untyped-decorator]
def turn_of(change: Any) -> Any:
    """The rotation, xyzw with w ≥ 0, in ``I + change``; scale is left out by Gram and Schmidt's rule."""
    x = unit((1.0 + change[0][0], change[1][0], change[2][0]))
    y = (change[0][1], 1.0 + change[1][1], change[2][1])
    y = unit(plus(y, -dot(x, y), x))
    z = cross(x, y)
    # of four formulas the one with the largest divisor
    a, b, c = x[0], y[1], z[2]
    if a + b + c >= 0.0:
        s = 0.5 / np.sqrt(1.0 + a + b + c)
        return (y[2] - z[1]) * s, (z[0] - x[2]) * s, (x[1] - y[0]) * s, 0.25 / s
    if a >= b and a >= c:
        s = 0.5 / np.sqrt(1.0 + a - b - c)
        q = (0.25 / s, (x[1] + y[0]) * s, (z[0] + x[2]) * s, (y[2] - z[1]) * s)
    elif b >= c:
        s = 0.5 / np.sqrt(1.0 - a + b - c)
        q = ((x[1] + y[0]) * s, 0.25 / s, (y[2] + z[1]) * s, (z[0] - x[2]) * s)
    else:
        s = 0.5 / np.sqrt(1.0 - a - b + c)
        q = ((z[0] + x[2]) * s, (y[2] + z[1]) * s, 0.25 / s, (x[1] - y[0]) * s)
    if q[3] < 0.0:
        return -q[0], -q[1], -q[2], -q[3]
    return q


@njit(cache=True, error_model="numpy")  # type: ignore[untyped-decorator]
def swing_and_twist(q: Any, axis: Any) -> Any:
    """The swing's rotation vector [rad] and the twist [rad] about a unit axis of ``q = swing ⊗ twist``."""
    along = q[0] * axis[0] + q[1] * axis[1] + q[2] * axis[2]
    w = q[3]
    if w < 0.0:
        along, w = -along, -w
        q = (-q[0], -q[1], -q[2], w)
    twist = 2.0 * np.arctan2(along, w)
    half = -0.5 * twist
    sine = np.sin(half)
    s = product(q, (sine * axis[0], sine * axis[1], sine * axis[2], np.cos(half)))
    if s[3] < 0.0:
        s = (-s[0], -s[1], -s[2], -s[3])
    size = np.sqrt(s[0] * s[0] + s[1] * s[1] + s[2] * s[2])
    # angle over sine of half of it; 2 where both vanish
    factor = 2.0 * np.arctan2(size, s[3]) / size if size > 1e-12 else 2.0
    return (factor * s[0], factor * s[1], factor * s[2]), twist


@njit(forceinline=True)  # type: ignore[untyped-decorator]
def turn_about(vector: Any) -> Any:
    """The turn, xyzw, of a rotation vector [rad]."""
    angle = np.sqrt(dot(vector, vector))
    factor = np.sin(0.5 * angle) / angle if angle > 1e-12 else 0.5
    return factor * vector[0], factor * vector[1], factor * vector[2], np.cos(0.5 * angle)


@njit(cache=True, error_model="numpy")  # type: ignore[untyped-decorator]
def adhering(
    moved: Floats, joint: int, base: int, p: Any, centre: Any, axis: Any, swing: float, twist: float
) -> Any:
    """Where a node goes that follows a joint in part [m].

    Args:
        moved: ``M − I`` of every joint, (joints, 4, 4).
        joint: The node is bound to it.
        base: The joint above it, −1 for the world.
        p: Of the node at bind [m].
        centre: Of the joint at bind [m].
        axis: Unit direction of the limb at bind.
        swing, twist: Share of each that the node follows, 0 to 1.
    """
    if swing == 1.0 and twist == 1.0:
        return carried(moved, joint, p)
    change, shift = relative_change(moved, joint, base)
    q = turn_of(change)
    vector, angle = swing_and_twist(q, axis)
    part = product(turn_about(scaled(swing, vector)), turn_about(scaled(twist * angle, axis)))
    arm = plus(p, -1.0, centre)
    # what the joint scales, before it turns
    back = (-q[0], -q[1], -q[2], q[3])
    stretched = rotated(back, plus(arm, 1.0, times_vector(change, arm)))
    stretched = plus(arm, swing, plus(stretched, -1.0, arm))
    turned = plus(rotated(part, stretched), -1.0, arm)
    went = plus(shift, 1.0, times_vector(change, centre))
    return carried(moved, base, plus(plus(p, swing, went), 1.0, turned))
