"""From rings on the trunk to a muscle: what it is attached to, and what it bends round.

Text 001 ends a muscle at the nearest point of a bone. A rig has no ribs, breastbone or shoulder blade: the
nearest bone of a chest muscle would be the spine, deep inside. So here an end on the trunk stays under the
skin where the muscle stops showing, and moves with the joint of the trunk that moves the skin there; an end
at a limb, or near a hip, goes on to the limb's first bone, an end at the head to the skull. A muscle over a
joint comes from the limb's girdle, as the deltoid does, and one from above a shoulder ends there, as the
trapezius does. A muscle on a limb's bone bends over a sphere at the joint, whose radius is a stated share of
the distance of the muscle from it.

A collar bone stands out on lean people as muscles do. It lies before and above the joint of the shoulder, and
the pectoral, which comes from it, below: so a person's is told from a muscle and refused. So is the corner
of a jaw: skin that the head moves more than the neck lies on the skull, and tells of no muscle.

What would be stretched beyond what muscles bear (`stretch`) is attached to another joint that moves the skin
at its end, or further on, and is no muscle if that does not help.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy.spatial import cKDTree

from ecorche.base.rotations import normalise
from ecorche.muscles.extraction.attach import Attachment, on_root_curve
from ecorche.muscles.extraction.bump import Bump, Cut
from ecorche.muscles.extraction.ellipses import Ellipse
from ecorche.muscles.extraction.linking import FEWEST_BUMPS
from ecorche.muscles.extraction.profiles import profile_ellipse
from ecorche.muscles.extraction.rings import SpaceRings
from ecorche.muscles.extraction.stretch import LONGEST, SHORTEST, stretch
from ecorche.muscles.extraction.trunk import TrunkRegion
from ecorche.muscles.extraction.trunk_plan import LimbRoot, TrunkPlan
from ecorche.muscles.lofted import LoftedMuscle, Wrap
from ecorche.skeleton.naming import Naming
from ecorche.skeleton.skeleton import Skeleton

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

ONTO_LIMB = 0.15, 0.45
"""Between these shares of a limb's first bone muscles of the trunk are attached to it."""
AT_HIP = 0.2
"""An end this near to a hip reaches the thigh, share of the thigh's length."""
ABOVE = 0.5
"""A muscle lies above a shoulder if this is the cosine of its direction from there to the trunk's."""
ON_BONE = {"shoulder": 0.3, "hip": 0.6}
"""Height of an attachment over a limb's bone, share of the last ring's distance from it. Most of a buttock
does not reach the thigh bone: it ends in the band of the outer thigh, right under the skin."""
ONWARD = 0.6, 2.0
"""How far an end on the trunk goes on past the last ring, in half-widths of that ring; and where that is too
little, so far."""
OBSTACLE = {"ball": 0.5, "sphere": 0.3}
"""Radius of ball or sphere at a joint, share of the muscle's least distance from it. A muscle goes all the
way round a sphere, and stands off it as far as at bind: a larger one would push a buttock out in a squat."""
DEEPEST = 0.25
"""Half the thickness of a muscle of the trunk is at most this share of its half-width."""
ASIDE = 0.5
"""A muscle lies at the side if it is less far to the front or back than this share of how far aside."""
OTHER_SIDE = 0.02
"""Joints further over the midplane than this share of the widest joint's distance are the other side's."""
NEIGHBOURS = 12
"""How many vertices of the skin say what joint moves it at an end."""
CARRIES = 0.1
"""Joints that move the skin at an end by this share may be what it is attached to."""
BEFORE, BELOW = 0.15, 0.15
"""A collar bone lies so far before its shoulder's joint at least, and no more than so far below it, shares of
the joint's distance from the midplane: by 0.25 and −0.02 on the ten people that show theirs; pectorals lie
0.35 and more below."""
SKULL = "the head moves the skin there, so it is the corner of jaw or skull"
COLLAR_BONE = "it lies before and above the joint of the shoulder, where the collar bone is"
AS_ONE = "both its ends would move with one joint"


def trunk_ellipse(cut: Cut, bump: Bump) -> Ellipse:
    """The ellipse of a bump of the trunk."""
    count = len(cut.flat)
    chord = cut.flat[bump.last % count] - cut.flat[bump.first % count]
    return profile_ellipse(cut, bump, DEEPEST * 0.5 * float(np.linalg.norm(chord)))


