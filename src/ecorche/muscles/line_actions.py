"""What muscles on action lines do to joints, read off their own lines: on any creature, without a table.

A muscle works towards being shorter: about a joint it turns the bones below about −∂L/∂ω, by the moment arm
(see `lofted_actions`, which has the same constants). Lengths are those of the lines as they run, over bones
and all; ∂L/∂ω by central differences.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ecorche.base.rotations import matrix_from_xyzw, xyzw_from_axis_angle
from ecorche.muscles.activation import Action
from ecorche.muscles.line_musculature import LineMusculature
from ecorche.muscles.lofted_actions import FULL, LEAST_ARM, LEAST_FULL, LEAST_WEIGHT, ONSET
from ecorche.skeleton.skeleton import Skeleton

Floats = npt.NDArray[np.float64]

STEP = np.radians(2.0)
"""Of the differences [rad]."""
SHORTENED = 0.25
"""Share of its length by which a muscle is shorter where it works fully, as its moment arm at bind has it."""


def line_actions(muscles: LineMusculature, skeleton: Skeleton) -> tuple[tuple[Action, ...], ...]:
    """What each muscle does to the joints it crosses, strongest first; weights are relative moment arms."""
    length = muscles.lengths(np.ones(len(muscles.tendon)))
    gradient = length_gradients(muscles, skeleton)
    arms = np.linalg.norm(gradient, axis=2)
    found = []
    for m in range(len(muscles.muscles)):
        actions = []
        for joint in np.argsort(-arms[m], kind="stable"):
            arm = float(arms[m, joint])
            if arm < max(LEAST_WEIGHT * float(arms[m].max()), LEAST_ARM * float(length[m])):
                break
            x, y, z = (-gradient[m, joint] / arm).tolist()
            full = float(np.clip(np.degrees(SHORTENED * length[m] / arm), LEAST_FULL, FULL))
            weight = min(1.0, arm / float(arms[m].max()))
            actions.append(Action(skeleton.names[joint], (x, y, z), (ONSET, full), weight))
        found.append(tuple(actions))
    return tuple(found)


def length_gradients(muscles: LineMusculature, skeleton: Skeleton) -> Floats:
    """How much longer each muscle gets per radian as a joint, with all below it, turns about world x, y, z at
    bind [m/rad], shape (M, joints, 3)."""
    below = np.eye(skeleton.joint_count, dtype=np.bool_)
    for joint, parent in enumerate(skeleton.parents):  # parents come first
        if parent >= 0:
            below[:, joint] |= below[:, parent]
    gradient = np.zeros((len(muscles.muscles), skeleton.joint_count, 3))
    used = np.unique(muscles.frames.joints)
    turns = matrix_from_xyzw(xyzw_from_axis_angle(np.eye(3)[:, None], np.array([STEP, -STEP]))).reshape(
        6, 3, 3
    )
    for joint in range(skeleton.joint_count):
        if not below[joint, used].any() or below[joint, used].all():
            continue
        centre = skeleton.bind_world[joint, :3, 3]
        step = np.zeros((6, 1, 4, 4))
        step[:, 0, :3, :3] = turns - np.eye(3)
        step[:, 0, :3, 3] = centre - turns @ centre
        moved = np.where(below[joint][None, :, None, None], step, 0.0)
        lengths = muscles.lengths(muscles.paths.posed(moved).elongation).reshape(3, 2, -1)
        gradient[:, joint] = ((lengths[:, 0] - lengths[:, 1]) / (2.0 * STEP)).T
    return gradient
