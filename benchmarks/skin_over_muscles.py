"""How well the skin keeps over what lies beneath: depth in muscles, acceleration, girth and volume.

A vertex counts as deep in a muscle where it is inside it in a frame, told by winding numbers, and was outside
that muscle at bind. The surfaces are those that are drawn and written (`DrawnMuscles`): finer than those the
skin was coupled to, and given way where skin is pressed into them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import igl
import numpy as np
import numpy.typing as npt

from benchmarks import limb_shape, mesh_muscle_motions
from benchmarks.bodies import DATA
from benchmarks.muscle_people import PEOPLE, motion_file, rigged
from ecorche.body.drawn_muscles import DrawnMuscles
from ecorche.body.ecorche_surfaces import EcorcheSurfaces
from ecorche.body.live_frames import LiveFrames
from ecorche.body.perform import perform
from ecorche.document.coupling_spec import CouplingSpec
from ecorche.io.formats import read_motion

Floats = npt.NDArray[np.float64]

FEEL = 1.0
"""Acceleration below which nobody sees a difference [m/s²]: a tenth of gravity's."""


DEEP = 0.002
"""How deep skin may be in a muscle [m]."""


@dataclass(frozen=True, eq=False)
class Depths:
    """How deep skin is in muscles [m] over some frames, and where.

    Attributes:
        worst: Of each frame, (frames,).
        deep: How many vertices are more than 2 mm deep, of each frame.
        muscle: The muscle of the worst.
        vertex: The vertex of the worst.
        plain: The worst of skin that is left to plain skinning, such as that of hands, (frames,).
    """

    worst: Floats
    deep: npt.NDArray[np.int64]
    muscle: list[str]
    vertex: list[int]
    plain: Floats


class Beneath:
    """The muscles of a body, asked how deep its skin is in them."""

    def __init__(self, live: LiveFrames) -> None:
        self.live, self.drawn = live, DrawnMuscles(live)
        self.surfaces, at_bind, coupling = self.drawn.surfaces, self.drawn.at_bind(), live.body.coupling
        assert coupling is not None
        self.skin, self.coupled = coupling.skin, coupling.by_heights > 0.0
        bind = live.body.character.meshes[self.skin].mesh.points
        self.parts = muscle_parts(self.surfaces)
        self.inside_at_bind = [inside > 0.0 for inside in self._depths(bind, at_bind)]

    def depths(self, frames: Sequence[int], *, giving_way: bool = True) -> Depths:
        """Over frames of the motion; also as if muscles did not give way to skin that presses on them."""
        worst, deep, muscle, vertex, plain = [], [], [], [], []
        for index in frames:
            frame = self.live[index]
            points = self.drawn.points(index, frame) if giving_way else self.drawn.before_giving_way(index)
            depth = np.zeros(len(frame.points[self.skin]))
            of = np.full(len(depth), -1)
            found = self._depths(frame.points[self.skin], points)
            for number, (one, before) in enumerate(zip(found, self.inside_at_bind, strict=True)):
                one[before] = 0.0
                of[one > depth] = number
                depth = np.maximum(depth, one)
            plain.append(depth[~self.coupled].max(initial=0.0))
            depth[~self.coupled] = 0.0
            place = int(depth.argmax())
            worst.append(depth[place])
            deep.append(int((depth > DEEP).sum()))
            muscle.append(self.surfaces.names[of[place]] if of[place] >= 0 and depth[place] > 0.0 else "")
            vertex.append(place)
        return Depths(np.array(worst), np.array(deep), muscle, vertex, np.array(plain))

    def _depths(self, skin: npt.NDArray[np.float32], points: npt.NDArray[np.float32]) -> list[Floats]:
        """How deep each vertex is in each muscle [m], 0 outside, each (vertices,)."""
        found = []
        for vertices, triangles in self.parts:
            muscle = points[vertices].astype(np.float64)
            depth = np.zeros(len(skin))
            near = np.flatnonzero(((skin > muscle.min(0)) & (skin < muscle.max(0))).all(axis=1))
            if len(near):
                asked = skin[near].astype(np.float64)
                inside = igl.fast_winding_number(muscle, triangles, asked) > 0.5
                if inside.any():
                    away = igl.point_mesh_squared_distance(asked[inside], muscle, triangles)[0]
                    depth[near[inside]] = np.sqrt(away)
            found.append(depth)
        return found


def muscle_parts(surfaces: EcorcheSurfaces) -> list[tuple[slice, npt.NDArray[np.int64]]]:
    """Vertices of each muscle, which lie together, and its triangles numbered within them."""
    parts, of = [], surfaces.muscle[surfaces.triangles[:, 0]]
    for number in range(len(surfaces.names)):
        own = np.flatnonzero(surfaces.muscle == number)
        triangles = surfaces.triangles[of == number].astype(np.int64) - own[0]
        parts.append((slice(int(own[0]), int(own[-1]) + 1), triangles))
    return parts


def accelerations(live: LiveFrames, mesh: int) -> Floats:
    """The greatest acceleration of each vertex over a motion [m/s²], (vertices,)."""
    most = np.zeros(live.body.character.meshes[mesh].mesh.vertex_count)
    held: list[Floats] = []
    step = float(np.median(np.diff(live.times)))
    for index in range(len(live)):
        held = [*held[-2:], live[index].points[mesh].astype(np.float64)]
        if len(held) == 3:
            bend = held[2] - 2.0 * held[1] + held[0]
            most = np.maximum(most, np.linalg.norm(bend, axis=1) / step**2)
    return most


