"""Muscles on a character that changed: every point stays on its bone, wherever that is now.

A point keeps its place in the frame of its joint. Where a bone became longer or shorter the point goes along
in that share, and across the bone, like the muscle's thickness, it goes with the size of the whole body: the
same map, bone by bone, that carries painted maps (`alignment`), taken the other way. A muscle on a joint that
is gone is set aside as it is, and comes back with the joint. The new skin is not asked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from ecorche.base.rotations import normalise
from ecorche.base.transforms import inverse, nearest_rotation, transform_points
from ecorche.body.alignment import Alignment, JointMatch
from ecorche.document.bind import BindShape
from ecorche.document.fields import Vector
from ecorche.document.joint_spec import VirtualScapulaSpec
from ecorche.document.lofted_spec import LoftedMuscleSpec, RingSpec
from ecorche.document.muscle_spec import HalfCurve, HalfSweep, MuscleSpec, PathPointSpec
from ecorche.document.spec import MusclesSpec, SetAside, SkeletonSpec
from ecorche.skeleton.skeleton import Skeleton

Floats = npt.NDArray[np.float64]
AnyMuscle = TypeVar("AnyMuscle", MuscleSpec, LoftedMuscleSpec)

ROUNDING = 1e-9
"""What changes by less [m] stays as it was written."""
SAME_DIRECTION = 0.03
"""Unit directions that differ by less are of one bone."""
SAME_CONVENTION = np.radians(60.0)
"""Two rigs' frames on a bone that differ by more are drawn by other rules."""
OTHER_POSE = np.radians(10.0)
"""From here on a joint's bind pose counts as another."""


@dataclass
class CarriedMuscles:
    """What became of the muscles.

    Attributes:
        muscles, lofted: Those of the new character, by name.
        scapulae: Its virtual scapulae.
        aside_muscles, aside_lofted, aside_scapulae: Those that wait for their joints.
        set_aside, restored: Names of muscles that went there and came from there now.
        moved_mm: How far points moved within the frames of their joints, as bones changed.
        notes: What else a person should know.
    """

    muscles: dict[str, MuscleSpec] = field(default_factory=dict)
    lofted: dict[str, LoftedMuscleSpec] = field(default_factory=dict)
    scapulae: dict[str, VirtualScapulaSpec] = field(default_factory=dict)
    aside_muscles: dict[str, MuscleSpec] = field(default_factory=dict)
    aside_lofted: dict[str, LoftedMuscleSpec] = field(default_factory=dict)
    aside_scapulae: dict[str, VirtualScapulaSpec] = field(default_factory=dict)
    set_aside: list[str] = field(default_factory=list)
    restored: list[str] = field(default_factory=list)
    moved_mm: list[float] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def has(self, name: str) -> bool:
        """Whether a muscle of that name is there already."""
        return name in self.muscles or name in self.lofted


