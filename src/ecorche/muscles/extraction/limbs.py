"""The bones of limbs on any skeleton, and the sections of skin across them.

Text 001, "Profile Curves of Skin Model": sections of an arm or leg stand perpendicular to its bone. The
text leaves open which bones are limbs and whose a curve is where a plane cuts more than one. Here limbs are
what `trunk_plan` says (by name on people, by pairs of chains on creatures); a bone runs from hinge to
hinge, twist joints on the way belong to it. From shoulder or hip on all animals with legs have two long
bones with muscles; what follows is hand or foot, however long, and only tendons run there: with other short
ends of chains it is left to plain skinning, and it is said so. A second bone that no joint ends, ends where
`limb_ends` says. Of the curves in a plane the largest counts
that is closed, goes round the bone and moves with it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from ecorche.base.contours import Contour, contours
from ecorche.base.rotations import normalise
from ecorche.muscles.extraction.bump import Cut
from ecorche.muscles.extraction.trunk_plan import LimbRoot, TrunkPlan
from ecorche.skeleton.naming import Naming
from ecorche.skeleton.skeleton import Skeleton

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

SPACING = 1.0 / 30.0
"""From section to section, as a share of the bone: 8 to 14 mm on a grown person."""
BEYOND = 0.1
"""How far past a bone's ends sections are tried, as a share of the bone."""
OVERLAP = 0.02
"""Triangles count to a bone's region if it moves a corner by more than this share."""
BELONGS = 0.35
"""A section is the bone's if it moves the section's points by this share on average."""
POINTS = 64
"""Points of a section, evenly spaced round it."""
FEWEST_SECTIONS = 8
"""A region with fewer sections is left to plain skinning."""
SHORT = 0.4
"""A bone shorter than this share of its limb's longest is hand, foot or hoof."""
LONG_BONES = 2
"""So many bones with muscles follow a shoulder or hip: upper arm and forearm, thigh and lower leg."""
NECK_FROM_START, NECK_FROM_END = 0.25, 0.35
"""Within this share of a region from its start and end a thinnest section, a neck, is where it begins and
ends: beyond lies the flare of knee, elbow, hand or foot."""
RISE = 1.02
"""By this factor a limb must grow thicker again on both sides of a neck."""
ALONE = "limb"
"""Kind of a limb without a trunk, of which nobody knows what bone it begins with."""
HAND_OR_FOOT = "hand or foot, or too short for muscles to show: left to plain skinning"
NO_LENGTH = "it begins in one place with the bone before it, which has no length"
NO_END = "no joint says where it ends, such as a hand or foot, nor does the skin: left to plain skinning"
BEYOND_END = "hand or foot if any: left to plain skinning; not a joint but the bone's tip or the skin ends it"
LIMBS = {"shoulder": "upper arm", "elbow": "forearm", "hip": "thigh", "knee": "lower leg"}
"""What people call the bone that begins at a joint."""


@dataclass(frozen=True, eq=False)
class LimbBone:
    """One bone of a limb, as sections are cut across it.

    Attributes:
        name: Such as ``"upper arm"``; a creature's bone has its joint's name.
        side: ``"left"``, ``"right"``, or empty where the name says it.
        joints: The joints whose skin is this bone's, its hinge first.
        start, end: Of the bone at bind [m], shape (3,).
        before, after: The joints of the bones it is hinged to at start and end; −1 for none.
        front: Unit vector perpendicular to the bone to the character's front, shape (3,).
        outer: Unit vector perpendicular to both, away from the character's middle, shape (3,).
    """

    name: str
    side: str
    joints: tuple[int, ...]
    start: Floats
    end: Floats
    before: int
    after: int
    front: Floats
    outer: Floats

    @property
    def full_name(self) -> str:
        """With its side."""
        return f"{self.name}, {self.side}" if self.side else self.name

    @property
    def length(self) -> float:
        """Of the bone [m]."""
        return float(np.linalg.norm(self.end - self.start))

    @property
    def axis(self) -> Floats:
        """Unit vector from start to end, shape (3,)."""
        return normalise(self.end - self.start)


LeftOut = tuple[str, str]
"""What was left to plain skinning, and why."""


