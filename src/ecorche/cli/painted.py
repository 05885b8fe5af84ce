"""Values painted on a skin, as a person hands them to a command: a mask, or a file with an attribute."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ecorche.body.character import Character
    from ecorche.body.painting import Painted
    from ecorche.document.files import Rig


def painted_in(file: Path, attribute: str, character: Character, rig: Rig) -> Painted:
    """What a file says of every vertex of a rig's body, 0 to 1.

    Args:
        file: A mask (.npy, .csv), or a character file.
        attribute: What it is called there, if it is a character.
        character: The rig's character.
        rig: The rig.
    """
    from ecorche.body.painting import Painted, painted_on, require_weights
    from ecorche.cli.subject import character_in
    from ecorche.io.masks import SUFFIXES, read_mask

    body = character.body(rig.spec.body)
    if file.suffix.lower() not in SUFFIXES:
        return painted_on(character_in(file), attribute, rig.bind.mesh(body.name))
    values = read_mask(file, body.mesh.vertex_count)
    require_weights(values, file)
    return Painted(values)
