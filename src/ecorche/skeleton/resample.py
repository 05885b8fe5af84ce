"""The same motion at other times or another frame rate.

Between two frames translation and scale go straight, rotation turns the short way at constant
speed (slerp); what the three parts cannot say, shear, goes straight too. A new time that falls on
a frame takes that frame's matrices bit for bit.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ecorche.base.rotations import slerp_xyzw
from ecorche.base.transforms import compose, decompose
from ecorche.errors import MotionError
from ecorche.skeleton.motion import Motion

Floats = npt.NDArray[np.float64]

COINCIDES = 1e-6  # of the frame interval: times this near are the same time


def resample(motion: Motion, *, rate: float | None = None, times: npt.ArrayLike | None = None) -> Motion:
    """The motion at ``rate`` frames a second from its first frame on, or at given ``times`` [s].

    With a rate, the last frame is the last step that is not past the motion's end. Times outside
    the motion are refused: nothing is known there.
    """
    if (rate is None) == (times is None):
        raise MotionError(
            "resampling needs either a rate or times", where=f"motion {motion.name!r}", remedy="Give one"
        )
    wanted = _at_rate(motion, rate) if rate is not None else np.asarray(times, np.float64).reshape(-1)
    before, fraction = _places(motion, wanted)
    after = np.minimum(before + 1, motion.frame_count - 1)
    local = motion.local[before]  # a copy: frames that coincide are done
    later = np.flatnonzero(fraction > 0.0)
    if len(later):
        a, b = motion.local[before[later]], motion.local[after[later]]
        local[later] = between(a, b, fraction[later, None])
    weights = {name: np.interp(wanted, motion.times, w) for name, w in motion.morph_weights.items()}
    return Motion(motion.name, motion.skeleton, wanted, local, weights)


def _at_rate(motion: Motion, rate: float) -> Floats:
    if not 0.0 < rate < np.inf:
        raise MotionError(
            f"the rate {rate} is not above zero",
            where=f"motion {motion.name!r}",
            remedy="Give frames per second, such as 24",
        )
    length = float(motion.times[-1] - motion.times[0])
    steps = int(np.floor(length * rate + COINCIDES))
    return np.asarray(motion.times[0] + np.arange(steps + 1) / rate)


def _places(motion: Motion, wanted: Floats) -> tuple[npt.NDArray[np.intp], Floats]:
    """The frame at or before each time, and how far on the way to the next, exactly 0 on a frame."""
    times = motion.times
    interval = float(np.diff(times).min()) if len(times) > 1 else 1.0
    near = COINCIDES * interval
    outside = ~((wanted >= times[0] - near) & (wanted <= times[-1] + near))
    if outside.any():
        raise MotionError(
            f"the time {wanted[int(np.argmax(outside))]:g} s is outside it: it runs from {times[0]:g} to"
            f" {times[-1]:g} s",
            where=f"motion {motion.name!r}",
            remedy="Give times within",
        )
    before = np.clip(np.searchsorted(times, wanted + near, side="right") - 1, 0, len(times) - 1)
    after = np.minimum(before + 1, len(times) - 1)
    width = np.where(after > before, times[after] - times[before], 1.0)
    fraction = (wanted - times[before]) / width
    on_frame = (np.abs(wanted - times[before]) <= near) | (after == before)
    return before, np.where(on_frame, 0.0, fraction)


def between(a: Floats, b: Floats, fraction: Floats) -> Floats:
    """Matrices (..., 4, 4) a fraction (...) of the way from ``a`` to ``b``."""
    (ta, qa, sa), (tb, qb, sb) = decompose(a), decompose(b)
    f = fraction[..., None]
    parts = compose(ta + f * (tb - ta), slerp_xyzw(qa, qb, fraction), sa + f * (sb - sa))
    # what decompose leaves out at the two ends: zero but for sheared matrices
    rest_a, rest_b = a - compose(ta, qa, sa), b - compose(tb, qb, sb)
    return parts + rest_a + f[..., None] * (rest_b - rest_a)
