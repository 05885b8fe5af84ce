"""Flesh swings after the bones: damped oscillation of points about where the motion carries them.

Thesis (text 002) 4.5.7: every node of an action line is a mass, tied to its kinematic trajectory by a damped
spring whose stiffness is that of the material around it; what it drifts away is bounded by blending its
dynamic with its kinematic place. What we change:

- The offset u of a point from its trajectory y obeys ü + 2ζω u̇ + ω² u = −ÿ. Between two frames y is a
  polynomial (`trajectory`), and u is then known exactly: there is no time step, nothing can explode, and the
  frame rate does not matter but for what the frames leave out of the motion.
- The blend is smooth: an offset of length d is shown as d / √(1 + (d/limit)²), always less than the limit,
  small ones as they are. It is shown only: the oscillation itself runs free, so that nothing accumulates.
- A motion begins in its kinematic places, and its accelerations are felt more and more in the first moments
  (`FADE_IN`), so that none begins with a kick, and what nobody knows of the time before hardly matters.

Damping is against the motion of the trajectory, so that steady travel leaves flesh in place. Attachments have
the limit 0 and stay exactly. What rests stays at exactly zero.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit, prange

from ecorche.dynamics.trajectory import acceleration_between, derivatives
from ecorche.errors import EcorcheError

Floats = npt.NDArray[np.float64]

FADE_IN = (0.25, 1.5)
"""Accelerations are felt fully after so many seconds and so many periods of free oscillation."""


@dataclass(frozen=True, eq=False)
class OscillationState:
    """Where an oscillation stands at one frame: all it remembers. Keep it to go on from there.

    Attributes:
        time: Of the frame [s].
        offset: From the kinematic place, not bounded [m], (N, 3).
        velocity: Of the offset [m/s], (N, 3).
        began: When the motion began [s].
    """

    time: float
    offset: Floats
    velocity: Floats
    began: float


class Oscillation:
    """N points that swing about their trajectories; constant over time.

    Frames depend on all frames before. To begin in the middle of a motion either go on from a state, or begin
    `memory` seconds early; either way give `trajectory.HALO` frames more on both sides where there are any.

    Args:
        frequency: Of free undamped oscillation [Hz], (N,) or one number.
        damping: Damping ratio, above 0 and up to 1, (N,) or one number.
        limit: Bound of the offset [m], (N,); 0 for attachments.
        where: What the points belong to, for messages.
    """

    def __init__(
        self,
        frequency: npt.ArrayLike,
        damping: npt.ArrayLike,
        limit: npt.ArrayLike,
        *,
        where: object = "oscillation",
    ) -> None:
        self.limit = np.atleast_1d(np.asarray(limit, np.float64))
        count = self.limit.shape
        self.frequency, self.damping = (
            np.ascontiguousarray(np.broadcast_to(np.asarray(v, np.float64), count))
            for v in (frequency, damping)
        )
        self.where = where
        for values, fine, what, remedy in (
            (self.frequency, (self.frequency >= 0.1) & (self.frequency <= 1000.0),
             "frequency of {:g} Hz", "Choose 0.1 to 1000, such as 6"),
            (self.damping, (self.damping > 0.0) & (self.damping <= 1.0),
             "damping ratio of {:g}", "Choose one above 0 and up to 1, such as 0.25"),
            (self.limit, (self.limit >= 0.0) & (self.limit < np.inf),
             "limit of {:g} m", "Choose 0, for an attachment, or more"),
        ):  # fmt: skip
            if not fine.all():
                point = int(np.argmin(fine))
                raise EcorcheError(
                    f"point {point} cannot have a {what.format(values[point])}", where=where, remedy=remedy
                )

    @property
    def point_count(self) -> int:
        """N."""
        return len(self.limit)

    def memory(self, tolerance: float = 0.01) -> float:
        """How long [s] until no more than ``tolerance`` of any point's swing is left."""
        moving = self.limit > 0.0
        if not moving.any():
            return 0.0
        slowest = (2.0 * np.pi * self.frequency * self.damping)[moving].min()
        return float(np.log(1.0 / tolerance) / slowest)

    def over(
        self,
        times: npt.ArrayLike,
        places: npt.ArrayLike,
        state: OscillationState | None = None,
        *,
        last: int | None = None,
    ) -> tuple[Floats, OscillationState]:
        """Places that swing [m], (frames, N, 3), and the state at the last of them.

        Without a state the motion begins with the first of the given frames. With one it goes on from the
        frame of the state's time: what is given back are the frames after that.

        Args:
            times: Seconds, rising, (F,).
            places: Kinematic places [m], (F, N, 3).
            state: Where the oscillation stands at one of these frames.
            last: Number of the last frame to give back; later ones only tell how the motion goes on.
        """
        seconds, anchors = self._checked(times, places)
        last = len(seconds) - 1 if last is None else last
        begin = 0 if state is None else self._frame_of(state, seconds, anchors)
        if not begin <= last < len(seconds):
            raise EcorcheError(
                f"frame {last} is not among frames {begin} to {len(seconds) - 1}",
                where=self.where,
                remedy="Choose one of them as the last",
            )
        shape = anchors.shape[1:]
        offset = np.zeros(shape) if state is None else state.offset.copy()
        velocity = np.zeros(shape) if state is None else state.velocity.copy()
        began = float(seconds[0]) if state is None else state.began
        frames = slice(begin, last + 1)
        offsets = np.empty((last + 1 - begin, *offset.shape))
        speeds = np.ascontiguousarray(derivatives(seconds, anchors)[:, frames])
        fade_in = np.maximum(FADE_IN[0], FADE_IN[1] / self.frequency)
        constants = np.stack([2.0 * np.pi * self.frequency, self.damping, fade_in])
        moving = np.flatnonzero(self.limit > 0.0)
        elapsed = seconds[frames] - began
        _advance(moving, constants, elapsed, anchors[frames], speeds, offset, velocity, offsets)
        shown = anchors[frames] + self.bounded(offsets)
        reached = OscillationState(float(seconds[last]), offset, velocity, began)
        return shown[0 if state is None else 1 :], reached

    def bounded(self, offset: Floats) -> Floats:
        """Offsets (..., N, 3) [m] as they are shown: shorter than the limit, the shorter the less changed."""
        shown = np.zeros_like(offset)
        free = self.limit > 0.0
        part = offset[..., free, :]
        drift = np.linalg.norm(part, axis=-1, keepdims=True) / self.limit[free, None]
        shown[..., free, :] = part / np.hypot(1.0, drift)
        return shown

    def _checked(self, times: npt.ArrayLike, places: npt.ArrayLike) -> tuple[Floats, Floats]:
        seconds = np.ascontiguousarray(times, np.float64)
        anchors = np.ascontiguousarray(places, np.float64)
        if len(seconds) == 0 or anchors.shape != (len(seconds), self.point_count, 3):
            raise EcorcheError(
                f"places {anchors.shape} are not for {len(seconds)} frames of {self.point_count} points",
                where=self.where,
                remedy="Give (frames, points, 3), a frame for each time",
            )
        if not (np.isfinite(seconds).all() and (np.diff(seconds) > 0.0).all()):
            raise EcorcheError(
                "its times do not rise", where=self.where, remedy="Give each frame a later time"
            )
        bad = ~np.isfinite(anchors).all(axis=2)
        if bad.any():
            frame, point = (int(n) for n in np.argwhere(bad)[0])
            raise EcorcheError(
                f"point {point} is nowhere in frame {frame}: its place is not a number",
                where=self.where,
                remedy="Mend the path that carries it",
            )
        return seconds, anchors

    def _frame_of(self, state: OscillationState, seconds: Floats, anchors: Floats) -> int:
        """The frame at the state's time."""
        frame = int(np.argmin(np.abs(seconds - state.time)))
        if seconds[frame] != state.time or state.offset.shape != anchors.shape[1:]:
            raise EcorcheError(
                f"the state of {len(state.offset)} points at {state.time:g} s is of no frame given here",
                where=self.where,
                remedy="Give the frames around the one the state is of, and of the same points",
            )
        return frame


