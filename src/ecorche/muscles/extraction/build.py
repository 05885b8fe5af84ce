"""Muscles found in a finished skin: the whole way from skin and skeleton to muscles that move.

Text 001, "Muscle Extraction": sections, bumps, bumps linked, ellipses, muscles. Each region of the body gives
sections and bumps in a way of its own (`limbs`, `trunk`); from there on all are treated alike.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ecorche.base.checks import require_finite, require_indices
from ecorche.errors import MeshError
from ecorche.muscles.extraction.attach import limb_muscle
from ecorche.muscles.extraction.bump import Bump, Cut
from ecorche.muscles.extraction.bumps import limb_bumps
from ecorche.muscles.extraction.ellipses import Ellipse, bump_ellipse
from ecorche.muscles.extraction.limbs import LeftOut, LimbBone, limb_bones, limb_cuts, lone_limbs, membership
from ecorche.muscles.extraction.linking import LONG, PROMINENT, Track, linked
from ecorche.muscles.extraction.overlap import parted
from ecorche.muscles.extraction.rings import SpaceRings, space_rings
from ecorche.muscles.extraction.template_names import TemplateNames
from ecorche.muscles.extraction.trunk import trunk_bumps, trunk_regions
from ecorche.muscles.extraction.trunk_muscles import TrunkMuscles, trunk_ellipse
from ecorche.muscles.extraction.trunk_plan import plan_trunk
from ecorche.muscles.extraction.under_skin import bounded
from ecorche.muscles.lofted import LoftedMuscle
from ecorche.skeleton.naming import Naming
from ecorche.skeleton.skeleton import Skeleton

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

FEWEST_RINGS = 3
"""Of a muscle."""
THIN = 0.15
"""A muscle is as thick as this share of its width, in the middle of its rings; less is a plate."""
HANGING = "it has an underside, so it is flesh and no muscle: left to plain skinning"
SECTORS = "front", "front outer", "outer", "back outer", "back", "back inner", "inner", "front inner"
"""Directions from a bone that name a muscle, an eighth of a turn each."""


@dataclass(frozen=True, eq=False)
class Region:
    """A part of the skin with its sections and the bumps in them.

    Attributes:
        name: Such as ``"upper arm, left"``.
        cuts: Its sections.
        bumps: Bumps in them; ``Bump.cut`` counts these sections.
        ellipse: The ellipse of one of its bumps.
        muscle: The muscle of rings that were linked, or why they are none; the last word on that.
        prominent: The least prominence of its muscles, share of the section's mean radius.
        long: The least length of its muscles, share of the region.
        side: Of the trunk, 1 on the left and −1 on the right; 0 for a limb.
    """

    name: str
    cuts: Sequence[Cut]
    bumps: Sequence[Bump]
    ellipse: Callable[[Cut, Bump], Ellipse]
    muscle: Callable[[SpaceRings], LoftedMuscle | str]
    prominent: float = PROMINENT
    long: float = LONG
    side: int = 0


@dataclass(frozen=True, eq=False, repr=False)
class Extraction:
    """What was found in a skin.

    Attributes:
        muscles: The muscles, with names of their own.
        tracks: The track of each muscle; its bumps are numbers into ``bumps``.
        regions: Names of the regions that ``Cut.region`` counts.
        cuts: All sections.
        bumps: All bumps; ``Bump.cut`` counts ``cuts``.
        left_out: Parts left to plain skinning, and why.
        notes: What a person should know, a sentence each.
    """

    muscles: tuple[LoftedMuscle, ...]
    tracks: tuple[Track, ...]
    regions: tuple[str, ...]
    cuts: tuple[Cut, ...]
    bumps: tuple[Bump, ...]
    left_out: tuple[LeftOut, ...]
    notes: tuple[str, ...]

    def __repr__(self) -> str:
        return f"Extraction({len(self.muscles)} muscles, {len(self.cuts)} sections, {len(self.bumps)} bumps)"


class _Skin(NamedTuple):
    """A skin without seams.

    Attributes:
        points: At bind [m], (V, 3).
        triangles: (T, 3).
        joints, shares: Which joints move each vertex, and how much, (V, K) each.
    """

    points: Floats
    triangles: Ints
    joints: Ints
    shares: Floats

    @property
    def dominant(self) -> Ints:
        """The joint that moves each vertex most, (V,)."""
        if len(self.joints) == 0:
            return np.zeros(0, np.int64)
        return np.asarray(self.joints[np.arange(len(self.joints)), np.argmax(self.shares, axis=1)])


def extract_muscles(
    points: npt.ArrayLike,
    triangles: npt.ArrayLike,
    weights: tuple[npt.ArrayLike, npt.ArrayLike],
    skeleton: Skeleton,
    naming: Naming,
) -> Extraction:
    """Find the muscles that show in a skin.

    Args:
        points: The skin at bind [m], shape (V, 3); vertices split at seams are joined where they coincide.
        triangles: Vertex numbers, shape (T, 3).
        weights: Joints and weights of each vertex, shapes (V, K) each, padded with weight 0.
        skeleton: The character's joints.
        naming: Their names, as far as they are known.
    """
    regions, left_out = skin_regions(points, triangles, weights, skeleton, naming)
    return _assembled(regions, TemplateNames(skeleton, naming), left_out)


def skin_regions(
    points: npt.ArrayLike,
    triangles: npt.ArrayLike,
    weights: tuple[npt.ArrayLike, npt.ArrayLike],
    skeleton: Skeleton,
    naming: Naming,
) -> tuple[list[Region], list[LeftOut]]:
    """The regions of a skin with their sections and bumps, and what is left to plain skinning.

    The arguments are those of `extract_muscles`.
    """
    skin = _joined(points, triangles, weights)
    left_out: list[LeftOut] = []
    regions = list(_limb_regions(skin, skeleton, naming, left_out))
    regions += _trunk_regions(skin, skeleton, naming, left_out)
    return regions, left_out


def _joined(
    points: npt.ArrayLike, triangles: npt.ArrayLike, weights: tuple[npt.ArrayLike, npt.ArrayLike]
) -> _Skin:
    """The skin with vertices of one place made one; it has the weights of the first of them."""
    places = np.asarray(points, np.float64).reshape(-1, 3)
    joints, shares = np.asarray(weights[0], np.int64), np.asarray(weights[1], np.float64)
    require_finite(places, "Point", "the skin muscles are looked for in", MeshError)
    require_finite(shares, "The weights of point", "the skin muscles are looked for in", MeshError)
    require_indices(
        np.asarray(triangles, np.int64),
        len(places),
        "Triangle corner",
        "the skin muscles are looked for in",
        MeshError,
    )
    _, first, which = np.unique(places, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first, kind="stable")  # in the skin's own order
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    kept = first[order]
    corners = rank[which.reshape(-1)][np.asarray(triangles, np.int64).reshape(-1, 3)]
    return _Skin(places[kept], corners, joints[kept], shares[kept])


def _limb_regions(
    skin: _Skin, skeleton: Skeleton, naming: Naming, left_out: list[LeftOut]
) -> Iterator[Region]:
    """The regions of all limbs."""
    plan = plan_trunk(skeleton, naming, skin.points, skin.dominant)
    if isinstance(plan, str):
        alone = lone_limbs(skeleton)
        if alone is None:
            left_out.append(("limbs", "no joint is apart from another"))
            return
        plan = alone
    bones, ends = limb_bones(skeleton, naming, plan)
    left_out += ends
    balls = {root.ball for root in plan.roots}
    for bone in bones:
        cuts = limb_cuts(bone, skin.points, skin.triangles, membership(bone, skin.joints, skin.shares), 0)
        if isinstance(cuts, str):
            left_out.append((bone.full_name, cuts))
            continue
        span = cuts[0].along, cuts[-1].along
        first = bone.joints[0] in balls
        maker = _under(skin, _limb_maker(bone, span, skeleton, first))
        yield Region(bone.full_name, cuts, limb_bumps(cuts), bump_ellipse, maker)


def _trunk_regions(
    skin: _Skin, skeleton: Skeleton, naming: Naming, left_out: list[LeftOut]
) -> Iterator[Region]:
    """The regions of the trunk; their bumps are as prominent as they must be."""
    trunk = trunk_regions(skin.points, skin.triangles, skin.dominant, skeleton, naming)
    left_out += trunk.left_out
    if trunk.plan is None or trunk.skin is None:
        return
    made = TrunkMuscles(trunk.plan, skeleton, naming, skin.points, skin.joints, skin.shares)
    for region in trunk.regions:
        cuts, bumps, flesh = trunk_bumps(region, trunk.skin)
        if flesh:
            left_out.append((f"{region.name}, what hangs from the chest", HANGING))
        maker = _under(skin, made.maker(region))
        yield Region(region.name, cuts, bumps, trunk_ellipse, maker, prominent=0.0, side=region.side)


def _under(
    skin: _Skin, maker: Callable[[SpaceRings], LoftedMuscle | str]
) -> Callable[[SpaceRings], LoftedMuscle | str]:
    """The maker of muscles that are then kept under the skin; where too little is left, there is none."""

    def muscle(rings: SpaceRings) -> LoftedMuscle | str:
        made = maker(rings)
        if isinstance(made, str):
            return made
        if len(made.rings.u) < FEWEST_RINGS:
            return "it is too short"
        made = bounded(made, skin.points, skin.triangles)
        if np.median(made.rings.half_axes.min(axis=1) / made.rings.half_axes.max(axis=1)) < THIN:
            return "it is a plate and not a muscle"
        return made

    return muscle


def _limb_maker(
    bone: LimbBone, span: tuple[float, float], skeleton: Skeleton, first: bool
) -> Callable[[SpaceRings], LoftedMuscle]:
    def muscle(rings: SpaceRings) -> LoftedMuscle:
        return limb_muscle(_limb_name(bone, rings), bone, rings, span, skeleton, first)

    return muscle


def _limb_name(bone: LimbBone, rings: SpaceRings) -> str:
    """Such as ``"upper arm front, left"``."""
    out = rings.outward.mean(axis=0)
    eighth = round(float(np.arctan2(out @ bone.outer, out @ bone.front)) / (np.pi / 4.0)) % 8
    name = f"{bone.name} {SECTORS[eighth]}"
    return f"{name}, {bone.side}" if bone.side else name


def _assembled(regions: Sequence[Region], known: TemplateNames, left_out: list[LeftOut]) -> Extraction:
    """All regions' muscles together, each with a name of its own."""
    cuts: list[Cut] = []
    bumps: list[Bump] = []
    found: list[Track] = []
    notes: list[str] = []
    for number, region in enumerate(regions):
        links = linked(region.cuts, region.bumps, prominent=region.prominent, long=region.long)
        first = len(found)
        found += [
            Track(
                number,
                tuple(len(bumps) + b for b in track.bumps),
                track.prominence,
                first + track.joins if track.joins >= 0 else -1,
            )
            for track in links.tracks
        ]
        if links.slight or links.short:
            notes.append(
                f"{region.name}: of {len(links.tracks) + links.slight + links.short} swellings {links.slight}"
                f" stand out too little and {links.short} are too short to be muscles."
            )
        bumps += [replace(b, cut=b.cut + len(cuts)) for b in region.bumps]
        cuts += [replace(c, region=number) for c in region.cuts]
    sides = [regions[t.region].side for t in found]
    kept, taken = parted([t.bumps for t in found], bumps, cuts, sides)
    tracks: list[Track] = []
    muscles: list[LoftedMuscle] = []
    every_rings: list[SpaceRings] = []
    numbered: dict[int, int] = {}
    for n, (track, own) in enumerate(zip(found, kept, strict=True)):
        region = regions[track.region]
        if not own:
            better = regions[found[taken[n]].region].name
            notes.append(f"{region.name}: a swelling is the muscle that {better} shows better.")
            continue
        row = [bumps[b] for b in own]
        rings = space_rings(cuts, row, [region.ellipse(cuts[b.cut], b) for b in row])
        muscle = region.muscle(rings)
        if isinstance(muscle, str):
            notes.append(f"{region.name}: a swelling was left to plain skinning, {muscle}.")
            continue
        numbered[n] = len(tracks)
        tracks.append(replace(track, bumps=own, prominence=max(b.prominence for b in row)))
        muscles.append(muscle)
        every_rings.append(rings)
    tracks = [replace(t, joins=numbered.get(t.joins, -1)) for t in tracks]
    names = _unique([m.name for m in muscles])
    muscles = [
        replace(m, name=name, muscle=name, joins=names[t.joins] if t.joins >= 0 else "")
        for m, name, t in zip(muscles, names, tracks, strict=True)
    ]
    return Extraction(
        tuple(known.named(muscles, every_rings)),
        tuple(tracks),
        tuple(r.name for r in regions),
        tuple(cuts),
        tuple(bumps),
        tuple(left_out),
        tuple(notes),
    )


def _unique(names: Sequence[str]) -> list[str]:
    """Names told apart by a number before the side: ``"thigh front, left"``, ``"thigh front 2, left"``."""
    given: list[str] = []
    for name in names:
        stem, comma, side = name.partition(", ")
        number, wanted = 1, name
        while wanted in given:
            number += 1
            wanted = f"{stem} {number}{comma}{side}"
        given.append(wanted)
    return given
