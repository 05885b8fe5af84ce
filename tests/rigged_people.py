"""Real people with their rigs, made once, and rigs with a muscle edited by hand."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from ecorche.body.character import Character
from ecorche.body.rig import create_rig
from ecorche.document.files import Rig
from ecorche.document.muscle_spec import MuscleSpec
from ecorche.io.formats import read_character


@cache
def person(path: Path) -> Character:
    return read_character(path)


@cache
def rigged(path: Path) -> Rig:
    return create_rig(person(path), path.with_name("man.glb"), path.with_name("man.ecorche"))


def edited(rig: Rig, name: str, **changes: Any) -> Rig:
    """The rig with one muscle changed as a person would in the text."""
    values = rig.spec.muscles.named[name].model_dump()
    changed = MuscleSpec.model_validate(values | changes)
    muscles = rig.spec.muscles.model_copy(update={"named": {**rig.spec.muscles.named, name: changed}})
    return replace(rig, spec=rig.spec.model_copy(update={"muscles": muscles}))


BICEPS = "biceps brachii, long head, right"
