"""Where the muscles of a rig run at bind, whatever kind they are: the middle of each belly, and how thick.

Of a muscle of the template that is its path; of one found in the skin the centres of its rings; of a mesh on
action lines the mean of its lines. Only where a muscle is at least half as thick as at its thickest: tendons
run close to each other, bellies lie apart.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ecorche.body.line_specs import line_muscles_of
from ecorche.body.lofted_specs import lofted_muscles_of
from ecorche.body.muscle_specs import muscles_of
from ecorche.document.files import Rig
from ecorche.muscles.extraction.redrawn import space_rings_of
from ecorche.muscles.line_muscle import LineMuscle
from ecorche.muscles.lofted import LoftedMuscle
from ecorche.muscles.musculature import musculature
from ecorche.skeleton.skeleton import Skeleton

Floats = npt.NDArray[np.float64]

STATIONS = 25
"""Along a muscle, of which those in its belly are kept."""
BELLY = 0.5
"""Share of the largest thickness from which on it is belly."""


@dataclass(frozen=True, eq=False)
class Course:
    """A muscle of a rig at bind.

    Attributes:
        name: Its own name.
        muscle: What it is a part of.
        ends: Origin and insertion [m], (2, 3).
        joints: Of these; one beyond the skeleton's own is a virtual scapula.
        belly: Points along the middle of its belly, from the origin's end [m], (N, 3).
        radius: Of a circle as large as its largest section [m].
    """

    name: str
    muscle: str
    ends: Floats
    joints: tuple[int, int]
    belly: Floats
    radius: float


def muscle_courses(rig: Rig, skeleton: Skeleton) -> tuple[Course, ...]:
    """Where all muscles of a rig run: template, found, meshes, in the order of `Body.activation`."""
    return (
        *_spindles(rig, skeleton),
        *(_loft(muscle) for muscle in lofted_muscles_of(rig, skeleton)),
        *(_mesh(muscle) for muscle in line_muscles_of(rig, skeleton)),
    )


def _spindles(rig: Rig, skeleton: Skeleton) -> list[Course]:
    muscles, scapulae = muscles_of(rig, skeleton)
    if not muscles:
        return []
    made = musculature(muscles, skeleton, scapulae)
    t = np.linspace(0.0, 1.0, STATIONS)
    points, thickness = made.frames.paths.bind.at(t)[0], made.spindles.thickness_at(t)
    found = []
    for muscle, line, thick, scale in zip(muscles, points, thickness, made.spindles.scale, strict=True):
        in_belly = thick >= BELLY * thick.max()
        radius = float(np.sqrt(scale) * thick.max())
        ends = np.array([muscle.positions[0], muscle.positions[-1]])
        joints = muscle.joints[0], muscle.joints[-1]
        found.append(Course(muscle.name, muscle.muscle, ends, joints, line[in_belly], radius))
    return found


def _loft(muscle: LoftedMuscle) -> Course:
    size = np.sqrt(np.prod(muscle.rings.half_axes, axis=1))
    middle = space_rings_of(muscle).centre[size >= BELLY * size.max()]
    ends = np.asarray(muscle.ends, np.float64)
    return Course(muscle.name, muscle.muscle, ends, muscle.joints, middle, float(size.max()))


def _mesh(muscle: LineMuscle) -> Course:
    share = np.linspace(0.0, 1.0, STATIONS)
    lines, bellies = [], []
    for line in muscle.lines:
        nodes = line.places()
        steps = np.linalg.norm(np.diff(nodes, axis=0), axis=1)
        arc = np.append(0.0, np.cumsum(steps)) / steps.sum()
        lines.append(np.column_stack([np.interp(share, arc, axis) for axis in nodes.T]))
        flesh = ~np.array(line.tendon) if line.tendon else np.ones(len(steps), bool)
        bellies.append(flesh[np.clip(np.searchsorted(arc, share, side="right") - 1, 0, len(steps) - 1)])
    middle, in_belly = np.mean(lines, axis=0), np.mean(bellies, axis=0) > 0.5
    corners = (muscle.points - muscle.points.mean(axis=0))[muscle.triangles]
    volume = abs(float(np.sum(corners[:, 0] * np.cross(corners[:, 1], corners[:, 2])))) / 6.0
    belly = middle[in_belly] if in_belly.any() else middle
    length = max(float(np.linalg.norm(np.diff(belly, axis=0), axis=1).sum()), 1e-9)
    joints = muscle.lines[0].joints
    radius = float(np.sqrt(volume / (np.pi * length)))
    return Course(muscle.name, muscle.muscle, middle[[0, -1]], joints, belly, radius)
