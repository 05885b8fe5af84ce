"""Spindles given meshes: parametric muscles as meshes on action lines, which wrap, slide and bend as such do.

Text 002, chapter 4, has its meshes from a modeller. Here a spindle's own surface at bind becomes the mesh and
the line through the middles of its sections the action line; from then on nothing of the spindle is left.

- *Admissible* lines are bound to joints at their ends and at most points of the spindle's path; the nodes
  between are free, in front of the bones they pass.
- *Elastic* lines are bound at their ends, and at points alone on a joint. Where two points follow on one
  joint a thin ellipsoid between them attracts, as in text 003's triceps: nodes slide along it, not across.
- Where a spindle is thin it is tendon, and the straight muscle of the belly has intersections, which are
  tendon too: they keep their thickness where the flesh between swells, so that a bent belly has folds.
  Elastic lines have none: such stiff springs would be pressed together there, and buckle.
- The frames of both ends follow the joints beside the ends, not their own: a tendon hardly turns with the
  bone that it pulls on (4.5.5).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Literal

import numpy as np
import numpy.typing as npt

from ecorche.base.names import unique
from ecorche.base.rotations import normalise
from ecorche.muscles.anatomy.bones import BoneEllipsoid, deflectors_near
from ecorche.muscles.line_muscle import ActionLine, Admissible, Elastic, LineAttachment, LineMuscle
from ecorche.muscles.lines.admissible import line_through
from ecorche.muscles.lines.attached import Attached
from ecorche.muscles.lines.fields import Field, FieldEllipsoid
from ecorche.muscles.muscle import Muscle
from ecorche.muscles.musculature import Musculature
from ecorche.muscles.spindle_mesh import Stations, spindle_surfaces
from ecorche.muscles.volume import contract

Floats = npt.NDArray[np.float64]

RINGS, SIDES = 36, 16
"""Of each mesh."""
PIECES = 14
"""Segments of a line, at least; more where the path has many points."""
TENDON = 0.4
"""Share of the greatest thickness below which a muscle is tendon."""
HELD = 0.06
"""Share of its length over which an end follows the bone partly."""
CLOSE = 0.35
"""Share of its length within which a point of a path is close to the insertion."""
INTERSECTIONS: Mapping[str, tuple[float, ...]] = {"rectus abdominis": (0.42, 0.63, 0.84)}
"""Bands of tendon across a muscle, as shares of the way from its origin."""
BAND = 0.02
"""Half the breadth of such a band, as a share of the length."""
THIN = 0.0005
"""Radius of what holds an elastic line [m]."""
PULL = 0.8
"""From how far off, as a share of the way between two nodes: a node past its tip is not drawn back."""
GRIP = 10000.0
"""How firmly [N/m]."""
CLEAR = 0.75
"""A bone that had to be smaller than this share of itself to leave a line free at bind pushes no springs."""


def bone_fields(bones: Sequence[BoneEllipsoid]) -> dict[str, Field]:
    """Fields that keep lines out of bones, by the bones' names."""
    return {
        bone.bone: Field(bone.bone, (FieldEllipsoid(bone.centre, bone.radii, bone.axes, bone.joint),))
        for bone in bones
    }


