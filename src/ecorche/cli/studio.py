"""`ecorche studio`: pose a rig, build it and see it, in a browser."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import typer

from ecorche.errors import MissingPackageError


def studio(
    file: Path | None = typer.Argument(
        None, help="A rig (.ecorche) or a character; default: the built-in figure."
    ),
    host: str = typer.Option("127.0.0.1", help="The address to listen on."),
    port: int = typer.Option(8417, min=0, max=65535, help="The port; 0 takes any that is free."),
    browser: bool = typer.Option(True, "--browser/--no-browser", help="Open the page in the browser."),
) -> None:
    """Pose a rig, build it and see it, in a browser."""
    try:
        from ecorche.studio.serve import serve
    except ModuleNotFoundError as missing:
        if (missing.name or "").partition(".")[0] not in ("starlette", "uvicorn", "websockets"):
            raise
        raise MissingPackageError(
            f"the studio needs the package {missing.name!r}",
            remedy='Install what it needs: pip install "ecorche[studio]"',
        ) from None
    from ecorche.base.files import require_file
    from ecorche.studio.hub import Hub
    from ecorche.studio.opening import opened

    if file is not None:
        require_file(file)
    serve(Hub(partial(opened, file)), host=host, port=port, browser=browser, say=typer.echo)
