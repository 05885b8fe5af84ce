"""A shoulder blade that a motion leaves still follows the arm, by the rhythm of the virtual one.

Few motions know shoulder blades: captures go from the collar bone to the arm. On a character that has them
they would stand still while the arm rises, and come through the skin. Here they turn about their own joint,
and arms keep their directions in the world; the shoulder itself goes along, as it does when one reaches up.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

import numpy as np

from ecorche.base import transforms
from ecorche.muscles.scapula import VirtualScapula
from ecorche.muscles.template.segments import segments
from ecorche.skeleton.kinematics import difference_from_bind
from ecorche.skeleton.motion import Motion
from ecorche.skeleton.naming import Naming
from ecorche.skeleton.skeleton import Skeleton


def with_moving_scapulae(
    motion: Motion, naming: Naming, still: Collection[int]
) -> tuple[Motion, tuple[int, ...]]:
    """The motion with shoulder blades that follow the arms, and the joints that do so now.

    Args:
        motion: A motion of the character.
        naming: Which of its joints is which.
        still: Joints that keep their place in their parents in it; others are left as they are.
    """
    blades = {j: blade for j, blade in _blades(motion.skeleton, naming).items() if j in still}
    if not blades:
        return motion, ()
    skeleton, local = motion.skeleton, motion.local.copy()
    difference, world = difference_from_bind(skeleton, motion.local), motion.world()
    for joint, blade in blades.items():
        angle = blade.angle(difference)
        bind, girdle = skeleton.bind_world[joint], skeleton.bind_inverse[blade.girdle]
        # as differences: where the arm is as at bind, all stays bit for bit
        local[:, joint] += girdle @ blade.about(angle) @ bind
        above = int(skeleton.parents[blade.arm])
        between = transforms.inverse(world[:, joint]) @ world[:, above]
        back = (
            transforms.inverse(between) @ skeleton.bind_inverse[joint] @ blade.about(-angle) @ bind @ between
        )
        local[:, blade.arm, :3, :3] += back[:, :3, :3] @ motion.local[:, blade.arm, :3, :3]
    return replace(motion, local=local), tuple(blades)


def _blades(skeleton: Skeleton, naming: Naming) -> dict[int, VirtualScapula]:
    """The rig's own shoulder blades by joint, each as what turns with the arm that hangs on it."""
    parts, heads = segments(skeleton, naming), skeleton.bind_world[:, :3, 3]
    found = {}
    for side, word in (("r", "right"), ("l", "left")):
        blade, arm = naming.joint(f"{side}_acromioclavicular"), naming.joint(f"{side}_shoulder")
        elbow, thorax = naming.joint(f"{side}_elbow"), parts.get("vt1")
        if blade is None or arm is None or elbow is None or thorax is None:
            continue
        if skeleton.parents[blade] < 0 or not _hangs_on(skeleton, arm, blade):
            continue
        forward = thorax.direction((0.0, 0.0, 1.0))
        along = heads[elbow] - heads[arm]
        found[blade] = VirtualScapula(
            name=f"scapula, {word}",
            girdle=int(skeleton.parents[blade]),
            thorax=thorax.joint,
            arm=arm,
            pivot=heads[blade].copy(),
            axis=-forward if side == "r" else forward,
            hanging=-thorax.direction((0.0, 1.0, 0.0)),
            arm_direction=along / np.linalg.norm(along),
        )
    return found


def _hangs_on(skeleton: Skeleton, joint: int, above: int) -> bool:
    while joint > above:
        joint = int(skeleton.parents[joint])
    return joint == above