def volume_given_way(beneath: Beneath, frames: Sequence[int]) -> tuple[float, str]:
    """The most that a muscle loses of its volume by giving way over some frames, a share, and which."""
    worst, muscle = 0.0, ""
    for index in frames:
        before, after = beneath.drawn.before_giving_way(index), beneath.drawn.points(index)
        if before.tobytes() == after.tobytes():
            continue
        held = [
            np.array([_volume(points[own], corners) for own, corners in beneath.parts])
            for points in (before, after)
        ]
        change = held[1] / held[0] - 1.0
        if change.min() < worst:
            worst, muscle = float(change.min()), beneath.surfaces.names[int(change.argmin())]
    return worst, muscle


def _volume(points: npt.NDArray[np.float32], triangles: npt.NDArray[np.int64]) -> float:
    a, b, c = (points[triangles[:, k]].astype(np.float64) - points.mean(axis=0) for k in range(3))
    return float(np.sum(np.cross(a, b) * c))


SHOWN = {
    "muscular man": ("curl", "raise", "squat", "walk", "run", "jump"),
    "average man": ("squat", "walk"),
    "slim man": ("squat", "walk"),
    "woman": ("squat", "walk"),
}
"""Who does what."""
ASKED = {"muscular man": 10.0, "average man": 4.0, "slim man": 4.0, "woman": 4.0}
"""In how many frames a second depths are asked for; acceleration is that of every frame."""
SELDOM = 4
"""Every so manieth of these is also asked as if muscles did not give way."""


def coupled(path: Path, motion: str) -> tuple[LiveFrames, LiveFrames]:
    """A person in a motion, with fascia and by plain skinning."""
    character, rig = rigged(path)
    spec = rig.spec.model_copy(update={"coupling": CouplingSpec(everywhere="fascia")})
    live = perform(character, read_motion(motion_file(DATA, motion)), rig=replace(rig, spec=spec)).take.frames
    assert isinstance(live, LiveFrames)
    return live, LiveFrames(live.body.without_muscles(), live.motion)


def row(who: str, what: str, live: LiveFrames, plain: LiveFrames, asked: float) -> str:
    """A row of the table.

    Args:
        who, what: The body and its motion.
        live, plain: Its frames with coupling and without.
        asked: In how many frames a second depths are asked for.
    """
    step = float(np.median(np.diff(live.times)))
    frames = range(0, len(live), max(1, round(1.0 / (asked * step))))
    beneath = Beneath(live)
    depths, before = beneath.depths(frames), beneath.depths(frames[::SELDOM], giving_way=False)
    shrunk, muscle = volume_given_way(beneath, frames[::SELDOM])
    ours, theirs = (accelerations(each, beneath.skin) for each in (live, plain))
    ratio = ours / np.maximum(theirs, FEEL)
    return (
        f"| {who}, {what} | {1e3 * depths.worst.max():.1f} | {depths.deep.max()}"
        f" | {1e3 * before.worst.max():.1f} {before.muscle[int(before.worst.argmax())]} | {before.deep.max()}"
        f" | {100.0 * shrunk:.1f} % {muscle} | {1e3 * depths.plain.max():.1f}"
        f" | {ratio.max():.2f} | {int((ratio > 2.0).sum())} |"
    )


HEAD = (
    "| | in muscles [mm] | vertices > 2 mm | before muscles give way [mm] | vertices > 2 mm"
    " | muscles lose at most | hands, feet, head [mm] | acceleration | vertices > 2 |\n"
    "|---|---|---|---|---|---|---|---|---|"
)


def section() -> str:
    """The section of the report."""
    if not DATA.exists():
        return "## Skin over muscles\n\nNot measured: the data is not here."
    rows = [
        row(who, what, *coupled(DATA / "human" / f"{PEOPLE[who]}.glb", what), ASKED[who])
        for who, motions in SHOWN.items()
        for what in motions
    ]
    rows += [row(*motion, asked=ASKED["woman"]) for motion in mesh_muscle_motions.motions()]
    return "\n".join(
        [
            "## Skin over muscles",
            "",
            "People with the template, a dog and a man's leg with meshes of their muscles, each joint through"
            " its range and back, skin coupled by fascia, through whole motions. *In muscles*: how deep"
            " a vertex of the skin is inside a muscle that it was outside of at bind, told by winding"
            " numbers, at most, and how many are deeper than 2 mm, in the worst frame. The muscles are as"
            " they are drawn and written, where they give way to skin that is pressed into them in folds and"
            " by other limbs; beside it how deep skin would be if they did not, and how much of its volume"
            " the muscle loses that gives way most. Hands, feet and head are left to plain skinning and may"
            " go through a thigh. *Acceleration*: the greatest ratio of a vertex's greatest acceleration to"
            f" that by plain skinning (or {FEEL:g} m/s²), over all frames. Asked: 2 mm and twice. Depths in"
            f" {ASKED['muscular man']:g} frames a second of the muscular man, {ASKED['woman']:g} of others;"
            f" every {SELDOM}th of these without giving way.",
            "",
            HEAD,
            *rows,
            "",
            "A forearm twisted and an elbow bent; asked: 3 %.",
            "",
            limb_shape.table(),
        ]
    )


if __name__ == "__main__":
    print(section())
