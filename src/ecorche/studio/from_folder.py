"""Opening a file of the folder: a rig as it was left, one whose character changed, a character without rig.

Whatever is in the file, the answer is a value or one `EcorcheError`.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from ecorche.base.confined import reading_only_within
from ecorche.base.memory import require_memory
from ecorche.body.character import Character
from ecorche.body.identity import bind_shape, changes, identify
from ecorche.body.rebind import rebind
from ecorche.body.rig import check_rig
from ecorche.document.files import Rig, read_rig
from ecorche.errors import DocumentError, EcorcheError, ReadError, WriteError
from ecorche.io.formats import read_character
from ecorche.io.new_rig import new_rig
from ecorche.studio.folder import KINDS, Folder
from ecorche.studio.recovery import Recovery, left_behind
from ecorche.studio.saving import version_of

LARGEST_CHARACTER = 1 << 31
"""Bytes of a file that is read as a character."""
MEMORY_A_BYTE = 6
"""Memory that a byte of a character's file takes while it is read, at least."""

Muscles = Literal["none", "template", "extract", "template+extract"]
"""Where a new rig's muscles come from."""


@dataclass(frozen=True, eq=False)
class Opened:
    """A rig and its character, which fit.

    Attributes:
        name: The rig's file in the folder; it may not exist yet.
        rig: The rig.
        character: Its character.
        version: Of the file; None where there is none yet.
        told: What a person should know, a sentence each.
    """

    name: str
    rig: Rig
    character: Character
    version: str | None
    told: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class WithoutRig:
    """A character that is opened without a rig.

    Attributes:
        name: The character's file in the folder.
        character: The character.
        proposed: A name for its rig that no file has.
        rigs: Rigs of the folder that were made for this file.
    """

    name: str
    character: Character
    proposed: str
    rigs: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Moved:
    """A rig whose character is not as it was, or not where it was: it can be rebound.

    Attributes:
        name: The rig's file in the folder.
        rig: The rig.
        version: Of its file, or that a recovery began from.
        problems: What does not fit, a sentence each.
        character: Where the character is now; None where it is gone.
        candidates: Characters of the folder that it may be now, the likeliest first.
    """

    name: str
    rig: Rig
    version: str | None
    problems: tuple[str, ...]
    character: str | None
    candidates: tuple[str, ...]


def open_rig(folder: Folder, name: str) -> Opened | Moved:
    """A rig of the folder with the character that it names."""
    path = folder.existing(name)
    with _told(folder, name):
        version = version_of(path)  # before it is read: what changes meanwhile is found when saving
        rig = read_rig(path)
    assert version is not None
    return _with_character(folder, name, rig, version)


def open_recovery(folder: Folder, recovery: Recovery) -> Opened | Moved:
    """The rig of a recovery; its version is the one that it began from, so that saving looks at the file."""
    rig, version = recovered(folder, recovery)
    return _with_character(folder, folder.name_of(recovery.rig), rig, version)


def recovered(folder: Folder, recovery: Recovery) -> tuple[Rig, str | None]:
    """The rig of a recovery, and the version that it began from."""
    with _told(folder, folder.name_of(recovery.rig)):
        rig = replace(recovery.read(), source=str(recovery.rig))
    return rig, version_of(recovery.rig) if recovery.fits else recovery.base


def open_character(folder: Folder, name: str) -> WithoutRig:
    """A character of the folder, for which a rig can be made."""
    character = character_of(folder, name)
    beside = f"{name.rpartition('.')[0]}.ecorche"
    return WithoutRig(name, character, folder.free_name(beside), rigs_of(folder, name))


def make_rig(
    folder: Folder, character: WithoutRig, name: str | None = None, muscles: Muscles = "template"
) -> Opened:
    """A new rig for a character, not written yet.

    Args:
        folder: The opened folder.
        character: The character.
        name: The rig's file, which must not exist; None takes the proposed one.
        muscles: Where they come from.
    """
    name = name or character.proposed
    if not name.lower().endswith(".ecorche"):
        raise WriteError("a rig file's name ends in .ecorche", where=name, remedy="Give it that ending")
    target = folder.writable(name)
    if target.exists():
        raise WriteError(
            "is there already, and may hold edits", where=name, remedy="Open it, or give another name"
        )
    source = folder.existing(character.name)
    with _told(folder, name):
        made = new_rig(character.character, source, target, muscles=muscles)
    return Opened(name, made.rig, character.character, None, tuple(made.told))


