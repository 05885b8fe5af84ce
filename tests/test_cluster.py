"""Shots on a Dask cluster: the same bytes, whoever dies; and clusters that cannot be used are told."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from conftest import ROOT, Command
from farm_people import start
from test_shots import LIST, in_work, poison, require_only_poison

pytest.importorskip("distributed")


@pytest.fixture
def scheduler(tmp_path: Path) -> Iterator[tuple[str, list[subprocess.Popen[bytes]]]]:
    """The address of a scheduler on the loopback, and its processes, to which workers are added."""
    told, started = tmp_path / "scheduler.json", list[subprocess.Popen[bytes]]()
    started.append(
        dask("scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", told)
    )
    for _ in range(600):
        if told.exists():
            break
        time.sleep(0.05)
    yield json.loads(told.read_text())["address"], started
    # killed: a worker that is told to end waits for a scheduler that may be gone
    for process in reversed(started):
        process.kill()
    for process in started:
        process.wait()


def dask(*arguments: object) -> subprocess.Popen[bytes]:
    """One of Dask's own commands."""
    path = os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    return subprocess.Popen(
        [sys.executable, "-m", "dask", *map(str, arguments)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": path},
    )


def worker(address: str, *options: object) -> subprocess.Popen[bytes]:
    """A worker on the loopback, without a nanny that would start it again."""
    return dask("worker", address, "--no-nanny", "--no-dashboard", *options)


def test_two_workers_of_which_one_is_killed_give_the_bytes_of_a_local_bake(
    stage: Path, tmp_path: Path, wholes: Path, scheduler: tuple[str, list[subprocess.Popen[bytes]]]
) -> None:
    address, processes = scheduler
    processes += [worker(address, "--nthreads", 1) for _ in range(2)]
    listed, folder = tmp_path / "list.toml", tmp_path / "out put"
    listed.write_text(LIST.format(stage=stage), encoding="utf-8")
    command = start("shots", listed, "-o", folder, "--cluster", address)
    killed = in_work(folder, "long.npz", 16)
    killed.send_signal(signal.SIGKILL)
    poison(folder, "long.npz", 5, 64)
    said, errors = command.communicate(timeout=300)
    assert command.returncode == 0, errors
    assert "2 shots in" in said
    assert (folder / "short – κοντό.npz").read_bytes() == (wholes / "short.npz").read_bytes()
    require_only_poison(folder / "long.npz", wholes / "long.npz", 5)


def test_a_scheduler_that_dies_is_told_and_the_rest_is_done_elsewhere(
    stage: Path, tmp_path: Path, wholes: Path, scheduler: tuple[str, list[subprocess.Popen[bytes]]]
) -> None:
    address, processes = scheduler
    processes.append(worker(address, "--nthreads", 1, "--death-timeout", 1))
    listed, folder = tmp_path / "list.toml", tmp_path / "list"
    listed.write_text(LIST.format(stage=stage), encoding="utf-8")
    command = start("shots", listed, "--cluster", address)
    at_work = in_work(folder, "long.npz", 16)
    processes[0].kill()
    at_work.send_signal(signal.SIGKILL)
    poison(folder, "long.npz", 5, 64)
    _, errors = command.communicate(timeout=300)
    assert command.returncode == 1, errors
    assert "the scheduler went away" in errors
    assert "give --resume: what is finished is kept" in errors
    command = start("shots", listed, "--resume")
    said, errors = command.communicate(timeout=300)
    assert command.returncode == 0, errors
    assert "1 shot in" in said
    require_only_poison(folder / "long.npz", wholes / "long.npz", 5)


def test_a_cluster_that_the_command_starts(stage: Path, tmp_path: Path, wholes: Path) -> None:
    listed = tmp_path / "list.toml"
    listed.write_text(LIST.format(stage=stage), encoding="utf-8")
    command = start("shots", listed, "--cluster", "local", "--workers", 2)
    _, errors = command.communicate(timeout=300)
    assert command.returncode == 0, errors
    for ours, theirs in (("short – κοντό", "short"), ("long", "long")):
        assert (tmp_path / "list" / f"{ours}.npz").read_bytes() == (wholes / f"{theirs}.npz").read_bytes()


def test_workers_that_cannot_be_used_are_told(
    stage: Path, tmp_path: Path, scheduler: tuple[str, list[subprocess.Popen[bytes]]]
) -> None:
    address, processes = scheduler
    older = tmp_path / "older.py"
    older.write_text("import ecorche.version\necorche.version.__version__ = '0.0.1'\n")
    listed = tmp_path / "list.csv"
    listed.write_text(f"name,character\na,{stage}/man.glb\n")

    def told() -> str:
        command = start("shots", listed, "--cluster", address)
        _, errors = command.communicate(timeout=300)
        assert command.returncode == 2, errors
        return errors

    processes.append(worker(address, "--nthreads", 2))
    assert "the worker takes 2 jobs at once. Start it with --nthreads 1" in told()
    processes[-1].kill()
    processes[-1].wait()
    processes.append(worker(address, "--nthreads", 1, "--preload", older))
    assert "the worker has another version: ecorche 0.0.1 there, 0.1.0 here. Install ecorche" in told()


def test_an_unreachable_cluster_is_told(
    stage: Path, tmp_path: Path, ecorche: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ecorche.farm.cluster.ANSWER", 1.0)
    listed = tmp_path / "list.csv"
    listed.write_text(f"name,character\na,{stage}/man.glb\n")
    for address in ("tcp://127.0.0.1:9", "nowhere"):
        told = ecorche("shots", listed, "--cluster", address, code=2)
        assert f"--cluster {address}: no scheduler answers there" in told
        assert "dask worker ADDRESS --nthreads 1" in told
