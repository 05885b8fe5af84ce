"""`ecorche studio`: pose a rig, build it and see it, in a browser."""

from __future__ import annotations

from pathlib import Path

import typer

from ecorche.errors import MissingPackageError


def studio(
    file: Path | None = typer.Argument(
        None, help="A rig (.ecorche), a character, or a folder of them; default: the built-in figure."
    ),
    host: str = typer.Option("127.0.0.1", help="The address to listen on."),
    port: int = typer.Option(8417, min=0, max=65535, help="The port; 0 takes any that is free."),
    token: str | None = typer.Option(
        None,
        help="What visitors must know, in the address; made where --host is not this machine's alone.",
    ),
    browser: bool = typer.Option(True, "--browser/--no-browser", help="Open the page in the browser."),
) -> None:
    """Pose a rig, build it and see it, in a browser.

    Pages may read and write in the folder of the file, and nowhere else. Only this machine reaches them
    unless --host says otherwise; then the address holds a token.
    """
    try:
        from ecorche.studio.serve import serve
    except ModuleNotFoundError as missing:
        if (missing.name or "").partition(".")[0] not in ("starlette", "uvicorn", "websockets"):
            raise
        raise MissingPackageError(
            f"the studio needs the package {missing.name!r}",
            remedy='Install what it needs: pip install "ecorche[studio]"',
        ) from None
    from ecorche.studio.folder import opened_folder
    from ecorche.studio.hub import Hub
    from ecorche.studio.workspace import FIGURE, Workspace

    folder, first = opened_folder(file)
    space = Workspace(folder, FIGURE if file is None else first)
    serve(Hub(space), host=host, port=port, token=token, browser=browser, say=typer.echo)