def rebound(folder: Folder, moved: Moved, character: str | None = None) -> Opened:
    """The rig fitted to the character as it is now, as ``ecorche rebind`` does; not written yet.

    Args:
        folder: The opened folder.
        moved: The rig.
        character: The character's file; None takes the one that the rig names.
    """
    chosen = character or moved.character
    if chosen is None:
        raise DocumentError(
            "its character is gone", where=moved.name, remedy="Choose the character that the rig is for now"
        )
    new = character_of(folder, chosen)
    with _told(folder, moved.name):
        rig, report = rebind(moved.rig, new, folder.existing(chosen), folder.writable(moved.name))
    return Opened(moved.name, rig, new, moved.version, tuple(report.lines()))


def character_of(folder: Folder, name: str) -> Character:
    """A character file of the folder, with all of its parts within."""
    path = folder.existing(name)
    kind = KINDS.get(path.suffix.lower())
    if kind != "character":
        known = ", ".join(s for s, k in KINDS.items() if k == "character")
        raise ReadError("is not a character", where=name, remedy=f"Open one of {known}, or a rig")
    size = path.stat().st_size
    if size > LARGEST_CHARACTER:
        raise ReadError(
            f"is larger than {LARGEST_CHARACTER >> 30} GB", where=name, remedy="Export what the rig needs"
        )
    with _told(folder, name):
        require_memory(MEMORY_A_BYTE * size, "reading it would", where=name, remedy="Export less of it")
        return read_character(path)


def rigs_of(folder: Folder, character: str) -> tuple[str, ...]:
    """Rigs of the folder that name this character's file; those that cannot be read are left out."""
    wanted, found = folder.existing(character).resolve(), []
    for entry in folder.listing().entries:
        if entry.kind == "rig" and entry.size < 1 << 22:
            with contextlib.suppress(EcorcheError, OSError):
                path = folder.existing(entry.name)
                if _names(path, wanted):
                    found.append(entry.name)
    return tuple(found)


def recoveries_of(folder: Folder, name: str) -> list[Recovery]:
    """What servers that died kept of a rig that was not saved, the newest first."""
    return left_behind(folder.writable(name))


def _names(rig: Path, character: Path) -> bool:
    import json

    try:
        named = json.loads(rig.read_text(encoding="utf-8-sig"))["character"]["path"]
        return bool((rig.parent / named).resolve() == character)
    except (ValueError, LookupError, TypeError, RecursionError):
        return False


def _with_character(folder: Folder, name: str, rig: Rig, version: str | None) -> Opened | Moved:
    """The rig with its character, or what does not fit."""
    path = folder.root / name
    named = path.parent / rig.spec.character.path
    if not folder.holds(named):
        raise ReadError(
            f"its character {rig.spec.character.path!r} is outside of the opened folder",
            where=name,
            remedy="Open the folder that holds both: ecorche studio FOLDER",
        )
    try:
        character_name = folder.name_of(named)
        character = character_of(folder, character_name)
    except EcorcheError:
        if named.exists():
            raise
        problem = f"Its character {rig.spec.character.path!r} is not there."
        return Moved(name, rig, version, (problem,), None, _candidates(folder, rig))
    with _told(folder, name):
        problems = tuple(check_rig(rig, character))
        if not problems:
            return Opened(name, rig, character, version, character.notes)
        if changes(rig.spec.character.hash, identify(bind_shape(character))):
            told = tuple(p for p in problems if "`ecorche rebind`" not in p)
            return Moved(name, rig, version, told, character_name, (character_name,))
    raise DocumentError(
        " ".join(problems[:4]).removesuffix("."), where=name, remedy="Mend it in a text editor"
    )


def _candidates(folder: Folder, rig: Rig) -> tuple[str, ...]:
    """Characters of the folder, those called like the one that is gone first."""
    gone = Path(rig.spec.character.path)
    names = [entry.name for entry in folder.listing().entries if entry.kind == "character"]
    return tuple(sorted(names, key=lambda n: (Path(n).name != gone.name, Path(n).stem != gone.stem, n)))


@contextlib.contextmanager
def _told(folder: Folder, name: str) -> Iterator[None]:
    """Read within the folder; every failure is one message that names the file as the page does."""
    try:
        with reading_only_within(folder.root):
            yield
    except EcorcheError as error:
        what, where, remedy = (
            None if text is None else text.replace(f"{folder.root}{os.sep}", "")
            for text in (error.what, error.where, error.remedy)
        )
        raise type(error)(what or "", where=where or name, remedy=remedy) from error
    except MemoryError as error:
        raise ReadError(
            "takes more memory than there is", where=name, remedy="Export less of it, or close programs"
        ) from error
    except OSError as error:
        raise ReadError(f"cannot be read ({error.strerror or error})", where=name) from error
    except Exception as error:  # a file may be damaged in ways nobody thought of; the server goes on
        raise ReadError(
            f"cannot be opened ({type(error).__name__}: {str(error)[:200]})",
            where=name,
            remedy="Run `ecorche check` on it",
        ) from error