def limb_bones(
    skeleton: Skeleton, naming: Naming, plan: TrunkPlan, end_of: Callable[[int], Floats | None]
) -> tuple[list[LimbBone], list[LeftOut]]:
    """The bones of all limbs, and the ends of limbs that are left to plain skinning with the reason.

    ``end_of`` gives where the bone of a joint without joints below ends [m], (3,), or None.
    """
    bones: list[LimbBone] = []
    left_out: list[LeftOut] = []
    heads = skeleton.bind_world[:, :3, 3]
    for root in plan.roots:
        hinges, in_one_place = _hinges(skeleton, naming, root.ball)
        left_out += [(_called(skeleton, naming, joint), NO_LENGTH) for joint in in_one_place]
        lengths = [float(np.linalg.norm(heads[b] - heads[a])) for a, b in pairwise(hinges)]
        longest = max(lengths, default=0.0)
        if not lengths and not skeleton.children[root.ball]:
            left_out.append((skeleton.names[root.ball], NO_END))
            continue
        if longest < 1e-6:
            left_out.append((root.name, "the limb's joints all lie in one place"))
            continue
        for number, length in enumerate(lengths):
            if not _may_have_muscles(naming, root, hinges[number]) or length < SHORT * longest:
                break
            if number >= LONG_BONES and root.kind != ALONE:
                break
            bones.append(_bone(skeleton, naming, plan, root, hinges, number, heads[hinges[number + 1]]))
        else:
            number = len(lengths)
        last = hinges[number]
        if (
            number == len(lengths) < LONG_BONES
            and root.kind != ALONE
            and _may_have_muscles(naming, root, last)
        ):
            tip = end_of(last)
            if tip is None or np.linalg.norm(tip - heads[last]) < SHORT * longest:
                left_out.append((skeleton.names[last], NO_END))
            else:
                bones.append(_bone(skeleton, naming, plan, root, hinges, number, tip))
                left_out.append((f"what follows {bones[-1].full_name}", BEYOND_END))
            continue
        left_out.append((", ".join(skeleton.names[j] for j in hinges[number:]), HAND_OR_FOOT))
    return bones, left_out


def _called(skeleton: Skeleton, naming: Naming, joint: int) -> str:
    """What the bone that begins at a joint is called: ``"upper arm, left"``, or as a creature's joint is."""
    side, _, known = (naming.canonical[joint] or "").partition("_")
    if known not in LIMBS:
        return skeleton.names[joint]
    return f"{LIMBS[known]}, {'left' if side == 'l' else 'right'}"


def _may_have_muscles(naming: Naming, root: LimbRoot, joint: int) -> bool:
    """Whether a joint of a limb is none that is known to be a hand's or foot's."""
    known = (naming.canonical[joint] or "")[2:]
    return naming.joint(f"{'lr'[root.side < 0]}_{root.kind}") is None or known in LIMBS


def _bone(
    skeleton: Skeleton,
    naming: Naming,
    plan: TrunkPlan,
    root: LimbRoot,
    hinges: Sequence[int],
    number: int,
    tip: Floats,
) -> LimbBone:
    """The bone of a limb from one of its hinges to a tip [m], (3,)."""
    start, end = hinges[number], hinges[number + 1] if number + 1 < len(hinges) else -1
    before = hinges[number - 1] if number else root.girdle if root.girdle != root.ball else -1
    if before < 0:
        before = int(skeleton.parents[start])
    name, _, side = _called(skeleton, naming, start).partition(", ")
    head = skeleton.bind_world[start, :3, 3]
    front, outer = _directions(tip - head, plan, root.side)
    return LimbBone(name, side, joints_between(skeleton, start, end), head, tip, before, end, front, outer)


def lone_limbs(skeleton: Skeleton) -> TrunkPlan | None:
    """A plan for a skeleton without a trunk, such as an arm by itself: each of its trees is a limb.

    Its front is square to the plane in which its longest limb is bent; None where no joint has a length.
    """
    heads, reach = skeleton.bind_world[:, :3, 3], _reaches(skeleton)
    roots = [int(j) for j in np.flatnonzero(skeleton.parents < 0) if reach[j] > 1e-6]
    if not roots:
        return None
    longest = max(roots, key=lambda j: (reach[j], -j))
    below = heads - heads[longest]
    _, _, axes = np.linalg.svd(below[np.linalg.norm(below, axis=1) <= reach[longest] + 1e-9])
    limbs = tuple(LimbRoot(skeleton.names[j], ALONE, 1, j, j, j) for j in roots)
    part = np.full(skeleton.joint_count, 10, np.int64)
    start = heads[longest]
    return TrunkPlan((), (), limbs, part, axes[1], axes[2], start, start + reach[longest] * axes[0])


