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
    mesh: list[str] = typer.Option(
        [], metavar="OLD=NEW", help="Which new mesh takes an old one's maps, where names do not tell."
    ),
) -> None:
    """Refit a rig to the same mesh in a new shape, or transfer it to a new mesh; hand edits are kept."""
    from ecorche.body.rebind import rebind as rebind_rig
    from ecorche.cli.options import mesh_pairs
    from ecorche.cli.subject import character_in
    from ecorche.document.files import read_rig, require_rig_name, write_rig
    from ecorche.errors import WriteError

    target = output or rig
    require_rig_name(target, WriteError)
    pairs = mesh_pairs(mesh)
    rebound, report = rebind_rig(read_rig(rig), character_in(new), new, target, meshes=pairs)
    write_rig(target, rebound)
    typer.echo(str(report))
    typer.echo(f"{target}: rebound to {new.name}")
