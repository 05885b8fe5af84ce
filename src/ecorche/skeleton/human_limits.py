"""Joint models and limits of an adult, by H-Anim name (ISO/IEC 19774:2019).

Joint types are those of thesis 3.3.10: hinges in fingers, toes and forearm, swing joints at wrist and
thumb base, ball-and-socket at shoulder, hip, ankle and spine. Angles [degrees] are the norms of

  AAOS       American Academy of Orthopaedic Surgeons, Joint Motion (1965)
  NW         Norkin and White, Measurement of Joint Motion (4th ed., 2009)
  Kapandji   The Physiology of the Joints, vols. 1–3 (passive ranges)

as said at each joint; `human_spine` and `human_shoulder` name theirs. Where a source gives only the
principal planes, the directions between are quarter-ellipses. Play is our estimate: of laxity, and of how
far a rig's axes, found from joint positions alone, are from the anatomist's.

The right side is written down, the left is its mirror image. Signs: flexion, abduction, outward
rotation, supination, inversion and radial deviation are positive.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cache

import numpy as np

from ecorche.base.names import suggestion
from ecorche.errors import SkeletonError
from ecorche.skeleton.human_shoulder import right_shoulder
from ecorche.skeleton.human_spine import SEGMENTS, spinal_joint, spinal_spans
from ecorche.skeleton.joints import BallAndSocket, Joint, Knee, Revolute, Swing
from ecorche.skeleton.reach import (
    anatomical_frame,
    elliptic_polygon,
    polygon_of_swings,
    same_twist,
    twist_keys,
)

LEFT, RIGHT = (1, 0, 0), (-1, 0, 0)
UP, DOWN = (0, 1, 0), (0, -1, 0)
FORWARD, BACK = (0, 0, 1), (0, 0, -1)

PRONATION, SUPINATION = 85, 90
"""Kapandji, from the thumb-forward pose."""
ELBOW_PLAY = 35


@cache
def human_joint(name: str) -> Joint:
    """The joint of an adult with that H-Anim name, such as ``l_shoulder`` or ``vl3``."""
    if name in SEGMENTS:
        return spinal_joint([name])
    if name in _MIDLINE:
        return _MIDLINE[name]()
    side, _, base = name.partition("_")
    if side in ("l", "r") and base in _RIGHT:
        joint = _RIGHT[base]()
        return joint if side == "r" else joint.mirrored()
    raise SkeletonError(
        f"no limits are known for a joint {name!r}", remedy=suggestion(name, human_joint_names())
    )


def human_joint_names() -> list[str]:
    """The names `human_joint` knows."""
    return [*SEGMENTS, *_MIDLINE, *(f"{side}_{base}" for base in _RIGHT for side in "lr")]


def human_joints(names: Iterable[str]) -> dict[str, Joint]:
    """The joints of a rig that has just these H-Anim joints; names without known limits are left out.

    A rig's joint may have to do the work of several, and then has the range of all:

    - a spinal joint stands for the vertebrae between its neighbours;
    - without a radioulnar joint, pronation is in the elbow or the wrist, so both may turn about the forearm;
    - the last joint of a finger or toe bends for those missing beyond it, a lone thumb joint as well;
    - a palm in one piece bends as the wrist does.
    """
    names = set(names)
    joints = {name: human_joint(name) for name in human_joint_names() if name in names}
    for name, span in spinal_spans(names).items():
        joints[name] = spinal_joint(span)
    for side in "lr":
        for base, joint in _right_stand_ins({n[2:] for n in names if n.startswith(f"{side}_")}).items():
            joints[f"{side}_{base}"] = joint if side == "r" else joint.mirrored()
    return joints


def _right_stand_ins(bases: set[str]) -> dict[str, Joint]:
    """The right side's joints that stand for others, where only ``bases`` are there."""
    found: dict[str, Joint] = {}
    if "radioulnar" not in bases:
        found |= {"elbow": _elbow_and_forearm(), "radiocarpal": _wrist_and_forearm()}
    if "metacarpophalangeal_1" not in bases:
        found["carpometacarpal_1"] = _thumb_base(reach=75)
    palm = bases & {f"carpometacarpal_{n}" for n in (2, 3, 4, 5)}
    if len(palm) == 1:
        found[palm.pop()] = _wrist()
    for chain in _DIGITS:
        present = [base for base in chain if base in bases]
        if present and present[-1] != chain[-1]:
            last = _RIGHT[present[-1]]()
            missing = [_RIGHT[base]() for base in chain[chain.index(present[-1]) + 1 :]]
            assert isinstance(last, Revolute)
            more = sum(joint.high for joint in missing if isinstance(joint, Revolute))
            found[present[-1]] = replace(last, high=min(last.high + more, last.low + 2.0 * np.pi))
    return {base: joint for base, joint in found.items() if base in bases}


