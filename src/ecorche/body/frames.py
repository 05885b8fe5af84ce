"""Frames: the points of every mesh over time, wherever they are kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

PointSet = npt.NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Frame:
    """One moment: points [m] and unit normals of every mesh, each (vertices, 3) float32.

    Normals are a vertex each, or a corner each where the mesh's authored normals are; None for a
    subdivision mesh, whose normals its limit surface decides.
    """

    time: float
    points: tuple[PointSet, ...]
    normals: tuple[PointSet | None, ...]


class Frames(Protocol):
    """Frames in order, read one at a time so that any length fits in memory."""

    @property
    def times(self) -> npt.NDArray[np.float64]:
        """Seconds, rising, shape (frames,)."""
        ...

    def __len__(self) -> int: ...

    def __getitem__(self, index: int) -> Frame: ...


class MemoryFrames:
    """Frames held in memory."""

    def __init__(self, frames: Sequence[Frame]) -> None:
        self._frames = list(frames)
        self.times = np.array([f.time for f in frames], np.float64)

    def __len__(self) -> int:
        return len(self._frames)

    def __getitem__(self, index: int) -> Frame:
        return self._frames[index]
