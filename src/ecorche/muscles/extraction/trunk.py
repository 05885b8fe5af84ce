"""Regions of the trunk, and the surfaces that cut each: neck, shoulders, hips, abdomen.

Text 001, "Profile Curves of Skin Model": the torso has muscle groups that follow different directions, two
centred at the shoulders, one round the neck, one along the abdomen, each with cutting surfaces of its own.

- Shoulders and hips: spheres about the joint; muscles of chest, back and haunch converge on it.
- Limb roots, "caps": the muscle over the joint (deltoid) turns with the limb; planes fan from the girdle to
  the limb. Where the limb folds in the midplane's direction, as a dog's, planes across its first bone.
- Neck: planes across it; left and right of it planes fan from the skull's base out to the shoulder.
- Abdomen: parallel planes along the trunk's axis.

The text leaves open what part of the skin a group may read. Here: skin of the trunk's own joints (by its
largest weight), on the group's side of the midplane and a little beyond, within its reach. Groups overlap;
which of them keeps a muscle that two have found is decided when muscles are compared (``dominating``).
Lengths are given as shares of the trunk's half-width, so any size and any creature is cut alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from ecorche.base.contours import Contour, contours
from ecorche.muscles.extraction.bump import Bump, Cut
from ecorche.muscles.extraction.caps import cap_bumps
from ecorche.muscles.extraction.cutting_surfaces import (
    CuttingSurfaces,
    fan_along,
    planes_along,
    spheres_about,
)
from ecorche.muscles.extraction.linking import linked
from ecorche.muscles.extraction.profiles import profile_bumps
from ecorche.muscles.extraction.trunk_plan import LimbRoot, TrunkPlan, plan_trunk
from ecorche.skeleton.naming import Naming
from ecorche.skeleton.skeleton import Skeleton

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

SPACING = 0.09
"""Between sections, as a share of the region's half-width: 1.2 cm on a man's trunk, 6 mm on his neck."""
STEP = 0.035
"""Between points of a section, as a share of the trunk's half-width: 5 mm on a man."""
LONGEST = 1.5
"""Waves longer than this many half-widths belong to the body, not to a muscle: 20 cm on a man's chest."""
LEAST = 0.05
"""Least prominence of a muscle, the median of its bumps, as a share of the half-width: 7 mm on a man's chest."""
FAINT = 0.7
"""A single bump of a muscle may stand out by this share of that: so a weak section does not cut it in two."""
LEAST_OVER_JOINT = 0.06
"""The same for the swelling over a shoulder or hip: 5 mm on a man."""
BEYOND_MIDDLE = 0.25
"""How far over the midplane a side's sections go on, in half-widths, so that their ends are sure."""
SHORTEST = 0.8
"""Sections shorter than this many half-widths tell nothing of a variation."""
GRAZING = 0.8
"""Cosine between the skin's normal and the cutting surfaces' above which they graze it, and tell nothing."""
WIDE = 2.2
"""How far from the bones skin of a neck or limb root is read, as a multiple of its thickness there."""
IN_THE_MIDDLE = 0.12
"""Bumps whose top is nearer to the midplane, in half-widths, are ridges of the body: muscles are paired."""
FEWEST_VERTICES = 60
"""Regions with less skin are left to plain skinning."""


@dataclass(frozen=True, eq=False)
class TrunkRegion:
    """A group of muscles, the surfaces that cut it and the skin it reads.

    Attributes:
        name: Such as ``"left shoulder"``.
        number: Which region it is.
        surfaces: The cutting surfaces.
        levels: Which of them cut it [m], rising, (L,).
        triangles: Its part of the skin, as vertex numbers, (T, 3).
        side: 1 or −1: bumps whose top lies on the other side of the midplane are the other side's; 0: both.
        width: Half-width of the body there [m], to which its other lengths are in proportion.
        cap: Places of trunk, joint and next joint [m], (3, 3), where the region lies over a joint; else None.
    """

    name: str
    number: int
    surfaces: CuttingSurfaces
    levels: Floats
    triangles: Ints
    side: int
    width: float
    cap: Floats | None = None


@dataclass(frozen=True, eq=False)
class Trunk:
    """The trunk of a character in regions.

    Attributes:
        plan: Its joints; None where it was not recognised.
        regions: Its regions, numbered from the number asked for.
        left_out: Regions left to plain skinning, and why.
    """

    plan: TrunkPlan | None
    regions: tuple[TrunkRegion, ...]
    left_out: tuple[tuple[str, str], ...]


