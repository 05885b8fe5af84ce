"""Autosave: what is not saved yet is kept beside the rig, in the background, within about a second.

A rig is an immutable value, so a thread of its own writes it while people go on editing; of several edits
that come meanwhile the last one is written. What cannot be written is told, once for each reason, and
tried again until it can.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from ecorche.document.files import Rig, write_rig
from ecorche.errors import EcorcheError, WriteError
from ecorche.studio.owner import Ownership
from ecorche.studio.recovery import Recovery, adopted, free_place, recovery_path, remove

RETRY = 3.0
"""After how long what could not be written is tried again [s]."""
PAUSE = 0.5
"""Least time between two autosaves of one rig [s]; a drag gives many edits in it."""

Told = Callable[[EcorcheError | None], None]


class Autosave:
    """Keeps the unsaved state of one rig.

    Its methods never raise because of the disk: `trouble` says what is wrong.

    Args:
        rig: The rig's file; it need not exist yet.
        base: The version of it that the work began from; None where there is no file.
        told: Called when keeping begins to fail, with what is wrong, and with None when it works again;
            from another thread.
        recovery: The recovery that the work goes on from, which stays until it is saved or discarded.

    Attributes:
        trouble: Why the work cannot be kept; None where it can.
        kept_path, kept_at: The recovery file and when it was written; None where there is none.
    """

    def __init__(
        self,
        rig: Path,
        base: str | None,
        *,
        told: Told | None = None,
        recovery: Recovery | None = None,
        pause: float = PAUSE,
    ) -> None:
        self._rig, self._base, self._told, self._pause = rig, base, told, pause
        self._ready = threading.Condition()
        self._waiting: Rig | None = None
        self._failed: Rig | None = None
        self._busy, self._closed = False, False
        self.kept_path: Path | None = None
        self._place: tuple[int, Ownership] | None = None
        self._disk = threading.Lock()
        self.trouble: EcorcheError | None = None
        self.kept_at: float | None = None
        if recovery is not None:
            self._place = recovery.place, adopted(recovery)
            self.kept_path, self.kept_at = recovery.path, recovery.saved
        self._thread = threading.Thread(target=self._run, name=f"autosave of {rig.name}", daemon=True)
        self._thread.start()

    def keep(self, rig: Rig) -> None:
        """Keep this state, soon; returns at once."""
        with self._ready:
            if self._closed:
                raise RuntimeError("the autosave is closed")
            self._waiting = rig
            self._ready.notify_all()

    def flush(self, seconds: float = 30.0) -> bool:
        """Wait until what was given is on the disk; whether it is."""
        with self._ready:
            self._pause, pause = 0.0, self._pause
            self._ready.notify_all()
            done = self._ready.wait_for(lambda: self._waiting is None and not self._busy, seconds)
            self._pause = pause
        return done and self.trouble is None

    def clear(self, base: str | None = None, rig: Path | None = None) -> None:
        """There is nothing unsaved: the recovery goes.

        Args:
            base: The version of the rig's file that further work begins from; None leaves it as it is.
            rig: Its file where that is another now.
        """
        with self._disk:
            with self._ready:
                self._waiting = self._failed = None
                self._ready.notify_all()
            try:
                if self.kept_path is not None:
                    remove(self.kept_path)
                self._tell(None)
            except EcorcheError as error:
                self._tell(error)
            self.kept_path = self.kept_at = None
            if rig is not None and rig != self._rig:
                self._release()
                self._rig = rig
            if base is not None:
                self._base = base

    def close(self) -> None:
        """Stop, with all that is unsaved kept; the recovery stays for the next opening."""
        with self._ready:
            self._closed, self._pause = True, 0.0
            self._ready.notify_all()
        self._thread.join()
        self._release()

    def discard(self) -> None:
        """Stop, and keep nothing."""
        self.clear()
        self.close()

    def _run(self) -> None:
        last = -self._pause
        while True:
            with self._ready:
                again = RETRY if self._failed is not None else None
                if not self._ready.wait_for(lambda: self._waiting is not None or self._closed, again):
                    self._waiting = self._failed
                self._ready.wait_for(
                    lambda: self._closed or self._pause == 0.0,
                    max(0.0, last + self._pause - time.monotonic()),
                )
            with self._disk:
                with self._ready:
                    rig, self._waiting = self._waiting, None
                    if rig is None and self._closed:
                        return
                    self._busy = rig is not None
                if rig is not None:
                    trouble = self._written(rig)
                    self._failed = None if trouble is None else rig
                    self._tell(trouble)
            last = time.monotonic()
            with self._ready:
                self._busy = False
                self._ready.notify_all()

    def _written(self, rig: Rig) -> EcorcheError | None:
        """Write it; what is in the way, if anything is."""
        try:
            self._write(rig)
        except EcorcheError as error:
            return error
        except Exception as error:  # a thread that ended would end all keeping, unseen
            what = f"cannot be kept ({type(error).__name__}: {error})"
            return WriteError(what, where=self._rig.name, remedy="Save it")
        return None

    def _write(self, rig: Rig) -> None:
        if self._place is None:
            self._place = free_place(self._rig)
        path = recovery_path(self._rig, self._place[0], self._base)
        write_rig(path, replace(rig, source=str(path)))
        if self.kept_path not in (None, path):  # from another version
            remove(self.kept_path)
        self.kept_path, self.kept_at = path, path.stat().st_mtime

    def _release(self) -> None:
        if self._place is not None:
            self._place[1].release()
            self._place = None

    def _tell(self, trouble: EcorcheError | None) -> None:
        changed = str(self.trouble) != str(trouble)
        self.trouble = trouble
        if changed and self._told is not None:
            self._told(trouble)
