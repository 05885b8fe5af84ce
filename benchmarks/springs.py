"""Muscles and skin as masses on springs: landings, a run and a blow on a muscular man, and how fast."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.signal import butter, sosfiltfilt
from scipy.spatial import cKDTree

from benchmarks import plots
from benchmarks.bodies import DATA
from benchmarks.timing import fastest_by_turns
from ecorche.base.threads import at_most_threads
from ecorche.body.character import Character
from ecorche.body.live_frames import LiveFrames
from ecorche.body.perform import perform
from ecorche.body.rig import create_rig
from ecorche.document.files import Rig
from ecorche.document.springs_spec import BlowSpec, SpringsSpec
from ecorche.dynamics.implicit_springs import ImplicitSprings
from ecorche.dynamics.spring_steps import SpringSteps, still
from ecorche.dynamics.springs import Springs, damping_of
from ecorche.io.formats import read_character, read_motion
from ecorche.muscles.activation import Constant
from ecorche.skeleton.motion import bind_pose

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

FIGURE = Path(__file__).with_name("figures") / "springs.png"
MOTIONS = {
    "jump, landing": ("13_13", (256, 330)),
    "forward jump, landing": ("13_39", (210, 284)),
    "run": ("02_03", (40, 114)),
}
"""File of each, and frames at 120 Hz."""
PREROLL = 0.3
LEG = {
    "calf": ("RightLeg", (0.15, 0.5), (0.0, -1.0)),
    "over the tibia": ("RightLeg", (0.3, 0.8), (0.7, 0.7)),
    "thigh, in front": ("RightUpLeg", (0.3, 0.75), (0.0, 1.0)),
}
"""Joint, from where to where along its bone, and which way skin looks: x, to the left, and z, forwards."""


@cache
def man() -> tuple[Character, Rig]:
    """The muscular man and his rig."""
    character = read_character(DATA / "human" / "male_muscular_cmu_mb.glb")
    assert character.source is not None
    return character, create_rig(character, character.source, "man.ecorche")


def rig_with(**said: Any) -> Rig:
    """His rig with other springs."""
    _, rig = man()
    return replace(rig, spec=rig.spec.model_copy(update={"springs": SpringsSpec(**said)}))


def frames_of(motion: str, active: float | None = None, **said: Any) -> LiveFrames:
    """The man in a motion, with other springs, all muscles as active as said."""
    character, _ = man()
    file, part = MOTIONS[motion]
    live = perform(
        character,
        read_motion(DATA / "cmu" / f"{file}.bvh"),
        rig=rig_with(**said),
        frames=part,
        preroll=PREROLL,
        dynamics="springs",
        activation=None if active is None else Constant(np.full(man()[1].spec.muscles.count, active)),
    ).take.frames
    assert isinstance(live, LiveFrames)
    return live


def part_of_skin(place: tuple[str, tuple[float, float], tuple[float, float]]) -> Ints:
    """Vertices of the skin along a bone that look a way."""
    character, rig = man()
    mesh = character.body(rig.spec.body)
    assert mesh.weights is not None
    joint = character.skeleton.names.index(place[0])
    joints, shares = mesh.weights.padded()
    own = np.where(joints == joint, shares, 0.0).sum(axis=1) > 0.7
    head, tip = character.skeleton.bind_world[joint, :3, 3], character.skeleton.tail_positions()[joint]
    points = mesh.mesh.points.astype(np.float64)
    along = (points - head) @ (tip - head) / np.sum((tip - head) ** 2)
    axis = head + along[:, None] * (tip - head)
    aside = points - axis
    facing = aside[:, [0, 2]] @ place[2] / np.maximum(np.linalg.norm(aside, axis=1), 1e-9)
    return np.flatnonzero(own & (along > place[1][0]) & (along < place[1][1]) & (facing > 0.8))


def swings(live: LiveFrames, places: Mapping[str, Any]) -> tuple[Floats, dict[str, Floats]]:
    """Times [s] and, for each place, how far its skin is from where it is without [m], (frames, 3)."""
    springs, motion = live.body.springs, live.springs
    assert springs is not None
    assert motion is not None
    masses = {name: springs.welded[part_of_skin(place)] for name, place in places.items()}
    found: dict[str, list[Floats]] = {name: [] for name in places}
    for index in range(len(live)):
        _ = live[index]
        for name, own in masses.items():
            found[name].append(motion.steps.offsets[own].mean(axis=0))
    return np.asarray(live.times), {name: np.array(rows) for name, rows in found.items()}


@dataclass(frozen=True)
class Swing:
    """How something swings: its largest [m], its frequency [Hz], and until a fifth of it is left [s]."""

    largest: float
    frequency: float
    decay: float


def swing(times: Floats, offsets: Floats) -> Swing:
    """Amplitude, frequency and decay of what is left above 5 Hz, along the axis of most of it."""
    rate = 1.0 / float(np.median(np.diff(times)))
    fast = sosfiltfilt(butter(2, 5.0, "high", fs=rate, output="sos"), offsets, axis=0)
    _, _, axes = np.linalg.svd(fast - fast.mean(axis=0), full_matrices=False)
    along = fast @ axes[0]
    spectrum = np.abs(np.fft.rfft(along * np.hanning(len(along)), 8 * len(along)))
    frequency = float(np.fft.rfftfreq(8 * len(along), 1.0 / rate)[np.argmax(spectrum)])
    size = np.linalg.norm(fast, axis=1)
    peak = int(np.argmax(size))
    left = np.flatnonzero(size[peak:] > 0.2 * size[peak])
    return Swing(
        float(np.linalg.norm(offsets, axis=1).max()), frequency, float(times[peak + left[-1]] - times[peak])
    )


CASES: dict[str, tuple[float, dict[str, Any]]] = {
    "relaxed": (0.0, {}),
    "tensed": (1.0, {}),
    "a quarter less muscle": (0.0, {"muscularity": 0.75}),
}
"""How active all muscles are, and what is said of the springs."""


def _study() -> tuple[list[str], dict[str, tuple[Floats, dict[str, Floats]]]]:
    rows, first = list[str](), {}
    for motion in MOTIONS:
        for case, (active, said) in CASES.items():
            times, found = swings(frames_of(motion, active, **said), LEG)
            if motion == next(iter(MOTIONS)):
                first[case] = times, found
            told = [swing(times, found[place]) for place in LEG]
            cells = " | ".join(f"{1e3 * s.largest:.1f}, {s.frequency:.0f} Hz, {s.decay:.2f} s" for s in told)
            rows.append(f"| {motion} | {case} | {cells} |")
            print(rows[-1], flush=True)
    return rows, first


def _plot(first: Mapping[str, tuple[Floats, dict[str, Floats]]]) -> None:
    figure, axes = plots.panels(1, len(LEG), (11.0, 3.2), sharey=True)
    for panel, place in zip(axes, LEG, strict=True):
        for case, (times, found) in first.items():
            panel.plot(times, 1e3 * found[place][:, 1], label=case, linewidth=1.2)
        panel.set_title(place)
        panel.set_xlabel("s")
    axes[0].set_ylabel("up, from without [mm]")
    axes[0].legend(frameon=False)
    plots.save(figure, FIGURE)


def _blow() -> str:
    """A forearm that is struck, by how muscular it is."""
    character, _ = man()
    still_pose = bind_pose(character.skeleton)
    times = np.arange(31) / 120.0
    motion = replace(still_pose, times=times, local=np.repeat(still_pose.local, len(times), axis=0))
    blow = BlowSpec(joint="RightForeArm", along=0.35, radius=0.05, force=(0.0, -40.0, 0.0), start=0.02)
    told = []
    for muscularity in (1.0, 0.75):
        rig = rig_with(muscularity=muscularity, blows={"slap": blow})
        live = perform(
            character,
            motion,
            rig=rig,
            dynamics="springs",
            activation=Constant(np.zeros(rig.spec.muscles.count)),
        ).take.frames
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


def _speed() -> list[str]:
    springs, places = sheet()
    contenders = {}
    for threads in (1, 2):
        steps = SpringSteps(springs, places)

        def go(steps: SpringSteps = steps, threads: int = threads) -> None:
            with at_most_threads(threads):
                steps.advance(still(places, 50.0 * steps.step))

        contenders[f"{threads}"] = go
    best = fastest_by_turns(contenders, 15)
    one, two = (1e3 * best[name].clock / 50.0 for name in ("1", "2"))
    busy = 1e3 * best["2"].processor / 50.0
    return [
        f"- {len(springs.pairs):,} springs between {springs.point_count:,} points: {two:.2f} ms a step on two"
        f" cores by the clock, {busy / 2.0:.2f} ms of each core's time (0.5 asked); {one:.2f} ms on one.",
    ]


def _ways() -> list[str]:
    """The landing by other ways through time, against the usual."""
    motion = next(iter(MOTIONS))
    ways: dict[str, dict[str, Any]] = {
        "as it is": {},
        "no spring above 1e6 /s²": {"cap": 1e6},
        "no spring above 1e5 /s²": {"cap": 1e5},
        "implicit midpoint, 1/120 s": {},
        "backward Euler, 1/120 s": {},
    }
    rows, exact = list[str](), None
    for name, said in ways.items():
        live = frames_of(motion, 0.0, **said)
        moving = live.springs
        assert moving is not None
        step = moving.steps.step
        if "1/120" in name:
            step = 1.0 / 120.0
            share = 0.5 if "midpoint" in name else 1.0
            moving.steps = ImplicitSprings(moving.springs.springs, step=step, share=share)
        begun, used = time.perf_counter(), time.process_time()
        _, found = swings(live, LEG)
        took, used = time.perf_counter() - begun, time.process_time() - used
        seconds = float(moving.motion.times[-1] - moving.motion.times[0])
        calf = found["calf"]
        exact = calf if exact is None else exact
        off = np.linalg.norm(calf - exact, axis=1).max() / np.linalg.norm(exact, axis=1).max()
        largest = 1e3 * np.linalg.norm(calf, axis=1).max()
        rows.append(
            f"| {name} | {1e3 * step:.2f} | {used / 2.0 / seconds:.2f} | {took / seconds:.2f} | {largest:.1f}"
            f" | {100.0 * off:.0f} |"
        )
        print(rows[-1], flush=True)
    return rows


def section() -> str:
    """Figures of springs."""
    rows, first = _study()
    _plot(first)
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
            *_speed(),
            _blow(),
            "",
            "How the skin of the right leg swings at 120 frames a second: the largest way from where it is"
            " without dynamics [mm], the frequency of most of what is above 5 Hz, and until a fifth of that"
            " is left.",
            "",
            f"| motion | muscles | {' | '.join(LEG)} |",
            "|---|---|" + "---|" * len(LEG),
            *rows,
            "",
            "![The landing, up and down](figures/springs.png)",
            "",
            "The landing by other ways through time. Seconds that a second takes, of each of two cores and by"
            " the clock, with muscles and skin posed; the calf's largest way, and how far its way is from the"
            " first row's at most.",
            "",
            "| way | step [ms] | s a second | by the clock | calf [mm] | off [%] |",
            "|---|---|---|---|---|---|",
            *_ways(),
        ]
    )
