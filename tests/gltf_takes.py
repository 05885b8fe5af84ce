"""Takes of real characters for the tests of what we write to glTF."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from characters import bending, tube
from ecorche.base import rotations, transforms
from ecorche.base.mesh import Attribute, FaceSubset, Mesh
from ecorche.body.character import Character, Material, SkinnedMesh
from ecorche.body.compile import compile_body
from ecorche.body.live_frames import LiveFrames
from ecorche.body.take import Take
from ecorche.io.formats import read_character
from ecorche.skeleton.motion import Motion
from ecorche.skeleton.skeleton import Skeleton
from ecorche.skin.weights import weights_from_table

FRAMES, RATE = 20, 24

CHARACTERS = (
    "human/female_average_cmu_mb.glb",
    "human/male_average_cmu_mb.glb",
    "human/male_dressed_mixamo.glb",
    "human/male_muscular_cmu_mb.glb",
    "human/male_muscular_mixamo.glb",
    "human/male_slim_cmu_mb.glb",
    "mesh2motion/horse-animations.glb",
    "mesh2motion/human-male.glb",
)
"""Every real character there is as glTF."""


def wave(character: Character, seed: int = 1) -> Motion:
    """All joints swing about axes of their own, the root travels, blend shapes come and go."""
    skeleton, rng = character.skeleton, np.random.default_rng(seed)
    times = np.arange(FRAMES) / RATE
    axes = rotations.normalise(rng.normal(size=(skeleton.joint_count, 3)))
    angles = np.sin(times[:, None] * rng.uniform(2.0, 6.0, skeleton.joint_count)) * rng.uniform(
        0.1, 0.7, skeleton.joint_count
    )
    turns = transforms.compose(np.zeros(3), rotations.xyzw_from_axis_angle(axes, angles))
    local = skeleton.rest_local @ turns
    local[:, 0, :3, 3] += times[:, None] * [0.3, 0.0, 0.5]
    morphs = {
        f"{m.name}/{morph.name}": 0.5 - 0.5 * np.cos(4.0 * times)
        for m in character.meshes
        for morph in m.mesh.morphs
    }
    return Motion("wave", skeleton, times, local, morphs)


def real_take(data: Path, name: str, skinning: str = "linear") -> Take:
    """A real character in a wave, skinned by the given method."""
    character = read_character(data / name)
    motion = wave(character)
    return Take(character, motion, LiveFrames(compile_body(character, skinning=skinning), motion))


SQUARE = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [2, 0, 0], [2, 1, 0]], np.float32)
SEAM = np.array([[0, 0], [1, 0], [1, 1], [0, 1], [0, 0], [1, 0], [1, 1], [0, 1]], np.float32)


def squares() -> Character:
    """Two quads as USD would describe them: texture coordinates a corner, values a face, for all."""
    mesh = Mesh(
        "squares",
        SQUARE,
        np.array([4, 4], np.int32),
        np.array([0, 1, 2, 3, 1, 4, 5, 2], np.int32),
        uv=Attribute("st", SEAM, "corner"),
        attributes=(
            Attribute("displayColor", np.array([[1.0, 0, 0]]), "constant"),
            Attribute("part", np.array([7, 8], np.int64), "uniform"),
            Attribute("pressure", np.arange(6.0) / 8, "vertex"),
        ),
        subsets=(FaceSubset("right", np.array([1], np.int32), 0),),
    )
    weights = weights_from_table(np.zeros((6, 1)), np.ones((6, 1)), 2, "squares")
    red = Material("red", (1.0, 0.0, 0.0, 1.0))
    return replace(tube(), meshes=(SkinnedMesh(mesh, weights),), materials=(red,))


def many_influences(joints: int = 11) -> Character:
    """A tube whose every vertex follows all joints of a chain."""
    local = np.tile(np.eye(4), (joints, 1, 1))
    local[1:, 1, 3] = 0.1
    skeleton = Skeleton(
        tuple(f"j{i}" for i in range(joints)),
        np.arange(-1, joints - 1, dtype=np.int32),
        local,
        local.copy(),
        np.full((joints, 3), np.nan),
    )
    mesh = tube().meshes[0].mesh
    table = np.random.default_rng(0).uniform(0.01, 1.0, (mesh.vertex_count, joints))
    table /= table.sum(1, keepdims=True)
    weights = weights_from_table(np.tile(np.arange(joints), (len(table), 1)), table, joints, "tube")
    return Character("many", skeleton, (SkinnedMesh(mesh, weights),))


def two_roots() -> Character:
    """A tube on two unconnected joints, at rest elsewhere than bound, and a garment bound bent."""
    character = tube()
    skeleton, body = character.skeleton, character.meshes[0]
    rest = skeleton.rest_local.copy()
    rest[0] = transforms.compose([0.5, 0.0, 0.0], rotations.xyzw_from_axis_angle([0, 0, 1.0], 0.4))
    apart = Skeleton(skeleton.names, np.array([-1, -1], np.int32), skeleton.bind_local, rest, skeleton.tails)
    own = np.tile(np.eye(4), (2, 1, 1))
    own[1] = transforms.compose([0.0, 0.1, 0.0], rotations.xyzw_from_axis_angle([1.0, 0, 0], 0.3))
    garment = replace(body, mesh=replace(body.mesh, name="garment"), own_bind=own)
    return replace(character, skeleton=apart, meshes=(body, garment))


def twisted() -> Take:
    """A tube with normals, its upper half turned about its own axis by dual quaternions."""
    character = tube(rings=33, around=24)
    mesh = character.meshes[0]
    normals = np.ascontiguousarray(mesh.mesh.points * np.array([10, 0, 10], np.float32))
    character = replace(character, meshes=(replace(mesh, mesh=replace(mesh.mesh, normals=normals)),))
    motion = bending(character, frames=9)
    local = motion.local.copy()
    turn = rotations.xyzw_from_axis_angle([0.0, 1.0, 0.0], np.linspace(0.0, 2.0, 9))
    local[:, 1] = character.skeleton.bind_local[1] @ transforms.compose(np.zeros(3), turn)
    motion = replace(motion, local=local)
    return Take(character, motion, LiveFrames(compile_body(character, skinning="dual_quaternion"), motion))
