"""What each layer of the skin takes in a frame, from plain skinning to skin against skin, and how it grows.

The muscular man with the whole template through a squat, as he is and with his skin subdivided, and a hero of
300,000 vertices and 200 muscles from rig to file.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from benchmarks.bodies import DATA
from benchmarks.muscle_people import PEOPLE, motion_file, refined
from benchmarks.timing import Fastest, fastest_by_turns
from ecorche.base.threads import at_most_threads
from ecorche.body.character import Character
from ecorche.body.coupling import BodyCoupling
from ecorche.body.evaluate import posed_points
from ecorche.body.live_frames import LiveFrames
from ecorche.body.perform import perform
from ecorche.body.rig import create_rig
from ecorche.document.coupling_spec import CouplingSpec
from ecorche.document.files import Rig
from ecorche.io.formats import read_character, read_motion
from ecorche.skeleton.kinematics import difference_from_bind

PERSON = DATA / "human" / f"{PEOPLE['muscular man']}.glb"
MOTION = "squat"
FRAMES = (20, 49, 75)
"""Standing, deep down and rising."""
ROUNDS, PLAYED = (8, 4, 2), (24, 8, 4)
"""Of timing, and frames played, by how often the skin is subdivided."""
WANTED = 10.0
"""What a frame of the height field with its filters may take on two cores [ms]."""
HERO_VERTICES, HERO_MUSCLES, HERO_FRAMES = 300_000, 200, 12
HEIGHTS = CouplingSpec(everywhere="height_field", slide=0.0, contact=False)
WHOLE = CouplingSpec(everywhere="fascia")


def coupled(character: Character, rig: Rig, spec: CouplingSpec) -> LiveFrames:
    """The character in its motion with its skin so coupled."""
    rig = replace(rig, spec=rig.spec.model_copy(update={"coupling": spec}))
    frames = perform(character, read_motion(motion_file(DATA, MOTION)), rig=rig).take.frames
    assert isinstance(frames, LiveFrames)
    return frames


def _coupling(frames: LiveFrames) -> BodyCoupling:
    assert frames.body.coupling is not None
    return frames.body.coupling


def layers(heights: LiveFrames, whole: LiveFrames, frame: int, rounds: int) -> dict[str, Fastest]:
    """Seconds of everything that makes up one frame; what cannot be run alone, by difference."""
    body, pose, coupling = whole.body, whole.pose(frame), _coupling(whole)
    moved, bulge = difference_from_bind(body.character.skeleton, pose.local), body.bulge(pose.activation)
    bare = replace(body, coupling=None, muscles=None)
    plain = posed_points(bare, pose, moved)
    skin, part, correction = plain[coupling.skin], coupling.part, whole._filtered(frame)
    assert correction is not None
    up, beneath = coupling.up(skin)[part], coupling.surfaces.points(moved, bulge, None)
    over, under = coupling.over, _coupling(heights).over
    assert over is not None
    assert under is not None
    runs: dict[str, Callable[[], object]] = {
        "plain": lambda: posed_points(bare, pose, moved),
        "normals": lambda: body.normals.apply(plain),
        "up": lambda: coupling.up(skin),
        "surfaces": lambda: coupling.surfaces.points(moved, bulge, None),
        "rays": lambda: over._field.changes(skin[part], up, beneath),
        "heights": lambda: under.correction(skin[part], up, beneath),
        "fascia": lambda: over.correction(skin[part], up, beneath),
        "kept": lambda: replace(coupling, contact=None).correction(plain, moved, bulge, None),
        "all": lambda: coupling.correction(plain, moved, bulge, None),
        "applied": lambda: coupling.applied(plain, plain, None, correction, moved),
    }
    return fastest_by_turns(runs, rounds)


ROWS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "plain skinning": (("plain",), ()),
    "normals": (("normals",), ()),
    "surfaces of the muscles": (("surfaces",), ()),
    "rays, with the tree fitted": (("rays",), ()),
    "filters over the skin": (("heights",), ("rays",)),
    "fascia": (("fascia",), ("heights",)),
    "volume and folds": (("kept",), ("fascia", "surfaces", "up")),
    "skin against skin": (("all",), ("kept",)),
    "skin along itself, and all applied": (("applied",), ()),
}
"""What each row of the table adds up, and takes away."""


def played(frames: LiveFrames, count: int) -> Fastest:
    """Seconds a frame takes as it is baked, with the filter in time: one after another, the best of three."""
    first, best = FRAMES[0], Fastest(np.inf, np.inf)
    for _ in range(3):
        frames._corrections.clear()
        frames[first]
        clock, processor = time.perf_counter(), time.process_time()
        for frame in range(first + 1, first + 1 + count):
            frames[frame]
        took = (time.perf_counter() - clock) / count, (time.process_time() - processor) / count
        best = Fastest(min(best.clock, took[0]), min(best.processor, took[1]))
    return best


def column(times: int) -> tuple[str, list[str], Fastest]:
    """A column of the table: the man's skin subdivided so many times; last, what its height field takes."""
    character = refined(read_character(PERSON), times)
    rig = create_rig(character, PERSON, PERSON.with_suffix(".ecorche"))
    heights, whole = (coupled(character, rig, spec) for spec in (HEIGHTS, WHOLE))
    with at_most_threads(1):
        each = [layers(heights, whole, frame, ROUNDS[times]) for frame in FRAMES]
    cells = []
    for more, less in ROWS.values():
        took = sum(
            sum(one[name].processor for name in more) - sum(one[name].processor for name in less)
            for one in each
        )
        cells.append(f"{1e3 * max(took, 0.0) / len(FRAMES):.2f}")
    all_of_it, alone = (played(frames, PLAYED[times]) for frames in (whole, heights))
    cells += [f"**{1e3 * one.clock:.1f}** / {1e3 * one.processor:.1f}" for one in (alone, all_of_it)]
    coupling = _coupling(whole)
    moving = int((coupling.by_heights > 0.0).sum())
    return f"{len(coupling.by_heights):,} vertices, {moving:,} coupled", cells, alone