def _reaches(skeleton: Skeleton) -> Floats:
    """How far the longest chain below each joint goes [m], (joints,)."""
    heads = skeleton.bind_world[:, :3, 3]
    reach = np.zeros(skeleton.joint_count)
    for joint in reversed(range(skeleton.joint_count)):
        parent = int(skeleton.parents[joint])
        if parent >= 0:
            reach[parent] = max(reach[parent], reach[joint] + np.linalg.norm(heads[joint] - heads[parent]))
    return reach


def _hinges(skeleton: Skeleton, naming: Naming, ball: int) -> tuple[list[int], list[int]]:
    """The joints along a limb, from its ball down the longest way; no twist joints, no two in a place.

    And those of a person's elbow or knee that lie in the place of the one before.
    """
    heads = skeleton.bind_world[:, :3, 3]
    reach = _reaches(skeleton)
    hinges, in_one_place, joint = [ball], list[int](), ball
    while skeleton.children[joint]:
        joint = max(
            skeleton.children[joint],
            key=lambda c: (
                naming.canonical[c] is not None,
                np.linalg.norm(heads[c] - heads[joint]) + reach[c],
                -c,
            ),
        )
        if naming.roles[joint] != "joint":
            continue
        if np.linalg.norm(heads[joint] - heads[hinges[-1]]) > 1e-6:
            hinges.append(joint)
        elif (naming.canonical[joint] or "")[2:] in LIMBS:
            in_one_place.append(joint)
    return hinges, in_one_place


def joints_between(skeleton: Skeleton, start: int, end: int) -> tuple[int, ...]:
    """The joints from one hinge down to the next, side branches included, the next (−1: none) excluded."""
    own, waiting = [], [start]
    while waiting:
        joint = waiting.pop()
        own.append(joint)
        waiting += [c for c in skeleton.children[joint] if c != end]
    return tuple(own)


def _directions(along: Floats, plan: TrunkPlan, side: int) -> tuple[Floats, Floats]:
    """Front and outer of a bone: where the character's belly faces, and away from its middle."""
    axis = normalise(along)
    front = (
        plan.front if abs(plan.front @ axis) < 0.8 else plan.axis
    )  # a creature's legs may point to its front
    front = normalise(front - (front @ axis) * axis)
    outer = np.cross(axis, front)
    away = side * plan.left + 0.5 * plan.axis  # an arm held level has its outer side up
    return front, outer if outer @ away > 0.0 else -outer


def membership(bone: LimbBone, joints: Ints, weights: Floats) -> Floats:
    """How much a bone moves each vertex, 0 to 1, (V,); of skin weights (V, K) on joints (V, K)."""
    share: Floats = np.sum(np.where(np.isin(joints, bone.joints), weights, 0.0), axis=1)
    return share


def limb_cuts(
    bone: LimbBone,
    points: Floats,
    triangles: Ints,
    moved: Floats,
    region: int,
    pieces: Ints | None = None,
) -> list[Cut] | str:
    """The sections across a bone from end to end, or why there are none.

    Args:
        bone: The bone.
        points: The skin at bind [m], (V, 3).
        triangles: Vertex numbers, (T, 3).
        moved: How much the bone moves each vertex, (V,).
        region: Number of its region.
        pieces: The piece of skin each vertex is of, (V,); None where all is one.
    """
    if not (moved > OVERLAP).any():
        return "no skin moves with it"
    cuts = sections(bone.start, bone.end - bone.start, bone.front, points, triangles, moved, region, pieces)
    if len(cuts) < FEWEST_SECTIONS:
        return (
            f"only {len(cuts)} closed sections go round it alone, {FEWEST_SECTIONS} are needed: its skin is"
            " open, or one with the trunk's"
        )
    return _between_necks(cuts)


