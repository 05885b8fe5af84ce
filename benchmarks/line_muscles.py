"""Muscles that are meshes on action lines: frames a second, cost by number of muscles, time to rig a dog."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.bodies import DATA
from benchmarks.captured_lines import captured
from benchmarks.captured_muscles import muscles_on
from benchmarks.plots import panels, save
from benchmarks.timing import fastest_by_turns
from ecorche.base.rotations import xyzw_from_rotation_vector
from ecorche.base.threads import at_most_threads
from ecorche.base.transforms import compose
from ecorche.body.bones import compile_bones
from ecorche.body.line_specs import fields_of, line_muscles_of
from ecorche.body.lines import BodyLines
from ecorche.document.files import read_rig
from ecorche.io.formats import read_character
from ecorche.muscles.line_musculature import LineMusculature
from ecorche.skeleton.kinematics import difference_from_bind
from ecorche.skeleton.motion import Motion
from ecorche.skeleton.skeleton import Skeleton

Costs = dict[str, dict[str, float]]
"""Seconds of a frame by step: of processor time and by the clock on one thread, by the clock on two."""

DOG = DATA / "dog"
FIGURE = Path(__file__).resolve().parent / "figures" / "line_muscles.png"
FRAMES, ROUNDS = 8, 30
LARGEST = np.radians(35.0)
SHARES = (8, 4, 2, 1)
WHOLE, LINES, MESHES = "the whole frame", "of it: lines", "of it: meshes on known lines"


def swaying(skeleton: Skeleton) -> Motion:
    """Every joint turns to and fro by `LARGEST` about an axis and at a pace of its own."""
    rng, count = np.random.default_rng(0), skeleton.joint_count
    axes = rng.normal(size=(count, 3))
    axes *= LARGEST / np.linalg.norm(axes, axis=1, keepdims=True)
    pace, begin = rng.uniform(0.5, 1.5, count), rng.uniform(0.0, 1.0, count)
    times = np.arange(FRAMES) / 30.0
    turns = xyzw_from_rotation_vector(np.sin(2.0 * np.pi * (times[:, None] * pace + begin))[..., None] * axes)
    return Motion("swaying", skeleton, times, skeleton.bind_local @ compose(np.zeros(3), turns))


def measured(muscles: BodyLines, motion: Motion, rounds: int = ROUNDS) -> Costs:
    """What a frame of a motion takes, and parts of it by themselves, all in turn."""
    body, frames = muscles.musculature, range(motion.frame_count)
    tensed = np.sin(0.2 * np.arange(motion.frame_count)[:, None] + np.arange(len(muscles.designed)))
    active = 0.5 + 0.5 * tensed
    moved = difference_from_bind(motion.skeleton, motion.local)
    known = body.paths.posed(moved)

    def whole() -> None:
        performed = muscles.over(motion)
        for f in frames:
            performed.points(f, active[f])

    def meshes() -> None:
        for f in frames:
            body.posed(moved[f], known.nodes[f], known.elongation[f], active[f][body.kept])

    def lines() -> None:
        # lines with a history go through a motion at once, others are asked for frame by frame
        if body.paths.has_history:
            body.paths.posed(moved)
        else:
            for f in frames:
                body.paths.posed(moved[f : f + 1])

    runs: dict[str, Callable[[], object]] = {WHOLE: whole, LINES: lines, MESHES: meshes}
    both = fastest_by_turns(runs, rounds)
    with at_most_threads(1):
        alone = fastest_by_turns(runs, rounds)
    each = 1.0 / motion.frame_count
    return {
        name: {
            "processor": each * alone[name].processor,
            "alone": each * alone[name].clock,
            "together": each * both[name].clock,
        }
        for name in runs
    }


def rigged(rig: Path) -> str:
    """Rig the dog by the command; what that took, as a sentence."""
    command = [sys.executable, "-c", "from ecorche.cli.main import app; app()", "rig"]
    options = ["--anatomy", str(DOG), str(DOG / "dog.xml"), "-o", str(rig)]
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run([*command, *options], capture_output=True, check=True)
    clock, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return (
        f"`ecorche rig --anatomy` on the dog took {clock:.0f} s by the clock and {processor:.0f} s of"
        f" processor time (under 60 s are asked for), and {_peak(after):.0f} MiB of memory at most."
    )


def _peak(used: resource.struct_rusage) -> float:
    """The most memory a process has held [MiB]; systems count in KiB, a Mac in bytes."""
    return used.ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)


def dog(rig: Path) -> dict[str, Any]:
    """The dog's figures by number of muscles; run in a process of its own, for its memory."""
    skeleton, read = read_character(DOG / "dog.xml").skeleton, read_rig(rig)
    designed, fields = line_muscles_of(read, skeleton), fields_of(read, skeleton)
    bones = compile_bones(read, skeleton)
    solid = () if bones is None else bones.bones
    motion, order = swaying(skeleton), np.random.default_rng(0).permutation(len(designed))
    before, rows = _peak(resource.getrusage(resource.RUSAGE_SELF)), []
    for share in SHARES:
        some = tuple(designed[k] for k in np.sort(order[: len(order) // share]))
        start = time.process_time()
        made = BodyLines(some, LineMusculature(skeleton, some, fields, bones=solid))
        for local in motion.local:  # bones get their grids when they first come near a muscle
            made.points(difference_from_bind(skeleton, local))
        prepared, body = time.process_time() - start, made.musculature
        sizes = [len(body.muscles), len(body.paths.names), len(body.meshes.bind)]
        rows.append([*sizes, prepared, measured(made, motion)])
    return {"before": before, "peak": _peak(resource.getrusage(resource.RUSAGE_SELF)), "rows": rows}


def _in_own_process(rig: Path) -> dict[str, Any]:
    program = (
        "import json, sys; from pathlib import Path; from benchmarks.line_muscles import dog;"
        " print(json.dumps(dog(Path(sys.argv[1]))))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(rig)], capture_output=True, text=True, check=True
    )
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def _frames(costs: Costs) -> list[str]:
    return [
        f"| {name} | {1e3 * one['processor']:.2f} | {1.0 / one['processor']:,.0f} |"
        f" {1.0 / one['alone']:,.0f} | {1.0 / one['together']:,.0f} |"
        for name, one in costs.items()
    ]


def draw(rows: Sequence[Sequence[Any]], path: Path = FIGURE) -> None:
    """Processor time of a frame against the number of muscles, and against that of vertices."""
    figure, (left, right) = panels(1, 2, (11.0, 4.2), sharey=True)
    for axes, column, what in ((left, 0, "muscles of the dog"), (right, 2, "vertices of them")):
        sizes = np.array([row[column] for row in rows], float)
        for name, colour in ((WHOLE, "#1f5f99"), (LINES, "#3c9d6b"), (MESHES, "#c4412f")):
            costs = np.array([1e3 * row[-1][name]["processor"] for row in rows])
            slope = float(sizes @ costs / (sizes @ sizes))
            axes.plot(sizes, costs, "o", color=colour, label=name)
            axes.plot([0.0, sizes.max()], [0.0, slope * sizes.max()], "-", color=colour, lw=1.0)
        axes.set_xlabel(what)
        axes.set_xlim(left=0.0)
    left.set_ylim(bottom=0.0)
    left.set_ylabel("processor time of a frame, one thread [ms]")
    left.legend(frameon=False)
    left.set_title("dots measured, lines through zero", fontsize=10)
    save(figure, path)


def _growth(rows: Sequence[Sequence[Any]]) -> list[str]:
    lines = []
    for muscles, count, vertices, prepared, figures in rows:
        parts = [1e3 * figures[name]["processor"] for name in (WHOLE, LINES, MESHES)]
        lines.append(
            f"| {muscles} | {count} | {vertices:,} | {' | '.join(f'{part:.2f}' for part in parts)} |"
            f" {1e3 * parts[0] / muscles:.0f} | {1e3 * parts[0] / vertices:.3f} | {prepared:.1f} |"
        )
    return lines


def _followed() -> tuple[str, list[str]]:
    """Twenty muscles through a captured walk: what they are, and the rows of their table."""
    motion, _ = captured("02_01")
    muscles, fields = muscles_on(motion.skeleton)
    made = BodyLines(tuple(muscles), LineMusculature(motion.skeleton, muscles, fields))
    body, figures = made.musculature, measured(made, motion, 6)
    told = (
        f"{len(body.muscles)} muscles of {len(body.meshes.bind):,} vertices on {len(body.paths.names)}"
        f" elastic lines, through {motion.frame_count} frames of a captured walk"
    )
    unsettled = len(made.over(motion).notes)
    told += f" ({unsettled} lines did not come to rest)" if unsettled else ""
    return told, _frames(figures)


def section() -> str:
    """The results as markdown; draws the figure."""
    if not DOG.exists():
        return "## Muscles on action lines\n\nNot measured: the data is not here (set ECORCHE_DATA)."
    with tempfile.TemporaryDirectory() as folder:
        rig = Path(folder) / "dog.ecorche"
        told = rigged(rig)
        found = _in_own_process(rig)
    rows = found["rows"]
    draw(rows)
    muscles, lines, vertices, prepared, figures = rows[-1]
    walk, walked = _followed()
    head = """| | processor time, one thread [ms] | frames a second by that | by the clock, one thread | two |
|---|---|---|---|---|"""
    return f"""## Muscles on action lines

{told}

All {muscles} front muscles of the dog, {vertices:,} vertices on {lines} admissible lines, while every
joint turns to and fro by {np.degrees(LARGEST):.0f}°, each about an axis of its own; the best of {ROUNDS}
rounds over {FRAMES} frames. Muscles give way to all bones, as they do in a bake. At least 30 frames a second
are asked for, meshes included. The clock is that of a machine which others use.

{head}
{chr(10).join(_frames(figures))}

Some of these muscles, chosen at random:

| muscles | lines | vertices | frame [ms] | lines | meshes | µs a muscle | µs a vertex | prepared [s] |
|---|---|---|---|---|---|---|---|---|
{chr(10).join(_growth(rows))}

![Cost of a frame by muscles and by vertices](figures/{FIGURE.name})

Prepared in {prepared:.1f} s of processor time; the process holds at most {found["peak"]:.0f} MiB,
{found["before"]:.0f} MiB of it before (rig and libraries).

{walk}; at least 200 frames a second are asked for:

{head}
{chr(10).join(walked)}
"""


if __name__ == "__main__":
    print(section())
