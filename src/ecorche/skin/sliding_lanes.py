"""What sliding does to lanes, whatever lies side by side in them: vertices (`sliding_groups`) or instances.

One arithmetic for both, number by number in the same order, so that both give the same bits.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from ecorche.base.lanes import beside, multiply_add, square_root, where_less
from ecorche.muscles.sections import ENDS, RIM

BRIDGED = 0.4
"""Inwards δ saturates at this part of what it does outwards: taut skin and fat bridge a hollow."""
THINNEST = 1e-12
"""Of sections [m]: the ends of a muscle are not divided by."""
SHORTEST = 1e-6
"""Of squared blended directions."""

_LOWEST, _HIGHEST = np.float32(-ENDS), np.float32(1.0 + ENDS)
_NEAR_START, _NEAR_END, _PARABOLA = np.float32(ENDS), np.float32(1.0 - ENDS), np.float32(0.25 / ENDS)
_BEYOND_RIM, _OVER_RIM, _ROOT_RIM = np.float32(3.0 * RIM), np.float32(0.25 / RIM), np.float32(np.sqrt(RIM))
_BRIDGED, _SOONER = np.float32(BRIDGED), np.float32(1.0 / BRIDGED)
_ZERO, _ONE, _MINUS_THIRD = np.float32(0.0), np.float32(1.0), np.float32(-1.0 / 3.0)


@njit(forceinline=True)  # type: ignore[untyped-decorator]
def least(a: Any, b: Any) -> Any:
    """The smaller number in each lane."""
    return where_less(a, b, a, b)


@njit(forceinline=True)  # type: ignore[untyped-decorator]
def most(a: Any, b: Any) -> Any:
    """The larger number in each lane."""
    return where_less(b, a, a, b)


@njit(forceinline=True)  # type: ignore[untyped-decorator]
def soft_clamp(t: Any) -> Any:
    """`sections.soft_clamp`: t held within 0 … 1, with a parabola at either end."""
    t = least(most(t, beside(_LOWEST, t)), beside(_HIGHEST, t))
    zero = beside(_ZERO, t)
    before, after = most(_NEAR_START - t, zero), most(t - _NEAR_END, zero)
    return multiply_add(before * before - after * after, beside(_PARABOLA, t), t)


@njit(forceinline=True)  # type: ignore[untyped-decorator]
def height(a: Any) -> Any:
    """Of a section at the side a, in half-axes: a root, and near the rim what it is faded to."""
    zero, one = beside(_ZERO, a), beside(_ONE, a)
    inside = multiply_add(-a, a, one)
    s = most(inside + _BEYOND_RIM, zero) * _OVER_RIM
    return where_less(s, one, s * s * _ROOT_RIM, square_root(most(inside, zero)))


@njit(forceinline=True)  # type: ignore[untyped-decorator]
def saturated(off: Any) -> Any:
    """δ in limits, held: outwards, where it is negative, up to one; inwards skin bridges a hollow sooner."""
    zero, one = beside(_ZERO, off), beside(_ONE, off)
    off = where_less(off, zero, most(off, beside(-_ONE, off)), least(off * _SOONER, one))
    cubic = multiply_add(off * off, off * _MINUS_THIRD, off)
    return where_less(off, zero, cubic, cubic * _BRIDGED)
