"""Surfaces of all muscles of a body in a frame: what they take, by resolution and by number of muscles.

As they are drawn and as the skin lies over them: muscles of the template in the flesh (`spindles_in_flesh`),
and muscles found in the skin (`lofts_in_flesh`). Meshes on action lines have a section of their own.
"""

from __future__ import annotations

import os
import time
import tracemalloc
from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from benchmarks.bodies import DATA
from benchmarks.muscle_people import PEOPLE, motion_file, performed
from benchmarks.timing import fastest_by_turns
from ecorche.base.threads import at_most_threads
from ecorche.body.extract_muscles import with_extracted_muscles
from ecorche.body.live_frames import LiveFrames
from ecorche.body.perform import perform
from ecorche.body.rig import create_rig
from ecorche.io.formats import read_character, read_motion
from ecorche.muscles.loft_mesh import loft_surfaces
from ecorche.muscles.musculature import musculature
from ecorche.muscles.spindle_mesh import spindle_surfaces
from ecorche.muscles.spindles_in_flesh import SpindlesInFlesh
from ecorche.skeleton.kinematics import difference_from_bind
from ecorche.skeleton.motion import Motion
from ecorche.skin.flesh_binding import flesh_binding

Floats = npt.NDArray[np.float64]
Posed = Callable[[int], Floats]
"""Vertices [m] (V, 3) of a frame."""

PERSON = DATA / "human" / f"{PEOPLE['muscular man']}.glb"
LINEAR, CONTOUR = "linear", "contour"
ASKED = (16, 12)
SIZES = ((8, 8), ASKED, (28, 20), (48, 32))
FRAMES, ROUNDS = 8, 30
WANTED = 2.0
"""What a frame of the template at 16 rings of 12 sides may take on two threads [ms]."""


class Row(NamedTuple):
    """What the surfaces of some muscles take.

    Attributes:
        kind, muscles, size, vertices: Which, how many, of how many rings and sides.
        processor: Of a frame, on one thread [ms].
        clock: Of a frame, on all threads [ms].
        prepared: Once [s].
        kept, peak: Memory that stays, and the most while it is prepared [MiB].
    """

    kind: str
    muscles: int
    size: tuple[int, int]
    vertices: int
    processor: float
    clock: float
    prepared: float
    kept: float
    peak: float

    def __str__(self) -> str:
        return (
            f"| {self.kind} | {self.muscles} | {self.size[0]} × {self.size[1]} | {self.vertices:,} |"
            f" {self.processor:.2f} | {self.clock:.2f} | {1e6 * self.processor / self.vertices:.0f} |"
            f" {self.prepared:.1f} | {self.kept:.1f} | {self.peak:.0f} |"
        )


def measured(kind: str, muscles: int, size: tuple[int, int], make: Callable[[], Posed]) -> Row:
    """Prepare surfaces and pose them; ``make`` gives what poses frame 0 to `FRAMES` − 1."""
    tracemalloc.start()
    make()(0)
    kept = make()
    before, _ = tracemalloc.get_traced_memory()
    del kept
    after, _ = tracemalloc.get_traced_memory()
    tracemalloc.reset_peak()
    make()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    start = time.process_time()
    draw = make()
    prepared = time.process_time() - start
    vertices = len(draw(0))
    runs = {str(frame): partial(draw, frame) for frame in range(FRAMES)}
    clock = sum(one.clock for one in fastest_by_turns(runs, ROUNDS).values())
    with at_most_threads(1):
        processor = sum(one.processor for one in fastest_by_turns(runs, ROUNDS).values())
    each, mib = 1e3 / FRAMES, 2.0**-20
    return Row(
        kind, muscles, size, vertices, each * processor, each * clock, prepared,
        mib * (before - after), mib * (peak - after),
    )  # fmt: skip


