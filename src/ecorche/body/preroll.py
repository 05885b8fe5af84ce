"""What comes before a motion, so that flesh has come to rest when it begins; and moments between its frames.

Before the first frame the body goes from the bind pose, where flesh is at rest, into the first pose, and
waits there. It travels as fast as it does in the first frame, and joints come to the speed they have in it
within moments, so that the motion does not begin with a jerk.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from ecorche.base.smooth_step import smooth_step
from ecorche.errors import MotionError
from ecorche.skeleton.motion import Motion
from ecorche.skeleton.resample import between, resample

Floats = npt.NDArray[np.float64]

_APPROACH = 0.15
"""How long before the first frame joints begin to move as in it [s]."""


def with_preroll(motion: Motion, seconds: float) -> tuple[Motion, int]:
    """The motion with so many seconds before its first frame, at its rate, and how many frames those are."""
    if not 0.0 <= seconds < np.inf:
        raise MotionError(
            f"{seconds:g} seconds cannot come before",
            where=f"motion {motion.name!r}",
            remedy="Give 0 or more, such as 1",
        )
    step = float(motion.times[1] - motion.times[0]) if motion.frame_count > 1 else 1.0 / motion.rate
    count = int(np.ceil(seconds / step - 1e-6))
    if count == 0:
        return motion, 0
    early = step * np.arange(count, 0, -1)
    first, second = motion.local[0], motion.local[min(1, motion.frame_count - 1)]
    # as far back as the first frames' speed, dying away, leads
    back = -_APPROACH * (1.0 - np.exp(-early / _APPROACH)) / step
    start = np.broadcast_to(first, (count, *first.shape))
    coming = between(start, np.broadcast_to(second, start.shape), back[:, None] + np.zeros(len(first)))
    bind = np.broadcast_to(motion.skeleton.bind_local, start.shape)
    share = smooth_step(2.0 * early / (step * count) - 1.0)[:, None]
    local = between(coming, bind, share + np.zeros(len(first)))
    roots = motion.skeleton.parents < 0
    travel = (second - first)[roots, :3, 3] / step
    for root, way in zip(np.flatnonzero(roots), travel, strict=True):
        local[:, root, :3, 3] = first[root, :3, 3] - early[:, None] * way
    return (
        replace(
            motion,
            times=np.concatenate([motion.times[0] - early, motion.times]),
            local=np.concatenate([local, motion.local]),
            morph_weights={
                n: np.concatenate([np.full(count, w[0]), w]) for n, w in motion.morph_weights.items()
            },
        ),
        count,
    )


def with_samples(motion: Motion, samples: int) -> Motion:
    """The motion with moments between its frames: as many a frame as said, the first of them the frame."""
    if samples < 1:
        raise MotionError(
            f"{samples} samples a frame are none", where=f"motion {motion.name!r}", remedy="Give 1 or more"
        )
    if samples == 1 or motion.frame_count == 1:
        return motion
    steps = np.diff(motion.times)[:, None] * (np.arange(samples) / samples)
    times = np.append((motion.times[:-1, None] + steps).ravel(), motion.times[-1])
    return resample(motion, times=times)
