"""`ecorche rebind`: carry a rig over to a changed character."""

from __future__ import annotations

from pathlib import Path

import typer


def rebind(
    rig: Path = typer.Argument(help="The rig file (.ecorche)."),
    new: Path = typer.Argument(help="The character as it is now."),
    output: Path | None = typer.Option(
        None, "-o", "--output", help="Where to write; default: the rig itself."
    ),
) -> None:
    """Refit a rig to the same mesh in a new shape, or transfer it to a new mesh; hand edits are kept."""
    from ecorche.body.rebind import rebind as rebind_rig
    from ecorche.document.files import read_rig, write_rig
    from ecorche.io.formats import read_character

    target = output or rig
    rebound, report = rebind_rig(read_rig(rig), read_character(new), new, target)
    write_rig(target, rebound)
    typer.echo(str(report))
    typer.echo(f"{target}: rebound to {new.name}")