def hero() -> dict[str, float]:
    """The hero from rig to file; run in a process of its own, for its memory."""
    from benchmarks.muscles import person, subdivided
    from ecorche.io.formats import write_take

    clock = time.perf_counter
    whole = person()
    assert whole is not None
    big, character = subdivided(whole, HERO_VERTICES), read_character(PERSON)
    body = replace(
        character.body(), mesh=replace(big.mesh, name=character.body().mesh.name), weights=big.weights
    )
    character = replace(character, meshes=(body,), motions=(), cache=None)
    start = clock()
    rig = create_rig(character, PERSON, PERSON.with_suffix(".ecorche"))
    named = dict(rig.spec.muscles.named)
    for name, muscle in list(named.items())[: HERO_MUSCLES - len(named)]:
        named[f"{name}, again"] = muscle
    spec = rig.spec.muscles.model_copy(update={"named": named})
    rig = replace(rig, spec=rig.spec.model_copy(update={"muscles": spec, "coupling": WHOLE}))
    took = {"rigged": clock() - start}
    start = clock()
    take = perform(character, read_motion(motion_file(DATA, MOTION)), rig=rig).take
    assert isinstance(take.frames, LiveFrames)
    took["prepared"] = clock() - start
    assert take.motion is not None
    part = replace(
        take,
        frames=take.frames.part(FRAMES[0], FRAMES[0] + HERO_FRAMES - 1),
        motion=take.motion.part(FRAMES[0], FRAMES[0] + HERO_FRAMES - 1),
    )
    took["before frames"] = _peak()
    start, processor = clock(), time.process_time()
    with tempfile.TemporaryDirectory() as folder:
        write_take(Path(folder) / "hero.npz", part)
    took["frame"] = (clock() - start) / HERO_FRAMES
    took["frame, processor"] = (time.process_time() - processor) / HERO_FRAMES
    return took | {
        "vertices": big.mesh.vertex_count,
        "coupled": float((_coupling(take.frames).by_heights > 0.0).sum()),
        "muscles": len(named),
        "peak": _peak(),
    }


def _peak() -> float:
    found = re.search(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text())
    return float(found[1]) * 1024 if found else float("nan")


def _hero() -> str:
    program = "import json; from benchmarks.skin_layers import hero; print(json.dumps(hero()))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return (
        f"A hero of {int(found['vertices']):,} vertices ({int(found['coupled']):,} coupled) with"
        f" {int(found['muscles'])} muscles, the man cut finer and some of his muscles twice, everything on:"
        f" rigged in {found['rigged']:.0f} s, prepared in {found['prepared']:.0f} s;"
        f" **{1e3 * found['frame']:.0f} ms a frame** by the clock into a file"
        f" ({1e3 * found['frame, processor']:.0f} ms of processor time; {HERO_FRAMES} frames, with those that"
        f" the filter in time looks at around them). At most {found['peak'] / 2**20:,.0f} MiB"
        f" ({found['before frames'] / 2**20:,.0f} before the first frame)."
    )


def section() -> str:
    """The section of the report."""
    if not PERSON.exists():
        return "## Layers of the skin\n\nNot measured: the data is not here."
    columns = [column(times) for times in range(3)]
    rows = [*(f"{name} [ms]" for name in ROWS), "height field and filters, played [ms]", "all, played [ms]"]
    heights = columns[0][2]
    return "\n".join(
        [
            "## Layers of the skin",
            "",
            "The muscular man with the whole template in a squat, his skin as it is and subdivided by Loop's"
            " rule. Layers in processor time of one thread, the best of"
            f" {', '.join(map(str, ROUNDS))} rounds, mean over {len(FRAMES)} frames; some by difference."
            " *Played*: whole frames one after another with the"
            " filter in time and normals, **by the clock** of a machine that others use, and in processor"
            " time. Head, hands and feet are skinned plainly.",
            "",
            f"| | {' | '.join(head for head, _, _ in columns)} |",
            f"|---|{'---|' * len(columns)}",
            *(f"| {row} | {' | '.join(c[1][i] for c in columns)} |" for i, row in enumerate(rows)),
            "",
            f"Asked: height field and filters within {WANTED:g} ms on two cores. Here"
            f" {1e3 * heights.clock:.1f} ms by the clock; {500.0 * heights.processor:.1f} ms if its processor"
            " time were shared evenly by two.",
            "",
            _hero(),
        ]
    )


if __name__ == "__main__":
    print(section())