def lines_from_spindles(
    muscles: Musculature, bones: Sequence[BoneEllipsoid], path: Admissible | Elastic
) -> tuple[tuple[LineMuscle, ...], dict[str, Field]]:
    """Mesh muscles in place of spindles, and the fields that bend their lines, by name.

    Args:
        muscles: The spindles on their character; joints are numbered as there.
        bones: What their lines go round, of different names.
        path: How their lines find their way.
    """
    spindles, at_bind = muscles.spindles, muscles.frames.bind
    surfaces = spindle_surfaces(spindles, rings=RINGS, sides=SIDES)
    state = contract(spindles, spindles.bind_length)
    points = surfaces.points(state, Stations(*at_bind.at(surfaces.t)))
    cuts = [INTERSECTIONS.get(m.muscle, ()) if isinstance(path, Admissible) else () for m in muscles.muscles]
    knots = [
        _knots(muscle, arc, across)
        for muscle, arc, across in zip(muscles.muscles, _arcs(muscles), cuts, strict=True)
    ]
    # one row a muscle, padded with its insertion
    t = np.ones((len(knots), max((len(k) for k, _ in knots), default=0)))
    for row, (own, _) in zip(t, knots, strict=True):
        row[: len(own)] = own
    places, along, out = at_bind.at(t)
    sweep = spindles.sweep_at(t)
    centres = places + sweep[..., :1] * out + sweep[..., 1:] * np.cross(along, out)
    between = 0.5 * (t[:, :-1] + t[:, 1:])
    widest = spindles.thickness.max(axis=(1, 2))
    thin = spindles.thickness_at(between) < TENDON * widest[:, None]
    fields, found, taken = bone_fields(bones), [], set[str]()
    whole = {bone.bone: bone for bone in bones}
    for m, muscle in enumerate(muscles.muscles):
        own, joints = knots[m]
        count = len(own)
        tendon = thin[m, : count - 1].copy()
        for cut in cuts[m]:
            tendon |= np.abs(between[m, : count - 1] - cut) < 0.5 * BAND
        near = deflectors_near(bones, centres[m, :count])
        if isinstance(path, Elastic):
            near = tuple(bone for bone in near if bone.radii[0] >= CLEAR * whole[bone.bone].radii[0])
        named = tuple(bone.bone for bone in near)
        bound = _bound(own, joints) if isinstance(path, Admissible) else _alone(joints)
        if isinstance(path, Elastic):
            _yield_between(tendon, own, bound)
            sheath = _sheath(muscle.name, centres[m, :count], joints)
            if sheath is not None:
                fields[sheath.name] = sheath
                named = (*named, sheath.name)
        designed = line_through(
            muscle.name,
            centres[m, :count],
            [max(joint, 0) for joint in joints],
            bound,
            deflectors=[one for bone in near for one in fields[bone.bone].ellipsoids],
        )
        line = ActionLine(
            tuple(designed.nodes),
            () if tendon.all() else tuple(tendon.tolist()),
            named,
            references=(muscle.joints[1], muscle.joints[-2]) if len(muscle.joints) > 2 else None,
            outward=out[m, 0],
        )
        first, last = surfaces.vertex_starts[m : m + 2]
        begin, end = surfaces.triangle_starts[m : m + 2]
        found.append(
            LineMuscle(
                muscle.name,
                points[first:last],
                surfaces.triangles[begin:end] - first,
                (line,),
                surface_name(muscle.name, taken),
                muscle.muscle,
                muscle.group,
                _side(muscle.name),
                path,
                _attachments(muscle, int(last - first), float(spindles.bind_length[m])),
                largest_bulge=muscle.largest_bulge,
                max_force=muscle.max_force,
                actions=muscle.actions,
            )
        )
    used = {name for muscle in found for line in muscle.lines for name in line.fields}
    return tuple(found), {name: field for name, field in fields.items() if name in used}


def surface_name(muscle: str, taken: set[str]) -> str:
    """What a muscle's mesh is called in the arrays file; it is added to those taken."""
    return unique(re.sub(r"[^A-Za-z0-9_ .-]", "_", muscle)[:48].lstrip(" .-") or "muscle", taken)


def _arcs(muscles: Musculature) -> list[Floats]:
    """Where the path points of each muscle lie between origin 0 and insertion 1."""
    paths = muscles.frames.paths
    found = []
    for a, b in pairwise(paths.starts.tolist()):
        arc = np.cumsum(paths.bind.segment_lengths[a:b])
        found.append(arc / arc[-1])
    return found


def _knots(muscle: Muscle, arc: Floats, cuts: Sequence[float]) -> tuple[Floats, list[int]]:
    """Where the nodes of a muscle's line lie, 0 to 1, and the joint of each, −1 for free ones."""
    parts = [np.zeros(1)]
    for low, high in pairwise(arc.tolist()):
        pieces = max(1, int(np.ceil((high - low) * PIECES)))
        parts.append(low + (high - low) * np.arange(1, pieces + 1) / pieces)
    knots = np.concatenate(parts)
    knots[-1] = 1.0
    bands = np.array([cut + d for cut in cuts for d in (-BAND, BAND)])
    held = {int(np.argmin(np.abs(knots - place))) for place in arc}
    kept = [
        row
        for row, knot in enumerate(knots)
        if row in held or not len(bands) or np.abs(bands - knot).min() > BAND
    ]
    joint = dict(zip((float(knots[row]) for row in sorted(held)), muscle.joints, strict=True))
    every = np.union1d(knots[kept], bands)
    return every, [joint.get(float(knot), -1) for knot in every]


