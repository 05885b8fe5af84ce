"""Work that was not saved is found again: after a kill, beside another server, with a disk that is full."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from ecorche.document.files import Rig, read_rig, write_rig
from ecorche.errors import EcorcheError, WriteError
from ecorche.studio import autosave as autosaves
from ecorche.studio.autosave import Autosave
from ecorche.studio.owner import take
from ecorche.studio.recovery import adopted, discard, in_use, kept, left_behind, left_in, lock_path
from ecorche.studio.saving import version_of
from studio_folders import Scene, noted, tube_scene


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return tube_scene(tmp_path)


@pytest.fixture
def path(scene: Scene) -> Path:
    return scene.root / "tube.ecorche"


def hidden(scene: Scene) -> set[str]:
    return {name for name in scene.names() if name.startswith(".")}


def wait_for(true: Callable[[], object], seconds: float = 30.0) -> None:
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, "it never came"
        time.sleep(0.01)


def test_an_edit_is_kept_beside_its_file_and_found_again(scene: Scene, path: Path) -> None:
    saved, base = path.read_bytes(), version_of(path)
    work = Autosave(path, base)
    work.keep(noted(scene.rig, "an edit"))
    wait_for(lambda: kept(path))
    work.close()
    assert path.read_bytes() == saved
    (found,) = left_behind(path)
    assert found.path.name == f".tube.recovered-1-of-{str(base)[:12]}.ecorche"
    assert found.fits
    assert abs(found.saved - time.time()) < 60
    back = found.read()
    assert back.spec.notes == ("an edit",)
    assert back.bind.meshes[0].points.tobytes() == scene.rig.bind.meshes[0].points.tobytes()
    assert left_in(scene.root) == [found]
    discard(found)
    assert hidden(scene) == set()
    assert read_rig(path).spec.notes == ()


def test_of_many_edits_the_last_is_kept(scene: Scene, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[Rig] = []

    def write(to: Path, rig: Rig) -> None:
        written.append(rig)
        write_rig(to, rig)

    monkeypatch.setattr(autosaves, "write_rig", write)
    work = Autosave(path, version_of(path), pause=0.05)
    for number in range(300):
        work.keep(noted(scene.rig, f"edit {number}"))
    assert work.flush()
    (found,) = kept(path)
    assert found.read().spec.notes == ("edit 299",)
    assert 1 <= len(written) < 300
    work.discard()


def test_saving_and_discarding_leave_nothing_behind(scene: Scene, path: Path) -> None:
    work = Autosave(path, version_of(path))
    work.keep(noted(scene.rig, "an edit"))
    assert work.flush()
    assert len(hidden(scene)) == 3  # the rig, its arrays, the lock
    write_rig(path, noted(scene.rig, "an edit"))
    work.clear(version_of(path))
    assert kept(path) == []
    work.keep(noted(scene.rig, "another"))
    assert work.flush()
    (found,) = kept(path)
    assert found.fits
    work.discard()
    assert hidden(scene) == set()


def test_saved_under_another_name_the_work_goes_on_there(scene: Scene, path: Path) -> None:
    other = scene.root / "other.ecorche"
    work = Autosave(path, version_of(path))
    work.keep(noted(scene.rig, "an edit"))
    assert work.flush()
    write_rig(other, noted(scene.rig, "an edit"))
    work.clear(version_of(other), other)
    work.keep(noted(scene.rig, "another"))
    assert work.flush()
    assert kept(path) == []
    assert len(kept(other)) == 1
    work.close()
    assert len(left_behind(other)) == 1


def test_a_rig_that_was_never_saved_is_kept_too(scene: Scene) -> None:
    new = scene.root / "new.ecorche"
    work = Autosave(new, None)
    work.keep(scene.rig)
    work.close()  # keeps what it was just given
    (found,) = left_behind(new)
    assert found.base is None
    assert found.fits
    new.write_text("{}")
    assert not found.fits


def test_recovered_work_stays_until_it_is_saved(scene: Scene, path: Path) -> None:
    work = Autosave(path, version_of(path))
    work.keep(noted(scene.rig, "an edit"))
    work.close()
    (found,) = left_behind(path)
    again = Autosave(path, version_of(path), recovery=found)
    assert left_behind(path) == []  # somebody works with it
    assert kept(path) == [found]
    with pytest.raises(WriteError, match="another studio is working with this recovery"):
        discard(found)
    again.keep(noted(scene.rig, "an edit", "another"))
    again.close()
    (later,) = left_behind(path)
    assert later.read().spec.notes == ("an edit", "another")
    assert later.path == found.path
    Autosave(path, version_of(path), recovery=later).discard()
    assert hidden(scene) == set()
    with pytest.raises(WriteError, match="this recovery is gone"):
        adopted(later)


def test_a_recovery_says_when_its_file_was_changed_since(scene: Scene, path: Path) -> None:
    work = Autosave(path, version_of(path))
    work.keep(noted(scene.rig, "mine"))
    work.close()
    write_rig(path, noted(scene.rig, "by the command line"))
    (found,) = left_behind(path)
    assert not found.fits
    assert found.read().spec.notes == ("mine",)


def test_two_servers_on_one_file_leave_each_other_alone(scene: Scene, path: Path) -> None:
    base = version_of(path)
    first, second = Autosave(path, base), Autosave(path, base)
    first.keep(noted(scene.rig, "first"))
    assert first.flush()
    second.keep(noted(scene.rig, "second"))
    assert second.flush()
    assert {r.read().spec.notes for r in kept(path)} == {("first",), ("second",)}
    assert left_behind(path) == []
    second.discard()
    (found,) = kept(path)
    assert found.read().spec.notes == ("first",)
    assert in_use(found)
    first.discard()
    assert hidden(scene) == set()


def test_left_work_is_not_written_over(scene: Scene, path: Path) -> None:
    for number in range(3):
        work = Autosave(path, version_of(path))
        work.keep(noted(scene.rig, f"{number}"))
        work.close()
    assert sorted(r.read().spec.notes for r in left_behind(path)) == [("0",), ("1",), ("2",)]


CHILD = """
import sys
from dataclasses import replace
from pathlib import Path
from ecorche.document.files import read_rig
from ecorche.studio.autosave import Autosave
from ecorche.studio.saving import version_of
path = Path(sys.argv[1])
rig = read_rig(path)
work = Autosave(path, version_of(path), pause=0.0)
number = 0
while True:
    # other arrays each time, so that a kill falls between the two files too
    maps = {"paint": rig.bind.meshes[0].points[:, 0] * 0 + number % 2}
    from ecorche.document.spec import MapRef
    spec = rig.spec.model_copy(update={"notes": (str(number),), "maps": {"paint": MapRef(mesh="tube")}})
    work.keep(replace(rig, spec=spec, maps=maps))
    work.flush()
    print(number, flush=True)
    number += 1
