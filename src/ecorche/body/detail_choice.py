"""Which level of detail each member of a crowd is shown in: by its distance, without going to and fro."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ecorche.body.lod import require_distances

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

HYSTERESIS = 0.05
"""A member changes its level only when it is this share of the distance past the border."""


class DetailChoice:
    """Levels from frame to frame; the first frame goes by distance alone.

    Args:
        beyond: From where on each level but the first is shown [m], rising.
    """

    def __init__(self, beyond: Sequence[float]) -> None:
        require_distances(beyond)
        self._borders = np.asarray(beyond, np.float64)
        self._level: Ints | None = None

    def begin_anew(self) -> None:
        """The next frame is another time or another view: it goes by distance alone."""
        self._level = None

    def step(self, distance: Floats) -> Ints:
        """The level of each member so far from the camera [m] (n,), (n,)."""
        level = np.searchsorted(self._borders, distance, side="right").astype(np.int64)
        if self._level is not None and len(self._level) == len(distance):
            least = np.searchsorted(self._borders * (1.0 + HYSTERESIS), distance, side="right")
            most = np.searchsorted(self._borders * (1.0 - HYSTERESIS), distance, side="right")
            level = np.clip(self._level, least, most)
        self._level = level
        return level
