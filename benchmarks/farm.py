"""Shots on a farm: two workers against one, and what a frame costs in time, memory and disk.

Workers have one thread each. Times of frames are processor time of a worker that has compiled its kernels
before: what a frame costs on a farm that is never idle, whatever else the measuring machine does. Memory is
the most that a fresh worker ever had.
"""

from __future__ import annotations

import re
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import psutil

from benchmarks.bodies import DATA
from ecorche.body.rig import create_rig
from ecorche.cli.bake_options import shot_options
from ecorche.cli.shot_job import do_job
from ecorche.document.files import write_rig
from ecorche.farm.cluster import Cluster
from ecorche.farm.job import Job, Report, Runner
from ecorche.farm.pool import Pool
from ecorche.farm.schedule import Told, run_jobs
from ecorche.io.formats import read_character

METHODS: dict[str, tuple[dict[str, object], int]] = {
    "skinning alone": ({"without-muscles": True}, 240),
    "160 muscles": ({}, 240),
    "muscles, skin over a height field": ({"coupling": ["height_field"]}, 64),
    "muscles, skin over a fascia": ({"coupling": ["fascia"]}, 48),
    "muscles and fat that swings": ({"dynamics": "fat"}, 24),
    "muscles and skin on springs": ({"dynamics": "springs"}, 24),
}
"""What is measured: settings, and frames."""
SHOT_FRAMES = 120
"""Of the shots that are reckoned with: five seconds of film."""
SHOTS, CROWD = 10_000, 10_000
MACHINE = 16
"""Cores of a machine that is reckoned with."""
ROUNDS = 8
CALM, CALM_TRIES = 20.0, 20
"""A machine is calm that is busy for at most so many per cent; it is asked so often for half a second."""
LISTED = [
    (METHODS[name][0], frames)
    for name, frames in (("muscles, skin over a fascia", 120), ("160 muscles", 240))
    for _ in range(4)
]
"""The shots that one and two workers bake, the longest first: settings and frames."""
RATES = (30, 480)
"""Frames a second of a shot that is short, and of one of sixteen times as many frames."""


class _Kept(Told):
    def __init__(self) -> None:
        self.reports: list[Report] = []

    def done(self, job: Job, report: Report) -> Iterable[Job]:  # noqa: ARG002
        self.reports.append(report)
        return []

    def again(self, job: Job, why: str, attempt: int) -> None:  # noqa: ARG002
        raise AssertionError(f"{job.title}: {why}")


def _done(runner: Runner, jobs: list[Job]) -> list[Report]:
    kept = _Kept()
    failed = run_jobs(jobs, runner, kept, retries=0)
    assert not failed, failed
    return kept.reports


def _job(folder: Path, name: str, frames: int, settings: dict[str, object]) -> Job:
    told = {"character": "man.ecorche", "motion": str(DATA / "cmu" / "02_01.bvh"), **settings}
    options = shot_options({**told, "frames": f"0-{frames - 1}"}, folder, name)
    return Job(name, "bake", folder, {**options, "output": folder / f"{name}.usdc", "threads": 1})


@dataclass(frozen=True)
class Cost:
    """Of one method: seconds a shot and a frame, bytes of memory, and on disk a frame."""

    shot: float
    frame: float
    peak: int
    disk: float

    def core_hours(self, shots: int) -> float:
        """For so many shots of `SHOT_FRAMES`."""
        return shots * (self.shot + SHOT_FRAMES * self.frame) / 3600.0


def cost(folder: Path, settings: dict[str, object], frames: int) -> Cost:
    """Measured by shots of two frames and of some, in one worker that has compiled its kernels."""
    short, long = _job(folder, "short", 2, settings), _job(folder, "long", frames, settings)
    pool = Pool(do_job, 1)
    try:
        _done(pool, [short])
        begun = min(_done(pool, [short])[0].core_seconds for _ in range(2))
        reports = [_done(pool, [long])[0] for _ in range(2)]
    finally:
        pool.close()
    frame = (min(report.core_seconds for report in reports) - begun) / (frames - 2)
    sizes = [(folder / f"{name}.usdc").stat().st_size for name in ("short", "long")]
    disk = (sizes[1] - sizes[0]) / (frames - 2)
    return Cost(begun - 2 * frame, frame, max(report.peak for report in reports), disk)


def peaks(folder: Path) -> dict[int, int]:
    """The memory of fresh workers for the same walk with few and with many frames, by their count."""
    found = {}
    for rate in RATES:
        job = _job(folder, "memory", 1, {"rate": rate})
        job.options["frames"] = None
        pool = Pool(do_job, 1)
        try:
            (report,) = _done(pool, [job])
        finally:
            pool.close()
        told = re.search(r": ([\d,]+) frames in", report.lines[-1])
        assert told is not None
        found[int(told[1].replace(",", ""))] = report.peak
    return found


