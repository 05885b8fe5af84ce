"""Saving as the command line writes, and never over what somebody else wrote meanwhile.

A version of a rig file is the hash of its text, which names the hash of its arrays. A page saves over the
version it opened; where another is on disk, it is told, and may replace the very one it was told of.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from ecorche.base.files import require_file
from ecorche.body.rig import relative_path
from ecorche.document.files import LARGEST_TEXT, Rig, require_rig_name, write_rig
from ecorche.document.spec import RigSpec
from ecorche.errors import WriteError
from ecorche.studio.folder import Folder


class FileConflict(WriteError):
    """Another version is on disk than the one that was opened.

    Attributes:
        found: The version that is there; None where the file is gone.
    """

    def __init__(self, what: str, *, where: object, remedy: str, found: str | None) -> None:
        super().__init__(what, where=where, remedy=remedy)
        self.found = found


def version_of(path: Path) -> str | None:
    """The version of a rig file on disk; None where there is none."""
    try:
        with path.open("rb") as file:
            if os.fstat(file.fileno()).st_size > LARGEST_TEXT:
                return f"larger than {LARGEST_TEXT} bytes"
            return hashlib.file_digest(file, "sha256").hexdigest()
    except FileNotFoundError:
        return None
    except OSError:
        require_file(path)  # says why
        raise


def save(folder: Folder, name: str, rig: Rig, opened: str | None) -> tuple[RigSpec, str]:
    """Write a rig over the version it was opened from; the spec as written, and its version.

    Args:
        folder: The opened folder.
        name: The rig's file in it.
        rig: What to write.
        opened: The version it may replace; None where there was no file.

    Raises:
        FileConflict: Where another version is there.
    """
    path = folder.writable(name)
    require_rig_name(Path(name), WriteError)
    with _alone(path.parent):
        require_unchanged(path, name, opened)
        spec = write_rig(path, rig)
        version = version_of(path)
    assert version is not None
    return spec, version


def require_unchanged(path: Path, name: str, opened: str | None) -> None:
    """Refuse to replace another version than the one that was opened; None replaces nothing."""
    found = version_of(path)
    if found is not None and found != opened:
        if opened is None:
            raise FileConflict(
                "is there already",
                where=name,
                remedy="Overwrite it, or save under another name",
                found=found,
            )
        raise FileConflict(
            "was changed on disk since it was opened",
            where=name,
            remedy="Overwrite it, save under another name, or reload it and lose what is not saved",
            found=found,
        )


def at_home(folder: Folder, rig: Rig, before: str | None, name: str) -> Rig:
    """The rig for another file of the folder: it names its character from there.

    Args:
        folder: The opened folder.
        rig: The rig.
        before: The file that it was read from or would have been written to.
        name: The file that it goes to.
    """
    target = folder.writable(name)
    old = target if before is None else folder.root / before
    character = old.parent / rig.spec.character.path
    path = relative_path(character, target)
    moved = rig.spec.character.model_copy(update={"path": path})
    return replace(rig, spec=rig.spec.model_copy(update={"character": moved}), source=str(target))


@contextlib.contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Hold the folder while looking and writing, so that two servers do not both find it unchanged."""
    try:
        import fcntl

        number = os.open(folder, os.O_RDONLY)
    except (ImportError, OSError):  # no such locks on this system; the look before remains
        yield
        return
    try:
        with contextlib.suppress(OSError):
            fcntl.flock(number, fcntl.LOCK_EX)
        yield
    finally:
        os.close(number)
