"""Functions of one or several coordinates, as OpenSim files write them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from xml.etree.ElementTree import Element

import numpy as np
import numpy.typing as npt

from ecorche.errors import ReadError
from ecorche.io.osim.elements import child, numbers

Floats = npt.NDArray[np.float64]
Function = Callable[[Sequence[float]], float]
"""Takes the values of the coordinates it depends on, in order."""


@dataclass(frozen=True)
class Constant:
    """The same everywhere."""

    value: float

    def __call__(self, _: Sequence[float]) -> float:
        """The value, whatever the coordinates are."""
        return self.value


@dataclass(frozen=True)
class Linear:
    """A factor for each coordinate, and a number added."""

    coefficients: tuple[float, ...]

    def __call__(self, at: Sequence[float]) -> float:
        """The value at coordinates."""
        *factors, rest = self.coefficients
        return sum(f * x for f, x in zip(factors, at, strict=True)) + rest


@dataclass(frozen=True)
class Polynomial:
    """Of one coordinate, the highest power first."""

    coefficients: tuple[float, ...]

    def __call__(self, at: Sequence[float]) -> float:
        """The value at a coordinate."""
        (x,) = at
        total = 0.0
        for c in self.coefficients:
            total = total * x + c
        return total


@dataclass(frozen=True)
class Scaled:
    """Another function times a number."""

    function: Function
    scale: float

    def __call__(self, at: Sequence[float]) -> float:
        """The value at coordinates."""
        return self.scale * self.function(at)


@dataclass(frozen=True, eq=False)
class PiecewiseLinear:
    """Straight between points, and on beyond the first and last."""

    x: Floats
    y: Floats

    def __call__(self, at: Sequence[float]) -> float:
        """The value at a coordinate."""
        (x,) = at
        k = int(np.clip(np.searchsorted(self.x, x) - 1, 0, len(self.x) - 2))
        return float(self.y[k] + (self.y[k + 1] - self.y[k]) / (self.x[k + 1] - self.x[k]) * (x - self.x[k]))


@dataclass(frozen=True, eq=False)
class SimmSpline:
    """A cubic spline, straight beyond its ends.

    At either end its third derivative is that of the cubic through the four outermost points, as in Forsythe,
    Malcolm and Moler (1977), whose spline SIMM and OpenSim took over.
    """

    x: Floats
    y: Floats

    @cached_property
    def _curvature(self) -> Floats:
        """Second derivative at the points, (n,)."""
        x, y, n = self.x, self.y, len(self.x)
        if n < 3:
            return np.zeros(n)
        h, slope = np.diff(x), np.diff(y) / np.diff(x)
        matrix, right = np.zeros((n, n)), np.zeros(n)
        for k in range(1, n - 1):
            matrix[k, k - 1 : k + 2] = h[k - 1], 2.0 * (h[k - 1] + h[k]), h[k]
            right[k] = 6.0 * (slope[k] - slope[k - 1])
        matrix[0, :2] = matrix[-1, -2:] = -1.0, 1.0
        if n > 3:
            second = np.diff(slope) / (x[2:] - x[:-2])
            third = 6.0 * np.diff(second) / (x[3:] - x[:-3])
            right[0], right[-1] = third[0] * h[0], third[-1] * h[-1]
        return np.asarray(np.linalg.solve(matrix, right), np.float64)

    def __call__(self, at: Sequence[float]) -> float:
        """The value at a coordinate."""
        (x,) = at
        inside = float(np.clip(x, self.x[0], self.x[-1]))
        k = int(np.clip(np.searchsorted(self.x, inside) - 1, 0, len(self.x) - 2))
        h, c = self.x[k + 1] - self.x[k], self._curvature
        rise = (self.y[k + 1] - self.y[k]) / h
        start = rise - h * (2.0 * c[k] + c[k + 1]) / 6.0
        bend = (c[k + 1] - c[k]) / h
        t = inside - self.x[k]
        value = self.y[k] + t * (start + t * (0.5 * c[k] + t * bend / 6.0))
        end = start + t * (c[k] + 0.5 * t * bend)
        return float(value + end * (x - inside))


def read_function(parent: Element, where: str) -> Function:
    """The one function among an element's children."""
    for element in parent:
        reader = _READERS.get(element.tag)
        if reader is not None:
            return reader(element, where)
    found = ", ".join(e.tag for e in parent) or "nothing"
    raise ReadError(
        f"no function that can be read, but {found}", where=where, remedy=f"Use one of {', '.join(_READERS)}"
    )


def _scaled(element: Element, where: str) -> Function:
    inner = child(element, "function", where)
    return Scaled(read_function(inner, where), numbers(element, "scale", where, 1)[0])


def _points(element: Element, where: str) -> tuple[Floats, Floats]:
    x, y = (np.array(numbers(element, axis, where)) for axis in ("x", "y"))
    if len(x) != len(y) or len(x) < 2 or not (np.diff(x) > 0.0).all():
        raise ReadError(
            f"{len(x)} values of x and {len(y)} of y make no curve",
            where=where,
            remedy="Give as many of each, two or more, with x rising",
        )
    return x, y


_READERS: dict[str, Callable[[Element, str], Function]] = {
    "Constant": lambda e, w: Constant(numbers(e, "value", w, 1)[0]),
    "LinearFunction": lambda e, w: Linear(tuple(numbers(e, "coefficients", w))),
    "PolynomialFunction": lambda e, w: Polynomial(tuple(numbers(e, "coefficients", w))),
    "MultiplierFunction": _scaled,
    "PiecewiseLinearFunction": lambda e, w: PiecewiseLinear(*_points(e, w)),
    "SimmSpline": lambda e, w: SimmSpline(*_points(e, w)),
}
