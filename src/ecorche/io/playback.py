"""What a player of glTF or USD shows: joints as the file states them, and skin that follows linearly.

Files hold translations, rotations and scales in 32 bits. Skin error is measured against those,
not against the matrices they were made from.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from numba import njit, prange

from ecorche.base import transforms
from ecorche.base.mesh import Mesh
from ecorche.body.character import SkinnedMesh
from ecorche.skeleton.motion import Motion
from ecorche.skeleton.skeleton import Skeleton, world_from_local
from ecorche.skin.weights import SkinWeights

Floats = npt.NDArray[np.float64]
Floats32 = npt.NDArray[np.float32]

NO_SCALE = 1e-7
"""Scales this close to one are left out."""


@dataclass(frozen=True, eq=False)
class JointKeys:
    """The keys of a clip, each (frames, joints, components) float32, and their times [s]."""

    name: str
    times: Floats32
    translation: Floats32
    rotation_xyzw: Floats32
    scale: Floats32
    shear: float  # what the three parts could not say, 0 when nothing
    delay: float  # seconds by which the clip was moved because glTF knows no time before zero

    def local(self, frame: int) -> Floats:
        """``parent_from_joint`` as a player composes it, shape (joints, 4, 4)."""
        return transforms.compose(self.translation[frame], self.rotation_xyzw[frame], self.scale[frame])


def joint_keys(motion: Motion) -> JointKeys:
    """The keys of a motion; rotations keep to one side from frame to frame."""
    translation, rotation, scale = transforms.decompose(motion.local)
    for frame in range(1, len(rotation)):
        against = np.sum(rotation[frame] * rotation[frame - 1], axis=-1) < 0.0
        rotation[frame, against] *= -1.0
    scale = np.where(np.abs(scale - 1.0) <= NO_SCALE, 1.0, scale)
    delay = max(-float(motion.times[0]), 0.0)
    return JointKeys(
        name=motion.name,
        times=(motion.times + delay).astype(np.float32),
        translation=translation.astype(np.float32),
        rotation_xyzw=rotation.astype(np.float32),
        scale=scale.astype(np.float32),
        shear=float(transforms.shear(motion.local).max(initial=0.0)),
        delay=delay,
    )


def inverse_binds(skeleton: Skeleton, own_bind: Floats | None) -> Floats32:
    """Inverse bind matrices as the file states them, shape (joints, 4, 4)."""
    matrices = skeleton.bind_inverse if own_bind is None else skeleton.bind_inverse @ own_bind
    return matrices.astype(np.float32)


def influence_columns(weights: SkinWeights) -> list[tuple[npt.NDArray[np.generic], Floats32]]:
    """Joints and weights in sets of four, strongest first, every influence kept.

    Weights whose float32 sum is off one by more than rounding are brought back by their largest.
    """
    joints, table = weights.padded()
    order = np.lexsort((joints, -table), axis=1)
    joints, table = np.take_along_axis(joints, order, 1), np.take_along_axis(table, order, 1)
    error = table.astype(np.float64).sum(axis=1) - 1.0
    off = np.abs(error) > 1e-7 * np.maximum((table > 0.0).sum(axis=1), 1)
    table[off, 0] -= error[off].astype(np.float32)
    padding = ((0, 0), (0, -table.shape[1] % 4))
    joints = np.pad(np.where(table > 0.0, joints, 0), padding)
    table = np.pad(table, padding)
    narrow = joints.astype(np.uint8 if joints.max(initial=0) < 256 else np.uint16)
    return [
        (np.ascontiguousarray(narrow[:, i : i + 4]), np.ascontiguousarray(table[:, i : i + 4]))
        for i in range(0, table.shape[1], 4)
    ]


class LinearPlayer:
    """Plays one mesh as an engine does: blend shapes, then linear skinning.

    Args:
        skeleton: The character's skeleton.
        mesh: The mesh, skinned or not.
    """

    def __init__(self, skeleton: Skeleton, mesh: SkinnedMesh) -> None:
        self.mesh: Mesh = mesh.mesh
        self._parents = skeleton.parents
        self._skinned = mesh.weights is not None
        if mesh.weights is not None:
            self._inverse_bind = inverse_binds(skeleton, mesh.own_bind).astype(np.float64)
            sets = influence_columns(mesh.weights)
            self._joints = np.concatenate([joints.astype(np.int32) for joints, _ in sets], axis=1)
            self._weights = np.concatenate([weights for _, weights in sets], axis=1)

    def matrices(self, local: Floats) -> Floats | None:
        """The blended matrix of each vertex, shape (vertices, 3, 4); None for a mesh without skin."""
        if not self._skinned:
            return None
        moved = world_from_local(self._parents, local) @ self._inverse_bind
        blended: Floats = _blended(self._joints, self._weights, moved)
        return blended

    def bind_points(self, morph_weights: Sequence[float]) -> Floats:
        """Points after blend shapes, before skinning [m], shape (vertices, 3)."""
        points = self.mesh.points.astype(np.float64)
        for morph, weight in zip(self.mesh.morphs, morph_weights, strict=True):
            points[morph.vertices] += np.float32(weight) * morph.offsets.astype(np.float64)
        return points


@njit(parallel=True, cache=True)  # type: ignore[untyped-decorator]
def _blended(joints: npt.NDArray[np.int32], weights: Floats32, moved: Floats) -> Floats:
    """Weighted sums of the joints' matrices (joints, 4, 4), without their last row."""
    vertices, influences = joints.shape
    blended = np.zeros((vertices, 3, 4))
    for v in prange(vertices):
        for slot in range(influences):
            weight = np.float64(weights[v, slot])
            if weight > 0.0:
                for i in range(3):
                    for j in range(4):
                        blended[v, i, j] += weight * moved[joints[v, slot], i, j]
    return blended


def transformed(matrices: Floats | None, points: Floats) -> Floats:
    """Points (vertices, 3), each moved by its own matrix."""
    if matrices is None:
        return points
    moved: Floats = np.einsum("vij,vj->vi", matrices[:, :, :3], points) + matrices[:, :, 3]
    return moved


def linear_inverse(matrices: Floats) -> Floats:
    """Inverses of the 3×3 parts of (vertices, 3, 4); a collapsed one gives zeros."""
    columns = [matrices[:, :, i] for i in range(3)]
    rows = [
        np.cross(columns[1], columns[2]),
        np.cross(columns[2], columns[0]),
        np.cross(columns[0], columns[1]),
    ]
    determinant = np.einsum("vi,vi->v", columns[0], rows[0])
    usable = np.abs(determinant) > 1e-6
    scale = np.where(usable, 1.0 / np.where(usable, determinant, 1.0), 0.0)
    return np.stack(rows, axis=1) * scale[:, None, None]
