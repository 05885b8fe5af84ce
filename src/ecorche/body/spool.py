"""Frames kept on disk while a bake is under way, so that it can be interrupted and resumed.

A spool is a folder beside the bake's target: ``frames.bin`` holds finished frames one after
another as float32, ``state.json`` says what is being baked and how many frames are whole. Where frames depend
on those before, ``history-….bin`` holds what is remembered of them: it is written before ``state.json`` names
it, and what is not as it was written is not gone on from.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import sys
from pathlib import Path
from types import TracebackType
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from ecorche.base.files import readable_write_errors, require_folder
from ecorche.body.frames import Frame, Frames, PointSet
from ecorche.errors import WriteError


@runtime_checkable
class Remembering(Protocol):
    """Frames that may depend on those before."""

    def state(self) -> bytes | None:
        """All that is remembered of the frames asked for so far; None where every frame is by itself."""
        ...

    def go_on_from(self, state: bytes) -> None:
        """Stand where a state was taken."""
        ...


class Spool:
    """Finished frames of one bake on disk; itself `Frames` once all are there.

    Args:
        target: The file the bake will become; the spool stands beside it.
        key: Text that says everything the frames depend on; another key starts afresh.
        source: The frames to bake.

    Attributes:
        done: Frames that are whole.
        put_away: Frames that an interrupted bake with another key had left here.
    """

    def __init__(self, target: Path, key: str, source: Frames) -> None:
        require_folder(target)
        self.folder = target.with_name(f".{target.name}.baking")
        self.target = target
        self.times = source.times
        first = source[0]
        self._shapes: list[tuple[int, ...] | None] = []
        for points, normals in zip(first.points, first.normals, strict=True):
            self._shapes += [points.shape, None if normals is None else normals.shape]
        self._frame_floats = sum(int(np.prod(s)) for s in self._shapes if s is not None)
        # the first frame itself is part of the key: what it depends on may hide in a cache file
        text = f"{key} {len(source)} {self._shapes} {hashlib.sha256(self._packed(first)).hexdigest()}"
        self._key = hashlib.sha256(text.encode()).hexdigest()
        self._source = source
        self._lock()
        self.put_away = 0
        self.done = self._resume()

    def _resume(self) -> int:
        """How many whole frames an earlier, interrupted run of the same bake left."""
        try:
            state = json.loads((self.folder / "state.json").read_text())
            size = (self.folder / "frames.bin").stat().st_size
            done = int(state["done"])
            if state["key"] == self._key and size >= done * self._frame_floats * 4:
                self._remember(done, state["history"])
                return done
            self.put_away = done
        except (OSError, ValueError, KeyError, TypeError):
            pass  # nothing to resume from: start afresh
        with readable_write_errors(self.target):
            for left_over in ("state.json", "frames.bin", *(p.name for p in self.folder.glob("history-*"))):
                (self.folder / left_over).unlink(missing_ok=True)
        return 0

    def _remember(self, done: int, expected: str | None) -> None:
        """Let the source go on from what it remembered after so many frames; a `ValueError` if it cannot."""
        if not isinstance(self._source, Remembering) or self._source.state() is None:
            return
        history = self._history(done).read_bytes()
        if hashlib.sha256(history).hexdigest() != expected:
            raise ValueError(expected)
        self._source.go_on_from(history)

    def _history(self, done: int) -> Path:
        return self.folder / f"history-{done}.bin"

    def _lock(self) -> None:
        """Keep a second bake to the same file out while this one runs."""
        with readable_write_errors(self.target):
            self.folder.mkdir(exist_ok=True)
            self._locked = (self.folder / "lock").open("w")
        if sys.platform == "win32":
            return  # an open file cannot be removed there: the second bake stops by itself
        import fcntl

        try:
            fcntl.flock(self._locked, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._locked.close()
            raise WriteError(
                "another bake is writing this file",
                where=self.target,
                remedy="Wait for it, or choose another name",
            ) from None

    def __enter__(self) -> Spool:
        with readable_write_errors(self.target):
            self._file = (self.folder / "frames.bin").open("r+b" if self.done else "w+b")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()
        if kind is None:
            shutil.rmtree(self.folder)
        self._locked.close()

    def bake_next(self, at_most: int) -> int:
        """Compute and keep up to ``at_most`` further frames; how many were done."""
        stop = min(self.done + at_most, len(self._source))
        with readable_write_errors(self.target):
            self._file.seek(self.done * self._frame_floats * 4)
            for index in range(self.done, stop):
                self._file.write(self._packed(self._source[index]))
            self._file.flush()
            history = self._source.state() if isinstance(self._source, Remembering) else None
            digest = None if history is None else hashlib.sha256(history).hexdigest()
            if history is not None:
                self._history(stop).write_bytes(history)
            partial = self.folder / "state.partial"
            partial.write_text(json.dumps({"key": self._key, "done": stop, "history": digest}))
            partial.replace(self.folder / "state.json")
            if stop > self.done:
                self._history(self.done).unlink(missing_ok=True)
        fresh, self.done = stop - self.done, stop
        return fresh

    def _packed(self, frame: Frame) -> bytes:
        arrays: list[npt.NDArray[np.float32]] = []
        for points, normals in zip(frame.points, frame.normals, strict=True):
            arrays += [points] if normals is None else [points, normals]
        return b"".join(np.ascontiguousarray(a, np.float32).tobytes() for a in arrays)

    def __len__(self) -> int:
        return self.done

    def __getitem__(self, index: int) -> Frame:
        self._file.seek(index * self._frame_floats * 4)
        flat = np.frombuffer(self._file.read(self._frame_floats * 4), np.float32)
        arrays: list[PointSet | None] = []
        start = 0
        for shape in self._shapes:
            size = 0 if shape is None else int(np.prod(shape))
            arrays.append(None if shape is None else flat[start : start + size].reshape(shape))
            start += size
        points = tuple(a for a in arrays[0::2] if a is not None)
        return Frame(float(self.times[index]), points, tuple(arrays[1::2]))
