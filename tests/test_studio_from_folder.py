"""What the studio says to each file: good, moved, without rig, broken, huge, or reaching outside."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from characters import tube
from conftest import Command, skip_or_fail
from ecorche.base.confined import reading_only_within
from ecorche.body.take import Take
from ecorche.document.files import read_rig, write_rig
from ecorche.errors import DocumentError, EcorcheError, ReadError, WriteError
from ecorche.io.formats import read_character, write_take
from ecorche.studio import from_folder
from ecorche.studio.autosave import Autosave
from ecorche.studio.from_folder import (
    Moved,
    Opened,
    make_rig,
    open_character,
    open_recovery,
    open_rig,
    rebound,
    recoveries_of,
)
from ecorche.studio.saving import save, version_of
from studio_folders import SECRET, Scene, noted, tube_scene


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return tube_scene(tmp_path)


def test_a_rig_is_opened_with_its_character(scene: Scene) -> None:
    opened = open_rig(scene.folder, "tube.ecorche")
    assert isinstance(opened, Opened)
    assert opened.rig.spec == read_rig(scene.root / "tube.ecorche").spec
    assert opened.character.name == "tube"
    assert opened.version == version_of(scene.root / "tube.ecorche")


def test_a_character_is_offered_a_rig(scene: Scene) -> None:
    found = open_character(scene.folder, "tube.glb")
    assert found.proposed == "tube-2.ecorche"
    assert found.rigs == ("tube.ecorche",)
    made = make_rig(scene.folder, found, muscles="none")
    assert made.name == "tube-2.ecorche"
    assert made.version is None
    assert not (scene.root / made.name).exists()
    save(scene.folder, made.name, made.rig, made.version)
    assert isinstance(open_rig(scene.folder, made.name), Opened)
    with pytest.raises(WriteError, match="is there already, and may hold edits"):
        make_rig(scene.folder, found, "tube.ecorche", muscles="none")
    with pytest.raises(WriteError, match=r"ends in \.ecorche"):
        make_rig(scene.folder, found, "tube.txt", muscles="none")
    with pytest.raises(EcorcheError) as refused:
        make_rig(scene.folder, found, muscles="template")  # a tube is no human
    assert str(scene.outside) not in str(refused.value)


def test_a_character_that_moved_is_told_and_rebound_as_the_command_does(
    scene: Scene, ecorche: Command
) -> None:
    write_take(scene.root / "tube.glb", Take(tube(rings=5, around=6, radius=0.15)))
    moved = open_rig(scene.folder, "tube.ecorche")
    assert isinstance(moved, Moved)
    assert moved.character == "tube.glb"
    assert any("The bind points changed, by up to 50 mm" in p for p in moved.problems)
    before = (scene.root / "tube.ecorche").read_bytes()
    opened = rebound(scene.folder, moved)
    assert (scene.root / "tube.ecorche").read_bytes() == before  # nothing is written yet
    save(scene.folder, opened.name, opened.rig, opened.version)
    ours = (scene.root / "tube.ecorche").read_bytes()
    (scene.root / "tube.ecorche").unlink()
    write_rig(scene.root / "tube.ecorche", scene.rig)
    said = ecorche("rebind", scene.root / "tube.ecorche", scene.root / "tube.glb")
    assert (scene.root / "tube.ecorche").read_bytes() == ours
    assert said.splitlines()[:-1] == list(opened.told)


def test_a_character_that_is_gone_is_looked_for(scene: Scene) -> None:
    (scene.root / "people").mkdir()
    shutil.copy(scene.root / "tube.glb", scene.root / "a.glb")
    (scene.root / "tube.glb").rename(scene.root / "people" / "tube.glb")
    moved = open_rig(scene.folder, "tube.ecorche")
    assert isinstance(moved, Moved)
    assert moved.character is None
    assert moved.candidates == ("people/tube.glb", "a.glb")
    assert moved.problems == ("Its character 'tube.glb' is not there.",)
    with pytest.raises(DocumentError, match="Choose the character"):
        rebound(scene.folder, moved)
    opened = rebound(scene.folder, moved, "people/tube.glb")
    save(scene.folder, opened.name, opened.rig, opened.version)
    again = open_rig(scene.folder, "tube.ecorche")
    assert isinstance(again, Opened)
    assert again.rig.spec.character.path == "people/tube.glb"


def test_a_rig_cannot_lead_to_a_character_outside(scene: Scene) -> None:
    shutil.copy(scene.root / "tube.glb", scene.outside / "tube.glb")
    character = scene.rig.spec.character.model_copy(update={"path": "../tube.glb"})
    spec = scene.rig.spec.model_copy(update={"character": character})
    write_rig(scene.root / "tube.ecorche", replace(scene.rig, spec=spec))
    with pytest.raises(ReadError, match="is outside of the opened folder"):
        open_rig(scene.folder, "tube.ecorche")


def test_recovered_work_is_opened_and_its_file_is_looked_at_before_saving(scene: Scene) -> None:
    path = scene.root / "tube.ecorche"
    work = Autosave(path, version_of(path))
    work.keep(noted(scene.rig, "mine"))
    work.close()
    (left,) = recoveries_of(scene.folder, "tube.ecorche")
    opened = open_recovery(scene.folder, left)
    assert isinstance(opened, Opened)
    assert opened.name == "tube.ecorche"
    assert opened.rig.spec.notes == ("mine",)
    assert opened.version == version_of(path)
    write_rig(path, noted(scene.rig, "theirs"))
    late = open_recovery(scene.folder, left)
    assert late.version != version_of(path)
    with pytest.raises(WriteError, match="was changed on disk"):
        save(scene.folder, "tube.ecorche", opened.rig, late.version)


BROKEN = {
    "empty.glb": b"",
    "cut.glb": b"glTF\x02\x00\x00\x00\xff\xff\xff\x7f",
    "text.glb": b"this is no character",
    "lies.gltf": b'{"asset": {"version": "2.0"}, "meshes": 7}',
    "deep.gltf": b'{"a":' * 100_000,
    "empty.ecorche": b"",
    "deep.ecorche": b"[" * 100_000,
    "binary.ecorche": bytes(range(256)),
    "list.ecorche": b"[]",
    "future.ecorche": b'{"version": 999}',
    "empty.usdc": b"",
    "text.usda": b"#usda 1.0\n(((((",
    "empty.xml": b"",
    "empty.skn": b"",
    "empty.x3d": b"",
    "empty.wrl": b"",
    "empty.fbx": b"",
    "run.bvh": b"HIERARCHY",
    "bone.stl": b"solid",
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_and_foreign_files_are_one_message(scene: Scene, name: str) -> None:
    (scene.root / name).write_bytes(BROKEN[name])
    with pytest.raises(EcorcheError) as refused:
        open_rig(scene.folder, name) if name.endswith(".ecorche") else open_character(scene.folder, name)
    assert str(refused.value.where).startswith(name)
    assert str(scene.root) not in str(refused.value)
    assert len(str(refused.value)) < 1000


def test_a_huge_file_is_refused_before_it_is_read(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    huge = scene.root / "huge.glb"
    with huge.open("wb") as file:
        file.truncate(from_folder.LARGEST_CHARACTER + 1)  # takes no place on the disk
    with pytest.raises(ReadError, match="is larger than 2 GB"):
        open_character(scene.folder, "huge.glb")
    with huge.open("wb") as file:
        file.truncate(from_folder.LARGEST_CHARACTER)
    monkeypatch.setattr("ecorche.base.memory.free_memory", lambda: 1 << 30)
    with pytest.raises(EcorcheError, match="of memory"):
        open_character(scene.folder, "huge.glb")
    (scene.root / "huge.ecorche").touch()
    with (scene.root / "huge.ecorche").open("wb") as file:
        file.truncate(1 << 30)
    with pytest.raises(EcorcheError, match="is larger than 64 MB"):
        open_rig(scene.folder, "huge.ecorche")


def test_a_surprise_in_a_reader_is_a_message(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    for surprise in (ZeroDivisionError("x"), MemoryError(), RecursionError(), OSError(5, "bad disk")):

        def read(path: Path, error: Exception = surprise) -> None:
            raise error

        monkeypatch.setattr(from_folder, "read_character", read)
        with pytest.raises(ReadError):
            open_character(scene.folder, "tube.glb")


def outside_gltf(scene: Scene, uri: str) -> None:
    content = {
        "asset": {"version": "2.0"},
        "buffers": [{"uri": uri, "byteLength": 4}],
        "bufferViews": [{"buffer": 0, "byteLength": 4}],
        "accessors": [{"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3"}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}}]}],
        "nodes": [{"mesh": 0, "skin": 0}, {"name": "joint"}],
        "skins": [{"joints": [1]}],
        "scenes": [{"nodes": [0, 1]}],
    }
    (scene.root / "spy.gltf").write_text(json.dumps(content))


@pytest.mark.parametrize("uri", ["../secret.ecorche", "%2e%2e/secret.ecorche", "link.bin", "ABSOLUTE"])
def test_a_gltf_reads_no_parts_from_outside(scene: Scene, uri: str) -> None:
    (scene.root / "link.bin").symlink_to(scene.outside / "secret.ecorche")
    outside_gltf(scene, uri.replace("ABSOLUTE", str(scene.outside / "secret.ecorche")))
    with pytest.raises(ReadError, match="names a part outside of the opened folder") as refused:
        open_character(scene.folder, "spy.gltf")
    assert SECRET not in str(refused.value)


def test_usd_composes_no_layers_from_outside(scene: Scene) -> None:
    _has("pxr")
    write_take(scene.outside / "other.usda", Take(tube(rings=5, around=6)))
    write_take(scene.root / "inner.usda", Take(tube(rings=5, around=6)))
    for number, body in enumerate(
        (
            "#usda 1.0\n(\n  subLayers = [@../other.usda@]\n)\n",
            '#usda 1.0\ndef "a" (references = @../other.usda@</tube>) {}\n',
            '#usda 1.0\ndef "a" (payload = @../other.usda@</tube>) {}\n',
            '#usda 1.0\ndef "a" (\n  variants = {string v = "b"}\n  prepend variantSets = "v"\n)\n'
            '{\n  variantSet "v" = {\n    "b" (references = @../other.usda@</tube>) {\n    }\n  }\n}\n',
            f"#usda 1.0\n(\n  subLayers = [@{scene.outside / 'other.usda'}@]\n)\n",
            "#usda 1.0\n(\n  subLayers = [@./0.usda@]\n)\n",  # by way of another
        )
    ):
        path = scene.root / f"{number}.usda"
        path.write_text(body)
        with pytest.raises(ReadError, match="names a part outside of the opened folder"):
            open_character(scene.folder, path.name)
    (scene.root / "fine.usda").write_text("#usda 1.0\n(\n  subLayers = [@inner.usda@]\n)\n")
    assert open_character(scene.folder, "fine.usda").character.name


def _has(package: str) -> bool:
    from importlib.util import find_spec

    if find_spec(package) is None:
        skip_or_fail(f"the package {package} is not installed")
    return True


@pytest.mark.parametrize(
    "body",
    [
        '<mujoco><include file="../secret.xml"/></mujoco>',
        '<mujoco><asset><mesh name="m" file="../bone.stl"/></asset></mujoco>',
        '<mujoco><compiler meshdir=".."/><asset><mesh name="m" file="bone.stl"/></asset></mujoco>',
        '<mujoco><asset><texture name="t" type="cube" fileright="../a.png"/></asset></mujoco>',
        '<mujoco><include file="inner.xml"/></mujoco>',
    ],
)
def test_mjcf_reads_no_parts_from_outside(scene: Scene, body: str) -> None:
    _has("mujoco")
    (scene.root / "inner.xml").write_text('<mujoco><include file="../secret.xml"/></mujoco>')
    (scene.root / "spy.xml").write_text(body)
    with pytest.raises(ReadError, match="names a part outside of the opened folder"):
        open_character(scene.folder, "spy.xml")


def test_real_files_are_read_within_their_folder(data: Path) -> None:
    for name in ("dog/dog_skin.skn", "human/male_dressed_mixamo.glb"):
        with reading_only_within((data / name).parent):
            confined = read_character(data / name)
        free = read_character(data / name)
        assert np.array_equal(confined.meshes[0].mesh.points, free.meshes[0].mesh.points)
