"""Saving from the studio: the bytes of the command line, and never over what somebody else wrote."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ecorche.document.files import read_rig, write_rig
from ecorche.errors import WriteError
from ecorche.studio.from_folder import Opened, open_rig
from ecorche.studio.saving import FileConflict, at_home, save, version_of
from studio_folders import Scene, noted, tube_scene


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return tube_scene(tmp_path)


def test_it_saves_the_bytes_that_the_command_line_writes(scene: Scene) -> None:
    path = scene.root / "tube.ecorche"
    rig = noted(scene.rig, "edited")
    spec, version = save(scene.folder, "tube.ecorche", rig, version_of(path))
    ours = {name: (scene.root / name).read_bytes() for name in scene.names()}
    assert version == version_of(path)
    assert read_rig(path).spec == spec
    write_rig(path, rig)
    assert {name: (scene.root / name).read_bytes() for name in scene.names()} == ours


def test_a_file_that_changed_since_is_not_written_over(scene: Scene) -> None:
    path = scene.root / "tube.ecorche"
    opened = version_of(path)
    write_rig(path, noted(scene.rig, "by the command line"))
    theirs = version_of(path)
    with pytest.raises(FileConflict, match="was changed on disk since it was opened") as conflict:
        save(scene.folder, "tube.ecorche", noted(scene.rig, "mine"), opened)
    assert conflict.value.found == theirs
    assert read_rig(path).spec.notes == ("by the command line",)
    write_rig(path, noted(scene.rig, "and again"))
    with pytest.raises(FileConflict):  # a person agreed to lose the other version, not this one
        save(scene.folder, "tube.ecorche", noted(scene.rig, "mine"), conflict.value.found)
    save(scene.folder, "tube.ecorche", noted(scene.rig, "mine"), version_of(path))
    assert read_rig(path).spec.notes == ("mine",)


def test_a_new_file_never_replaces_one_silently(scene: Scene) -> None:
    with pytest.raises(FileConflict, match="is there already") as conflict:
        save(scene.folder, "tube.ecorche", noted(scene.rig, "mine"), None)
    assert read_rig(scene.root / "tube.ecorche").spec.notes == ()
    save(scene.folder, "tube.ecorche", noted(scene.rig, "mine"), conflict.value.found)


def test_a_file_that_is_gone_is_written_again(scene: Scene) -> None:
    path = scene.root / "tube.ecorche"
    opened = version_of(path)
    path.unlink()
    save(scene.folder, "tube.ecorche", scene.rig, opened)
    assert read_rig(path).spec.name == scene.rig.spec.name


def test_saved_into_another_folder_it_still_finds_its_character(scene: Scene) -> None:
    (scene.root / "rigs" / "old").mkdir(parents=True)
    name = "rigs/old/tube.ecorche"
    save(scene.folder, name, at_home(scene.folder, scene.rig, "tube.ecorche", name), None)
    opened = open_rig(scene.folder, name)
    assert isinstance(opened, Opened)
    assert opened.rig.spec.character.path == "../../tube.glb"
    save(scene.folder, "up.ecorche", at_home(scene.folder, opened.rig, name, "up.ecorche"), None)
    assert isinstance(open_rig(scene.folder, "up.ecorche"), Opened)


@pytest.mark.parametrize(
    "name", ["../up.ecorche", ".hidden.ecorche", "a:b.ecorche", "tube.glb", "no/tube.ecorche"]
)
def test_names_that_cannot_be_a_rigs_are_refused(scene: Scene, name: str) -> None:
    before = {p: p.read_bytes() for p in scene.outside.rglob("*") if p.is_file()}
    with pytest.raises(WriteError):
        save(scene.folder, name, scene.rig, version_of(scene.root / "tube.glb"))
    assert {p: p.read_bytes() for p in scene.outside.rglob("*") if p.is_file()} == before


def test_a_full_disk_is_a_message_and_the_file_stays(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    path = scene.root / "tube.ecorche"
    before = {name: (scene.root / name).read_bytes() for name in scene.names()}

    def full(self: Path, *arguments: object, **options: object) -> int:
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(WriteError, match="the disk is full"):
        save(scene.folder, "tube.ecorche", noted(scene.rig, "mine"), version_of(path))
    assert {name: (scene.root / name).read_bytes() for name in scene.names()} == before
