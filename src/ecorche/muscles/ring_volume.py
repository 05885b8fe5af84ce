"""What closed surfaces through rings of points hold, and how much they dilate to hold as much as before.

The points of a surface are linear in its dilation κ, so the volume within is a cubic of κ, and κ is its root
next to zero.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ecorche.muscles.loft import THINNEST

Floats = npt.NDArray[np.float64]

_TRIED = np.array([-0.5, 0.0, 0.5, 1.0])
_ITERATIONS = 30
_MOST = 1.5
"""The greatest κ: flesh that a fold presses together further does not come out elsewhere."""


def volume_within(rings: Floats) -> Floats:
    """Of closed surfaces through rings (..., K, A, 3), with their middles at both ends [m³], (...)."""
    rings = rings - rings.mean(axis=(-3, -2), keepdims=True)
    low, high = rings[..., :-1, :, :], rings[..., 1:, :, :]
    low_on, high_on = np.roll(low, -1, axis=-2), np.roll(high, -1, axis=-2)
    six = (low * np.cross(low_on, high_on) + low * np.cross(high_on, high)).sum(axis=(-3, -2, -1))
    for sign, end in ((-1.0, rings[..., 0, :, :]), (1.0, rings[..., -1, :, :])):
        middle = end.mean(axis=-2, keepdims=True)
        six = six + sign * (middle * np.cross(end, np.roll(end, -1, axis=-2))).sum(axis=(-2, -1))
    return np.asarray(six) / 6.0


def dilation_to(wanted: Floats, at_rest: Floats, by_dilation: Floats) -> Floats:
    """κ (...) with which rings ``at_rest + κ by_dilation`` (..., K, A, 3) hold so much [m³], (...)."""
    tried = np.stack([volume_within(at_rest + k * by_dilation) for k in _TRIED])
    cubic = np.linalg.solve(np.vander(_TRIED), (tried - wanted).reshape(len(_TRIED), -1))
    slope = np.stack([3.0 * cubic[0], 2.0 * cubic[1], cubic[2]])
    kappa, exact = np.zeros(cubic.shape[1]), (tried[1] == wanted).ravel()
    for _ in range(_ITERATIONS):
        missing, steep = (np.sum(c * kappa ** np.arange(len(c))[::-1, None], axis=0) for c in (cubic, slope))
        step = np.where((steep > 0.0) & ~exact, missing / np.where(steep > 0.0, steep, 1.0), 0.0)
        kappa = np.clip(kappa - step, THINNEST, _MOST)
    return np.asarray(kappa.reshape(np.shape(wanted)))
