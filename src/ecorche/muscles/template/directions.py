"""Anatomical directions of movement as rotations about axes of the default pose.

In the default pose the body faces +Z, its right is -X and up is +Y, arms hang with the palms inward.
Axes are those of the right side, right-handed; the left side's are their mirror images. Turning the
segment beyond a joint about the axis moves it in the direction named. At the spine, ``lateral flexion``
and ``ipsilateral rotation`` are towards the muscle's own side. ``horizontal`` movements of the arm are
about the vertical with the arm raised sideways to 90 degrees.
"""

from __future__ import annotations

from ecorche.base.names import suggestion
from ecorche.errors import SkeletonError
from ecorche.muscles.template.muscle import Vector

_X, _Y, _Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)

_BALL = {
    "extension": _X, "adduction": _Z, "internal rotation": _Y, "horizontal adduction": _Y,
}  # fmt: skip
_SPINE = {"flexion": _X, "lateral flexion": _Z, "contralateral rotation": _Y}
_FINGER = {"flexion": _Z, "adduction": _X}
_AXES: dict[str, dict[str, Vector]] = {
    "shoulder": _BALL,
    "hip": _BALL,
    "elbow": {"extension": _X, "pronation": _Y},
    "radiocarpal": {"flexion": _Z, "ulnar deviation": _X},
    "metacarpophalangeal_1": _FINGER,
    "metacarpophalangeal_2": _FINGER,
    "metacarpophalangeal_3": _FINGER,
    "metacarpophalangeal_5": {"flexion": _Z, "abduction": _X},
    "knee": {"flexion": _X, "internal rotation": _Y},
    "talocrural": {"plantarflexion": _X, "inversion": _Z},
    "metatarsophalangeal_2": {"flexion": _X},
    "sternoclavicular": {"depression": _Z, "protraction": _Y},
    **dict.fromkeys(("vl5", "vt1", "vc4", "skullbase"), _SPINE),
}
_OPPOSITES = {
    "flexion": "extension",
    "adduction": "abduction",
    "internal rotation": "external rotation",
    "horizontal adduction": "horizontal abduction",
    "pronation": "supination",
    "ulnar deviation": "radial deviation",
    "plantarflexion": "dorsiflexion",
    "inversion": "eversion",
    "depression": "elevation",
    "protraction": "retraction",
    "contralateral rotation": "ipsilateral rotation",
}
_OPPOSITE = _OPPOSITES | {b: a for a, b in _OPPOSITES.items()}


def axis_of(joint: str, direction: str, side: str) -> Vector:
    """The unit axis, in the default pose, about which ``joint`` turns in an anatomical direction.

    ``side`` is the muscle's, ``"right"`` or ``"left"``: it matters at the spine, whose joints have none.
    """
    base = joint[2:] if joint[:2] in ("r_", "l_") else joint
    known = _AXES.get(base, {})
    opposite = _OPPOSITE.get(direction, "")
    if direction in known:
        sign, (x, y, z) = 1.0, known[direction]
    elif opposite in known:
        sign, (x, y, z) = -1.0, known[opposite]
    else:
        choices = [*known, *(_OPPOSITE[d] for d in known if d in _OPPOSITE)]
        raise SkeletonError(
            f"joint {joint!r} has no direction {direction!r}", remedy=suggestion(direction, choices)
        )
    # a mirror in the middle plane keeps the part of an axis that is normal to it and turns the rest round
    flip = -1.0 if side == "left" else 1.0
    return (sign * x, sign * flip * y, sign * flip * z)
