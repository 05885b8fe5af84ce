"""Vectors of three numbers, or of three quads, inside compiled loops: read, combined, written."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit

from ecorche.base.quads import read_quad, write_quad

Floats = npt.NDArray[np.float64]


@njit(forceinline=True)  # type: ignore[untyped-decorator]
def dot(a: Any, b: Any) -> Any:
    """The product of two vectors."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@njit(forceinline=True)  # type: ignore[untyped-decorator]
def cross(a: Any, b: Any) -> Any:
    """The vector across both."""
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@njit(forceinline=True)  # type: ignore[untyped-decorator]
def plus(a: Any, factor: Any, b: Any) -> Any:
    """``a + factor b``."""
    return a[0] + factor * b[0], a[1] + factor * b[1], a[2] + factor * b[2]


@njit(forceinline=True)  # type: ignore[untyped-decorator]
def unit(a: Any) -> Any:
    """The direction of a; a zero vector stays zero."""
    length = np.sqrt(dot(a, a))
    over = 1.0 / length if length > 0.0 else 1.0
    return a[0] * over, a[1] * over, a[2] * over


@njit(forceinline=True)  # type: ignore[untyped-decorator]
def scaled(factor: Any, a: Any) -> Any:
    """``factor a``."""
    return factor * a[0], factor * a[1], factor * a[2]


@njit(inline="always")  # type: ignore[untyped-decorator]
def read(rows: Floats, row: int, at: int = 0) -> Any:
    """Three numbers of a row, from column ``at`` on."""
    # number by number: a view of the row would be counted by the memory manager, which costs more
    return rows[row, at], rows[row, at + 1], rows[row, at + 2]


@njit(inline="always")  # type: ignore[untyped-decorator]
def write(rows: Floats, row: int, at: int, a: Any) -> None:
    """Three numbers into a row, from column ``at`` on."""
    rows[row, at], rows[row, at + 1], rows[row, at + 2] = a


@njit(inline="always")  # type: ignore[untyped-decorator]
def read_vector(quads: Floats, at: int) -> Any:
    """Four vectors, from three quads one after the other."""
    return read_quad(quads, at), read_quad(quads, at + 1), read_quad(quads, at + 2)


@njit(inline="always")  # type: ignore[untyped-decorator]
def write_vector(quads: Floats, at: int, a: Any) -> None:
    """Four vectors into three quads."""
    write_quad(quads, at, a[0])
    write_quad(quads, at + 1, a[1])
    write_quad(quads, at + 2, a[2])


@njit(inline="always")  # type: ignore[untyped-decorator]
def times(m: Floats, joint: int, a: Any) -> Any:
    """A joint's matrix, one of (joints, 12) in rows of four, times a vector."""
    return (
        m[joint, 0] * a[0] + m[joint, 1] * a[1] + m[joint, 2] * a[2],
        m[joint, 4] * a[0] + m[joint, 5] * a[1] + m[joint, 6] * a[2],
        m[joint, 8] * a[0] + m[joint, 9] * a[1] + m[joint, 10] * a[2],
    )


@njit(inline="always")  # type: ignore[untyped-decorator]
def times_transposed(m: Floats, joint: int, a: Any) -> Any:
    """The transposed of a joint's matrix, one of (joints, 12) in rows of four, times a vector."""
    return (
        m[joint, 0] * a[0] + m[joint, 4] * a[1] + m[joint, 8] * a[2],
        m[joint, 1] * a[0] + m[joint, 5] * a[1] + m[joint, 9] * a[2],
        m[joint, 2] * a[0] + m[joint, 6] * a[1] + m[joint, 10] * a[2],
    )


@njit(forceinline=True)  # type: ignore[untyped-decorator]
def turned(a: Any, b: Any, across: Any) -> Any:
    """See `section_frames.turned`."""
    cosine = 1.0 + dot(a, b)
    if not cosine > 1e-12:
        return across
    share = dot(across, (b[0] - a[0], b[1] - a[1], b[2] - a[2])) / cosine
    return plus(across, -share, (a[0] + b[0], a[1] + b[1], a[2] + b[2]))
