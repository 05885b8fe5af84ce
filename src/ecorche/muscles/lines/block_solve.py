"""A symmetric matrix of 3 × 3 blocks, factorised and solved by the plan of `elimination`."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int32]


@njit(cache=True, error_model="numpy")  # type: ignore[untyped-decorator]
def factorise(update_starts: Ints, updates: Ints, first: int, diagonal: Floats, below: Floats) -> bool:
    """L D Lᵀ in place: ``diagonal`` (n, 3, 3) becomes its inverses; False unless positive definite.

    ``update_starts[first:]`` are the borders of each node's updates; ``below`` (blocks, 3, 3) has, for a
    node's later neighbour, that neighbour's row and the node's column.
    """
    for n in range(len(diagonal)):
        d = diagonal[n]
        a, b, c, e, f, g = d[0, 0], d[0, 1], d[0, 2], d[1, 1], d[1, 2], d[2, 2]
        minor = a * e - b * b
        xx, xy, xz = e * g - f * f, c * f - b * g, b * f - c * e
        volume = a * xx + b * xy + c * xz
        # positive, and not only by what rounding has left of it
        if not (a > 0.0 and minor > 1e-14 * a * e and volume > 1e-14 * minor * g):
            return False
        over = 1.0 / volume
        d[0, 0] = xx * over
        d[0, 1] = d[1, 0] = xy * over
        d[0, 2] = d[2, 0] = xz * over
        d[1, 1] = (a * g - c * c) * over
        d[1, 2] = d[2, 1] = (b * c - a * f) * over
        d[2, 2] = minor * over
        for u in range(update_starts[first + n], update_starts[first + n + 1]):
            early, late, target = below[updates[u, 0]], below[updates[u, 1]], updates[u, 2]
            into = diagonal[-1 - target] if target < 0 else below[target]
            for i in range(3):
                t0 = late[i, 0] * d[0, 0] + late[i, 1] * d[1, 0] + late[i, 2] * d[2, 0]
                t1 = late[i, 0] * d[0, 1] + late[i, 1] * d[1, 1] + late[i, 2] * d[2, 1]
                t2 = late[i, 0] * d[0, 2] + late[i, 1] * d[1, 2] + late[i, 2] * d[2, 2]
                for k in range(3):
                    into[i, k] -= t0 * early[k, 0] + t1 * early[k, 1] + t2 * early[k, 2]
    return True


@njit(cache=True)  # type: ignore[untyped-decorator]
def solve(
    columns: Ints, rows: Ints, first: int, inverse: Floats, below: Floats, sides: Floats, found: Floats
) -> None:
    """The factorised system for right sides (n, 3): into ``found`` (n, 3)."""
    base, count = columns[first], len(inverse)
    for n in range(count):
        for i in range(3):
            found[n, i] = sides[n, i]
    for n in range(count):
        d, x, y, z = inverse[n], found[n, 0], found[n, 1], found[n, 2]
        for i in range(3):
            found[n, i] = d[i, 0] * x + d[i, 1] * y + d[i, 2] * z
        x, y, z = found[n, 0], found[n, 1], found[n, 2]
        for s in range(columns[first + n], columns[first + n + 1]):
            block, row = below[s - base], rows[s]
            for i in range(3):
                found[row, i] -= block[i, 0] * x + block[i, 1] * y + block[i, 2] * z
    for n in range(count - 1, -1, -1):
        x, y, z = 0.0, 0.0, 0.0
        for s in range(columns[first + n], columns[first + n + 1]):
            block, row = below[s - base], rows[s]
            u, v, w = found[row, 0], found[row, 1], found[row, 2]
            x += block[0, 0] * u + block[1, 0] * v + block[2, 0] * w
            y += block[0, 1] * u + block[1, 1] * v + block[2, 1] * w
            z += block[0, 2] * u + block[1, 2] * v + block[2, 2] * w
        d = inverse[n]
        for i in range(3):
            found[n, i] -= d[i, 0] * x + d[i, 1] * y + d[i, 2] * z
