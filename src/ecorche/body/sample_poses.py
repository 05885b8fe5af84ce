"""Poses that a character may take: what is learnt from poses is learnt from these.

Every joint turns about an axis of its own by an angle of its own, up to `WIDEST` where the joint's limits are
known (a human's, or the rig's), and is then brought within them; else up to `UNKNOWN`. Of the character's
own clips some frames are added: they are poses somebody meant.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ecorche.base import rotations, transforms
from ecorche.body.character import Character
from ecorche.body.rig import joint_models
from ecorche.document.files import Rig
from ecorche.skeleton.enforce_limits import enforce_limits
from ecorche.skeleton.human_limits import human_joints
from ecorche.skeleton.motion import Motion
from ecorche.skeleton.naming.recognise import recognise

Floats = npt.NDArray[np.float64]

WIDEST = np.radians(150.0)
"""The widest turn of a joint with limits, before it is brought within them."""
UNKNOWN = np.radians(50.0)
"""The widest turn of a joint whose limits nobody knows."""
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
    canonical = recognise(skeleton, (rig.spec.skeleton.mapping or None) if rig else None).canonical
    models = human_joints(name for name in canonical if name is not None)
    for joint, model in ({} if rig is None else joint_models(rig)).items():
        known_as = canonical[skeleton.index(joint)]
        if known_as is not None:
            models[known_as] = model
    limited = np.array([name in models for name in canonical])
    rng = np.random.default_rng(seed)
    axes = rotations.normalise(rng.normal(size=(count, skeleton.joint_count, 3)))
    # some poses are far from bind in all joints, some in few, some are near it
    angles = rng.uniform(0.0, 1.0, (count, skeleton.joint_count)) * np.where(limited, WIDEST, UNKNOWN)
    angles *= np.sqrt(rng.uniform(0.0, 1.0, (count, 1)))
    angles *= rng.uniform(0.0, 1.0, angles.shape) < 0.7
    turns = transforms.compose(np.zeros(3), rotations.xyzw_from_axis_angle(axes, angles))
    drawn = Motion("poses", skeleton, np.arange(count) / RATE, skeleton.bind_local @ turns)
    if models:
        drawn = enforce_limits(drawn, canonical, models)[0]
    own = character.motions if motions is None else motions
    frames = np.concatenate([np.zeros((0, *skeleton.bind_local.shape)), *(motion.local for motion in own)])
    chosen = np.unique(np.linspace(0, len(frames) - 1, min(count // 2, len(frames))).astype(np.int64))
    local = np.concatenate([drawn.local, frames[chosen]]) if len(frames) else drawn.local
    return Motion("poses", skeleton, np.arange(len(local)) / RATE, local)
