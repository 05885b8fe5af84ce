"""How far limbs are bent in a motion."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ecorche.base.rotations import normalise
from ecorche.skeleton.motion import Motion

Floats = npt.NDArray[np.float64]


def bend(motion: Motion, *joints: str) -> Floats:
    """The angle between two bones, of three joints [rad], (frames,)."""
    at = motion.world()[..., :3, 3][:, [motion.skeleton.index(name) for name in joints]]
    upper, lower = normalise(at[:, 1] - at[:, 0]), normalise(at[:, 2] - at[:, 1])
    return np.asarray(np.arccos(np.clip(np.sum(upper * lower, axis=1), -1.0, 1.0)))
