"""Sixteen lanes do what sixteen float32 numbers do, bit for bit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from numba import njit

from ecorche.base import lanes
from ecorche.base.lanes import WIDTH

Vectors = npt.NDArray[np.float32]


@pytest.fixture(scope="module")
def numbers() -> Vectors:
    """Three rows of awkward numbers: zeros of both signs, denormals, large and small."""
    rows = np.random.default_rng(3).normal(size=(3, WIDTH)).astype(np.float32)
    rows[0, :6] = [0.0, -0.0, 1e-42, -3e-40, 3e38, 1.0]
    rows[1, :6] = [-0.0, -0.0, 1e-40, 2.0, 2.0, -1.0]
    return rows


@njit  # type: ignore[untyped-decorator]
def _add(a: Any, b: Any, c: Any) -> Any:
    return a + b


@njit  # type: ignore[untyped-decorator]
def _subtract(a: Any, b: Any, c: Any) -> Any:
    return a - b


@njit  # type: ignore[untyped-decorator]
def _multiply(a: Any, b: Any, c: Any) -> Any:
    return a * b


@njit  # type: ignore[untyped-decorator]
def _divide(a: Any, b: Any, c: Any) -> Any:
    return a / b


@njit  # type: ignore[untyped-decorator]
def _negate(a: Any, b: Any, c: Any) -> Any:
    return -a


@njit  # type: ignore[untyped-decorator]
def _root(a: Any, b: Any, c: Any) -> Any:
    return lanes.square_root(a * a)


@njit  # type: ignore[untyped-decorator]
def _larger(a: Any, b: Any, c: Any) -> Any:
    return lanes.larger(a, b)


@njit  # type: ignore[untyped-decorator]
def _where(a: Any, b: Any, c: Any) -> Any:
    return lanes.where_less(a, b, c, a)


@njit  # type: ignore[untyped-decorator]
def _with_a_number(a: Any, b: Any, c: Any) -> Any:
    return np.float32(3.0) * a - b / np.float32(7.0) + np.float32(0.1)


CASES: list[tuple[Any, Callable[[Vectors, Vectors, Vectors], Any]]] = [
    (_add, lambda a, b, c: a + b),
    (_subtract, lambda a, b, c: a - b),
    (_multiply, lambda a, b, c: a * b),
    (_divide, lambda a, b, c: a / b),
    (_negate, lambda a, b, c: -a),
    (_root, lambda a, b, c: np.sqrt(a * a)),
    (_larger, lambda a, b, c: np.where(a < b, b, a)),
    (_where, lambda a, b, c: np.where(a < b, c, a)),
    (_with_a_number, lambda a, b, c: np.float32(3) * a - b / np.float32(7) + np.float32(0.1)),
]


@pytest.mark.parametrize(("kernel", "truth"), CASES, ids=[k.__name__ for k, _ in CASES])
def test_arithmetic_has_the_bits_of_float32(kernel: Any, truth: Any, numbers: Vectors) -> None:
    @njit  # type: ignore[untyped-decorator]
    def run(rows: Vectors, out: Vectors) -> None:
        value = kernel(lanes.load(rows, 0), lanes.load(rows, 1), lanes.load(rows, 2))
        lanes.store(out, 0, value)

    out = np.empty((1, WIDTH), np.float32)
    run(numbers, out)
    with np.errstate(all="ignore"):
        expected = truth(*numbers)
    both_zero = (out[0] == 0.0) & (expected == 0.0) if kernel is _larger else np.zeros(WIDTH, bool)
    same = out[0].view(np.uint32) == expected.astype(np.float32).view(np.uint32)
    assert (same | both_zero | (np.isnan(out[0]) & np.isnan(expected))).all()


def test_multiply_add_rounds_at_most_twice(numbers: Vectors) -> None:
    @njit  # type: ignore[untyped-decorator]
    def run(rows: Vectors, out: Vectors) -> None:
        lanes.store(out, 0, lanes.multiply_add(lanes.load(rows, 0), lanes.load(rows, 1), lanes.load(rows, 2)))

    out = np.empty((1, WIDTH), np.float32)
    rows = numbers.copy()
    rows[0, 4] = 3.0
    run(rows, out)
    a, b, c = rows.astype(np.float64)
    fused = (a * b + c).astype(np.float32)
    twice = rows[0] * rows[1] + rows[2]
    assert ((out[0] == fused) | (out[0] == twice)).all()


def test_points_are_gathered_scattered_and_stored_in_a_row() -> None:
    @njit  # type: ignore[untyped-decorator]
    def run(points: Vectors, vertices: Any, scattered: Vectors, stored: Vectors) -> None:
        for row in range(len(vertices)):
            x, y, z = lanes.gather_points(points, vertices, row)
            lanes.scatter_points(scattered, vertices, row, x, y, z)
            lanes.store_points(stored, row * 16, x, y, z)

    rng = np.random.default_rng(0)
    points = rng.normal(size=(48, 3)).astype(np.float32)
    vertices = rng.permutation(48).astype(np.int32).reshape(3, WIDTH)
    scattered, stored = np.zeros_like(points), np.zeros_like(points)
    run(points, vertices, scattered, stored)
    np.testing.assert_array_equal(scattered, points)
    np.testing.assert_array_equal(stored, points[vertices.reshape(-1)])


def test_doubles_are_rounded_as_numpy_rounds_them() -> None:
    @njit  # type: ignore[untyped-decorator]
    def rounded(doubles: npt.NDArray[np.float64], out: Vectors) -> None:
        for row in range(len(out)):
            lanes.store(out, row, lanes.load_rounded(doubles, row))

    doubles = np.random.default_rng(5).normal(size=(40, WIDTH)) * 10.0 ** np.arange(-20, 20)[:, None]
    doubles[3, :4] = [0.0, -0.0, np.nextafter(1.0, 2.0), -1e-42]
    out = np.empty((40, WIDTH), np.float32)
    rounded(doubles, out)
    assert out.tobytes() == doubles.astype(np.float32).tobytes()


def test_a_broadcast_fills_every_lane() -> None:
    @njit  # type: ignore[untyped-decorator]
    def run(out: Vectors) -> None:
        lanes.store(out, 1, lanes.broadcast(np.float32(2.5)))

    out = np.zeros((3, WIDTH), np.float32)
    run(out)
    np.testing.assert_array_equal(out, np.outer([0.0, 2.5, 0.0], np.ones(WIDTH)))


@pytest.mark.parametrize("shape", [(1,), (7,), (5, 3)])
def test_rows_of_lanes_start_on_cache_lines(shape: tuple[int, ...]) -> None:
    rows = lanes.rows_of_lanes(shape)
    assert rows.shape == (*shape, WIDTH)
    assert rows.flags.c_contiguous
    assert rows.ctypes.data % 64 == 0
    assert not rows.any()