@dataclass(frozen=True)
class Turn:
    """One turn of some workers: seconds by the clock, and those that processors worked for each of them."""

    clock: float
    cores: tuple[float, ...]


def against_one(folder: Path) -> dict[int, list[Turn]]:
    """One and two Dask workers with the same shots in turns, each when the machine has little else to do."""
    jobs = [_job(folder, f"shot {n}", frames, told) for n, (told, frames) in enumerate(LISTED)]
    clusters = {count: Cluster(do_job, None, folder, workers=count) for count in (1, 2)}
    turns: dict[int, list[Turn]] = {count: [] for count in clusters}
    try:
        for cluster in clusters.values():  # each worker loads its kernels
            _done(cluster, jobs)
        for _ in range(ROUNDS):
            for count, cluster in clusters.items():
                _wait_for_calm()
                began = time.perf_counter()
                reports = _done(cluster, jobs)
                clock = time.perf_counter() - began
                worked: dict[str, float] = defaultdict(float)
                for report in reports:
                    worked[report.worker] += report.core_seconds
                turns[count].append(Turn(clock, tuple(worked.values())))
    finally:
        for cluster in clusters.values():
            cluster.close()
    return turns


def _compared(turns: dict[int, list[Turn]]) -> str:
    """Two workers against one by the clock, and what they could be by the work that each had."""
    clocks = {count: [turn.clock for turn in taken] for count, taken in turns.items()}
    middle = {count: float(np.median(taken)) for count, taken in clocks.items()}
    whole = {count: float(np.median([sum(t.cores) for t in taken])) for count, taken in turns.items()}
    longest = float(np.median([max(turn.cores) for turn in turns[2]]))
    return (
        f"A list of {len(LISTED)} shots, half of them over a fascia ({LISTED[0][1]} frames), half with 160"
        f" muscles ({LISTED[-1][1]}), takes one Dask worker of one thread {min(clocks[1]):.1f} s and two such"
        f" workers {min(clocks[2]):.1f} s: **{min(clocks[1]) / min(clocks[2]):.2f} times** as fast (quickest"
        f" of {ROUNDS} turns each, on two cores; by their medians, {middle[1]:.1f} and {middle[2]:.1f} s,"
        f" {middle[1] / middle[2]:.2f} times). Processors worked {whole[1]:.1f} s for the one, and"
        f" {whole[2]:.1f} s for the two, of which {longest:.1f} s for the one with more to do: on cores that"
        f" nobody shares, two are at most {whole[1] / longest:.2f} times one. Where the clock says more than"
        " that work, other programs had a share of the cores, or disks were waited for."
    )


def _wait_for_calm() -> None:
    """Wait until other programs leave the machine alone, but not for ever."""
    for _ in range(CALM_TRIES):
        if psutil.cpu_percent(interval=0.5) < CALM:
            return


def section() -> str:
    """The figures as a markdown section."""
    if not DATA.is_dir():
        return "## Shots on a farm\n\nNot measured: the real data is not here (set ECORCHE_DATA)."
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        man, rig = DATA / "human" / "male_muscular_cmu_mb.glb", folder / "man.ecorche"
        write_rig(rig, create_rig(read_character(man), man, rig))
        taken = against_one(folder)
        costs = {name: cost(folder, *method) for name, method in METHODS.items()}
        memory = peaks(folder)
    (few, less), (many, more) = memory.items()
    lines = [
        "## Shots on a farm",
        "",
        f"A muscular man of 13,380 vertices on a captured walk, to `.usdc`. {_compared(taken)}",
        "",
        f"Memory is the most that a worker ever had. It hardly grows with the length of a shot: the walk of"
        f" {few} frames takes {less / 2**20:.0f} MiB, the same in {many:,} frames {more / 2**20:.0f} MiB.",
        "",
        "| a worker of one thread | begins a shot in | a frame | memory | disk a frame |",
        "|---|---|---|---|---|",
    ]
    for name, c in costs.items():
        lines.append(
            f"| {name} | {c.shot:.2f} s | {1e3 * c.frame:.1f} ms | {c.peak / 2**20:.0f} MiB |"
            f" {c.disk / 1e6:.2f} MB |"
        )
    lines += [
        "",
        f"Reckoned from that: {SHOTS:,} shots of {SHOT_FRAMES} frames, or one such shot with a crowd of"
        f" {CROWD:,}, each of whom is baked as a shot of its own. Disks have to keep up.",
        "",
        f"| {SHOTS:,} shots, or a crowd of {CROWD:,} | core-hours | hours on {MACHINE} cores | on disk |",
        "|---|---|---|---|",
    ]
    for name, c in costs.items():
        hours = c.core_hours(SHOTS)
        disk = SHOTS * SHOT_FRAMES * c.disk / 1e12
        lines.append(f"| {name} | {hours:.1f} | {hours / MACHINE:.2f} | {disk:.2f} TB |")
    return "\n".join(lines)


if __name__ == "__main__":
    print(section())
