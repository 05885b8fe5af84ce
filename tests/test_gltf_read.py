"""glTF in: real characters against other readers, and every encoding of numbers and faces."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from ecorche.errors import MotionError
from ecorche.io.formats import read_character, read_motion
from gltf_sample import (
    JOINTS,
    POINTS,
    STRIP,
    TRIANGLES,
    WEIGHTS,
    Sample,
    columns,
    inverse_binds,
    primitive,
    skinned,
    strip_of_two_bones,
)

REAL = [
    "human/male_average_cmu_mb.glb",
    "human/male_dressed_mixamo.glb",
    "mesh2motion/horse-animations.glb",
    "mesh2motion/human-male.glb",
]


# ---- real characters ----


@pytest.mark.parametrize("name", REAL)
def test_points_and_faces_agree_with_trimesh(data: Path, name: str) -> None:
    import trimesh

    scene = trimesh.load_scene(data / name, process=False)
    character = read_character(data / name)
    theirs = list(scene.geometry.values())
    ours = [(m.mesh, s) for m in character.meshes for s in m.mesh.subsets]
    assert len(theirs) == len(ours)
    for part, (mesh, subset) in zip(theirs, ours, strict=True):
        faces = mesh.triangles()[subset.faces]
        np.testing.assert_array_equal(mesh.points[faces], np.asarray(part.vertices, np.float32)[part.faces])
        first = faces.min()
        np.testing.assert_array_equal(faces - first, part.faces)


@pytest.mark.parametrize("name", REAL[:2])  # pygltflib takes four seconds for the horse
def test_weights_agree_with_pygltflib(data: Path, name: str) -> None:
    import pygltflib

    file = pygltflib.GLTF2().load(str(data / name))
    blob = file.binary_blob()

    def table(index: int) -> npt.NDArray[Any]:
        accessor = file.accessors[index]
        view = file.bufferViews[accessor.bufferView]
        dtype = {5121: np.uint8, 5123: np.uint16, 5126: np.float32}[accessor.componentType]
        start = (view.byteOffset or 0) + (accessor.byteOffset or 0)
        values = np.frombuffer(blob, dtype, accessor.count * 4, start).reshape(-1, 4)
        return values / 255.0 if accessor.normalized and dtype is np.uint8 else values

    character = read_character(data / name)
    for mesh, node in zip(character.meshes, [n for n in file.nodes if n.mesh is not None], strict=True):
        joint_nodes = [file.nodes[j].name for j in file.skins[node.skin].joints]
        ours = np.array([character.skeleton.index(n) for n in joint_nodes])
        primitives = file.meshes[node.mesh].primitives
        joints = np.concatenate([table(p.attributes.JOINTS_0) for p in primitives])
        weights = np.concatenate([table(p.attributes.WEIGHTS_0) for p in primitives]).astype(np.float64)
        expected = np.zeros((len(joints), character.skeleton.joint_count))
        for slot in range(4):
            np.add.at(expected, (np.arange(len(joints)), ours[joints[:, slot]]), weights[:, slot])
        assert mesh.weights is not None
        found = np.zeros_like(expected)
        rows = np.repeat(np.arange(len(joints)), np.diff(mesh.weights.starts))
        found[rows, mesh.weights.joints] = mesh.weights.weights
        np.testing.assert_allclose(found, expected / expected.sum(1, keepdims=True), atol=1e-6)


@pytest.mark.parametrize("name", REAL)
def test_the_rest_pose_shows_the_mesh_where_it_was_bound(data: Path, name: str) -> None:
    character = read_character(data / name)
    for mesh in character.meshes:
        moved = skinned(character, mesh, character.skeleton.rest_local)
        np.testing.assert_allclose(moved, mesh.mesh.points, atol=3e-6)


def test_a_human_loads_whole(data: Path) -> None:
    character = read_character(data / "human/male_average_cmu_mb.glb")
    assert character.skeleton.joint_count == 31
    assert character.meshes[0].mesh.vertex_count == 13_380
    assert np.isfinite(character.skeleton.tails).all()


def test_the_dressed_man_comes_whole(data: Path) -> None:
    character = read_character(data / "human/male_dressed_mixamo.glb")
    body, tights = character.meshes
    assert character.skeleton.names[0] == "Armature"  # the node above the joints is one of them
    assert [(s.name, s.material) for s in body.mesh.subsets] == [("face", 1), ("skin", 0)]
    assert [m.name for m in body.mesh.morphs] == ["muscular"]
    assert len(body.mesh.morphs[0].vertices) < body.mesh.vertex_count
    assert body.own_bind is None
    assert tights.own_bind is None
    assert any("43 of the 52 joints of its skin move no vertex" in n for n in character.notes)
    assert character.body() is body


def test_the_horse_brings_all_its_clips(data: Path) -> None:
    path = data / "mesh2motion/horse-animations.glb"
    character = read_character(path)
    assert len(character.motions) == 14
    assert {a.name: a.values.dtype.str for a in character.meshes[0].mesh.attributes} == {
        "COLOR_0": "|u1",
        "COLOR_1": "<u2",
    }
    assert character.images[0].data.startswith(b"\x89PNG")
    assert character.materials[0].base_color_image == 0
    walk = read_motion(path, "Walk")
    np.testing.assert_array_equal(walk.local, next(m.local for m in character.motions if m.name == "Walk"))
    with pytest.raises(MotionError, match=r"14 clips.*Choose one: 'Death'"):
        read_motion(path)
    with pytest.raises(MotionError, match="no clip 'Gallop'"):
        read_motion(path, "Gallop")


# ---- encodings ----


def interleaved(sample: Sample) -> None:
    rows = np.zeros(6, [("gap", "V8"), ("p", "<f4", 3), ("w", "<f4", 4)])
    rows["p"], rows["w"] = POINTS, WEIGHTS
    view = sample.view(rows.tobytes(), byteStride=rows.dtype.itemsize)
    primitive(sample)["attributes"]["POSITION"] = sample.entry(6, "VEC3", "f4", bufferView=view, byteOffset=8)
    primitive(sample)["attributes"]["WEIGHTS_0"] = sample.entry(
        6, "VEC4", "f4", bufferView=view, byteOffset=20
    )


def sparse(sample: Sample) -> None:
    base = POINTS.copy()
    base[[1, 4]] = 99.0
    part = {
        "count": 2,
        "indices": {"bufferView": sample.view(np.array([1, 4], "<u2").tobytes()), "componentType": 5123},
        "values": {"bufferView": sample.view(POINTS[[1, 4]].tobytes())},
    }
    primitive(sample)["attributes"]["POSITION"] = sample.accessor(base, sparse=part)


def sparse_without_base(sample: Sample) -> None:
    part = {
        "count": 6,
        "indices": {"bufferView": sample.view(np.arange(6, dtype="<u1").tobytes()), "componentType": 5121},
        "values": {"bufferView": sample.view(POINTS.tobytes())},
    }
    primitive(sample)["attributes"]["POSITION"] = sample.entry(6, "VEC3", "f4", sparse=part)


def wide_joints(sample: Sample) -> None:
    primitive(sample)["attributes"]["JOINTS_0"] = sample.accessor(JOINTS, "u2")


def small_weights(sample: Sample) -> None:
    table = np.array([[4, 0, 0, 0], [4, 0, 0, 0], [2, 2, 0, 0], [1, 3, 0, 0], [0, 4, 0, 0], [0, 4, 0, 0]])
    scaled = np.round(table * 65535 / 4)
    primitive(sample)["attributes"]["WEIGHTS_0"] = sample.accessor(scaled, "u2", normalized=True)


def two_sets_of_joints(sample: Sample) -> None:
    arrays = primitive(sample)["attributes"]
    arrays["JOINTS_0"] = sample.accessor(np.zeros((6, 4)), "u1")
    arrays["WEIGHTS_0"] = sample.accessor(WEIGHTS * [1, 0, 0, 0])
    arrays["JOINTS_1"] = sample.accessor(np.tile([0, 0, 1, 0], (6, 1)), "u1")
    arrays["WEIGHTS_1"] = sample.accessor(WEIGHTS[:, [3, 2, 1, 0]] * [0, 0, 1, 0])


def as_strip(sample: Sample) -> None:
    primitive(sample).update(mode=5, indices=sample.accessor(STRIP, "u1"))


def without_indices(sample: Sample) -> None:
    del primitive(sample)["indices"]
    primitive(sample)["mode"] = 5


def joints_in_another_order(sample: Sample) -> None:
    sample.json["skins"][0]["joints"] = [1, 0]
    matrices = columns(inverse_binds()[::-1])
    sample.json["skins"][0]["inverseBindMatrices"] = sample.accessor(matrices)
    primitive(sample)["attributes"]["JOINTS_0"] = sample.accessor(1 - JOINTS, "u1")


def split_in_two_that_share(sample: Sample) -> None:
    first = primitive(sample)
    second = json.loads(json.dumps(first))
    first["indices"] = sample.accessor(TRIANGLES[:2].reshape(-1), "u4")
    second["indices"] = sample.accessor(TRIANGLES[2:].reshape(-1), "u1")
    sample.json["meshes"][0]["primitives"].append(second)


def nodes_as_matrices(sample: Sample) -> None:
    node = sample.json["nodes"][1]
    del node["translation"]
    node["matrix"] = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0.5, 0, 1]


@pytest.mark.parametrize("suffix", [".glb", ".gltf", ".uri.gltf"])
@pytest.mark.parametrize(
    "encode",
    [
        interleaved,
        sparse,
        sparse_without_base,
        wide_joints,
        small_weights,
        two_sets_of_joints,
        as_strip,
        without_indices,
        joints_in_another_order,
        split_in_two_that_share,
        nodes_as_matrices,
    ],
)
def test_every_encoding_says_the_same(tmp_path: Path, encode: Callable[[Sample], None], suffix: str) -> None:
    plain = read_character(strip_of_two_bones().save(tmp_path / "plain.glb"))
    sample = strip_of_two_bones()
    encode(sample)
    other = read_character(sample.save(tmp_path / f"other{suffix}"))
    (a,), (b,) = plain.meshes, other.meshes
    assert other.skeleton.names == plain.skeleton.names == ("lower", "upper")
    np.testing.assert_array_equal(other.skeleton.bind_local, plain.skeleton.bind_local)
    np.testing.assert_array_equal(other.skeleton.rest_local, plain.skeleton.rest_local)
    np.testing.assert_array_equal(b.mesh.points, a.mesh.points)
    assert {tuple(np.roll(t, -t.argmin())) for t in b.mesh.triangles()} == {
        tuple(np.roll(t, -t.argmin())) for t in a.mesh.triangles()
    }
    assert a.weights is not None
    assert b.weights is not None
    np.testing.assert_array_equal(b.weights.starts, a.weights.starts)
    np.testing.assert_array_equal(b.weights.joints, a.weights.joints)
    np.testing.assert_allclose(b.weights.weights, a.weights.weights, atol=1.0 / 65535)


def test_a_fan_is_cut_from_its_first_corner(tmp_path: Path) -> None:
    sample = strip_of_two_bones()
    primitive(sample).update(mode=6, indices=sample.accessor([0, 1, 3, 2], "u1"))
    mesh = read_character(sample.save(tmp_path / "fan.glb")).meshes[0].mesh
    np.testing.assert_array_equal(mesh.triangles(), [[1, 3, 0], [3, 2, 0]])


def test_points_and_lines_are_left_out_with_a_note(tmp_path: Path) -> None:
    sample = strip_of_two_bones()
    sample.json["meshes"][0]["primitives"].append({**primitive(sample), "mode": 1})
    character = read_character(sample.save(tmp_path / "lines.glb"))
    assert len(character.meshes[0].mesh.subsets) == 1
    assert any("primitive 1 is points or lines" in n for n in character.notes)


def test_texture_coordinates_keep_their_bits(tmp_path: Path) -> None:
    sample = strip_of_two_bones()
    awkward = np.array([[0, 0], [0.1, 1e-9], [0.3, 0.1], [0.3, 0.7], [1, -0.25], [2, 1.1]], np.float32)
    primitive(sample)["attributes"]["TEXCOORD_0"] = sample.accessor(awkward)
    mesh = read_character(sample.save(tmp_path / "uv.glb")).meshes[0].mesh
    assert mesh.uv is not None
    np.testing.assert_allclose(
        np.asarray(mesh.uv.values, np.float64), awkward * [1, -1] + [0, 1], atol=1e-7
    )  # origin lower left
    (raw,) = mesh.attributes
    np.testing.assert_array_equal(raw.values, awkward)


def test_what_a_part_lacks_is_noted(tmp_path: Path) -> None:
    sample = strip_of_two_bones()
    second = json.loads(json.dumps(primitive(sample)))
    second["attributes"]["COLOR_0"] = sample.accessor(np.full((6, 3), 0.5))
    second["attributes"]["NORMAL"] = sample.accessor(np.tile([0, 0, -1], (6, 1)))
    sample.json["meshes"][0]["primitives"].append(second)
    character = read_character(sample.save(tmp_path / "parts.glb"))
    mesh = character.meshes[0].mesh
    assert mesh.vertex_count == 12
    np.testing.assert_array_equal(mesh.attributes[0].values, [[1.0] * 3] * 6 + [[0.5] * 3] * 6)
    assert mesh.normals is not None
    np.testing.assert_allclose(mesh.normals, [[0, 0, 1]] * 6 + [[0, 0, -1]] * 6, atol=1e-7)
    assert any("6 vertices have no COLOR_0; they got 1" in n for n in character.notes)
    assert any("6 vertices had no normals" in n for n in character.notes)
