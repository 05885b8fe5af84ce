"""Files are written whole or not at all: beside the target first, renamed when complete."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from ecorche.errors import ReadError, WriteError


@contextlib.contextmanager
def whole_file(target: str | os.PathLike[str]) -> Iterator[Path]:
    """A path beside ``target`` to write to; it becomes ``target`` only if the block succeeds.

    The name keeps the target's suffix, for writers that choose a format by it. On any failure,
    Ctrl-C included, the half-written file is removed and an older target stays untouched.
    """
    target = Path(os.path.realpath(target))  # a link stays, and what it leads to is replaced
    require_folder(target)
    partial = target.with_name(f".{target.stem}.{os.getpid()}.partial{target.suffix}")
    try:
        with readable_write_errors(target):
            yield partial
            partial.replace(target)
    finally:
        if partial.is_dir():
            shutil.rmtree(partial, ignore_errors=True)
        else:
            with contextlib.suppress(OSError):
                partial.unlink(missing_ok=True)


@contextlib.contextmanager
def readable_write_errors(target: Path) -> Iterator[None]:
    """Turn the operating system's refusals into one clear message about ``target``."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise WriteError(
                "the disk is full", where=target, remedy="Free some space or choose another folder"
            ) from error
        if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
            raise WriteError(
                "writing is not allowed there",
                where=target,
                remedy="Choose a folder you may write to",
            ) from error
        raise WriteError(f"cannot be written ({error.strerror or error})", where=target) from error


def require_folder(target: Path) -> None:
    """Refuse an output path whose folder is missing or read-only, before any work is done."""
    folder = target.parent
    with readable_write_errors(target):
        exists, taken = folder.is_dir(), target.is_dir()
    if not exists:
        raise WriteError(f"the folder {str(folder)!r} does not exist", where=target, remedy="Create it first")
    if taken:
        raise WriteError("is a folder, not a file", where=target, remedy="Give a file name")
    if not os.access(folder, os.W_OK):
        raise WriteError(
            "writing is not allowed there", where=target, remedy="Choose a folder you may write to"
        )


def require_not_input(target: Path, *inputs: str | os.PathLike[str] | None) -> None:
    """Refuse to write over a file that is read: it would be lost, and the command not be given again."""
    for read in inputs:
        if read is not None and target.exists() and Path(read).exists() and target.samefile(read):
            raise WriteError(
                "would be written over, and is read", where=target, remedy="Give another name with -o"
            )


def require_file(path: str | os.PathLike[str]) -> Path:
    """The path of an existing file, or one clear message."""
    path = Path(path)
    try:
        folder, exists = path.is_dir(), path.exists()
    except OSError as error:
        raise ReadError(
            f"cannot be reached ({error.strerror or error})",
            where=path,
            remedy="Check the path and its permissions",
        ) from error
    if folder:
        raise ReadError("is a folder, not a file", where=path, remedy="Give a file name")
    if not exists:
        raise ReadError("there is no such file", where=path, remedy="Check the path")
    if not os.access(path, os.R_OK):
        raise ReadError("reading is not allowed", where=path, remedy="Change its permissions")
    return path
