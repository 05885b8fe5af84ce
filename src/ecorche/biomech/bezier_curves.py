"""Smooth curves through corners, of quintic Bézier pieces: the curves of muscles and tendons.

Millard and others (2013, J. Biomech. Eng. 135:021005) draw the curves of a muscle as pieces that meet with
the same value and slope. A piece runs from one straight line to another, and its inner control points, two
and two in one place, lie on these lines, a share of the way to the corner where they cross. The share is
0.1 + 0.8 times the curviness from 0 to 1. The ends go on as straight lines.

A piece gives x and y as functions of its own parameter, and x grows with it: to find y at an x, the parameter
is found by Newton's method inside a bracket.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from numba import njit

from ecorche.errors import EcorcheError

Floats = npt.NDArray[np.float64]
Knot = tuple[float, float, float]
"""A place the curve runs through, with its slope there: x, y, dy/dx."""


@dataclass(frozen=True, eq=False)
class BezierCurve:
    """A smooth curve y(x) with straight ends.

    Attributes:
        points: Control points of the pieces from left to right, (pieces, 2, 6): x, then y.
        slopes: Of the straight ends, left and right.
    """

    points: Floats
    slopes: tuple[float, float]

    def value(self, x: npt.ArrayLike) -> Floats:
        """Heights y of the curve at x, of any shape."""
        return np.asarray(self._both(x)[0])

    def slope(self, x: npt.ArrayLike) -> Floats:
        """Slopes dy/dx of the curve at x, of any shape."""
        return np.asarray(self._both(x)[1])

    def _both(self, x: npt.ArrayLike) -> Floats:
        at = np.asarray(x, np.float64)
        result = np.empty((2, at.size))
        _evaluate(self.points, self.slopes[0], self.slopes[1], np.ascontiguousarray(at).reshape(-1), result)
        return result.reshape(2, *at.shape)


def through(*knots: Knot, curviness: float | tuple[float, ...]) -> BezierCurve:
    """The curve through knots from left to right, straight beyond the first and the last.

    Args:
        knots: x, y and slope of each.
        curviness: 0 for gentle to 1 for sharp corners, for all pieces or one a piece.
    """
    count = len(knots) - 1
    shares = (curviness,) * count if isinstance(curviness, float) else curviness
    pieces = [_corner(knots[k], knots[k + 1], 0.1 + 0.8 * shares[k]) for k in range(count)]
    return BezierCurve(np.array(pieces), (knots[0][2], knots[-1][2]))


def _corner(first: Knot, last: Knot, share: float) -> Floats:
    """Control points (2, 6) of a piece between two straight lines."""
    (x0, y0, slope0), (x1, y1, slope1) = first, last
    parallel = abs(slope0 - slope1) < 1e-8
    x = 0.5 * (x0 + x1) if parallel else (y1 - y0 - x1 * slope1 + x0 * slope0) / (slope0 - slope1)
    if not x0 <= x <= x1:
        raise EcorcheError(
            f"their straight lines cross at x = {x:.4g}, not between {x0:g} and {x1:g}",
            where="knots of a smooth curve",
            remedy="Change a slope or a height so that a corner lies between them",
        )
    y = (x - x1) * slope1 + y1
    a, b = (x0 + share * (x - x0), y0 + share * (y - y0)), (x1 + share * (x - x1), y1 + share * (y - y1))
    return np.array([[x0, a[0], a[0], b[0], b[0], x1], [y0, a[1], a[1], b[1], b[1], y1]])


@njit(cache=True, error_model="numpy")  # type: ignore[untyped-decorator]
def _quintic(points: Floats, u: float) -> tuple[float, float]:
    """Value and derivative at the parameter u of a quintic with control points (6,)."""
    v = 1.0 - u
    p0, p1, p2, p3, p4, p5 = points[0], points[1], points[2], points[3], points[4], points[5]
    value = v**5 * p0 + 5 * v**4 * u * p1 + 10 * v**3 * u**2 * p2
    value += 10 * v**2 * u**3 * p3 + 5 * v * u**4 * p4 + u**5 * p5
    slope = v**4 * (p1 - p0) + 4 * v**3 * u * (p2 - p1) + 6 * v**2 * u**2 * (p3 - p2)
    slope += 4 * v * u**3 * (p4 - p3) + u**4 * (p5 - p4)
    return value, 5.0 * slope


@njit(cache=True, error_model="numpy")  # type: ignore[untyped-decorator]
def _evaluate(points: Floats, left: float, right: float, at: Floats, result: Floats) -> None:
    """Value and slope (2, n) at places (n,); what is no number gives no number."""
    first, last = points[0, :, 0], points[-1, :, 5]
    for n in range(len(at)):
        x = at[n]
        if not x > first[0]:
            result[0, n], result[1, n] = first[1] + left * (x - first[0]), left
        elif x >= last[0]:
            result[0, n], result[1, n] = last[1] + right * (x - last[0]), right
        else:
            piece = 0
            while x > points[piece, 0, 5]:
                piece += 1
            low, high = 0.0, 1.0
            u = (x - points[piece, 0, 0]) / (points[piece, 0, 5] - points[piece, 0, 0])
            run = 1.0
            for _ in range(60):
                found, run = _quintic(points[piece, 0], u)
                if found < x:
                    low = u
                else:
                    high = u
                after = u - (found - x) / run if run > 0.0 else 0.5 * (low + high)
                if not low < after < high:
                    after = 0.5 * (low + high)
                done = abs(after - u) < 1e-15
                u = after
                if done:
                    break
            _, run = _quintic(points[piece, 0], u)
            y, rise = _quintic(points[piece, 1], u)
            result[0, n], result[1, n] = y, rise / run
