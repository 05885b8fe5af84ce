"""Rotations as unit quaternions in xyzw order and as matrices; all functions take any batch shape.

Column vectors, right-handed: ``multiply_xyzw(a, b)`` turns by b first, then by a.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


def multiply_xyzw(a: npt.ArrayLike, b: npt.ArrayLike) -> Floats:
    """Compose two rotations: the result turns by ``b`` first, then by ``a``. Shapes (..., 4)."""
    a, b = np.asarray(a, np.float64), np.asarray(b, np.float64)
    ax, ay, az, aw = a[..., 0], a[..., 1], a[..., 2], a[..., 3]
    bx, by, bz, bw = b[..., 0], b[..., 1], b[..., 2], b[..., 3]
    return np.stack(
        [
            aw * bx + ax * bw + ay * bz - az * by,
            aw * by - ax * bz + ay * bw + az * bx,
            aw * bz + ax * by - ay * bx + az * bw,
            aw * bw - ax * bx - ay * by - az * bz,
        ],
        axis=-1,
    )


def inverse_xyzw(q: npt.ArrayLike) -> Floats:
    """The opposite rotation of unit quaternions, shape (..., 4)."""
    conjugate: Floats = np.asarray(q, np.float64) * np.array([-1.0, -1.0, -1.0, 1.0])
    return conjugate


def normalise(v: npt.ArrayLike) -> Floats:
    """Vectors of length one along the last axis; a zero vector stays zero."""
    v = np.asarray(v, np.float64)
    length = np.linalg.norm(v, axis=-1, keepdims=True)
    return v / np.where(length > 0.0, length, 1.0)


def rotate_xyzw(q: npt.ArrayLike, v: npt.ArrayLike) -> Floats:
    """Vectors ``v`` (..., 3) turned by unit quaternions ``q`` (..., 4)."""
    q, v = np.asarray(q, np.float64), np.asarray(v, np.float64)
    axis, w = q[..., :3], q[..., 3:]
    t = 2.0 * np.cross(axis, v)
    return v + w * t + np.cross(axis, t)


def matrix_from_xyzw(q: npt.ArrayLike) -> Floats:
    """Rotation matrices (..., 3, 3) of unit quaternions (..., 4)."""
    q = np.asarray(q, np.float64)
    x, y, z, w = q[..., 0], q[..., 1], q[..., 2], q[..., 3]
    m = np.empty((*q.shape[:-1], 3, 3))
    m[..., 0, 0] = 1.0 - 2.0 * (y * y + z * z)
    m[..., 0, 1] = 2.0 * (x * y - z * w)
    m[..., 0, 2] = 2.0 * (x * z + y * w)
    m[..., 1, 0] = 2.0 * (x * y + z * w)
    m[..., 1, 1] = 1.0 - 2.0 * (x * x + z * z)
    m[..., 1, 2] = 2.0 * (y * z - x * w)
    m[..., 2, 0] = 2.0 * (x * z - y * w)
    m[..., 2, 1] = 2.0 * (y * z + x * w)
    m[..., 2, 2] = 1.0 - 2.0 * (x * x + y * y)
    return m


def xyzw_from_matrix(m: npt.ArrayLike) -> Floats:
    """Unit quaternions (..., 4), w >= 0, of rotation matrices (..., 3, 3).

    Of the four classic formulas the best conditioned one is taken per matrix: the row of the
    symmetric matrix ``4 q qᵀ`` with the largest diagonal entry.
    """
    m = np.asarray(m, np.float64)
    d0, d1, d2 = m[..., 0, 0], m[..., 1, 1], m[..., 2, 2]
    products = np.empty((*m.shape[:-2], 4, 4))
    products[..., 0, 0] = 1.0 + d0 - d1 - d2
    products[..., 1, 1] = 1.0 - d0 + d1 - d2
    products[..., 2, 2] = 1.0 - d0 - d1 + d2
    products[..., 3, 3] = 1.0 + d0 + d1 + d2
    for i, j, value in (
        (0, 1, m[..., 1, 0] + m[..., 0, 1]),
        (0, 2, m[..., 0, 2] + m[..., 2, 0]),
        (1, 2, m[..., 2, 1] + m[..., 1, 2]),
        (0, 3, m[..., 2, 1] - m[..., 1, 2]),
        (1, 3, m[..., 0, 2] - m[..., 2, 0]),
        (2, 3, m[..., 1, 0] - m[..., 0, 1]),
    ):
        products[..., i, j] = products[..., j, i] = value
    best = np.argmax(np.diagonal(products, axis1=-2, axis2=-1), axis=-1)
    q = normalise(np.take_along_axis(products, best[..., None, None], axis=-2)[..., 0, :])
    return np.where(q[..., 3:] < 0.0, -q, q)


def xyzw_from_axis_angle(axis: npt.ArrayLike, angle: npt.ArrayLike) -> Floats:
    """Unit quaternions turning by ``angle`` [rad] (...) about unit ``axis`` (..., 3)."""
    half = 0.5 * np.asarray(angle, np.float64)[..., None]
    axis = np.asarray(axis, np.float64)
    vector = np.sin(half) * axis
    return np.concatenate([vector, np.broadcast_to(np.cos(half), (*vector.shape[:-1], 1))], axis=-1)


def xyzw_from_rotation_vector(r: npt.ArrayLike) -> Floats:
    """Unit quaternions of rotation vectors (..., 3): direction is the axis, length the angle [rad]."""
    r = np.asarray(r, np.float64)
    angle = np.linalg.norm(r, axis=-1, keepdims=True)
    # sin(angle / 2) / angle, continuous through zero
    factor = 0.5 * np.sinc(angle / (2.0 * np.pi))
    return np.concatenate([factor * r, np.cos(0.5 * angle)], axis=-1)


def rotation_vector_from_xyzw(q: npt.ArrayLike) -> Floats:
    """Rotation vectors (..., 3) [rad], length at most pi, of unit quaternions (..., 4)."""
    q = np.asarray(q, np.float64)
    q = np.where(q[..., 3:] < 0.0, -q, q)
    sine = np.linalg.norm(q[..., :3], axis=-1, keepdims=True)
    angle = 2.0 * np.arctan2(sine, q[..., 3:])
    return q[..., :3] * np.where(sine > 1e-12, angle / np.where(sine > 1e-12, sine, 1.0), 2.0)


def slerp_xyzw(a: npt.ArrayLike, b: npt.ArrayLike, t: npt.ArrayLike) -> Floats:
    """The rotation a fraction ``t`` (...) of the way from ``a`` to ``b`` (..., 4), the short way."""
    a, b = np.asarray(a, np.float64), np.asarray(b, np.float64)
    t = np.asarray(t, np.float64)[..., None]
    dot = np.sum(a * b, axis=-1, keepdims=True)
    b = np.where(dot < 0.0, -b, b)
    angle = 2.0 * np.arctan2(
        np.linalg.norm(a - b, axis=-1, keepdims=True), np.linalg.norm(a + b, axis=-1, keepdims=True)
    )
    small = angle < 1e-6
    sine = np.where(small, 1.0, np.sin(angle))
    wa = np.where(small, 1.0 - t, np.sin((1.0 - t) * angle) / sine)
    wb = np.where(small, t, np.sin(t * angle) / sine)
    return normalise(wa * a + wb * b)


def shortest_arc_xyzw(a: npt.ArrayLike, b: npt.ArrayLike) -> Floats:
    """The smallest rotation taking unit vectors ``a`` to ``b`` (..., 3).

    Opposite vectors have no smallest rotation: half a turn about an axis perpendicular to ``a``
    is returned, the one with the least part along a's largest component.
    """
    a, b = np.asarray(a, np.float64), np.asarray(b, np.float64)
    a, b = np.broadcast_arrays(a, b)
    w = 1.0 + np.sum(a * b, axis=-1, keepdims=True)
    smallest = np.eye(3)[np.argmin(np.abs(a), axis=-1)]
    axis = np.where(w > 1e-12, np.cross(a, b), np.cross(a, smallest))
    return normalise(np.concatenate([axis, np.where(w > 1e-12, w, 0.0)], axis=-1))


def swing_twist_xyzw(q: npt.ArrayLike, axis: npt.ArrayLike = (0.0, 0.0, 1.0)) -> tuple[Floats, Floats]:
    """Split rotations (..., 4) as ``q = swing ⊗ twist``: twist first, about unit ``axis`` (..., 3).

    The direction the axis ends up in depends on swing alone. At the singularity, where the axis
    ends up opposite to itself, the twist is taken as zero.
    """
    q, axis = np.asarray(q, np.float64), np.asarray(axis, np.float64)
    along = np.sum(q[..., :3] * axis, axis=-1, keepdims=True)
    twist = np.concatenate([along * axis, q[..., 3:]], axis=-1)
    length = np.linalg.norm(twist, axis=-1, keepdims=True)
    identity = np.array([0.0, 0.0, 0.0, 1.0])
    twist = np.where(length > 1e-12, twist / np.where(length > 1e-12, length, 1.0), identity)
    twist = np.where(twist[..., 3:] < 0.0, -twist, twist)
    swing = multiply_xyzw(q, inverse_xyzw(twist))
    return np.where(swing[..., 3:] < 0.0, -swing, swing), twist
