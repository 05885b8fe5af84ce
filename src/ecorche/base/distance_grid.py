"""How deep a point lies in a solid, read off a grid: some multiplications where a search takes microseconds.

Depths are found exactly at the nodes of a grid round the solid and interpolated between them. Nodes too far
outside to matter are not asked for: no depth changes faster than one moves, so a coarse grid tells where a
finer one is worth it, and there a bound stands, which is outside too.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from numba import njit

from ecorche.base.signed_pieces import SignedPieces

Floats = npt.NDArray[np.float64]
Singles = npt.NDArray[np.float32]

COARSEST = 8
"""Nodes from one to the next in the first round."""
OUTSIDE = -1.0
"""Told as the depth outside of a grid [m]."""
MOST = 4_000_000
"""Nodes at most, about: cells of a larger solid are larger."""
ACROSS = 6.0
"""Cells over the thinnest extent of a small solid, at least."""


@dataclass(frozen=True, eq=False, repr=False)
class DistanceGrid:
    """Depths in one solid.

    Attributes:
        low: Where the first node is [m], (3,).
        spacing: From node to node [m].
        values: Depths at the nodes [m], negative outside, (nx, ny, nz), float32; exact in every cell that
            holds a place inside.
    """

    low: Floats
    spacing: float
    values: Singles

    def __repr__(self) -> str:
        return f"DistanceGrid({'×'.join(map(str, self.values.shape))})"

    @property
    def high(self) -> Floats:
        """Where the last node is [m], (3,)."""
        return np.asarray(self.low + self.spacing * (np.array(self.values.shape) - 1))


def distance_grid(points: npt.ArrayLike, triangles: npt.ArrayLike, spacing: float) -> DistanceGrid:
    """A grid round a solid: points [m] (vertices, 3), triangles (triangles, 3), the size of cells [m]."""
    places = np.asarray(points, np.float64)
    solid = SignedPieces(places, triangles)
    sign = -1.0 if solid.inside_out else 1.0
    extent = np.ptp(places, axis=0)
    spacing = min(spacing, float(extent.max()) / ACROSS, max(float(extent.min()) / ACROSS, 0.2 * spacing))
    spacing = max(spacing, float(np.prod(extent + 2.0 * spacing) / MOST) ** (1.0 / 3.0))
    low = places.min(axis=0) - spacing
    count = np.ceil((places.max(axis=0) + spacing - low) / spacing).astype(int) + 1
    bound = np.full(count, np.inf)
    known = np.zeros(count, bool)
    step = COARSEST
    while step:
        every = (slice(None, None, step),) * 3
        # a cell with a place inside has no node further out than its diagonal
        asked = np.argwhere((bound[every] > -1.75 * spacing) & ~known[every]) * step
        if len(asked):
            at = tuple(asked.T)
            bound[at], known[at] = sign * solid.depth(low + spacing * asked)[0], True
        if step > 1:
            np.minimum(bound, _beside(bound[every], step, spacing, count), out=bound, where=~known)
        step //= 2
    return DistanceGrid(low, spacing, bound.astype(np.float32))


def _beside(coarse: Floats, step: int, spacing: float, count: npt.NDArray[np.int64]) -> Floats:
    """What depths at every ``step``-th node allow at all nodes at most [m], (nx, ny, nz)."""
    axes = [np.arange(n) for n in count]
    nearest = [np.minimum((a + step // 2) // step, n - 1) for a, n in zip(axes, coarse.shape, strict=True)]
    x, y, z = (spacing * (a - step * n) for a, n in zip(axes, nearest, strict=True))
    far = np.sqrt(x[:, None, None] ** 2 + y[None, :, None] ** 2 + z[None, None, :] ** 2)
    return np.asarray(coarse[np.ix_(*nearest)] + far)


@njit(inline="always")  # type: ignore[untyped-decorator]
def depth_in_grid(
    values: Singles, first: int, nx: int, ny: int, nz: int, x: float, y: float, z: float
) -> tuple[float, float, float, float]:
    """Depth [m] at a place given in cells from the first node, and its slopes [m a cell].

    Outside of the grid it is `OUTSIDE`, without slopes.

    Args:
        values: Nodes of many grids, one after another, (n,).
        first: Where this grid's begin.
        nx, ny, nz: How many nodes it has.
        x, y, z: The place.
    """
    if not (x >= 0.0 and y >= 0.0 and z >= 0.0 and x < nx - 1 and y < ny - 1 and z < nz - 1):
        return OUTSIDE, 0.0, 0.0, 0.0
    i, j, k = int(x), int(y), int(z)
    u, v, w = x - i, y - j, z - k
    a = first + (i * ny + j) * nz + k
    b, c = a + nz, a + ny * nz
    d = c + nz
    low_low, low_high = (
        values[a] + w * (values[a + 1] - values[a]),
        values[b] + w * (values[b + 1] - values[b]),
    )
    high_low, high_high = (
        values[c] + w * (values[c + 1] - values[c]),
        values[d] + w * (values[d + 1] - values[d]),
    )
    low, high = low_low + v * (low_high - low_low), high_low + v * (high_high - high_low)
    by_y = (1.0 - u) * (low_high - low_low) + u * (high_high - high_low)
    by_z = (1.0 - u) * ((1.0 - v) * (values[a + 1] - values[a]) + v * (values[b + 1] - values[b])) + u * (
        (1.0 - v) * (values[c + 1] - values[c]) + v * (values[d + 1] - values[d])
    )
    return low + u * (high - low), high - low, by_y, by_z
