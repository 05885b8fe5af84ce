"""Rotations as three turns [degrees] about a character's left, up and forward axes: +X, +Y, +Z.

Euler angles of one fixed order, as `.pose` files hold them: the turn about up is made first, then about
forward, then about left, each about the axes that stay, so ``R = Rx(left) · Rz(forward) · Ry(up)``. At
±90° about forward the other two turn about one axis; there the turn about up is told as zero.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ecorche.base.rotations import matrix_from_xyzw, multiply_xyzw, xyzw_from_axis_angle

Floats = npt.NDArray[np.float64]

LOCKED = 1e-9
"""Below this cosine of the turn about forward, the other two are one."""


def xyzw_from_turns(degrees: npt.ArrayLike) -> Floats:
    """Rotations (..., 4) of turns about left, up and forward [degrees], (..., 3)."""
    degrees = np.asarray(degrees, np.float64)
    left, up, forward = (
        xyzw_from_axis_angle(np.eye(3)[axis], np.radians(degrees[..., axis])) for axis in range(3)
    )
    return multiply_xyzw(left, multiply_xyzw(forward, up))


def turns_from_xyzw(rotation_xyzw: npt.ArrayLike) -> Floats:
    """Turns about left, up and forward [degrees], (..., 3), of rotations (..., 4).

    Forward is within ±90°, the others within ±180°.
    """
    return turns_from_matrix(matrix_from_xyzw(rotation_xyzw))


def turns_from_matrix(rotation: npt.ArrayLike) -> Floats:
    """Turns about left, up and forward [degrees], (..., 3), of rotation matrices (..., 3, 3)."""
    m = np.asarray(rotation, np.float64)
    cosine = np.hypot(m[..., 0, 0], m[..., 0, 2])
    locked = cosine < LOCKED
    forward = np.arctan2(-m[..., 0, 1], cosine)
    up = np.where(locked, 0.0, np.arctan2(m[..., 0, 2], m[..., 0, 0]))
    left = np.where(locked, np.arctan2(-m[..., 1, 2], m[..., 2, 2]), np.arctan2(m[..., 2, 1], m[..., 1, 1]))
    turns: Floats = np.degrees(np.stack([left, up, forward], axis=-1)) + 0.0  # no negative zero
    return turns
