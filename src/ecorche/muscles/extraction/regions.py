"""The regions of a skin, limbs and trunk, each with its sections, its bumps and what makes muscles of them.

Text 001, "Profile Curves of Skin Model". Each region of the body gives sections and bumps in a way of its own
(`limbs`, `trunk`); from there on all are treated alike (`build`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ecorche.base.checks import require_finite, require_indices
from ecorche.errors import MeshError
from ecorche.muscles.extraction.attach import limb_muscle
from ecorche.muscles.extraction.bump import Bump, Cut
from ecorche.muscles.extraction.bumps import limb_bumps
from ecorche.muscles.extraction.ellipses import Ellipse, bump_ellipse
from ecorche.muscles.extraction.limb_ends import limb_end
from ecorche.muscles.extraction.limbs import LeftOut, LimbBone, limb_bones, limb_cuts, lone_limbs, membership
from ecorche.muscles.extraction.linking import LONG, PROMINENT
from ecorche.muscles.extraction.pieces import pieces_of
from ecorche.muscles.extraction.rings import SpaceRings
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
RIDGE = "it reaches over the middle, as a mane or crest does, and muscles are paired: left to plain skinning"
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
        midplane: Of the trunk, a point of it [m] and the unit vector to the left, (2, 3); None for a limb.
    """

    name: str
    cuts: Sequence[Cut]
    bumps: Sequence[Bump]
    ellipse: Callable[[Cut, Bump], Ellipse]
    muscle: Callable[[SpaceRings], LoftedMuscle | str]
    prominent: float = PROMINENT
    long: float = LONG
    side: int = 0
    midplane: Floats | None = None


class Skin(NamedTuple):
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
    return regions_of(joined(points, triangles, weights), skeleton, naming)


def regions_of(skin: Skin, skeleton: Skeleton, naming: Naming) -> tuple[list[Region], list[LeftOut]]:
    """The same for a skin without seams."""
    left_out: list[LeftOut] = []
    regions = list(_limb_regions(skin, skeleton, naming, left_out))
    regions += _trunk_regions(skin, skeleton, naming, left_out)
    return regions, left_out


def joined(
    points: npt.ArrayLike, triangles: npt.ArrayLike, weights: tuple[npt.ArrayLike, npt.ArrayLike]
) -> Skin:
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
    return Skin(places[kept], corners, joints[kept], shares[kept])


def _limb_regions(
    skin: Skin, skeleton: Skeleton, naming: Naming, left_out: list[LeftOut]
) -> Iterator[Region]:
    """The regions of all limbs."""
    plan = plan_trunk(skeleton, naming, skin.points, skin.dominant)
    if isinstance(plan, str):
        alone = lone_limbs(skeleton)
        if alone is None:
            left_out.append(("limbs", "no joint is apart from another"))
            return
        plan = alone
    weights = skin.joints, skin.shares
    bones, ends = limb_bones(
        skeleton, naming, plan, lambda joint: limb_end(skeleton, joint, skin.points, skin.triangles, weights)
    )
    left_out += ends
    balls = {root.ball for root in plan.roots}
    pieces = pieces_of(skin.triangles, len(skin.points))
    for bone in bones:
        moved = membership(bone, skin.joints, skin.shares)
        cuts = limb_cuts(bone, skin.points, skin.triangles, moved, 0, pieces)
        if isinstance(cuts, str):
            left_out.append((bone.full_name, cuts))
            continue
        span = cuts[0].along, cuts[-1].along
        first = bone.joints[0] in balls
        maker = _under(skin, _limb_maker(bone, span, skeleton, first))
        yield Region(bone.full_name, cuts, limb_bumps(cuts), bump_ellipse, maker)


def _trunk_regions(
    skin: Skin, skeleton: Skeleton, naming: Naming, left_out: list[LeftOut]
) -> Iterator[Region]:
    """The regions of the trunk; their bumps are as prominent as they must be."""
    trunk = trunk_regions(skin.points, skin.triangles, skin.dominant, skeleton, naming)
    left_out += trunk.left_out
    if trunk.plan is None or trunk.skin is None:
        return
    made = TrunkMuscles(trunk.plan, skeleton, naming, skin.points, skin.joints, skin.shares)
    for region in trunk.regions:
        cuts, bumps, flesh, ridges = trunk_bumps(region, trunk.skin)
        if flesh:
            left_out.append((f"{region.name}, what hangs from the chest", HANGING))
        if ridges:
            left_out.append((f"{region.name}, a ridge in the body's middle", RIDGE))
        maker = _under(skin, made.maker(region))
        midplane = np.stack([trunk.plan.start, trunk.plan.left])
        yield Region(region.name, cuts, bumps, trunk_ellipse, maker, 0.0, LONG, region.side, midplane)


def _under(
    skin: Skin, maker: Callable[[SpaceRings], LoftedMuscle | str]
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
