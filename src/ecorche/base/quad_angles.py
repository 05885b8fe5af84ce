"""Angles of four things side by side, in `quads`: sine and cosine, and the angle of a direction.

A compiled call of the C library's functions takes longer than all else that a muscle's path asks for. These
are polynomials without a branch, within 5e-16 of the truth for angles of some turns. Of eight float32 side by
side they are shorter by half, and within 4e-7.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit
from numba.extending import overload

from ecorche.base.quads import Octet, like, nearest_whole, where_above

_HALF_TURNS = 1.0 / np.pi
# π in two parts: a few times the first is exact
_PI_FIRST, _PI_REST = 3.1415926553308964, -1.7411031391008332e-09
TAN_EIGHTH = np.sqrt(2.0) - 1.0
# coefficients of the series of float32, by rising powers; by Chebyshev's nodes
SINGLE_SINE = -0.1666666596382119, 0.008333242135096973, -0.00019822739488633304, 2.6347563918170823e-06
"""1.8e-8 off at most."""
SINGLE_COSINE = (
    -0.4999999996395301,
    0.04166665936002458,
    -0.0013888651647254934,
    2.4774579744780367e-05,
    -2.6297517407992095e-07,
)
"""1e-9 off at most."""
SINGLE_ANGLE = (
    -0.33333331761168516,
    0.1999954048364841,
    -0.14263955597971545,
    0.10743731490688224,
    -0.0645192820786063,
)
"""2.4e-9 off at most."""


def _sine_series(z: Any) -> Any:
    """``(sin √z / √z − 1) / z`` up to 90°."""
    raise NotImplementedError("compiled code only")


def _cosine_series(z: Any) -> Any:
    """``(cos √z − 1) / z`` up to 90°."""
    raise NotImplementedError("compiled code only")


def _angle_series(z: Any) -> Any:
    """``(atan √z / √z − 1) / z`` up to an eighth of a turn's half."""
    raise NotImplementedError("compiled code only")


@overload(_sine_series, forceinline=True)  # type: ignore[untyped-decorator]
def _choose_sine_series(z: Any) -> Callable[[Any], Any]:
    def double(z: Any) -> Any:
        # Taylor's series up to x²¹ / 21!
        s = z * (1.0 / 51090942171709440000.0) - 1.0 / 121645100408832000.0
        s = z * (z * (z * s + 1.0 / 355687428096000.0) - 1.0 / 1307674368000.0) + 1.0 / 6227020800.0
        s = z * (z * (z * s - 1.0 / 39916800.0) + 1.0 / 362880.0) - 1.0 / 5040.0
        return z * (z * s + 1.0 / 120.0) - 1.0 / 6.0

    def single(z: Any) -> Any:
        s = z * SINGLE_SINE[3] + SINGLE_SINE[2]
        return z * (z * s + SINGLE_SINE[1]) + SINGLE_SINE[0]

    return single if z is Octet else double


@overload(_cosine_series, forceinline=True)  # type: ignore[untyped-decorator]
def _choose_cosine_series(z: Any) -> Callable[[Any], Any]:
    def double(z: Any) -> Any:
        # Taylor's series up to x²² / 22!, which is below half a unit in the last place at 90°
        c = z * (-1.0 / 1124000727777607680000.0) + 1.0 / 2432902008176640000.0
        c = z * (z * (z * c - 1.0 / 6402373705728000.0) + 1.0 / 20922789888000.0) - 1.0 / 87178291200.0
        c = z * (z * (z * c + 1.0 / 479001600.0) - 1.0 / 3628800.0) + 1.0 / 40320.0
        return z * (z * (z * c - 1.0 / 720.0) + 1.0 / 24.0) - 0.5

    def single(z: Any) -> Any:
        c = z * SINGLE_COSINE[4] + SINGLE_COSINE[3]
        return z * (z * (z * c + SINGLE_COSINE[2]) + SINGLE_COSINE[1]) + SINGLE_COSINE[0]

    return single if z is Octet else double


@overload(_angle_series, forceinline=True)  # type: ignore[untyped-decorator]
def _choose_angle_series(z: Any) -> Callable[[Any], Any]:
    def double(z: Any) -> Any:
        # by Chebyshev's nodes: 1.3e-18 off at most
        p = z * -0.01779039552353025 + 0.03795171422316673
        p = z * (z * (z * p - 0.05034575594529408) + 0.05846762740057589) - 0.06662936116136707
        p = z * (z * (z * p + 0.07692043965002665) - 0.09090896732978791) + 0.11111110742286896
        return z * (z * (z * p - 0.14285714279197312) + 0.1999999999994035) - 0.3333333333333312

    def single(z: Any) -> Any:
        p = z * SINGLE_ANGLE[4] + SINGLE_ANGLE[3]
        return z * (z * (z * p + SINGLE_ANGLE[2]) + SINGLE_ANGLE[1]) + SINGLE_ANGLE[0]

    return single if z is Octet else double


@njit(forceinline=True)  # type: ignore[untyped-decorator]
def sine_cosine(angle: Any) -> Any:
    """Sine and cosine of four angles [rad]."""
    half_turns = nearest_whole(angle * _HALF_TURNS)
    x = (angle - half_turns * _PI_FIRST) - half_turns * _PI_REST
    odd = half_turns - 2.0 * nearest_whole(0.5 * half_turns)
    sign = 1.0 - 2.0 * (odd * odd)
    z = x * x
    return sign * (x + x * (z * _sine_series(z))), sign * (1.0 + z * _cosine_series(z))


@njit(forceinline=True)  # type: ignore[untyped-decorator]
def angle_of(y: Any, x: Any) -> Any:
    """Angles [rad] of four directions ``(x, y)`` from the first axis, −π to π; 0 where there is none."""
    zero = like(x, 0.0)
    high, wide = where_above(y, zero, y, zero - y), where_above(x, zero, x, zero - x)
    less, more = where_above(high, wide, wide, high), where_above(high, wide, high, wide)
    # within an eighth of a turn of the nearer axis; beyond half of that, from 45°
    bound = TAN_EIGHTH * more
    over = where_above(less, bound, less - more, less)
    under = where_above(less, bound, less + more, more)
    # no direction at all has the angle zero
    t = over / where_above(under, zero, under, like(x, 1.0))
    z = t * t
    angle = t + t * (z * _angle_series(z))
    angle = where_above(less, bound, 0.25 * np.pi + angle, angle)
    angle = where_above(high, wide, 0.5 * np.pi - angle, angle)
    angle = where_above(zero, x, np.pi - angle, angle)
    return where_above(zero, y, zero - angle, angle)
