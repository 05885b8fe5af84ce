"""Muscles and skin as masses on springs: landings, a run and a blow on a muscular man, and how fast."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.spatial import cKDTree

from benchmarks.peers import MissingPeer
from benchmarks.spring_peers import PROGRAMS, steps_of
from benchmarks.spring_plots import plot_cases, plot_trajectories
from benchmarks.spring_swings import (
    LEG,
    MOTIONS,
    SLOWEST,
    WATCHED,
    Swings,
    frames_of,
    man,
    rig_with,
    swing,
    swings,
)
from benchmarks.timing import fastest_by_turns
from ecorche.base.threads import at_most_threads
from ecorche.body.live_frames import LiveFrames
from ecorche.body.perform import perform
from ecorche.body.take import Take
from ecorche.document.springs_spec import BlowSpec
from ecorche.dynamics.implicit_springs import ImplicitSprings
from ecorche.dynamics.spring_steps import SpringSteps, still
from ecorche.dynamics.springs import Springs, damping_of, spring_forces
from ecorche.muscles.activation import Constant
from ecorche.render.focus import Focus
from ecorche.render.layer_sheet import render_layers
from ecorche.skeleton.motion import bind_pose

Floats = npt.NDArray[np.float64]

FIGURES = Path(__file__).with_name("figures")

CASES: dict[str, tuple[float, dict[str, Any]]] = {
    "relaxed": (0.0, {}),
    "tensed": (1.0, {}),
    "a quarter less muscle": (0.0, {"muscularity": 0.75}),
}
"""How active all muscles are, and what is said of the springs."""


def _study() -> tuple[list[str], dict[str, dict[str, Swings]]]:
    rows, kept = list[str](), dict[str, dict[str, Swings]]()
    for motion in MOTIONS:
        kept[motion] = {}
        for case, (active, said) in CASES.items():
            found = kept[motion][case] = swings(frames_of(motion, active, **said))
            told = [swing(found, place, found.landing) for place in LEG]
            cells = " | ".join(
                f"{1e3 * s.size:.2f}; {1e3 * s.largest:.1f}; {s.frequency:.0f} Hz; {s.decay:.2f} s"
                for s in told
            )
            rows.append(f"| {motion} | {case} | {cells} |")
            print(rows[-1], flush=True)
    return rows, kept


def _blow() -> str:
    """A forearm that is struck, by how muscular it is, in figures and pictures."""
    character, _ = man()
    still_pose = bind_pose(character.skeleton)
    times = np.arange(31) / 120.0
    motion = replace(still_pose, times=times, local=np.repeat(still_pose.local, len(times), axis=0))
    blow = BlowSpec(joint="RightForeArm", along=0.35, radius=0.05, force=(0.0, -40.0, 0.0), start=0.02)
    told, takes = [], dict[str, Take]()
    for muscularity in (1.0, 0.75):
        rig = rig_with(muscularity=muscularity, blows={"slap": blow})
        take = perform(
            character,
            motion,
            rig=rig,
            dynamics="springs",
            activation=Constant(np.zeros(rig.spec.muscles.count)),
        ).take
        live = take.frames
        assert isinstance(live, LiveFrames)
        springs, moving = live.body.springs, live.springs
        assert springs is not None
        assert moving is not None
        own = springs.blows[0].points
        away = []
        for index in range(len(live)):
            _ = live[index]
            away.append(float(np.linalg.norm(moving.steps.offsets[own].mean(axis=0))))
        told.append(f"{1e3 * max(away):.1f} mm at a muscularity of {muscularity:g}")
        takes[f"muscularity {muscularity:g}"] = take
    render_layers(
        FIGURES / "springs_blow.png",
        takes,
        layers=("difference",),
        views=("front",),
        frame=[2, 4, 5, 6, 8, 11],
        size=(300, 200),
        focus=Focus(("RightForeArm", "RightHand"), 0.2),
    )
    return (
        f"- A blow of {-blow.force[1]:.0f} N for {1e3 * blow.seconds:.0f} ms on the forearm moves the skin it"
        f" meets by {' and '.join(told)}."
    )


def sheet(springs: int = 200_000) -> tuple[Springs, Floats]:
    """Two sheets, skin over muscle, with as many springs as said."""
    random = np.random.default_rng(0)
    side = 132
    grid = 0.01 * np.stack(np.meshgrid(np.arange(side), np.arange(side)), -1).reshape(-1, 2)
    upper = np.column_stack([grid, np.zeros(len(grid))])
    lower = np.column_stack([grid[::2], np.full(len(grid[::2]), -0.01)])
    places = np.concatenate([upper, lower])
    places += 0.001 * random.normal(size=places.shape)
    pairs = cKDTree(places).query_pairs(0.021, output_type="ndarray").astype(np.int64)
    pairs = pairs[np.sort(random.permutation(len(pairs))[:springs])]
    masses, stiffness = np.full(len(places), 1e-3), np.full(len(pairs), 100.0)
    damping = damping_of(0.02, stiffness, np.full(len(pairs), 2e3))
    own = np.full(len(places), 5.0)
    return Springs(masses, pairs, stiffness, damping, own, 1e-3 * own), places


STEPS = 200
"""So many steps are timed at once: what a call costs besides is not theirs."""


def _speed() -> list[str]:
    springs, places = sheet()
    velocities = 0.05 * np.random.default_rng(1).normal(size=places.shape)
    contenders, first = {}, dict[str, Floats]()
    for threads in (1, 2):
        steps = SpringSteps(springs, places)
        steps.velocities = velocities.copy()
        force = spring_forces(springs, places, steps.offsets, velocities)
        steps.accelerations = force * springs.inverse_masses[:, None]

        def go(steps: SpringSteps = steps, threads: int = threads) -> None:
            with at_most_threads(threads):
                steps.advance(still(places, STEPS * steps.step))
            first.setdefault(f"{threads}", steps.offsets.copy())

        contenders[f"{threads}"] = go
    best = fastest_by_turns(contenders, 8)
    one, two = (1e3 * best[name].clock / STEPS for name in ("1", "2"))
    busy = 1e3 * best["2"].processor / STEPS
    rows = [
        f"- {len(springs.pairs):,} springs between {springs.point_count:,} points: {two:.2f} ms a step on two"
        f" cores by the clock, {busy / 2.0:.2f} ms of each core's time (0.5 asked); {one:.2f} ms on one.",
    ]
    for peer in PROGRAMS:
        try:
            found = steps_of(peer, springs, places, velocities, step=steps.step, count=STEPS, rounds=8)
        except MissingPeer as missing:
            rows.append(f"- The same beside {peer}: {missing}.")
            continue
        exact = first["2"]
        off = np.abs(found.offsets - exact).max() / np.abs(exact).max()
        rows.append(
            f"- The same by {peer} on the processor, in a process of its own in the same run:"
            f" {1e3 * found.seconds:.2f} ms a step by {found.way}ing, its faster way,"
            f" {1e3 * found.seconds / two:.1f} times ours (3 asked); its points are off by {off:.0e} of the"
            f" farthest's way."
        )
    for row in rows:
        print(row, flush=True)
    return rows


WAYS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("as it is", {}),
    ("real time", {"realtime": True}),
    ("real time, 60 frames a second", {"realtime": True, "every": 2}),
    ("implicit midpoint, 1 ms, masses as in real time", {"realtime": True}),
)


def _ways() -> list[str]:
    """The landings and the run as they are, in real time, and implicitly."""
    rows = list[str]()
    for motion in MOTIONS:
        exact: Swings | None = None
        for name, said in WAYS:
            if name.startswith("implicit") and motion != next(iter(MOTIONS)):
                continue
            live = frames_of(motion, 0.0, **said)
            moving = live.springs
            assert moving is not None
            step = moving.steps.step
            if name.startswith("implicit"):
                step = 1e-3
                moving.steps = ImplicitSprings(moving.springs.springs, step=step)
            _ = live[0]  # what is compiled or made once
            seconds = float(live.times[-1] - live.times[0])
            begun, used = time.perf_counter(), time.process_time()
            for index in range(len(live)):
                _ = live[index]
            took, used = time.perf_counter() - begun, time.process_time() - used
            found = swings(live)
            exact = found if exact is None else exact
            at = np.searchsorted(exact.times, found.times - 1e-4)
            cells = []
            for place in LEG:
                way, true = found.offsets[place].mean(axis=1), exact.offsets[place].mean(axis=1)[at]
                off, size = np.linalg.norm(way - true, axis=1), np.linalg.norm(true, axis=1)
                cells.append(
                    f"{1e3 * np.linalg.norm(way, axis=1).max():.1f}; {100.0 * off.max() / size.max():.0f};"
                    f" {100.0 * np.sqrt(np.mean(off**2) / np.mean(size**2)):.0f}"
                )
            rows.append(
                f"| {motion} | {name} | {1e3 * step:.2f} | {used / 2.0 / seconds:.2f} |"
                f" {took / seconds:.2f} | {' | '.join(cells)} |"
            )
            print(rows[-1], flush=True)
    return rows


def section() -> str:
    """Figures of springs."""
    speed, ways = _speed(), _ways()
    rows, kept = _study()
    plot_trajectories({motion: cases["relaxed"] for motion, cases in kept.items()}, FIGURES / "springs.png")
    plot_cases(kept, FIGURES / "springs_cases.png")
    live = frames_of(next(iter(MOTIONS)), 0.0)
    springs = live.body.springs
    assert springs is not None
    inner = springs.springs
    bound, found = inner.fastest(springs.bind), inner.power_iteration(springs.bind)
    return "\n".join(
        [
            "## Muscles and skin on springs",
            "",
            f"The muscular man: {len(springs.first):,} masses on skin, {len(springs.muscle):,} on muscles,"
            f" {inner.spring_count:,} springs. The stiffest oscillation has"
            f" {np.sqrt(found) / 2e3 / np.pi:.1f} kHz by power iteration and at most"
            f" {np.sqrt(bound) / 2e3 / np.pi:.1f} by the bound that the step of"
            f" {1e6 * inner.stable_step(springs.bind):.0f} µs is chosen by.",
            "",
            *speed,
            _blow(),
            "",
            "![A forearm is struck: how far skin is from where it is without, of a man as muscular as he is"
            " and a quarter less](figures/springs_blow.png)",
            "",
            "How the skin of the right leg swings at 120 frames a second: root mean square of what is above"
            f" {SLOWEST:g} Hz over all vertices of a place and {WATCHED:g} s from the landing on [mm]; the"
            " largest way of its middle from where it is without dynamics [mm]; the frequency of most of the"
            " swing; and until a fifth of that is left.",
            "",
            f"| motion | muscles | {' | '.join(LEG)} |",
            "|---|---|" + "---|" * len(LEG),
            *rows,
            "",
            "The text's Figure 7: the calf in the axes of the lower leg, with springs and without.",
            "",
            "![The calf along and across the shin, and what is fast of it](figures/springs.png)",
            "",
            "![Relaxed, tensed and with less muscle](figures/springs_cases.png)",
            "",
            "In real time. Seconds that a second takes at 120 frames a second, of each of two cores and by"
            " the clock, with muscles and skin posed; then for each place its largest way [mm], and how far"
            " its way is from the first row's, at most and as a root mean square [% of that way]. With 60"
            " frames a second the motion itself is told less well: a landing is over in a few of them.",
            "",
            f"| motion | way | step [ms] | s a second | by the clock | {' | '.join(LEG)} |",
            "|---|---|---|---|---|" + "---|" * len(LEG),
            *ways,
        ]
    )