def sections(
    start: Floats,
    way: Floats,
    front: Floats,
    points: Floats,
    triangles: Ints,
    moved: Floats,
    region: int = 0,
    pieces: Ints | None = None,
) -> list[Cut]:
    """The longest run of closed sections across a bone that goes from a start so far [m], (3,) each.

    ``front`` is square to it; the rest is as of `limb_cuts`.
    """
    length = float(np.linalg.norm(way))
    axis = way / length
    own = triangles[(moved[triangles] > OVERLAP).any(axis=1)]
    frame = np.stack([front, np.cross(axis, front), axis])
    shares = np.arange(-BEYOND, 1.0 + BEYOND + 0.5 * SPACING, SPACING)
    found = contours(points, own, (points - start) @ axis, shares * length)
    cuts: list[Cut] = []
    for share, curves in zip(shares, found.levels, strict=True):
        origin = start + share * length * axis
        best: tuple[float, Floats, int] | None = None
        for curve in curves:
            flat = (curve.points - origin) @ frame[:2].T
            area = _signed_area(flat)
            if curve.closed and _is_own(curve, flat, moved) and (best is None or abs(area) > best[0]):
                piece = 0 if pieces is None else int(pieces[curve.above[0]])
                best = abs(area), curve.points if area > 0.0 else curve.points[::-1], piece
        if best is not None:
            even = _evenly(best[1], origin, frame)
            flat = (even - origin) @ frame[:2].T
            cuts.append(Cut(region, len(cuts), float(share), origin, frame, even, flat, True, piece=best[2]))
    return _longest_run(cuts)


def girths(cuts: Sequence[Cut]) -> Floats:
    """How long the way round each section is [m]."""
    return np.array([np.linalg.norm(np.roll(c.flat, -1, axis=0) - c.flat, axis=1).sum() for c in cuts])


def _is_own(curve: Contour, flat: Floats, moved: Floats) -> bool:
    steps = np.linalg.norm(np.roll(flat, -1, axis=0) - flat, axis=1)
    if float(steps.sum()) <= 0.0:
        return False
    share = float(curve.read(moved) @ steps) / float(steps.sum())
    return share >= BELONGS and _goes_round_origin(flat)


def _goes_round_origin(flat: Floats) -> bool:
    angle = np.arctan2(flat[:, 1], flat[:, 0])
    turn = np.diff(angle, append=angle[:1])
    turn = turn - 2.0 * np.pi * np.round(turn / (2.0 * np.pi))
    return bool(abs(turn.sum()) > np.pi)


def _signed_area(flat: Floats) -> float:
    ahead = np.roll(flat, -1, axis=0)
    return 0.5 * float(np.sum(flat[:, 0] * ahead[:, 1] - flat[:, 1] * ahead[:, 0]))


def _evenly(points: Floats, origin: Floats, frame: Floats) -> Floats:
    """A closed counter-clockwise curve in `POINTS` even steps, wherever its own points begin.

    The first lies straight in x from the curve's middle, where it comes up there furthest out.
    """
    closed = np.vstack([points, points[:1]])
    steps = np.linalg.norm(np.diff(closed, axis=0), axis=1)
    length = np.concatenate([[0.0], np.cumsum(steps)])
    flat = (closed - origin) @ frame[:2].T
    x, y = (flat - steps @ (0.5 * (flat[1:] + flat[:-1])) / length[-1]).T
    up = np.flatnonzero((y[:-1] <= 0.0) & (y[1:] > 0.0))
    share = -y[up] / (y[up + 1] - y[up])
    best = int(np.argmax(x[up] + share * (x[up + 1] - x[up])))
    begin = length[up[best]] + share[best] * steps[up[best]]
    where = (begin + np.linspace(0.0, length[-1], POINTS, endpoint=False)) % length[-1]
    return np.stack([np.interp(where, length, closed[:, k]) for k in range(3)], axis=1)


def _longest_run(cuts: Sequence[Cut]) -> list[Cut]:
    """The longest stretch of sections without a gap."""
    best: list[Cut] = []
    run: list[Cut] = []
    for cut in cuts:
        if run and cut.along - run[-1].along > 1.5 * SPACING:
            run = []
        run.append(cut)
        if len(run) > len(best):
            best = list(run)
    return best


def _between_necks(cuts: list[Cut]) -> list[Cut]:
    """The sections from the neck near the start to the neck near the end, numbered anew."""
    girth = girths(cuts)
    head, tail = max(int(NECK_FROM_START * len(cuts)), 1), max(int(NECK_FROM_END * len(cuts)), 1)
    first, last = int(np.argmin(girth[:head])), len(cuts) - tail + int(np.argmin(girth[-tail:]))
    if min(girth[: first + 1].max(), girth[first:].max()) < RISE * girth[first]:
        first = 0  # it only tapers
    if min(girth[last:].max(), girth[: last + 1].max()) < RISE * girth[last]:
        last = len(cuts) - 1
    return [replace(c, rank=rank) for rank, c in enumerate(cuts[first : last + 1])]
