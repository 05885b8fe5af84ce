"""The trunk in regions, their sections, and the bumps in those.

Text 001, "Profile Curves of Skin Model" and "Identification of Potential Muscles": each group of the torso's
muscles (`trunk_groups`) has cutting surfaces of its own, and the variation of the open profile curves they
cut tells the muscles (`profiles`; over a shoulder `caps`). Groups overlap; which of them keeps a muscle that
two have found is decided when all have been linked (`overlap`). Lengths are shares of the body's half-width,
so that any size and any creature is cut alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ecorche.base.contours import Contour, contours
from ecorche.muscles.extraction.bump import Bump, Cut
from ecorche.muscles.extraction.caps import cap_bumps
from ecorche.muscles.extraction.cutting_surfaces import CuttingSurfaces
from ecorche.muscles.extraction.hanging import hangs
from ecorche.muscles.extraction.linking import linked
from ecorche.muscles.extraction.profiles import profile_bumps
from ecorche.muscles.extraction.trunk_groups import (
    FEWEST_VERTICES,
    MuscleGroup,
    TrunkSkin,
    distance_from_way,
    muscle_groups,
)
from ecorche.muscles.extraction.trunk_plan import TrunkPlan, plan_trunk
from ecorche.skeleton.naming import Naming
from ecorche.skeleton.skeleton import Skeleton

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

SPACING = 0.09
"""Between sections, as a share of the region's half-width: 1.2 cm on a man's trunk, 6 mm on his neck."""
STEP = 0.035
"""Between points of a section, as a share of the trunk's half-width: 5 mm on a man."""
LONGEST = 1.5
"""Waves longer than this many half-widths belong to the body, not to a muscle: 20 cm on a man's chest."""
LONGEST_ON_NECK = 3.0
"""The same on a neck."""
STEEP, FAR_OUT = 0.05, 0.1
"""Least prominence of a muscle: share of its own width, in the middle of its bumps; or, for a broad one such
as the gluteus, share of the half-width, somewhere."""
FAINT = 0.6
"""A single bump of a muscle may be less steep, by this factor: so a weak section does not cut it in two."""
LEAST, LEAST_BUMP = 0.02, 0.012
"""And share of the half-width: of a muscle in the middle, and of each bump; 2.6 mm and 1.6 mm on a man."""
FACETS = 4.0
"""A bump stands out by so many times what a body as round as this one departs from its own triangles."""
LONG = 1.0
"""Least length of a muscle, in its own widths; what is shorter than wide is a mound. Half as much where the
region ends before the muscle does. Over a joint, where the way turns, nothing is told by it."""
SHORTEST = 0.8
"""Sections shorter than this many half-widths tell nothing of a variation."""
GRAZING = 0.8
"""Cosine between the skin's normal and the cutting surfaces' above which they graze it, and tell nothing."""
IN_THE_MIDDLE = 0.12
"""Bumps whose top is nearer to the midplane, in half-widths, are ridges of the body: muscles are paired."""
OVER_MIDDLE = 0.25
"""Nor is it a muscle, but a mane or crest, if this share of its skin lies beyond the midplane."""


@dataclass(frozen=True, eq=False)
class TrunkRegion:
    """A group of muscles, the surfaces that cut it and the skin it reads.

    Attributes:
        name: Such as ``"left shoulder"``.
        number: Which region it is.
        surfaces: The cutting surfaces.
        levels: Which of them cut it [m], rising, (L,).
        triangles: Its part of the skin, as vertex numbers, (T, 3).
        side: 1 on the left, −1 on the right: bumps whose top lies over the midplane are the other side's.
        width: Half-width of the body there [m], to which its other lengths are in proportion.
        goals: The joints whose bones its muscles go on to, before their first section and after their last;
            −1: they end where they stop showing.
        round: Whether the body would be round there without muscles, as a neck.
        cap: Places of trunk, joint and next joint [m], (3, 3), where the region lies over a joint; else None.
    """

    name: str
    number: int
    surfaces: CuttingSurfaces
    levels: Floats
    triangles: Ints
    side: int
    width: float
    goals: tuple[int, int]
    round: bool = False
    cap: Floats | None = None


@dataclass(frozen=True, eq=False)
class Trunk:
    """The trunk of a character in regions.

    Attributes:
        plan: Its joints; None where it was not recognised.
        regions: Its regions, numbered from the number asked for.
        left_out: Regions left to plain skinning, and why.
        skin: Its skin, measured; None where it has none.
    """

    plan: TrunkPlan | None
    regions: tuple[TrunkRegion, ...]
    left_out: tuple[tuple[str, str], ...]
    skin: TrunkSkin | None = None


