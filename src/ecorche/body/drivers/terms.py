"""The products of which a driver's polynomial is a sum.

A joint's turn since bind is a unit quaternion with w ≥ 0; its x, y and z are three numbers. With n driving
joints there are 3n of them, numbered joint after joint. The terms are all products of up to three numbers of
one joint, and of two numbers of two joints: what a muscle does depends on each joint in a curved way, and on
pairs of joints in a simpler one. There is no constant term, so at bind every driver gives exactly zero.
"""

from __future__ import annotations

from itertools import combinations, combinations_with_replacement, product

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

DEGREE = 3
"""Of the products of one joint's numbers."""


def terms(joints: int) -> list[tuple[int, ...]]:
    """The numbers that are multiplied in each term, of so many driving joints."""
    found: list[tuple[int, ...]] = []
    for joint in range(joints):
        own = range(3 * joint, 3 * joint + 3)
        for degree in range(1, DEGREE + 1):
            found += combinations_with_replacement(own, degree)
    for one, other in combinations(range(joints), 2):
        found += product(range(3 * one, 3 * one + 3), range(3 * other, 3 * other + 3))
    return found


def products(numbers: Floats, wanted: list[tuple[int, ...]]) -> Floats:
    """The terms (..., terms) of numbers (..., 3n)."""
    return np.stack([np.prod(numbers[..., list(term)], axis=-1) for term in wanted], axis=-1)
