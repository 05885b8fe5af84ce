"""Which vertebra a rig's spine joint stands for.

Rigs have one to a dozen spine joints where the body has 24 vertebrae. The assignment is fixed, so
that two rigs with equally many joints agree whatever their proportions: n joints are taken to
divide the trunk, from the sacrum to the first rib, into n equal lengths, and each gets the
vertebra it then stands at; likewise the neck, from the first rib to the skull. Lengths of the
adult column after Gray's Anatomy: lumbar 18 cm, thoracic 28 cm, cervical 12.5 cm, vertebrae
of a region taken alike. Three trunk joints become vl5, vl1 and vt7; two neck joints vc7 and vc4.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from ecorche.skeleton.naming.vocabulary import NECK, TRUNK

_LUMBAR, _THORACIC = Fraction(180, 5), Fraction(280, 12)  # mm of one vertebra with its disc


def trunk_vertebrae(count: int) -> list[str | None]:
    """The trunk vertebrae that ``count`` joints from the pelvis up stand for.

    Past 17 joints the uppermost ones have no vertebra left and get None.
    """
    borders = [_LUMBAR * i for i in range(5)] + [5 * _LUMBAR + _THORACIC * i for i in range(12)]
    length = 5 * _LUMBAR + 12 * _THORACIC
    return _assigned([sum(b <= length * k / count for b in borders) - 1 for k in range(count)], TRUNK)


def neck_vertebrae(count: int) -> list[str | None]:
    """The neck vertebrae that ``count`` joints from the chest up stand for; None past seven."""
    return _assigned([len(NECK) * k // count for k in range(count)], NECK)


def _assigned(places: Sequence[int], names: Sequence[str]) -> list[str | None]:
    """Names at these places, pushed apart where many joints would share one."""
    result: list[str | None] = []
    taken = -1
    for k, place in enumerate(places):
        room_above = len(names) - (len(places) - k)
        taken = max(min(place, max(room_above, 0)), taken + 1)
        result.append(names[taken] if taken < len(names) else None)
    return result
