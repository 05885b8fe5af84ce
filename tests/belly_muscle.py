"""A muscle of the template's kind below the front, +Z, of the tube of two bones along +Y."""

from __future__ import annotations

import numpy as np

from ecorche.muscles.muscle import Muscle


def belly_muscle() -> Muscle:
    """From the middle of one bone to that of the other, 35 mm thick at most on either side."""
    half = np.array([0.004, 0.02, 0.035, 0.035])
    return Muscle(
        name="belly",
        muscle="belly",
        group="tube",
        joints=(0, 1),
        positions=np.array([[0.0, 0.2, 0.045], [0.0, 0.8, 0.045]]),
        outward=np.array([0.0, 0.0, 1.0]),
        thickness=np.stack([half, half[::-1]]),
        sweep=np.zeros((2, 4, 2)),
        belly=0.5,
        scale=1.0,
        largest_bulge=1.6,
    )