def trunk_regions(
    points: Floats, triangles: Ints, dominant: Ints, skeleton: Skeleton, naming: Naming, first: int = 0
) -> Trunk:
    """The regions of a character's trunk.

    Args:
        points: Its skin at bind [m], (V, 3).
        triangles: Vertex numbers, (T, 3).
        dominant: The joint that moves each vertex most, (V,).
        skeleton: Its joints.
        naming: Their names.
        first: Number of the first region.
    """
    plan = plan_trunk(skeleton, naming, points, dominant)
    if isinstance(plan, str):
        return Trunk(None, (), (("trunk", plan),))
    skin = _TrunkSkin(points, triangles, dominant, skeleton, plan)
    if skin.width <= 0.0:
        return Trunk(plan, (), (("trunk", "no skin is moved by the trunk's joints"),))
    regions: list[TrunkRegion] = []
    left_out: list[tuple[str, str]] = []
    for name, side, found in _groups(skin):
        if isinstance(found, str):
            left_out.append((name, found))
            continue
        region = skin.region(name, first + len(regions), side, found)
        if isinstance(region, str):
            left_out.append((name, region))
        else:
            regions.append(region)
    return Trunk(plan, tuple(regions), tuple(left_out))


def trunk_cuts(region: TrunkRegion, points: Floats) -> list[Cut]:
    """The sections of a region, several a level where the skin has several curves there."""
    found = contours(points, region.triangles, region.surfaces.values(points), region.levels)
    cuts = []
    for rank, (level, curves) in enumerate(zip(region.levels, found.levels, strict=True)):
        origin, frame = region.surfaces.place(float(level))
        for curve in curves:
            if curve.length() < SHORTEST * region.width:
                continue
            along = _evenly(curve, STEP * region.width)
            flat = region.surfaces.flat(along, float(level))
            share = rank / max(len(region.levels) - 1, 1)
            upward = np.ascontiguousarray(region.surfaces.upward(along))
            cuts.append(Cut(region.number, rank, share, origin, frame, along, flat, curve.closed, upward))
    return cuts


def trunk_bumps(region: TrunkRegion, points: Floats, plan: TrunkPlan) -> tuple[list[Cut], list[Bump]]:
    """The sections of a region and the bumps in them; ``Bump.cut`` counts these sections."""
    cuts = trunk_cuts(region, points)
    least = LEAST * region.width
    if region.cap is not None:
        cuts = _longest_each_rank(cuts)
        from_bones = [_from_way(c.points, *region.cap) for c in cuts]
        least = LEAST_OVER_JOINT * region.width
        cuts, bumps = cap_bumps(cuts, from_bones, FAINT * least)
    else:
        longest, faint = LONGEST * region.width, FAINT * least
        bumps = [b for n, c in enumerate(cuts) for b in profile_bumps(c, n, longest, faint)]
    tops = np.array([cuts[b.cut].points[b.top % len(cuts[b.cut].points)] for b in bumps]).reshape(-1, 3)
    aside = (tops - plan.start) @ plan.left
    sides = region.side if region.side else np.sign(aside)
    own = sides * aside >= IN_THE_MIDDLE * region.width
    return cuts, _lasting(cuts, [b for b, mine in zip(bumps, own, strict=True) if mine], least)


def _lasting(cuts: Sequence[Cut], bumps: Sequence[Bump], least: float) -> list[Bump]:
    """The bumps that, linked, stand out by ``least`` [m] in the middle of their row."""
    rows = linked(cuts, bumps, prominent=0.0, long=0.0).tracks
    strong = [t.bumps for t in rows if np.median([bumps[b].prominence for b in t.bumps]) >= least]
    return [bumps[b] for b in sorted(b for row in strong for b in row)]


def _longest_each_rank(cuts: Sequence[Cut]) -> list[Cut]:
    """Of the sections of one level the one with most points."""
    longest: dict[int, Cut] = {}
    for cut in cuts:
        if cut.rank not in longest or len(cut.points) > len(longest[cut.rank].points):
            longest[cut.rank] = cut
    return [longest[rank] for rank in sorted(longest)]


_Group = tuple[CuttingSurfaces, Bools, tuple[float, float], float, Floats | None]