class TrunkMuscles:
    """Makes muscles of one character's trunk."""

    def __init__(
        self,
        plan: TrunkPlan,
        skeleton: Skeleton,
        naming: Naming,
        points: Floats,
        joints: Ints,
        shares: Floats,
    ) -> None:
        self.plan, self.skeleton = plan, skeleton
        self._near, self._joints, self._shares = cKDTree(points), joints, shares
        self._heads: Floats = skeleton.bind_world[:, :3, 3]
        self._balls = {root.ball for root in plan.roots}
        # animals that walk on four legs have no collar bones
        self._collars = [r for r in plan.roots if r.kind == "shoulder" and naming.canonical[r.ball]]
        self._ways = np.stack([plan.left, plan.front, plan.axis])

    def maker(self, region: TrunkRegion) -> Callable[[SpaceRings], LoftedMuscle | str]:
        """What makes a muscle of a region's rings."""
        return lambda rings: self.muscle(region, rings)

    def muscle(self, region: TrunkRegion, rings: SpaceRings) -> LoftedMuscle | str:
        """The muscle of rings, or why they are none."""
        if self._is_collar_bone(region, rings):
            return COLLAR_BONE
        if region.round and self._is_skull(rings):
            return SKULL
        refusal = AS_ONE
        for ends in product(*(self._ends(region, rings, n) for n in (0, -1))):
            first, last = ends if ends[0].joint != ends[1].joint else self._apart(*ends)
            if first.joint == last.joint:
                continue
            root = next((r for r in self.plan.roots if r.ball in (first.joint, last.joint)), None)
            hinge, wrap = self._obstacle(root, rings, first, last, region)
            reach = dict.fromkeys((first.joint, last.joint, *self._moved_by(rings)))
            name = self._name(region, rings)
            made = on_root_curve(name, region.name, (first, last), rings, wrap, hinge, tuple(reach))
            least, most = stretch(made, self.skeleton, self._balls, self._ways)
            if least >= SHORTEST and most <= LONGEST:
                return made
            if refusal == AS_ONE:
                refusal = f"moving joints would make it {least:.2f} to {most:.2f} times as long"
        return refusal

    def _is_collar_bone(self, region: TrunkRegion, rings: SpaceRings) -> bool:
        """Whether rings on the trunk show a person's collar bone."""
        root = next((r for r in self._collars if r.ball in region.goals), None)
        if root is None or region.cap is not None:
            return False
        ball = self._heads[root.ball]
        inner = abs(float((ball - self.plan.start) @ self.plan.left))
        away = np.median(rings.top - ball, axis=0)
        before, above = float(away @ self.plan.front), float(away @ self.plan.axis)
        return before > BEFORE * inner and above > -BELOW * inner

    def _is_skull(self, rings: SpaceRings) -> bool:
        """Whether too few rings on a neck lie where the head moves the skin less than all else does."""
        carried = np.stack([self._carried(top) for top in rings.top])
        of_head = carried[:, self.plan.part == 2].sum(axis=1)
        return int(np.sum(of_head < 0.5 * carried.sum(axis=1))) < FEWEST_BUMPS

    def _goal(self, rings: SpaceRings, which: int, goal: int) -> int:
        """The joint whose bone an end goes on to.

        A buttock's reaches the thigh, whatever region shows it. What comes to a shoulder from above, as the
        trapezius, ends on collar bone and shoulder blade, not on the arm.
        """
        for root in self.plan.roots:
            ball, bone = self._heads[root.ball], self._heads[root.next] - self._heads[root.ball]
            near = AT_HIP * float(np.linalg.norm(bone))
            if goal < 0 and root.kind == "hip" and np.linalg.norm(rings.centre[which] - ball) < near:
                return root.ball
            away = rings.top.mean(axis=0) - ball
            above = float(away @ self.plan.axis) > ABOVE * float(np.linalg.norm(away))
            if goal == root.ball and root.kind == "shoulder" and above:
                return root.girdle
        return goal

    def _ends(self, region: TrunkRegion, rings: SpaceRings, which: int) -> list[Attachment]:
        """Where the muscle's origin (which = 0) or insertion (−1) may be attached, the likeliest first."""
        goal = region.goals[which]
        goal = goal if region.cap is not None else self._goal(rings, which, goal)
        last = rings.centre[which]
        inner = rings.centre[min(2, len(rings.centre) - 1) if which == 0 else max(-3, -len(rings.centre))]
        onward = normalise(last - inner) if np.linalg.norm(last - inner) > 1e-9 else np.zeros(3)
        limb = next((r for r in self.plan.roots if r.ball == goal), None)
        if limb is None:
            half = float(np.sqrt(np.linalg.eigvalsh(rings.form[which])[-1]))
            joints = [goal] if goal >= 0 else self._holding(region, rings.top[which])
            return [Attachment(joint, last + far * half * onward) for far in ONWARD for joint in joints]
        start, end = self._heads[limb.ball], self._heads[limb.next]
        low, high = (start + share * (end - start) for share in ONTO_LIMB)
        shares = np.linspace(0.0, 1.0, 33)[:, None]
        places = low + shares * (high - low)
        place = places[int(np.argmin(np.linalg.norm(places - last, axis=1)))]
        return [Attachment(goal, place + ON_BONE[limb.kind] * (last - place))]

    def _holding(self, region: TrunkRegion, place: Floats) -> list[int]:
        """The joints an end on the trunk may be attached to, the likeliest first."""
        carried = self._carried(place)
        if not region.round:  # skin over collar bone and shoulder blade may follow the neck, they do not
            own = np.where(np.isin(self.plan.part, (1, 2)), 0.0, carried)
            carried = own if own.any() else carried
        order = np.argsort(-carried, kind="stable")
        joints = [int(j) for j in order if carried[j] >= CARRIES * carried.sum()]
        girdles = [r.girdle for r in self.plan.roots if r.ball in region.goals and r.girdle != r.ball]
        return list(dict.fromkeys([*girdles, *joints] if region.cap is not None else joints))

    def _carried(self, place: Floats) -> Floats:
        """How much joints of its own side and the middle move the skin at a place, (joints,)."""
        _, near = self._near.query(place, min(NEIGHBOURS, self._near.n))
        near = np.atleast_1d(near)
        total = np.bincount(self._joints[near].ravel(), self._shares[near].ravel(), self.skeleton.joint_count)
        aside = (self._heads - self.plan.start) @ self.plan.left
        other_side = (
            aside * np.sign((place - self.plan.start) @ self.plan.left) < -OTHER_SIDE * np.abs(aside).max()
        )
        if total[~other_side].any():
            total = np.where(other_side, 0.0, total)
        return np.asarray(total, np.float64)

    def _moved_by(self, rings: SpaceRings) -> list[int]:
        """The joints that move the skin over a muscle."""
        return list(dict.fromkeys(int(np.argmax(self._carried(top))) for top in rings.top))

    def _apart(self, first: Attachment, last: Attachment) -> tuple[Attachment, Attachment]:
        """Both ends, the one nearer to another joint of the spine moving with that joint."""
        spine = [j for j in (*self.plan.spine, *self.plan.neck[:1]) if j != first.joint]
        if not spine:
            return first, last
        gaps = np.linalg.norm(self._heads[spine][:, None] - [first.place, last.place], axis=-1)
        nearest, which = np.unravel_index(int(np.argmin(gaps)), gaps.shape)
        moved = Attachment(spine[int(nearest)], (first, last)[which].place)
        return (moved, last) if which == 0 else (first, moved)

    def _obstacle(
        self,
        root: LimbRoot | None,
        rings: SpaceRings,
        first: Attachment,
        last: Attachment,
        region: TrunkRegion,
    ) -> tuple[Floats, Wrap | None]:
        """The joint the muscle crosses [m], and what it bends round there."""
        middle = rings.centre.mean(axis=0)
        if root is None or root.ball not in (first.joint, last.joint):
            joint = last.joint if int(self.skeleton.parents[last.joint]) >= 0 else first.joint
            return self._heads[joint], None
        hinge = self._heads[root.ball]
        line = last.place - first.place
        axis = np.cross(middle - hinge, line)
        if np.linalg.norm(axis) < 1e-9:
            return hinge, None
        socket = int(self.skeleton.parents[root.ball])
        # a buttock stays behind the hip, however far it is bent
        shape: Literal["ball", "sphere"] = "ball" if root.ball in region.goals else "sphere"
        radius = OBSTACLE[shape] * float(np.linalg.norm(rings.centre - hinge, axis=1).min())
        return hinge, Wrap(shape, socket, hinge, normalise(axis), radius)

    def _name(self, region: TrunkRegion, rings: SpaceRings) -> str:
        """Such as ``"shoulder front, left"``: by its place round the trunk; caps and necks as they face."""
        plan = self.plan
        middle = rings.top.mean(axis=0) - plan.start
        side = "left" if middle @ plan.left > 0.0 else "right"
        facing = rings.outward.mean(axis=0) if region.round or region.cap is not None else middle
        ahead, aside = float(facing @ plan.front), abs(float(facing @ plan.left))
        where = "side" if abs(ahead) < ASIDE * aside else "front" if ahead > 0.0 else "back"
        stem = region.name.removeprefix("left ").removeprefix("right ")
        return f"{stem} {where}, {side}"