def carried_muscles(
    muscles: MusclesSpec,
    skeleton_spec: SkeletonSpec,
    old: BindShape,
    new: Skeleton,
    match: JointMatch,
    alignment: Alignment,
) -> CarriedMuscles:
    """The muscles of a rig on its changed character.

    Args:
        muscles: The rig's muscles.
        skeleton_spec: The rig's skeleton, with virtual scapulae and what was set aside before.
        old: The shape the rig was made for.
        new: The joints as they are now.
        match: Which old joint is which new one.
        alignment: How the new character gets to where the old one was.
    """
    result = CarriedMuscles()
    bones = _Bones(old, new, match, alignment)
    aside = skeleton_spec.set_aside or SetAside()
    for name, blade in skeleton_spec.virtual_scapulae.items():
        if {blade.girdle, blade.thorax, blade.arm} <= bones.partner.keys():
            result.scapulae[name] = bones.scapula(name, blade)
        else:
            result.aside_scapulae[name] = blade
    for name, blade in aside.virtual_scapulae.items():
        back = name not in result.scapulae and {blade.girdle, blade.thorax, blade.arm} <= set(new.names)
        (result.scapulae if back else result.aside_scapulae)[name] = blade
    known = {*new.names, *result.scapulae}
    same = {name: name for name in new.names}
    for name, muscle in muscles.named.items():
        if bones.carry(muscle):
            result.muscles[name] = bones.muscle(name, muscle, result)
        else:
            result.aside_muscles[name] = muscle
            result.set_aside.append(name)
    for name, loft in muscles.lofted.items():
        if bones.carry(loft):
            result.lofted[name] = bones.lofted(name, loft, result)
        else:
            result.aside_lofted[name] = loft
            result.set_aside.append(name)
    for name, muscle in aside.muscles.items():
        if not result.has(name) and _joints_of(muscle) <= known:
            result.muscles[name] = _without_lost_joints(name, muscle, same, result)
            result.restored.append(name)
        else:
            result.aside_muscles.setdefault(name, muscle)
    for name, loft in aside.lofted.items():
        if not result.has(name) and _joints_of(loft) <= known:
            result.lofted[name] = _without_lost_joints(name, loft, same, result)
            result.restored.append(name)
        else:
            result.aside_lofted.setdefault(name, loft)
    for name, loft in result.lofted.items():
        if loft.joins is not None and loft.joins not in result.lofted:
            result.lofted[name] = loft.model_copy(update={"joins": None})
            result.notes.append(
                f"Muscle {name!r} no longer branches from {loft.joins!r}, which is set aside."
            )
    result.notes += bones.notes([*muscles.named.values(), *muscles.lofted.values()])
    return result


def _joints_of(muscle: MuscleSpec | LoftedMuscleSpec) -> set[str]:
    """The joints without which a muscle has no place."""
    joints = {point.joint for point in muscle.path}
    if isinstance(muscle, LoftedMuscleSpec) and muscle.wrap is not None:
        joints.add(muscle.wrap.joint)
    return joints