class _TrunkSkin:
    """The skin of a trunk, measured."""

    def __init__(
        self, points: Floats, triangles: Ints, dominant: Ints, skeleton: Skeleton, plan: TrunkPlan
    ) -> None:
        self.points, self.triangles, self.plan = points, triangles, plan
        self.heads: Floats = skeleton.bind_world[:, :3, 3]
        self.part: Ints = plan.part[dominant]
        self.normals = _normals(points, triangles)
        self.side: Floats = (points - plan.start) @ plan.left
        own = points[self.part == 0]
        self.width = _typical_distance(own, plan.start, plan.end)

    def on_side(self, side: int) -> Bools:
        """Vertices on a side, with those a little beyond the midplane."""
        beyond: Bools = side * self.side > -BEYOND_MIDDLE * self.width
        return beyond

    def region(self, name: str, number: int, side: int, group: _Group) -> TrunkRegion | str:
        """The region of a group of muscles, or why it is none."""
        surfaces, within, reach, width, cap = group
        crossed = np.abs(np.sum(surfaces.upward(self.points) * self.normals, axis=1)) < GRAZING
        within = within & crossed
        if int(within.sum()) < FEWEST_VERTICES:
            return f"only {int(within.sum())} vertices of the skin lie there: too few to show a muscle"
        values = surfaces.values(self.points[within])
        low, high = max(reach[0], float(values.min())), min(reach[1], float(values.max()))
        count = int((high - low) / (SPACING * width))
        if count < 4:
            return "the skin there is too short for four sections"
        levels = low + (high - low) * (np.arange(count) + 0.5) / count
        triangles = self.triangles[within[self.triangles].all(axis=1)]
        return TrunkRegion(name, number, surfaces, levels, triangles, side, width, cap)


def _groups(skin: _TrunkSkin) -> list[tuple[str, int, _Group | str]]:
    """Every group of muscles by its name and side: surfaces, vertices, levels, half-width; or why not."""
    plan = skin.plan
    groups: list[tuple[str, int, _Group | str]] = []
    shoulders = [r for r in plan.roots if r.kind == "shoulder"]
    for root in plan.roots:
        groups.append((root.name, root.side, _about(skin, root)))
        groups.append((f"{root.name} cap", root.side, _over(skin, root)))
    for root in shoulders:
        side = "left" if root.side > 0 else "right"
        groups.append((f"{side} neck", root.side, _neck_to_shoulder(skin, root)))
    groups.append(("neck", 0, _neck(skin)))
    groups.append(("abdomen", 0, _abdomen(skin)))
    return groups


def _about(skin: _TrunkSkin, root: LimbRoot) -> _Group | str:
    """Spheres about a shoulder or hip."""
    plan, points = skin.plan, skin.points
    ball, following = skin.heads[root.ball], skin.heads[root.next]
    bone = float(np.linalg.norm(following - ball))
    if bone < 1e-6 * skin.width:
        return "the limb's first bone has no length"
    limb = skin.part == plan.limb(root)
    down = (points - ball) @ (following - ball) / bone
    inner = root.side * (ball - plan.start) @ plan.left
    if inner < 0.05 * skin.width:
        return "the joint lies in the midplane"
    within = ((skin.part == 0) | (skin.part == 1) | (limb & (down < 0.25 * bone))) & skin.on_side(root.side)
    pole = plan.start + ((ball - plan.start) @ plan.axis) * plan.axis - ball
    length = float(np.linalg.norm(plan.end - plan.start))
    surfaces = spheres_about(ball, pole, plan.axis)
    return surfaces, within, (0.3 * inner, min(0.65 * length, inner + 1.2 * skin.width)), skin.width, None


def _over(skin: _TrunkSkin, root: LimbRoot) -> _Group | str:
    """Planes that turn with the muscle over a shoulder or hip."""
    plan, points = skin.plan, skin.points
    ball, following = skin.heads[root.ball], skin.heads[root.next]
    bone = float(np.linalg.norm(following - ball))
    if bone < 1e-6 * skin.width:
        return "the limb's first bone has no length"
    if root.kind == "hip" and abs(float(plan.axis @ (following - ball))) > 0.8 * bone:
        return "the leg goes on along the trunk, so that its own sections show what lies over the hip"
    limb = skin.part == plan.limb(root)
    if int(limb.sum()) < FEWEST_VERTICES:
        return "the limb has no skin"
    thick = _typical_distance(
        points[limb & (((points - ball) @ (following - ball)) < 0.7 * bone**2)], ball, following
    )
    width = float(np.sqrt(thick * skin.width))
    before = plan.start + ((ball - plan.start) @ plan.axis) * plan.axis
    fan = fan_along(before, ball, following, 1.5 * thick)
    folds = fan is not None and abs(float(fan.axis @ plan.left)) > 0.7
    way = np.stack([before, ball, following])
    near = _from_way(points, *way) < WIDE * thick
    own = ((skin.part == 0) | limb) & skin.on_side(root.side) & near
    if fan is None or folds:
        planes = planes_along(ball, following, root.side * plan.left)
        outer = root.side * (points - ball) @ plan.left > -0.2 * thick
        return planes, own & outer, (0.0, 0.8 * bone), width, way
    within = own & (fan.beside(points) > 0.8 * fan.radius)
    bend = fan.radius * fan.turn
    return fan, within, (0.4 * bend, bend + 0.6 * bone), width, way