def _hinge(
    low: float, high: float, *, axis: tuple[float, ...], play: float = 0.0, beside: tuple[float, ...] = DOWN
) -> Revolute:
    """A hinge whose positive angle turns about ``axis``; ``beside`` is any other direction."""
    frame = anatomical_frame(limb=axis, x=beside)
    return Revolute(
        low=np.radians(low), high=np.radians(high), play=np.radians(play), anatomical_frame_xyzw=frame
    )


def _hip() -> Joint:
    """AAOS: extension 30, abduction 45, adduction 30, rotation 45 either way. Kapandji: flexion 140.

    A bent hip opens wider (Kapandji's frog position); swinging straight there leaves the thigh turned
    inward, so the rotation's range is shifted outward by the same amount.
    """
    return BallAndSocket(
        anatomical_frame_xyzw=anatomical_frame(limb=DOWN, x=RIGHT),
        polygon=polygon_of_swings(
            [
                (140, 0),
                (120, 45),
                (85, 72),
                (45, 68),
                (0, 45),
                (-22, 25),
                (-30, 0),
                (-24, -16),
                (0, -30),
                (60, -35),
                (110, -30),
            ]
        ),
        twist=twist_keys(
            [
                (0, 0, -45, 45),
                (90, 0, -45, 45),
                (140, 0, -30, 35),
                (-30, 0, -35, 40),
                (0, 45, -30, 45),
                (64, 64, -10, 85),
                (0, -30, -40, 30),
                (85, -35, -65, 20),
            ]
        ),
    )


def _knee() -> Joint:
    """Kapandji: flexion 160, extension beyond straight 10; bent, 40 outward and 30 inward."""
    return Knee(
        anatomical_frame_xyzw=anatomical_frame(limb=DOWN, x=LEFT),
        flexion_low=np.radians(-10.0),
        flexion_high=np.radians(160.0),
        twist_low=np.radians(-30.0),
        twist_high=np.radians(40.0),
        play=np.radians(10.0),
    )


def _ankle() -> Joint:
    """Kapandji: plantar flexion 50, toes out 30 and in 20. AAOS: inversion 35 and eversion 15 of the foot.

    Dorsiflexion is 45, as under the body's weight (lunge test, Bennell et al. 1998); unloaded it is 20 to 30.
    """
    return BallAndSocket(
        anatomical_frame_xyzw=anatomical_frame(limb=FORWARD, x=RIGHT),
        polygon=elliptic_polygon(45, 50, 30, 20),
        twist=same_twist(-15, 35),
    )


def _tarsal(reach: float) -> Swing:
    """Joints that glide a little: a few degrees each way (Kapandji, vol. 2, gives no single figure)."""
    return Swing(
        anatomical_frame_xyzw=anatomical_frame(limb=FORWARD, x=RIGHT),
        polygon=elliptic_polygon(reach, reach, reach, reach),
        play=np.radians(reach),
    )


def _collar_bone() -> Joint:
    """NW: elevation 45, depression 15, forward and back 30, turning up to 50 backward."""
    return BallAndSocket(
        anatomical_frame_xyzw=anatomical_frame(limb=RIGHT, x=UP),
        polygon=elliptic_polygon(30, 30, 45, 15),
        twist=same_twist(-15, 50),
    )


