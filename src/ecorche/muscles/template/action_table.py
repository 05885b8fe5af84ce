"""What a human muscle does, by its anatomical name: for muscles that come as meshes, not from the template.

The knowledge is the template's own, head by head; a muscle asked for as a whole does what any of its heads
does. Muscles of the thesis's chapter 4.2 that lie too deep for a spindle of the template are added here,
after Gray's Anatomy (41st ed., ch. 49-50).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import Literal

from ecorche.base.names import suggestion
from ecorche.errors import EcorcheError
from ecorche.muscles.activation import Action
from ecorche.muscles.template import RIGHT_SIDE
from ecorche.muscles.template.muscle import FOREARM, HAND, INDEX, MIDDLE, THUMB
from ecorche.muscles.template.muscle import Action as Directed
from ecorche.muscles.template.segments import segments
from ecorche.muscles.template.working_range import WorkingRanges
from ecorche.skeleton.naming import Naming
from ecorche.skeleton.naming.vocabulary import mirrored
from ecorche.skeleton.skeleton import Skeleton

DEEP: dict[str, tuple[Directed, ...]] = {
    "pronator quadratus": (Directed(FOREARM, "pronation", 1.0),),
    "supinator": (Directed(FOREARM, "supination", 1.0),),
    "flexor digitorum profundus": (Directed(MIDDLE, "flexion", 1.0), Directed(HAND, "flexion", 0.5)),
    "flexor pollicis longus": (Directed(THUMB, "flexion", 1.0), Directed(HAND, "flexion", 0.3)),
    "extensor indicis": (Directed(INDEX, "extension", 1.0), Directed(HAND, "extension", 0.5)),
    "extensor pollicis longus": (Directed(THUMB, "extension", 1.0), Directed(HAND, "extension", 0.3)),
    "extensor pollicis brevis": (Directed(THUMB, "extension", 1.0), Directed(HAND, "radial deviation", 0.4)),
}
"""Deep muscles of the right side, strongest action first."""

_SIDES: dict[str, Literal["right", "left"]] = {"right": "right", "r": "right", "left": "left", "l": "left"}
_EMPTY_WORDS = frozenset({"muscle", "musculus", "m", "head", "part", "the", "of"})


@cache
def known_actions() -> dict[str, tuple[Directed, ...]]:
    """What each muscle (``"deltoid"``) and head (``"deltoid, middle"``) of the right side works in.

    What a muscle resists counts as well; where heads differ the larger weight holds.
    """
    gathered: dict[str, dict[tuple[str, str], float]] = {}
    for muscle in RIGHT_SIDE:
        for name in dict.fromkeys((muscle.muscle, muscle.name.removesuffix(", right"))):
            table = gathered.setdefault(name, {})
            for action in (*muscle.actions, *muscle.resists):
                place = (action.joint, action.direction)
                table[place] = max(table.get(place, 0.0), action.weight)
    found = {
        name: tuple(Directed(*place, w) for place, w in table.items()) for name, table in gathered.items()
    }
    return found | DEEP


def anatomical_name(name: str) -> tuple[str, Literal["right", "left"]] | None:
    """The muscle and side that a name such as ``"R_Biceps_Brachii"`` stands for, None where we know none.

    Spelling, order of side and muscle, and signs between words do not matter. Both must be there.
    """
    words = re.findall(r"[a-z]+", name.casefold())
    sides = [_SIDES[word] for word in words if word in _SIDES]
    muscle = _known_spellings().get(_spelled(words))
    return (muscle, sides[0]) if muscle is not None and len(sides) == 1 else None


def actions_by_name(
    names: Sequence[str], skeleton: Skeleton, naming: Naming
) -> tuple[tuple[Action, ...], ...]:
    """The action table of muscles by name on one skeleton; actions on joints that it lacks are left out."""
    ranges = WorkingRanges(skeleton, naming, segments(skeleton, naming))
    table = []
    for name in names:
        known = anatomical_name(name)
        if known is None:
            choices = [f"{muscle}, {side}" for side in ("right", "left") for muscle in known_actions()]
            raise EcorcheError(
                f"what the muscle {name!r} does is not known",
                where="actions",
                remedy=suggestion(name, choices, at_most=4) + ". Or give its actions yourself",
            )
        muscle, side = known
        directed = known_actions()[muscle]
        if side == "left":
            directed = tuple(Directed(mirrored(a.joint), a.direction, a.weight) for a in directed)
        table.append(ranges.of(directed, side))
    return tuple(table)


@cache
def _known_spellings() -> dict[str, str]:
    return {_spelled(re.findall(r"[a-z]+", name)): name for name in known_actions()}


def _spelled(words: Sequence[str]) -> str:
    return "".join(word for word in words if word not in _SIDES and word not in _EMPTY_WORDS)
