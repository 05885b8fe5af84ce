"""What holds a muscle: a bone, a place, and the muscle's vertices there, by the best evidence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from ecorche.errors import MeshError
from ecorche.muscles.anatomy.folder import AnatomyMesh, Bones
from ecorche.muscles.anatomy.sites import Site
from ecorche.muscles.anatomy.surface_fields import SurfaceFields
from ecorche.skeleton.skeleton import Skeleton

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

PATCH = 0.05
"""Radius of the patch of vertices about a site, share of the muscle's length."""
WIDENED = (1.0, 2.0, 4.0)
"""Where a surface touches no bone, it touches those within so many touching distances."""
CONE = np.cos(np.radians(30.0))
"""Least cosine to the direction of an end at which a bone lies ahead of it."""
AHEAD = 1.0
"""How far ahead a bone may lie, share of the muscle's length."""
APART = 0.25
"""A vertex sits on the bone of a site only if it is nearer to it than this share of the way to a site on a
bone that moves with another joint: flesh is left between the two, which can give way."""
FURTHEST = 16.0
"""No bone holds an end from further away than so many touching distances."""


@dataclass(frozen=True, eq=False)
class Hold:
    """One bone's hold on a muscle.

    Attributes:
        bone: Number of the bone.
        joint: The joint it moves with.
        place: Where [m], shape (3,).
        vertices: The muscle's vertices there, rising, shape (n,).
        source: What told of it; ``"ahead"``: no vertex is at the bone, those of the end lie before it.
        word: What the site's name calls the bone, else nothing.
    """

    bone: int
    joint: int
    place: Floats
    vertices: Ints
    source: Literal["site", "touch", "nearest", "ahead"]
    word: str = ""


def site_hold(
    mesh: AnatomyMesh, site: Site, bones: Bones, length: float, beside: Sequence[Site] = ()
) -> Hold:
    """The patch about a site: vertices near it that touch its bone and none of another joint more closely,
    and that lie apart (`APART`) from sites ``beside`` it on bones of other joints; always the three nearest.
    """
    away = np.linalg.norm(mesh.points - site.place, axis=1)
    joint = int(bones.joints[site.bone])
    near = np.flatnonzero(away < max(PATCH * length, 1.5 * site.radius))
    for other in beside:
        if bones.joints[other.bone] != joint:
            near = near[away[near] < APART * np.linalg.norm(mesh.points[near] - other.place, axis=1)]
    if len(near):
        near = near[_touch_most(mesh.points[near], site.bone, bones, 2.0 * bones.touching)]
    vertices = np.union1d(near, np.argsort(away, kind="stable")[:3])
    return Hold(site.bone, joint, site.place, vertices, "site", site.bone_word)


def _touch_most(points: Floats, bone: int, bones: Bones, within: float) -> npt.NDArray[np.bool_]:
    """Which points [m] (n, 3) are near a bone, and not nearer to one that moves with another joint, (n,)."""
    own = bones.distances(bone, points)
    keep = own < within
    for other, far in bones.touched(points, within).items():
        if bones.joints[other] != bones.joints[bone]:
            keep &= own <= far
    return np.asarray(keep)


def touch_holds(mesh: AnatomyMesh, fields: SurfaceFields, bones: Bones) -> list[Hold]:
    """Each bone's patches of touching vertices; a vertex touches the nearest bone only, no crumbs."""
    for times in WIDENED:
        touched = bones.touched(mesh.points, times * bones.touching)
        if not touched:
            continue
        numbers = np.array(list(touched))
        far = np.stack(list(touched.values()))
        nearest = numbers[far.argmin(axis=0)]
        held = far.min(axis=0) < times * bones.touching
        holds = []
        for bone in numbers:
            for patch in fields.pieces_among(np.flatnonzero(held & (nearest == bone))):
                if len(patch) >= max(3, 0.01 * len(mesh.points)):
                    place = mesh.points[patch].mean(axis=0)
                    holds.append(Hold(int(bone), int(bones.joints[bone]), place, patch, "touch"))
        if holds:
            return holds
    return []