def _bound(knots: Floats, joints: Sequence[int]) -> list[bool]:
    """Which nodes of an admissible line are bound: the points of its path.

    Not so a lone point close to the insertion and on its bone, after one on another bone: as the bones near
    each other it would throw the line into a V. The text's remedy (figure 4.19) is to leave such a node free.
    """
    bound = [joint >= 0 for joint in joints]
    held = [row for row, flag in enumerate(bound) if flag]
    if len(held) > 2:
        before, lone, end = held[-3:]
        if joints[before] != joints[lone] == joints[end] and knots[end] - knots[lone] < CLOSE:
            bound[lone] = False
    return bound


def _alone(joints: Sequence[int]) -> list[bool]:
    """Which nodes of an elastic line are bound: points of its path whose neighbours are on other joints."""
    bound, held = [False] * len(joints), [row for row, joint in enumerate(joints) if joint >= 0]
    for before, row, after in zip(held[:-2], held[1:-1], held[2:], strict=True):
        bound[row] = joints[row] not in (joints[before], joints[after])
    return bound


def _yield_between(tendon: npt.NDArray[np.bool_], knots: Floats, bound: Sequence[bool]) -> None:
    """Let what is mostly tendon between two bound nodes be belly: tendon pressed together would buckle."""
    rows = sorted({0, len(knots) - 1, *(row for row, flag in enumerate(bound) if flag)})
    if len(rows) == 2:
        return
    for a, b in pairwise(rows):
        if np.diff(knots[a : b + 1]) @ tendon[a:b] > 0.5 * (knots[b] - knots[a]):
            tendon[a:b] = False


def _sheath(name: str, nodes: Floats, joints: Sequence[int]) -> Field | None:
    """What holds an elastic line where a path had points: thin ellipsoids on their joints, along the line."""
    held = [row for row, joint in enumerate(joints) if joint >= 0]
    ellipsoids = []
    for a, b in pairwise(held):
        if joints[a] == joints[b]:
            ellipsoids.append(_rod(nodes[a], nodes[b], joints[a]))
    if not ellipsoids:
        return None
    reach = PULL * float(np.linalg.norm(np.diff(nodes, axis=0), axis=1).min())
    return Field(f"{name}, sheath", tuple(ellipsoids), "attract", strength=GRIP, reach=reach)


def _rod(begin: Floats, end: Floats, joint: int) -> FieldEllipsoid:
    along = normalise(end - begin)
    x = normalise(np.cross(along, np.eye(3)[int(np.argmin(np.abs(along)))]))
    axes = np.stack([x, np.cross(along, x), along], axis=1)
    long = max(0.5 * float(np.linalg.norm(end - begin)), THIN)
    return FieldEllipsoid(0.5 * (begin + end), np.array([THIN, THIN, long]), axes, joint)


def _attachments(muscle: Muscle, vertices: int, length: float) -> tuple[LineAttachment, ...]:
    """Both ends: a middle and the ring round it, or the point that a muscle runs out in."""
    pointed = muscle.thickness[0, 0] == 0.0, muscle.thickness[1, 3] == 0.0
    origin = np.arange(1 if pointed[0] else SIDES + 1)
    insertion = np.arange(vertices - (1 if pointed[1] else SIDES + 1), vertices)
    return (
        LineAttachment(Attached(origin, muscle.joints[0], HELD * length), "origin"),
        LineAttachment(Attached(insertion, muscle.joints[-1], HELD * length), "insertion"),
    )


def _side(name: str) -> Literal["left", "right", ""]:
    said = name.rsplit(", ", 1)[-1]
    return "left" if said == "left" else "right" if said == "right" else ""