@njit(cache=True, forceinline=True)  # type: ignore[untyped-decorator]
def _free(omega: Any, zeta: Any, h: Any) -> Any:
    """How offset u and velocity v swing on by ``h`` seconds: a, b, c, d of u' = a u + b v, v' = c u + d v."""
    sigma, turning = zeta * omega, omega * np.sqrt(1.0 - zeta * zeta)
    fading = np.exp(-sigma * h)
    cosine = fading * np.cos(turning * h)
    sine = fading * (np.sin(turning * h) / turning if turning * h > 1e-8 else h)
    return cosine + sigma * sine, sine, -omega * omega * sine, cosine - sigma * sine


@njit(cache=True, forceinline=True)  # type: ignore[untyped-decorator]
def _step(free: Any, square: Any, drag: Any, h: Any, u: Any, v: Any, f: Any) -> Any:
    """Offset and velocity ``h`` seconds on, under the acceleration f₀ + f₁ τ + f₂ τ² + f₃ τ³.

    The cubic p with p̈ + 2ζω ṗ + ω² p = f is followed exactly, and the rest swings freely.
    """
    p3 = f[3] / square
    p2 = (f[2] - 3.0 * drag * p3) / square
    p1 = (f[1] - 2.0 * drag * p2 - 6.0 * p3) / square
    p0 = (f[0] - drag * p1 - 2.0 * p2) / square
    a, b, c, d = free
    u, v = u - p0, v - p1
    return (
        a * u + b * v + p0 + h * (p1 + h * (p2 + h * p3)),
        c * u + d * v + p1 + h * (2.0 * p2 + 3.0 * h * p3),
    )


