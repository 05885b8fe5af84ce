"""What is found in the dog's skin, held against the real muscles of its front half, which nobody here made.

Skin belongs to the real muscle nearest to it, within `UNDER_SKIN`: that is the muscle one would see there. A
found muscle covers the skin of its bumps, as wide as the sections are apart. The table says how much of each
real muscle's skin is covered, and by what; muscles with little skin of their own lie deep and are left out,
and so are the face's, which no region reads.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy.spatial import cKDTree

from benchmarks.bodies import DATA
from ecorche.base.closest_point import TriangleSurface
from ecorche.body.character import Character
from ecorche.io.formats import read_character
from ecorche.io.mujoco import Y_UP
from ecorche.io.surfaces import read_mesh
from ecorche.muscles.extraction.build import Extraction, extract_muscles
from ecorche.skeleton.naming import recognise

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

UNDER_SKIN = 0.015
"""How deep under the skin a muscle can lie that shows [m]."""
LEAST_SKIN = 10e-4
"""A muscle with less skin of its own lies deep [m²]."""


@dataclass(frozen=True)
class Row:
    """One real muscle, both sides together.

    Attributes:
        muscle: Its name.
        skin: How much skin is its own [m²].
        covered: Which share of that found muscles cover.
        by: What covers it, most first, with the share each covers.
    """

    muscle: str
    skin: float
    covered: float
    by: tuple[tuple[str, float], ...]


def dog_rows(folder: Path) -> list[Row]:
    """Every superficial muscle of the dog's front half, the one with most skin first."""
    character = read_character(folder / "dog.xml")
    points, areas, body = _skin(character)
    extraction = _found(character)
    names, own = _real_muscles(folder / "muscles", points[body])
    covers = _covered(extraction, points[body])
    rows = []
    for number, name in enumerate(names):
        mine = own == number
        skin = float(areas[body][mine].sum())
        if skin < LEAST_SKIN:
            continue
        shares = {what: float(areas[body][mine & c].sum()) / skin for what, c in covers.items()}
        under_any = np.logical_or.reduce([mine & c for c in covers.values()]) if covers else mine & False
        by = tuple(sorted(((w, s) for w, s in shares.items() if s >= 0.05), key=lambda p: (-p[1], p[0])))
        rows.append(Row(name, skin, float(areas[body][under_any].sum()) / skin, by))
    return sorted(rows, key=lambda r: (-r.skin, r.muscle))


def section() -> str:
    """The results as markdown."""
    return f"## Muscles found in the dog's skin, against its real ones\n\n{table(dog_rows(DATA / 'dog'))}"


def table(rows: list[Row]) -> str:
    """The rows as a table."""
    lines = ["| real muscle | its skin | covered | by |", "|---|---|---|---|"]
    for row in rows:
        by = ", ".join(f"{what} {share:.0%}" for what, share in row.by) or "–"
        lines.append(f"| {row.muscle} | {1e4 * row.skin:.0f} cm² | {row.covered:.0%} | {by} |")
    skin = sum(r.skin for r in rows)
    covered = sum(r.skin * r.covered for r in rows) / max(skin, 1e-12)
    lines.append(f"| all {len(rows)} | {1e4 * skin:.0f} cm² | {covered:.0%} | |")
    return "\n".join(lines)


def _found(character: Character) -> Extraction:
    body = character.body()
    assert body.weights is not None
    naming = recognise(character.skeleton)
    return extract_muscles(
        body.mesh.points, body.mesh.triangles(), body.weights.padded(), character.skeleton, naming
    )


def _skin(character: Character) -> tuple[Floats, Floats, Ints]:
    """The skin's points [m], each one's area [m²], and which are not the head's."""
    body = character.body()
    assert body.weights is not None
    points, triangles = body.mesh.points.astype(np.float64), body.mesh.triangles()
    corners = points[triangles]
    areas = 0.5 * np.linalg.norm(
        np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1
    )
    each: Floats = np.bincount(triangles.ravel(), np.repeat(areas / 3.0, 3), len(points)).astype(np.float64)
    joints, weights = body.weights.padded()
    dominant = joints[np.arange(len(joints)), weights.argmax(axis=1)]
    head = [character.skeleton.index(name) for name in ("skull", "jaw")]
    return points, each, np.flatnonzero(~np.isin(dominant, head)).astype(np.int64)


def _real_muscles(folder: Path, points: Floats) -> tuple[list[str], Ints]:
    """The muscles' names without their side, and the number of the one each point shows; −1 for none."""
    names: list[str] = []
    nearest, own = np.full(len(points), UNDER_SKIN), np.full(len(points), -1, np.int64)
    for path in sorted(folder.glob("*.stl")):
        name = _plain_name(path.stem)
        if name not in names:
            names.append(name)
        mesh = read_mesh(path)
        surface = TriangleSurface(mesh.points.astype(np.float64) @ Y_UP[:3, :3].T, mesh.triangles())
        gaps = surface.closest(points, within=UNDER_SKIN).distances
        nearer = gaps < nearest
        nearest[nearer], own[nearer] = gaps[nearer], names.index(name)
    return names, own


def _plain_name(stem: str) -> str:
    """``"MUSCm.biceps_brachii_L(2)"`` becomes ``"biceps brachii"``."""
    bare = re.sub(r"\(\d\)$", "", stem.removeprefix("MUSC"))
    bare = re.sub(r"[_.][LR]$", "", re.sub(r"^[Mm]+[._]+", "", bare))
    return bare.replace("_", " ").strip().replace("tricepsbrachii", "triceps brachii")


def _covered(extraction: Extraction, points: Floats) -> dict[str, npt.NDArray[np.bool_]]:
    """By the name of each found muscle without its side: whether it covers each point."""
    covers: dict[str, npt.NDArray[np.bool_]] = {}
    for muscle, track in zip(extraction.muscles, extraction.tracks, strict=True):
        stretches, tops = [], []
        for number in track.bumps:
            bump = extraction.bumps[number]
            curve = extraction.cuts[bump.cut].points
            stretches.append(curve[np.arange(bump.first, bump.last + 1) % len(curve)])
            tops.append(curve[bump.top % len(curve)])
        apart = float(np.median(np.linalg.norm(np.diff(tops, axis=0), axis=1)))
        gaps, _ = cKDTree(np.concatenate(stretches)).query(points, distance_upper_bound=apart)
        name = re.sub(r", (left|right)$|_[LR](?= |$)", "", muscle.name)
        covers[name] = covers.get(name, np.zeros(len(points), bool)) | np.isfinite(gaps)
    return covers


if __name__ == "__main__":
    sys.stdout.write(section() + "\n")
