"""What a crowd costs where fewer muscles and coarser meshes serve those far away.

The muscular man of 13,380 vertices with all muscles of the template, walking, running and jumping, seen from
eye level by the first row in a picture 1,080 high. Times are of skin, muscles and normals of whole frames,
one after another as a film has them, the cases by turns.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from benchmarks.bodies import DATA
from benchmarks.decimated import decimated
from benchmarks.muscle_people import rigged
from benchmarks.timing import timing
from ecorche.body.crowd import Crowd, make_crowd
from ecorche.body.crowd_frames import CrowdFrames
from ecorche.body.lod import Level, lod_distance, lod_programs
from ecorche.io.formats import read_motion
from ecorche.render.crowd_camera import crowd_camera

PERSON = DATA / "human" / "male_muscular_cmu_mb.glb"
TRIANGLES = 12_000, 4_000
BEYOND = 8.0, 20.0
"""From where on the two coarser meshes are shown [m]."""
FRAMES, SIZE = 24, (1920, 1080)


@cache
def _crowd(count: int) -> Crowd:
    character, rig = rigged(PERSON)
    motions = [read_motion(file) for file in sorted((DATA / "cmu").glob("*.bvh"))]
    return make_crowd(character, rig, motions, count=count, body_types=2)


@cache
def _levels() -> tuple[Level, ...]:
    crowd = _crowd(25)
    faces = np.arange(len(crowd.character.meshes[0].mesh.triangles()))
    return tuple(
        Level(
            f"{count:,} triangles",
            beyond,
            lod_programs(crowd.character, crowd.rigs, decimated(crowd.character, faces, count)),
        )
        for count, beyond in zip(TRIANGLES, BEYOND, strict=True)
    )


def section() -> str:
    """The section of the report."""
    if not PERSON.exists():
        return "## Crowds far and near\n\nNot measured: the data is not here."
    lines = [
        "## Crowds far and near",
        "",
        "The muscular man of 13,380 vertices with all muscles, seen from eye level by the first row, 1,080"
        " pixels high. Milliseconds of skin, muscles and normals a frame, and the share of muscles that were"
        " there. *Levels* are meshes of 12,000 triangles from 8 m on and 4,000 from 20 m on; *budget* is half"
        " of what everything takes.",
        "",
        "| members | everything | muscles fade | and levels | and budget |",
        "|---|---|---|---|---|",
        *map(_row, (25, 100)),
        "",
        "| mesh | vertices | from the full skin in motion, rms [mm] | at most [mm] |",
        "|---|---|---|---|",
        *map(_level, range(len(TRIANGLES))),
    ]
    return "\n".join(lines)


def _row(count: int) -> str:
    crowd, times = _crowd(count), np.arange(FRAMES) / 30.0
    eye = crowd_camera(crowd, times, SIZE, camera="eye").eye(SIZE[1])
    whole = _taken([CrowdFrames(crowd)], times)[0]
    cells = _taken(
        [
            CrowdFrames(crowd, eye=eye, fading=False),
            CrowdFrames(crowd, eye=eye),
            CrowdFrames(crowd, eye=eye, levels=_levels()),
            CrowdFrames(crowd, eye=eye, seconds=0.5e-3 * whole[0]),
        ],
        times,
    )
    told = " | ".join(f"{taken:.1f} ({100.0 * shown:.0f} %)" for taken, shown in cells)
    return f"| {count} | {told} |"


def _taken(
    cases: list[CrowdFrames], times: np.ndarray[tuple[int], np.dtype[np.float64]]
) -> list[tuple[float, float]]:
    """Median milliseconds of each case, and the share of muscles in the last frame."""
    taken: list[list[float]] = [[] for _ in cases]
    for time in times.tolist():
        for case, own in zip(cases, taken, strict=True):
            case.frame(time)
            own.append(1e3 * case.taken)
    return [(timing(own[4:]).median, case.shown) for case, own in zip(cases, taken, strict=True)]


def _level(number: int) -> str:
    crowd, level = _crowd(25), _levels()[number]
    members = crowd.of_type(0)
    moved, active = crowd.difference(members, 1.1), crowd.activation(members, 1.1)
    apart = 1e3 * lod_distance(crowd.programs[0], level.programs[0], moved, active)
    vertices = len(level.programs[0].points)
    return f"| {level.name} | {vertices:,} | {np.sqrt((apart**2).mean()):.2f} | {apart.max():.1f} |"


if __name__ == "__main__":
    print(section())
