"""The opened folder: what a page may name, and what it is shown.

A page says names such as ``people/man.ecorche``: relative, with forward slashes, none of them hidden.
Whatever it says, nothing outside of the folder is read or written: links are followed before the check,
and what is neither a file nor missing (a device, a pipe, a folder) is refused.
"""

from __future__ import annotations

import os
import re
import stat
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from ecorche.errors import EcorcheError, ReadError, WriteError

Kind = Literal["rig", "character", "motion", "pose", "curves", "mesh", "mask"]

KINDS: dict[str, Kind] = {
    ".ecorche": "rig",
    **dict.fromkeys(
        (".glb", ".gltf", ".usd", ".usda", ".usdc", ".usdz", ".fbx", ".x3d", ".wrl", ".xml", ".skn"),
        "character",
    ),
    ".bvh": "motion",
    ".pose": "pose",
    **dict.fromkeys((".csv", ".sto"), "curves"),
    **dict.fromkeys((".obj", ".ply", ".stl"), "mesh"),
    **dict.fromkeys((".npy", ".txt"), "mask"),
}
"""What a file is, by its suffix; a character may hold motions too."""

PARTS = (".bin", ".npz", ".png", ".jpg", ".jpeg", ".webp", ".mtl", ".json")
"""Suffixes of what other files name: taken when dropped, not listed."""

DEEPEST = 8
"""Folders below the opened one that are looked through."""
MOST_FILES = 2000
"""Files that are listed; a fuller folder says so."""
MOST_LOOKED_AT = 50_000
"""Entries of folders that are looked at for them."""
LONGEST_NAME = 150
"""Bytes of a file's name; those beside it have longer ones."""
LONGEST_PATH = 1000
"""Characters of a name with its folders."""

_RESERVED = re.compile(r"(?i)^(con|prn|aux|nul|com\d|lpt\d)(\.|$)")
_UNFIT = re.compile(r'[<>:"/\\|?*\x00-\x1f\x7f]')


@dataclass(frozen=True)
class Entry:
    """A file that can be opened.

    Attributes:
        name: Relative to the folder, with forward slashes.
        kind: What it is.
        size: Bytes.
        changed: When, in seconds since 1970.
    """

    name: str
    kind: Kind
    size: int
    changed: float


@dataclass(frozen=True)
class Listing:
    """What can be opened, by name, and whether there is more than was looked through."""

    entries: tuple[Entry, ...]
    cut_short: bool = False


class Folder:
    """A folder that a person opened.

    Attributes:
        root: Where it is, links followed.
    """

    def __init__(self, root: str | os.PathLike[str]) -> None:
        path = Path(root)
        if not path.is_dir():
            raise ReadError("is not a folder", where=path, remedy="Open a folder or a file that exists")
        self.root = path.resolve()

    def existing(self, name: str) -> Path:
        """The path of a file that a page named, to be read."""
        path = self._inside(name, ReadError)
        mode = _mode(path, name)
        if mode is None:
            raise ReadError("there is no such file", where=name, remedy="Choose one from the list")
        if not stat.S_ISREG(mode):
            raise ReadError("is not a file", where=name, remedy="Choose one from the list")
        return path

    def writable(self, name: str) -> Path:
        """The path of a file that a page wants written, new or there already."""
        path = self._inside(name, WriteError)
        if unfit := unfit_name(path.name):
            raise WriteError(unfit, where=name, remedy="Choose another name")
        mode = _mode(path, name)
        if mode is not None and not stat.S_ISREG(mode):
            raise WriteError("is not a file", where=name, remedy="Choose another name")
        if not path.parent.is_dir():
            raise WriteError("its folder does not exist", where=name, remedy="Choose a folder that does")
        return path

    def name_of(self, path: str | os.PathLike[str]) -> str:
        """What a page calls a path inside this folder; one outside is refused."""
        path = Path(path)
        try:
            # the last part may be a link that people know by its own name
            return (path.parent.resolve() / path.name).relative_to(self.root).as_posix()
        except ValueError:
            raise ReadError(
                "is outside of the opened folder",
                where=path.name,
                remedy="Open the folder that holds both, or put the file into this one",
            ) from None

    def holds(self, path: str | os.PathLike[str]) -> bool:
        """Whether a path lies inside, once its links are followed."""
        try:
            return Path(path).resolve().is_relative_to(self.root)
        except (OSError, RuntimeError, ValueError):
            return False

    def free_name(self, name: str) -> str:
        """The name, or the first with a number after it that no file has."""
        shown, _, last = name.rpartition("/")
        if unfit := unfit_name(last):
            raise WriteError(unfit, where=name[:LONGEST_NAME] or None, remedy="Choose another name")
        if name.startswith("/"):
            raise WriteError("is outside of the opened folder", where=name[:LONGEST_NAME])
        path = (self._inside(shown, WriteError) if shown else self.root) / last
        number, candidate = 2, path
        while os.path.lexists(candidate):  # a link to nowhere has the name too
            candidate = path.with_name(f"{path.stem}-{number}{path.suffix}")
            number += 1
        return f"{shown}/{candidate.name}" if shown else candidate.name

    def listing(self) -> Listing:
        """What can be opened here and below, hidden files and links that lead outside left out."""
        found: list[Entry] = []
        looked = 0
        for entry in self._walk(self.root, 0):
            looked += 1
            if looked > MOST_LOOKED_AT or len(found) >= MOST_FILES:
                return Listing(_sorted(found), cut_short=True)
            kind = KINDS.get(Path(entry.name).suffix.lower())
            if kind is None or (entry.is_symlink() and not self.holds(entry.path)):
                continue
            try:
                status = entry.stat()
            except OSError:  # a link to nothing, or a file that has just gone
                continue
            if stat.S_ISREG(status.st_mode):
                name = Path(entry.path).relative_to(self.root).as_posix()
                found.append(Entry(_text(name), kind, status.st_size, status.st_mtime))
        return Listing(_sorted(found))

    def _walk(self, folder: Path, depth: int) -> Iterator[os.DirEntry[str]]:
        """All that is no folder, by name; links to folders are not followed, they may run in circles."""
        try:
            with os.scandir(folder) as opened:
                entries = sorted(opened, key=lambda entry: entry.name)
        except OSError:  # not ours to read
            return
        for entry in entries:
            if entry.name.startswith("."):
                continue
            if entry.is_dir(follow_symlinks=False):
                if depth < DEEPEST:
                    yield from self._walk(Path(entry.path), depth + 1)
            else:
                yield entry

    def _inside(self, name: str, error: type[EcorcheError]) -> Path:
        """The path of a name, its folder's links followed; refused where it leads outside."""
        parts = name.split("/")
        outside = error(
            "is outside of the opened folder" if ".." in parts or name.startswith("/") else "is no file name",
            where=name[:LONGEST_NAME] or None,
            remedy="Name a file inside the opened folder, such as people/man.ecorche",
        )
        unfit = len(name) > LONGEST_PATH or "\\" in name or (len(parts[0]) > 1 and parts[0][1] == ":")
        if unfit or any(part in ("", ".", "..") or "\0" in part for part in parts):
            raise outside
        if any(part.startswith(".") for part in parts):
            raise error("is hidden", where=name, remedy="Choose a name that does not begin with a dot")
        path = self.root.joinpath(*parts)
        try:
            resolved = path.resolve()
        except (OSError, RuntimeError, ValueError):
            raise outside from None
        if not resolved.is_relative_to(self.root):
            raise error(
                "leads outside of the opened folder",
                where=name,
                remedy="Open the folder that it leads to instead",
            )
        return path.parent.resolve() / path.name


