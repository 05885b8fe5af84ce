"""Take the muscles of one character over to another: any finished rig is a template.

Joints are paired by a map a person gives, by equal canonical names, else by equal names; a joint without a
partner stands for the nearest joint above it that has one. Every pair of joints has a frame on either
character, and a point keeps its coordinates in it:

- between two humans the template's segment frames (`template.segments`), which mean the same on any body;
- else the bone's own: the joint, the direction of its bone, and a turn that follows the chain from the root
  by the smallest rotations, as the bind poses differ. Along a bone coordinates grow with the bone, across
  it with the whole body, so that a long neck does not become a thick one.

Sizes follow the body; `fit_to_skin` then gives each muscle the room it has.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ecorche.base.names import suggestion
from ecorche.base.rotations import (
    inverse_xyzw,
    matrix_from_xyzw,
    multiply_xyzw,
    normalise,
    rotate_xyzw,
    shortest_arc_xyzw,
    xyzw_from_matrix,
)
from ecorche.base.transforms import nearest_rotation
from ecorche.errors import SkeletonError
from ecorche.muscles.activation import Action
from ecorche.muscles.muscle import Muscle
from ecorche.muscles.scapula import VirtualScapula, with_scapulae
from ecorche.muscles.template.place import LeftOut, Placement
from ecorche.muscles.template.segments import segments
from ecorche.skeleton.default_pose import default_from_bind
from ecorche.skeleton.naming.recognise import Naming
from ecorche.skeleton.naming.vocabulary import NECK, TRUNK
from ecorche.skeleton.skeleton import Skeleton

Floats = npt.NDArray[np.float64]

HUMAN = 8
"""So many segments two characters must share before they count as two humans."""


@dataclass(frozen=True, eq=False)
class Figure:
    """A skeleton and what its joints are called."""

    skeleton: Skeleton
    naming: Naming


def transferred(
    muscles: Sequence[Muscle],
    scapulae: Sequence[VirtualScapula],
    source: Figure,
    target: Figure,
    joint_map: Mapping[str, str] | None = None,
) -> Placement:
    """The muscles of one character at their places on another, not yet fitted to its skin.

    Args:
        muscles: The source's muscles.
        scapulae: Its virtual scapulae.
        source: Its joints.
        target: The other character's joints.
        joint_map: Joint of the source to joint of the target, where names do not tell.
    """
    carriers = carriers_between(source, target, joint_map)
    joint_count = target.skeleton.joint_count
    blades: list[VirtualScapula] = []
    virtual: dict[int, int] = {}
    for number, blade in enumerate(scapulae):
        found = [carriers.get(joint) for joint in (blade.girdle, blade.thorax, blade.arm)]
        if None not in found:
            girdle, thorax, arm = (c for c in found if c is not None)
            virtual[source.skeleton.joint_count + number] = joint_count + len(blades)
            carriers[source.skeleton.joint_count + number] = girdle
            blades.append(
                replace(
                    blade,
                    girdle=girdle.joint,
                    thorax=thorax.joint,
                    arm=arm.joint,
                    pivot=target.skeleton.bind_world[arm.joint, :3, 3].copy(),
                    axis=thorax.direction(blade.axis),
                    hanging=thorax.direction(blade.hanging),
                    arm_direction=arm.direction(blade.arm_direction),
                )
            )
    placed: list[Muscle] = []
    left_out: list[LeftOut] = []
    notes: list[str] = []
    for muscle in muscles:
        lacking = [joint for joint in muscle.joints if joint not in carriers]
        if lacking:
            names = [*source.skeleton.names, *(blade.name for blade in scapulae)]
            left_out.append(LeftOut(muscle.name, f"no joint stands for {names[lacking[0]]!r}"))
            continue
        joints = tuple(virtual.get(joint, carriers[joint].joint) for joint in muscle.joints)
        if len(set(joints)) == 1:
            left_out.append(LeftOut(muscle.name, "all of it would move with one joint"))
            continue
        on = [carriers[joint] for joint in muscle.joints]
        belly = on[len(on) // 2]
        if muscle.reach.painted:
            notes.append(f"{muscle.name!r}: its painted weights belong to the other skin; left behind")
        reach = {carriers[joint].joint for joint in muscle.reach.joints if joint in carriers}
        placed.append(
            replace(
                muscle,
                joints=joints,
                positions=np.array([c.point(p) for c, p in zip(on, muscle.positions, strict=True)]),
                outward=belly.direction(muscle.outward),
                thickness=muscle.thickness * belly.size,
                sweep=muscle.sweep * belly.size,
                reach=replace(
                    muscle.reach,
                    joints=tuple(sorted(reach)),
                    radius=None if muscle.reach.radius is None else muscle.reach.radius * belly.size,
                    painted="",
                ),
                actions=tuple(
                    _action_on(action, carriers, joint, source.skeleton, target.skeleton)
                    for action in muscle.actions
                    if (joint := source.skeleton.index(action.joint)) in carriers
                ),
            )
        )
    skeleton = with_scapulae(target.skeleton, blades)
    return Placement(skeleton, tuple(blades), tuple(placed), tuple(left_out), tuple(notes))


@dataclass(frozen=True, eq=False)
class Carrier:
    """From a joint of the source to one of the target, at bind: ``there + linear (p − here)``.

    Attributes:
        joint: Of the target.
        here, there: Where the joint of the source and that of the target are [m], (3,).
        linear: Turn and scale, (3, 3).
    """

    joint: int
    here: Floats
    there: Floats
    linear: Floats

    def point(self, p: Floats) -> Floats:
        """Where a point (3,) of the source [m] is on the target."""
        return np.asarray(self.there + self.linear @ (p - self.here))

    def direction(self, d: Floats) -> Floats:
        """Where a direction (3,) of the source points on the target."""
        return normalise(nearest_rotation(self.linear) @ d)

    @property
    def size(self) -> float:
        """How much larger things are on the target."""
        return float(np.abs(np.linalg.det(self.linear)) ** (1.0 / 3.0))


def _action_on(
    action: Action, carriers: Mapping[int, Carrier], joint: int, source: Skeleton, target: Skeleton
) -> Action:
    """The same action about the same axis of the partner joint; the axis is fixed to the joint above."""
    above = carriers.get(int(source.parents[joint]), carriers[joint])
    x, y, z = above.direction(np.asarray(action.axis, np.float64))
    return replace(action, joint=target.names[carriers[joint].joint], axis=(float(x), float(y), float(z)))


def carriers_between(
    source: Figure, target: Figure, joint_map: Mapping[str, str] | None = None
) -> dict[int, Carrier]:
    """A carrier for each joint of the source that has, or is below a joint that has, a partner."""
    partner = _partners(source, target, joint_map or {})
    by_segment = _by_segment(source, target, partner) if not joint_map else {}
    turns = _through_default_pose(source, target, partner) if by_segment else None
    by_bone = _by_bone(source.skeleton, target.skeleton, partner, turns)
    return {joint: by_segment.get(joint, carrier) for joint, carrier in by_bone.items()}


def _partners(source: Figure, target: Figure, joint_map: Mapping[str, str]) -> dict[int, int]:
    """Joint of the source to joint of the target, for those that have one of their own."""
    known = {name: j for j, name in enumerate(target.naming.canonical) if name is not None}
    found: dict[int, int] = {}
    for joint, name in enumerate(source.skeleton.names):
        canonical = source.naming.canonical[joint]
        if name in joint_map:
            found[joint] = target.skeleton.index(joint_map[name])
        elif canonical in known:
            found[joint] = known[canonical]
        elif canonical is None and name in target.skeleton.names:
            found[joint] = target.skeleton.index(name)
    for name in joint_map:
        if name not in source.skeleton.names:
            raise SkeletonError(
                f"the joint map names a joint {name!r} that the template does not have",
                remedy=suggestion(name, source.skeleton.names),
            )
    if len(found) < 2:
        raise SkeletonError(
            f"{len(found)} of the template's {source.skeleton.joint_count} joints have a partner here",
            remedy='Name the pairs in a joint map: {"joint of the template": "joint of the character", …}',
        )
    # a spine of another number of joints: those without a partner stand for the nearest along it
    for chain in (TRUNK, NECK):
        there = [known[name] for name in chain if name in known]
        for joint, canonical in enumerate(source.naming.canonical):
            if joint not in found and canonical in chain and there:
                place = chain.index(canonical)
                nearest = min((n for n in chain if n in known), key=lambda n: abs(chain.index(n) - place))
                found[joint] = known[nearest]
    return found


def _by_segment(source: Figure, target: Figure, partner: Mapping[int, int]) -> dict[int, Carrier]:
    """Carriers between two humans, for the joints that carry a segment of the template."""
    here, there = (segments(f.skeleton, f.naming) for f in (source, target))
    shared = [name for name in here if name in there]
    if len(shared) < HUMAN:
        return {}
    found: dict[int, Carrier] = {}
    for name in shared:
        part, other = here[name], there[name]
        if part.joint in found and part.stand_in:
            continue  # a joint's own segment says best where it is
        linear = other.frame[:3, :3] @ np.linalg.inv(part.frame[:3, :3])
        joint = partner.get(part.joint, other.joint)
        found[part.joint] = Carrier(joint, part.frame[:3, 3], other.frame[:3, 3], linear)
    return found


def _through_default_pose(source: Figure, target: Figure, partner: Mapping[int, int]) -> dict[int, Floats]:
    """How each joint of one human's bind pose is turned in another's, xyzw: by way of standing."""
    here, there = (default_from_bind(f.skeleton, f.naming.canonical) for f in (source, target))
    return {joint: multiply_xyzw(inverse_xyzw(there[p]), here[joint]) for joint, p in partner.items()}


def _by_bone(
    source: Skeleton, target: Skeleton, partner: Mapping[int, int], turns: Mapping[int, Floats] | None
) -> dict[int, Carrier]:
    """Carriers by the bones' own lengths and, where turns are not given, directions."""
    heads, tips = source.bind_world[:, :3, 3], source.tail_positions()
    other_heads, other_tips = target.bind_world[:, :3, 3], target.tail_positions()
    pairs = np.array(sorted(partner.items()))
    a, b = heads[pairs[:, 0]], other_heads[pairs[:, 1]]
    a, b = a - a.mean(axis=0), b - b.mean(axis=0)
    # bones say how large a body is in any pose; the spread of its joints depends on how it stands
    bones, others = (np.linalg.norm(v, axis=1) for v in (tips - heads, other_tips - other_heads))
    both = np.stack([bones[pairs[:, 0]], others[pairs[:, 1]]])
    whole_ones = both[:, (both > 1e-9).all(axis=0)]
    size = float(np.median(whole_ones[1] / whole_ones[0])) if whole_ones.size else 1.0
    whole = xyzw_from_matrix(nearest_rotation(b.T @ a))
    turned: dict[int, Floats] = {}
    found: dict[int, Carrier] = {}
    for joint, parent in enumerate(source.parents):
        above = turned.get(int(parent), whole)
        if joint not in partner:
            if int(parent) in found:
                found[joint], turned[joint] = found[int(parent)], above
            continue
        bone, other = tips[joint] - heads[joint], other_tips[partner[joint]] - other_heads[partner[joint]]
        length, other_length = float(np.linalg.norm(bone)), float(np.linalg.norm(other))
        turned[joint], along = above, size
        if length > 1e-9 and other_length > 1e-9:
            along = other_length / length
            arc = shortest_arc_xyzw(rotate_xyzw(above, bone / length), other / other_length)
            turned[joint] = multiply_xyzw(arc, above)
        if turns is not None:
            turned[joint] = turns[joint]
        axis = normalise(bone)
        stretch = size * np.eye(3) + (along - size) * np.outer(axis, axis)
        linear = matrix_from_xyzw(turned[joint]) @ stretch
        found[joint] = Carrier(partner[joint], heads[joint], other_heads[partner[joint]], linear)
    return found