def _shoulder_blade() -> Joint:
    """NW: winging and tilting about 30, upward turn 30 against the collar bone."""
    return BallAndSocket(
        anatomical_frame_xyzw=anatomical_frame(limb=RIGHT, x=UP),
        polygon=elliptic_polygon(30, 30, 30, 30),
        twist=same_twist(-30, 30),
    )


def _elbow() -> Joint:
    """AAOS: flexion 150, extension beyond straight 10.

    The play is wide because the joint positions of an arm bound straight do not say which way its elbow
    bends: hinges of real rigs were found turned about the arm by up to 30.
    """
    return _hinge(-10, 150, axis=RIGHT, play=ELBOW_PLAY)


def _elbow_and_forearm() -> Joint:
    """Elbow and radioulnar joint in one: bends as the one, turns as the other, straight or bent."""
    return Knee(
        anatomical_frame_xyzw=anatomical_frame(limb=DOWN, x=RIGHT),
        flexion_low=np.radians(-10.0),
        flexion_high=np.radians(150.0),
        twist_low=np.radians(-PRONATION),
        twist_high=np.radians(SUPINATION),
        narrowing=0.0,
        play=np.radians(ELBOW_PLAY),
    )


def _wrist() -> Joint:
    """AAOS: flexion 80, extension 70, radial deviation 20, ulnar deviation 30."""
    return Swing(
        anatomical_frame_xyzw=anatomical_frame(limb=DOWN, x=FORWARD),
        polygon=elliptic_polygon(80, 70, 20, 30),
        play=np.radians(10.0),
    )


def _wrist_and_forearm() -> Joint:
    """Wrist and radioulnar joint in one."""
    return BallAndSocket(
        anatomical_frame_xyzw=anatomical_frame(limb=DOWN, x=FORWARD),
        polygon=elliptic_polygon(80, 70, 20, 30),
        twist=same_twist(-PRONATION, SUPINATION),
    )


def _carpal(reach: float) -> Swing:
    return Swing(
        anatomical_frame_xyzw=anatomical_frame(limb=DOWN, x=FORWARD),
        polygon=elliptic_polygon(reach, reach, 0.5 * reach, 0.5 * reach),
        play=np.radians(5.0),
    )


_THUMB = (0.0, -0.8, 0.6)
_THUMB_BENDS_TOWARDS = (0.7, 0.0, -0.7)


def _thumb_base(reach: float = 40) -> Joint:
    """Kapandji: 50 to 80 in all, about the relaxed pose; it turns along by some 30 in opposition."""
    return Swing(
        anatomical_frame_xyzw=anatomical_frame(limb=_THUMB, x=np.cross(_THUMB, _THUMB_BENDS_TOWARDS)),
        polygon=elliptic_polygon(reach, reach, reach, reach),
        play=np.radians(30.0),
    )


def _thumb_hinge(low: float, high: float) -> Revolute:
    """Bends across the palm; rigs differ in how far the thumb is turned, hence the play."""
    axis = np.cross(_THUMB, _THUMB_BENDS_TOWARDS)
    return _hinge(low, high, axis=tuple(axis.tolist()), play=35)


def _jaw() -> Joint:
    """An opening of about 50 mm is some 35 (Kapandji)."""
    return _hinge(-5, 35, axis=LEFT, play=10)


def _eye() -> Joint:
    """Up 35, down and to either side 50."""
    return Swing(
        anatomical_frame_xyzw=anatomical_frame(limb=FORWARD, x=RIGHT),
        polygon=elliptic_polygon(35, 50, 50, 50),
        play=np.radians(10.0),
    )


def _pelvis() -> Joint:
    """The pelvis against the body's root: tilt, list and turn as in gait and dance, by our estimate."""
    return BallAndSocket(
        anatomical_frame_xyzw=anatomical_frame(limb=UP, x=LEFT),
        polygon=elliptic_polygon(45, 45, 30, 30),
        twist=same_twist(-45, 45),
    )


