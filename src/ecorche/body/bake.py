"""Bake: every frame of a performance, streamed through bounded memory.

Frames go to a spool on disk first, so an interrupted bake resumes where it stopped; the target
is written from there, whole or not at all.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from ecorche.body.frames import Frame, Frames
from ecorche.body.history import live_frames, player_of
from ecorche.body.spool import Spool
from ecorche.body.take import Take
from ecorche.version import __version__

Progress = Callable[[str, int, int], None]
"""Called with the stage (``"bake"`` or ``"write"``), frames done, and frames in all.

Once with ``"anew"`` and how many frames of another bake, which was interrupted, were put away.
"""

Written = TypeVar("Written")

FRAMES_A_CHUNK = 16
"""Frames baked between two progress reports and saves: what an interruption can cost."""


class _CountedFrames:
    """Frames that tell how far a writer has read them."""

    def __init__(self, frames: Frames, progress: Progress) -> None:
        self._frames, self._progress, self._furthest = frames, progress, 0
        self.times = frames.times

    def __len__(self) -> int:
        return len(self._frames)

    def __getitem__(self, index: int) -> Frame:
        frame = self._frames[index]
        if index + 1 > self._furthest:
            self._furthest = index + 1
            self._progress("write", self._furthest, len(self._frames))
        return frame


def bake(
    path: str | Path,
    take: Take,
    write: Callable[[Path, Take], Written],
    progress: Progress | None = None,
    key: str | None = None,
) -> Written:
    """Bake a take to a file with a writer; returns what the writer returns.

    Args:
        path: The file to make.
        take: A take whose frames are computed live, see `perform`.
        write: Writes a take to a path, whole or not at all.
        progress: Told of every chunk of frames.
        key: Everything the frames depend on; None takes `take_key`.
    """
    path = Path(path)
    told = progress or (lambda _stage, _done, _total: None)
    if take.frames is None:
        return write(path, take)
    total = len(take.frames)
    with Spool(path, key or take_key(take), take.frames) as spool:
        if spool.put_away:
            told("anew", spool.put_away, total)
        told("bake", spool.done, total)
        while spool.done < total:
            try:
                spool.bake_next(FRAMES_A_CHUNK)
            except Exception as error:
                last = min(spool.done + FRAMES_A_CHUNK, total) - 1
                error.add_note(f"while baking moments {spool.done}-{last} of {total}")
                raise
            told("bake", spool.done, total)
        return write(path, replace(take, frames=_CountedFrames(spool, told)))


def take_key(take: Take) -> str:
    """Everything the frames of a take depend on, in short."""
    digest = hashlib.sha256(__version__.encode())
    for mesh in take.character.meshes:
        digest.update(mesh.name.encode() + mesh.mesh.points.tobytes() + mesh.mesh.face_indices.tobytes())
        if mesh.weights is not None:
            digest.update(mesh.weights.joints.tobytes() + mesh.weights.weights.tobytes())
    if take.motion is not None:
        digest.update(take.motion.times.tobytes() + take.motion.local.tobytes())
        for name in sorted(take.motion.morph_weights):
            digest.update(name.encode() + take.motion.morph_weights[name].tobytes())
    if take.rig is not None:  # what is painted or said of coupling, fat and wrinkles may not show at first
        digest.update(take.rig.spec.model_dump_json(exclude={"notes"}).encode())
        for name in sorted(take.rig.maps):
            digest.update(name.encode() + take.rig.maps[name].tobytes())
    live, player = live_frames(take.frames), player_of(take.frames)
    if player is not None:
        digest.update(type(player).__name__.encode())
    if live is not None:
        methods = [type(s).__name__ for s in live.body.skinnings]
        digest.update(repr((methods, live.posed is not None, live.dynamics.value)).encode())
        whole = live.whole_motion  # what has a history may begin earlier
        digest.update(repr(live.samples).encode() + whole.times.tobytes() + whole.local.tobytes())
        if live.activation is not None:
            digest.update(live.activation.tobytes())
        for muscles in (
            live.body.muscles,
            live.body.lofts,
            live.body.lines,
            live.body.coupling,
            live.body.fat,
            live.body.springs,
        ):
            if muscles is not None:
                muscles.feed(digest.update)
    return digest.hexdigest()
