"""What closed surfaces through rings of points hold, and how much they dilate to hold as much as before.

The points of a surface are linear in its dilation κ, so the volume within is a cubic of κ, and κ is its root
next to zero. Compiled: the four κ that the cubic is told by are computed side by side (`quads`).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit

from ecorche.base.quads import WIDTH, quad, read_quad, write_quad
from ecorche.muscles.loft import THINNEST
from ecorche.muscles.triples import cross, dot, plus, read_vector

Floats = npt.NDArray[np.float64]

_TRIED = np.array([[-0.5, 0.0, 0.5, 1.0]])
_ITERATIONS = 30
MOST = 1.5
"""The greatest κ: flesh that a fold presses together further does not come out elsewhere."""


def volume_within(rings: Floats) -> Floats:
    """Of closed surfaces through rings (..., K, A, 3), with their middles at both ends [m³], (...).

    Further columns of the points do not count.
    """
    some, count = _flat(rings), rings.shape[-3]
    volumes = np.empty(len(some))
    _fill_volumes(some, count, volumes)
    return volumes.reshape(rings.shape[:-3])


def dilation_to(wanted: Floats, at_rest: Floats, by_dilation: Floats) -> Floats:
    """κ (...) with which rings ``at_rest + κ by_dilation`` (..., K, A, 3) hold so much [m³], (...)."""
    kappa = np.array(wanted, np.float64, ndmin=1).ravel()
    _fill_dilations(_flat(at_rest), _flat(by_dilation), at_rest.shape[-3], kappa)
    return kappa.reshape(np.shape(wanted))


def _flat(rings: Floats) -> Floats:
    """Rings (..., K, A, 3) as points of n surfaces, (n, K A, 3)."""
    *many, count, sides, columns = rings.shape
    return np.ascontiguousarray(rings, np.float64).reshape(math.prod(many), count * sides, columns)


@njit(cache=True)  # type: ignore[untyped-decorator]
def _fill_volumes(rings: Floats, count: int, volumes: Floats) -> None:
    sides = rings.shape[1] // count
    memory = np.empty((1 + 6 * sides, WIDTH))
    for i in range(len(rings)):
        tried_volumes(rings[i], rings[i], count, memory)
        volumes[i] = memory[0, 1]


@njit(cache=True)  # type: ignore[untyped-decorator]
def _fill_dilations(at_rest: Floats, by_dilation: Floats, count: int, kappa: Floats) -> None:
    sides = at_rest.shape[1] // count
    memory = np.empty((1 + 6 * sides, WIDTH))
    for i in range(len(at_rest)):
        tried_volumes(at_rest[i], by_dilation[i], count, memory)
        kappa[i] = dilation(memory, kappa[i])


@njit(cache=True)  # type: ignore[untyped-decorator]
def tried_volumes(at_rest: Floats, by_dilation: Floats, count: int, memory: Floats) -> None:
    """Volumes at the tried κ into the first quad of ``memory``, (1 + 6 A, 4), whose rest is for two rings.

    Points of ``count`` rings and what they change by as κ grows by one are both (K A, columns ≥ 3).
    """
    sides = len(at_rest) // count
    low, high = 1, 1 + 3 * sides
    _place(at_rest, by_dilation, 0, sides, memory, low)
    six = quad(0.0) - _cap(memory, low, sides)
    for ring in range(1, count):
        _place(at_rest, by_dilation, ring * sides, sides, memory, high)
        a, b = read_vector(memory, low), read_vector(memory, high)
        for side in range(sides):
            on = 3 * (side + 1) if side + 1 < sides else 0
            a_on, b_on = read_vector(memory, low + on), read_vector(memory, high + on)
            # of both triangles of a quadrilateral: a · (a_on × b_on) + a · (b_on × b)
            six = six + dot(a, cross(b_on, plus(b, -1.0, a_on)))
            a, b = a_on, b_on
        low, high = high, low
    write_quad(memory, 0, (six + _cap(memory, low, sides)) * (1.0 / 6.0))


@njit(inline="always")  # type: ignore[untyped-decorator]
def _place(at_rest: Floats, by_dilation: Floats, first: int, sides: int, memory: Floats, at: int) -> None:
    """Points of a ring at the tried κ; seen from the surface's first point, so that little cancels."""
    kappa = read_quad(_TRIED, 0)
    for side in range(sides):
        for k in range(3):
            here = at_rest[first + side, k] - at_rest[0, k]
            write_quad(memory, at + 3 * side + k, here + kappa * by_dilation[first + side, k])


@njit(inline="always")  # type: ignore[untyped-decorator]
def _cap(memory: Floats, at: int, sides: int) -> Any:
    """Six times the volume between the first point and a ring closed by its middle."""
    none = quad(0.0)
    middle, area = (none, none, none), (none, none, none)
    a = read_vector(memory, at)
    for side in range(sides):
        on = read_vector(memory, at + (3 * (side + 1) if side + 1 < sides else 0))
        middle, area = plus(middle, 1.0, a), plus(area, 1.0, cross(a, on))
        a = on
    return dot(middle, area) * (1.0 / sides)


@njit(cache=True)  # type: ignore[untyped-decorator]
def dilation(memory: Floats, wanted: float) -> float:
    """κ with which a surface holds so much [m³], of the volumes at the tried κ; in kernels."""
    constant = memory[0, 1] - wanted
    square = 2.0 * (memory[0, 0] + memory[0, 2] - 2.0 * memory[0, 1])
    at_one = memory[0, 3] - memory[0, 1] - square
    cube = (at_one - (memory[0, 2] - memory[0, 0])) * (4.0 / 3.0)
    slope = at_one - cube
    kappa = 0.0
    for _ in range(_ITERATIONS):
        steep = slope + kappa * (2.0 * square + kappa * 3.0 * cube)
        if not steep > 0.0:
            break
        missing = constant + kappa * (slope + kappa * (square + kappa * cube))
        better = min(max(kappa - missing / steep, THINNEST), MOST)
        if better == kappa:
            break
        kappa = better
    return kappa
