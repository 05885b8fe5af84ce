"""A smooth onset: the cubic from 0 to 1 that is level at both ends."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt


def smooth_step(x: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """0 up to x = 0, 1 from x = 1, and 3x² − 2x³ between."""
    x = np.clip(np.asarray(x, np.float64), 0.0, 1.0)
    return np.asarray(x * x * (3.0 - 2.0 * x))
