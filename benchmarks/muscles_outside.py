"""How far the template's muscles stand outside the skin that they move: five people in eight motions.

As they are drawn, in the flesh (`spindles_in_flesh`). Told by winding numbers, which folded skin does not
mislead, against the resulting skin: plain skinning and what the muscles add.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import igl
import numpy as np
import numpy.typing as npt

from benchmarks.bodies import DATA
from benchmarks.muscle_people import CAPTURED, KEYED, PEOPLE, Pair, motion_file, performed
from ecorche.muscles.spindle_mesh import SpindleSurfaces, spindle_surfaces
from ecorche.muscles.spindles_in_flesh import SpindlesInFlesh
from ecorche.skeleton.kinematics import difference_from_bind

Floats = npt.NDArray[np.float64]

HELD = {"curl": 42, "squat": 47, "raise": 54, "fist": 30}
"""The frame of each keyed motion in which the pose is held."""
SAMPLES = 4
"""Frames of a captured motion, evenly over it."""


def outside(pair: Pair, index: int) -> list[Floats]:
    """How far the points of each muscle's surface are outside the resulting skin in a frame [m], within 0."""
    character = pair.muscled.body.character
    difference = difference_from_bind(character.skeleton, pair.muscled.motion.local[index])
    assert pair.muscled.activation is not None
    surfaces, drawn = _drawn(pair)
    points = drawn.points(difference, pair.muscles.bulge(pair.muscled.activation[index]))
    skin, _ = pair.skins(index)
    triangles = character.meshes[pair.muscles.skin].mesh.triangles().astype(np.int64)
    without = igl.fast_winding_number(skin, triangles, points) < 0.5
    gap = np.zeros(len(points))
    if without.any():
        gap[without] = np.sqrt(igl.point_mesh_squared_distance(points[without], skin, triangles)[0])
    return np.split(gap, surfaces.vertex_starts[1:-1])


@cache
def _drawn(pair: Pair) -> tuple[SpindleSurfaces, SpindlesInFlesh]:
    muscles, skin = pair.muscles.musculature, pair.muscles.skin_round
    surfaces = spindle_surfaces(muscles.spindles)
    return surfaces, SpindlesInFlesh(muscles, surfaces, skin.shares, skin.binding)


def looked_at(pair: Pair, motion: str) -> list[int]:
    """Frames to look at: the one in which a pose is held, or some of a captured motion."""
    if motion in HELD:
        return [HELD[motion]]
    return [int(i) for i in np.linspace(0, len(pair.muscled) - 1, SAMPLES + 2)[1:-1]]


def worst(data: Path, person: str, motion: str) -> Iterator[tuple[str, float, float]]:
    """Each muscle's name, its worst point and what 95 of 100 points stay within [m], over the frames."""
    pair = performed(data / "human" / f"{PEOPLE[person]}.glb", motion_file(data, motion))
    gaps = [outside(pair, index) for index in looked_at(pair, motion)]
    for name, of_muscle in zip(pair.muscles.musculature.names, zip(*gaps, strict=True), strict=True):
        yield (
            name,
            max(float(g.max()) for g in of_muscle),
            max(float(np.percentile(g, 95)) for g in of_muscle),
        )


def section() -> str:
    """The section of the report."""
    if not (DATA / "human").is_dir():
        return "## Muscles under the posed skin\n\nNot measured: the data is not here."
    motions = (*KEYED, *CAPTURED)
    lines = [
        "## Muscles under the posed skin",
        "",
        "How far the template's muscles, as they are drawn, leave the resulting skin [mm]: the worst point of"
        " the worst muscle, and in brackets what 95 of 100 points of every muscle stay within. Keyed poses as"
        f" they are held, {SAMPLES} frames of each captured motion.",
        "",
        f"| person | {' | '.join(motions)} |",
        f"|---|{'---|' * len(motions)}",
    ]
    for person in PEOPLE:
        cells = []
        for motion in motions:
            rows = list(worst(DATA, person, motion))
            far, most = 1e3 * max(far for _, far, _ in rows), 1e3 * max(most for _, _, most in rows)
            cells.append(f"{far:.1f} ({most:.1f})")
        lines.append(f"| {person} | {' | '.join(cells)} |")
    return "\n".join(lines)
