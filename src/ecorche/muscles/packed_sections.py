"""The muscles of one frame as the skin's kernel reads them: float32 rows, everything divided beforehand."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from ecorche.base.lanes import WIDTH

Floats = npt.NDArray[np.float64]
Reals = npt.NDArray[np.float32]

# columns of a muscle: of a straight one origin, along over the length, out, side; numbers, whether it sweeps
# outwards (1) or sideways too (2), the curves of `Sections.curves` (C_T, then the sweep along out and along
# side), one over the length
ORIGIN, ALONG, OUT, SIDE, BELLY, BULGE, HEIGHT, SWEPT, CURVES, OVER = 0, 3, 6, 9, 12, 13, 14, 15, 16, 37
COLUMNS = 48

# columns of a station of a bent line
STATION_POINT, STATION_ALONG, STATION_OUT, STATION_SIDE, STATION_T = 0, 3, 6, 9, 12
STATION_COLUMNS = WIDTH


class PackedSections(NamedTuple):
    """Attributes:
    table: A row a muscle, shape (M, COLUMNS).
    lines: A row each station of the B bent muscles, with unit along, (B, STATIONS, STATION_COLUMNS).
    """

    table: Reals
    lines: Reals


@njit(inline="always")  # type: ignore[untyped-decorator]
def pack_curve(control: Floats, belly: float, row: Any, at: int) -> None:
    """The coefficients of `Sections.curves` from control values (2, 4); in kernels."""
    row[at] = control[0, 3]
    for half in range(2):
        # read from the belly outwards: the origin half runs backwards
        first, step = (3, -1) if half == 0 else (0, 1)
        width = -belly if half == 0 else 1.0 - belly
        p0, p1 = control[half, first], control[half, first + step]
        p2, p3 = control[half, first + 2 * step], control[half, first + 3 * step]
        row[at + 3 * half + 1] = 3.0 * (p1 - p0) / width
        row[at + 3 * half + 2] = 3.0 * (p2 - 2.0 * p1 + p0) / width**2
        row[at + 3 * half + 3] = (p3 - 3.0 * p2 + 3.0 * p1 - p0) / width**3


@njit(inline="always")  # type: ignore[untyped-decorator]
def pack_sweep(sweep: Floats, belly: float, row: Reals) -> None:
    """The sweeping curves (2, 4, 2) and which of them are not zero; in kernels."""
    pack_curve(sweep[:, :, 0], belly, row, CURVES + 7)
    pack_curve(sweep[:, :, 1], belly, row, CURVES + 14)
    row[SWEPT] = 0.0
    if np.any(sweep[:, :, 0] != 0.0):
        row[SWEPT] = 1.0
    if np.any(sweep[:, :, 1] != 0.0):
        row[SWEPT] = 2.0


@njit(inline="always")  # type: ignore[untyped-decorator]
def pack_frame(origin: Floats, along: Floats, out: Floats, side: Floats, length: float, row: Reals) -> None:
    """Where a straight muscle is; in kernels."""
    for k in range(3):
        row[ORIGIN + k] = origin[k]
        row[ALONG + k] = along[k] / length
        row[OUT + k] = out[k]
        row[SIDE + k] = side[k]


@njit(cache=True)  # type: ignore[untyped-decorator]
def pack_muscles(vectors: Floats, numbers: Floats, thickness: Floats, sweep: Floats, table: Reals) -> None:
    """Fill the table from origin, along, out, side (4, M, 3) and length, bulge, scale, belly (4, M)."""
    for m in range(len(table)):
        length, bulge, scale, belly = numbers[:, m]
        pack_frame(vectors[0, m], vectors[1, m], vectors[2, m], vectors[3, m], length, table[m])
        table[m, BELLY], table[m, BULGE], table[m, HEIGHT] = belly, bulge, scale * bulge
        table[m, OVER] = 1.0 / length
        pack_curve(thickness[m], belly, table[m], CURVES)
        pack_sweep(sweep[m], belly, table[m])