_MIDLINE: dict[str, Callable[[], Joint]] = {"sacroiliac": _pelvis, "temporomandibular": _jaw}

_RIGHT: dict[str, Callable[[], Joint]] = {
    "hip": _hip,
    "knee": _knee,
    "talocrural": _ankle,
    "talocalcaneonavicular": lambda: _hinge(-15, 35, axis=FORWARD, play=10),  # AAOS, whole foot
    "transversetarsal": lambda: _tarsal(15),
    "calcaneocuboid": lambda: _tarsal(10),
    **{f"cuneonavicular_{n}": lambda: _tarsal(10) for n in (1, 2, 3)},
    **{f"tarsometatarsal_{n}": lambda: _tarsal(10) for n in (1, 2, 3, 4, 5)},
    # AAOS: flexion 45 and 40; Kapandji: passive extension 90 as the heel lifts
    "metatarsophalangeal_1": lambda: _hinge(-90, 45, axis=LEFT, play=15),
    **{f"metatarsophalangeal_{n}": lambda: _hinge(-90, 40, axis=LEFT, play=15) for n in (2, 3, 4, 5)},
    # AAOS: 90 at the great toe; 35 and 60 at the others
    "tarsal_interphalangeal_1": lambda: _hinge(-10, 90, axis=LEFT, play=10),
    **{
        f"tarsal_proximal_interphalangeal_{n}": lambda: _hinge(-10, 35, axis=LEFT, play=10)
        for n in (2, 3, 4, 5)
    },
    **{
        f"tarsal_distal_interphalangeal_{n}": lambda: _hinge(-30, 60, axis=LEFT, play=10)
        for n in (2, 3, 4, 5)
    },
    "sternoclavicular": _collar_bone,
    "acromioclavicular": _shoulder_blade,
    "shoulder": right_shoulder,
    "elbow": _elbow,
    "radioulnar": lambda: _hinge(-PRONATION, SUPINATION, axis=DOWN, beside=FORWARD, play=10),
    "radiocarpal": _wrist,
    **{f"midcarpal_{n}": lambda: _carpal(15) for n in ("1", "2", "3", "4_5")},
    "carpometacarpal_1": _thumb_base,
    **{f"carpometacarpal_{n}": lambda: _carpal(10) for n in (2, 3)},
    **{f"carpometacarpal_{n}": lambda: _carpal(25) for n in (4, 5)},  # Kapandji: the palm hollows
    "metacarpophalangeal_1": lambda: _thumb_hinge(-10, 60),  # AAOS 50; Kapandji 60 to 70
    "carpal_interphalangeal_1": lambda: _thumb_hinge(-20, 80),  # AAOS 80, NW 20 beyond straight
    # AAOS: flexion 90, extension 45; Kapandji: 20 to 30 to either side
    **{f"metacarpophalangeal_{n}": lambda: _hinge(-45, 90, axis=FORWARD, play=30) for n in (2, 3, 4, 5)},
    # AAOS: 100 and 90; Kapandji: well over 90, little extension
    **{
        f"carpal_proximal_interphalangeal_{n}": lambda: _hinge(-10, 110, axis=FORWARD, play=15)
        for n in (2, 3, 4, 5)
    },
    **{
        f"carpal_distal_interphalangeal_{n}": lambda: _hinge(-20, 90, axis=FORWARD, play=15)
        for n in (2, 3, 4, 5)
    },
    "eyeball_joint": _eye,
}

_DIGITS: tuple[tuple[str, ...], ...] = (
    ("metacarpophalangeal_1", "carpal_interphalangeal_1"),
    ("metatarsophalangeal_1", "tarsal_interphalangeal_1"),
    *(
        (
            f"meta{limb}ophalangeal_{n}",
            f"{limb}al_proximal_interphalangeal_{n}",
            f"{limb}al_distal_interphalangeal_{n}",
        )
        for limb in ("carp", "tars")
        for n in (2, 3, 4, 5)
    ),
)
"""Hinges along each finger and toe, outward."""
