"""Values that change from frame to frame, filtered in time: the same in seconds at any frame rate.

Thesis, 5.5.2, takes the frame before and the frame after, so its filter depends on the frame rate. Here a
length of time is given. With all frames at hand (`around`) values are weighted by a bell over time, which
delays nothing. Live (`Following`) only what was is known, and values follow with a delay.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ecorche.errors import MotionError

Floats = npt.NDArray[np.float64]
Singles = npt.NDArray[np.float32]

_WIDEST = 2.5
"""Beyond so many times its length the bell counts as over."""


def _require_length(seconds: float) -> None:
    if not (np.isfinite(seconds) and seconds >= 0.0):
        raise MotionError(
            f"a filter over {seconds:g} s is asked for",
            where="filter in time",
            remedy="Give 0 or more seconds",
        )


def around(times: npt.ArrayLike, frame: int, seconds: float) -> tuple[int, Floats]:
    """The first frame that counts for one, and the weights of it and those after it, which sum to one.

    The weights are ``exp(−(t / seconds)²)`` times the time each frame stands for. Near the ends of a motion
    as many frames are taken before as after, so that nothing is drawn towards its middle: the first and the
    last frame are their own.

    Args:
        times: Of the frames [s], rising, (frames,).
        frame: The one asked for.
        seconds: Length of the filter; 0 takes the frame alone.
    """
    _require_length(seconds)
    at = np.asarray(times, np.float64)
    reach = min(_WIDEST * seconds, at[frame] - at[0], at[-1] - at[frame])
    if reach <= 0.0:
        return frame, np.ones(1)
    slack = 1e-9 * max(reach, 1.0)
    first, last = (
        int(n) for n in np.searchsorted(at, [at[frame] - reach - slack, at[frame] + reach + slack])
    )
    borders = np.concatenate(
        [at[first : first + 1], 0.5 * (at[first : last - 1] + at[first + 1 : last]), at[last - 1 : last]]
    )
    away = at[first:last] - at[frame]
    weights = np.exp(-((away / seconds) ** 2)) * np.diff(borders)
    return first, weights / weights.sum()


class Following:
    """A value that follows another with a delay, for live use.

    Args:
        seconds: After which it has come 63 % of the way to where a value has jumped; 0 follows at once.
    """

    def __init__(self, seconds: float) -> None:
        _require_length(seconds)
        self._seconds = seconds
        self._time: float | None = None
        self._target: Singles | None = None
        self._value: Singles | None = None

    def at(self, time: float, target: Singles) -> Singles:
        """The value at a time [s], when the followed one is ``target``; between calls that goes straight."""
        before, start = self._target, self._value
        if before is None or start is None or self._time is None or self._seconds == 0.0:
            value = target.astype(np.float32)
        else:
            passed = time - self._time
            if passed < 0.0:
                raise MotionError(
                    f"{time:g} s comes after {self._time:g} s",
                    where="filter in time",
                    remedy="Ask for times in order, or begin anew",
                )
            # exactly what follows a target that moves evenly: v' = (target − v) / τ
            slope = (target - before) / passed if passed > 0.0 else np.zeros_like(target)
            lag = np.float32(self._seconds) * slope
            value = target - lag + (start - (before - lag)) * np.float32(np.exp(-passed / self._seconds))
        self._time, self._target, self._value = time, target.copy(), value
        return value
