"""Spindles identified from markers on muscles of another kind, and how near they come on a motion not used.

python -m benchmarks.identification [leg|dog]

Text 004, table 2, reports 18.4 mm without and 16.2 mm with deformation on the motion that was identified
from, 20.2 and 18.6 mm on another: 12 % and 7.9 % less. Its data is not published.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt
import psutil

from benchmarks.identification_data import (
    AMPLITUDE,
    APART,
    FRAMES,
    MARKERS,
    MOST_BULGE,
    NOISE,
    Scene,
    Subject,
    at_rest,
    held_out,
    side_by_side,
    training,
)
from benchmarks.line_muscle_bodies import RangedBody, dog, leg
from benchmarks.plots import panels, save
from ecorche.biomech.identification import Options, identify
from ecorche.biomech.identification_report import write_report
from ecorche.biomech.marker_distances import Compared, compare
from ecorche.biomech.markers_on_muscles import Markers
from ecorche.biomech.spindle_cost import Cost
from ecorche.document.identified_spec import IdentifiedSpindleSpec

Floats = npt.NDArray[np.float64]

FIGURE = Path(__file__).resolve().parent / "figures" / "identification.png"
SEED = 2016
BODIES: dict[str, tuple[Callable[[], RangedBody], float]] = {"man's leg": (leg, 0.005), "dog": (dog, 0.003)}
"""Who, and the radius of the muscles' ends [m]."""
ASKED = 0.08
WORKERS = 2
MANY, SECONDS = 300, 300.0
"""Muscles that are to be identified in so many seconds."""
COPIES = (1, 5, 10)
"""Dogs side by side: alone, so many that their spindles are `MANY`, so many that their muscles are."""


@dataclass(frozen=True, eq=False)
class Measured:
    """One body: distances over a skin as at rest and from the bare spindles, and what it took."""

    who: str
    over_rest: dict[str, Compared]
    bare: dict[str, Compared]
    floor: dict[str, float]
    identified: int
    left_out: int
    too_thin: int


@dataclass(frozen=True)
class Run:
    """One call of `identify` on copies of a body side by side.

    Attributes:
        copies, markers, given, identified, muscles: How many; the last two are spindles that were identified
            and the muscles they are of.
        as_alone: Spindles of the first copy that are, number for number, those of the first run.
        clock, processor: Seconds, the second of all processes together.
        before, most: Memory of all processes before it began and at most [MiB].
    """

    copies: int
    markers: int
    given: int
    identified: int
    muscles: int
    as_alone: int
    clock: float
    processor: float
    before: float
    most: float


def options(ends: float, workers: int = WORKERS) -> Options:
    """Ends of these meshes are broad and differ, so the radius asked for there weighs little."""
    return Options(Cost(tendon=1.0, tendon_radius=ends, lasting=0.1), per_segment=8, workers=workers)


@cache
def subject(who: str) -> Subject:
    """The body with its markers, made once."""
    return Subject(BODIES[who][0](), SEED)


def measure(who: str, report: Path | None = None) -> Measured:
    """Identify from one motion, judge on both."""
    body, chosen = subject(who), options(BODIES[who][1])
    rest = at_rest(body)
    scenes = {"identified from": training(body), "not used": held_out(body)}
    first = scenes["identified from"]
    still = rest.tracks, rest.markers
    found = identify(first.tracks, first.markers, chosen, subject=who, at_rest=still)
    over_rest = {n: compare(found, s.tracks, s.markers, chosen, at_rest=still) for n, s in scenes.items()}
    bare = {n: compare(found, s.tracks, s.markers, chosen) for n, s in scenes.items()}
    if report is not None:
        write_report(report, found, over_rest)
    return Measured(
        who,
        over_rest,
        bare,
        {name: _floor(scene, over_rest[name]) for name, scene in scenes.items()},
        len(found.spindles),
        len(found.left_out),
        len(body.too_thin),
    )


