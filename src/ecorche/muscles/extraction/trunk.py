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

import numpy as np
import numpy.typing as npt

from ecorche.base.contours import Contour, contours
from ecorche.muscles.extraction.bump import Bump, Cut
from ecorche.muscles.extraction.caps import cap_bumps
from ecorche.muscles.extraction.cutting_surfaces import CuttingSurfaces
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
LEAST = 0.05
"""Least prominence of a muscle, median of its bumps, as a share of the half-width: 7 mm on a man's chest."""
FAINT = 0.7
"""A single bump of a muscle may stand out by this share of that: so a weak section does not cut it in two."""
LEAST_OVER_JOINT = 0.06
"""The same for the swelling over a shoulder or hip: 5 mm on a man."""
SHORTEST = 0.8
"""Sections shorter than this many half-widths tell nothing of a variation."""
GRAZING = 0.8
"""Cosine between the skin's normal and the cutting surfaces' above which they graze it, and tell nothing."""
IN_THE_MIDDLE = 0.12
"""Bumps whose top is nearer to the midplane, in half-widths, are ridges of the body: muscles are paired."""


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
    return Trunk(plan, tuple(regions), tuple(left_out))


def trunk_cuts(region: TrunkRegion, points: Floats) -> list[Cut]:
    """The sections of a region, several a level where the skin has several curves there."""
    found = contours(points, region.triangles, region.surfaces.values(points), region.levels)
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
            cuts.append(Cut(region.number, rank, share, origin, frame, along, flat, curve.closed, upward))
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


def trunk_bumps(region: TrunkRegion, points: Floats, plan: TrunkPlan) -> tuple[list[Cut], list[Bump]]:
    """The sections of a region and the bumps in them; ``Bump.cut`` counts these sections."""
    cuts = trunk_cuts(region, points)
    least = LEAST * region.width
    if region.cap is not None:
        cuts = _longest_each_rank(cuts)
        from_bones = [distance_from_way(c.points, *region.cap) for c in cuts]
        least = LEAST_OVER_JOINT * region.width
        cuts, bumps = cap_bumps(cuts, from_bones, FAINT * least)
    else:
        longest = (LONGEST_ON_NECK if region.round else LONGEST) * region.width
        bumps = [
            bump
            for number, cut in enumerate(cuts)
            for bump in profile_bumps(cut, number, longest, FAINT * least, region.round)
        ]
    tops = np.array([cuts[b.cut].points[b.top % len(cuts[b.cut].points)] for b in bumps]).reshape(-1, 3)
    aside = (tops - plan.start) @ plan.left
    own = region.side * aside >= IN_THE_MIDDLE * region.width
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
