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
    """Start the rig file (.ecorche) of a character: what you edit and keep under version control."""
    from ecorche.body.rig import create_rig
    from ecorche.cli.subject import character_in
    from ecorche.document.files import require_rig_name, write_rig
    from ecorche.errors import WriteError

    target = output or character.with_suffix(".ecorche")
    require_rig_name(target, WriteError)
    if target.exists() and character.suffix != ".ecorche":
        raise WriteError(
            "is there already, and may hold edits",
            where=target,
            remedy=f"Fit it to a changed character: ecorche rebind {target.name} {character.name}."
            " Or give another name with -o",
        )
    made = create_rig(character_in(character), character, target)
    spec = write_rig(target, made)
    typer.echo(
        f"{target}: {len(spec.skeleton.mapping)} of {len(made.bind.joint_names)} joints have canonical names"
    )
    if spec.arrays is not None:
        typer.echo(f"{target.with_name(spec.arrays.file)}: its arrays; keep the two together")