class TrunkBumps(NamedTuple):
    """A region's sections, the bumps of muscles in them, and how many rows of bumps were flesh or a ridge."""

    cuts: list[Cut]
    bumps: list[Bump]
    flesh: int
    ridges: int


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
    skin = TrunkSkin(points, triangles, dominant, skeleton, plan)
    if skin.width <= 0.0:
        return Trunk(plan, (), (("trunk", "no skin is moved by the trunk's joints"),))
    regions: list[TrunkRegion] = []
    left_out: list[tuple[str, str]] = []
    for name, side, found in muscle_groups(skin):
        if isinstance(found, str):
            left_out.append((name, found))
            continue
        region = _region(skin, name, first + len(regions), side, found)
        if isinstance(region, str):
            left_out.append((name, region))
        else:
            regions.append(region)
    return Trunk(plan, tuple(regions), tuple(left_out), skin)


def trunk_cuts(region: TrunkRegion, skin: TrunkSkin) -> list[Cut]:
    """The sections of a region, several a level where the skin has several curves there."""
    found = contours(skin.points, region.triangles, region.surfaces.values(skin.points), region.levels)
    step = STEP * region.width
    cuts = []
    for rank, (level, curves) in enumerate(zip(region.levels, found.levels, strict=True)):
        origin, frame = region.surfaces.place(float(level))
        long = [c for c in curves if c.length() >= SHORTEST * region.width]
        for curve, along, flat in _outermost(
            [(c, a, region.surfaces.flat(a, float(level))) for c in long for a in [_evenly(c, step)]]
        ):
            share = rank / max(len(region.levels) - 1, 1)
            upward = np.ascontiguousarray(region.surfaces.upward(along))
            piece = int(skin.pieces[curve.above[0]])
            cuts.append(
                Cut(region.number, rank, share, origin, frame, along, flat, curve.closed, upward, piece)
            )
    return cuts


