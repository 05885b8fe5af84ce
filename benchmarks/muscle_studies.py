"""Muscles on five people in eight motions: how far, how smooth in space, how smooth in time."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np

from benchmarks.bodies import DATA
from benchmarks.muscle_people import (
    CAPTURED,
    KEYED,
    PEOPLE,
    half_axes,
    motion_file,
    performed,
    refined,
    rigged,
)
from benchmarks.skin_smoothness import FLOOR, WINDOW, crease, edges_of, jerk
from ecorche.body.compile import compile_body
from ecorche.body.evaluate import Pose

SHOWN: tuple[tuple[str, float | None], ...] = (*((name, None) for name in (*CAPTURED, *KEYED)), ("fist", 1.0))
"""Motions with muscles driven by the joints, and a fist with every muscle fully active."""
SEEN = {"curl": 60, "squat": 60, "raise": 63, "jump": 160}
"""Frames in which these motions have their muscles bulge most."""
GLITCH = 10.0
"""Degrees by which no joint turns within 1/120 s; where one does, the recording itself jumps."""


def section() -> str:
    """The results as markdown."""
    displacements, creases, jerks = [], [], []
    notes: list[str] = []
    for person, file in PEOPLE.items():
        path = DATA / "human" / f"{file}.glb"
        displacements.append(f"| {person} | " + " | ".join(_displacement(path, *s) for s in SHOWN) + " |")
        creases.append(f"| {person} | " + " | ".join(_creases(path)) + " |")
        told = [_jerk(path, motion, person, notes) for motion in CAPTURED]
        jerks.append(f"| {person} | " + " | ".join(told) + " |")
    heads = [f"{name}, all active" if full else name for name, full in SHOWN]
    poses = [*SEEN, "all active at bind"]
    listed = "\n".join(f"- {note}" for note in notes) or "- none"
    return f"""## Muscles shown on five people

Largest displacement of a vertex by its muscles [mm], and its ratio to the half-axis ``s_f C_T(t)`` of the
thickest muscle over it, which is the limit asked for. Captured motions every 20th frame, keyed ones every
third.

{_table(heads, displacements)}

Creases: root mean square change of the dihedral angle from plain skinning to the skin with muscles, at the
borders of the muscles' influence / within it [degrees]; first on a skin with four times as many triangles
(Loop's rule), then on one with sixteen times. Without fades both are about alike.

{_table(poses, creases)}

Accelerations at 120 Hz of the skin that muscles move: the largest of each vertex over its largest by plain
skinning, worst vertex; in brackets how many of a million windows of {WINDOW:g} s exceed twice plain
skinning's, where plain accelerations below {FLOOR:g} m/s² count as that. The first frame, a T-pose that the
recordings begin with, is left out.

{_table(list(CAPTURED), jerks)}

Windows above twice:

{listed}
"""


def _table(heads: list[str], rows: list[str]) -> str:
    return "\n".join([f"| person | {' | '.join(heads)} |", "|---|" + "---|" * len(heads), *rows])


def _displacement(path: Path, motion: str, activation: float | None) -> str:
    pair = performed(path, motion_file(DATA, motion), activation)
    limits = half_axes(pair.muscles)
    most, share = 0.0, 0.0
    for index in range(0, len(pair.muscled), 20 if motion in CAPTURED else 3):
        muscled, plain = pair.skins(index)
        assert np.isfinite(muscled).all()
        moved = np.linalg.norm(muscled - plain, axis=1)
        most = max(most, float(moved.max()))
        share = max(share, float((moved[limits > 0.0] / limits[limits > 0.0]).max()))
    return f"{1000.0 * most:.1f}; {share:.2f}"


def _creases(path: Path) -> list[str]:
    character, rig = rigged(path)
    poses = []
    for motion, index in SEEN.items():
        frames = performed(path, motion_file(DATA, motion)).muscled
        assert frames.activation is not None
        poses.append(Pose(frames.motion.local[index], activation=frames.activation[index]))
    full = np.ones(len(rig.spec.muscles.named))
    poses.append(Pose(character.skeleton.bind_local, activation=full))
    found: list[list[str]] = [[] for _ in poses]
    for times in (1, 2):
        fine = refined(character, times)
        muscled, plain = compile_body(fine, rig=rig), compile_body(fine)
        edges = edges_of(fine.meshes[0].mesh.triangles())
        for told, pose in zip(found, poses, strict=True):
            seen = crease(muscled, plain, edges, pose)
            told.append(f"{np.degrees(seen.border):.1f} / {np.degrees(seen.inside):.1f}")
    return ["; ".join(told) for told in found]


def _jerk(path: Path, motion: str, person: str, notes: list[str]) -> str:
    pair = performed(path, motion_file(DATA, motion))
    found = jerk(pair, 1, len(pair.muscled) - 1)
    above = found.in_windows > 2.0
    turns = pair.muscled.motion.local[1:, :, :3, :3]
    between = np.einsum("fjab,fjac->fjbc", turns[:-1], turns[1:])
    angle = np.degrees(np.arccos(np.clip(0.5 * (np.trace(between, axis1=2, axis2=3) - 1.0), -1.0, 1.0)))
    if above.any():
        muscles, influences = pair.muscles.musculature, pair.muscles.influences
        names: Counter[str] = Counter()
        for vertex in found.vertices[above.any(axis=0)]:
            for entry in range(influences.starts[vertex], influences.starts[vertex + 1]):
                names[muscles.names[influences.muscles[entry]]] += 1
        frames = np.flatnonzero(above.any(axis=1)) + 2
        jumps = [
            f"{pair.muscled.motion.skeleton.names[j]} turns {angle[f, j]:.0f} degrees in frame {f + 2}"
            for f, j in np.argwhere(angle > GLITCH)
            if frames[0] - 20 <= f + 2 <= frames[-1] + 20
        ]
        why = f"; the recording jumps: {', '.join(jumps[:2])}" if jumps else ""
        listed = ", ".join(f"{name} ({count} vertices)" for name, count in names.most_common(3))
        notes.append(
            f"{person}, {motion}, frames {frames[0]} to {frames[-1]}: {listed}, at most"
            f" {found.in_windows.max():.1f} times{why}"
        )
    return f"{found.over_motion.max():.2f} ({1e6 * above.mean():.0f})"


if __name__ == "__main__":
    print(section())
