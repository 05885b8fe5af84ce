"""Muscles on a character that changed: every point stays on its bone, wherever that is now.

A point keeps its place in the frame of its joint. Where a bone became longer or shorter the point goes along
in that share, and across the bone, like the muscle's thickness, it goes with the size of the whole body: the
same map, bone by bone, that carries painted maps (`alignment`), taken the other way. A muscle on a joint that
is gone is set aside as it is, and comes back with the joint. The new skin is not asked.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from ecorche.base.rotations import normalise
from ecorche.base.transforms import inverse, nearest_rotation, transform_points
from ecorche.body.alignment import Alignment, JointMatch
from ecorche.document.bind import BindShape
from ecorche.document.fields import Vector
from ecorche.document.muscle_spec import HalfCurve, HalfSweep, MuscleSpec
from ecorche.document.spec import SetAside, SkeletonSpec, VirtualScapulaSpec
from ecorche.skeleton.skeleton import Skeleton

Floats = npt.NDArray[np.float64]

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
        muscles: Those of the new character, by name.
        scapulae: Its virtual scapulae.
        aside_muscles, aside_scapulae: Those that wait for their joints.
        set_aside, restored: Names of muscles that went there and came from there now.
        moved_mm: How far points moved within the frames of their joints, as bones changed.
        notes: What else a person should know.
    """

    muscles: dict[str, MuscleSpec] = field(default_factory=dict)
    scapulae: dict[str, VirtualScapulaSpec] = field(default_factory=dict)
    aside_muscles: dict[str, MuscleSpec] = field(default_factory=dict)
    aside_scapulae: dict[str, VirtualScapulaSpec] = field(default_factory=dict)
    set_aside: list[str] = field(default_factory=list)
    restored: list[str] = field(default_factory=list)
    moved_mm: list[float] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def carried_muscles(
    muscles: Mapping[str, MuscleSpec],
    skeleton_spec: SkeletonSpec,
    old: BindShape,
    new: Skeleton,
    match: JointMatch,
    alignment: Alignment,
) -> CarriedMuscles:
    """The muscles of a rig on its changed character.

    Args:
        muscles: The rig's muscles by name.
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
    for name, muscle in muscles.items():
        if all(point.joint in bones.frames for point in muscle.path):
            result.muscles[name] = bones.muscle(name, muscle, result)
        else:
            result.aside_muscles[name] = muscle
            result.set_aside.append(name)
    for name, muscle in aside.muscles.items():
        if name not in result.muscles and all(point.joint in known for point in muscle.path):
            result.muscles[name] = _without_lost_joints(name, muscle, {n: n for n in new.names}, result)
            result.restored.append(name)
        else:
            result.aside_muscles.setdefault(name, muscle)
    result.notes += bones.notes(muscles)
    return result


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

    def muscle(self, name: str, muscle: MuscleSpec, result: CarriedMuscles) -> MuscleSpec:
        """A muscle on the new joints."""
        path = []
        for point in muscle.path:
            new_name, joint, was, now = self.frames[point.joint]
            arm = transform_points(was, [point.at])[0] - was[:3, 3]
            there = now[:3, 3] + self.maps[joint, :3, :3] @ arm
            at = transform_points(inverse(now), there[None])[0]
            same = np.abs(at - point.at).max() < ROUNDING
            path.append(point.model_copy(update={"joint": new_name, "at": point.at if same else _vector(at)}))
            shift = float(np.linalg.norm(self.maps[joint, :3, :3] @ arm - self.turns[joint] @ arm))
            if shift >= ROUNDING:
                result.moved_mm.append(1000.0 * shift)
        belly = self.frames[muscle.path[len(path) // 2].joint][1]
        moved = muscle.model_copy(update={"path": tuple(path), "outward": self.turned(muscle.outward, belly)})
        if abs(self.size - 1.0) > 1e-6:
            moved = _resized(moved, self.size)
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

    def notes(self, muscles: Mapping[str, MuscleSpec]) -> list[str]:
        """Joints whose bind pose is another, for muscles whose work is told from bind."""
        worst, angle = "", 0.0
        for joint in sorted({action.joint for muscle in muscles.values() for action in muscle.actions}):
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
    name: str, muscle: MuscleSpec, rename: Mapping[str, str], result: CarriedMuscles
) -> MuscleSpec:
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


def _vector(numbers: Floats) -> Vector:
    x, y, z = (float(round(n, 9)) + 0.0 for n in numbers.tolist())
    return x, y, z
