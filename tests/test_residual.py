"""The low-rank basis: as good as a full decomposition, in bounded memory, with the same bytes always."""

from __future__ import annotations

import numba
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ecorche.skin.residual import BLOCK, Basis, BasisBuilder, symmetric_eigenvectors

FRAMES, COORDINATES = 3 * BLOCK + 5, 600


def rows(rank: int, seed: int = 0, decay: float = 0.8) -> npt.NDArray[np.float32]:
    """Frames of offsets of known rank, each further shape weaker."""
    rng = np.random.default_rng(seed)
    weights = rng.normal(size=(FRAMES, rank)) * decay ** np.arange(rank)
    return (0.01 * weights @ rng.normal(size=(rank, COORDINATES))).astype(np.float32)


def basis_of(table: npt.NDArray[np.float32], count: int) -> Basis:
    builder = BasisBuilder(table.shape[1], count)
    for row in table:
        builder.add(row)
    return builder.basis()


def left_over(table: npt.NDArray[np.float32], basis: Basis) -> npt.NDArray[np.float64]:
    directions = basis.directions.astype(np.float64)
    return table - (table @ directions.T) @ directions


def test_few_shapes_come_back_exactly() -> None:
    table = rows(rank=7)
    basis = basis_of(table, 12)
    assert len(basis.strengths) == 7
    assert np.abs(left_over(table, basis)).max() < 1e-8
    np.testing.assert_allclose(basis.directions @ basis.directions.T, np.eye(7), atol=1e-6)
    np.testing.assert_allclose(basis.strengths, np.linalg.svd(table, compute_uv=False)[:7], rtol=1e-6)


def test_a_short_basis_is_nearly_the_best_one() -> None:
    table = rows(rank=60, decay=0.93)
    values = np.linalg.svd(table.astype(np.float64), compute_uv=False)
    best = float(np.sqrt(np.sum(values[10:] ** 2)))
    assert np.linalg.norm(left_over(table, basis_of(table, 10))) < 1.02 * best


def test_more_shapes_never_fit_worse() -> None:
    table = rows(rank=30, decay=0.9)
    errors = [np.linalg.norm(left_over(table, basis_of(table, n))) for n in (1, 2, 4, 8, 16, 30)]
    assert errors == sorted(errors, reverse=True)


@pytest.mark.skipif(numba.config.NUMBA_NUM_THREADS < 2, reason="one processor")
def test_the_number_of_threads_changes_no_byte() -> None:
    table = rows(rank=20)
    before = numba.get_num_threads()
    try:
        numba.set_num_threads(1)
        one = basis_of(table, 8)
        numba.set_num_threads(2)
        two = basis_of(table, 8)
    finally:
        numba.set_num_threads(before)
    assert one.directions.tobytes() == two.directions.tobytes()
    assert one.strengths.tobytes() == two.strengths.tobytes()


def test_signs_are_settled() -> None:
    table = rows(rank=5)
    basis, negated = basis_of(table, 5), basis_of(-table, 5)
    np.testing.assert_array_equal(basis.directions, negated.directions)
    largest = np.abs(basis.directions).argmax(axis=1)
    assert (basis.directions[np.arange(5), largest] > 0).all()


def test_nothing_in_nothing_out() -> None:
    assert len(BasisBuilder(30, 4).basis().strengths) == 0
    assert len(basis_of(np.zeros((3, 30), np.float32), 4).strengths) == 0


@settings(max_examples=25)
@given(st.integers(1, 24), st.integers(0, 2**32 - 1))
def test_eigenvectors_agree_with_lapack(size: int, seed: int) -> None:
    root = np.random.default_rng(seed).normal(size=(size, size))
    matrix = root @ root.T
    values, vectors = symmetric_eigenvectors(matrix)
    np.testing.assert_allclose(np.sort(values), np.linalg.eigvalsh(matrix), atol=1e-12 * np.trace(matrix))
    np.testing.assert_allclose(vectors @ np.diag(values) @ vectors.T, matrix, atol=1e-12 * np.trace(matrix))
