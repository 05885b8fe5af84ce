"""glTF in: whatever pose, unit and place a skin was bound in, it moves as the specification says."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy.spatial.transform import Rotation

from ecorche.io.formats import read_character
from gltf_sample import (
    POINTS,
    Sample,
    columns,
    inverse_binds,
    primitive,
    skinned,
    strip_of_two_bones,
)


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
