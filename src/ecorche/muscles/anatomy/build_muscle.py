"""One muscle of a folder: its surface in, its action lines out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ecorche.base.signed_distance import SignedSurface
from ecorche.muscles.anatomy.anatomy_muscle import AnatomyLine, AnatomyMuscle, Attachment
from ecorche.muscles.anatomy.attachments import Ends, beyond, find_ends
from ecorche.muscles.anatomy.centroid import Sections, centroid_curve, sweep
from ecorche.muscles.anatomy.folder import AnatomyMesh, Bones
from ecorche.muscles.anatomy.holds import Hold
from ecorche.muscles.anatomy.line_joints import node_joints
from ecorche.muscles.anatomy.lines_needed import line_shares, lines_needed
from ecorche.muscles.anatomy.node_places import arc_lengths, kept_inside, line_nodes
from ecorche.muscles.anatomy.sheaths import with_held_nodes
from ecorche.muscles.anatomy.sites import Site
from ecorche.muscles.anatomy.surface_fields import SurfaceFields
from ecorche.muscles.anatomy.tendon import tendon_sections, tendon_segments
from ecorche.skeleton.skeleton import Skeleton

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

BEYOND = 0.3
"""A muscle that goes on past its attachments by more than this share of its length is told of."""


@dataclass(frozen=True, eq=False)
class Surroundings:
    """What every muscle of a body is held against: its bones, its joints, and the joints limbs begin with."""

    bones: Bones
    skeleton: Skeleton
    limbs: tuple[int, ...] = ()


def build_muscle(mesh: AnatomyMesh, sites: Sequence[Site], around: Surroundings) -> AnatomyMuscle:
    """The action lines of one muscle.

    Args:
        mesh: Its surface at bind.
        sites: The sites that belong to it.
        around: The rest of the body.

    Raises:
        MeshError: No bone is in reach of an end.
    """
    fields = SurfaceFields(mesh.points, mesh.triangles)
    ends = find_ends(mesh, fields, sites, around.bones, around.skeleton, around.limbs)
    report = list(ends.doubts)
    if fields.pieces() > 1:
        report.append(f"is in {fields.pieces()} pieces, taken as one muscle")
    origin, insertion = (_vertices(end) for end in (ends.origin, ends.insertion))
    sections = sweep(fields, *beyond(fields, ends))
    count = lines_needed(sections, ends)
    shares = line_shares(fields, sections, ends, count)
    report += _past_the_ends(fields, sections, origin, insertion)
    surface = SignedSurface(mesh.points, mesh.triangles)
    lines = [_line(mesh, ends, sections, shares[:, k], surface, around) for k in range(count)]
    return AnatomyMuscle(
        mesh.name,
        mesh,
        with_held_nodes(lines, ends.between, around.skeleton),
        _attachments(ends.origin, around.bones),
        _attachments(ends.insertion, around.bones),
        _attachments(ends.between, around.bones),
        tuple(report),
    )


def _line(
    mesh: AnatomyMesh,
    ends: Ends,
    sections: Sections,
    share: Floats,
    surface: SignedSurface,
    around: Surroundings,
) -> AnatomyLine:
    single = bool((share == 1.0).all())
    curve = centroid_curve(sections, None if single else share)
    (start, first), (stop, last) = (_end_place(mesh, end, share) for end in (ends.origin, ends.insertion))
    part = np.array([np.concatenate([loop.read(share) for loop in loops]).mean() for loops in sections.loops])
    area = sections.area * part
    radius = np.sqrt(area / np.pi)
    nodes = line_nodes(curve, (start, stop), float(np.median(radius)))
    at = _places_on(nodes, curve)
    along = arc_lengths(nodes)
    nodes = kept_inside(nodes, surface, np.interp(along, at, radius))
    before = _across(first, nodes[0])[::-1]
    after = _across(last, nodes[-1])
    nodes = np.vstack([before, nodes, after])
    at = at + float(arc_lengths(nodes)[len(before)])
    joints, clearance = node_joints(nodes, first.joint, last.joint, around.bones, around.skeleton)
    along = arc_lengths(nodes)
    tendon = tendon_segments(along, at, tendon_sections(sections))
    tendon[: len(before)] = tendon[len(tendon) - len(after) :] = True
    return AnatomyLine(
        nodes,
        joints,
        clearance,
        np.isin(np.arange(len(nodes)), (0, len(nodes) - 1)),
        tendon,
        np.interp(along, at, area),
        around.bones.names[first.bone],
        around.bones.names[last.bone],
        np.full(len(nodes), -1),
        np.ones(len(nodes)),
    )


def _places_on(nodes: Floats, curve: Floats) -> Floats:
    """How far along a line the sections' centroids lie [m], never going back, shape (sections,)."""
    at = arc_lengths(np.vstack([nodes[:1], curve, nodes[-1:]]))
    return np.asarray(at[1:-1] * (arc_lengths(nodes)[-1] / max(float(at[-1]), 1e-12)))


def _end_place(mesh: AnatomyMesh, holds: Sequence[Hold], share: Floats) -> tuple[Floats, Hold]:
    """Where a line ends in the muscle [m] (3,), and what holds it: what it has the greatest share of."""
    weight = [share[hold.vertices] ** 2 for hold in holds]
    mine = holds[max(range(len(holds)), key=lambda k: (float(weight[k].mean()), -k))]
    same = [k for k, hold in enumerate(holds) if hold.joint == mine.joint]
    vertices = np.concatenate([holds[k].vertices for k in same])
    heavy = np.concatenate([weight[k] for k in same]) + 1e-12
    return np.asarray(heavy @ mesh.points[vertices] / heavy.sum()), mine


def _across(hold: Hold, tip: Floats) -> Floats:
    """The nodes [m] (n, 3) of a tendon from the muscle's tip to a bone ahead of it; none else."""
    if hold.source != "ahead":
        return np.zeros((0, 3))
    return np.asarray(tip + np.array([[0.5], [1.0]]) * (hold.place - tip))


def _past_the_ends(fields: SurfaceFields, sections: Sections, origin: Ints, insertion: Ints) -> list[str]:
    told = []
    length = float(arc_lengths(sections.centre)[-1])
    for name, vertices, field in (
        ("origin", origin, sections.field),
        ("insertion", insertion, 1.0 - sections.field),
    ):
        past = np.flatnonzero(field < 1e-3)
        far = float(fields.distances(vertices)[past].max(initial=0.0))
        if far > BEYOND * length:
            told.append(f"goes on {1e3 * far:.0f} mm past its {name}")
    return told


def _attachments(holds: Sequence[Hold], bones: Bones) -> tuple[Attachment, ...]:
    return tuple(
        Attachment(
            bones.names[hold.bone],
            hold.joint,
            hold.place,
            hold.vertices[:0] if hold.source == "ahead" else hold.vertices,
            hold.source,
        )
        for hold in holds
    )


def _vertices(holds: Sequence[Hold]) -> Ints:
    return np.unique(np.concatenate([hold.vertices for hold in holds]))
