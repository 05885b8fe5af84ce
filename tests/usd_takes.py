"""Takes for the USD tests: a character with everything a file can carry, a swaying motion, comparisons."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from characters import tube
from ecorche.base.mesh import Attribute, FaceSubset, Mesh, Morph
from ecorche.base.rotations import normalise, xyzw_from_axis_angle
from ecorche.base.transforms import compose
from ecorche.body.character import Character, Image, Material, SkinnedMesh
from ecorche.body.compile import compile_body
from ecorche.body.frames import MemoryFrames
from ecorche.body.live_frames import LiveFrames
from ecorche.body.take import Take
from ecorche.io.formats import WriteOptions
from ecorche.skeleton.motion import Motion
from ecorche.skeleton.skeleton import Skeleton

POINTS, SKELETON = WriteOptions(), WriteOptions(usd_as="skeleton")
PNG = b"\x89PNG\r\n\x1a\n of no importance"


def swinging(skeleton: Skeleton, frames: int = 10, rate: float = 30.0) -> Motion:
    """Every joint sways about an axis of its own."""
    times = np.arange(frames) / rate
    axes = normalise(np.random.default_rng(3).normal(size=(skeleton.joint_count, 3)))
    angles = 0.4 * np.sin(9.0 * times[:, None] + np.arange(skeleton.joint_count))
    local = skeleton.bind_local @ compose(np.zeros(3), xyzw_from_axis_angle(axes, angles))
    return Motion("swing", skeleton, times, local)


def played(character: Character, motion: Motion, skinning: str | None = None) -> Take:
    """A take whose frames are kept in memory."""
    live = LiveFrames(compile_body(character, skinning=skinning), motion)
    return Take(character, motion, MemoryFrames([live[i] for i in range(len(live))]))


def rich_character() -> Character:
    """A tube with everything a file can carry: looks, subsets, attributes, a blend shape, odd names."""
    plain = tube()
    body = plain.meshes[0].mesh
    corners, count = len(body.face_indices), body.vertex_count
    rng = np.random.default_rng(1)
    mesh = Mesh(
        name="the body",
        points=body.points,
        face_counts=body.face_counts,
        face_indices=body.face_indices,
        normals=normalise(rng.normal(size=(corners, 3))).astype(np.float32),
        uv=Attribute("TEXCOORD_0", rng.random((count, 2)).astype(np.float32), file_type="FLOAT 32 x 2"),
        attributes=(
            Attribute("COLOR_0", rng.integers(0, 255, (count, 4)).astype(np.uint8), file_type="UNSIGNED 8"),
            Attribute("mask:left", rng.random(count).astype(np.float32), file_type="float[]"),
            Attribute("shop", np.array(["north"]), "constant", file_type="string"),
            Attribute("wide", rng.random((count, 6)).astype(np.float32)),
            Attribute("usd:holeIndices", np.array([0, 2], np.int32), "constant", file_type="int[]"),
        ),
        subsets=(
            FaceSubset("upper half", np.arange(40, dtype=np.int32), 1),
            FaceSubset("rest", np.arange(40, len(body.face_counts), dtype=np.int32), 0),
        ),
        morphs=(
            Morph(
                "Größer", np.array([3, 5], np.int32), np.array([[0, 0, 0.1], [0.1, 0, 0]], np.float32), 0.25
            ),
        ),
        material=0,
    )
    floor = replace(body, name="floor", points=body.points + np.float32(1.0), subdivision="catmullClark")
    skeleton = replace(plain.skeleton, names=("mixamorig:Hips", "2 upper"))
    own = np.tile(np.eye(4), (2, 1, 1))
    own[1, :3, 3] = 0.01
    return Character(
        "rich",
        skeleton,
        (
            SkinnedMesh(mesh, plain.meshes[0].weights),
            SkinnedMesh(floor, None),
            SkinnedMesh(replace(body, name="sleeve"), plain.meshes[0].weights, own),
        ),
        materials=(
            Material(
                "skin", (0.5, 0.25, 1.0, 1.0), base_color_image=0, extra={"gltf": {"name": "skin", "k": 1}}
            ),
            Material("red cloth", (1.0, 0.0, 0.0, 0.5), metallic=0.25, roughness=0.125, double_sided=True),
        ),
        images=(Image("palette", "image/png", PNG),),
    )


def same_bits(a: npt.NDArray[np.generic] | None, b: npt.NDArray[np.generic] | None) -> bool:
    if a is None or b is None:
        return a is b
    return a.dtype == b.dtype and a.shape == b.shape and bool((a == b).all())


def require_same_meshes(before: Character, after: Character) -> None:
    assert [m.name for m in before.meshes] == [m.name for m in after.meshes]
    for one, two in zip(before.meshes, after.meshes, strict=True):
        a, b = one.mesh, two.mesh
        for field in ("points", "face_counts", "face_indices", "normals"):
            assert same_bits(getattr(a, field), getattr(b, field)), field
        assert a.subdivision == b.subdivision
        assert a.material == b.material
        assert [(s.name, s.material, s.faces.tolist()) for s in a.subsets] == [
            (s.name, s.material, s.faces.tolist()) for s in b.subsets
        ]
        assert [(m.name, m.weight) for m in a.morphs] == [(m.name, m.weight) for m in b.morphs]
        assert all(same_bits(m.offsets, n.offsets) for m, n in zip(a.morphs, b.morphs, strict=True))
        mine = {x.name: x for x in (*a.attributes, *([a.uv] if a.uv else []))}
        back = {x.name: x for x in (*b.attributes, *([b.uv] if b.uv else []))}
        assert set(mine) == set(back)
        for name, attribute in mine.items():
            assert same_bits(attribute.values, back[name].values), name
            assert same_bits(attribute.indices, back[name].indices), name
            assert attribute.file_type in (None, back[name].file_type), name
        if one.weights is not None:
            assert two.weights is not None
            assert same_bits(one.weights.starts, two.weights.starts)
            assert same_bits(one.weights.weights, two.weights.weights)
