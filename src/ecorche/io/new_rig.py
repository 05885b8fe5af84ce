"""A new rig with muscles, wherever these come from, and what there is to tell of them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

from ecorche.base.names import suggestion
from ecorche.body.character import Character
from ecorche.body.rig import create_rig
from ecorche.document.files import Rig
from ecorche.errors import EcorcheError

SOURCES = ("template", "extract", "template+extract", "anatomy", "none")
"""The anatomical muscles; those that show in the skin; the first adjusted to the second; a folder."""


class NewRig(NamedTuple):
    """A rig and what a person should know about its muscles, a sentence each."""

    rig: Rig
    told: list[str]


def new_rig(
    character: Character,
    character_path: str | os.PathLike[str],
    path: str | os.PathLike[str],
    *,
    muscles: str = "template",
    anatomy: str | os.PathLike[str] | None = None,
) -> NewRig:
    """A rig for a character with muscles; nothing is written yet.

    Args:
        character: The character.
        character_path: Its file.
        path: Where the rig file will be; the character is named relative to it.
        muscles: ``"template"``: the anatomical ones, on a humanoid; ``"extract"``: those that show in the
            skin, of any creature; ``"template+extract"``: the first adjusted to the second; ``"anatomy"``:
            meshes in a folder; ``"none"``.
        anatomy: The folder, with muscles/, bones/ and perhaps sites/ in the character's own axes and unit.
    """
    if muscles not in SOURCES:
        raise EcorcheError(f"there are no muscles {muscles!r}", remedy=suggestion(muscles, SOURCES))
    if (muscles == "anatomy") != (anatomy is not None):
        raise EcorcheError(
            "an anatomy is a folder of meshes", remedy="Name the folder, and choose the muscles 'anatomy'"
        )
    made, told = create_rig(character, character_path, path, muscles=False), []
    if anatomy is not None:
        from ecorche.body.anatomy_rig import with_anatomy
        from ecorche.io.anatomy_folder import bones_of_character, read_anatomy_folder

        folder = read_anatomy_folder(Path(anatomy), character.up_axis, character.metres_per_unit)
        made, built = with_anatomy(made, character, folder, bones_of_character(character))
        told += built.told()
    if muscles in ("template", "template+extract"):
        from ecorche.body.place_muscles import template_placement, with_muscles
        from ecorche.skeleton.naming.recognise import recognise

        placement = template_placement(character, recognise(character.skeleton, None))
        made, placed = with_muscles(made, character, placement)
        told += placed.lines()
    if muscles == "template+extract":
        from ecorche.body.adjust_template import with_adjusted_muscles

        made, adjusted = with_adjusted_muscles(made, character)
        told += adjusted.lines()
    if muscles == "extract":
        from ecorche.body.extract_muscles import with_extracted_muscles

        made, found = with_extracted_muscles(made, character)
        told += found.lines()
    return NewRig(made, told)
