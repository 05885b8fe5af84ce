"""How far the skin of a limb is from its bone, by direction: which of two halves that fold comes in further.

Told by a short Fourier series of the angle round the bone, so that it changes smoothly with the direction in
which a joint bends.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit

from ecorche.base.rotations import normalise

Floats = npt.NDArray[np.float64]

ORDER = 2
"""Of the series: a section may be off its bone, and flat."""
_LEAST = 0.25
"""Of the mean: no direction is said to be thinner."""
# columns: two directions across the bone, the least thickness, the mean, and of each order cosine and sine
_ACROSS, _ASIDE, _THINNEST, _MEAN, _WAVES = 0, 3, 6, 7, 8
COLUMNS = _WAVES + 2 * ORDER


def thickness_round(points: npt.ArrayLike, head: Floats, axis: Floats, weights: npt.ArrayLike) -> Floats:
    """Thickness of a limb round a line from ``head`` along ``axis``, unit, as `thickness_towards` reads it.

    Args:
        points: Its skin at bind [m], (n, 3).
        head, axis: Of its bone at bind, (3,) each.
        weights: How much each point counts, (n,).
    """
    away = np.asarray(points, np.float64) - head
    away = away - (away @ axis)[:, None] * axis
    across = normalise(np.cross(axis, np.eye(3)[np.argmin(np.abs(axis))]))
    aside = np.cross(axis, across)
    angle = np.arctan2(away @ aside, away @ across)
    orders = np.arange(1, ORDER + 1)
    waves = np.stack([np.cos(angle[:, None] * orders), np.sin(angle[:, None] * orders)], axis=-1)
    columns = np.column_stack([np.ones(len(away)), waves.reshape(len(away), -1)])
    root = np.sqrt(np.asarray(weights, np.float64))[:, None]
    far = np.linalg.norm(away, axis=1)[:, None]
    found = np.linalg.lstsq(columns * root, far * root, rcond=None)[0].ravel()
    return np.concatenate([across, aside, [_LEAST * found[0]], found])


@njit(cache=True)  # type: ignore[untyped-decorator]
def thickness_towards(told: Floats, direction: Floats) -> float:
    """Thickness [m] in a direction at bind (3,), of what `thickness_round` has told."""
    x, y = 0.0, 0.0
    for axis in range(3):
        x += direction[axis] * told[_ACROSS + axis]
        y += direction[axis] * told[_ASIDE + axis]
    angle = np.arctan2(y, x)
    found = told[_MEAN]
    for order in range(ORDER):
        found += told[_WAVES + 2 * order] * np.cos((order + 1) * angle)
        found += told[_WAVES + 2 * order + 1] * np.sin((order + 1) * angle)
    return float(max(found, told[_THINNEST]))
