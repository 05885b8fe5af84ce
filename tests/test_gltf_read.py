"""glTF in: real characters against other readers, every encoding, every pose, every kind of damage."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy.spatial.transform import Rotation, Slerp

from ecorche.body.character import Character, SkinnedMesh
from ecorche.errors import EcorcheError, MeshError, MotionError, ReadError
from ecorche.io.formats import read_character, read_motion
from ecorche.skeleton.kinematics import difference_from_bind
from gltf_sample import (
    JOINTS,
    POINTS,
    STRIP,
    TRIANGLES,
    WEIGHTS,
    Sample,
    columns,
    inverse_binds,
    strip_of_two_bones,
)

REAL = [
    "human/male_average_cmu_mb.glb",
    "human/male_dressed_mixamo.glb",
    "mesh2motion/horse-animations.glb",
    "mesh2motion/human-male.glb",
]


def skinned(character: Character, mesh: SkinnedMesh, local: npt.NDArray[np.float64]) -> npt.NDArray[Any]:
    """Linear skinning straight from its definition, shape (vertices, 3)."""
    moved = np.eye(4) + difference_from_bind(character.skeleton, local)
    if mesh.own_bind is not None:
        moved = moved @ mesh.own_bind
    assert mesh.weights is not None
    joints, weights = mesh.weights.padded()
    blended = np.einsum("vk,vkij->vij", weights.astype(np.float64), moved[joints])
    return np.asarray(np.einsum("vij,vj->vi", blended[:, :3, :3], mesh.mesh.points) + blended[:, :3, 3])


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


def test_a_human_loads_in_half_a_second(data: Path) -> None:
    path = data / "human/male_average_cmu_mb.glb"
    read_character(path)
    start = time.perf_counter()
    character = read_character(path)
    assert time.perf_counter() - start < 0.5
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


def primitive(sample: Sample) -> dict[str, Any]:
    found: dict[str, Any] = sample.json["meshes"][0]["primitives"][0]
    return found


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


# ---- bind, rest and place ----


def direct(sample: Sample, mesh_node: int, rotations: dict[int, Rotation]) -> npt.NDArray[np.float64]:
    """Skinned points as the glTF specification writes them, nodes turned by extra rotations."""
    nodes = sample.json["nodes"]
    above = {c: i for i, n in enumerate(nodes) for c in n.get("children", [])}

    def place(node: int) -> npt.NDArray[np.float64]:
        entry = nodes[node]
        local = np.eye(4)
        turn = Rotation.from_quat(entry.get("rotation", [0, 0, 0, 1])) * rotations.get(
            node, Rotation.identity()
        )
        local[:3, :3] = turn.as_matrix() * entry.get("scale", [1, 1, 1])
        local[:3, 3] = entry.get("translation", [0, 0, 0])
        return place(above[node]) @ local if node in above else local

    def array(index: int) -> npt.NDArray[Any]:
        accessor = sample.json["accessors"][index]
        view = sample.json["bufferViews"][accessor["bufferView"]]
        dtype = {5121: np.uint8, 5126: np.float32}[accessor["componentType"]]
        width = {"VEC3": 3, "VEC4": 4, "MAT4": 16}[accessor["type"]]
        return np.frombuffer(sample.data, dtype, accessor["count"] * width, view["byteOffset"]).reshape(
            -1, width
        )

    entry = nodes[mesh_node]
    arrays = sample.json["meshes"][entry["mesh"]]["primitives"][0]["attributes"]
    skin = sample.json["skins"][entry["skin"]]
    binds = array(skin["inverseBindMatrices"]).reshape(-1, 4, 4).transpose(0, 2, 1).astype(np.float64)
    world = np.stack([place(n) for n in skin["joints"]]) @ binds
    blended = np.einsum("vk,vkij->vij", array(arrays["WEIGHTS_0"]), world[array(arrays["JOINTS_0"])])
    points = array(arrays["POSITION"])
    return np.asarray(np.einsum("vij,vj->vi", blended[:, :3, :3], points) + blended[:, :3, 3])


def in_centimetres(sample: Sample) -> None:
    """The mesh and joints in centimetres below an armature of scale 0.01, turned from +Z up."""
    half = float(np.sqrt(0.5))
    sample.json["nodes"].append(
        {"name": "Armature", "children": [0], "scale": [0.01] * 3, "rotation": [-half, 0, 0, half]}
    )
    sample.json["scenes"][0]["nodes"] = [3, 2]
    sample.json["nodes"][1]["translation"] = [0.0, 50.0, 0.0]
    binds = inverse_binds()
    binds[1, 1, 3] = -50.0
    sample.json["skins"][0]["inverseBindMatrices"] = sample.accessor(columns(binds))
    primitive(sample)["attributes"]["POSITION"] = sample.accessor(100.0 * POINTS)


def resting_bent(sample: Sample) -> None:
    """The nodes stand in another pose than the one the skin was bound in."""
    sample.json["nodes"][1]["rotation"] = Rotation.from_euler("z", 0.7).as_quat().tolist()
    sample.json["nodes"][0]["translation"] = [0.3, 0.1, 0.0]


def with_a_second_skin(sample: Sample) -> None:
    """A second mesh, bound while the upper joint was bent."""
    bent = np.linalg.inv(inverse_binds())
    bent[1, :3, :3] = Rotation.from_euler("x", 0.5).as_matrix()
    binds = sample.accessor(columns(np.linalg.inv(bent)))
    sample.add("skins", {"joints": [0, 1], "inverseBindMatrices": binds})
    sample.add("nodes", {"name": "garment", "mesh": 0, "skin": 1})
    sample.json["scenes"][0]["nodes"].append(len(sample.json["nodes"]) - 1)


def with_a_node_between(sample: Sample) -> None:
    """A node that is no joint stands between the two joints, and turns."""
    turn = Rotation.from_euler("y", 0.3).as_quat().tolist()
    sample.json["nodes"][0]["children"] = [3]
    sample.add("nodes", {"name": "between", "children": [1], "rotation": turn})


@pytest.mark.parametrize("change", [in_centimetres, resting_bent, with_a_second_skin, with_a_node_between])
def test_any_bind_moves_as_the_specification_says(tmp_path: Path, change: Callable[[Sample], None]) -> None:
    sample = strip_of_two_bones()
    change(sample)
    character = read_character(sample.save(tmp_path / "bind.glb"))
    skeleton = character.skeleton
    names = [n.get("name") for n in sample.json["nodes"]]
    mesh_nodes = [i for i, n in enumerate(sample.json["nodes"]) if "mesh" in n]
    rng = np.random.default_rng(3)
    for _ in range(4):
        turns = {names.index(n): Rotation.from_rotvec(rng.normal(size=3)) for n in skeleton.names}
        local = skeleton.rest_local.copy()
        for joint, name in enumerate(skeleton.names):
            turn = np.eye(4)
            turn[:3, :3] = turns[names.index(name)].as_matrix()
            # glTF scales after it turns: take the scale off, turn, and put it back
            scale = np.diag([*np.linalg.norm(local[joint, :3, :3], axis=0), 1.0])
            local[joint] = local[joint] @ np.linalg.inv(scale) @ turn @ scale
        for node, mesh in zip(mesh_nodes, character.meshes, strict=True):
            np.testing.assert_allclose(
                skinned(character, mesh, local), direct(sample, node, turns), atol=2e-6
            )


def test_bind_is_metres_where_the_file_says_so(tmp_path: Path) -> None:
    sample = strip_of_two_bones()
    in_centimetres(sample)
    character = read_character(sample.save(tmp_path / "centimetres.glb"))
    assert character.skeleton.names == ("Armature", "lower", "upper")
    extent = np.ptp(character.meshes[0].mesh.points, axis=0)
    np.testing.assert_allclose(extent, [0.1, 0.0, 1.0], atol=1e-6)


def test_a_garment_bound_in_another_pose_keeps_its_own_bind(tmp_path: Path) -> None:
    sample = strip_of_two_bones()
    with_a_second_skin(sample)
    body, garment = read_character(sample.save(tmp_path / "two.glb")).meshes
    assert body.own_bind is None
    assert garment.own_bind is not None
    np.testing.assert_array_equal(garment.mesh.points, POINTS)


def test_meshes_without_a_skin_follow_their_joint_or_stand_still(tmp_path: Path) -> None:
    sample = strip_of_two_bones()
    arrays = {"POSITION": sample.accessor(POINTS)}
    sample.add("meshes", {"primitives": [{"attributes": arrays, "mode": 5}]})
    sample.json["nodes"][1]["children"] = [3]
    sample.add("nodes", {"name": "sword", "mesh": 1, "translation": [0.0, 0.25, 0.0]})
    sample.add("nodes", {"name": "stone", "mesh": 1, "translation": [2.0, 0.0, 0.0]})
    sample.json["scenes"][0]["nodes"].append(4)
    _, sword, stone = read_character(sample.save(tmp_path / "props.glb")).meshes
    assert stone.weights is None
    np.testing.assert_allclose(stone.mesh.points - POINTS, [[2, 0, 0]] * 6, atol=1e-7)
    assert sword.weights is not None
    assert set(sword.weights.joints) == {1}
    np.testing.assert_allclose(sword.mesh.points - POINTS, [[0, 0.75, 0]] * 6, atol=1e-7)


# ---- motion ----


def animate(sample: Sample, *channels: tuple[int, str, str, npt.ArrayLike, npt.ArrayLike]) -> None:
    entry: dict[str, Any] = {"name": "clip", "channels": [], "samplers": []}
    for node, path, interpolation, times, values in channels:
        entry["channels"].append({"sampler": len(entry["samplers"]), "target": {"node": node, "path": path}})
        entry["samplers"].append(
            {
                "input": sample.accessor(times),
                "output": sample.accessor(values),
                "interpolation": interpolation,
            }
        )
    sample.add("animations", entry)


def test_straight_keys_are_met_exactly_and_slerped_between(tmp_path: Path) -> None:
    turns = Rotation.from_rotvec([[0, 0, 0.0], [0, 0, 1.0], [0, 0, -0.5]])
    sample = strip_of_two_bones()
    animate(
        sample,
        (1, "rotation", "LINEAR", [0.0, 0.5, 1.0], turns.as_quat()),
        (0, "translation", "LINEAR", [0.0, 0.75, 1.0], [[0, 0, 0], [3, 0, 0], [3, 1, 0]]),
        (0, "scale", "STEP", [0.0], [[1, 2, 1]]),
    )
    motion = read_character(sample.save(tmp_path / "linear.glb")).motions[0]
    np.testing.assert_array_equal(motion.times, [0.0, 0.5, 0.75, 1.0])
    expected = Slerp([0.0, 0.5, 1.0], turns)(motion.times).as_matrix()
    np.testing.assert_allclose(motion.local[:, 1, :3, :3], expected, atol=1e-6)
    np.testing.assert_allclose(motion.local[:, 1, :3, 3], [[0, 0.5, 0]] * 4, atol=1e-12)
    np.testing.assert_allclose(
        motion.local[:, 0, :3, 3], [[0, 0, 0], [2, 0, 0], [3, 0, 0], [3, 1, 0]], atol=1e-6
    )
    np.testing.assert_allclose(motion.local[:, 0, 1, 1], 2.0)


def test_curved_keys_are_sampled_between(tmp_path: Path) -> None:
    # the cubic x = t³ - t, written with its own slopes, comes back exactly
    times = np.array([0.0, 1.0, 2.0])
    keys = np.zeros((3, 3, 3))
    keys[:, 0, 0] = keys[:, 2, 0] = 3 * times**2 - 1
    keys[:, 1, 0] = times**3 - times
    sample = strip_of_two_bones()
    animate(sample, (0, "translation", "CUBICSPLINE", times, keys.reshape(9, 3)))
    character = read_character(sample.save(tmp_path / "cubic.glb"))
    motion = character.motions[0]
    assert np.diff(motion.times).max() <= 1 / 60 + 1e-9
    assert set(times) <= set(motion.times)
    np.testing.assert_allclose(motion.local[:, 0, 0, 3], motion.times**3 - motion.times, atol=1e-6)
    assert any("60 frames a second" in n for n in character.notes)


def test_stepped_keys_hold_until_the_next(tmp_path: Path) -> None:
    sample = strip_of_two_bones()
    animate(sample, (0, "translation", "STEP", [0.0, 1.0], [[0, 0, 0], [1, 0, 0]]))
    motion = read_motion(sample.save(tmp_path / "step.glb"))
    np.testing.assert_array_equal(motion.local[:, 0, 0, 3], motion.times >= 1.0)
    assert motion.frame_count == 61


def test_morph_weights_are_animated_by_name(tmp_path: Path) -> None:
    sample = strip_of_two_bones()
    offsets = np.zeros((6, 3))
    offsets[4] = [0, 0, 0.1]
    primitive(sample)["targets"] = [{"POSITION": sample.accessor(offsets)}] * 2
    sample.json["meshes"][0].update(weights=[0.25, 0.0], extras={"targetNames": ["puff", "frown"]})
    animate(sample, (2, "weights", "LINEAR", [0.0, 1.0], [0.0, 1.0, 0.5, 0.0]))
    character = read_character(sample.save(tmp_path / "morph.glb"))
    puff, frown = character.meshes[0].mesh.morphs
    assert (puff.name, puff.weight, frown.weight) == ("puff", 0.25, 0.0)
    np.testing.assert_array_equal(puff.vertices, [4])
    curves = character.motions[0].morph_weights
    np.testing.assert_allclose(curves["strip/puff"], [0.0, 0.5])
    np.testing.assert_allclose(curves["strip/frown"], [1.0, 0.0])


def test_a_motion_needs_no_mesh(tmp_path: Path) -> None:
    sample = strip_of_two_bones()
    animate(sample, (1, "translation", "LINEAR", [0.0, 1.0], [[0, 0.5, 0], [0, 0.6, 0]]))
    for key in ("meshes", "skins"):
        del sample.json[key]
    sample.json["nodes"] = sample.json["nodes"][:2]
    sample.json["scenes"] = [{"nodes": [0]}]
    motion = read_motion(sample.save(tmp_path / "bare.glb"))
    assert motion.skeleton.names == ("lower", "upper")
    np.testing.assert_allclose(motion.local[:, 1, 1, 3], [0.5, 0.6], atol=1e-7)


# ---- damage ----


def set_json(*path_and_value: Any) -> Callable[[Sample], None]:
    *path, last, value = path_and_value

    def change(sample: Sample) -> None:
        holder = sample.json
        for step in path:
            holder = holder[step]
        holder[last] = value

    return change


def nan_position(sample: Sample) -> None:
    points = POINTS.copy()
    points[3, 1] = np.nan
    primitive(sample)["attributes"]["POSITION"] = sample.accessor(points)


def no_weights(sample: Sample) -> None:
    weights = WEIGHTS.copy()
    weights[4] = 0
    primitive(sample)["attributes"]["WEIGHTS_0"] = sample.accessor(weights)


def far_joint(sample: Sample) -> None:
    joints = JOINTS.copy()
    joints[3, 1] = 7
    primitive(sample)["attributes"]["JOINTS_0"] = sample.accessor(joints, "u1")


def far_corner(sample: Sample) -> None:
    primitive(sample)["indices"] = sample.accessor([0, 1, 6], "u2")


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (set_json("meshes", 0, "primitives", 0, "indices", 99), "primitive 0: .*number 99 of 'accessors'"),
        (set_json("accessors", 0, "bufferView", 50), "number 50 of 'bufferViews'"),
        (set_json("accessors", 0, "count", 600), "vertex arrays differ|needs 7200 bytes"),
        (set_json("bufferViews", 0, "byteLength", 999999), "covers bytes 0 to 999999"),
        (set_json("accessors", 0, "componentType", 5124), "unknown type 5124"),
        (far_joint, "vertex 3 follows joint 7, but the skin has only 2 joints"),
        (far_corner, "corner 2 is 6, but only 0 to 5 exist"),
        (nan_position, "POSITION of vertex 3 is not a finite number"),
        (no_weights, "vertex 4 has no weight at all"),
        (set_json("nodes", 1, "children", [0]), "cycle: lower → upper → lower|upper → lower → upper"),
        (set_json("nodes", 2, "children", [1]), "hangs on it and on node"),
        (set_json("nodes", 1, "scale", [1, 0, 1]), "joint 'upper' has zero scale"),
        (set_json("nodes", 1, "rotation", [0, 0, 0, 0]), "node 1 .upper.: .*length zero"),
        (set_json("nodes", 2, {"name": "strip", "mesh": 0}), "no mesh in it has a skin"),
        (set_json("skins", 0, "joints", [0, 12]), "skin 0 .*number 12 of 'nodes'"),
        (set_json("extensionsRequired", ["KHR_draco_mesh_compression"]), "Draco compression"),
        (set_json("asset", "version", "1.0"), "glTF version '1.0'"),
        (set_json("buffers", 0, {"uri": "lost.bin"}), "'lost.bin' is missing"),
        (set_json("nodes", 1, "translation", "up"), "'translation' is not a list of 3"),
    ],
)
def test_damage_is_named(tmp_path: Path, damage: Callable[[Sample], None], message: str) -> None:
    sample = strip_of_two_bones()
    damage(sample)
    path = sample.save(tmp_path / "broken.glb")
    with pytest.raises((ReadError, MeshError)) as caught:
        read_character(path)
    assert re.search(message, str(caught.value)), str(caught.value)
    assert "broken.glb" in str(caught.value)
    assert caught.value.remedy


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is not a glTF file"),
        (b"not a model", "is not a glTF file"),
        (b'{"hello": 1}', "has no 'asset'"),
        (b"glTF\x02\0\0\0", "truncated glb"),
        (b"glTF\x02\0\0\0\xff\0\0\0\x10\0\0\0JSON{}", "truncated glb file: 22 of 255 bytes"),
        (b"glTF\x01\0\0\0" + b"\0" * 12, "glb version 1"),
        (b"[" * 100_000, "is not a glTF file"),
    ],
)
def test_what_is_no_gltf_is_refused(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "broken.glb"
    path.write_bytes(content)
    with pytest.raises(ReadError, match=message):
        read_character(path)


def test_a_file_cut_anywhere_is_refused(tmp_path: Path) -> None:
    whole = strip_of_two_bones().save(tmp_path / "whole.glb").read_bytes()
    path = tmp_path / "cut.glb"
    for size in range(0, len(whole), 97):
        path.write_bytes(whole[:size])
        with pytest.raises(EcorcheError):
            read_character(path)


def test_weights_that_do_not_sum_to_one_are_noted(tmp_path: Path) -> None:
    sample = strip_of_two_bones()
    primitive(sample)["attributes"]["WEIGHTS_0"] = sample.accessor(WEIGHTS * [[1], [1], [1], [3], [1], [0.5]])
    character = read_character(sample.save(tmp_path / "weights.glb"))
    assert any("weights of 2 vertices did not sum to one" in n for n in character.notes)
    weights = character.meshes[0].weights
    assert weights is not None
    np.testing.assert_allclose(np.add.reduceat(weights.weights, weights.starts[:-1]), 1.0, atol=1e-6)
