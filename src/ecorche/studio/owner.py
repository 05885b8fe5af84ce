"""Who works on a file: a lock that the system gives back when its holder dies, however it dies.

Numbers of processes are used again, and mean nothing in another container; a lock on an open file is
held for exactly as long as somebody holds it.
"""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path

if sys.platform == "win32":
    import msvcrt

    _FAR = 1 << 30  # locked bytes cannot be read there, and the first ones are read by people

    def _lock(number: int) -> bool:
        os.lseek(number, _FAR, os.SEEK_SET)
        try:
            msvcrt.locking(number, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True
else:
    import fcntl

    def _lock(number: int) -> bool:
        try:
            fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


class Ownership:
    """A lock file that is held.

    Attributes:
        path: The file.
    """

    def __init__(self, path: Path, number: int) -> None:
        self.path, self._number = path, number

    def release(self) -> None:
        """Give it back, and remove the file."""
        if self._number >= 0:
            if os.name != "nt":  # removed while held, so that nobody's lock is removed after it
                with contextlib.suppress(OSError):
                    self.path.unlink(missing_ok=True)
            os.close(self._number)
            self._number = -1
            if os.name == "nt":
                with contextlib.suppress(OSError):
                    self.path.unlink(missing_ok=True)


def take(path: Path) -> Ownership | None:
    """Hold a lock file, made where there is none; None where somebody else holds it.

    Raises:
        OSError: Where files cannot be made or locked.
    """
    while True:
        number = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o644)
        try:
            if not _lock(number):
                os.close(number)
                return None
            try:
                current = path.stat()
            except FileNotFoundError:  # its holder removed it after we opened it
                os.close(number)
                continue
            held = os.fstat(number)
            if (held.st_dev, held.st_ino) == (current.st_dev, current.st_ino):
                os.ftruncate(number, 0)
                os.lseek(number, 0, os.SEEK_SET)
                os.write(number, f"held by process {os.getpid()}\n".encode())
                return Ownership(path, number)
            os.close(number)
        except BaseException:
            with contextlib.suppress(OSError):
                os.close(number)
            raise
