"""Poses as H-Anim writes them: each joint's own turn, move and scale about its center.

With bind and local matrices, a joint's own transform is ``X = parent_bind · L · bind_inverse``; it is
the identity at bind. X3D writes it as ``T(t) T(c) R SR S SR⁻¹ T(−c)``, which holds any affine
matrix that does not mirror: R and the stretch are its polar decomposition.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ecorche.base.rotations import rotation_vector_from_xyzw, xyzw_from_matrix
from ecorche.errors import WriteError
from ecorche.io.x3d.nodes import Floats
from ecorche.skeleton.skeleton import Skeleton

_STRETCHED = 1e-9
_MOVED = 1e-12


@dataclass(frozen=True, eq=False)
class JointFields:
    """Fields of HAnimJoint over frames; None where a field stays at its default throughout."""

    rotation: Floats | None  # (frames, 4) axis and angle [rad]
    translation: Floats | None  # (frames, 3) [m]
    scale: Floats | None  # (frames, 3)
    scale_orientation: Floats | None  # (frames, 4)

    def items(self) -> list[tuple[str, Floats]]:
        """X3D's names of the fields that are not at their default, with their values."""
        named = (
            ("rotation", self.rotation),
            ("translation", self.translation),
            ("scale", self.scale),
            ("scaleOrientation", self.scale_orientation),
        )
        return [(name, values) for name, values in named if values is not None]


def joint_fields(skeleton: Skeleton, joint: int, local: Floats) -> JointFields:
    """One joint's H-Anim fields for its local matrices (frames, 4, 4)."""
    parent = skeleton.parents[joint]
    above = skeleton.bind_world[parent] if parent >= 0 else np.eye(4)
    # as a difference from bind, so that bind is exactly nothing
    change = above @ (local - skeleton.bind_local[joint]) @ skeleton.bind_inverse[joint]
    linear = change[:, :3, :3] + np.eye(3)
    centre = skeleton.bind_world[joint, :3, 3]
    # T(t) T(c) A T(−c) moves the origin by t + c − A c
    translation = change[:, :3, 3] + change[:, :3, :3] @ centre
    if (np.linalg.det(linear) <= 0.0).any():
        raise WriteError(
            f"joint {skeleton.names[joint]!r} is mirrored in the motion",
            remedy="X3D has no mirroring joints: remove its negative scale",
        )
    u, stretch, vt = np.linalg.svd(linear)
    rigid = np.abs(stretch - 1.0).max(axis=1) < _STRETCHED
    turn = np.where(rigid[:, None, None], linear, u @ vt)
    rotation = _axis_angle(xyzw_from_matrix(turn))
    scale = along = None
    if not rigid.all():
        uneven = np.ptp(stretch, axis=1) > _STRETCHED
        scale = np.where(rigid[:, None], 1.0, stretch)
        if uneven.any():
            axes = np.swapaxes(vt, 1, 2)
            axes = axes * np.sign(np.linalg.det(axes))[:, None, None]
            axes = np.where(uneven[:, None, None], axes, np.eye(3))
            along = _axis_angle(xyzw_from_matrix(axes))
    return JointFields(
        rotation if np.abs(rotation[:, 3]).max() > 0.0 else None,
        translation if np.abs(translation).max() > _MOVED else None,
        scale,
        along,
    )


def _axis_angle(xyzw: Floats) -> Floats:
    """X3D rotations (..., 4) of unit quaternions (..., 4)."""
    vector = rotation_vector_from_xyzw(xyzw)
    angle = np.linalg.norm(vector, axis=-1, keepdims=True)
    axis = np.where(angle > 0.0, vector / np.where(angle > 0.0, angle, 1.0), [0.0, 0.0, 1.0])
    return np.concatenate([axis, angle], axis=-1)
