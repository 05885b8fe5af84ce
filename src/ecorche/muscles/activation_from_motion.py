"""Muscles tense for what the joints do: activation read from the motion, contraction by contraction.

Thesis (text 002) 4.6.2. Each muscle is tied to degrees of freedom of joints, and to a direction of each. A
*contraction* is a stretch of time in which such a degree of freedom keeps turning the muscle's way; it counts
if it is long enough and fast enough. With it the muscle is tense at once, by how fast the contraction
becomes, and tension falls in a straight line until the contraction is over, as tension does while a
muscle shortens. As printed, that pops and depends on the frame rate. What we change:

- Speeds are per second, absolute within a direction, and smoothed over a fixed time (`SMOOTHING`); they are
  taken on a clock of our own, tied to time zero, from a curve through the frames.
- No threshold is one number. A contraction is what lasts above a speed, and activation is the mean over
  all such speeds from the first to the second of ``speeds``: where a motion all but stops and goes on, one
  contraction becomes two gradually. Short ones come to count gradually too, between one and two ``shortest``.
- The height is the greatest speed of the contraction, clipped where ``speeds`` say that it is full. Joints
  of spine and shoulder girdle share a movement among several and turn less: theirs count for more (`PACE`).
- The sudden onset is spread over `ONSET` to either side: a muscle tenses just before the bones move.

A muscle of several degrees of freedom adds them up without ever passing 1, each by its weight. Which those
are the rig says: for humans, the template's table of actions. No speed, no work: a held pose has none.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit, prange

from ecorche.errors import EcorcheError
from ecorche.muscles.activation import Action, JointAngles
from ecorche.skeleton.motion import Motion
from ecorche.skeleton.naming import Naming
from ecorche.skeleton.naming.vocabulary import NECK, TRUNK
from ecorche.skeleton.skeleton import Skeleton

Floats = npt.NDArray[np.float64]

SPEEDS = (10.0, 60.0, 300.0)
"""Degrees a second: up to the first nothing counts, from the second on all does, the third is full work."""
PACE = 3.0
"""How many times as fast a turn of the spine or the shoulder girdle counts. Ours, as are the speeds."""
SHORTEST = 0.06
"""Contractions that last less are no work [s]; those of twice as long count fully."""
SMOOTHING = 0.13
"""Speeds are means over this to either side, under a raised cosine [s]."""
ONSET = 0.1
"""Activation is spread over this to either side, under a raised cosine [s]."""

_SHARING = (*TRUNK, *NECK, "skullbase", "sternoclavicular", "acromioclavicular")
_RATE = 240  # ticks of the clock a second
_LEVELS = 24  # speeds at which contractions are looked for


class MotionDriven:
    """Activation by the contractions that a motion asks for.

    Args:
        skeleton: The skeleton of the motions.
        naming: Which of its joints is which.
        table: The actions of each muscle; only the direction of their ranges counts.
        speeds: Degrees a second, rising, see `SPEEDS`.
        shortest: Seconds, see `SHORTEST`.
        pace: How many times as fast motion counts, one number or one a muscle; more makes tenser muscles.
    """

    def __init__(
        self,
        skeleton: Skeleton,
        naming: Naming,
        table: Sequence[Sequence[Action]],
        *,
        speeds: tuple[float, float, float] = SPEEDS,
        shortest: float = SHORTEST,
        pace: npt.ArrayLike = 1.0,
    ) -> None:
        if not 0.0 < speeds[0] < speeds[1] <= speeds[2] < np.inf:
            raise EcorcheError(
                f"speeds of {', '.join(f'{s:g}' for s in speeds)} degrees a second do not rise from above 0",
                remedy="Choose three, such as 10, 60 and 300",
            )
        if not 0.0 < shortest < np.inf:
            raise EcorcheError(
                f"a shortest contraction of {shortest:g} s is not positive",
                remedy="Choose one, such as 0.06",
            )
        each = np.asarray(pace, np.float64)
        if not ((each >= 0.0) & (each < np.inf)).all() or each.shape not in ((), (len(table),)):
            raise EcorcheError(
                f"a pace is not a number from 0 on for each of {len(table)} muscles",
                remedy="Give one number, or one a muscle",
            )
        self.angles = JointAngles(skeleton, naming, table)
        self.notes = self.angles.notes
        called = [naming.canonical[joint] for joint in self.angles.joints]
        sharing = np.array([name is not None and name.endswith(_SHARING) for name in called], np.bool_)
        self.pace = np.broadcast_to(each, len(table))[self.angles.muscles] * np.where(sharing, PACE, 1.0)
        self.speeds = tuple(float(np.radians(s)) for s in speeds)
        self.shortest = float(shortest)

    def over(self, motion: Motion) -> Floats:
        """Activation over a motion of the same skeleton, shape (frames, M)."""
        start, end = self.angles.ranges.T
        angle, defined = self.angles.over(motion)
        forward = _added_up(angle, defined) * np.sign(end - start) * self.pace
        clock, speed = _speeds(motion.times, forward)
        slow, sure, fast = self.speeds
        levels = slow + (sure - slow) * (np.arange(_LEVELS) + 0.5) / _LEVELS
        rows = np.zeros_like(speed)
        _contractions(clock, speed, levels, fast, self.shortest, rows)
        rows = _spread(rows, ONSET)
        found = [np.interp(motion.times, clock, row) for row in rows]
        share = np.stack(found, axis=-1) if found else np.zeros((motion.frame_count, 0))
        return self.angles.together(np.clip(share, 0.0, 1.0))


def _added_up(angle: Floats, defined: Floats) -> Floats:
    """Angles (frames, rows) without wraps: what each step turns, as far as the angle is defined there."""
    turned = np.diff(angle, axis=0)
    turned = (turned + np.pi) % (2.0 * np.pi) - np.pi
    turned *= 0.5 * (defined[1:] + defined[:-1])
    return np.concatenate([np.zeros_like(angle[:1]), np.cumsum(turned, axis=0)])


def _speeds(times: Floats, angles: Floats) -> tuple[Floats, Floats]:
    """A clock (ticks,) [s] around the times, and smoothed speeds then (rows, ticks) of angles (frames, rows).

    Before the first and after the last frame the pose is taken to hold.
    """
    from scipy.interpolate import make_interp_spline
    from scipy.ndimage import correlate1d

    reach = round(SMOOTHING * _RATE)
    around = reach + round(ONSET * _RATE) + 1
    # tied to time zero: cutting or resampling the motion does not shift it
    ticks = np.arange(int(np.floor(times[0] * _RATE)) - around, int(np.ceil(times[-1] * _RATE)) + around + 1)
    clock = ticks / _RATE
    degree = min(3, len(times) - 1)
    if degree < 1 or angles.shape[1] == 0:
        return clock, np.zeros((angles.shape[1], len(clock)))
    curve = make_interp_spline(times, angles, degree)
    places = curve(np.clip(clock, times[0], times[-1])).T
    # the derivative of a raised cosine; of a straight line it gives the slope exactly
    away = np.arange(-reach, reach + 1) / _RATE
    weights = np.sin(np.pi * away / SMOOTHING)
    weights /= np.sum(weights * away)
    return clock, correlate1d(places, weights, axis=1, mode="nearest")


def _spread(rows: Floats, reach: float) -> Floats:
    """The mean of ``reach`` [s] to either side, under a raised cosine, of curves (rows, ticks)."""
    from scipy.ndimage import correlate1d

    away = np.arange(-round(reach * _RATE), round(reach * _RATE) + 1) / _RATE
    weights = 1.0 + np.cos(np.pi * away / reach)
    return np.asarray(correlate1d(rows, weights / weights.sum(), axis=1, mode="nearest"))


@njit(cache=True, parallel=True)  # type: ignore[untyped-decorator]
def _contractions(clock: Any, speed: Any, levels: Any, fast: Any, shortest: Any, result: Any) -> None:
    """Add to ``result`` (rows, ticks) the mean over levels of what the contractions above each are worth."""
    ticks = len(clock)
    for row in prange(len(speed)):
        for level in levels:
            tick = 1
            while tick < ticks:
                if not (speed[row, tick - 1] <= level < speed[row, tick]):
                    tick += 1
                    continue
                first, peak = tick, 0.0
                while tick < ticks and speed[row, tick] > level:
                    peak = max(peak, speed[row, tick])
                    tick += 1
                # between two ticks speed is taken as a straight line
                step = clock[first] - clock[first - 1]
                begin = clock[first] - step * (speed[row, first] - level) / (
                    speed[row, first] - speed[row, first - 1]
                )
                end = clock[tick - 1]
                if tick < ticks:
                    end += step * (speed[row, tick - 1] - level) / (speed[row, tick - 1] - speed[row, tick])
                counts = min(max((end - begin) / shortest - 1.0, 0.0), 1.0)
                height = min(peak / fast, 1.0) * counts * counts * (3.0 - 2.0 * counts) / len(levels)
                for t in range(first, tick):
                    result[row, t] += height * (end - clock[t]) / (end - begin)
