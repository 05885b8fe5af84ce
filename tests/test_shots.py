"""Shots on several processes: the same bytes, nothing finished is lost, and failures are told."""

from __future__ import annotations

import io
import json
import os
import signal
import time
from pathlib import Path

import numpy as np
import psutil

from conftest import Command
from ecorche.base.files import readable_write_errors
from ecorche.farm.job import Job, Report
from ecorche.farm.pool import Pool
from ecorche.farm.schedule import Told, run_jobs
from farm_people import start

LIST = """
[defaults]
character = "{stage}/man.ecorche"
motion = "{stage}/walk.bvh"
format = "npz"

[[shot]]
name = "short – κοντό"
frames = "20-24"

[[shot]]
name = "long"
frames = "20-83"
coupling = ["height_field"]
"""


def in_work(folder: Path, name: str, least: int) -> psutil.Process:
    """The process that bakes a shot, once it has finished so many frames of it."""
    spool = folder / f".{name}.baking"
    for _ in range(3000):
        try:
            if json.loads((spool / "state.json").read_text())["done"] >= least:
                for process in psutil.process_iter():
                    try:
                        if any(Path(file.path) == spool / "lock" for file in process.open_files()):
                            return process
                    except psutil.Error:
                        continue
        except (OSError, ValueError):
            pass
        time.sleep(0.02)
    raise AssertionError(f"{name} was never half done")


