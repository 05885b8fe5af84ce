"""Angles of a joint's rotation in its anatomical frame: knee angles, twist, swing vectors, mirror images."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ecorche.base.rotations import xyzw_from_rotation_vector

Floats = npt.NDArray[np.float64]


def knee_angles(local: npt.ArrayLike) -> tuple[Floats, Floats, Floats]:
    """Flexion, sideways tilt and twist [rad], each (...), with ``q = Rx · Ry · Rz`` (..., 4).

    The products of the half-angles' sines and cosines are a 2×2 matrix whose singular vectors
    are the two outer rotations, so the angles come from two arc tangents without a division.
    Undetermined only where the tilt is ±90°; there one of the two sums is taken as zero.
    """
    q = np.asarray(local, np.float64)
    x, y, z, w = q[..., 0], q[..., 1], q[..., 2], q[..., 3]
    total, difference = np.arctan2(x + z, w + y), np.arctan2(x - z, w - y)
    sideways = 2.0 * np.arctan2(np.hypot(x + z, w + y), np.hypot(x - z, w - y)) - 0.5 * np.pi
    return wrapped(total + difference), sideways, wrapped(total - difference)


def twist_angle(twist_xyzw: Floats) -> Floats:
    """The angle [rad] (...), −π to π, of rotations about z (..., 4)."""
    return np.asarray(wrapped(2.0 * np.arctan2(twist_xyzw[..., 2], twist_xyzw[..., 3])))


def swing_from_vector(swings: npt.ArrayLike) -> Floats:
    """The rotations (..., 4) of swing vectors (s_x, s_y) [rad] (..., 2)."""
    swings = np.asarray(swings, np.float64)
    return xyzw_from_rotation_vector(np.concatenate([swings, np.zeros((*swings.shape[:-1], 1))], axis=-1))


def mirror_xyzw(q: npt.ArrayLike) -> Floats:
    """Rotations (..., 4) as seen in a mirror across x = 0."""
    mirrored: Floats = np.asarray(q, np.float64) * np.array([1.0, -1.0, -1.0, 1.0])
    return mirrored


def wrapped(angle: Floats) -> Floats:
    """Angles [rad] (...) brought to −π to π by whole turns."""
    return np.asarray(angle - 2.0 * np.pi * np.round(angle / (2.0 * np.pi)), np.float64)