def _outermost(
    curves: Sequence[tuple[Contour, Floats, Floats]],
) -> list[tuple[Contour, Floats, Floats]]:
    """Curves (with points and unrolled points) without those inside another: a second shell is no skin."""
    if len(curves) < 2:
        return list(curves)
    import shapely

    shapes = [shapely.Polygon(flat) for _, _, flat in curves]
    inside = [
        any(
            other is not shape
            and curve[0].closed
            and other.is_valid
            and other.contains(shapely.Point(mine[2][0]))
            and other.contains(shapely.Point(mine[2][len(mine[2]) // 2]))
            for other, curve in zip(shapes, curves, strict=True)
        )
        for shape, mine in zip(shapes, curves, strict=True)
    ]
    return [curve for curve, inner in zip(curves, inside, strict=True) if not inner]


def trunk_bumps(region: TrunkRegion, skin: TrunkSkin) -> TrunkBumps:
    """The sections of a region and the bumps of muscles in them; ``Bump.cut`` counts these sections."""
    cuts = trunk_cuts(region, skin)
    least = max(LEAST_BUMP * region.width, FACETS * _facets(region, skin.points))
    if region.cap is not None:
        cuts = _longest_each_rank(cuts)
        from_bones = [distance_from_way(c.points, *region.cap) for c in cuts]
        cuts, bumps = cap_bumps(cuts, from_bones, least)
    else:
        longest = (LONGEST_ON_NECK if region.round else LONGEST) * region.width
        bumps = [
            bump
            for number, cut in enumerate(cuts)
            for bump in profile_bumps(cut, number, longest, least, region.round)
        ]
    aside = (_tops(cuts, bumps) - skin.plan.start) @ skin.plan.left
    own = region.side * aside >= IN_THE_MIDDLE * region.width
    steep = np.array([b.prominence >= FAINT * STEEP * _width(cuts, b) for b in bumps], bool)
    bumps = [bumps[n] for n in np.flatnonzero(own & steep)]
    kept: list[int] = []
    flesh = ridges = 0
    for row in linked(cuts, bumps, prominent=0.0, long=0.0).tracks:
        own_bumps = [bumps[b] for b in row.bumps]
        if not _muscular(cuts, own_bumps, region):
            continue
        if _over_middle(cuts, own_bumps, region, skin.plan):
            ridges += 1
            continue
        most = int(np.argmax([b.prominence for b in own_bumps]))
        if region.cap is None and not region.round and hangs(_tops(cuts, own_bumps), most, skin):
            flesh += 1
        else:
            kept += row.bumps
    return TrunkBumps(cuts, [bumps[b] for b in sorted(kept)], flesh, ridges)


def _muscular(cuts: Sequence[Cut], row: Sequence[Bump], region: TrunkRegion) -> bool:
    """Whether linked bumps stand out enough for a muscle, and are about as long as wide."""
    standing, width = np.array([b.prominence for b in row]), np.array([_width(cuts, b) for b in row])
    steep = np.median(standing / width) >= STEEP or standing.max() >= FAR_OUT * region.width
    tops = _tops(cuts, row)
    cut_off = cuts[row[0].cut].rank == 0 or cuts[row[-1].cut].rank == len(region.levels) - 1
    least = 0.0 if region.cap is not None else 0.5 * LONG if cut_off else LONG
    long = float(np.linalg.norm(tops[-1] - tops[0])) >= least * np.median(width)
    return bool(steep and long and np.median(standing) >= LEAST * region.width)


def _over_middle(cuts: Sequence[Cut], row: Sequence[Bump], region: TrunkRegion, plan: TrunkPlan) -> bool:
    """Whether linked bumps are one side of a ridge in the body's middle."""
    beyond = []
    for bump in row:
        points = cuts[bump.cut].points
        aside = (points[np.arange(bump.first, bump.last + 1) % len(points)] - plan.start) @ plan.left
        beyond.append(float(np.mean(region.side * aside < 0.0)))
    return bool(np.median(beyond) > OVER_MIDDLE)


def _tops(cuts: Sequence[Cut], bumps: Sequence[Bump]) -> Floats:
    """The points of bumps that stand out most [m], (B, 3)."""
    tops = [cuts[b.cut].points[b.top % len(cuts[b.cut].points)] for b in bumps]
    return np.array(tops, np.float64).reshape(-1, 3)


def _width(cuts: Sequence[Cut], bump: Bump) -> float:
    """From a bump's first point to its last [m]."""
    points = cuts[bump.cut].points
    return max(
        float(np.linalg.norm(points[bump.last % len(points)] - points[bump.first % len(points)])), 1e-9
    )


def _facets(region: TrunkRegion, points: Floats) -> float:
    """How far a round body of the region's half-width departs from triangles as large as its own [m]."""
    corners = points[region.triangles]
    edge = float(np.median(np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=-1)))
    return edge**2 / (8.0 * region.width)


def _longest_each_rank(cuts: Sequence[Cut]) -> list[Cut]:
    """Of the sections of one level the one with most points."""
    longest: dict[int, Cut] = {}
    for cut in cuts:
        if cut.rank not in longest or len(cut.points) > len(longest[cut.rank].points):
            longest[cut.rank] = cut
    return [longest[rank] for rank in sorted(longest)]


def _region(skin: TrunkSkin, name: str, number: int, side: int, group: MuscleGroup) -> TrunkRegion | str:
    """The region of a group of muscles, or why it is none."""
    surfaces, within, reach, width = group.surfaces, group.within, group.reach, group.width
    crossed = np.abs(np.sum(surfaces.upward(skin.points) * skin.normals, axis=1)) < GRAZING
    within = within & crossed
    if int(within.sum()) < FEWEST_VERTICES:
        return f"only {int(within.sum())} vertices of the skin lie there: too few to show a muscle"
    values = surfaces.values(skin.points[within])
    low, high = max(reach[0], float(values.min())), min(reach[1], float(values.max()))
    count = int((high - low) / (SPACING * width))
    if count < 4:
        return "the skin there is too short for four sections"
    levels = low + (high - low) * (np.arange(count) + 0.5) / count
    triangles = skin.triangles[within[skin.triangles].all(axis=1)]
    if not len(triangles):
        return "no whole triangle of the skin lies there"
    return TrunkRegion(
        name, number, surfaces, levels, triangles, side, width, group.goals, group.round, group.cap
    )


def _evenly(curve: Contour, step: float) -> Floats:
    """The curve's points, evenly spaced [m], (P, 3)."""
    points = np.vstack([curve.points, curve.points[:1]]) if curve.closed else curve.points
    length = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1))])
    at = np.linspace(0.0, length[-1], max(int(np.ceil(length[-1] / step)), 8) + 1)
    at = at[:-1] if curve.closed else at
    return np.stack([np.interp(at, length, points[:, axis]) for axis in range(3)], axis=1)
