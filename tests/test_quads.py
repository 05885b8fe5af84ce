"""Four float64 numbers side by side: what they compute, and how rows become quads and come back."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit

from ecorche.base.quads import (
    apart,
    fours,
    pick,
    quad,
    read_quad,
    read_rows,
    smallest,
    square_roots,
    where_above,
    write_quad,
    write_rows,
)

Floats = npt.NDArray[np.float64]


@njit  # type: ignore[untyped-decorator]
def _move(
    rows: Floats, numbers: npt.NDArray[np.uint32], wide: Floats, narrow: npt.NDArray[np.float32]
) -> None:
    for group in range(len(numbers)):
        columns = read_rows(rows, numbers, group, 6, 1)
        write_rows(wide, numbers, group, 5, 1, columns)
        write_rows(narrow, numbers, group, 4, 0, columns)


@njit  # type: ignore[untyped-decorator]
def _compute(values: Floats, numbers: npt.NDArray[np.uint32], kept: Floats, result: Floats) -> float:
    a, b = pick(values, numbers, 0), read_quad(kept, 1)
    zero = quad(0.0)
    whole = (a + 2.0) * b - 1.0 / (3.0 - a)
    held = where_above(a, zero, square_roots(a), zero)
    order = np.arange(4).astype(np.uint32).reshape(1, 4)
    write_rows(result, order, 0, 4, 0, (whole, held, a, b))
    return float(smallest(a))


def test_columns_of_four_rows_are_read_and_written_back() -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(10, 6))
    numbers = fours(np.array([7, 2, 9, 0, 4, 5])).astype(np.uint32)
    assert numbers.tolist() == [[7, 2, 9, 0], [4, 5, 5, 5]]
    wide, narrow = np.zeros((10, 5)), np.zeros((10, 4), np.float32)
    _move(rows, numbers, wide, narrow)
    named = np.isin(np.arange(10), numbers)
    np.testing.assert_array_equal(wide[named, 1:], rows[named, 1:5])
    np.testing.assert_array_equal(narrow[named], rows[named, 1:5].astype(np.float32))
    assert not wide[~named].any()
    assert not wide[:, 0].any()


def test_arithmetic_is_that_of_float64() -> None:
    values = np.array([0.25, -1.0, 2.0, 0.0, 9.0])
    numbers = np.array([[2, 1, 0, 3]], np.uint32)
    kept, result = np.random.default_rng(1).normal(size=(2, 4)), np.zeros((4, 4))
    least = _compute(values, numbers, kept, result)
    a = values[numbers[0]]
    assert least == a.min()
    expected = np.stack([(a + 2) * kept[1] - 1 / (3 - a), np.sqrt(np.maximum(a, 0)), a, kept[1]], axis=1)
    np.testing.assert_allclose(result, expected, rtol=1e-15, atol=1e-15)
    not_a_number = np.array([np.nan, 1.0, 4.0, 0.0])
    _compute(not_a_number, np.arange(4, dtype=np.uint32).reshape(1, 4), kept, result)
    np.testing.assert_array_equal(result[:, 1], [0.0, 1.0, 2.0, 0.0])


@njit  # type: ignore[untyped-decorator]
def _product_less(values: Floats, rounded: Floats, result: Floats) -> None:
    product = read_quad(values, 0) * read_quad(values, 1)
    write_quad(result, 0, apart(product, read_quad(rounded, 0)))


def test_a_product_less_itself_is_zero() -> None:
    values, result = np.random.default_rng(2).normal(size=(2, 4)), np.ones((1, 4))
    _product_less(values, values[:1] * values[1], result)
    assert not result.any()


def test_things_by_fours_repeat_the_last_one() -> None:
    things = np.arange(30.0).reshape(5, 2, 3)
    grouped = fours(things)
    assert grouped.shape == (2, 2, 3, 4)
    np.testing.assert_array_equal(grouped[0, 1, 2], things[:4, 1, 2])
    np.testing.assert_array_equal(grouped[1, 1, 2], things[4, 1, 2])
    assert fours(things[:0]).shape == (0, 2, 3, 4)
