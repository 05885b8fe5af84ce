"""How deep muscles press into each other, before they give way to each other and after.

    python -m benchmarks.muscles_apart

Told by winding numbers and distances, which nothing of the method uses: vertices of bellies that are inside
another muscle and were not at bind.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import igl
import numpy as np
import numpy.typing as npt

from benchmarks import mesh_muscle_motions
from benchmarks.bodies import DATA
from benchmarks.muscle_people import PEOPLE
from benchmarks.skin_over_muscles import coupled, muscle_parts
from ecorche.body.drawn_muscles import DrawnMuscles
from ecorche.body.live_frames import LiveFrames

Floats = npt.NDArray[np.float64]
Singles = npt.NDArray[np.float32]
Bools = npt.NDArray[np.bool_]

SHOWN = {"muscular man": ("curl", "raise", "squat", "walk"), "woman": ("squat",)}
FRAMES = 6
"""Of each motion, evenly spread."""
DEEP = 1e-3
"""What counts as deep [m]."""
BELLY = 0.5
"""From which share of the greatest width vertices are a belly's."""


@dataclass(frozen=True)
class Pressed:
    """Bellies in other muscles over some frames.

    Attributes:
        deep: Vertices deeper than `DEEP` in the worst frame.
        worst: The deepest [m].
    """

    deep: int
    worst: float


class Others:
    """The muscles of a body, asked how deep they are in each other."""

    def __init__(self, live: LiveFrames) -> None:
        self.drawn = DrawnMuscles(live)
        surfaces = self.drawn.surfaces
        self._parts = muscle_parts(surfaces)
        self.bellies = np.flatnonzero(surfaces.width > BELLY)
        self._owner = surfaces.muscle[self.bellies]
        self._at_bind = self._inside(self.drawn.at_bind())

    def depths(self, points: Singles) -> Floats:
        """How deep bellies are in others that they were outside of at bind [m], (bellies,)."""
        asked, deep = points[self.bellies].astype(np.float64), np.zeros(len(self.bellies))
        for number, inside in enumerate(self._inside(points)):
            new = np.flatnonzero(inside & ~self._at_bind[number])
            if len(new):
                vertices, triangles = self._parts[number]
                away = igl.point_mesh_squared_distance(
                    asked[new], points[vertices].astype(np.float64), triangles
                )
                deep[new] = np.maximum(deep[new], np.sqrt(away[0]))
        return deep

    def _inside(self, points: Singles) -> list[Bools]:
        """Which bellies are inside each muscle, each (bellies,)."""
        asked, found = points[self.bellies].astype(np.float64), []
        for number, (vertices, triangles) in enumerate(self._parts):
            muscle = points[vertices].astype(np.float64)
            inside = np.zeros(len(asked), np.bool_)
            near = ((asked > muscle.min(0)) & (asked < muscle.max(0))).all(axis=1) & (self._owner != number)
            where = np.flatnonzero(near)
            if len(where):
                inside[where] = igl.fast_winding_number(muscle, triangles, asked[where]) > 0.5
            found.append(inside)
        return found

    def over(self, frames: npt.NDArray[np.int64], *, apart: bool) -> Pressed:
        """In the worst of some frames, with giving way to each other alone or with nothing."""
        found = [self.depths(self._points(int(index), apart)) for index in frames]
        return Pressed(max(int((deep > DEEP).sum()) for deep in found), max(deep.max() for deep in found))

    def _points(self, index: int, apart: bool) -> Singles:
        return self.drawn.among_each_other(index) if apart else self.drawn.before_giving_way(index)

    def milliseconds(self, frames: npt.NDArray[np.int64]) -> float:
        """Processor time that giving way to each other takes a frame."""
        spent = []
        for index in frames:
            start = time.process_time()
            self.drawn.before_giving_way(int(index))
            between = time.process_time()
            self.drawn.among_each_other(int(index))
            spent.append(time.process_time() - between - (between - start))
        return 1e3 * float(np.median(spent))


def row(who: str, what: str, live: LiveFrames) -> str:
    """A row of the table."""
    others = Others(live)
    frames = np.linspace(0, len(live) - 1, FRAMES + 2).astype(np.int64)[1:-1]
    before, after = others.over(frames, apart=False), others.over(frames, apart=True)
    return (
        f"| {who}, {what} | {len(others.bellies):,} | {before.deep:,} | {1e3 * before.worst:.1f}"
        f" | {after.deep:,} | {1e3 * after.worst:.1f} | {others.milliseconds(frames):.0f} |"
    )


def section() -> str:
    """The section of the report."""
    if not DATA.exists():
        return "## Muscles that press on each other\n\nNot measured: the data is not here."
    rows = [
        row(who, what, coupled(DATA / "human" / f"{PEOPLE[who]}.glb", what)[0])
        for who, motions in SHOWN.items()
        for what in motions
    ]
    rows += [row(who, what, live) for who, what, live, _ in mesh_muscle_motions.motions()]
    return "\n".join(
        [
            "## Muscles that press on each other",
            "",
            "Vertices of bellies inside another muscle that they were outside of at bind, told by winding"
            f" numbers: how many are more than {1e3 * DEEP:g} mm deep, and the deepest, in the worst of"
            f" {FRAMES} frames of a motion; as muscles are shaped each by itself, and as they are drawn,"
            " where both give way. How they lie in each other at bind stays. Processor time a frame of giving"
            " way to each other.",
            "",
            "| | bellies' vertices | deep before | deepest [mm] | deep after | deepest [mm] | time [ms] |",
            "|---|---|---|---|---|---|---|",
            *rows,
        ]
    )


if __name__ == "__main__":
    print(section())
