"""How far a muscle found on the trunk is stretched and shortened as the joints between its ends turn.

Text 001 attaches a muscle to the nearest bone and asks no more. A short one attached across a shoulder would
be stretched to three times its length by a raised arm, and drag the skin along; no muscle works so: fibres
give force between about 0.6 and 1.6 of their resting length. Joints of the trunk are turned by a stated angle
every way, those limbs begin with by more.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
import numpy.typing as npt

from ecorche.base.rotations import matrix_from_xyzw, xyzw_from_axis_angle
from ecorche.muscles.lofted import LoftedMuscle
from ecorche.muscles.root_curves import root_curves
from ecorche.skeleton.skeleton import Skeleton

Floats = npt.NDArray[np.float64]

SHORTEST, LONGEST = 0.6, 1.6
"""Length of a working muscle, share of its length at bind."""
BEND, SWING = np.radians(20.0), np.radians(80.0)
"""How far joints of the trunk, and shoulders and hips, are turned [rad]."""


def stretch(
    muscle: LoftedMuscle, skeleton: Skeleton, balls: Collection[int], axes: Floats
) -> tuple[float, float]:
    """Least and greatest length of a muscle, shares of that at bind, as one joint after another turns.

    Args:
        muscle: Its ends and its obstacle count.
        skeleton: The character's joints.
        balls: The joints that limbs begin with.
        axes: Unit vectors that joints turn about, both ways, (3, 3).
    """
    poses = [_turned(skeleton, j, axes, SWING if j in balls else BEND) for j in _crossed(muscle, skeleton)]
    if not poses:
        return 1.0, 1.0
    curves = root_curves([muscle], skeleton.joint_count)
    lengths = curves.moved(np.concatenate(poses)).lengths / curves.bind.lengths
    return float(lengths.min(initial=1.0)), float(lengths.max(initial=1.0))


def _crossed(muscle: LoftedMuscle, skeleton: Skeleton) -> list[int]:
    """The joints that move one end of a muscle and not the other."""
    above = [set(_above(skeleton, joint)) for joint in muscle.joints]
    return sorted(above[0] ^ above[1])


def _above(skeleton: Skeleton, joint: int) -> list[int]:
    """A joint and all it hangs on."""
    found = [joint]
    while skeleton.parents[found[-1]] >= 0:
        found.append(int(skeleton.parents[found[-1]]))
    return found


def _turned(skeleton: Skeleton, joint: int, axes: Floats, angle: float) -> Floats:
    """``M − I`` of all joints, one turned about each axis, half and whole, both ways, (12, joints, 4, 4)."""
    turns = matrix_from_xyzw(xyzw_from_axis_angle(axes[:, None], angle * np.array([-1.0, -0.5, 0.5, 1.0])))
    turn = np.zeros((4 * len(axes), 4, 4))
    turn[:, :3, :3] = turns.reshape(-1, 3, 3) - np.eye(3)
    turn[:, :3, 3] = -(turn[:, :3, :3] @ skeleton.bind_world[joint, :3, 3])
    moved = np.zeros((len(turn), skeleton.joint_count, 4, 4))
    moved[:, [j for j in range(skeleton.joint_count) if joint in _above(skeleton, j)]] = turn[:, None]
    return moved