"""


def test_kill_9_at_any_moment_loses_nothing_that_was_kept(scene: Scene, path: Path) -> None:
    """The recovery is complete, no older than what was reported kept, and its owner is known to be dead."""
    for round_ in range(4):
        with subprocess.Popen(
            [sys.executable, "-c", CHILD, path], stdout=subprocess.PIPE, text=True
        ) as child:
            assert child.stdout is not None
            for _ in range(5 + round_):
                last = int(child.stdout.readline())
            (theirs,) = [r for r in kept(path) if r.place == round_ + 1]
            assert in_use(theirs)
            child.send_signal(signal.SIGKILL)
            last = max([last, *map(int, child.stdout.read().split())])
        (left,) = [r for r in left_behind(path) if r.place == round_ + 1]
        (number,) = left.read().spec.notes
        assert int(number) >= last
        assert left.fits
    for recovery in left_behind(path):
        discard(recovery)
    assert {name for name in hidden(scene) if "npz" in name or name.endswith(".ecorche")} == set()


def test_what_cannot_be_kept_is_told_and_tried_again(
    scene: Scene, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[EcorcheError | None] = []
    monkeypatch.setattr(autosaves, "RETRY", 0.05)
    full = threading.Event()
    full.set()

    def write(to: Path, rig: Rig) -> object:
        if full.is_set():
            raise WriteError("the disk is full", where=to)
        return write_rig(to, rig)

    monkeypatch.setattr(autosaves, "write_rig", write)
    work = Autosave(path, version_of(path), told=told.append, pause=0.0)
    work.keep(noted(scene.rig, "an edit"))
    wait_for(lambda: told)
    assert not work.flush()
    assert "the disk is full" in str(told[0])
    full.clear()
    wait_for(lambda: len(told) == 2)
    assert told[1] is None
    (found,) = kept(path)
    assert found.read().spec.notes == ("an edit",)
    work.discard()


def test_a_surprise_does_not_end_keeping(scene: Scene, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[EcorcheError | None] = []
    monkeypatch.setattr(autosaves, "write_rig", lambda to, rig: 1 / 0)
    work = Autosave(path, version_of(path), told=told.append, pause=0.0)
    work.keep(scene.rig)
    wait_for(lambda: told)
    assert "ZeroDivisionError" in str(told[0])
    work.close()


def test_a_folder_that_may_not_be_written_to_is_told(scene: Scene, path: Path) -> None:
    root = os.geteuid() == 0
    scene.root.chmod(0o555)
    scene.outside.chmod(0o755)
    told: list[EcorcheError | None] = []
    try:
        if root:  # root may write anywhere, so root drops its rights first
            (scene.outside.parent).chmod(0o755)
            os.seteuid(65534)
        if not os.access(path, os.R_OK):
            pytest.skip("the folder of tests cannot be reached by another user")
        work = Autosave(path, "0" * 64, told=told.append, pause=0.0)
        work.keep(scene.rig)
        wait_for(lambda: told)
        work.close()
    finally:
        if root:
            os.seteuid(0)
        scene.root.chmod(0o755)
    assert "writing is not allowed there" in str(told[0])


def test_a_lock_is_given_back_when_it_is_released(path: Path) -> None:
    lock = lock_path(path, 1)
    held = take(lock)
    assert held is not None
    assert take(lock) is None
    held.release()
    assert not lock.exists()
    again = take(lock)
    assert again is not None
    again.release()
    again.release()  # twice does no harm


def test_a_lock_that_is_a_link_is_not_followed(scene: Scene, path: Path) -> None:
    target = scene.outside / "secret.ecorche"
    before = target.read_text()
    lock_path(path, 1).symlink_to(target)
    with pytest.raises(OSError):
        take(lock_path(path, 1))
    assert target.read_text() == before
