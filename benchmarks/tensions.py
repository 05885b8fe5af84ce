"""Forces of muscles: how fast, how near to other solvers, and what measured activity says."""

from __future__ import annotations

import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.bodies import DATA
from benchmarks.timing import fastest_by_turns
from benchmarks.walking_muscles import JOINTS, Walk, measured_walk
from ecorche.biomech.emg import Emg, Placement, envelopes, measured_activation
from ecorche.biomech.tensions import RESERVE, Tensions, Wanted, muscle_tensions

Floats = npt.NDArray[np.float64]

MUSCLES, TORQUES, FRAMES = 300, 40, 500
ON = {
    "soleus": ("soleus",),
    "gastrocnemius": ("gasmed", "gaslat"),
    "tibialis_anterior": ("tibant",),
    "medial_hamstrings": ("semimem", "semiten"),
    "biceps_femoris": ("bflh", "bfsh"),
    "vastus_lateralis": ("vaslat",),
    "vastus_medius": ("vasmed",),
    "rectus_femoris": ("recfem",),
    "gluteus_maximus": ("glmax1", "glmax2", "glmax3"),
    "gluteus_medius": ("glmed1", "glmed2", "glmed3"),
}
"""The muscles of the walker's model under each channel."""
DELAY = 0.04
"""Seconds by which force lags behind the signal, in the second of the two settings."""


def _scene(dense: bool) -> tuple[Floats, Floats, Floats]:
    """Moment arms (300, 40), F_max, and torques (500, 40) that change smoothly."""
    rng = np.random.default_rng(11)
    arms = rng.normal(scale=0.05, size=(MUSCLES, TORQUES))
    if not dense:  # each muscle crosses three neighbouring coordinates
        for m in range(MUSCLES):
            arms[m, np.abs(np.arange(TORQUES) - 1 - rng.integers(0, TORQUES - 2)) > 1] = 0.0
    strongest = rng.uniform(100.0, 1500.0, MUSCLES)
    base, swing = np.clip(rng.normal(0.1, 0.25, (2, MUSCLES)), 0.0, 0.45)
    turn = np.linspace(0.0, 4.0 * np.pi, FRAMES)[:, None] + rng.uniform(0.0, 6.0, MUSCLES)
    effort = base + swing * (0.5 + 0.5 * np.sin(turn))
    return arms, strongest, (effort * strongest) @ arms


def _clarabel(arms: Floats, strongest: Floats, torque: Floats) -> Floats:
    import clarabel
    from scipy import sparse

    price = np.concatenate([np.full(MUSCLES, 2.0), np.full(TORQUES, 2.0 / RESERVE**2)])
    one, none = sparse.eye(MUSCLES), sparse.csc_matrix((MUSCLES, TORQUES))
    A = sparse.csc_matrix((arms * strongest[:, None]).T)
    rows: Any = [[A, sparse.eye(TORQUES)], [-one, none], [one, none]]
    bounds = np.concatenate([torque, np.zeros(MUSCLES), np.ones(MUSCLES)])
    cones = [clarabel.ZeroConeT(TORQUES), clarabel.NonnegativeConeT(2 * MUSCLES)]
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    solver = clarabel.DefaultSolver(
        sparse.csc_matrix(sparse.diags(price)),
        np.zeros(MUSCLES + TORQUES),
        sparse.csc_matrix(sparse.bmat(rows)),
        bounds,
        cones,
        settings,
    )
    return np.array(solver.solve().x)[:MUSCLES]


def _some_by_clarabel(arms: Floats, strongest: Floats, torques: Floats) -> Floats:
    return np.array([_clarabel(arms, strongest, torque) for torque in torques])


def _speed() -> list[str]:
    lines = [
        f"{MUSCLES} muscles, {TORQUES} torques, {FRAMES} frames one after the other, one thread; a frame of"
        " clarabel includes setting it up, as moment arms change with every frame.",
        "",
        "| moment arms | ours, ms a frame | frames a second | steps a frame | clarabel, ms | ratio | apart |",
        "|---|---|---|---|---|---|---|",
    ]
    names = [f"m{k}" for k in range(MUSCLES)], [f"c{k}" for k in range(TORQUES)]
    for label, dense in (("all of them", True), ("three a muscle", False)):
        arms, strongest, torques = _scene(dense)
        ours = partial(muscle_tensions, arms, torques, strongest, muscles=names[0], coordinates=names[1])
        theirs = partial(_some_by_clarabel, arms, strongest, torques[:10])
        took = fastest_by_turns({"ours": ours, "theirs": theirs}, 5)
        one, other = 1e3 * took["ours"].clock / FRAMES, 1e2 * took["theirs"].clock
        found = ours()
        apart = np.abs(found.activation[:10] - theirs()).max()
        lines.append(
            f"| {label} | {one:.3f} | {1e3 / one:,.0f} | {found.steps.mean():.2f} | {other:.2f}"
            f" | {other / one:.0f} | {apart:.1e} of F_max |"
        )
    return [*lines, "", "Asked: 1,000 frames a second."]