def many(who: str = "dog") -> list[Run]:
    """What it takes to identify a body, and several of it in one call, each with a capture of its own."""
    first, chosen = subject(who), options(BODIES[who][1])
    bodies = [first, *(first.again(SEED + 10 * number) for number in range(1, max(COPIES)))]
    scenes, rests = [training(body) for body in bodies], [at_rest(body) for body in bodies]
    alone: Mapping[str, IdentifiedSpindleSpec] = {}
    runs = []
    for copies in COPIES:
        moving, rest = side_by_side(scenes[:copies]), side_by_side(rests[:copies])
        before = _memory()
        start, worked = time.perf_counter(), sum(os.times()[:4])
        with _most_memory() as most:
            found = identify(moving.tracks, moving.markers, chosen, at_rest=(rest.tracks, rest.markers))
        clock, processor = time.perf_counter() - start, sum(os.times()[:4]) - worked
        alone = alone or found.spindles
        runs.append(
            Run(
                copies,
                moving.true.shape[1],
                len(moving.tracks),
                len(found.spindles),
                len({spindle.muscle for spindle in found.spindles.values()}),
                sum(found.spindles.get(name) == spindle for name, spindle in alone.items()),
                clock,
                processor,
                before / 2**20,
                max(most) / 2**20,
            )
        )
    return runs


def _memory() -> int:
    """Bytes that this process and those it started hold; what they share counts in each."""
    own = psutil.Process()
    held = own.memory_info().rss
    for child in own.children(recursive=True):
        try:
            held += child.memory_info().rss
        except psutil.Error:  # it has just ended
            continue
    return int(held)


@contextmanager
def _most_memory(every: float = 0.05) -> Iterator[list[int]]:
    """What `_memory` says, over and over while the block runs."""
    held, over = [_memory()], threading.Event()

    def watch() -> None:
        while not over.wait(every):
            held.append(_memory())

    watching = threading.Thread(target=watch)
    watching.start()
    try:
        yield held
    finally:
        over.set()
        watching.join()


def _floor(scene: Scene, found: Compared) -> float:
    """Mean distance that the noise alone makes, along the way out from the path [m]."""
    by_name = {track.name: track for track in scene.tracks}
    away = np.zeros(len(found.assigned.spindle))
    for number, name in enumerate(found.names):
        own = found.assigned.spindle == number
        frame, marker = found.assigned.frame[own], found.assigned.marker[own]
        true = by_name[name].path.around(Markers(scene.true).positions).distance
        away[own] = found.assigned.distance[own] - true[frame, marker]
    return float(np.abs(away).mean())


def draw(measured: list[Measured], path: Path = FIGURE) -> None:
    """Distances on the motion not used."""
    figure, parts = panels(1, len(measured), (5.5 * len(measured), 3.6), squeeze=False)
    for axes, one in zip(parts[0], measured, strict=True):
        found = one.over_rest["not used"]
        bins = np.linspace(-6.0, 6.0, 121)
        for values, colour, label in (
            (found.undeformed, "#c4412f", "undeformed"),
            (found.identified, "#1f5f99", "identified"),
        ):
            axes.hist(1e3 * values, bins, histtype="step", color=colour, lw=1.8, label=label, density=True)
        axes.set_title(f"{one.who}: motion not used", fontsize=10)
        axes.set_xlabel("marker outside (+) or inside (−) the skin [mm]")
        axes.set_yticks([])
    parts[0][0].legend(frameon=False)
    save(figure, path)


def _rows(one: Measured) -> list[str]:
    rows = []
    for motion in ("identified from", "not used"):
        over, bare = one.over_rest[motion], one.bare[motion]
        still, moved = (1e3 * np.abs(d) for d in (over.undeformed, over.identified))
        asked = f" (asked {100 * ASKED:.0f} %)" if motion == "not used" else ""
        rows.append(
            f"| {one.who}, {motion} | {still.mean():.2f} ± {still.std():.2f} | {moved.mean():.2f} ±"
            f" {moved.std():.2f} | {100 * over.gain:.1f} %{asked} | {1e3 * one.floor[motion]:.2f} |"
            f" {1e3 * np.abs(bare.undeformed).mean():.2f}; {1e3 * np.abs(bare.identified).mean():.2f};"
            f" {100 * bare.gain:.1f} % |"
        )
    return rows


