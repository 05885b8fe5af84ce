"""Springs in the order in which sixteen points at a time gather from their neighbours.

Sliced ELL: points are put in order along a curve through space, so that neighbours lie near each other in
memory, and within windows of 256 by how many springs they have; each sixteen of them have as many rows of
sixteen springs as the one with most. What is left over in a row is a spring of no stiffness to oneself.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit, prange

from ecorche.base.lanes import WIDTH, rows_of_lanes
from ecorche.dynamics.springs import Springs

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Singles = npt.NDArray[np.float32]

WINDOW = 256
"""Points are sorted by their number of springs within so many."""
_CELLS = 1024
"""So finely space is divided for the order along the curve, in each direction."""


class SpringLayout:
    """The springs of `Springs` as lanes.

    Args:
        springs: The springs.
        places: Of the points at bind [m], (N, 3): only their order follows from it.

    Attributes:
        order: The point in each lane, those of the last group that are empty left out, (N,).
        groups: How many sixteens there are.
        starts: First row of each group, (groups + 1,).
        others: The lane of the other end, (rows, 16).
        stiffness, damping: [N/m] and [N s/m], (rows, 16).
        filled: Share of the rows that are springs.
    """

    def __init__(self, springs: Springs, places: Floats) -> None:
        starts, others, numbers = springs.ends
        count = springs.point_count
        degree = np.diff(starts)
        order = along_a_curve(places)
        for first in range(0, count, WINDOW):
            part = order[first : first + WINDOW]
            order[first : first + WINDOW] = part[np.argsort(-degree[part], kind="stable")]
        self.order = order
        lane_of = np.empty(count, np.int64)
        lane_of[order] = np.arange(count)
        self.groups = -(-count // WIDTH)
        padded = np.zeros(self.groups * WIDTH, np.int64)
        padded[:count] = degree[order]
        deepest = padded.reshape(-1, WIDTH).max(axis=1)
        self.starts = np.concatenate([[0], np.cumsum(deepest)]).astype(np.int64)
        rows = int(self.starts[-1])
        group_of_row = np.repeat(np.arange(self.groups), deepest)
        self.others = np.ascontiguousarray(
            (group_of_row[:, None] * WIDTH + np.arange(WIDTH)).astype(np.int32)
        )
        self.stiffness, self.damping = rows_of_lanes((rows,)), rows_of_lanes((rows,))
        at = np.repeat(np.arange(count), degree)
        lane = lane_of[at]
        row = self.starts[lane // WIDTH] + (np.arange(len(at)) - starts[at])
        self.others[row, lane % WIDTH] = lane_of[others]
        self.stiffness[row, lane % WIDTH] = springs.stiffness[numbers]
        self.damping[row, lane % WIDTH] = springs.damping[numbers]
        self.filled = len(at) / max(1, rows * WIDTH)

    def lanes(self, values: npt.ArrayLike) -> Singles:
        """Values a point (N,) or (K, N) as lanes, (groups, 16) or (groups, K, 16)."""
        given = np.asarray(values, np.float64)
        result = self.rows(given.reshape(-1, given.shape[-1], 1))
        return result[:, 0] if given.ndim == 1 else result

    def rows(self, tables: Floats) -> Singles:
        """Tables of values, a row a point (P, N, K), side by side as lanes, (groups, P K, 16)."""
        result = rows_of_lanes((self.groups, tables.shape[0] * tables.shape[2]))
        _fill(np.ascontiguousarray(tables), self.order, result)
        return result

    def tables(self, lanes: Singles) -> Floats:
        """What lanes (groups, 3 P, 16) hold, as tables with a row a point, (P, N, 3)."""
        result = np.empty((lanes.shape[1] // 3, len(self.order), 3))
        _read(lanes, self.order, result)
        return result


# in one call each: to wake a thread takes as long as to fill the lanes of some thousand points
@njit(cache=True, parallel=True)  # type: ignore[untyped-decorator]
def _fill(tables: Floats, order: Ints, lanes: Singles) -> None:
    width = tables.shape[2]
    for group in prange(len(lanes)):
        for lane in range(WIDTH):
            at = group * WIDTH + lane
            for row in range(lanes.shape[1]):
                value = tables[row // width, order[at], row % width] if at < len(order) else 0.0
                lanes[group, row, lane] = value


@njit(cache=True, parallel=True)  # type: ignore[untyped-decorator]
def _read(lanes: Singles, order: Ints, tables: Floats) -> None:
    for group in prange(len(lanes)):
        for at in range(group * WIDTH, min((group + 1) * WIDTH, len(order))):
            for row in range(lanes.shape[1]):
                tables[row // 3, order[at], row % 3] = lanes[group, row, at - group * WIDTH]


def along_a_curve(places: Floats) -> Ints:
    """The order of points (N, 3) along a curve that fills space (Morton's), (N,)."""
    low, high = places.min(axis=0), places.max(axis=0)
    cell = ((places - low) / np.maximum((high - low).max(), 1e-12) * (_CELLS - 1)).astype(np.int64)
    key = np.zeros(len(places), np.int64)
    for bit in range(_CELLS.bit_length() - 1):
        for axis in range(3):
            key |= ((cell[:, axis] >> bit) & 1) << (3 * bit + axis)
    return np.argsort(key, kind="stable")
