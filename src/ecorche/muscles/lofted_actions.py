"""What a muscle found in the skin does to joints, read off its own path: on any creature, without a table.

A muscle works towards being shorter. Turning a joint by a small ω changes its length by ``g · ω``; with unit
tangents t₀, t₁ at the ends of the root curve and the joint at c

    g = (m_I − m_W) (I − c) × t₁ − (m_O − m_W) (O − c) × t₀,

where m says which of origin, insertion and obstacle hang below the joint: a tight thread without friction
pulls along itself (the moment arm of biomechanics). So the muscle turns the joint about −g, by the arm |g|.
Where the path runs through the joint and has no arm, the muscle's flesh has one: it lies outwards of the
path.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ecorche.base.rotations import matrix_from_xyzw, normalise, xyzw_from_axis_angle
from ecorche.muscles.activation import Action
from ecorche.muscles.loft import loft
from ecorche.muscles.loft_frames import directions_at_bind
from ecorche.muscles.lofted import LoftedMuscle
from ecorche.muscles.root_curves import RootCurves, root_curves
from ecorche.muscles.wrapping import STRAIGHT
from ecorche.skeleton.skeleton import Skeleton

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

ONSET, FULL = 10.0, 100.0
"""Degrees from bind where a muscle begins to work, and where it works fully at the latest."""
LEAST_FULL = 20.0
"""Degrees where it works fully at the earliest."""
STRAIGHT_WITHIN = 25.0
"""Degrees between a bone and the one above it that count as straight, where hinges stop."""
SHORTEST = 0.6
"""Share of its length where it works fully, if it gets there earlier."""
LEAST_ARM = 0.02
"""A moment arm below this share of the muscle's length counts as none."""
LEAST_WEIGHT = 0.35
"""A joint turned with less than this share of the strongest moment arm is not told."""


def length_gradients(curves: RootCurves, skeleton: Skeleton) -> Floats:
    """How much longer each muscle gets per radian as a joint, with all below it, turns about world x, y, z at
    bind [m/rad], shape (M, joints, 3)."""
    plan = curves.plan
    points, tangents = curves.bind.at([0.0, 1.0])
    below = joints_below(skeleton)
    hangs = below[:, plan.joints].astype(np.float64)  # joint, muscle, (origin, insertion, obstacle)
    # without an obstacle nothing but the ends counts
    obstacle = np.where(plan.shapes == STRAIGHT, 0.0, hangs[..., 2])
    heads = skeleton.bind_world[:, None, None, :3, 3]
    torque = np.cross(points - heads, tangents)  # joint, muscle, end
    gradient: Floats = (hangs[..., 1] - obstacle)[..., None] * torque[..., 1, :]
    gradient = gradient - (hangs[..., 0] - obstacle)[..., None] * torque[..., 0, :]
    return np.swapaxes(gradient, 0, 1)


def actions_of(muscle: LoftedMuscle, skeleton: Skeleton) -> tuple[Action, ...]:
    """What the muscle does to the joints between its origin and its insertion, strongest first.

    Weights are moment arms relative to the strongest. A muscle that crosses no joint does nothing.
    """
    curves = root_curves([muscle], skeleton.joint_count)
    length = float(curves.bind.lengths[0])
    below = joints_below(skeleton)
    crossed = np.flatnonzero(below[:, muscle.joints[0]] != below[:, muscle.joints[1]])
    gradient = length_gradients(curves, skeleton)[0, crossed]
    arms = np.linalg.norm(gradient, axis=1)
    if len(crossed) and not arms.max() > LEAST_ARM * length:
        gradient = np.array([_of_the_flesh(curves, muscle, skeleton, below, int(joint)) for joint in crossed])
        arms = np.linalg.norm(gradient, axis=1)
    actions = []
    for rank in np.argsort(-arms, kind="stable"):
        weight = float(arms[rank] / arms.max()) if arms.max() > 0.0 else 0.0
        if weight < LEAST_WEIGHT:
            break
        joint, axis = int(crossed[rank]), -gradient[rank] / arms[rank]
        full = _full(curves, skeleton, below[joint], joint, axis)
        name = skeleton.names[joint]
        x, y, z = (float(v) for v in axis)
        actions.append(Action(name, (x, y, z), (ONSET, full), weight))
    return tuple(actions)


def _of_the_flesh(
    curves: RootCurves, muscle: LoftedMuscle, skeleton: Skeleton, below: Bools, joint: int
) -> Floats:
    """The gradient of a path through the middle of the muscle's outer half, where its own has no arm."""
    points, tangents = curves.bind.at([muscle.crossing])
    largest = np.sqrt(loft(muscle.rings).largest)
    place = points[0, 0] + 0.5 * largest * directions_at_bind(muscle, tangents[0])[0]
    sign = 1.0 if below[joint, muscle.joints[1]] else -1.0
    return np.asarray(sign * np.cross(place - skeleton.bind_world[joint, :3, 3], tangents[0, 0]))


def _full(curves: RootCurves, skeleton: Skeleton, below: Bools, joint: int, axis: Floats) -> float:
    """Degrees about an axis where the muscle is short, or as short as it gets, or the limb is straight."""
    degrees = np.arange(0.0, FULL + 1.0, 5.0)
    turn = matrix_from_xyzw(xyzw_from_axis_angle(axis, np.radians(degrees)))
    centre = skeleton.bind_world[joint, :3, 3]
    moved = np.zeros((len(degrees), 4, 4))
    moved[:, :3, :3] = turn - np.eye(3)
    moved[:, :3, 3] = centre - turn @ centre
    difference = np.zeros((len(degrees), skeleton.joint_count, 4, 4))
    difference[:, below] = moved[:, None]
    relative = curves.moved(difference).lengths[:, 0] / curves.bind.lengths[0]
    short = np.flatnonzero(relative <= max(SHORTEST, float(relative.min())))
    reached = float(degrees[short[0]])
    parent = int(skeleton.parents[joint])
    if parent >= 0:
        above = normalise(centre - skeleton.bind_world[parent, :3, 3])
        bone = turn @ normalise(skeleton.tail_positions()[joint] - centre)
        bend = np.degrees(np.arccos(np.clip(bone @ above, -1.0, 1.0)))
        straight = int(np.argmin(bend))
        if bend[straight] < STRAIGHT_WITHIN:
            reached = min(reached, float(degrees[straight]))
    return max(reached, LEAST_FULL)


def joints_below(skeleton: Skeleton) -> Bools:
    """Whether a joint is another or hangs below it, shape (joints, joints): ``[upper, lower]``."""
    below = np.eye(skeleton.joint_count, dtype=np.bool_)
    for joint, parent in enumerate(skeleton.parents):
        if parent >= 0:
            below[:, joint] |= below[:, parent]
    return below
