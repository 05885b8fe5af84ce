"""Activation that takes its time: a muscle neither tenses nor lets go between two frames.

A muscle's activation follows its nerve's signal with time constants of 10 to 15 ms as it rises and 40 to
60 ms as it falls (Thelen 2003, J. Biomech. Eng. 125:70). A pose does not say when the nerve fired, so we do
not delay activation but spread it to both sides of each moment, under a raised cosine: held poses keep
theirs exactly, a bulge stays in step with its limb, and a hand that a recording throws about for one frame
no longer makes the forearm twitch.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

REACH = 0.05
"""How far activation spreads to either side [s]; half of it lies within a third of that."""


def spread_in_time(times: Floats, activation: Floats, reach: float = REACH) -> Floats:
    """Activations (frames, M) at times [s] (frames,), each the weighted mean of ``reach`` around it.

    The mean is that of the broken line through the frames, exactly, whatever the frame rate. Towards the
    first and the last frame less time lies on one side, and the reach shrinks to that on both: those two
    keep their own activation.
    """
    if len(times) < 3:
        return activation
    slopes = np.diff(activation, axis=0) / np.diff(times)[:, None]
    kinks = np.zeros_like(activation)
    kinks[1:-1] = np.diff(slopes, axis=0)
    fitting = np.minimum(reach, np.minimum(times - times[0], times[-1] - times))
    # a line with kinks differs from its mean by a rounded corner at each of them
    result = activation + _corner(np.zeros(len(times)), fitting) * kinks
    for apart in range(1, len(times)):
        away = times[apart:] - times[:-apart]
        if away.min() >= reach:
            break
        result[apart:] += _corner(away, fitting[apart:]) * kinks[:-apart]
        result[:-apart] += _corner(away, fitting[:-apart]) * kinks[apart:]
    return np.clip(result, 0.0, 1.0)


def _corner(away: Floats, reach: Floats) -> Floats:
    """How far the mean of a line with a kink of 1 lies above it [s], ``away`` seconds from the kink.

    Both are (frames,), the result (frames, 1).
    """
    left, wide = np.maximum(reach - away, 0.0), np.maximum(reach, 1e-12)
    rounded = left**2 / (4.0 * wide) - wide * (1.0 - np.cos(np.pi * left / wide)) / (2.0 * np.pi**2)
    return np.asarray(rounded[:, None])
