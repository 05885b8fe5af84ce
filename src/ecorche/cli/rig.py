"""`ecorche rig`: start a rig file for a character."""

from __future__ import annotations

from pathlib import Path

import typer


def rig(
    character: Path = typer.Argument(help="A character: glTF, USD, X3D or MJCF."),
    output: Path | None = typer.Option(
        None, "-o", "--output", help="The rig file; default: beside the character."
    ),
) -> None:
    """Write the rig file (.ecorche) of a character: what you edit and keep under version control."""
    from ecorche.body.rig import create_rig
    from ecorche.document.files import write_rig
    from ecorche.io.formats import read_character

    target = output or character.with_suffix(".ecorche")
    made = create_rig(read_character(character), character, target)
    write_rig(target, made)
    typer.echo(f"{target}: rig of {character.name}")
