"""The bodies the skinning benchmarks move."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ecorche.base import rotations, transforms
from ecorche.base.mesh import Mesh, triangle_mesh
from ecorche.io.formats import read_character
from ecorche.skeleton.kinematics import difference_from_bind
from ecorche.skeleton.skeleton import Skeleton, local_from_world
from ecorche.skin.weights import SkinWeights, weights_from_table

DATA = Path(os.environ.get("ECORCHE_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))


@dataclass(frozen=True)
class Body:
    """A mesh, its weights and skeleton, and one pose as ``M − I`` (joints, 4, 4)."""

    mesh: Mesh
    weights: SkinWeights
    skeleton: Skeleton
    difference: npt.NDArray[np.float64]


def ring(around: int = 1000, across: int = 1000, joints: int = 60) -> Body:
    """A tube closed to a ring, of a million vertices: each follows its four nearest of 60 joints."""
    u = np.arange(around) * 2.0 * np.pi / around
    v = np.arange(across) * 2.0 * np.pi / across
    long, short = np.meshgrid(u, v, indexing="ij")
    reach = 1.0 + 0.25 * np.cos(short)
    points = np.stack([reach * np.cos(long), reach * np.sin(long), 0.25 * np.sin(short)], axis=-1)
    i, k = np.meshgrid(np.arange(around), np.arange(across), indexing="ij")
    here, right = i * across + k, (i + 1) % around * across + k
    above, beyond = i * across + (k + 1) % across, (i + 1) % around * across + (k + 1) % across
    faces = np.concatenate(
        [
            np.stack([here, right, beyond], -1).reshape(-1, 3),
            np.stack([here, beyond, above], -1).reshape(-1, 3),
        ]
    )
    mesh = triangle_mesh("ring", points.reshape(-1, 3), faces)

    angle = np.arange(joints) * 2.0 * np.pi / joints
    heads = np.stack([np.cos(angle), np.sin(angle), np.zeros(joints)], axis=1)
    nearest = np.empty((mesh.vertex_count, 4), np.int64)
    weights = np.empty((mesh.vertex_count, 4))
    for part in np.array_split(np.arange(mesh.vertex_count), 20):
        distance = np.linalg.norm(mesh.points[part, None] - heads[None], axis=-1)
        nearest[part] = np.argsort(distance, axis=1)[:, :4]
        weights[part] = 1.0 / (np.take_along_axis(distance, nearest[part], 1) + 1e-3) ** 4
    weights /= weights.sum(axis=1, keepdims=True)

    world = np.tile(np.eye(4), (joints, 1, 1))
    world[:, :3, 3] = heads
    parents = np.arange(-1, joints - 1, dtype=np.int32)
    local = local_from_world(parents, world)
    tails = np.roll(heads, -1, axis=0) - heads
    skeleton = Skeleton(tuple(f"joint {j}" for j in range(joints)), parents, local, local, tails)
    return Body(mesh, weights_from_table(nearest, weights, joints, "ring"), skeleton, _shaken(skeleton, 0.05))


def _shaken(skeleton: Skeleton, angle: float) -> npt.NDArray[np.float64]:
    """Every joint turned a little at random."""
    rng = np.random.default_rng(0)
    turns = rotations.xyzw_from_rotation_vector(angle * rng.normal(size=(skeleton.joint_count, 3)))
    return difference_from_bind(skeleton, skeleton.bind_local @ transforms.compose(np.zeros(3), turns))


def man() -> Body | None:
    """The real person of 13,380 vertices, or None where the data is not."""
    path = DATA / "human" / "male_average_cmu_mb.glb"
    if not path.exists():
        return None
    character = read_character(path)
    skinned = character.body()
    assert skinned.weights is not None
    return Body(skinned.mesh, skinned.weights, character.skeleton, _shaken(character.skeleton, 0.2))


def crowd(body: Body, copies: int) -> Body:
    """One mesh of many copies of a body side by side, all on the same joints."""
    count, mesh, weights = body.mesh.vertex_count, body.mesh, body.weights
    points = np.concatenate([mesh.points + np.array([i % 10, 0, i // 10], np.float32) for i in range(copies)])
    triangles = np.concatenate([mesh.triangles() + i * count for i in range(copies)])
    joints, table = weights.padded()
    many = weights_from_table(
        np.tile(joints, (copies, 1)), np.tile(table, (copies, 1)), body.skeleton.joint_count, "crowd"
    )
    return Body(triangle_mesh("crowd", points, triangles), many, body.skeleton, body.difference)


def shuffled(body: Body) -> Body:
    """The same body with its vertices in random order."""
    order = np.random.default_rng(1).permutation(body.mesh.vertex_count)
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    joints, table = body.weights.padded()
    mesh = triangle_mesh("shuffled", body.mesh.points[order], place[body.mesh.triangles()])
    weights = weights_from_table(joints[order], table[order], body.skeleton.joint_count, "shuffled")
    return Body(mesh, weights, body.skeleton, body.difference)