def poison(folder: Path, name: str, frame: int, frames: int) -> None:
    """Change a finished frame of an unfinished bake, to see that it is not computed again."""
    path = folder / f".{name}.baking" / "frames.bin"
    done = json.loads(path.with_name("state.json").read_text())["done"]
    assert frame < done < frames
    size = 13_380 * 2 * 3 * 4  # points and normals
    with path.open("r+b") as file:
        file.seek(frame * size)
        file.write(np.full(size // 4, 7.0, np.float32).tobytes())


def require_only_poison(baked: Path, whole: Path, frame: int) -> None:
    """All frames but the changed one are those of a bake as a whole."""
    with np.load(baked) as ours, np.load(whole) as theirs:
        points, expected = ours["points"], theirs["points"].copy()
    expected[frame] = 7.0
    np.testing.assert_array_equal(points, expected)


def test_a_killed_worker_and_a_killed_scheduler_cost_nothing_that_was_finished(
    stage: Path, tmp_path: Path, wholes: Path
) -> None:
    listed, folder = tmp_path / "list.toml", tmp_path / "out put"
    listed.write_text(LIST.format(stage=stage), encoding="utf-8")
    command = start("shots", listed, "-o", folder, "--workers", 1)
    worker = in_work(folder, "long.npz", 16)
    worker.send_signal(signal.SIGKILL)
    worker.wait()
    poison(folder, "long.npz", 5, 64)
    second = in_work(folder, "long.npz", 32)
    assert second.pid != worker.pid
    command.kill()
    second.send_signal(signal.SIGKILL)
    _, errors = command.communicate(timeout=300)
    assert "again: long: its worker was ended by signal 9" in errors

    short = folder / "short – κοντό.npz"
    made = short.stat().st_mtime_ns
    assert short.read_bytes() == (wholes / "short.npz").read_bytes()
    assert not (folder / "long.npz").exists()
    poison(folder, "long.npz", 5, 64)
    command = start("shots", listed, "-o", folder, "--resume", "--workers", 2)
    said, errors = command.communicate(timeout=300)
    assert command.returncode == 0, errors
    assert "1 were there already" in said
    assert short.stat().st_mtime_ns == made
    require_only_poison(folder / "long.npz", wholes / "long.npz", 5)
    assert sorted(path.name for path in folder.iterdir()) == [".shots", "long.npz", short.name]


def test_ranges_of_frames_are_the_same_bytes_and_settings_that_changed_are_done_again(
    stage: Path, tmp_path: Path, wholes: Path
) -> None:
    listed = tmp_path / "list.toml"
    listed.write_text(LIST.format(stage=stage), encoding="utf-8")
    command = start("shots", listed, "--split", 32)
    said, errors = command.communicate(timeout=300)
    assert command.returncode == 0, errors
    folder = tmp_path / "list"
    assert (folder / "long.npz").read_bytes() == (wholes / "long.npz").read_bytes()
    assert (folder / "short – κοντό.npz").read_bytes() == (wholes / "short.npz").read_bytes()
    assert "MiB a worker" in said
    assert "frames in" in (folder / ".shots" / "long.npz.log").read_text()

    command = start("shots", listed)
    assert "2 shots of 2 are finished already. Give --resume" in command.communicate(timeout=300)[1]
    assert command.returncode == 2
    listed.write_text(LIST.format(stage=stage).replace("20-24", "20-23"), encoding="utf-8")
    command = start("shots", listed, "--resume")
    said, errors = command.communicate(timeout=300)
    assert "1 shot in" in said, errors
    with np.load(folder / "short – κοντό.npz") as file:
        assert len(file["points"]) == 4


def test_a_shot_that_fails_is_told_and_the_others_are_done(stage: Path, tmp_path: Path) -> None:
    listed = tmp_path / "list.csv"
    rows = ["name,character,motion,frames,format"]
    rows += [f"good,{stage}/man.glb,{stage}/walk.bvh,20-21,pc2"]
    rows += [f"too long,{stage}/man.glb,{stage}/walk.bvh,20-9999,pc2"]
    listed.write_text("\n".join(rows))
    command = start("shots", listed, "-o", tmp_path / "out", "--retries", 3)
    said, errors = command.communicate(timeout=300)
    assert command.returncode == 1
    assert "failed: too long: motion 'walk': frames 20-9999 were asked for" in errors
    assert "again" not in errors  # it would be the same
    assert "1 of 2 shots failed" in errors
    assert "(1 of 2)" in said
    assert (tmp_path / "out" / "good.pc2").exists()


def test_a_read_only_folder_is_refused_at_once(stage: Path, tmp_path: Path, ecorche: Command) -> None:
    listed, folder = tmp_path / "list.csv", tmp_path / "out"
    listed.write_text(f"name,character\na,{stage}/man.glb\n")
    folder.mkdir()
    folder.chmod(0o555)
    if os.access(folder, os.W_OK):  # nothing is forbidden to root; a folder of the kernel's is
        folder = Path("/proc/sys")
    assert "writing is not allowed there" in ecorche("shots", listed, "-o", folder, code=2)
    listed.with_name("file").touch()
    assert "cannot be written" in ecorche("shots", listed, "-o", tmp_path / "file", code=2)


class Kept(Told):
    """Keeps what it is told."""

    def __init__(self) -> None:
        self.finished: list[str] = []
        self.retried: list[str] = []

    def done(self, job: Job, report: Report) -> list[Job]:
        self.finished.append(job.shot)
        return []

    def again(self, job: Job, why: str, attempt: int) -> None:
        self.retried.append(why)


def trouble(job: Job) -> tuple[str, ...]:
    """Work that meets what a disk or a network does to it."""
    if job.shot == "full":
        path = Path("/dev/full")
        with readable_write_errors(path):
            path.write_text("no room")
    flag = job.folder / "tried"
    if job.shot == "flaky" and not flag.exists():
        flag.touch()
        raise io.UnsupportedOperation("the network went away")
    if job.shot == "hungry":
        np.ones(1 << 28)
    return ()


def jobs(folder: Path, *names: str) -> list[Job]:
    """A job a name."""
    return [Job(name, "bake", folder, {}) for name in names]


def test_failures_are_tried_again_and_a_full_disk_stops_the_rest(tmp_path: Path) -> None:
    told, pool = Kept(), Pool(trouble, 1, memory=1 << 30)
    try:
        failed = run_jobs(jobs(tmp_path, "flaky", "hungry", "well"), pool, told, retries=1)
        assert told.finished == ["well", "flaky"]
        assert [job.shot for job, _ in failed] == ["hungry"]
        assert "Unable to allocate 2.00 GiB" in failed[0][1].why
        assert len(told.retried) == 2
        failed = run_jobs(jobs(tmp_path, "full", "never begun"), pool, told)
        assert [(job.shot, failure.why) for job, failure in failed] == [
            ("full", "/dev/full: the disk is full. Free some space or choose another folder")
        ]
        assert "never begun" not in told.finished
        old = Job("old", "bake", tmp_path, {}, version="0.0.1")
        ((_, failure),) = run_jobs([old], pool, told)
        assert "0.0.1 is wanted: install the same there" in failure.why
    finally:
        pool.close()
