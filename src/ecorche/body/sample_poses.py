"""Poses that a character may take: what is learnt from poses is learnt from these.

Every joint turns about an axis of its own by an angle of its own, up to `WIDEST` where the joint's limits are
known (the rig's, or a human's), and is then brought within them. Where nobody knows them it is up to
`UNKNOWN` on a creature, and up to `BESIDE` on a character whose joints are known by name: there such a joint
helps another, as a twist joint or half a pelvis does. Of the character's own clips some frames are added:
they are poses somebody meant.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ecorche.base import rotations, transforms
from ecorche.body.character import Character
from ecorche.body.joint_limits import joint_limits
from ecorche.document.files import Rig
from ecorche.skeleton.enforce_limits import enforce_limits
from ecorche.skeleton.motion import Motion
from ecorche.skeleton.naming.recognise import recognise

Floats = npt.NDArray[np.float64]

WIDEST = np.radians(150.0)
"""The widest turn of a joint with limits, before it is brought within them."""
UNKNOWN = np.radians(50.0)
"""The widest turn of a joint whose limits nobody knows, where no joint is known by name."""
BESIDE = np.radians(10.0)
"""The widest turn of a joint without a name and limits beside others that have a name, or that only helps."""
RATE = 24.0


def sample_poses(
    character: Character,
    rig: Rig | None,
    count: int,
    *,
    seed: int = 1,
    motions: Sequence[Motion] | None = None,
) -> Motion:
    """Poses as the frames of a motion; the same for the same seed.

    Args:
        character: Who takes them.
        rig: Whose names and joint models hold; None for a human's.
        count: How many are drawn; frames of motions come on top, at most half as many again.
        seed: Of the drawing.
        motions: Motions on the character's skeleton whose frames are added; None takes its own clips.
    """
    skeleton = character.skeleton
    mapping = (rig.spec.skeleton.mapping or None) if rig else None
    naming = recognise(skeleton, mapping)
    limits = joint_limits(skeleton, rig, mapping)
    helping = np.array([role != "joint" for role in naming.roles]) | any(naming.canonical)
    limited = [name in limits.models for name in limits.names]
    widest = np.where(limited, WIDEST, np.where(helping, BESIDE, UNKNOWN))
    rng = np.random.default_rng(seed)
    axes = rotations.normalise(rng.normal(size=(count, skeleton.joint_count, 3)))
    # some poses are far from bind in all joints, some in few, some are near it
    angles = rng.uniform(0.0, 1.0, (count, skeleton.joint_count)) * widest
    angles *= np.sqrt(rng.uniform(0.0, 1.0, (count, 1)))
    angles *= rng.uniform(0.0, 1.0, angles.shape) < 0.7
    turns = transforms.compose(np.zeros(3), rotations.xyzw_from_axis_angle(axes, angles))
    drawn = Motion("poses", skeleton, np.arange(count) / RATE, skeleton.bind_local @ turns)
    if limits.models:
        drawn = enforce_limits(drawn, *limits)[0]
    own = character.motions if motions is None else motions
    frames = np.concatenate([np.zeros((0, *skeleton.bind_local.shape)), *(motion.local for motion in own)])
    chosen = np.unique(np.linspace(0, len(frames) - 1, min(count // 2, len(frames))).astype(np.int64))
    local = np.concatenate([drawn.local, frames[chosen]]) if len(frames) else drawn.local
    return Motion("poses", skeleton, np.arange(len(local)) / RATE, local)
