"""`ecorche convert`: the same character or take in another format."""

from __future__ import annotations

from pathlib import Path

import typer

from ecorche.cli.bake import UsdAs


def convert(
    source: Path = typer.Argument(help="A character or a baked take."),
    target: Path = typer.Argument(help="The file to make; its suffix says the format."),
    usd_as: UsdAs = typer.Option(
        UsdAs.points, "--usd-as", help="USD: point samples, or skeleton and blend shapes."
    ),
    morph_targets: int = typer.Option(32, min=0, max=256, help="glTF: at most this many morph targets."),
    mesh: str | None = typer.Option(None, help="PC2: which mesh; default: the body."),
) -> None:
    """Write a character, with its motion and baked skin, in another format."""
    from ecorche.body.take import recorded_take
    from ecorche.io.formats import WriteOptions, read_character, write_take

    take = recorded_take(read_character(source))
    written = write_take(
        target, take, WriteOptions(usd_as=usd_as.value, morph_targets=morph_targets, mesh=mesh)
    )
    for note in written.notes:
        typer.echo(note)
    typer.echo(f"{target}: {0 if take.frames is None else len(take.frames)} frames")
