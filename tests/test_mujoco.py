"""The dog: MuJoCo's own skin update is the judge of joints, weights and bind."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import Figure
from ecorche.base.transforms import compose, transform_points
from ecorche.body.character import Character
from ecorche.errors import EcorcheError, ReadError
from ecorche.io.formats import read_character
from ecorche.io.mujoco import Y_UP
from ecorche.io.skn import parse_skn
from ecorche.skeleton.kinematics import difference_from_bind
from ecorche.skeleton.skeleton import local_from_world
from ecorche.skin.linear import LinearSkinning


@pytest.fixture(scope="module")
def dog(data: Path) -> Character:
    return read_character(data / "dog" / "dog.xml")


def test_dog_stands_on_its_feet_with_every_part(dog: Character) -> None:
    skin = dog.body()
    assert skin.name == "skin"
    assert skin.mesh.vertex_count == 24_065
    assert len(skin.mesh.face_counts) == 33_900
    assert dog.skeleton.joint_count == 62
    assert dog.up_axis == "Z"
    low, high = skin.mesh.points.min(axis=0), skin.mesh.points.max(axis=0)
    assert abs(low[1]) < 0.01  # +Y up, paws at the ground
    assert 0.6 < high[1] < 1.0
    assert abs(low[2] + high[2]) < 1e-3  # left and right alike
    assert len(dog.meshes) == 163


@pytest.fixture(params=range(4))
def posed(request: pytest.FixtureRequest, data: Path) -> tuple[Any, Any]:
    """MuJoCo's dog in a random pose within its joints' ranges, anywhere, turned any way."""
    model = mujoco.MjModel.from_xml_path(str(data / "dog" / "dog.xml"))
    state = mujoco.MjData(model)
    rng = np.random.default_rng(request.param)
    limited = model.jnt_limited.astype(bool)
    assert limited.sum() > 70
    low, high = model.jnt_range[limited].T
    state.qpos[model.jnt_qposadr[limited]] = rng.uniform(low, high)
    state.qpos[:3] = rng.normal(size=3)
    turn = rng.normal(size=4)
    state.qpos[3:7] = turn / np.linalg.norm(turn)
    mujoco.mj_kinematics(model, state)
    return model, state


def _difference(dog: Character, state: Any) -> npt.NDArray[np.float64]:
    world = Y_UP @ compose(state.xpos[1:], state.xquat[1:][:, [1, 2, 3, 0]])
    return difference_from_bind(dog.skeleton, local_from_world(dog.skeleton.parents, world))


def test_skin_moves_as_in_mujoco(dog: Character, posed: tuple[Any, Any], figure: Figure) -> None:
    model, state = posed
    scene = mujoco.MjvScene(model, maxgeom=2000)
    options, camera = mujoco.MjvOption(), mujoco.MjvCamera()
    mujoco.mjv_updateScene(model, state, options, None, camera, mujoco.mjtCatBit.mjCAT_ALL, scene)
    expected = np.array(scene.skinvert, np.float64).reshape(-1, 3) @ Y_UP[:3, :3].T
    skin = dog.body()
    assert skin.weights is not None
    ours = LinearSkinning(skin.mesh.points, skin.weights).apply(_difference(dog, state))
    assert np.ptp(expected, axis=0).max() > 0.5
    worst = float(np.abs(ours - expected).max())
    figure("MuJoCo's skin of the dog in a random pose", worst * 1e3, 1e-2, "mm")
    assert worst < 1e-5


def test_bones_move_as_in_mujoco(dog: Character, posed: tuple[Any, Any]) -> None:
    model, state = posed
    difference = _difference(dog, state)
    geoms = np.flatnonzero(model.geom_type == mujoco.mjtGeom.mjGEOM_MESH)
    for geom, bone in zip(geoms, dog.meshes[1:], strict=True):
        mesh = model.geom_dataid[geom]
        start, count = model.mesh_vertadr[mesh], model.mesh_vertnum[mesh]
        local = model.mesh_vert[start : start + count].astype(np.float64)
        expected = local @ state.geom_xmat[geom].reshape(3, 3).T + state.geom_xpos[geom]
        assert bone.weights is not None
        (joint,) = np.unique(bone.weights.joints)
        ours = transform_points(difference[joint] + np.eye(4), bone.mesh.points)
        assert np.abs(ours - expected @ Y_UP[:3, :3].T).max() < 2e-5  # bind and rest differ by 7e-6


def test_skin_file_alone_agrees_with_the_model(data: Path, dog: Character, tmp_path: Path) -> None:
    alone = read_character(data / "dog" / "dog_skin.skn")
    assert "The joint tree was read from dog.xml." in alone.notes
    a, b = alone.body(), dog.body()
    np.testing.assert_array_equal(a.mesh.points, b.mesh.points)
    np.testing.assert_array_equal(a.mesh.face_indices, b.mesh.face_indices)
    assert a.weights is not None
    assert b.weights is not None
    np.testing.assert_array_equal(a.weights.joints, b.weights.joints)
    assert np.abs(a.weights.weights - b.weights.weights).max() < 2e-7
    np.testing.assert_allclose(alone.skeleton.bind_world, dog.skeleton.bind_world, atol=1e-7)

    shutil.copy(data / "dog" / "dog_skin.skn", tmp_path)
    flat = read_character(tmp_path / "dog_skin.skn")
    assert (flat.skeleton.parents == -1).all()
    assert "No MJCF file beside the skin names it: the joints have no parents." in flat.notes
    shared = [flat.skeleton.index(name) for name in dog.skeleton.names if name in flat.skeleton.names]
    same = [dog.skeleton.index(flat.skeleton.names[i]) for i in shared]
    assert len(shared) == 57
    np.testing.assert_allclose(flat.skeleton.bind_world[shared], dog.skeleton.bind_world[same], atol=1e-6)


def test_bind_and_rest_are_both_kept(dog: Character) -> None:
    assert not np.array_equal(dog.skeleton.bind_world, dog.skeleton.rest_world)
    np.testing.assert_allclose(dog.skeleton.bind_world, dog.skeleton.rest_world, atol=1e-4)


SKIN_XML = """<mujoco><asset>
<texture name="t" type="2d" builtin="flat" width="4" height="4"/><material name="m" texture="t"/></asset>
<deformable><skin name="s" rgba="1 0 0 1" vertex="0 0 0  1 0 0  0 1 0" face="0 1 2" inflate="0.01"
 texcoord="0 0  1 0  0 0.25">
