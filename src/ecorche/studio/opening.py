"""From a file to an open document."""

from __future__ import annotations

from pathlib import Path

from ecorche.body.figure import ecorche_figure
from ecorche.body.rig import create_rig, require_bound
from ecorche.document.files import read_rig
from ecorche.errors import DocumentError
from ecorche.io.formats import read_character
from ecorche.io.new_rig import new_rig
from ecorche.studio.document import OpenDocument


def opened(path: Path | None) -> OpenDocument:
    """The document of a rig file, or of a character file, which gets a rig without muscles that has no file
    yet; None is the built-in figure."""
    if path is None:
        figure = ecorche_figure()
        return OpenDocument(figure, create_rig(figure, f"{figure.name}.glb", f"{figure.name}.ecorche"))
    if path.suffix.lower() != ".ecorche":
        character = read_character(path)
        made = new_rig(character, path, path.with_suffix(".ecorche"), muscles="none")
        return OpenDocument(character, made.rig, None, made.told)
    rig = read_rig(path)
    named = path.parent / rig.spec.character.path
    if not named.exists():
        raise DocumentError(
            f"there is no file {rig.spec.character.path!r}",
            where=f"{path.name}, character.path",
            remedy="Put the character back there, or rebind the rig to where it is now",
        )
    character = read_character(named)
    require_bound(rig, character, path)
    return OpenDocument(character, rig, path)
