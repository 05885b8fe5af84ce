"""What a muscle on a path does to joints, read off the path: for muscles that no template speaks of.

As in `lofted_actions`: a muscle works towards being shorter, about the axis in which its moment arm is
greatest, from a little after bind to where it is short.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ecorche.base.rotations import matrix_from_xyzw, xyzw_from_axis_angle
from ecorche.muscles.activation import Action
from ecorche.muscles.lofted_actions import (
    FULL,
    LEAST_ARM,
    LEAST_FULL,
    LEAST_WEIGHT,
    ONSET,
    SHORTEST,
    joints_below,
)
from ecorche.muscles.paths import Paths
from ecorche.muscles.scapula import VirtualScapula, difference_with
from ecorche.skeleton.skeleton import Skeleton

Floats = npt.NDArray[np.float64]


def path_actions(
    paths: Paths, number: int, skeleton: Skeleton, scapulae: Sequence[VirtualScapula] = ()
) -> tuple[Action, ...]:
    """What a muscle does to the joints between the points of its path, strongest first.

    Args:
        paths: Paths of muscles on the joints and virtual scapulae.
        number: Of the muscle.
        skeleton: The character's own joints.
        scapulae: Virtual shoulder blades; they follow the joints in the numbering and move with them.
    """
    length = float(paths.bind.lengths[number])
    nodes = slice(int(paths.starts[number]), int(paths.starts[number + 1]))
    on = [int(j) for j in paths.joints[nodes]]
    carriers = {j if j < skeleton.joint_count else scapulae[j - skeleton.joint_count].girdle for j in on}
    below = joints_below(skeleton)
    crossed = [
        j for j in range(skeleton.joint_count) if 0 < sum(below[j, c] for c in carriers) < len(carriers)
    ]
    arms = np.array(
        [paths.bind.moment_arms(j, skeleton.bind_world[j, :3, 3])[number] for j in crossed]
    ).reshape(-1, 3)
    size = np.linalg.norm(arms, axis=1)
    actions: list[Action] = []
    for rank in np.argsort(-size, kind="stable"):
        weight = float(size[rank] / size.max()) if size.max() > LEAST_ARM * length else 0.0
        if weight < LEAST_WEIGHT:
            break
        joint, axis = crossed[rank], arms[rank] / size[rank]
        x, y, z = (float(v) for v in axis)
        full = _full(paths, number, skeleton, scapulae, below[joint], joint, axis)
        actions.append(Action(skeleton.names[joint], (x, y, z), (ONSET, full), weight))
    return tuple(actions)


def _full(
    paths: Paths,
    number: int,
    skeleton: Skeleton,
    scapulae: Sequence[VirtualScapula],
    below: npt.NDArray[np.bool_],
    joint: int,
    axis: Floats,
) -> float:
    """Degrees about an axis where the muscle is short, or as short as it gets."""
    degrees = np.arange(0.0, FULL + 1.0, 5.0)
    turn = matrix_from_xyzw(xyzw_from_axis_angle(axis, np.radians(degrees)))
    centre = skeleton.bind_world[joint, :3, 3]
    moved = np.zeros((len(degrees), 4, 4))
    moved[:, :3, :3] = turn - np.eye(3)
    moved[:, :3, 3] = centre - turn @ centre
    difference = np.zeros((len(degrees), skeleton.joint_count, 4, 4))
    difference[:, below] = moved[:, None]
    lengths = paths.moved(difference_with(difference, scapulae)).lengths[:, number]
    relative = lengths / paths.bind.lengths[number]
    short = np.flatnonzero(relative <= max(SHORTEST, float(relative.min())))
    return max(float(degrees[short[0]]), LEAST_FULL)
