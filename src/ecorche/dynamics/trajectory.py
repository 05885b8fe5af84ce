"""Points between frames: where they are, how fast, and how their speed changes, without a kick at a frame.

Frames say where a point is at some moments. Between two frames we take the polynomial of fifth degree that
has the place, velocity and acceleration of both, so that all three are continuous. Velocity and acceleration
at a frame are those of the polynomial through that frame and the `HALO` frames on either side, fewer at the
ends of a motion. What a curve does in between then hardly depends on how often it was looked at.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit, prange

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

HALO = 3
"""So many frames before and after are looked at for the derivatives at a frame."""

WIDTH = 2 * HALO + 1


def derivative_weights(times: Floats) -> tuple[Ints, Floats]:
    """How derivatives at each frame follow from the frames around it.

    Args:
        times: Seconds, rising, shape (F,).

    Returns:
        The first frame looked at (F,), and weights (F, 2, WIDTH) of that and the following frames in the
        first [1/s] and second [1/s²] derivative; frames that there are not have the weight 0.
    """
    count = len(times)
    first = np.maximum(np.arange(count) - HALO, 0)
    after = np.minimum(np.arange(count) + HALO + 1, count)
    weights = np.zeros((count, 2, WIDTH))
    for frame in range(count):
        near = times[first[frame] : after[frame]] - times[frame]
        size = len(near)
        scale = float(np.abs(near).max()) or 1.0
        # row k: the sum over frames of weight × distance^k is 1 or 2 for the derivative's own power, else 0
        powers = (near / scale) ** np.arange(size)[:, None]
        wanted = np.zeros((size, 2))
        if size > 1:
            wanted[1, 0] = 1.0 / scale
        if size > 2:
            wanted[2, 1] = 2.0 / scale**2
        weights[frame, :, :size] = np.linalg.solve(powers, wanted).T
    return first, weights


@njit(cache=True, parallel=True)  # type: ignore[untyped-decorator]
def _derivatives(places: Any, first: Any, weights: Any, result: Any) -> None:
    frames, count = places.shape[0], places.shape[1]
    for point in prange(count):
        for frame in range(frames):
            begin = first[frame]
            size = min(WIDTH, frames - begin)
            for axis in range(3):
                own = places[frame, point, axis]
                velocity = acceleration = 0.0
                for k in range(size):
                    # differences, so that what rests has derivatives of exactly zero
                    away = places[begin + k, point, axis] - own
                    velocity += weights[frame, 0, k] * away
                    acceleration += weights[frame, 1, k] * away
                result[0, frame, point, axis] = velocity
                result[1, frame, point, axis] = acceleration


@njit(cache=True, parallel=True)  # type: ignore[untyped-decorator]
def derivatives_at(weights: Floats, around: tuple[Floats, ...], own: Floats, result: Floats) -> None:
    """Velocity and acceleration (2, N, 3) in a frame with places ``own``, of `WIDTH` frames ``around`` it."""
    for point in prange(len(own)):
        for axis in range(3):
            velocity = acceleration = 0.0
            for k in range(WIDTH):
                # differences, so that what rests has derivatives of exactly zero
                away = around[k][point, axis] - own[point, axis]
                velocity += weights[0, k] * away
                acceleration += weights[1, k] * away
            result[0, point, axis], result[1, point, axis] = velocity, acceleration


def derivatives(times: Floats, places: Floats) -> Floats:
    """Velocity [m/s] and acceleration [m/s²] of places (F, N, 3) at times (F,): (2, F, N, 3)."""
    first, weights = derivative_weights(times)
    result = np.empty((2, *places.shape))
    _derivatives(places, first, weights, result)
    return result


@njit(cache=True, forceinline=True)  # type: ignore[untyped-decorator]
def acceleration_between(step: Any, way: Any, v0: Any, v1: Any, a0: Any, a1: Any) -> Any:
    """The acceleration between two frames as a cubic in the seconds since the first: its four coefficients.

    ``way`` [m] is what lies between the places of the two frames, ``step`` [s] the time; velocities and
    accelerations are at the first and second of them.
    """
    # what the first frame's own place, velocity and acceleration leave for the second
    place = way - step * (v0 + 0.5 * step * a0)
    velocity = v1 - v0 - step * a0
    acceleration = a1 - a0
    c3 = (10.0 * place - step * (4.0 * velocity - 0.5 * step * acceleration)) / step**3
    c4 = (-15.0 * place + step * (7.0 * velocity - step * acceleration)) / step**4
    c5 = (6.0 * place - step * (3.0 * velocity - 0.5 * step * acceleration)) / step**5
    return a0, 6.0 * c3, 12.0 * c4, 20.0 * c5


@njit(cache=True, inline="always")  # type: ignore[untyped-decorator]
def place_at(path: Any, point: Any, axis: Any, s: Any) -> Any:
    """Where a point is s seconds after a frame [m], of coefficients (6, N, 3) from `polynomial_between`."""
    value = path[5, point, axis]
    for k in range(4, -1, -1):
        value = value * s + path[k, point, axis]
    return value


@njit(cache=True, inline="always")  # type: ignore[untyped-decorator]
def acceleration_at(path: Any, point: Any, axis: Any, s: Any) -> Any:
    """Its acceleration there [m/s²]."""
    second, third = 2.0 * path[2, point, axis], 6.0 * path[3, point, axis]
    return second + s * (third + s * (12.0 * path[4, point, axis] + s * 20.0 * path[5, point, axis]))


def polynomial_between(
    seconds: float, start: Floats, end: Floats, velocity: Floats, acceleration: Floats
) -> Floats:
    """The polynomial of fifth degree from one frame to the next, in the seconds since the first.

    Args:
        seconds: From the one to the other [s].
        start, end: Places [m], (N, 3).
        velocity, acceleration: At both [m/s] and [m/s²], (2, N, 3).

    Returns:
        Its coefficients [m/sⁿ], (6, N, 3).
    """
    result = np.empty((6, *start.shape))
    _polynomial_between(seconds, start, end, velocity, acceleration, result)
    return result


@njit(cache=True, parallel=True)  # type: ignore[untyped-decorator]
def _polynomial_between(
    seconds: float, start: Floats, end: Floats, velocity: Floats, acceleration: Floats, result: Floats
) -> None:
    for point in prange(len(start)):
        for x in range(3):
            a, b, c, d = acceleration_between(
                seconds,
                end[point, x] - start[point, x],
                velocity[0, point, x],
                velocity[1, point, x],
                acceleration[0, point, x],
                acceleration[1, point, x],
            )
            result[0, point, x], result[1, point, x] = start[point, x], velocity[0, point, x]
            result[2, point, x], result[3, point, x] = a / 2.0, b / 6.0
            result[4, point, x], result[5, point, x] = c / 12.0, d / 20.0
