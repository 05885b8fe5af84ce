"""The masses and springs of a body through a motion, from its first frame on.

Where points are without dynamics is known at frames; between them they go along polynomials of fifth degree
whose derivatives at a frame come from the frames around it (`dynamics.trajectory`). The motion's
accelerations are felt more and more in its first moments, and before what is shown everything loses its speed
fast, as with fat.

A frame depends on all before: frames are best asked for in order. Now and then the state is kept, so that one
that lies behind is soon found again; the same from a kept state as without.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from math import comb

import numpy as np
import numpy.typing as npt

from ecorche.base.smooth_step import smooth_step
from ecorche.body.springs import BodySprings
from ecorche.dynamics.implicit_springs import ImplicitSprings
from ecorche.dynamics.spring_steps import SpringSteps, Way
from ecorche.dynamics.trajectory import HALO, derivative_weights, derivatives_at, polynomial_between
from ecorche.errors import EcorcheError
from ecorche.skeleton.motion import Motion

Floats = npt.NDArray[np.float64]

FADE_IN = 0.25
"""After so many seconds accelerations are felt fully."""
SETTLING = 20.0
"""How fast everything loses speed before it is looked at [1/s]."""
_KEPT_EVERY = 32
"""The state of every so manieth frame is kept."""


class SpringMotion:
    """The masses and springs of one body in one motion.

    Args:
        springs: The masses and springs.
        motion: On the character's skeleton.
        places: Gives where all points are in a frame of the motion without dynamics [m], (N, 3).
        activation: Of the muscles, (frames, M); None for muscles at rest.
        samples: Every so manieth frame of it is a frame, and those between lie between two frames.
        shown_from: Time of the first frame that is shown [s]: before it all settles; None shows all.
        precision: Of the steps, see `SpringSteps`.
        step: No step is longer [s]; None takes the longest that is stable.

    Attributes:
        steps: What goes on from frame to frame; others may be put in its place before the first.
    """

    def __init__(
        self,
        springs: BodySprings,
        motion: Motion,
        places: Callable[[int], Floats],
        *,
        activation: Floats | None = None,
        samples: int = 1,
        shown_from: float | None = None,
        precision: str = "single",
        step: float | None = None,
    ) -> None:
        self.springs, self.motion, self.samples = springs, motion, samples
        self._places_in, self._activation = places, activation
        self._begins = float(motion.times[0])
        self._shown_from = self._begins if shown_from is None else shown_from
        self.steps: SpringSteps | ImplicitSprings = SpringSteps(
            springs.springs, springs.bind, contact=springs.contact, precision=precision, step=step
        )
        self._times = np.ascontiguousarray(motion.times[::samples])
        self._first, self._weights = derivative_weights(self._times)
        self._known: OrderedDict[int, Floats] = OrderedDict()
        self._speeds: OrderedDict[int, Floats] = OrderedDict()
        self._way: tuple[int, Floats] | None = None
        self._kept: dict[int, bytes] = {}
        self._frame = -1

    def __len__(self) -> int:
        return self.motion.frame_count

    def at(self, index: int) -> Floats:
        """How far all points are from where they are without dynamics in a frame [m], (N, 3)."""
        if index < self._frame or self._frame < 0:
            before = max((k for k in self._kept if k <= index), default=-1)
            if before >= 0:
                self.go_on_from(self._kept[before])
            else:
                self._begin()
        while self._frame < index:
            self._pass_on()
            self._frame += 1
            if self._frame % _KEPT_EVERY == 0 and self._frame not in self._kept:
                self._kept[self._frame] = self.state()
        return self.steps.offsets

    def state(self) -> bytes:
        """All that is remembered of the frames so far: keep it to go on from there."""
        steps = self.steps
        arrays = (steps.offsets, steps.velocities, steps.accelerations)
        return b"".join([np.int64(self._frame).tobytes(), *(a.tobytes() for a in arrays)])

    def go_on_from(self, state: bytes) -> None:
        """Stand where a state of the same springs in the same motion was taken."""
        shape = self.steps.offsets.shape
        if len(state) != 8 + 3 * self.steps.offsets.nbytes:
            raise EcorcheError(
                "the state is of other springs", where="springs", remedy="Begin with the motion's first frame"
            )
        self._frame = int(np.frombuffer(state[:8], np.int64)[0])
        arrays = np.frombuffer(state[8:], np.float64).reshape(3, *shape).copy()
        self.steps.offsets, self.steps.velocities, self.steps.accelerations = arrays

    def _begin(self) -> None:
        self._frame = 0
        for array in (self.steps.offsets, self.steps.velocities, self.steps.accelerations):
            array[:] = 0.0

    def _pass_on(self) -> None:
        """Go on from this frame to the next."""
        frame = self._frame
        interval = min(frame // self.samples, len(self._times) - 2)
        begin, end = self.motion.times[frame : frame + 2]
        path = _from(self._between(interval), float(begin - self._times[interval]))
        springs, points = self.springs, len(self.springs.bind)
        stiffening = None
        if self._activation is not None:
            stiffening = np.stack([springs.stiffening(self._activation[n]) for n in (frame, frame + 1)])
        push = None
        if springs.blows:
            push = np.zeros((points, 3))
            for blow in springs.blows:
                push[blow.points] += blow.mean(float(begin), float(end)) * blow.forces
        felt = smooth_step((np.array([begin, end]) - self._begins) / FADE_IN)
        self.steps.advance(
            Way(
                float(end - begin),
                np.ascontiguousarray(path[:, :points]),
                stiffening,
                push,
                (float(felt[0]), float(felt[1])),
                self._drag(0.5 * float(begin + end)),
                path[:, points:],
                np.array([ball.radius for ball in springs.balls]),
            )
        )

    def _drag(self, time: float) -> float:
        """Before anything is shown all loses its speed fast, less and less in the second half."""
        left, whole = self._shown_from - time, self._shown_from - self._begins
        return SETTLING * float(smooth_step(2.0 * left / max(whole, 1e-9)))

    def _between(self, interval: int) -> Floats:
        """Coefficients of the ways of all points and balls from one frame to the next, (6, N + balls, 3)."""
        if self._way is None or self._way[0] != interval:
            speeds = [self._speed(number) for number in (interval, interval + 1)]
            self._way = (
                interval,
                polynomial_between(
                    float(self._times[interval + 1] - self._times[interval]),
                    self._place(interval),
                    self._place(interval + 1),
                    np.stack([s[0] for s in speeds]),
                    np.stack([s[1] for s in speeds]),
                ),
            )
        return self._way[1]

    def _speed(self, number: int) -> Floats:
        """Velocity [m/s] and acceleration [m/s²] in a frame, (2, N + balls, 3)."""
        found = self._speeds.get(number)
        if found is None:
            own, first = self._place(number), int(self._first[number])
            found, weights = np.empty((2, *own.shape)), self._weights[number]
            # what does not count need not be known
            around = [self._place(first + k) if used else own for k, used in enumerate(weights.any(axis=0))]
            derivatives_at(weights, tuple(around), own, found)
            self._speeds[number] = found
            if len(self._speeds) > 3:
                self._speeds.popitem(last=False)
        return found

    def _place(self, number: int) -> Floats:
        """Where all points are in a frame without dynamics, and after them the balls [m]."""
        found = self._known.get(number)
        if found is None:
            time = float(self._times[number])
            balls = [ball.at(time) for ball in self.springs.balls]
            found = np.concatenate([self._places_in(number * self.samples), np.array(balls).reshape(-1, 3)])
            self._known[number] = found
            if len(self._known) > 2 * HALO + 6:
                self._known.popitem(last=False)
        return found


def _from(path: Floats, seconds: float) -> Floats:
    """A polynomial (6, …) whose time begins so much later."""
    if seconds == 0.0:
        return path
    result = np.zeros_like(path)
    for k in range(6):
        for j in range(k, 6):
            result[k] += comb(j, k) * seconds ** (j - k) * path[j]
    return result
