"""What a page may name in the opened folder, what it is shown of it, and files that it drops there."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

import pytest

from ecorche.errors import EcorcheError, ReadError, WriteError
from ecorche.studio import folder as folders
from ecorche.studio import upload as uploads
from ecorche.studio.folder import Folder, opened_folder, safe_name, unfit_name
from ecorche.studio.upload import Upload, remove_left_partials
from studio_folders import Scene, tube_scene


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return tube_scene(tmp_path)


OUTSIDE = (
    "../secret.ecorche",
    "people/../../secret.ecorche",
    "..",
    ".",
    "",
    "/etc/passwd",
    "//server/share/man.ecorche",
    "..\\secret.ecorche",
    "C:\\secret.ecorche",
    "C:secret.ecorche",
    "tube.ecorche\0.png",
    "./tube.ecorche",
    "people//tube.ecorche",
    "tube.ecorche/",
    ".hidden/tube.ecorche",
    ".tube.recovered-1-of-new.ecorche",
    "a/" * 5000 + "b",
)


@pytest.mark.parametrize("name", OUTSIDE)
def test_names_that_lead_out_are_refused(scene: Scene, name: str) -> None:
    for ask in (scene.folder.existing, scene.folder.writable, scene.folder.free_name):
        with pytest.raises(EcorcheError) as refused:
            ask(name)
        assert str(scene.outside) not in str(refused.value)
        assert len(str(refused.value)) < 10_500


def test_links_are_followed_before_the_check(scene: Scene) -> None:
    (scene.root / "out.ecorche").symlink_to(scene.outside / "secret.ecorche")
    (scene.root / "above").symlink_to(scene.outside, target_is_directory=True)
    (scene.root / "circle.ecorche").symlink_to("circle.ecorche")
    (scene.root / "inside.ecorche").symlink_to("tube.ecorche")
    for name in ("out.ecorche", "above/secret.ecorche"):
        with pytest.raises(ReadError, match="leads outside of the opened folder"):
            scene.folder.existing(name)
        with pytest.raises(WriteError, match="leads outside of the opened folder"):
            scene.folder.writable(name)
    with pytest.raises(EcorcheError):
        scene.folder.existing("circle.ecorche")
    assert scene.folder.existing("inside.ecorche").samefile(scene.root / "tube.ecorche")
    assert [e.name for e in scene.folder.listing().entries] == ["inside.ecorche", "tube.ecorche", "tube.glb"]


def test_what_is_no_file_is_refused(scene: Scene) -> None:
    os.mkfifo(scene.root / "pipe.glb")
    (scene.root / "folder.glb").mkdir()
    for name in ("pipe.glb", "folder.glb"):
        with pytest.raises(ReadError, match="is not a file"):
            scene.folder.existing(name)
        with pytest.raises(WriteError, match="is not a file"):
            scene.folder.writable(name)
    with pytest.raises(ReadError, match="there is no such file"):
        scene.folder.existing("tube.glb/inner.glb")
    assert {e.name for e in scene.folder.listing().entries} == {"tube.glb", "tube.ecorche"}


def test_the_list_says_kind_size_and_time_and_hides_what_is_hidden(scene: Scene) -> None:
    (scene.root / "people").mkdir()
    (scene.root / "people" / "run.bvh").write_bytes(b"HIERARCHY")
    (scene.root / ".git").mkdir()
    (scene.root / ".git" / "x.glb").touch()
    (scene.root / ".tube.recovered-1-of-new.ecorche").touch()
    (scene.root / "notes.md").touch()
    listing = scene.folder.listing()
    assert [(e.name, e.kind) for e in listing.entries] == [
        ("people/run.bvh", "motion"),
        ("tube.ecorche", "rig"),
        ("tube.glb", "character"),
    ]
    assert not listing.cut_short
    assert listing.entries[0].size == 9
    assert listing.entries[0].changed == (scene.root / "people" / "run.bvh").stat().st_mtime


def test_a_full_folder_says_that_there_is_more(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(12):
        (scene.root / f"{number}.glb").touch()
    monkeypatch.setattr(folders, "MOST_FILES", 5)
    listing = scene.folder.listing()
    assert len(listing.entries) == 5
    assert listing.cut_short


def test_names_are_shown_as_they_are_and_markup_is_text(scene: Scene) -> None:
    name = "<img src=x onerror=alert(1)>.glb"
    (scene.root / name).touch()
    assert name in [e.name for e in scene.folder.listing().entries]
    assert scene.folder.existing(name).name == name
    with pytest.raises(WriteError, match="cannot hold any of"):
        scene.folder.writable(name)


@pytest.mark.parametrize(
    ("given", "safe"),
    [
        ("man.glb", "man.glb"),
        ("C:\\people\\man.glb", "man.glb"),
        ("../../etc/passwd", "passwd"),
        ("<img src=x>.glb", "_img src=x_.glb"),
        (".hidden.glb", "hidden.glb"),
        ("CON.glb", "_CON.glb"),
        ("..", "file"),
        ("", "file"),
        ("man.glb. . ", "man.glb"),
        ("e\u0301.glb", "é.glb"),
        ("a\nb.glb", "a_b.glb"),
        ("\ud800.glb", "_.glb"),
    ],
)
def test_a_dropped_name_becomes_one_that_every_system_keeps(given: str, safe: str) -> None:
    assert safe_name(given) == safe
    assert unfit_name(safe) is None


def test_a_long_name_keeps_its_suffix() -> None:
    safe = safe_name("é" * 400 + ".glb")
    assert safe.endswith("é.glb")
    assert len(safe.encode()) <= folders.LONGEST_NAME


def test_what_a_person_names_is_opened_with_its_folder(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, first = opened_folder(scene.root / "tube.ecorche")
    assert (folder.root, first) == (scene.root.resolve(), "tube.ecorche")
    link = scene.outside / "link.ecorche"
    link.symlink_to(scene.root / "tube.ecorche")
    folder, first = opened_folder(link)
    assert (folder.root, first) == (scene.root.resolve(), "tube.ecorche")
    monkeypatch.chdir(scene.root)
    assert opened_folder(None)[0].root == scene.root.resolve()
    with pytest.raises(ReadError, match="no such file or folder"):
        opened_folder(scene.root / "gone")


def sent(folder: Folder, name: str, content: bytes, declared: int | None = None) -> str:
    with Upload(folder, name, declared) as upload:
        for start in range(0, len(content), 7):
            upload.write(content[start : start + 7])
        return upload.finish()


def test_a_dropped_file_is_whole_in_the_folder(scene: Scene) -> None:
    before = scene.names()
    with Upload(scene.folder, "people/new.glb", 10) as upload:
        upload.write(b"01234")
        assert "new.glb" not in scene.names()
        assert len(scene.folder.listing().entries) == 2
        upload.write(b"56789")
        assert upload.finish() == "new.glb"
    assert scene.names() - before == {"new.glb"}
    assert (scene.root / "new.glb").read_bytes() == b"0123456789"


def test_a_dropped_file_never_replaces_another(scene: Scene) -> None:
    kept = (scene.root / "tube.glb").read_bytes()
    assert sent(scene.folder, "tube.glb", b"another") == "tube-2.glb"
    assert sent(scene.folder, "tube.glb", b"a third") == "tube-3.glb"
    assert (scene.root / "tube.glb").read_bytes() == kept
    assert sent(scene.folder, "tube.glb", kept) == "tube.glb"  # the same file
    (scene.root / "link.glb").symlink_to(scene.outside / "nowhere")
    assert sent(scene.folder, "link.glb", b"x") == "link-2.glb"
    assert not (scene.outside / "nowhere").exists()


def test_an_upload_that_breaks_off_leaves_nothing(scene: Scene) -> None:
    before = scene.names()
    with contextlib.suppress(ConnectionError), Upload(scene.folder, "new.glb", 10) as upload:
        upload.write(b"01234")
        raise ConnectionError
    with pytest.raises(WriteError, match="only 5 of 10 bytes arrived"):
        sent(scene.folder, "new.glb", b"01234", 10)
    with pytest.raises(WriteError, match="more bytes arrived than were announced"):
        sent(scene.folder, "new.glb", b"0123456789ab", 10)
    assert scene.names() == before


def test_uploads_are_bounded(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    before = scene.names()
    monkeypatch.setattr(uploads, "LARGEST_UPLOAD", 1 << 20)
    with pytest.raises(WriteError, match="is larger than 1 MB"):
        Upload(scene.folder, "new.glb", (1 << 20) + 1)
    with Upload(scene.folder, "new.glb") as upload:  # nothing announced: counted as it comes
        upload.write(bytes(1 << 20))
        with pytest.raises(WriteError, match="is larger than 1 MB"):
            upload.write(b"1")
    monkeypatch.setattr(uploads, "LEFT_FREE", 1 << 62)
    with pytest.raises(WriteError, match="of the disk are free"):
        Upload(scene.folder, "new.glb", 10)
    assert scene.names() == before


@pytest.mark.parametrize("name", ["run.exe", "page.html", "noSuffix", "x.svg", "x.glb.js"])
def test_files_of_no_use_are_not_taken(scene: Scene, name: str) -> None:
    with pytest.raises(WriteError, match="the studio has no use for"):
        Upload(scene.folder, name)


def test_what_a_killed_server_left_of_an_upload_goes(scene: Scene) -> None:
    gone = 2**22 - 3  # beyond the largest number of a process
    left = scene.root / f".upload-{gone}-0123456789abcdef.partial"
    mine = scene.root / f".upload-{os.getpid()}-0123456789abcdef.partial"
    left.touch()
    mine.touch()
    remove_left_partials(scene.folder)
    assert not left.exists()
    assert mine.exists()