def opened_folder(path: str | os.PathLike[str] | None) -> tuple[Folder, str | None]:
    """The folder to serve for what a person names, and the file in it that opens first."""
    if path is None:
        return Folder(Path.cwd()), None
    path = Path(path)
    if path.is_dir():
        return Folder(path), None
    if not path.exists():
        raise ReadError("there is no such file or folder", where=path, remedy="Check the path")
    path = path.resolve()  # of a link the neighbours are where it leads to
    return Folder(path.parent), path.name


def unfit_name(name: str) -> str | None:
    """Why a file cannot be called so on every system, as a sentence; None where it can."""
    if not name.strip() or name.startswith("."):
        return "a file's name cannot be empty or begin with a dot"
    if _UNFIT.search(name) or any(unicodedata.category(c) in ("Cc", "Cs") for c in name):
        return "a file's name cannot hold any of < > : \" / \\ | ? *"
    if name != name.rstrip(" .") or _RESERVED.match(name):
        return "some systems cannot keep a file of that name"
    if len(name.encode()) > LONGEST_NAME:
        return f"a file's name cannot be longer than {LONGEST_NAME} bytes"
    return None


def safe_name(name: str) -> str:
    """A name that a file can have on every system, as like the given one as can be; folders are dropped."""
    last = unicodedata.normalize("NFC", re.split(r"[/\\]", name)[-1])
    last = "".join("_" if unicodedata.category(c) in ("Cc", "Cs") else c for c in last)
    last = _UNFIT.sub("_", last).strip(" .")
    stem, suffix = os.path.splitext(last)  # noqa: PTH122  a path's suffix is not that of ".glb"
    while len((stem + suffix).encode()) > LONGEST_NAME and stem:
        stem = stem[:-1]
    if _RESERVED.match(stem):
        stem = f"_{stem}"
    return f"{stem or 'file'}{suffix}"


def _mode(path: Path, name: str) -> int | None:
    """What kind of thing a path is, links followed; None where nothing is there."""
    try:
        return path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError) as error:
        told = getattr(error, "strerror", None) or str(error)
        raise ReadError(f"cannot be reached ({told})", where=name, remedy="Check its permissions") from None


def _sorted(found: list[Entry]) -> tuple[Entry, ...]:
    return tuple(sorted(found, key=lambda entry: entry.name.casefold()))


def _text(name: str) -> str:
    """A name that JSON can carry; bytes that are no text are shown as question marks."""
    return name.encode("utf-8", "replace").decode()
