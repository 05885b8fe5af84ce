"""Where a muscle begins and ends: its origin and its insertion, each on one bone or on several.

Evidence, the best first: sites that somebody marked; bones that the surface touches; the bone nearest to an
end. Each piece of evidence is a hold: a bone, a place, and the muscle's vertices there. The holds are parted
into two ends:

- holds of several joints: each link of the joint tree between them parts them in two; the link is taken whose
  parts lie furthest apart, by (smallest gap)² × (distance of centres). So the bones of all
  fingers too. A link from a joint in the sagittal plane to one beside it, where a limb begins, counts
  `LIMB` times, so that neck and ribs stay together against the shoulder blade;
- sites of one joint only: if they lie along most of the muscle, by their words (sternum, rib), else by which
  of the two that are furthest apart is nearer; if not, they are one end, and the other is where the surface
  touches another joint's bone far from them;
- an end that no bone is near goes on, as by a tendon that the folder lacks, to a bone of another joint that
  lies straight ahead of it (`CONE`) and not too far (`AHEAD`);
- where that tells nothing, the end is held by the bone with the smallest (distance) × (links of the
  joint tree to the other end's joint)².

Of an end only what is far from the other end counts (`FAR`): a muscle that lies on its bone all the way
begins where it is furthest from its insertion; the other holds stay as holds in between. The end whose joint
is nearer the root of the skeleton is the origin.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ecorche.muscles.anatomy.folder import AnatomyMesh, Bones
from ecorche.muscles.anatomy.holds import (
    Hold,
    hold_ahead,
    nearest_hold,
    site_hold,
    touch_holds,
    with_ancestors,
)
from ecorche.muscles.anatomy.sites import Site
from ecorche.muscles.anatomy.surface_fields import SurfaceFields
from ecorche.skeleton.skeleton import Skeleton

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

FAR = 0.65
"""Holds of an end nearer to the other end than this share of the furthest are holds in between."""
END_ZONE = 0.12
"""Share of a muscle's length that is its end, where only its shape tells."""
ALONG = 0.5
"""Sites spread over this share of a muscle's length hold both its ends."""
LIMB = 8.0
"""How much more a link is worth at which a limb begins."""
UNHELD = 0.4
"""A muscle that goes on further than this share of its length past all that it touches ends elsewhere."""


@dataclass(frozen=True, eq=False)
class Ends:
    """Both ends of a muscle, and what else holds it in between.

    Attributes:
        origin, insertion: The holds of each end, at least one.
        between: Holds along the way.
        doubts: Sentences about what is not certain.
    """

    origin: tuple[Hold, ...]
    insertion: tuple[Hold, ...]
    between: tuple[Hold, ...]
    doubts: tuple[str, ...]


Parted = tuple[list[Hold], list[Hold]]


def find_ends(
    mesh: AnatomyMesh,
    fields: SurfaceFields,
    sites: Sequence[Site],
    bones: Bones,
    skeleton: Skeleton,
    limbs: Sequence[int] = (),
) -> Ends:
    """Origin and insertion of one muscle.

    Args:
        mesh: The muscle.
        fields: Its surface.
        sites: The sites that belong to it.
        bones: All bones.
        skeleton: The joints.
        limbs: The joints a limb begins with: beside the sagittal plane, their parents in it.

    Raises:
        MeshError: No bone is within reach.
    """
    doubts: list[str] = []
    tips, length = _tips(fields)
    holds = [site_hold(mesh, site, bones, length, sites) for site in sites]
    if not holds:
        doubts.append("has no site: its ends are the bones it touches")
    parted = _parted(holds, skeleton, fields, limbs)
    if parted is None and holds:
        parted = _along_one_joint(holds, fields, length)
    if parted is None:
        touching = touch_holds(mesh, fields, bones)
        if holds:
            away = fields.distances(np.concatenate([hold.vertices for hold in holds]))
            others = [
                hold
                for hold in touching
                if hold.joint != holds[0].joint and away[hold.vertices].mean() > 0.5 * away.max()
            ]
            if others:
                doubts.append(
                    f"has sites at one end only; the other is where it touches {_listed(others, bones)}"
                )
            else:
                doubts.append("has sites at one end only; the other is the bone nearest to its far end")
                zone = np.flatnonzero(away > (1.0 - END_ZONE) * away.max())
                others = [nearest_hold(mesh, zone, bones, skeleton, doubts, holds[0].joint)]
            parted = holds, others
        else:
            parted = _parted(touching, skeleton, fields, limbs)
            if parted is None:
                doubts.append("is held by bones of one joint only: its ends are where it is longest")
                parted = _at_tips(mesh, tips, fields, bones, skeleton, doubts)
            else:
                parted = _to_the_tip(mesh, parted, length, fields, bones, skeleton, doubts)
    return _ordered(parted, fields, skeleton, doubts)