def template() -> Iterator[Row]:
    """The muscular man's, through a raise of his arms: some of them at one resolution, all at others.

    The flesh is blended linearly, and as the skin is where it keeps its distance.
    """
    pair = performed(PERSON, motion_file(DATA, "raise"))
    whole, skeleton = pair.muscles.musculature, pair.muscled.body.character.skeleton
    moved = _moved(pair.muscled.motion)
    fewer = ((LINEAR, part, ASKED) for part in (8, 4, 2))
    for method, part, (rings, sides) in (
        *fewer,
        *((m, 1, size) for m in (LINEAR, CONTOUR) for size in SIZES),
    ):
        binding = flesh_binding(method, skeleton)
        some = musculature(whole.muscles[::part], skeleton, whole.scapulae, volume=whole.volume)
        tense = np.linspace(1.0, 1.3, len(some.muscles))

        def make() -> Posed:
            surfaces = spindle_surfaces(some.spindles, rings=rings, sides=sides)  # noqa: B023  called at once
            shares = pair.muscles.skin_round.shares
            drawn = SpindlesInFlesh(some, surfaces, shares, binding)  # noqa: B023
            return lambda frame: drawn.points(moved[frame], tense)  # noqa: B023

        yield measured(f"template, {method}", len(some.muscles), (rings, sides), make)


def found() -> Iterator[Row]:
    """Muscles found in the same man's skin, through the same motion."""
    character = read_character(PERSON)
    rig = create_rig(character, PERSON, PERSON.with_suffix(".ecorche"), muscles=False)
    rig, _ = with_extracted_muscles(rig, character)
    frames = perform(character, read_motion(motion_file(DATA, "raise")), rig=rig).take.frames
    assert isinstance(frames, LiveFrames)
    assert frames.body.lofts is not None
    whole, moved = frames.body.lofts.lofts, _moved(frames.motion)
    tense = np.linspace(1.0, 1.3, len(whole.muscles))
    for rings, sides in SIZES:

        def make() -> Posed:
            lofts = whole.within(lambda: whole.flesh)
            surfaces = loft_surfaces(lofts, rings=rings, sides=sides)  # noqa: B023  called at once
            surfaces.points(lofts.posed(moved[0], tense))
            return lambda frame: surfaces.points(lofts.posed(moved[frame], tense))

        yield measured("found in the skin", len(whole.muscles), (rings, sides), make)


def _moved(motion: Motion) -> list[Floats]:
    places = np.linspace(0, motion.frame_count - 1, FRAMES).astype(int)
    return [difference_from_bind(motion.skeleton, motion.local[place]) for place in places]


def section() -> str:
    """The section of the report."""
    if not PERSON.exists():
        return "## Surfaces of muscles\n\nNot measured: the data is not here."
    load = os.getloadavg()[0]
    rows = [*template(), *found()]
    largest = max(row.muscles for row in rows)
    linear, contour = (row for row in rows if (row.muscles, row.size) == (largest, ASKED))
    return "\n".join(
        [
            "## Surfaces of muscles",
            "",
            "All muscles of the muscular man as closed surfaces in the flesh, with their volume, while he"
            f" raises his arms: {FRAMES} frames, of each the best of {ROUNDS} rounds. Prepared once, in"
            " processor time; the flesh of muscles found in the skin is known before. Others used the two"
            f" cores at the same time, which the clock shows: load {load:.1f} when this began.",
            "",
            "| muscles | | rings × sides | vertices | processor time, one thread [ms]"
            " | by the clock, two [ms] | ns a vertex | prepared [s] | memory kept [MiB]"
            " | most while preparing [MiB] |",
            "|---|---|---|---|---|---|---|---|---|---|",
            *(str(row) for row in rows),
            "",
            f"Asked: the template at {ASKED[0]} × {ASKED[1]} within {WANTED:g} ms on two cores. It takes"
            f" {linear.processor:.2f} ms of processor time ({linear.clock:.2f} by the clock); in flesh that"
            f" contour skinning carries {contour.processor:.2f} ms ({contour.clock:.2f}).",
        ]
    )


if __name__ == "__main__":
    print(section())