def nearest_hold(
    mesh: AnatomyMesh,
    zone: Ints,
    bones: Bones,
    skeleton: Skeleton,
    doubts: list[str],
    across_from: int | None = None,
) -> Hold:
    """The bone that holds an end: the nearest, by distance times the square of the links of the joint tree to
    the other end's joint; a bone of that very joint only if there is no other."""
    points = mesh.points[zone]
    touched = bones.touched(points, FURTHEST * bones.touching)
    if not touched:
        raise MeshError(
            f"no bone is within {1e3 * FURTHEST * bones.touching:.0f} mm of one of its ends",
            where=f"muscle {mesh.name!r}",
            remedy="Add the bone it is attached to, or a site",
        )

    def cost(bone: int) -> tuple[float, int]:
        links = 1 if across_from is None else _links(int(bones.joints[bone]), across_from, skeleton)
        return max(float(touched[bone].min()), bones.touching) * (links**2 or 1000), bone

    bone = min(touched, key=cost)
    far = touched[bone]
    limit = max(bones.touching, float(np.sort(far)[min(2, len(far) - 1)]), 1.2 * float(far.min()))
    vertices = zone[far <= limit]
    if far.min() > bones.touching:
        doubts.append(f"ends {1e3 * far.min():.0f} mm from {bones.names[bone]}, the likeliest bone there")
    return Hold(bone, int(bones.joints[bone]), mesh.points[vertices].mean(axis=0), vertices, "nearest")


def hold_ahead(
    mesh: AnatomyMesh,
    zone: Ints,
    fields: SurfaceFields,
    bones: Bones,
    skeleton: Skeleton,
    other_than: int,
    doubts: list[str],
) -> Hold | None:
    """The bone of another joint straight ahead of an end which no bone is near; None if none is.

    The whole bone has to lie ahead: a shaft alongside does not count. Of all that lies in the cone the place
    with the longest lever is taken, furthest from its joint on the end's own side: a heel, an olecranon.
    """
    points = mesh.points[zone]
    if float(bones.nearest(points)[1].min()) < WIDENED[-1] * bones.touching:
        return None
    inwards = fields.distances(zone)
    tip, reach = points.mean(axis=0), float(inwards.max())
    behind = mesh.points[(inwards > 0.2 * reach) & (inwards < 0.4 * reach)].mean(axis=0)
    direction = (tip - behind) / max(float(np.linalg.norm(tip - behind)), 1e-12)
    best: tuple[float, int, Floats] | None = None
    for bone in np.flatnonzero(bones.joints != other_than).tolist():
        places = bones.meshes[bone].points
        to = places - tip
        ahead, far = to @ direction, np.linalg.norm(to, axis=1)
        seen = np.flatnonzero((ahead > CONE * far) & (far < AHEAD * reach))
        if not len(seen) or ahead.min() < 0.0:
            continue
        joint = skeleton.bind_world[int(bones.joints[bone]), :3, 3]
        side = (tip - joint) - (tip - joint) @ direction * direction
        lever = (places[seen] - joint) @ (side / max(float(np.linalg.norm(side)), 1e-12))
        if best is None or lever.max() > best[0]:
            best = float(lever.max()), bone, places[seen[int(lever.argmax())]]
    if best is None:
        return None
    _, found, place = best
    gap = 1e3 * float(np.linalg.norm(place - tip))
    doubts.append(f"ends {gap:.0f} mm before {bones.names[found]}: a tendon is drawn across the gap")
    return Hold(found, int(bones.joints[found]), place, zone, "ahead")


def _links(one: int, other: int, skeleton: Skeleton) -> int:
    """How many links of the joint tree lie between two joints."""
    return len(with_ancestors(one, skeleton) ^ with_ancestors(other, skeleton))


def with_ancestors(joint: int, skeleton: Skeleton) -> set[int]:
    """A joint and all joints above it."""
    found = set()
    while joint >= 0:
        found.add(joint)
        joint = int(skeleton.parents[joint])
    return found
