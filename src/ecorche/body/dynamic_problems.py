"""What a bake with fat or springs would refuse of what a rig says about them, found by compiling both."""

from __future__ import annotations

from ecorche.body.character import Character
from ecorche.body.compile import compile_body
from ecorche.document.files import Rig
from ecorche.errors import EcorcheError


def dynamic_problems(rig: Rig, character: Character) -> list[str]:
    """A sentence for each problem; a rig that says nothing of fat or blows costs nothing.

    Args:
        rig: One in which `body.rig.check_rig` finds nothing wrong.
        character: The one it was made for.
    """
    from ecorche.body.compile_fat import compile_fat
    from ecorche.body.compile_springs import compile_springs

    said = {
        "fat": (bool(rig.spec.fat.regions), compile_fat),
        "springs": (bool(rig.spec.springs.blows), compile_springs),
    }
    if not any(there for there, _ in said.values()):
        return []
    try:
        body = compile_body(character, rig=rig)
    except EcorcheError as error:
        return [_told(error, rig, "muscles")]
    found = []
    for field, (there, compiled) in said.items():
        if not there:
            continue
        try:
            compiled(body, rig)
        except EcorcheError as error:
            found.append(_told(error, rig, field))
    return found


def _told(error: EcorcheError, rig: Rig, field: str) -> str:
    """An error as a line of `ecorche check`, which has named the file already."""
    where = (error.where or "").removeprefix(rig.source).removeprefix(", ") or field
    return f"{where}: {error.what}. {error.remedy}"
