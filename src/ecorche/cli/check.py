"""`ecorche check`: validate any file Ecorche can read."""

from __future__ import annotations

from pathlib import Path

import typer

from ecorche.errors import EcorcheError


def check(
    files: list[Path] = typer.Argument(help="Characters, motions, surfaces, caches, rigs."),
) -> None:
    """Validate files, one line a problem.

    Exit code 0 when all are well, 1 with problems, 2 when a file cannot be read.
    """
    from ecorche.cli.inspect import problems_in

    worst = 0
    for file in files:
        try:
            problems = problems_in(file)
        except EcorcheError as error:
            typer.echo(str(error))
            worst = 2
            continue
        for problem in problems:
            typer.echo(f"{file}: {problem}")
        if problems:
            worst = max(worst, 1)
        else:
            typer.echo(f"{file}: ok")
    raise typer.Exit(worst)