def walkers_emg(data: Path) -> Emg:
    """The EMG of the walk."""
    lines = (data / "walk" / "electromyography.sto").read_text().splitlines()
    head = lines.index("endheader") + 1
    table = np.array([[float(value) for value in line.split("\t")] for line in lines[head + 1 :]])
    return envelopes(table[:, 0], table[:, 1:], lines[head].split("\t")[1:])


def solved(walk: Walk, wanted: Wanted | None = None) -> Tensions:
    """The walk's activations."""
    return muscle_tensions(
        walk.moment_arms,
        walk.moments,
        walk.sizes.strongest,
        muscles=walk.sizes.names,
        coordinates=JOINTS,
        state=walk.state(),
        least=0.01,
        wanted=wanted,
    )


def _mean(walk: Walk, found: Tensions, channel: str, side: str) -> Floats:
    """Activation of the muscles under a channel, (frames,)."""
    numbers = [walk.sizes.names.index(f"{muscle}_{side}") for muscle in ON[channel]]
    return np.asarray(found.activation[:, numbers].mean(axis=1))


def correlations(walk: Walk, emg: Emg, found: Tensions, side: str, delay: float = 0.0) -> dict[str, float]:
    """Of each channel with the activation of its muscles on a side."""
    result = {}
    for c, channel in enumerate(emg.channels):
        measured = np.interp(walk.times - delay, emg.times, emg.activity[:, c])
        result[channel] = float(np.corrcoef(_mean(walk, found, channel, side), measured)[0, 1])
    return result


def _left_out(walk: Walk, emg: Emg, gains: dict[str, float], delay: float) -> dict[str, float]:
    """Correlation of each channel where the nine others are soft targets of weight 1."""
    result = {}
    scaled = Emg(emg.times, emg.channels, emg.activity * [gains[name] for name in emg.channels], emg.notes)
    for channel in emg.channels:
        placed = [Placement(one, f"{m}_r") for one in emg.channels if one != channel for m in ON[one]]
        target = measured_activation(scaled, placed, walk.sizes.names, walk.times - delay)
        found = solved(walk, Wanted(target, 1.0))
        result[channel] = correlations(walk, emg, found, "r", delay)[channel]
    return result


def _walk(data: Path) -> list[str]:
    begin = time.perf_counter()
    walk = measured_walk(data, [float(t) for t in np.arange(0.5, 1.751, 0.02)])
    opensim_took = time.perf_counter() - begin
    emg = walkers_emg(data)
    begin = time.perf_counter()
    calm = solved(walk)
    took = time.perf_counter() - begin
    right, left = (correlations(walk, emg, calm, side) for side in "rl")
    gains = {}
    for c, channel in enumerate(emg.channels):
        measured = np.interp(walk.times - DELAY, emg.times, emg.activity[:, c])
        gains[channel] = float(_mean(walk, calm, channel, "r") @ measured / (measured @ measured))
    plain = _left_out(walk, emg, dict.fromkeys(emg.channels, 1.0), 0.0)
    late = correlations(walk, emg, calm, "r", DELAY)
    fitted = _left_out(walk, emg, gains, DELAY)
    lines = [
        f"{len(walk.times)} frames of a measured walk, 80 muscles, Σ a²: lengths, moment arms and moments by"
        f" OpenSim ({opensim_took:.0f} s), activations by us ({1e3 * took / len(walk.times):.2f} ms a frame)."
        f" The largest share of a torque that a reserve makes is {calm.share.max():.1%}; told:"
        f" {len(calm.notes)} of {len(JOINTS)}.",
        "",
        "Correlation of activation with EMG. The file names no side. Left out: the other nine channels are"
        " soft targets of weight 1 on the right; (a) as the file has them, (b) each times the factor that"
        f" fits its muscles' activation best, and {1e3 * DELAY:.0f} ms late.",
        "",
        "| channel | left | right | left out (a) | right (b) | left out (b) |",
        "|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {name} | {left[name]:.2f} | {right[name]:.2f} | {plain[name]:.2f} | {late[name]:.2f}"
        f" | {fitted[name]:.2f} |"
        for name in emg.channels
    ]
    columns = left, right, plain, late, fitted
    lines.append("| mean | " + " | ".join(f"{np.mean(list(one.values())):.2f}" for one in columns) + " |")
    rise = sum(plain[name] > right[name] for name in emg.channels)
    rise_late = sum(fitted[name] > late[name] for name in emg.channels)
    return [
        *lines,
        "",
        "The EMG is the right side's. Left out, the correlation rises in"
        f" {rise} (a) and {rise_late} (b) of 10 channels; asked: 6. With torques given, muscles drawn to"
        " their EMG take work from the one left out, or leave it theirs: it balances what the nine have"
        " wrong. Ninety settings were tried by hand, with weights from 0.1 to 30, delays up to 60 ms, p = 3,"
        " other ways to fit the factors, and no passive force: never more than 4.",
    ]


def section() -> str:
    lines = ["## Forces of muscles", "", *_speed(), ""]
    if not (DATA / "walk").is_dir():
        return "\n".join([*lines, "The walk was not measured: its data is not here (set ECORCHE_DATA)."])
    return "\n".join([*lines, *_walk(DATA)])