@njit(cache=True, forceinline=True)  # type: ignore[untyped-decorator]
def _felt(x: Any, fade_in: Any, acceleration: Any, jerk: Any) -> Any:
    """What is felt of an acceleration and its rate of change when a share ``x`` of the fading in is over."""
    if x >= 1.0:
        return acceleration, jerk
    share = x * x * (3.0 - 2.0 * x)
    return share * acceleration, share * jerk + 6.0 * x * (1.0 - x) / fade_in * acceleration


@njit(cache=True, parallel=True)  # type: ignore[untyped-decorator]
def _advance(
    moving: Any,
    constants: Any,
    elapsed: Any,
    places: Any,
    speeds: Any,
    offset: Any,
    velocity: Any,
    offsets: Any,
) -> None:
    """Swing ``offset`` and ``velocity`` (N, 3) of the moving points on from the first frame to the last."""
    offsets[:] = 0.0
    for number in prange(len(moving)):
        point = moving[number]
        omega, zeta, fade_in = constants[0, point], constants[1, point], constants[2, point]
        square, drag = omega * omega, 2.0 * zeta * omega
        offsets[0, point] = offset[point]
        h = 0.0
        free = _free(omega, zeta, h)
        for frame in range(len(elapsed) - 1):
            if elapsed[frame + 1] - elapsed[frame] != h:
                h = elapsed[frame + 1] - elapsed[frame]
                free = _free(omega, zeta, h)
            for axis in range(3):
                way = places[frame + 1, point, axis] - places[frame, point, axis]
                v0, v1 = speeds[0, frame, point, axis], speeds[0, frame + 1, point, axis]
                a0, a1 = speeds[1, frame, point, axis], speeds[1, frame + 1, point, axis]
                c0, c1, c2, c3 = acceleration_between(h, way, v0, v1, a0, a1)
                if elapsed[frame] < fade_in:
                    # what is felt, as the cubic that has its value and slope at both frames
                    jerk = c1 + h * (2.0 * c2 + 3.0 * h * c3)
                    c0, c1 = _felt(elapsed[frame] / fade_in, fade_in, a0, c1)
                    end, slope = _felt(elapsed[frame + 1] / fade_in, fade_in, a1, jerk)
                    c2 = (3.0 * (end - c0) / h - 2.0 * c1 - slope) / h
                    c3 = (c1 + slope - 2.0 * (end - c0) / h) / h**2
                u, v = offset[point, axis], velocity[point, axis]
                u, v = _step(free, square, drag, h, u, v, (-c0, -c1, -c2, -c3))
                offset[point, axis], velocity[point, axis] = u, v
                offsets[frame + 1, point, axis] = u
