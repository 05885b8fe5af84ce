"""A few shapes that, blended, stand for a whole performance: a low-rank basis of offsets over time.

The rows of a matrix (frames × coordinates) arrive one at a time; the best directions are kept by a
singular value decomposition updated block by block, so that memory does not grow with the number
of frames (A. Levy and M. Lindenbaum, "Sequential Karhunen-Loeve basis extraction", 2000). Changed
here: more directions are kept on the way than asked for, so that what a block alone would drop can
still win, and the small eigenproblem is solved by Jacobi rotations, which give the same bytes on
any number of threads.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from numba import njit, prange

Floats = npt.NDArray[np.float64]
Floats32 = npt.NDArray[np.float32]

BLOCK = 32
"""Rows collected before the basis is updated."""


@dataclass(frozen=True, eq=False)
class Basis:
    """Orthonormal directions, strongest first.

    Attributes:
        directions: Shape (directions, coordinates), float32. The largest entry of each is positive.
        strengths: Singular value of each: the root of the sum of its squared coefficients.
    """

    directions: Floats32
    strengths: Floats


class BasisBuilder:
    """Collects rows of offsets and finds the directions that hold most of them.

    Args:
        coordinates: Length of a row.
        count: How many directions are wanted at most.
    """

    def __init__(self, coordinates: int, count: int) -> None:
        self.count = count
        self._kept_most = count + max(count // 2, 8)
        # coordinates first: the kernels then run along rows without changing the order of sums
        self._table = np.zeros((coordinates, self._kept_most + BLOCK), np.float32)
        self._filled = 0

    def add(self, row: Floats32) -> None:
        """Take one more row, shape (coordinates,)."""
        self._table[:, self._filled] = row
        self._filled += 1
        if self._filled == self._table.shape[1]:
            self._shrink()

    def basis(self) -> Basis:
        """At most ``count`` directions of all rows so far."""
        strengths = self._shrink()[: self.count]
        # a direction far below the strongest is rounding, not motion
        used = strengths > 1e-7 * (strengths[0] if len(strengths) else 0.0)
        strengths = strengths[used]
        directions = np.ascontiguousarray(self._table[:, : len(strengths)].T) / strengths[:, None]
        largest = np.argmax(np.abs(directions), axis=1)
        signs = np.sign(directions[np.arange(len(directions)), largest])
        return Basis((directions * signs[:, None]).astype(np.float32), strengths)

    def _shrink(self) -> Floats:
        """Replace the rows by as few, orthogonal ones with the same products; their lengths."""
        table = self._table[:, : self._filled]
        values, vectors = symmetric_eigenvectors(_gram(table))
        order = np.argsort(-values, kind="stable")[: self._kept_most]
        values, vectors = np.maximum(values[order], 0.0), np.ascontiguousarray(vectors[:, order])
        kept = len(order)
        self._table[:, :kept] = _combined(table, vectors)
        self._table[:, kept:] = 0.0
        self._filled = kept
        strengths: Floats = np.sqrt(values)
        return strengths


@njit(parallel=True, cache=True)  # type: ignore[untyped-decorator]
def _gram(table: Floats32) -> Floats:
    """Products of all pairs of columns, summed in a fixed order."""
    coordinates, rows = table.shape
    products = np.zeros((rows, rows))
    for i in prange(rows):
        for c in range(coordinates):
            factor = np.float64(table[c, i])
            if factor != 0.0:
                for j in range(rows):
                    products[i, j] += factor * table[c, j]
    return products


@njit(parallel=True, cache=True)  # type: ignore[untyped-decorator]
def _combined(table: Floats32, vectors: Floats) -> Floats32:
    """Columns of ``table`` blended by each column of ``vectors``."""
    coordinates, rows = table.shape
    count = vectors.shape[1]
    blended = np.empty((coordinates, count), np.float32)
    for c in prange(coordinates):
        total = np.zeros(count)
        for i in range(rows):
            factor = np.float64(table[c, i])
            if factor != 0.0:
                for k in range(count):
                    total[k] += factor * vectors[i, k]
        for k in range(count):
            blended[c, k] = total[k]
    return blended


@njit(cache=True)  # type: ignore[untyped-decorator]
def symmetric_eigenvectors(matrix: Floats) -> tuple[Floats, Floats]:
    """Eigenvalues (n,) and eigenvectors (n, n), one a column, by cyclic Jacobi rotations."""
    n = len(matrix)
    a = matrix.copy()
    vectors = np.eye(n)
    size = 0.0
    for i in range(n):
        for j in range(n):
            size = max(size, abs(a[i, j]))
    for _ in range(60):
        largest = 0.0
        for p in range(n - 1):
            for q in range(p + 1, n):
                largest = max(largest, abs(a[p, q]))
                if abs(a[p, q]) <= 1e-17 * size:
                    continue
                theta = 0.5 * (a[q, q] - a[p, p]) / a[p, q]
                t = 1.0 / (abs(theta) + np.sqrt(theta * theta + 1.0))
                if theta < 0.0:
                    t = -t
                c = 1.0 / np.sqrt(t * t + 1.0)
                s = t * c
                for k in range(n):
                    left, right = a[k, p], a[k, q]
                    a[k, p], a[k, q] = c * left - s * right, s * left + c * right
                for k in range(n):
                    left, right = a[p, k], a[q, k]
                    a[p, k], a[q, k] = c * left - s * right, s * left + c * right
                for k in range(n):
                    left, right = vectors[k, p], vectors[k, q]
                    vectors[k, p], vectors[k, q] = c * left - s * right, s * left + c * right
        if largest <= 1e-15 * size:
            break
    return np.diag(a).copy(), vectors
