"""The `ecorche` command. Verbs import what they need when they run, so help is instant."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable

import typer

from ecorche.cli import (
    bake,
    check,
    convert,
    crowd,
    curves,
    export,
    identify,
    info,
    muscles,
    rebind,
    render,
    report,
    rig,
    sample,
    scale,
    shots,
    skin,
    solve,
    studio,
    weights,
)
from ecorche.errors import EcorcheError
from ecorche.version import __version__

app = typer.Typer(
    name="ecorche",
    help="An écorché under any rigged character: skeleton, muscles, fat and skin that move as in life.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _guarded(verb: Callable[..., None]) -> Callable[..., None]:
    """The verb with one readable message and an exit code where it would end in a traceback."""

    @functools.wraps(verb)
    def guarded(*arguments: object, **options: object) -> None:
        try:
            verb(*arguments, **options)
        except BrokenPipeError:
            raise typer.Exit(0) from None  # the reader of our output went away, as `head` does
        except (EcorcheError, OSError) as error:
            if os.environ.get("ECORCHE_DEBUG") == "1":
                raise
            _complain(_told(error), "red")
            raise typer.Exit(getattr(error, "exit_code", 2)) from None
        except KeyboardInterrupt:
            _complain(
                "interrupted; nothing half-written is left, and the same command resumes a bake or an"
                " identification",
                "yellow",
            )
            raise typer.Exit(130) from None

    return guarded


def _told(error: EcorcheError | OSError) -> str:
    """An error in words; the operating system's without their numbers."""
    if isinstance(error, EcorcheError) or not error.strerror:
        return str(error)
    return f"{error.filename}: {error.strerror}" if error.filename else error.strerror


def _complain(message: str, colour: str) -> None:
    """A message on the error stream, in colour unless NO_COLOR is set (no-color.org)."""
    text = f"ecorche: {message}"
    typer.echo(text if os.environ.get("NO_COLOR") else typer.style(text, fg=colour), err=True)


for _verb in (
    sample.sample,
    info.info,
    bake.bake,
    shots.shots,
    render.render,
    convert.convert,
    export.export,
    crowd.crowd,
    check.check,
    rig.rig,
    rebind.rebind,
    skin.skin,
    weights.weights,
    muscles.muscles,
    curves.activation,
    scale.scale,
    solve.solve,
    report.report,
    identify.identify,
    studio.studio,
):
    app.command()(_guarded(_verb))


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"ecorche {__version__}")
        raise typer.Exit


@app.callback()
def _main(
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Print the version and stop."
    ),
) -> None:
    """An écorché under any rigged character: skeleton, muscles, fat and skin that move as in life."""


def run() -> None:
    """The command's entry.

    Exit codes: 0: done. 1: `check` found problems, shots failed or parts are missing. 2: bad input. 130:
    interrupted. With ECORCHE_DEBUG=1 errors show their traceback.
    """
    try:
        app()
    except SystemExit as stop:
        code = stop.code
        try:
            sys.stdout.flush()
        except OSError as error:
            # what is left cannot be printed, not at the very end either
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            if code == 0 and not isinstance(error, BrokenPipeError):
                _complain(_told(error), "red")
                code = 2
        sys.exit(code)
