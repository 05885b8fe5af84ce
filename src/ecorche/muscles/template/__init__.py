"""The anatomical template: superficial muscles of a human by name, place, shape, force and action.

`TEMPLATE` holds both sides; `place` puts it on a skeleton, and `fit_to_skin` then under a skin.
"""

from ecorche.muscles.template.forearm import FOREARM_AND_HAND
from ecorche.muscles.template.hip_and_thigh import HIP_AND_THIGH
from ecorche.muscles.template.lower_leg import LOWER_LEG
from ecorche.muscles.template.muscle import Action, Attachment, TemplateMuscle
from ecorche.muscles.template.neck import NECK_MUSCLES
from ecorche.muscles.template.place import LeftOut, Placement, place
from ecorche.muscles.template.segments import segment_frames, segments
from ecorche.muscles.template.shoulder_and_arm import SHOULDER_AND_ARM
from ecorche.muscles.template.trunk import TRUNK_MUSCLES

RIGHT_SIDE: tuple[TemplateMuscle, ...] = (
    *NECK_MUSCLES,
    *SHOULDER_AND_ARM,
    *FOREARM_AND_HAND,
    *TRUNK_MUSCLES,
    *HIP_AND_THIGH,
    *LOWER_LEG,
)
TEMPLATE: tuple[TemplateMuscle, ...] = (*RIGHT_SIDE, *(muscle.mirrored() for muscle in RIGHT_SIDE))
"""Every muscle and head, right side first, the left in the same order."""

__all__ = [
    "RIGHT_SIDE",
    "TEMPLATE",
    "Action",
    "Attachment",
    "LeftOut",
    "Placement",
    "TemplateMuscle",
    "place",
    "segment_frames",
    "segments",
]
