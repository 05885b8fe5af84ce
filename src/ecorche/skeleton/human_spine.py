"""How far each vertebra moves on the one below, and how several move as one joint.

Representative values of White and Panjabi, Clinical Biomechanics of the Spine (2nd ed., 1990):
flexion and extension together, bending to one side, and rotation to one side, a motion segment
each. They do not part flexion from extension; that is done in the proportion of Kapandji, The
Physiology of the Joints, vol. 3: lumbar 60 to 35, thoracic 45 to 25, cervical 40 to 75.

Segments are named by their upper vertebra, as H-Anim does: ``vl5`` is L5 on the sacrum, ``vc1`` is
the atlas on the axis, ``skullbase`` the skull on the atlas. Real rigs have three to six spinal joints;
each then stands for the vertebrae down and up to its neighbours, and their ranges add up.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from ecorche.base.names import suggestion
from ecorche.errors import SkeletonError
from ecorche.skeleton.joints import BallAndSocket
from ecorche.skeleton.reach import anatomical_frame, elliptic_polygon, same_twist


class Segment(NamedTuple):
    """Ranges of one motion segment [degrees]."""

    bending: float  # flexion and extension together
    lateral: float  # to one side
    axial: float  # to one side


SEGMENTS: dict[str, Segment] = {
    "vl5": Segment(17, 3, 1),
    "vl4": Segment(16, 6, 2),
    "vl3": Segment(15, 8, 2),
    "vl2": Segment(14, 6, 2),
    "vl1": Segment(12, 6, 2),
    "vt12": Segment(12, 8, 2),
    "vt11": Segment(12, 9, 2),
    "vt10": Segment(9, 7, 2),
    "vt9": Segment(6, 6, 4),
    "vt8": Segment(6, 6, 6),
    "vt7": Segment(6, 6, 7),
    "vt6": Segment(5, 6, 7),
    "vt5": Segment(4, 6, 8),
    "vt4": Segment(4, 6, 8),
    "vt3": Segment(4, 5, 8),
    "vt2": Segment(4, 6, 8),
    "vt1": Segment(4, 5, 9),
    "vc7": Segment(9, 4, 2),
    "vc6": Segment(17, 7, 6),
    "vc5": Segment(20, 8, 7),
    "vc4": Segment(20, 11, 7),
    "vc3": Segment(15, 11, 7),
    "vc2": Segment(10, 10, 3),
    "vc1": Segment(20, 5, 40),
    "skullbase": Segment(25, 5, 5),
}
"""From the sacrum upwards."""

_FLEXION_SHARE = {"vl": 60 / 95, "vt": 45 / 70, "vc": 40 / 115, "sk": 40 / 115}


def spinal_joint(segments: Sequence[str]) -> BallAndSocket:
    """One ball-and-socket joint that moves as far as the named segments together.

    Swing x is flexion, swing y bends to the left, twist turns to the left.
    """
    for name in segments:
        if name not in SEGMENTS:
            raise SkeletonError(f"there is no vertebra {name!r}", remedy=suggestion(name, SEGMENTS))
    flexion = sum(SEGMENTS[s].bending * _FLEXION_SHARE[s[:2]] for s in segments)
    extension = sum(SEGMENTS[s].bending for s in segments) - flexion
    lateral = sum(SEGMENTS[s].lateral for s in segments)
    axial = sum(SEGMENTS[s].axial for s in segments)
    return BallAndSocket(
        anatomical_frame_xyzw=anatomical_frame(limb=(0, 1, 0), x=(1, 0, 0)),
        polygon=elliptic_polygon(flexion, extension, lateral, lateral),
        twist=same_twist(-axial, axial),
    )


def spinal_spans(names: Collection[str]) -> dict[str, list[str]]:
    """Which segments each spinal joint among ``names`` stands for.

    Its own, and those between it and the next joints that are there, below and above: an animator may
    have put their motion into either neighbour, so both are allowed it.
    """
    order = list(SEGMENTS)
    present = [place for place, name in enumerate(order) if name in names]
    ends = [-1, *present, len(order)]
    return {order[place]: order[ends[i] + 1 : ends[i + 2]] for i, place in enumerate(present)}
