"""Rotations inside compiled loops, as quaternions of four numbers x, y, z, w: made, combined, used."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit

from ecorche.muscles.triples import cross, dot, plus

Floats = npt.NDArray[np.float64]


@njit(forceinline=True)  # type: ignore[untyped-decorator]
def product(a: Any, b: Any) -> Any:
    """The rotation b, then a."""
    return (
        a[3] * b[0] + a[0] * b[3] + a[1] * b[2] - a[2] * b[1],
        a[3] * b[1] - a[0] * b[2] + a[1] * b[3] + a[2] * b[0],
        a[3] * b[2] + a[0] * b[1] - a[1] * b[0] + a[2] * b[3],
        a[3] * b[3] - a[0] * b[0] - a[1] * b[1] - a[2] * b[2],
    )


@njit(forceinline=True)  # type: ignore[untyped-decorator]
def rotated(q: Any, v: Any) -> Any:
    """A vector turned by a unit quaternion."""
    across = cross(q, v)
    doubled = (2.0 * across[0], 2.0 * across[1], 2.0 * across[2])
    return plus(plus(v, q[3], doubled), 1.0, cross(q, doubled))


@njit(forceinline=True)  # type: ignore[untyped-decorator]
def third_axis(q: Any) -> Any:
    """The z axis of a frame."""
    x, y, z, w = q
    return 2.0 * (x * z + y * w), 2.0 * (y * z - x * w), 1.0 - 2.0 * (x * x + y * y)


@njit(forceinline=True)  # type: ignore[untyped-decorator]
def four_dot(a: Any, b: Any) -> Any:
    """The cosine of half the angle between two rotations."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3]


@njit(forceinline=True)  # type: ignore[untyped-decorator]
def scaled_four(s: float, a: Any) -> Any:
    """A quaternion's share in a sum."""
    return s * a[0], s * a[1], s * a[2], s * a[3]


@njit(forceinline=True)  # type: ignore[untyped-decorator]
def added_four(a: Any, s: float, b: Any) -> Any:
    """a + s b."""
    return a[0] + s * b[0], a[1] + s * b[1], a[2] + s * b[2], a[3] + s * b[3]


@njit(forceinline=True)  # type: ignore[untyped-decorator]
def unit_four(a: Any) -> Any:
    """A sum of quaternions as the rotation that it is the mean of."""
    return scaled_four(1.0 / np.sqrt(four_dot(a, a)), a)


@njit(cache=True)  # type: ignore[untyped-decorator]
def turn_of_frame(frames: Floats, row: int) -> Any:
    """The quaternion of the rotation matrix ``frames[row]``, by its largest component."""
    a, b, c = frames[row, 0, 0], frames[row, 1, 1], frames[row, 2, 2]
    if a + b + c > 0.0:
        w = np.sqrt(1.0 + a + b + c)
        over = 0.5 / w
        return (
            (frames[row, 2, 1] - frames[row, 1, 2]) * over,
            (frames[row, 0, 2] - frames[row, 2, 0]) * over,
            (frames[row, 1, 0] - frames[row, 0, 1]) * over,
            0.5 * w,
        )
    if a >= b and a >= c:
        x = np.sqrt(1.0 + a - b - c)
        over = 0.5 / x
        return (
            0.5 * x,
            (frames[row, 0, 1] + frames[row, 1, 0]) * over,
            (frames[row, 0, 2] + frames[row, 2, 0]) * over,
            (frames[row, 2, 1] - frames[row, 1, 2]) * over,
        )
    if b >= c:
        y = np.sqrt(1.0 + b - a - c)
        over = 0.5 / y
        return (
            (frames[row, 0, 1] + frames[row, 1, 0]) * over,
            0.5 * y,
            (frames[row, 1, 2] + frames[row, 2, 1]) * over,
            (frames[row, 0, 2] - frames[row, 2, 0]) * over,
        )
    z = np.sqrt(1.0 + c - a - b)
    over = 0.5 / z
    return (
        (frames[row, 0, 2] + frames[row, 2, 0]) * over,
        (frames[row, 1, 2] + frames[row, 2, 1]) * over,
        0.5 * z,
        (frames[row, 1, 0] - frames[row, 0, 1]) * over,
    )


@njit(cache=True)  # type: ignore[untyped-decorator]
def slerp(a: Any, b: Any, t: float) -> Any:
    """The rotation a share t of the way from a to b, the short way."""
    cosine = four_dot(a, b)
    sign = 1.0
    if cosine < 0.0:
        cosine, sign = -cosine, -1.0
    if cosine > 1.0 - 1e-10:
        # so near that sine and angle are one: straight on
        first, second = 1.0 - t, sign * t
    else:
        angle = np.arccos(cosine)
        over = 1.0 / np.sin(angle)
        first, second = np.sin((1.0 - t) * angle) * over, sign * np.sin(t * angle) * over
    return (
        first * a[0] + second * b[0],
        first * a[1] + second * b[1],
        first * a[2] + second * b[2],
        first * a[3] + second * b[3],
    )


@njit(forceinline=True)  # type: ignore[untyped-decorator]
def laid_along(q: Any, direction: Any) -> Any:
    """A frame taken by the smallest rotation that brings its z axis onto a unit direction.

    Opposite to the direction none is smallest, and the frame stays.
    """
    z = third_axis(q)
    w = 1.0 + dot(z, direction)
    if not w > 1e-9:
        return q
    across = cross(z, direction)
    over = 1.0 / np.sqrt(dot(across, across) + w * w)
    return product((across[0] * over, across[1] * over, across[2] * over, w * over), q)


@njit(cache=True)  # type: ignore[untyped-decorator]
def blended(turns: Floats, first: int, weights: Floats, begin: int, count: int) -> Any:
    """Successive quaternions summed with ``weights[begin : begin + count]``, brought to unit length."""
    x, y, z, w = 0.0, 0.0, 0.0, 0.0
    for k in range(count):
        part, n = weights[begin + k], first + k
        x += part * turns[n, 0]
        y += part * turns[n, 1]
        z += part * turns[n, 2]
        w += part * turns[n, 3]
    over = 1.0 / np.sqrt(x * x + y * y + z * z + w * w)
    return x * over, y * over, z * over, w * over


@njit(forceinline=True)  # type: ignore[untyped-decorator]
def between(a: Any, b: Any, t: float) -> Any:
    """The rotation a share t of the way from a to b, the short way; straight, then to unit length."""
    second = t if four_dot(a, b) >= 0.0 else -t
    first = 1.0 - t
    x, y = first * a[0] + second * b[0], first * a[1] + second * b[1]
    z, w = first * a[2] + second * b[2], first * a[3] + second * b[3]
    over = 1.0 / np.sqrt(x * x + y * y + z * z + w * w)
    return x * over, y * over, z * over, w * over
