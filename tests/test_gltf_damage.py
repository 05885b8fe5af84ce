"""glTF in: damaged files are refused in words, odd ones are noted."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ecorche.errors import EcorcheError, MeshError, ReadError
from ecorche.io.formats import read_character
from gltf_sample import (
    JOINTS,
    POINTS,
    WEIGHTS,
    Sample,
    primitive,
    strip_of_two_bones,
)


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
        (set_json("nodes", 2, {"name": "strip", "mesh": 0}), "no mesh is bound to its skeleton"),
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
