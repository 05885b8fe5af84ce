"""Sixteen lanes, or eight, do what as many float32 numbers do, bit for bit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from numba import njit
from numba.core.errors import TypingError

from ecorche.base import lanes
from ecorche.base.lanes import EIGHT, WIDTH

Vectors = npt.NDArray[np.float32]

LOAD = {WIDTH: lanes.load, EIGHT: lanes.load_eight}
GATHER = {WIDTH: lanes.gather_points, EIGHT: lanes.gather_eight_points}
BROADCAST = {WIDTH: lanes.broadcast, EIGHT: lanes.broadcast_eight}
either_width = pytest.mark.parametrize("width", [WIDTH, EIGHT])


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


@either_width
@pytest.mark.parametrize(("kernel", "truth"), CASES, ids=[k.__name__ for k, _ in CASES])
def test_arithmetic_has_the_bits_of_float32(kernel: Any, truth: Any, width: int, numbers: Vectors) -> None:
    load = LOAD[width]

    @njit  # type: ignore[untyped-decorator]
    def run(rows: Vectors, out: Vectors) -> None:
        lanes.store(out, 0, kernel(load(rows, 0), load(rows, 1), load(rows, 2)))

    out, rows = np.empty((1, width), np.float32), np.ascontiguousarray(numbers[:, :width])
    run(rows, out)
    with np.errstate(all="ignore"):
        expected = truth(*rows)
    both_zero = (out[0] == 0.0) & (expected == 0.0) if kernel is _larger else np.zeros(width, bool)
    same = out[0].view(np.uint32) == expected.astype(np.float32).view(np.uint32)
    assert (same | both_zero | (np.isnan(out[0]) & np.isnan(expected))).all()


@either_width
def test_multiply_add_rounds_at_most_twice(width: int, numbers: Vectors) -> None:
    load = LOAD[width]

    @njit  # type: ignore[untyped-decorator]
    def run(rows: Vectors, out: Vectors) -> None:
        lanes.store(out, 0, lanes.multiply_add(load(rows, 0), load(rows, 1), load(rows, 2)))

    out = np.empty((1, width), np.float32)
    rows = numbers[:, :width].copy()
    rows[0, 4] = 3.0
    run(rows, out)
    a, b, c = rows.astype(np.float64)
    fused = (a * b + c).astype(np.float32)
    twice = rows[0] * rows[1] + rows[2]
    assert ((out[0] == fused) | (out[0] == twice)).all()


@either_width
def test_points_are_gathered_scattered_and_stored_in_a_row(width: int) -> None:
    gather = GATHER[width]

    @njit  # type: ignore[untyped-decorator]
    def run(points: Vectors, vertices: Any, scattered: Vectors, stored: Vectors) -> None:
        for row in range(len(vertices)):
            x, y, z = gather(points, vertices, row)
            lanes.scatter_points(scattered, vertices, row, x, y, z)
            lanes.store_points(stored, row * width, x, y, z)

    rng = np.random.default_rng(0)
    points = rng.normal(size=(48, 3)).astype(np.float32)
    vertices = rng.permutation(48).astype(np.int32).reshape(-1, width)
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


@either_width
def test_a_broadcast_fills_every_lane(width: int) -> None:
    broadcast = BROADCAST[width]

    @njit  # type: ignore[untyped-decorator]
    def run(out: Vectors) -> None:
        lanes.store(out, 1, broadcast(np.float32(2.5)))

    out = np.zeros((3, width), np.float32)
    run(out)
    np.testing.assert_array_equal(out, np.outer([0.0, 2.5, 0.0], np.ones(width)))


def test_lanes_of_two_widths_do_not_mix() -> None:
    @njit  # type: ignore[untyped-decorator]
    def run(rows: Vectors) -> None:
        lanes.store(rows, 0, lanes.load(rows, 0) + lanes.load_eight(rows, 0))

    with pytest.raises(TypingError):
        run(np.zeros((2, WIDTH), np.float32))


@either_width
@pytest.mark.parametrize("shape", [(1,), (7,), (5, 3)])
def test_rows_of_lanes_start_on_cache_lines(shape: tuple[int, ...], width: int) -> None:
    rows = lanes.rows_of_lanes(shape, width)
    assert rows.shape == (*shape, width)
    assert rows.flags.c_contiguous
    assert rows.ctypes.data % 64 == 0
    assert not rows.any()
