"""Recovery files: the whole rig beside its file, found again after whatever stopped the studio.

For ``man.ecorche`` they are ``.man.recovered-1-of-3fa9b2c01d77.ecorche`` and its arrays: a rig like any
other, which the command line reads too. The name says which version of ``man.ecorche`` the work began
from, ``new`` where there was none, and the file's time says when it was kept. Each place (the number) has a
lock file that its server holds; a place whose lock nobody holds was left behind by one that died.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ecorche.base.files import readable_write_errors
from ecorche.document.files import Rig, read_rig
from ecorche.errors import WriteError
from ecorche.studio.owner import Ownership, take
from ecorche.studio.saving import version_of

PLACES = 100
"""Servers and left recoveries that one rig file may have at a time."""
NEW = "new"
"""In place of a version: the rig had no file yet."""
_SHORT = 12
_NAME = re.compile(r"^\.(?P<stem>.+)\.recovered-(?P<place>\d{1,3})-of-(?P<base>[0-9a-f]{12}|new)\.ecorche$")


@dataclass(frozen=True)
class Recovery:
    """Work that was not saved, kept beside its rig file.

    Attributes:
        path: The recovery file.
        rig: The rig file it belongs to; it may not exist.
        place: The number in its name.
        base: The version it was made from, shortened; None where the rig had no file.
        saved: When it was kept, in seconds since 1970.
    """

    path: Path
    rig: Path
    place: int
    base: str | None
    saved: float

    @property
    def fits(self) -> bool:
        """Whether the rig file is still the one that the work began from."""
        return shortened(version_of(self.rig)) == self.base

    def read(self) -> Rig:
        """The rig that was kept."""
        return read_rig(self.path)


def shortened(version: str | None) -> str | None:
    """As a recovery's name says a version."""
    return None if version is None else version[:_SHORT]


def lock_path(rig: Path, place: int) -> Path:
    """The lock of a place."""
    return rig.with_name(f".{rig.stem}.recovered-{place}.lock")


def recovery_path(rig: Path, place: int, base: str | None) -> Path:
    """The recovery file of a place for work that began from a version."""
    return rig.with_name(f".{rig.stem}.recovered-{place}-of-{shortened(base) or NEW}.ecorche")


def kept(rig: Path) -> list[Recovery]:
    """All recovery files of a rig, also those of servers at work, the newest first."""
    return sorted((r for r in _all_in(rig.parent) if r.rig == rig), key=lambda r: -r.saved)


def left_behind(rig: Path) -> list[Recovery]:
    """Recovery files of servers that died, the newest first."""
    return [recovery for recovery in kept(rig) if not in_use(recovery)]


def left_in(folder: Path) -> list[Recovery]:
    """All recovery files in a folder that servers left behind, the newest first."""
    found = (recovery for recovery in _all_in(folder) if not in_use(recovery))
    return sorted(found, key=lambda r: -r.saved)


def in_use(recovery: Recovery) -> bool:
    """Whether a server, this one or another, works with it."""
    try:
        owner = _taken(recovery.rig, recovery.place)
    except WriteError:  # a folder that nobody may write to: no server works in it
        return False
    if owner is None:
        return True
    owner.release()
    return False


def free_place(rig: Path) -> tuple[int, Ownership]:
    """A place for a server's own recovery file, held from now on: none that holds anybody's work.

    Raises:
        WriteError: Where the folder cannot be written to, or all places are taken.
    """
    for place in range(1, PLACES + 1):
        owner = _taken(rig, place)
        if owner is None:
            continue
        if any(recovery.place == place for recovery in kept(rig)):
            owner.release()  # left behind, and for a person to decide on
            continue
        remove_arrays(rig, place)
        return place, owner
    raise WriteError(
        f"there are {PLACES} recovery files of it",
        where=rig,
        remedy="Recover or discard them, or close other studios on this folder",
    )


def adopted(recovery: Recovery) -> Ownership:
    """Hold the place of a recovery that somebody decides on.

    Raises:
        WriteError: Where another server holds it, or it is gone.
    """
    owner = _taken(recovery.rig, recovery.place)
    if owner is None:
        raise WriteError(
            "another studio is working with this recovery",
            where=recovery.rig.name,
            remedy="Close it, or go on there",
        )
    if not recovery.path.is_file():
        owner.release()
        raise WriteError("this recovery is gone", where=recovery.rig.name, remedy="Open the file")
    return owner


def discard(recovery: Recovery) -> None:
    """Remove a recovery that nobody wants."""
    owner = adopted(recovery)
    try:
        remove(recovery.path)
    finally:
        owner.release()


def remove(path: Path) -> None:
    """Remove a recovery file and its arrays: the rig first, so that none stays without its arrays."""
    with readable_write_errors(path):
        path.unlink(missing_ok=True)
    found = _NAME.match(path.name)
    if found:
        remove_arrays(path.with_name(f"{found['stem']}.ecorche"), int(found["place"]))


def remove_arrays(rig: Path, place: int) -> None:
    """Remove arrays of a place that no recovery file names: a server died between writing the two."""
    start = f".{rig.stem}.recovered-{place}-of-"
    with contextlib.suppress(OSError):
        for path in list(rig.parent.iterdir()):
            owner, _, hashed = path.name.removesuffix(".npz").rpartition(".")
            if (
                path.name.startswith(start)
                and path.suffix == ".npz"
                and re.fullmatch("[0-9a-f]{12}", hashed)
                and not path.with_name(owner).exists()
            ):
                with contextlib.suppress(OSError):
                    path.unlink()


def _all_in(folder: Path) -> Iterator[Recovery]:
    try:
        paths = list(folder.iterdir())
    except OSError:
        return
    for path in paths:
        found = _NAME.match(path.name)
        if not found or path.is_symlink():
            continue
        with contextlib.suppress(OSError):
            base = None if found["base"] == NEW else found["base"]
            rig = path.with_name(f"{found['stem']}.ecorche")
            yield Recovery(path, rig, int(found["place"]), base, path.stat().st_mtime)


def _taken(rig: Path, place: int) -> Ownership | None:
    path = lock_path(rig, place)
    with readable_write_errors(path):
        return take(path)
