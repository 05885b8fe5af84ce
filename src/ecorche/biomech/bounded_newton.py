"""The least of a sum of squares between bounds, by its normal equations.

Levenberg and Marquardt's damped Gauss-Newton steps; unknowns that a bound holds stay there until the slope
leads them back in. A few dozen unknowns of thousands of residuals are a small system however many residuals
there are, which is what makes this faster than an optimiser that decomposes the whole Jacobian every step.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

FIRST_DAMPING, MOST_DAMPING = 1e-3, 1e12
LEAST_CURVATURE = 1e-12
"""Of an unknown that nothing tells of, as a share of the greatest: its damping is never none."""


class Normal(NamedTuple):
    """A cost where it stands.

    Attributes:
        cost: Half the sum of squares, or of what they count.
        gradient: By U unknowns, (U,).
        curvature: Gauss and Newton's second derivatives, (U, U), no eigenvalue negative.
    """

    cost: float
    gradient: Floats
    curvature: Floats


class Least(NamedTuple):
    """Where a search ended.

    Attributes:
        unknowns: (U,). cost: There. steps: Costs that were asked for.
        settled: Whether it came to rest before the steps ran out.
    """

    unknowns: Floats
    cost: float
    steps: int
    settled: bool


def least(
    cost: Callable[[Floats], float],
    normal: Callable[[Floats], Normal],
    start: Floats,
    bounds: tuple[Floats, Floats],
    scale: Floats,
    *,
    tolerance: float,
    most_steps: int,
) -> Least:
    """Search for the least cost.

    Args:
        cost: Of unknowns (U,).
        normal: The same with derivatives.
        start: Where the search begins; brought between the bounds.
        bounds: Lowest and highest, (U,) each.
        scale: By how much unknowns change about, (U,).
        tolerance: It has come to rest when a good step lowers the cost by a smaller share.
        most_steps: Costs that are asked for at most.
    """
    low, high = bounds
    x = np.clip(start, low, high)
    here, damping, growth, steps = normal(x), FIRST_DAMPING, 2.0, 1
    while steps < most_steps and damping < MOST_DAMPING:
        free = ~(((x <= low) & (here.gradient > 0.0)) | ((x >= high) & (here.gradient < 0.0)))
        if not free.any():
            return Least(x, here.cost, steps, True)
        # in units of the scale, so that metres and plain numbers are damped alike
        matrix = here.curvature[np.ix_(free, free)] * np.outer(scale[free], scale[free])
        diagonal = np.diag(matrix)
        damped = matrix + np.diag(damping * np.maximum(diagonal, LEAST_CURVATURE * diagonal.max() + 1e-300))
        move = np.zeros_like(x)
        move[free] = -scale[free] * np.linalg.solve(damped, scale[free] * here.gradient[free])
        moved = np.clip(x + move, low, high)
        step = moved - x
        promised = -float(here.gradient @ step + 0.5 * step @ here.curvature @ step)
        there, steps = cost(moved), steps + 1
        gained = here.cost - there
        if gained > 0.0 and promised > 0.0:
            share, good = gained / max(here.cost, 1e-300), gained / promised
            x, here = moved, normal(moved)
            damping, growth = damping * max(1.0 / 3.0, 1.0 - (2.0 * good - 1.0) ** 3), 2.0
            if share < tolerance and good > 0.25:
                return Least(x, here.cost, steps, True)
        else:
            if np.abs(step / scale).max() < 1e-9:
                return Least(x, here.cost, steps, True)
            damping, growth = damping * growth, 2.0 * growth
    return Least(x, here.cost, steps, damping >= MOST_DAMPING)
