"""Put the template on a character's skeleton: every muscle at its place in the bind pose."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from ecorche.muscles.muscle import Muscle, Reach
from ecorche.muscles.scapula import VirtualScapula, with_scapulae
from ecorche.muscles.spindle import spindle_from_numbers
from ecorche.muscles.template.muscle import DIGITS, TemplateMuscle
from ecorche.muscles.template.segments import Segment, segments
from ecorche.muscles.template.working_range import WorkingRanges
from ecorche.skeleton.naming.recognise import Naming
from ecorche.skeleton.naming.vocabulary import NECK, TRUNK
from ecorche.skeleton.skeleton import Skeleton

TENDON = 0.15
"""Half-width of a tendon where it meets the bone, as a share of the belly's."""

_GIRDLE = ("sternoclavicular", "acromioclavicular")
_TRUNK_SEGMENTS = (
    "sacroiliac",
    "vl5",
    "vl1",
    "vt1",
    *(f"{side}_{part}" for side in "rl" for part in _GIRDLE),
)


@dataclass(frozen=True)
class LeftOut:
    """A muscle this skeleton cannot have, and why."""

    name: str
    reason: str


@dataclass(frozen=True, eq=False)
class Placement:
    """The muscles a skeleton has, those it cannot have, and what a person should know.

    Attributes:
        skeleton: The character's joints, and after them the virtual scapulae.
        scapulae: Shoulder blades the rig lacks.
        muscles: Muscles with the template's own proportions, not yet fitted to a skin.
        left_out: Muscles that could not be placed.
        notes: Sentences.
    """

    skeleton: Skeleton
    scapulae: tuple[VirtualScapula, ...]
    muscles: tuple[Muscle, ...]
    left_out: tuple[LeftOut, ...]
    notes: tuple[str, ...]


def place(template: Iterable[TemplateMuscle], skeleton: Skeleton, naming: Naming) -> Placement:
    """Place every muscle the skeleton has the body parts for.

    A tendon that ends on a finger or toe the rig does not have ends at its last point before it.
    """
    parts = segments(skeleton, naming)
    scapulae = _virtual_scapulae(skeleton, naming, parts)
    carrier = {name: part.joint for name, part in parts.items()}
    for number, (side, _) in enumerate(scapulae):
        carrier[f"{side}_acromioclavicular"] = skeleton.joint_count + number
    ranges = WorkingRanges(skeleton, naming, parts)
    skin = _skin_joints(skeleton, naming, parts)
    placed: list[Muscle] = []
    left_out: list[LeftOut] = []
    notes: list[str] = []
    for muscle in template:
        path, shortened = list(muscle.path), []
        while len(path) > 2 and path[-1].segment not in parts and path[-1].segment[2:].startswith(DIGITS):
            shortened.append(f"{muscle.name!r} ends early: the rig has no joint {path[-1].segment!r}")
            path.pop()
        needed = dict.fromkeys((*(p.segment for p in path), muscle.limb))
        missing = [name for name in needed if name not in parts]
        if missing:
            left_out.append(LeftOut(muscle.name, f"the rig lacks {', '.join(missing)}"))
            continue
        joints = tuple(carrier[p.segment] for p in path)
        if len(set(joints)) == 1:
            joint = skeleton.names[parts[path[0].segment].joint]
            left_out.append(LeftOut(muscle.name, f"all of it would move with one joint, {joint!r}"))
            continue
        notes += shortened
        positions = np.array([parts[p.segment].point(p.at) for p in path])
        limb = parts[muscle.limb]
        half_width = muscle.thickness * float(np.linalg.norm(limb.frame[:3, 1]))
        shape = spindle_from_numbers(
            float(np.linalg.norm(np.diff(positions, axis=0), axis=1).sum()),
            half_width,
            belly=muscle.belly,
            scale=muscle.flatness,
            tendon_origin=TENDON * half_width,
            tendon_insertion=TENDON * half_width,
        )
        surface = () if muscle.deep else (muscle.limb, *muscle.skin)
        concerned = {joint for segment in surface for joint in skin.get(segment, ())}
        placed.append(
            Muscle(
                name=muscle.name,
                muscle=muscle.muscle,
                group=muscle.group,
                joints=joints,
                positions=positions,
                outward=limb.direction(muscle.outward),
                thickness=shape.thickness[0],
                sweep=shape.sweep[0],
                belly=muscle.belly,
                scale=muscle.flatness,
                reach=Reach(muscle.influence, muscle.weighting, tuple(sorted(concerned))),
                max_force=muscle.max_force,
                force_source=muscle.force_source,
                actions=ranges.actions(muscle),
            )
        )
    virtual = tuple(scapula for _, scapula in scapulae)
    return Placement(with_scapulae(skeleton, virtual), virtual, tuple(placed), tuple(left_out), tuple(notes))


def _virtual_scapulae(
    skeleton: Skeleton, naming: Naming, parts: Mapping[str, Segment]
) -> list[tuple[str, VirtualScapula]]:
    """A shoulder blade for each arm whose rig has none, with the side it is on."""
    heads, found = skeleton.bind_world[:, :3, 3], []
    for side, word in (("r", "right"), ("l", "left")):
        part, arm = parts.get(f"{side}_acromioclavicular"), parts.get(f"{side}_shoulder")
        thorax = parts.get("vt1")
        if part is None or arm is None or thorax is None or not part.stand_in:
            continue
        # frames of the trunk point right, up and forward: raising the right arm turns it about backward
        up, forward = thorax.direction((0.0, 1.0, 0.0)), thorax.direction((0.0, 0.0, 1.0))
        elbow = naming.joint(f"{side}_elbow")
        along = arm.direction((0.0, 1.0, 0.0)) if elbow is None else heads[elbow] - heads[arm.joint]
        found.append(
            (
                side,
                VirtualScapula(
                    name=f"virtual scapula, {word}",
                    girdle=part.joint,
                    thorax=thorax.joint,
                    arm=arm.joint,
                    pivot=heads[arm.joint].copy(),
                    axis=-forward if side == "r" else forward,
                    hanging=-up,
                    arm_direction=along / np.linalg.norm(along),
                ),
            )
        )
    return found


def _skin_joints(
    skeleton: Skeleton, naming: Naming, parts: Mapping[str, Segment]
) -> dict[str, tuple[int, ...]]:
    """The joints that carry the skin of each segment.

    Twist and helper joints hang from a limb's joint or lie between two named ones; their skin is the
    limb's. The trunk's skin is one, and so is the neck's: rigs have from one to a dozen spine joints, and a
    muscle there passes several.
    """
    owner = np.arange(skeleton.joint_count)
    carried: dict[int, list[int]] = {}
    for joint, parent in enumerate(skeleton.parents):
        if parent >= 0 and naming.canonical[joint] is None:
            owner[joint] = owner[parent]
        carried.setdefault(int(owner[joint]), []).append(joint)
    trunk_parts = [part for name, part in parts.items() if name in _TRUNK_SEGMENTS]
    named = [joint for joint, name in enumerate(naming.canonical) if name in TRUNK]
    trunk = {j for joint in (*named, *(part.joint for part in trunk_parts)) for j in carried.get(joint, [])}
    neck = {j for joint, name in enumerate(naming.canonical) if name in NECK for j in carried[joint]}
    found = {name: tuple(carried.get(part.joint, (part.joint,))) for name, part in parts.items()}
    if "vc4" in parts:
        found["vc4"] = tuple(sorted(neck))
    return found | {part.name: tuple(sorted(trunk)) for part in trunk_parts}