def _many_at_once() -> str:
    """Time and memory of hundreds at once, as markdown."""
    load, runs = psutil.getloadavg()[0], many()
    alone, last = runs[0], runs[-1]
    rows = "\n".join(
        f"| {one.copies} | {one.muscles} | {one.given:,}; {one.identified} | {one.markers:,}"
        f" | {one.clock:.0f} s | {one.processor:.0f} s | {one.before:,.0f} MiB; {one.most:,.0f} MiB |"
        for one in runs
    )
    return f"""Time. Asked: {MANY} muscles over {FRAMES} frames in under {SECONDS:.0f} s. The dog has fewer, so it stands there
several times, {APART:g} m apart in one capture: muscles with names of their own, and each copy with markers,
motions and noise of its own. A broad muscle is several spindles, each of 27 numbers and fitted on its own.
Both are counted: {COPIES[1]} copies are for {MANY} spindles, {COPIES[2]} for {MANY} muscles. Each row is one call of `identify`
on {WORKERS} processes ({os.cpu_count()} processors; other work on the machine when the first began: load {load:.1f}), from paths
and markers, {FRAMES} frames and a second at rest, to the document. Spindles that were given and are not
identified have too few markers.

| copies | muscles identified | spindles given; identified | markers | by the clock | of processor | memory of all processes: before; at most |
|---|---|---|---|---|---|---|
{rows}

Before it begins, memory holds the dog, its motions and what else these figures are made with. Of the first
copy {last.as_alone} of {alone.identified} spindles come out among {last.copies} copies as they do alone, number for number."""  # noqa: E501


def section() -> str:
    """The results as markdown; draws the figure."""
    measured = [measure(who) for who in BODIES]
    draw(measured)
    rows = "\n".join(row for one in measured for row in _rows(one))
    counts = "; ".join(
        f"{one.who}: {one.identified} spindles identified, {one.left_out} with too few markers left out,"
        f" {one.too_thin} muscles too thin for the amplitude (a bulge above {MOST_BULGE:g}) not in it"
        for one in measured
    )
    return f"""## Muscles identified from markers

Markers on muscles of another kind, meshes on action lines: a man's leg from MRI and a dog's front half. Full
activation raises each muscle by {1e3 * AMPLITUDE:.0f} mm where it raises it most; {MARKERS} markers with
{1e3 * NOISE:.0f} mm of noise on each coordinate, {FRAMES} frames, seed {SEED}. The motion not used is a gait
with bursts of activity; the one identified from sways and tenses slowly, and a second at rest is given with
it. Weights of volume and of lasting distances were chosen on the last third of the motion identified from.
Distances of markers [mm] are to a skin that lies over the spindles as it was measured at rest, once over the
best spindles that do not deform and once over those identified; the noise alone makes the floor. Last are the
distances from the bare spindles, where what the shape of a spindle cannot follow in a real muscle drowns what
changes.

| motion | undeformed | identified | falls by | floor | bare: undeformed; identified; falls by |
|---|---|---|---|---|---|
{rows}

The text reports 18.4 and 16.2 mm (12 %) on the motion identified from, 20.2 and 18.6 mm (7.9 %) on another.
{counts}.

{_many_at_once()}

![Distances of markers on the motion not used](figures/{FIGURE.name})
"""


if __name__ == "__main__":
    for name in [n for n in BODIES if not sys.argv[1:] or sys.argv[1] in n]:
        one = measure(name, Path(sys.argv[2]) if len(sys.argv) > 2 else None)
        print(*_rows(one), one.identified, one.left_out, one.too_thin, sep="\n")
