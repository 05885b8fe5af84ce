"""Plots of how skin on springs swings, as text 004's Figure 7 shows it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from benchmarks import plots
from benchmarks.spring_swings import LEG, SLOWEST, Swings, fast_part

_AXES = {"along the shin, up": 1, "across it, forwards": 2}


def plot_trajectories(found: Mapping[str, Swings], path: Path) -> None:
    """The middle of the calf in the lower leg's axes, with and without dynamics, and what is fast of it."""
    figure, axes = plots.panels(len(found), 3, (11.0, 2.5 * len(found)), sharex="row")
    for row, (motion, one) in zip(axes, found.items(), strict=True):
        still, swung = one.without["calf"], one.without["calf"] + one.offsets["calf"].mean(axis=1)
        for panel, (name, axis) in zip(row[:2], _AXES.items(), strict=True):
            panel.plot(
                one.times, 1e3 * still[:, axis], "--", color="tab:green", linewidth=1.2, label="without"
            )
            panel.plot(one.times, 1e3 * swung[:, axis], color="tab:red", linewidth=1.2, label="with springs")
            panel.set_title(f"{motion}: calf, {name}", fontsize=9)
        for place, colour in (("calf", "tab:red"), ("over the tibia", "tab:blue")):
            fast = fast_part(one.times, one.offsets[place].mean(axis=1))
            row[2].plot(one.times, 1e3 * fast[:, 1], color=colour, linewidth=1.2, label=place)
        row[2].set_title(f"along the shin, above {SLOWEST:g} Hz", fontsize=9)
        row[0].set_ylabel("mm from bind")
    for panel in axes[0, [0, 2]]:
        panel.legend(frameon=False, fontsize=8)
    for panel in axes[-1]:
        panel.set_xlabel("s")
    plots.save(figure, path)


def plot_cases(found: Mapping[str, Mapping[str, Swings]], path: Path) -> None:
    """What is fast of every place's way along its bone, of muscles as they were."""
    figure, axes = plots.panels(len(found), len(LEG), (11.0, 2.5 * len(found)), sharex="row", sharey="row")
    for row, (motion, cases) in zip(axes, found.items(), strict=True):
        for panel, place in zip(row, LEG, strict=True):
            for case, one in cases.items():
                fast = fast_part(one.times, one.offsets[place].mean(axis=1))
                panel.plot(one.times, 1e3 * fast[:, 1], linewidth=1.1, label=case)
            panel.set_title(f"{motion}: {place}", fontsize=9)
        row[0].set_ylabel(f"mm along the bone, above {SLOWEST:g} Hz", fontsize=8)
    axes[0, 0].legend(frameon=False, fontsize=8)
    for panel in axes[-1]:
        panel.set_xlabel("s")
    plots.save(figure, path)