def beyond(fields: SurfaceFields, ends: Ends) -> tuple[Ints, Ints]:
    """The vertices of each end and all beyond it: further from the other end than its nearest hold."""
    zones: list[Ints] = []
    for end, other in ((ends.origin, ends.insertion), (ends.insertion, ends.origin)):
        away = fields.distances(np.concatenate([hold.vertices for hold in other]))
        near = np.stack([fields.distances(hold.vertices) for hold in end]).argmin(axis=0)
        limit = np.array([away[hold.vertices].mean() for hold in end])
        held = np.concatenate([hold.vertices for hold in end])
        zones.append(np.union1d(np.flatnonzero(away > limit[near]), held))
    both = np.intersect1d(zones[0], zones[1])
    return np.setdiff1d(zones[0], both), np.setdiff1d(zones[1], both)


def _tips(fields: SurfaceFields) -> tuple[tuple[Ints, Ints], float]:
    """Vertices about the two places that are furthest apart along the surface, and how far that is [m]."""
    start = fields.distances(np.array([0]))
    one = fields.distances(np.array([int(np.argmax(start))]))
    other = fields.distances(np.array([int(np.argmax(one))]))
    share = one / np.maximum(one + other, 1e-12)
    ends = np.flatnonzero(share < END_ZONE), np.flatnonzero(share > 1.0 - END_ZONE)
    return ends, float(one.max())


def _at_tips(
    mesh: AnatomyMesh,
    tips: tuple[Ints, Ints],
    fields: SurfaceFields,
    bones: Bones,
    skeleton: Skeleton,
    doubts: list[str],
) -> Parted:
    """What holds the two ends of a muscle where only its shape tells, the end nearer to a bone first."""
    gaps = [float(bones.nearest(mesh.points[zone])[1].min()) for zone in tips]
    first, second = (tips[k] for k in np.argsort(gaps, kind="stable"))
    one = nearest_hold(mesh, first, bones, skeleton, doubts)
    other = hold_ahead(mesh, second, fields, bones, skeleton, one.joint, doubts)
    return [one], [other or nearest_hold(mesh, second, bones, skeleton, doubts)]


def _to_the_tip(
    mesh: AnatomyMesh,
    parted: Parted,
    length: float,
    fields: SurfaceFields,
    bones: Bones,
    skeleton: Skeleton,
    doubts: list[str],
) -> Parted:
    """Ends as touched, unless the muscle goes on far past one of them: then what holds its tip is."""
    held = [np.concatenate([hold.vertices for hold in end]) for end in parted]
    away = [fields.distances(vertices) for vertices in held]
    between = float(away[0][held[1]].min())
    past = 0.5 * (away[0] + away[1] - between)  # none on the way from one end to the other
    if past.max() < UNHELD * length:
        return parted
    nearer = int(away[1][int(past.argmax())] < away[0][int(past.argmax())])
    zone = np.flatnonzero(past > (1.0 - END_ZONE) * past.max())
    kept = parted[1 - nearer]
    tip = hold_ahead(mesh, zone, fields, bones, skeleton, kept[0].joint, doubts)
    tip = tip or nearest_hold(mesh, zone, bones, skeleton, doubts, kept[0].joint)
    doubts.append(
        f"goes on {1e3 * past.max():.0f} mm past {_listed(parted[nearer], bones)}, which it touches"
    )
    return list(kept), [tip]


def _parted(
    holds: Sequence[Hold], skeleton: Skeleton, fields: SurfaceFields, limbs: Sequence[int]
) -> Parted | None:
    """Holds in two by the link of the joint tree that parts them best; None if all are of one joint."""
    below = {hold.joint: with_ancestors(hold.joint, skeleton) for hold in holds}
    links = set().union(*below.values()) if below else set()
    best: tuple[float, Parted] | None = None
    for link in sorted(links):
        under = [hold for hold in holds if link in below[hold.joint]]
        over = [hold for hold in holds if link not in below[hold.joint]]
        if under and over:
            score = _apart(over, under, fields) * (LIMB if link in limbs else 1.0)
            if best is None or score > best[0]:
                best = score, (over, under)
    return None if best is None else best[1]


