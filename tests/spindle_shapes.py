"""Random spindles of every kind, and their curves as the text writes them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.interpolate import BPoly

from ecorche.muscles.spindle import Spindles, spindle_from_numbers

Floats = npt.NDArray[np.float64]


def random_spindles(count: int, seed: int) -> Spindles:
    """Shapes of every kind: pointed and broad ends, sloping bellies, swept centres."""
    rng = np.random.default_rng(seed)
    belly = rng.uniform(0.05, 0.95, count)
    return spindle_from_numbers(
        length=rng.uniform(0.05, 0.5, count),
        thickness=rng.uniform(0.01, 0.05, count),
        belly=belly,
        scale=rng.uniform(0.2, 3.0, count),
        tendon_origin=rng.uniform(0.0, 0.02, count) * (rng.random(count) < 0.7),
        tendon_insertion=rng.uniform(0.0, 0.02, count) * (rng.random(count) < 0.7),
        fullness_origin=rng.random(count),
        fullness_insertion=rng.random(count),
        slope=rng.uniform(-0.02, 0.02, count),
        arch=rng.normal(0.0, 0.02, count),
        lean=rng.normal(0.0, 0.02, count),
    )


def bezier(controls: Floats, belly: float, t: Floats) -> Floats:
    """Two Béziers as the text writes them, by SciPy's Bernstein basis; controls (2, 4, …)."""
    return np.asarray(BPoly(np.moveaxis(controls, 0, 1), [0.0, belly, 1.0])(t))
