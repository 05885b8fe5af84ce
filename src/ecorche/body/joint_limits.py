"""How far a character's joints may turn: as its rig says, else as a human's do that are known by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ecorche.body.rig import joint_models
from ecorche.document.files import Rig
from ecorche.skeleton.human_limits import human_joints
from ecorche.skeleton.joints import Joint
from ecorche.skeleton.naming.recognise import recognise
from ecorche.skeleton.skeleton import Skeleton


class JointLimits(NamedTuple):
    """The limits of a skeleton's joints, as `enforce_limits` takes them.

    Attributes:
        names: Of each joint its H-Anim name; where it has none and the rig limits it, one made of its own;
            else None.
        models: Joint models by these names.
    """

    names: tuple[str | None, ...]
    models: Mapping[str, Joint]


def joint_limits(skeleton: Skeleton, rig: Rig | None, mapping: Mapping[str, str] | None) -> JointLimits:
    """The limits of a skeleton's joints.

    Args:
        skeleton: The joints.
        rig: Whose joint models come first; None for a human's alone.
        mapping: Joint names to H-Anim names; None recognises them.
    """
    names = list(recognise(skeleton, mapping).canonical)
    models = human_joints(name for name in names if name is not None)
    for own, model in ({} if rig is None else joint_models(rig)).items():
        joint = skeleton.index(own)
        known_as = names[joint] or f"own {own}"  # a name that no joint of a human has
        names[joint] = known_as
        models[known_as] = model
    return JointLimits(tuple(names), models)
