"""Values on rings of points round muscles, evened along a muscle and round it."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


def evened(values: Floats, times: int) -> Floats:
    """Values (..., rings, sides, n) brought half-way to the mean of those beside them, so many times.

    Along a muscle the first and the last ring are evened round alone.
    """
    for _ in range(times):
        around = 0.5 * values + 0.25 * (np.roll(values, 1, axis=-2) + np.roll(values, -1, axis=-2))
        values = around.copy()
        inner, before, after = (around[..., s, :, :] for s in (np.s_[1:-1], np.s_[:-2], np.s_[2:]))
        values[..., 1:-1, :, :] = 0.5 * inner + 0.25 * (before + after)
    return values