class _Bones:
    """From the old character's joints to the new one's."""

    def __init__(self, old: BindShape, new: Skeleton, match: JointMatch, alignment: Alignment) -> None:
        self.new = new
        self.partner = {name: new.index(there) for name, there in match.pairs.items()}
        self.old_world = dict(zip(old.joint_names, old.joint_world, strict=True))
        if alignment.joints is not None:
            self.maps = inverse(alignment.joints)
            self.size = float(np.linalg.det(alignment.whole[:3, :3])) ** (-1.0 / 3.0)
        else:  # too few joints to measure bones by: each takes what is on it along
            self.maps, self.size = np.tile(np.eye(4), (new.joint_count, 1, 1)), 1.0
            for name, joint in self.partner.items():
                self.maps[joint] = new.bind_world[joint] @ inverse(self.old_world[name])
        self.turns = _rotation_in(self.maps[:, :3, :3])
        for name, joint in self.partner.items():
            if new.names[joint] == name:
                self._follow_frame(name, joint, old)
        # of every joint that is still there: its new name, its number, its frames before and now
        self.frames: dict[str, tuple[str, int, Floats, Floats]] = {
            name: (new.names[joint], joint, self.old_world[name], new.bind_world[joint])
            for name, joint in self.partner.items()
        }

    def _follow_frame(self, name: str, joint: int, old: BindShape) -> None:
        """Turn what is on a joint as its frame was turned, where that took its bones along.

        Bones alone leave a limb's twist open. Some rigs draw all frames along the world's axes however
        they are posed: there the bones decide.
        """
        number = old.joint_names.index(name)
        before, now = (
            nearest_rotation(m[:3, :3]) for m in (self.old_world[name], self.new.bind_world[joint])
        )
        turn = now @ before.T
        children = [n for n, p in zip(old.joint_names, old.joint_parents, strict=True) if p == number]
        bones = [
            (self.old_world[child][:3, 3] - self.old_world[name][:3, 3], self.new.bind_world[there, :3, 3])
            for child in children
            if (there := self.partner.get(child)) is not None
        ]
        head = self.new.bind_world[joint, :3, 3]
        off = [np.linalg.norm(normalise(turn @ b) - normalise(end - head)) for b, end in bones]
        if off and max(off) < SAME_DIRECTION and _angle(turn.T @ self.turns[joint]) < SAME_CONVENTION:
            self.maps[joint, :3, :3] = self.maps[joint, :3, :3] @ self.turns[joint].T @ turn
            self.turns[joint] = turn

    def scapula(self, name: str, blade: VirtualScapulaSpec) -> VirtualScapulaSpec:
        """A virtual scapula on the new joints; muscles may then be carried on it."""
        girdle, thorax, arm = (self.partner[joint] for joint in (blade.girdle, blade.thorax, blade.arm))
        before, now = np.eye(4), np.eye(4)
        before[:3, 3] = self.old_world[blade.arm][:3, 3]
        now[:3, 3] = self.new.bind_world[arm, :3, 3]
        # its own frame has the world's axes; what is on it goes with the girdle, about the shoulder
        self.frames[name] = (name, girdle, before, now)
        return blade.model_copy(
            update={
                "girdle": self.new.names[girdle],
                "thorax": self.new.names[thorax],
                "arm": self.new.names[arm],
                "axis": self.turned(blade.axis, thorax),
                "hanging": self.turned(blade.hanging, thorax),
                "arm_direction": self.turned(blade.arm_direction, arm),
            }
        )

    def carry(self, muscle: MuscleSpec | LoftedMuscleSpec) -> bool:
        """Whether all the joints a muscle needs are still there."""
        return _joints_of(muscle) <= self.frames.keys()

    def point(self, point: PathPointSpec, result: CarriedMuscles) -> PathPointSpec:
        """A place on the new joints."""
        new_name, joint, was, now = self.frames[point.joint]
        arm = transform_points(was, [point.at])[0] - was[:3, 3]
        there = now[:3, 3] + self.maps[joint, :3, :3] @ arm
        at = transform_points(inverse(now), there[None])[0]
        shift = float(np.linalg.norm(self.maps[joint, :3, :3] @ arm - self.turns[joint] @ arm))
        if shift >= ROUNDING:
            result.moved_mm.append(1000.0 * shift)
        same = np.abs(at - point.at).max() < ROUNDING
        return PathPointSpec(joint=new_name, at=point.at if same else _vector(at))

    def muscle(self, name: str, muscle: MuscleSpec, result: CarriedMuscles) -> MuscleSpec:
        """A muscle on the new joints."""
        path = [self.point(point, result) for point in muscle.path]
        belly = self.frames[muscle.path[len(path) // 2].joint][1]
        moved = muscle.model_copy(update={"path": tuple(path), "outward": self.turned(muscle.outward, belly)})
        if self._resizes:
            moved = _resized(moved, self.size)
        return self._with_actions(name, moved, result)

    def lofted(self, name: str, muscle: LoftedMuscleSpec, result: CarriedMuscles) -> LoftedMuscleSpec:
        """A muscle found in the skin, on the new joints."""
        origin, insertion = (self.point(point, result) for point in muscle.path)
        wrap = muscle.wrap
        if wrap is not None:
            centre = self.point(PathPointSpec(joint=wrap.joint, at=wrap.centre), CarriedMuscles())
            wrap = wrap.model_copy(
                update={
                    "joint": centre.joint,
                    "centre": centre.at,
                    "axis": self.turned(wrap.axis, self.frames[wrap.joint][1]),
                    "radius": self.size * wrap.radius if self._resizes else wrap.radius,
                }
            )
        moved = muscle.model_copy(
            update={
                "path": (origin, insertion),
                "wrap": wrap,
                "outward": self.turned(muscle.outward, self.frames[muscle.path[0].joint][1]),
                "rings": tuple(_resized_ring(ring, self.size) for ring in muscle.rings)
                if self._resizes
                else muscle.rings,
                "prominence": self.size * muscle.prominence if self._resizes else muscle.prominence,
            }
        )
        return self._with_actions(name, moved, result)

    @property
    def _resizes(self) -> bool:
        return bool(abs(self.size - 1.0) > 1e-6)

    def _with_actions(self, name: str, moved: AnyMuscle, result: CarriedMuscles) -> AnyMuscle:
        """The muscle with skin and actions on the new joints."""
        rename = {old: self.new.names[joint] for old, joint in self.partner.items()}
        moved = _without_lost_joints(name, moved, rename, result)
        actions = [
            action.model_copy(
                update={"axis": self.turned(action.axis, int(self.new.parents[self.new.index(action.joint)]))}
            )
            for action in moved.actions
        ]
        return moved.model_copy(update={"actions": tuple(actions)})

    def turned(self, direction: Vector, joint: int) -> Vector:
        """A direction of the world at bind that goes with a joint."""
        if joint < 0:
            return direction
        turn = self.turns[joint]
        if np.abs(turn - np.eye(3)).max() < ROUNDING:
            return direction
        return _vector(normalise(turn @ np.asarray(direction)))

    def notes(self, muscles: Sequence[MuscleSpec | LoftedMuscleSpec]) -> list[str]:
        """Joints whose bind pose is another, for muscles whose work is told from bind."""
        worst, angle = "", 0.0
        for joint in sorted({action.joint for muscle in muscles for action in muscle.actions}):
            number = self.partner.get(joint)
            if number is None or self.new.parents[number] < 0:
                continue
            relative = self.turns[int(self.new.parents[number])].T @ self.turns[number]
            turned = _angle(relative)
            if turned > angle:
                worst, angle = joint, turned
        if angle < OTHER_POSE:
            return []
        return [
            f"The bind pose is another (joint {worst!r} is turned by {np.degrees(angle):.0f} degrees), and"
            " muscles begin to work at angles told from bind. Look over their actions, or make the rig anew."
        ]


def _rotation_in(linear: Floats) -> Floats:
    """The rotations (..., 3, 3) of maps that turn, then stretch along any directions."""
    u, _, vt = np.linalg.svd(linear)
    return np.asarray(u @ vt)


def _angle(turn: Floats) -> float:
    """By how much a rotation matrix turns [rad]."""
    return float(np.arccos(np.clip(0.5 * (np.trace(turn) - 1.0), -1.0, 1.0)))


def _without_lost_joints(
    name: str, muscle: AnyMuscle, rename: Mapping[str, str], result: CarriedMuscles
) -> AnyMuscle:
    """The muscle with skin and actions of joints that are there, under their new names."""
    lost = sorted(
        {j for j in muscle.influence.joints if j not in rename}
        | {action.joint for action in muscle.actions if action.joint not in rename}
    )
    if lost:
        result.notes.append(f"Muscle {name!r} no longer concerns {', '.join(lost)}, gone from the skeleton.")
    skin = tuple(dict.fromkeys(rename[j] for j in muscle.influence.joints if j in rename))
    return muscle.model_copy(
        update={
            "influence": muscle.influence.model_copy(update={"joints": skin}),
            "actions": tuple(
                action.model_copy(update={"joint": rename[action.joint]})
                for action in muscle.actions
                if action.joint in rename
            ),
        }
    )


def _resized(muscle: MuscleSpec, size: float) -> MuscleSpec:
    """The muscle's section that many times as large."""

    def curve(half: HalfCurve) -> HalfCurve:
        a, b, c, d = (size * value for value in half)
        return a, b, c, d

    def offsets(half: HalfSweep) -> HalfSweep:
        a, b, c, d = ((size * out, size * side) for out, side in half)
        return a, b, c, d

    radius = muscle.influence.radius
    return muscle.model_copy(
        update={
            "thickness": (curve(muscle.thickness[0]), curve(muscle.thickness[1])),
            "sweep": muscle.sweep and (offsets(muscle.sweep[0]), offsets(muscle.sweep[1])),
            "influence": muscle.influence.model_copy(update={"radius": radius and size * radius}),
        }
    )


def _resized_ring(ring: RingSpec, size: float) -> RingSpec:
    """An ellipse that many times as large."""
    (out, side), (a, b) = ring.centre, ring.half_axes
    return ring.model_copy(update={"centre": (size * out, size * side), "half_axes": (size * a, size * b)})


def _vector(numbers: Floats) -> Vector:
    x, y, z = (float(round(n, 9)) + 0.0 for n in numbers.tolist())
    return x, y, z
