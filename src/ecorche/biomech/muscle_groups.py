"""What a model's muscle is one of, as hip abductors: as the template has it, and of deep ones here."""

from __future__ import annotations

from ecorche.biomech.muscle_names import meant_by
from ecorche.muscles.template import RIGHT_SIDE

OTHERS = "other muscles"

_DEEP = {
    "hip flexors": ("iliacus", "psoas major", "iliopsoas"),
    "hip abductors": ("gluteus minimus",),
    "hip adductors": ("adductor brevis",),
    "hip external rotators": ("piriformis", "quadratus femoris"),
    "knee extensors": ("vastus intermedius",),
    "ankle dorsiflexors": ("fibularis tertius",),
    "ankle plantarflexors": ("tibialis posterior",),
    "toe flexors": ("flexor hallucis longus",),
    "shoulder abductors": ("supraspinatus",),
    "shoulder internal rotators": ("subscapularis",),
    "forearm supinators": ("supinator",),
    "trunk rotators": ("internal oblique", "multifidus"),
    "trunk lateral flexors": ("quadratus lumborum",),
}
_ORDER = ("hip", "knee", "ankle", "toe", "foot", "trunk", "neck", "scapular", "shoulder", "elbow")


def muscle_group(name: str) -> str:
    """The group of a muscle by the name a model has for it, with or without its side."""
    muscle = meant_by(name)[0].muscle
    for group, members in _DEEP.items():
        if muscle in members:
            return group
    return next((one.group for one in RIGHT_SIDE if one.muscle == muscle), OTHERS)


def group_order(group: str) -> tuple[int, str]:
    """Where a group stands among others: from the hip down, then the trunk and the arms."""
    joint = group.split()[0]
    return (_ORDER.index(joint) if joint in _ORDER else len(_ORDER) + (group == OTHERS), group)
