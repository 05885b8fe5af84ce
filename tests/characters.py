"""Small characters built in the test itself, where an analytic truth is wanted."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from ecorche.base import rotations, transforms
from ecorche.base.mesh import triangle_mesh
from ecorche.body.character import Character, SkinnedMesh
from ecorche.skeleton.motion import Motion
from ecorche.skeleton.skeleton import Skeleton
from ecorche.skin.weights import weights_from_table

MIRROR = np.array([-1, 1, 1], np.float32)
RIGHT_FROM_LEFT = np.diag([-1.0, 1.0, 1.0, 1.0])


def tube(rings: int = 9, around: int = 12, length: float = 1.0, radius: float = 0.1) -> Character:
    """A closed-sided tube along +Y on two joints, the second at half its length."""
    height = np.linspace(0.0, length, rings)
    angle = np.arange(around) * 2.0 * np.pi / around
    y, a = np.meshgrid(height, angle, indexing="ij")
    points = np.stack([radius * np.cos(a), y, radius * np.sin(a)], axis=-1).reshape(-1, 3)
    i, k = np.meshgrid(np.arange(rings - 1), np.arange(around), indexing="ij")
    corner = i * around + k
    right = i * around + (k + 1) % around
    faces = np.concatenate(
        [
            np.stack([corner, corner + around, right], axis=-1).reshape(-1, 3),
            np.stack([right, corner + around, right + around], axis=-1).reshape(-1, 3),
        ]
    )
    upper = np.clip((y.reshape(-1) / length - 0.25) / 0.5, 0.0, 1.0)
    local = np.tile(np.eye(4), (2, 1, 1))
    local[1, 1, 3] = length / 2
    skeleton = Skeleton(
        ("lower", "upper"), np.array([-1, 0], np.int32), local, local.copy(), np.array([[0.0, 0.5, 0.0]] * 2)
    )
    weights = weights_from_table(
        np.tile([0, 1], (len(points), 1)), np.stack([1 - upper, upper], 1), 2, "tube"
    )
    return Character("tube", skeleton, (SkinnedMesh(triangle_mesh("tube", points, faces), weights),))


def bending(character: Character, frames: int = 5, angle: float = 1.2) -> Motion:
    """The last joint turns about z from bind to ``angle`` [rad] over one second."""
    skeleton = character.skeleton
    local = np.tile(skeleton.bind_local, (frames, 1, 1, 1))
    turn = rotations.xyzw_from_axis_angle([0.0, 0.0, 1.0], np.linspace(0.0, angle, frames))
    local[:, -1] = skeleton.bind_local[-1] @ transforms.compose(np.zeros(3), turn)
    # the first frame is the bind pose exactly, not up to rounding
    local[0] = skeleton.bind_local
    return Motion("bending", skeleton, np.linspace(0.0, 1.0, frames), local)


def mirrored(character: Character) -> Character:
    """The character seen in a mirror across x = 0, joint for joint and vertex for vertex."""
    skeleton = character.skeleton
    flipped = Skeleton(
        skeleton.names,
        skeleton.parents,
        mirrored_matrices(skeleton.bind_local),
        mirrored_matrices(skeleton.rest_local),
        skeleton.tails * [-1.0, 1.0, 1.0],
    )
    meshes = tuple(
        replace(m, mesh=replace(m.mesh, points=m.mesh.points * MIRROR, normals=None))
        for m in character.meshes
    )
    return replace(character, skeleton=flipped, meshes=meshes, motions=(), cache=None)


def mirrored_matrices(matrices: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Transforms seen in a mirror across x = 0: shape (..., 4, 4)."""
    return np.asarray(RIGHT_FROM_LEFT @ matrices @ RIGHT_FROM_LEFT)
