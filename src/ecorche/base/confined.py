"""Reading that stays inside one folder, for files that strangers may have made.

A character may name parts beside it: buffers, textures, layers, meshes. On a person's own machine they
may lie anywhere; where a page in a browser chose the file, none may lead out of the opened folder.
Readers ask `require_within` of every part before they open it; without `reading_only_within` around
them it allows everything.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from contextvars import ContextVar
from pathlib import Path

from ecorche.errors import ReadError

_FOLDER: ContextVar[Path | None] = ContextVar("reading_only_within", default=None)


@contextlib.contextmanager
def reading_only_within(folder: str | os.PathLike[str]) -> Iterator[None]:
    """In this block and thread, parts of files are read from this folder and those below it alone."""
    token = _FOLDER.set(Path(folder).resolve())
    try:
        yield
    finally:
        _FOLDER.reset(token)


def confined() -> bool:
    """Whether reading stays inside a folder here."""
    return _FOLDER.get() is not None


def is_within(part: str | os.PathLike[str]) -> bool:
    """Whether a part may be read; links are followed first."""
    folder = _FOLDER.get()
    if folder is None:
        return True
    try:
        return Path(part).resolve().is_relative_to(folder)
    except (OSError, RuntimeError, ValueError):  # a circle of links, a name no system knows
        return False


def require_within(part: str | os.PathLike[str], where: object) -> None:
    """Refuse a part that lies outside of the folder; links are followed first.

    Args:
        part: The file that is about to be read.
        where: The file that names it, for the message.
    """
    if not is_within(part):
        raise ReadError(
            f"names a part outside of the opened folder: {os.fspath(part)[:120]!r}",
            where=where,
            remedy="Put its parts beside it, or open the folder that holds them all",
        )