def _along_one_joint(holds: Sequence[Hold], fields: SurfaceFields, length: float) -> Parted | None:
    """Holds of one joint in two, where they lie along most of the muscle; else None."""
    place = np.array([hold.place for hold in holds])
    apart = np.linalg.norm(place[:, None] - place[None], axis=-1)
    if apart.max() < ALONG * length:
        return None
    best: tuple[float, Parted] | None = None
    for word in sorted({hold.word for hold in holds}):
        one = [hold for hold in holds if hold.word == word]
        other = [hold for hold in holds if hold.word != word]
        if other and (best is None or _apart(one, other, fields) > best[0]):
            best = _apart(one, other, fields), (one, other)
    if best is not None:
        return best[1]
    first, last = np.unravel_index(int(apart.argmax()), apart.shape)
    nearer = apart[first] <= apart[last]
    return (
        [hold for hold, here in zip(holds, nearer, strict=True) if here],
        [hold for hold, here in zip(holds, nearer, strict=True) if not here],
    )


def _apart(one: Sequence[Hold], other: Sequence[Hold], fields: SurfaceFields) -> float:
    here, there = (np.array([hold.place for hold in side]) for side in (one, other))
    gap = float(np.linalg.norm(here[:, None] - there[None], axis=-1).min())
    centres = float(np.linalg.norm(here.mean(axis=0) - there.mean(axis=0)))
    vertices = [np.concatenate([hold.vertices for hold in side]) for side in (one, other)]
    away = fields.distances(vertices[0])[vertices[1]]
    return (gap + float(away.min())) ** 2 * centres


def _ordered(parted: Parted, fields: SurfaceFields, skeleton: Skeleton, doubts: list[str]) -> Ends:
    """The ends cut down to what is far from the other end, the one nearer the skeleton's root first."""
    first, second = parted
    first, aside = _far_from(second, first, fields)
    second, aside_too = _far_from(first, second, fields)
    depth = [min(len(with_ancestors(hold.joint, skeleton)) for hold in end) for end in (first, second)]
    size = [sum(len(hold.vertices) for hold in end) for end in (first, second)]
    height = [float(np.mean([hold.place[1] for hold in end])) for end in (first, second)]
    if (depth[1], -size[1], -height[1]) < (depth[0], -size[0], -height[0]):
        first, second = second, first
    if not {hold.joint for hold in first} ^ {hold.joint for hold in second}:
        joint = skeleton.names[first[0].joint]
        doubts.append(f"moves with joint {joint!r} at both ends")
    both = {int(v) for hold in first for v in hold.vertices} & {
        int(v) for hold in second for v in hold.vertices
    }
    if both:
        first = [_without(hold, both) for hold in first]
        second = [_without(hold, both) for hold in second]
    return Ends(tuple(first), tuple(second), (*aside, *aside_too), tuple(doubts))


def _without(hold: Hold, taken: set[int]) -> Hold:
    """A hold without vertices that both ends claim; one at least stays."""
    kept = np.array([v for v in hold.vertices if int(v) not in taken], np.int64)
    return replace(hold, vertices=kept if len(kept) else hold.vertices[:1])


def _far_from(
    other: Sequence[Hold], end: Sequence[Hold], fields: SurfaceFields
) -> tuple[list[Hold], list[Hold]]:
    """The holds of an end that are far from the other end, cut to their far vertices; and the rest."""
    away = fields.distances(np.concatenate([hold.vertices for hold in other]))
    furthest = max(float(away[hold.vertices].mean()) for hold in end)
    kept, aside = [], []
    for hold in end:
        far = away[hold.vertices] >= FAR * furthest
        whole = hold.source == "site" and away[hold.vertices].mean() >= FAR * furthest
        if whole or hold.source == "ahead":
            kept.append(hold)
        elif hold.source != "site" and far.any():
            vertices = hold.vertices[far]
            kept.append(replace(hold, vertices=vertices, place=fields.points[vertices].mean(axis=0)))
        else:
            aside.append(hold)
    return kept, aside


def _listed(holds: Sequence[Hold], bones: Bones) -> str:
    return ", ".join(dict.fromkeys(bones.names[hold.bone] for hold in holds))