def _neck(skin: _TrunkSkin) -> _Group | str:
    """Planes across the neck."""
    measured = _measured_neck(skin)
    if isinstance(measured, str):
        return measured
    base, skull, length, thick = measured
    planes = planes_along(base, skull, skin.plan.left)
    near = _from_way(skin.points, base, skull) < WIDE * thick
    near &= np.abs(skin.normals @ planes.frame[2]) < 0.6  # not the underside of the jaw
    throat = (skin.part == 2) & (_from_way(skin.points, base, skull) < 1.3 * thick)  # moves with the head
    return planes, ((skin.part <= 1) | throat) & near, (-0.2 * length, 0.9 * length), thick, None


def _neck_to_shoulder(skin: _TrunkSkin, root: LimbRoot) -> _Group | str:
    """Planes across the neck that turn outwards to the shoulder."""
    points = skin.points
    measured = _measured_neck(skin)
    if isinstance(measured, str):
        return measured
    base, skull, length, thick = measured
    shoulder = skin.heads[root.ball]
    fan = fan_along(skull, base, shoulder, 1.6 * thick)
    if fan is None:
        return "the shoulders lie straight below the neck, whose own sections show the muscles to them"
    before = length - fan.radius * float(np.tan(0.5 * fan.turn))
    after = float(np.linalg.norm(shoulder - base)) - (length - before)
    near = _from_way(points, skull, base, shoulder) < WIDE * thick
    within = (skin.part <= 1) & skin.on_side(root.side) & near & (fan.beside(points) > 0.2 * fan.radius)
    reach = (-before - 0.3 * thick, fan.radius * fan.turn + max(0.8 * after, 0.0))
    return fan, within, reach, float(np.sqrt(thick * skin.width)), None


def _measured_neck(skin: _TrunkSkin) -> tuple[Floats, Floats, float, float] | str:
    """The neck's base and the skull's [m], how long and how thick it is [m]; or why there is none."""
    plan = skin.plan
    if len(plan.neck) < 2:
        return "there is no neck between the trunk and the head"
    base, skull = skin.heads[plan.neck[0]], skin.heads[plan.neck[-1]]
    length = float(np.linalg.norm(skull - base))
    if length < 0.05 * skin.width:
        return "the neck has no length"
    thick = _typical_distance(skin.points[skin.part == 1], base, skull)
    if thick <= 0.0:
        return "no skin is moved by the neck's joints"
    return base, skull, length, thick


def _abdomen(skin: _TrunkSkin) -> _Group:
    """Parallel planes along the trunk."""
    plan = skin.plan
    length = float(np.linalg.norm(plan.end - plan.start))
    planes = planes_along(plan.start, plan.end, plan.left)
    return planes, skin.part == 0, (0.05 * length, 0.6 * length), skin.width, None


def _normals(points: Floats, triangles: Ints) -> Floats:
    """Unit normals of the skin's vertices, (V, 3)."""
    corners = points[triangles]
    faces = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normals = np.stack(
        [np.bincount(triangles.ravel(), np.repeat(faces[:, k], 3), len(points)) for k in range(3)], axis=1
    )
    unit: Floats = normals / np.maximum(np.linalg.norm(normals, axis=1), 1e-18)[:, None]
    return unit


def _from_way(points: Floats, *way: Floats) -> Floats:
    """How far points are from a polyline [m], (P,)."""
    gaps = []
    for start, end in pairwise(way):
        along = end - start
        share = np.clip((points - start) @ along / max(float(along @ along), 1e-18), 0.0, 1.0)
        gaps.append(np.linalg.norm(points - start - share[:, None] * along, axis=1))
    nearest: Floats = np.min(gaps, axis=0)
    return nearest


def _typical_distance(points: Floats, start: Floats, end: Floats) -> float:
    """How far points are from the line between two others, in the middle [m]; 0 where there are none."""
    if len(points) == 0:
        return 0.0
    return float(np.median(_from_way(points, start, end)))


def _evenly(curve: Contour, step: float) -> Floats:
    """The curve's points, evenly spaced [m], (P, 3)."""
    points = np.vstack([curve.points, curve.points[:1]]) if curve.closed else curve.points
    length = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1))])
    at = np.linspace(0.0, length[-1], max(int(np.ceil(length[-1] / step)), 8) + 1)
    at = at[:-1] if curve.closed else at
    return np.stack([np.interp(at, length, points[:, axis]) for axis in range(3)], axis=1)