<bone body="a" bindpos="0 0 0" bindquat="1 0 0 0" vertid="0 1" vertweight="1 1"/>
<bone body="b" bindpos="0 0 1" bindquat="1 0 0 0" vertid="1 2" vertweight="3 1"/></skin></deformable>
<worldbody><body name="a"><geom size="1"/><body name="b" pos="0 0 2"><geom size="1"/></body></body>
</worldbody>
</mujoco>"""


def test_inline_skin_uv_colour_and_notes(tmp_path: Path) -> None:
    path = tmp_path / "a.xml"
    path.write_text(SKIN_XML)
    character = read_character(path)
    mesh = character.body()
    assert mesh.weights is not None
    np.testing.assert_allclose(mesh.weights.weights, [1.0, 0.25, 0.75, 1.0])
    np.testing.assert_array_equal(mesh.mesh.points, np.array([[0, 0, 0], [1, 0, 0], [0, 0, -1]], np.float32))
    assert mesh.mesh.uv is not None
    np.testing.assert_array_equal(mesh.mesh.uv.values, np.array([[0, 1], [1, 1], [0, 0.75]], np.float32))
    assert mesh.mesh.material is not None
    assert character.materials[mesh.mesh.material].base_color == (1.0, 0.0, 0.0, 1.0)
    assert any("inflated by 0.01 m" in note for note in character.notes)
    np.testing.assert_allclose(character.skeleton.bind_world[1, :3, 3], (0.0, 1.0, 0.0))
    np.testing.assert_allclose(character.skeleton.rest_world[1, :3, 3], (0.0, 2.0, 0.0))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("nonsense", r"MuJoCo does not accept it \(XML parse error"),
        ("<x3d/>", r"MuJoCo does not accept it \(XML Error: Unrecognized"),
        ("<mujoco/>", "the model has no skin, and no mesh that its bodies lie in. Add a <skin> element"),
        (SKIN_XML.replace('body="b" b', 'body="c" b'), r"MuJoCo does not accept it .*body 'c'"),
        (SKIN_XML.replace("0 1 2", "0 1 7"), "MuJoCo does not accept it"),
    ],
)
def test_bad_models_are_refused(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "a.xml"
    path.write_text(content)
    with pytest.raises(ReadError, match=message) as caught:
        read_character(path)
    assert str(path) in str(caught.value)


def _skn(
    points: object = None, name: bytes = b"a", quat: object = (1, 0, 0, 0), ids: object = (0, 1, 2)
) -> bytes:
    vertices = np.zeros((3, 3), "<f4") if points is None else np.asarray(points, "<f4")
    indices = np.asarray(ids, "<i4")
    return b"".join(
        [
            np.array([3, 0, 1, 1], "<i4").tobytes(),
            vertices.tobytes(),
            np.array([0, 1, 2], "<i4").tobytes(),
            name.ljust(40, b"\0"),
            np.array([0, 0, 0], "<f4").tobytes(),
            np.asarray(quat, "<f4").tobytes(),
            np.array([len(indices)], "<i4").tobytes(),
            indices.tobytes(),
            np.ones(len(indices), "<f4").tobytes(),
        ]
    )


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "ends before its 4 counts"),
        (b"glTF" + bytes(200), "has 1179937895 vertices"),
        (np.array([2**31 - 1, 0, 1, 1], "<i4").tobytes(), "ends before its 6442450941 vertex positions"),
        (_skn()[:-1], "ends before its 3 weights of bone 'a'"),
        (_skn() + b"x", "has 1 bytes too many"),
        (_skn(points=np.full((3, 3), np.nan)), "of the vertex positions, number 0 is not a finite number"),
        (_skn(ids=(0, 1, 3)), "of bone 'a', vertex 2 is 3, but only 0 to 2 exist"),
        (_skn(ids=(0, 1)), "vertex 2 has no weight at all"),
        (_skn(quat=(0, 0, 0, 0)), "bind rotation of bone 'a' has length 0"),
    ],
)
def test_damaged_skins_are_refused(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "a.skn"
    path.write_bytes(content)
    with pytest.raises(ReadError, match=message) as caught:
        read_character(path)
    assert str(path) in str(caught.value)


@settings(max_examples=150)
@given(st.lists(st.tuples(st.integers(0, 155), st.integers(0, 255)), max_size=6), st.integers(0, 20))
def test_mutated_skins_raise_only_our_errors(changes: list[tuple[int, int]], cut: int) -> None:
    data = bytearray(_skn())
    for place, value in changes:
        data[min(place, len(data) - 1)] = value
    try:
        read = parse_skn(bytes(data[: len(data) - cut]), "m.skn")
    except EcorcheError:
        return
    assert np.isfinite(read.points).all()


def test_warnings_of_mujoco_become_notes_and_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """MuJoCo's habit is to write MUJOCO_LOG.TXT into the folder one happens to be in."""
    path = tmp_path / "model" / "a.xml"
    path.parent.mkdir()
    path.write_text(
        SKIN_XML.replace("<worldbody>", '<custom><numeric name="n" data="NaN"/></custom><worldbody>')
    )
    monkeypatch.chdir(tmp_path)
    assert any("MuJoCo: XML contains a 'NaN'" in note for note in read_character(path).notes)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["model"]
    assert capfd.readouterr() == ("", "")
