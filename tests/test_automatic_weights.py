"""Characters whose files join no skin to their joints."""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from ecorche.base.mesh import Mesh, triangle_mesh
from ecorche.body.automatic_weights import reweighted, with_automatic_weights
from ecorche.body.character import Character, SkinnedMesh
from ecorche.body.perform import perform
from ecorche.body.take import Take
from ecorche.cli.main import app
from ecorche.errors import ReadError
from ecorche.io.formats import read_character, read_motion, write_take

Edit = Callable[[dict[str, Any]], None]


def edited(source: Path, target: Path, edit: Edit) -> Path:
    """A .glb with another description of the same bytes."""
    data = source.read_bytes()
    (length,) = struct.unpack_from("<I", data, 12)
    document = json.loads(data[20 : 20 + length])
    edit(document)
    text = json.dumps(document).encode()
    text += b" " * (-len(text) % 4)
    rest = data[20 + length :]
    head = struct.pack("<4sII", b"glTF", 2, 20 + len(text) + len(rest))
    target.write_bytes(head + struct.pack("<I4s", len(text), b"JSON") + text + rest)
    return target


def without_attributes(document: dict[str, Any]) -> None:
    for mesh in document["meshes"]:
        for primitive in mesh["primitives"]:
            for name in ("JOINTS_0", "WEIGHTS_0", "JOINTS_1", "WEIGHTS_1"):
                primitive["attributes"].pop(name, None)


def without_skin(document: dict[str, Any]) -> None:
    without_attributes(document)
    for node in document["nodes"]:
        node.pop("skin", None)


def bare(character: Character) -> Character:
    return replace(character, meshes=tuple(replace(m, weights=None) for m in character.meshes))


@pytest.fixture(scope="module")
def man(data: Path) -> Character:
    return read_character(data / "human" / "male_average_cmu_mb.glb")


@pytest.mark.parametrize("edit", [without_attributes, without_skin])
def test_a_man_without_weights_walks_about_as_with_his_own(
    data: Path, tmp_path: Path, man: Character, edit: Edit
) -> None:
    stripped = edited(data / "human" / "male_average_cmu_mb.glb", tmp_path / "bare.glb", edit)
    found = read_character(stripped)
    assert "found by heat" in found.notes[-1]
    assert sum("weights" in note for note in found.notes) == 1
    np.testing.assert_allclose(found.meshes[0].mesh.points, man.meshes[0].mesh.points, atol=1e-6)
    walk = read_motion(data / "cmu" / "02_01.bvh").part(0, 120)
    ours, own = (perform(one, walk).take.frames for one in (found, man))
    assert ours is not None
    assert own is not None
    apart = [np.linalg.norm(ours[n].points[0] - own[n].points[0], axis=1) for n in range(0, 120, 40)]
    assert np.median(apart) < 0.006
    assert np.percentile(apart, 99) < 0.04


def test_usd_without_binding_is_read_too(tmp_path: Path, man: Character) -> None:
    from pxr import Usd

    write_take(tmp_path / "man.usda", Take(man))
    path, stage = tmp_path / "bare.usda", Usd.Stage.Open(str(tmp_path / "man.usda"))
    for prim in stage.Traverse():
        for name in ("primvars:skel:jointIndices", "primvars:skel:jointWeights"):
            prim.RemoveProperty(name)
    stage.Export(str(path))
    found = read_character(path)
    assert "found by heat" in found.notes[-1]
    assert found.meshes[0].weights is not None


@pytest.mark.parametrize("shape", ["skin", "scenery"])
def test_x3d_whose_joints_list_no_points(tmp_path: Path, man: Character, shape: str) -> None:
    # of a skin that is no skin the file keeps a shape that merely stands there
    write_take(tmp_path / "man.x3d", Take(man if shape == "skin" else bare(man)))
    text = (tmp_path / "man.x3d").read_text(encoding="utf-8")
    assert ("skinCoordIndex" in text) == (shape == "skin")
    path = tmp_path / "bare.x3d"
    path.write_text(re.sub(r"skinCoord(Index|Weight)=(\"[^\"]*\"|'[^']*')", "", text), encoding="utf-8")
    found = read_character(path)
    assert "found by heat" in found.notes[-1]
    assert not any("given to the root" in note for note in found.notes)
    same = with_automatic_weights(bare(man)).meshes[0].weights
    (mesh,) = found.meshes
    assert same is not None
    assert mesh.weights is not None
    np.testing.assert_array_equal(mesh.weights.joints, same.joints)
    np.testing.assert_allclose(mesh.weights.weights, same.weights, atol=1e-4)


def test_what_stands_about_an_unbound_x3d_skin_stays_there(tmp_path: Path, man: Character) -> None:
    floor = triangle_mesh("Floor", [[-1, 0, -1], [1, 0, -1], [0, 0, 1]], [[0, 2, 1]])
    write_take(tmp_path / "man.x3d", Take(replace(man, meshes=(*man.meshes, SkinnedMesh(floor, None)))))
    text = (tmp_path / "man.x3d").read_text(encoding="utf-8")
    path = tmp_path / "bare.x3d"
    path.write_text(re.sub(r"skinCoord(Index|Weight)=(\"[^\"]*\"|'[^']*')", "", text), encoding="utf-8")
    skin, still = read_character(path).meshes
    assert skin.weights is not None
    assert still.name == "Floor"
    assert still.weights is None


