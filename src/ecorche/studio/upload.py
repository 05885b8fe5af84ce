"""Files dropped on a page: bounded, counted as they arrive, and whole in the folder or not at all."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import secrets
import shutil
from pathlib import Path
from types import TracebackType
from typing import Self

from ecorche.base.files import readable_write_errors
from ecorche.errors import WriteError
from ecorche.studio.folder import KINDS, PARTS, Folder, safe_name

LARGEST_UPLOAD = 1 << 30
"""Bytes of a dropped file."""
LEFT_FREE = 1 << 26
"""Bytes of the disk that stay free."""
MOST_AT_ONCE = 8
"""Uploads under way at a time."""

_PARTIAL = re.compile(r"^\.upload-(\d+)-[0-9a-f]{16}\.partial$")


class Upload:
    """One file on its way into the folder; nothing of it is seen there before it is whole.

    Use it as a context manager: what was not finished is removed.

    Args:
        folder: Where it goes.
        name: What the page calls it; folders in it are dropped.
        declared: Bytes that the page announced; None where it did not.
    """

    def __init__(self, folder: Folder, name: str, declared: int | None = None) -> None:
        self.name = safe_name(name)
        self._folder, self._declared, self._written = folder, declared, 0
        self._hash = hashlib.sha256()
        suffix = Path(self.name).suffix.lower()
        if suffix not in KINDS and suffix not in PARTS:
            raise WriteError(
                f"the studio has no use for {suffix or 'a file without suffix'}",
                where=self.name,
                remedy=f"Drop one of {', '.join(sorted({*KINDS, *PARTS}))}",
            )
        if declared is not None:
            self._require_room(declared)
            free = shutil.disk_usage(folder.root).free
            if declared + LEFT_FREE > free:
                raise WriteError(
                    f"takes {declared / 1e6:,.0f} MB, and {free / 1e6:,.0f} MB of the disk are free",
                    where=self.name,
                    remedy="Free some space",
                )
        partial = folder.root / f".upload-{os.getpid()}-{secrets.token_hex(8)}.partial"
        with readable_write_errors(folder.root / self.name):
            self._file = partial.open("xb")
        self._partial: Path | None = partial

    def write(self, chunk: bytes) -> None:
        """The next bytes of it."""
        self._require_room(self._written + len(chunk))
        with readable_write_errors(self._folder.root / self.name):
            self._file.write(chunk)
        self._hash.update(chunk)
        self._written += len(chunk)

    def finish(self) -> str:
        """Put it into the folder, whole: its name there, a new one where another file has the name.

        The same file dropped again is the one that is there.
        """
        assert self._partial is not None
        if self._declared is not None and self._written != self._declared:
            raise WriteError(
                f"only {self._written:,} of {self._declared:,} bytes arrived",
                where=self.name,
                remedy="Drop it again",
            )
        with readable_write_errors(self._folder.root / self.name):
            self._file.close()
            name = self.name
            while True:
                target = self._folder.root / name
                if self._is_there(target):
                    self._remove()
                    return name
                name = self._folder.free_name(self.name)
                if _placed(self._partial, self._folder.root / name):
                    self._partial = None
                    return name

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with contextlib.suppress(OSError):
            self._file.close()
        self._remove()

    def _require_room(self, size: int) -> None:
        if size > LARGEST_UPLOAD:
            raise WriteError(
                f"is larger than {LARGEST_UPLOAD >> 20} MB",
                where=self.name,
                remedy="Copy it into the folder by hand, and open it from the list",
            )
        if self._declared is not None and size > self._declared:
            raise WriteError(
                "more bytes arrived than were announced", where=self.name, remedy="Drop it again"
            )

    def _is_there(self, target: Path) -> bool:
        """Whether these very bytes have the name already."""
        if target.is_symlink() or not target.is_file() or target.stat().st_size != self._written:
            return False
        with target.open("rb") as file:
            return hashlib.file_digest(file, "sha256").digest() == self._hash.digest()

    def _remove(self) -> None:
        if self._partial is not None:
            with contextlib.suppress(OSError):
                self._partial.unlink(missing_ok=True)
            self._partial = None


def remove_left_partials(folder: Folder) -> None:
    """Remove what uploads of servers left behind that were killed."""
    with contextlib.suppress(OSError):
        for path in folder.root.glob(".upload-*.partial"):
            found = _PARTIAL.match(path.name)
            if found and not _runs(int(found.group(1))):
                with contextlib.suppress(OSError):
                    path.unlink()


def _placed(partial: Path, target: Path) -> bool:
    """Give a finished file its name unless another took it meanwhile."""
    try:
        os.link(partial, target)
    except FileExistsError:
        return False
    except OSError:  # a file system without links: take the name first, then fill it in one step
        try:
            target.open("xb").close()
        except FileExistsError:
            return False
        partial.replace(target)
        return True
    partial.unlink(missing_ok=True)
    return True


def _runs(process: int) -> bool:
    """Whether a process of that number runs here."""
    if os.name == "nt":  # asking would end it there
        return process == os.getpid()
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
