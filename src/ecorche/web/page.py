"""A folder that plays a character in any browser with WebGPU: a page that holds all, and its parts."""

from __future__ import annotations

import base64
import html
import json
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

from ecorche.base.files import require_folder, whole_file
from ecorche.body.live_frames import LiveFrames
from ecorche.body.take import Take
from ecorche.body.vertex_program import VertexProgram, vertex_program
from ecorche.errors import MissingPackageError, WriteError
from ecorche.web.carried import Clip, write_figure

PAGE, FIGURE, README = "index.html", "figure.glb", "README.md"
LIBRARY = ("ecorche-player.js", "ecorche-player.d.ts", "LICENSES.txt")
"""What a developer takes to a page of their own."""
BUILD = "tools/build-web"
"""The command that makes what is bundled."""
MOST = 400
"""Figures on the page."""

PLAYER = b"ecorcheJoint"
"""What is in the player, and so in every page."""

_TITLE, _SETTINGS, _FIGURE = "<!--title-->", "<!--settings-->", "<!--figure-->"


def require_page_folder(folder: Path) -> None:
    """Refuse a place where no folder is or can be made, and a package without its player, before any work."""
    if folder.is_dir():
        require_folder(folder / PAGE)
        _require_ours(folder)
    elif folder.exists():
        raise WriteError("is a file, not a folder", where=folder, remedy="Name a folder")
    else:
        require_folder(folder)
    for name in (PAGE, *LIBRARY):
        _built(name)


def _require_ours(folder: Path) -> None:
    """Refuse to write over files of somebody else; a page that was written before is written anew."""
    page = folder / PAGE
    if (folder / LIBRARY[0]).exists() or (page.is_file() and PLAYER in page.read_bytes()):
        return
    for name in (PAGE, FIGURE, README, *LIBRARY):
        if (folder / name).exists():
            raise WriteError(
                f"holds a file {name} that is no page's of ours, and would be written over",
                where=folder,
                remedy="Name an empty folder, or a new one",
            )


def write_web_page(
    folder: str | Path, takes: Sequence[Take], *, crowd: int = 25, title: str | None = None
) -> tuple[str, ...]:
    """Write a page that plays takes of one character with muscles, see `perform`; see `write_page`."""
    folder = Path(folder)
    if not takes or not all(isinstance(take.frames, LiveFrames) for take in takes):
        raise WriteError("there is no take to play", where=folder, remedy="Give takes that `perform` made")
    live = [take.frames for take in takes if isinstance(take.frames, LiveFrames)]
    if any(frames.body.character is not live[0].body.character for frames in live):
        raise WriteError("its takes are of several characters", where=folder, remedy="Give those of one")
    clips = [Clip(frames.motion, frames.activation) for frames in live]
    return write_page(folder, vertex_program(live[0].body), clips, crowd=crowd, title=title)


def write_page(
    folder: Path, program: VertexProgram, clips: Sequence[Clip], *, crowd: int = 25, title: str | None = None
) -> tuple[str, ...]:
    """Write the page, its figure and the library to a folder; returns notes, a sentence each.

    Args:
        folder: Where; it is made if it is not there.
        program: Of the character.
        clips: Its motions, one or more; the page blends between any two.
        crowd: How many figures the page shows when asked for a crowd.
        title: Of the page; None is the character's name.
    """
    if not clips:
        raise WriteError("there is no clip to play", where=folder, remedy="Give one or more, such as bind")
    if not 1 <= crowd <= MOST:
        raise WriteError(f"a crowd of {crowd} was asked for", where=folder, remedy=f"Give 1 to {MOST}")
    require_page_folder(folder)
    folder.mkdir(exist_ok=True)
    # first what tells that the folder is ours, should the rest be interrupted
    for name in LIBRARY:
        _write(folder / name, _built(name))
    written = write_figure(folder / FIGURE, program, clips)
    title = program.body.character.name if title is None else title
    settings = {"crowd": crowd, "title": title}
    figure = base64.b64encode((folder / FIGURE).read_bytes()).decode()
    page = _built(PAGE).decode()
    for mark, text in (
        (_TITLE, html.escape(title)),
        # no text within may end the element that holds it
        (_SETTINGS, json.dumps(settings).replace("<", "\\u003c")),
        (_FIGURE, figure),
    ):
        before, found, after = page.partition(mark)
        if not found:
            raise WriteError(f"the player's page has no place for {mark}", remedy=f"Build it anew: {BUILD}")
        page = before + text + after
    _write(folder / README, _readme(title).encode())
    _write(folder / PAGE, page.encode())
    return written.notes


def _write(file: Path, data: bytes) -> None:
    with whole_file(file) as partial:
        partial.write_bytes(data)


def _built(name: str) -> bytes:
    """A file of the player, which is built with the package."""
    file = files("ecorche.web") / "dist" / name
    if not file.is_file():
        raise MissingPackageError(
            f"the player for browsers is not built: {name} is missing",
            remedy=f"Run {BUILD} in the source folder, or install the package anew",
        )
    return file.read_bytes()


def _readme(title: str) -> str:
    return (files("ecorche.web") / "README.in.md").read_text(encoding="utf-8").replace("TITLE", title)