@pytest.mark.parametrize("where", ["world", "torso"])
def test_a_mujoco_model_whose_hide_is_a_mesh(data: Path, tmp_path: Path, where: str) -> None:
    text = (data / "dog" / "dog.xml").read_text(encoding="utf-8")
    asset, beside = '<skin name="skin" file="../dog_skin.skn"/>', '<freejoint name="root"/>'
    assert asset in text
    text = text.replace(asset, '<mesh name="hide" file="../SKINbody.stl"/>')
    text = text.replace('meshdir="bones/"', f'meshdir="{data.resolve() / "dog" / "bones"}/"')
    geometry = '<geom name="hide" type="mesh" mesh="hide" pos="{}" contype="0" conaffinity="0"/>'
    if where == "world":
        text = text.replace("<worldbody>", "<worldbody>" + geometry.format("0 0 0"))
    else:
        text = text.replace(beside, beside + geometry.format("-0.040403 0 -0.41522"))
    path = tmp_path / "dog.xml"
    path.write_text(text, encoding="utf-8")
    dog = read_character(path)
    assert "those of 'hide' are found by heat from 60 bones" in dog.notes[-1]
    assert len(dog.meshes) == 163
    hide = dog.body()
    assert hide.name == "hide"
    assert hide.weights is not None
    joints, weights = hide.weights.padded()
    names = np.array(dog.skeleton.names)[joints[np.arange(len(joints)), weights.argmax(axis=1)]]
    points = hide.mesh.points
    # paws with feet and hands, the head with the skull, each on its own side
    low = points[:, 1] < 0.03
    assert all("foot" in n or "toe" in n or "hand" in n or "finger" in n for n in np.unique(names[low]))
    assert all(n.endswith("_L") for n in np.unique(names[low & (points[:, 2] < 0.0)]))


def test_the_commands_take_such_a_file_and_write_one_with_weights(data: Path, tmp_path: Path) -> None:
    stripped = edited(data / "human" / "male_slim_cmu_mb.glb", tmp_path / "bare.glb", without_attributes)
    target = tmp_path / "weighted.glb"
    done = CliRunner().invoke(app, ["weights", str(stripped), "-o", str(target)])
    assert done.exit_code == 0, done.output
    assert done.output.count("found by heat") == 2
    written = read_character(target)
    assert not any("found by heat" in note for note in written.notes)
    assert written.meshes[0].weights is not None
    rigged = CliRunner().invoke(app, ["rig", str(stripped), "--without-muscles"])
    assert rigged.exit_code == 0, rigged.output
    assert "found by heat" in rigged.output
    baked = CliRunner().invoke(app, ["bake", str(stripped), "-o", str(tmp_path / "baked.npz")])
    assert baked.exit_code == 0, baked.output
    assert "found by heat" in baked.output
    refused = CliRunner().invoke(app, ["weights", str(stripped)])
    assert refused.exit_code == 2


def test_other_meshes_take_the_weights_of_the_skin_next_to_them(man: Character) -> None:
    body = man.meshes[0]
    assert body.weights is not None
    joints, weights = body.weights.padded()
    calf = man.skeleton.index("LeftLeg")
    on_calf = np.flatnonzero(np.where(joints == calf, weights, 0.0).sum(axis=1) > 0.99)[:48]
    assert len(on_calf) == 48
    ring = triangle_mesh("Ring", body.mesh.points[on_calf] * 1.001, np.arange(48).reshape(-1, 3))
    two = replace(bare(man), meshes=(SkinnedMesh(ring, None), replace(body, weights=None)))
    found = with_automatic_weights(two)
    assert "1 other mesh takes" in found.notes[-1]
    assert found.meshes[0].weights is not None
    near, share = found.meshes[0].weights.padded()
    assert np.where(near == calf, share, 0.0).sum(axis=1).min() > 0.7


def damaged(mesh: Mesh) -> Mesh:
    """Holes, a fin on an edge, triangles without area, a vertex of no triangle, and a ball far off."""
    points, triangles = mesh.points, mesh.triangles()
    count = len(points)
    more = np.array([[0.3, 1.0, 0.3], [5.0, 5.0, 5.0], [2.0, 1.0, 0.0], [2.1, 1.0, 0.0], [2.0, 1.1, 0.0]])
    extra = [
        [triangles[0, 0], triangles[0, 1], count],
        [7, 7, 8],
        [9, 9, 9],
        [count + 2, count + 3, count + 4],
    ]
    kept = np.delete(triangles, np.arange(3000, 3060), axis=0)
    return triangle_mesh("Body", np.concatenate([points, more]), np.concatenate([kept, extra]))


def test_bad_skins_get_weights_and_it_is_said(man: Character) -> None:
    body = bare(man).meshes[0]
    found = with_automatic_weights(replace(bare(man), meshes=(replace(body, mesh=damaged(body.mesh)),)))
    weights, own = found.meshes[0].weights, with_automatic_weights(bare(man)).meshes[0].weights
    assert weights is not None
    assert own is not None
    assert "pieces" in found.notes[-1]
    tables = []
    for one in (weights, own):
        table = np.zeros((one.vertex_count, man.skeleton.joint_count))
        vertex = np.repeat(np.arange(one.vertex_count), np.diff(one.starts))
        table[vertex, one.joints] = one.weights
        tables.append(table)
    np.testing.assert_allclose(tables[0].sum(axis=1), 1.0, atol=1e-5)
    same = np.abs(tables[0][: len(tables[1])] - tables[1]).max(axis=1) < 0.05
    assert same.mean() > 0.98


def test_a_skeleton_beside_the_skin_is_refused(man: Character) -> None:
    body = man.meshes[0]
    aside = replace(body, weights=None, mesh=replace(body.mesh, points=body.mesh.points + np.float32(9.0)))
    with pytest.raises(ReadError, match="no bone lies within"):
        with_automatic_weights(replace(man, meshes=(aside,)))


def test_found_anew_replaces_what_was_there(man: Character) -> None:
    made = reweighted(man)
    assert made.meshes[0].weights is not man.meshes[0].weights
    assert "found by heat" in made.notes[-1]
