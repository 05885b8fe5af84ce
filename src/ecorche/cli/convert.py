"""`ecorche convert`: the same character or take in another format."""

from __future__ import annotations

from pathlib import Path

import typer

from ecorche.cli.options import MESH, MORPH_TARGETS, TANGENTS, USD_AS, UsdAs


def convert(
    source: Path = typer.Argument(help="A character or a baked take."),
    target: Path = typer.Argument(help="The file to make; its suffix says the format."),
    usd_as: UsdAs = USD_AS,
    morph_targets: int = MORPH_TARGETS,
    tangents: bool = TANGENTS,
    mesh: str | None = MESH,
) -> None:
    """Write a character, with its motions and baked skin, in another format."""
    from ecorche.base.files import require_folder
    from ecorche.body.take import recorded_take
    from ecorche.cli.options import counted
    from ecorche.cli.subject import character_in
    from ecorche.errors import WriteError
    from ecorche.io.formats import WriteOptions, module_for, write_take

    require_folder(target)
    module_for(target, "write_take", WriteError)
    character = character_in(source)
    take = recorded_take(character)
    options = WriteOptions(usd_as=usd_as.value, morph_targets=morph_targets, mesh=mesh, tangents=tangents)
    written = write_take(target, take, options)
    for note in (*character.notes, *written.notes):
        typer.echo(f"note: {note}")
    held = (
        counted(len(character.motions), "motion")
        if take.frames is None
        else (f"{counted(len(take.frames), 'baked frame')}")
    )
    typer.echo(f"{target}: {counted(character.skeleton.joint_count, 'joint')}, {held}")
