"""Edits of a whole body rather than a part: its type, how its skin is bound, how its flesh swings.

Each gives a whole rig, checked, and says what it did.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ecorche.body.body_type import shaped, with_type
from ecorche.body.character import Character
from ecorche.body.choose_coupling import with_coupling
from ecorche.body.edited_rig import Edited
from ecorche.document.fat_spec import FatSpec
from ecorche.document.files import Rig
from ecorche.document.problems import told_as_document_error
from ecorche.document.springs_spec import SpringsSpec

_TOLD = {
    "plain": "skinning alone",
    "muscles": "moved by each muscle",
    "height_field": "over a height field",
    "fascia": "over a fascia",
}


def typed(rig: Rig, character: Character, *, bulk: float | None = None, fat: float | None = None) -> Edited:
    """The rig of a body more or less muscular, leaner or heavier; None keeps what it says."""
    edited = with_type(rig, bulk=bulk, fat=fat)
    said = edited.spec.body_type
    told = [f"bulk {said.bulk:g}, fat {said.fat:g}"]
    if (said.bulk, said.fat) != (1.0, 0.0):
        told += shaped(character, edited).lines()
    return Edited(edited, tuple(told))


def coupled(rig: Rig, character: Character, said: Mapping[str, Any]) -> Edited:
    """The rig with its skin bound as is said, see `with_coupling`."""
    edited = with_coupling(rig, character, said)
    coupling = edited.spec.coupling
    told = [f"the skin is {_TOLD[coupling.everywhere]}"]
    told += [f"{region}: {_TOLD[kind]}" for region, kind in coupling.regions.items()]
    return Edited(edited, tuple(told))


def sprung(rig: Rig, said: Mapping[str, Any]) -> Edited:
    """The rig with fields of ``springs`` as is said; those that nothing is said of stay."""
    with told_as_document_error(rig.source):
        springs = SpringsSpec.model_validate({**rig.spec.springs.model_dump(), **said})
    told = tuple(f"springs: {name.replace('_', ' ')} {_value(springs, name)}" for name in said)
    return Edited(replace(rig, spec=rig.spec.model_copy(update={"springs": springs})), told)


def fattened(rig: Rig, said: Mapping[str, Any]) -> Edited:
    """The rig with fields of ``fat`` that moves as is said; those that nothing is said of stay."""
    with told_as_document_error(rig.source):
        fat = FatSpec.model_validate({**rig.spec.fat.model_dump(), **said})
    told = tuple(f"fat: {name} {_value(fat, name)}" for name in said)
    return Edited(replace(rig, spec=rig.spec.model_copy(update={"fat": fat})), told)


def _value(spec: SpringsSpec | FatSpec, name: str) -> str:
    value = getattr(spec, name)
    return f"{value:g}" if isinstance(value, float) else str(value).lower()
