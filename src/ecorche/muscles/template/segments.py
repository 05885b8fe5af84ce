"""Segment coordinates: where a point of the body is, told so that it means the same on any humanoid.

An attachment is written as a segment, named by the H-Anim joint at its near end, and three numbers in
that segment's own frame. Frames come from joint positions alone: a rig's own axes say nothing about
anatomy. In the default pose (standing, arms at the sides, palms inward) every frame has

    x  to the body's right,   z  forward,   y  along the bone, towards its far end,

and follows its limb from there to the bind pose by the smallest rotations of `default_pose`. So on the
right side +x is lateral, on the left it is medial, and mirroring is ``x -> -x`` everywhere. At the
forearm and hand, where the palm faces inward, +x is the back of the right hand and +z the thumb's side.
The foot alone differs: its y is forward and level, its z up.

Numbers are in units of a body measure, per axis:

    limbs                 all axes: bone length (near joint to far joint)
    hand, digits          all axes: 0.35 of the forearm
    foot, toes            all axes: ankle to ball of the foot
    pelvis                x: half the distance of the hips; y, z: trunk length (mid-hips to mid-shoulders)
    lumbar, waist, thorax x: half the distance of the shoulders; y, z: trunk length
    clavicle, scapula     as the thorax
    neck, skull           all axes: 0.4 of the trunk length

Rigs disagree on where spine and collar joints lie, so the trunk is measured by hips and shoulders
instead: pelvis frames start at mid-hips, the lumbar frame 0.3 of the way up, the thorax frame at
mid-shoulders (its y still points up, so the waist has negative y), clavicle and scapula at the shoulder
joint. The waist shares the thorax frame, but rides on the joint of the spine that moves the lower ribs and
the belly. x to the right and y up make trunk frames left-handed; they carry coordinates, not rotations.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ecorche.base.rotations import inverse_xyzw, matrix_from_xyzw, normalise
from ecorche.skeleton.default_pose import default_from_bind
from ecorche.skeleton.naming.recognise import Naming
from ecorche.skeleton.naming.vocabulary import NECK, TRUNK
from ecorche.skeleton.skeleton import Skeleton

Floats = npt.NDArray[np.float64]
Adder = Callable[[str, int, Floats, Floats, npt.ArrayLike], None]

RIGHT, UP, FORWARD = np.array([-1.0, 0.0, 0.0]), np.array([0.0, 1.0, 0.0]), np.array([0.0, 0.0, 1.0])

HAND_IN_FOREARMS = 0.35
"""Wrist to knuckles over elbow to wrist; rigs put the joints of the palm anywhere, or leave them out."""
HEAD_IN_TRUNKS = 0.4
FOOT_IN_SHANKS = 0.36
"""Ankle to ball of the foot over the shank, for rigs without toes, as on the characters at hand."""
TRUNK_IN_HALF_SHOULDERS, TRUNK_IN_HALF_HIPS = 2.5, 5.0
"""Trunk length of a bust, which has no hips to measure it by, and of legs alone."""
LOW_HEAD, HEAD_UP, HEAD_FORWARD = 0.15, 0.21, 0.07
"""Some rigs put the head joint low in the neck. Where it is nearer to the neck's base than the first share
of the trunk, the skull is taken to begin above and before that base by the others."""
LUMBAR_HEIGHT = 0.3
WAIST_HEIGHT = 0.65
"""The waist rides on the highest joint of the spine up to this share of the way from hips to shoulders."""

_BONES = {"shoulder": "elbow", "elbow": "radiocarpal", "hip": "knee", "knee": "talocrural"}
_TOES = tuple(f"metatarsophalangeal_{n}" for n in (2, 3, 1, 4, 5))


@dataclass(frozen=True, eq=False)
class Segment:
    """One body part of one skeleton.

    Attributes:
        name: Its name in the template: the H-Anim joint at its near end.
        joint: The number of the skeleton's joint that carries it.
        frame: ``world_from_segment`` at bind, axes scaled by the body measures [m], shape (4, 4).
        stand_in: Whether the joint is another than the one of that name, which the rig does not have.
    """

    name: str
    joint: int
    frame: Floats
    stand_in: bool

    def point(self, coordinates: npt.ArrayLike) -> Floats:
        """Bind positions [m] of segment coordinates, shape (..., 3)."""
        return np.asarray(coordinates, np.float64) @ self.frame[:3, :3].T + self.frame[:3, 3]

    def direction(self, hint: npt.ArrayLike) -> Floats:
        """Unit directions at bind of directions in segment axes, shape (..., 3)."""
        return normalise(np.asarray(hint, np.float64) @ normalise(self.frame[:3, :3].T))


def segment_frames(skeleton: Skeleton, naming: Naming) -> dict[str, Floats]:
    """``world_from_segment`` at bind, (4, 4) each, of every segment this skeleton has."""
    return {name: segment.frame for name, segment in segments(skeleton, naming).items()}


def segments(skeleton: Skeleton, naming: Naming) -> dict[str, Segment]:
    """Every body part this skeleton has, by its name in the template."""
    return _Figure(skeleton, naming).segments()


class _Figure:
    """A skeleton with the measures that frames are made of."""

    def __init__(self, skeleton: Skeleton, naming: Naming) -> None:
        self.heads = skeleton.bind_world[:, :3, 3]
        self.joint_of = {name: joint for joint, name in enumerate(naming.canonical) if name is not None}
        self.bind_from_default = inverse_xyzw(default_from_bind(skeleton, naming.canonical))
        self.trunk_joints = [self.joint_of[n] for n in TRUNK if n in self.joint_of]
        self.neck_joints = [self.joint_of[n] for n in NECK if n in self.joint_of]
        self.root = self.joint_of.get("sacroiliac", self.joint_of.get("humanoid_root"))

    def at(self, name: str) -> Floats | None:
        """Bind position of the joint of that name."""
        return self.heads[self.joint_of[name]] if name in self.joint_of else None

    def axes(self, joint: int, y: Floats = UP) -> Floats:
        """Unit x, y, z of a joint's bone at bind, as columns; ``y`` is told in the default pose."""
        z = UP if y is FORWARD else FORWARD
        turn = matrix_from_xyzw(self.bind_from_default[joint])
        turned: Floats = turn @ np.stack([RIGHT, y, z], axis=1)
        return turned

    def segments(self) -> dict[str, Segment]:
        found: dict[str, Segment] = {}

        def add(name: str, joint: int, origin: Floats, axes: Floats, units: npt.ArrayLike) -> None:
            frame = np.eye(4)
            frame[:3, :3] = axes * np.asarray(units, np.float64)
            frame[:3, 3] = origin
            if np.abs(np.linalg.det(frame[:3, :3])) > 1e-12:
                found[name] = Segment(name, joint, frame, self.joint_of.get(name) != joint)

        self._trunk(add)
        for side in "rl":
            for near, far in _BONES.items():
                self._limb(add, f"{side}_{near}", f"{side}_{far}")
            self._hand(add, side)
            self._foot(add, side)
        return found

    def _limb(self, add: Adder, near: str, far: str) -> None:
        start, end = self.at(near), self.at(far)
        if start is not None and end is not None:
            length = float(np.linalg.norm(end - start))
            add(near, self.joint_of[near], start, self.axes(self.joint_of[near], -UP), (length,) * 3)

    def _hand(self, add: Adder, side: str) -> None:
        elbow, wrist = self.at(f"{side}_elbow"), self.at(f"{side}_radiocarpal")
        if elbow is None or wrist is None:
            return
        unit = HAND_IN_FOREARMS * float(np.linalg.norm(wrist - elbow))
        for ray in ("radiocarpal", "carpometacarpal_1", *(f"metacarpophalangeal_{n}" for n in range(1, 6))):
            name = f"{side}_{ray}"
            if name in self.joint_of:
                joint = self.joint_of[name]
                add(name, joint, self.heads[joint], self.axes(joint, -UP), (unit,) * 3)
        fingers = [f"{side}_metacarpophalangeal_{n}" for n in range(2, 6)]
        there = [name for name in fingers if name in self.joint_of]
        if len(there) == 1 and fingers[1] not in there:
            # a mitten: the one finger joint of the rig carries all of them, the middle one first
            joint = self.joint_of[there[0]]
            add(fingers[1], joint, self.heads[joint], self.axes(joint, -UP), (unit,) * 3)

    def _foot(self, add: Adder, side: str) -> None:
        ankle = self.at(f"{side}_talocrural")
        ball = next((f"{side}_{toe}" for toe in _TOES if f"{side}_{toe}" in self.joint_of), None)
        knee = self.at(f"{side}_knee")
        if ankle is None:
            return
        joint = self.joint_of[f"{side}_talocrural"]
        if ball is not None:
            toes = self.joint_of[ball]
            length = float(np.linalg.norm(self.heads[toes] - ankle))
            units = (length, length, length)
            add(f"{side}_metatarsophalangeal_2", toes, self.heads[toes], self.axes(toes, FORWARD), units)
        elif knee is not None:
            length = FOOT_IN_SHANKS * float(np.linalg.norm(ankle - knee))
        else:
            return
        add(f"{side}_talocrural", joint, ankle, self.axes(joint, FORWARD), (length,) * 3)

    def _pair(self, base: str) -> tuple[Floats, Floats] | None:
        """Right and left joint; one alone is mirrored in the body's middle plane."""
        right, left = self.at(f"r_{base}"), self.at(f"l_{base}")
        middles = [*self.trunk_joints[::-1], *self.neck_joints, *([] if self.root is None else [self.root])]
        if right is not None and left is not None:
            return right, left
        one = right if right is not None else left
        if one is None or not middles:
            return None
        across = self.axes(middles[0])[:, 0]
        other = one - 2.0 * across * float(across @ (one - self.heads[middles[0]]))
        return (one, other) if right is not None else (other, one)

    def _trunk(self, add: Adder) -> None:
        hips, shoulders = self._pair("hip"), self._pair("shoulder")
        carriers = [j for j in (self.root, *self.trunk_joints) if j is not None]
        if not carriers:
            return
        half_hips, half_shoulders = (
            0.0 if pair is None else 0.5 * float(np.linalg.norm(pair[0] - pair[1]))
            for pair in (hips, shoulders)
        )
        low = None if hips is None else 0.5 * (hips[0] + hips[1])
        high = None if shoulders is None else 0.5 * (shoulders[0] + shoulders[1])
        axes = self.axes(carriers[-1])
        if low is not None and high is not None:
            trunk = float(np.linalg.norm(high - low))
            axes = _upright_along(axes, high - low)
        elif high is not None:
            trunk = TRUNK_IN_HALF_SHOULDERS * half_shoulders
        else:
            trunk = TRUNK_IN_HALF_HIPS * half_hips
        if low is not None and self.root is not None:
            add("sacroiliac", self.root, low, self.axes(self.root), (half_hips, trunk, trunk))
        if high is None:
            return
        units = (half_shoulders, trunk, trunk)
        thorax = carriers[-1]
        if low is not None:
            lumbar = self.trunk_joints[0] if self.trunk_joints else thorax
            add("vl5", lumbar, low + LUMBAR_HEIGHT * (high - low), axes, units)
            up = (high - low) / max(trunk**2, 1e-30)
            under = [j for j in self.trunk_joints if float(up @ (self.heads[j] - low)) <= WAIST_HEIGHT]
            add("vl1", under[-1] if under else lumbar, high, axes, units)
        add("vt1", thorax, high, axes, units)
        for side in "rl":
            shoulder = self.at(f"{side}_shoulder")
            if shoulder is not None:
                clavicle = self.joint_of.get(f"{side}_sternoclavicular", thorax)
                scapula = self.joint_of.get(f"{side}_acromioclavicular", clavicle)
                add(f"{side}_sternoclavicular", clavicle, shoulder, axes, units)
                add(f"{side}_acromioclavicular", scapula, shoulder, axes, units)
        self._head(add, trunk)

    def _head(self, add: Adder, trunk: float) -> None:
        skull = self.joint_of.get("skullbase")
        if skull is None:
            return
        unit = HEAD_IN_TRUNKS * trunk
        origin = self.heads[skull]
        if self.neck_joints:
            neck = self.neck_joints[0]
            base, axes = self.heads[neck], self.axes(neck)
            add("vc4", neck, base, axes, (unit,) * 3)
            if np.linalg.norm(origin - base) < LOW_HEAD * trunk:
                origin = base + trunk * (HEAD_UP * axes[:, 1] + HEAD_FORWARD * axes[:, 2])
        add("skullbase", skull, origin, self.axes(skull), (unit,) * 3)


def _upright_along(axes: Floats, up: Floats) -> Floats:
    """Axes with y along ``up`` and x kept as nearly as that allows."""
    y = normalise(up)
    x = normalise(axes[:, 0] - y * float(y @ axes[:, 0]))
    return np.stack([x, y, np.cross(y, x)], axis=1)
