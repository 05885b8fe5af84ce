"""Angles of four things side by side against NumPy's."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit

from ecorche.base.quad_angles import angle_of, sine_cosine
from ecorche.base.quads import fours, nearest_whole, read_quad, write_quad

Floats = npt.NDArray[np.float64]


@njit  # type: ignore[untyped-decorator]
def _waves(angles: Floats, sines: Floats, cosines: Floats, wholes: Floats) -> None:
    for group in range(len(angles)):
        angle = read_quad(angles, group)
        sine, cosine = sine_cosine(angle)
        write_quad(sines, group, sine)
        write_quad(cosines, group, cosine)
        write_quad(wholes, group, nearest_whole(angle))


@njit  # type: ignore[untyped-decorator]
def _angles(y: Floats, x: Floats, angles: Floats) -> None:
    for group in range(len(y)):
        write_quad(angles, group, angle_of(read_quad(y, group), read_quad(x, group)))


def test_sine_and_cosine_of_angles_within_some_turns() -> None:
    angles = fours(np.concatenate([np.linspace(-20.0, 20.0, 40_001), np.arange(-8, 9) * 0.25 * np.pi]))
    sines, cosines, wholes = (np.empty_like(angles) for _ in range(3))
    _waves(angles, sines, cosines, wholes)
    assert np.abs(sines - np.sin(angles)).max() < 5e-16
    assert np.abs(cosines - np.cos(angles)).max() < 5e-16
    np.testing.assert_array_equal(wholes, np.round(angles))
    _waves(np.zeros((1, 4)), sines[:1], cosines[:1], wholes[:1])
    assert not sines[0].any()
    np.testing.assert_array_equal(cosines[0], 1.0)


def test_the_angle_of_a_direction_all_round() -> None:
    exact = np.concatenate([np.linspace(-np.pi, np.pi, 40_001), np.arange(-8, 9) * 0.125 * np.pi])
    for size in (1e-9, 1.0, 1e6):
        y, x = fours(size * np.sin(exact)), fours(size * np.cos(exact))
        angles = np.empty_like(y)
        _angles(y, x, angles)
        assert np.abs(angles - np.arctan2(y, x)).max() < 5e-16
    y, x = np.array([[0.0, 0.0, 1.0, np.nan]]), np.array([[0.0, 1.0, 0.0, 1.0]])
    angles = np.empty_like(y)
    _angles(y, x, angles)
    np.testing.assert_array_equal(angles, np.arctan2(y, x))


def test_eight_single_numbers_side_by_side_are_as_exact_as_they_can_be_told() -> None:
    exact = np.linspace(-np.pi, np.pi, 40_000).reshape(-1, 8)
    angles = exact.astype(np.float32)
    sines, cosines, found = np.empty_like(angles), np.empty_like(angles), np.empty_like(angles)
    _waves(angles, sines, cosines, np.empty_like(angles))
    # the rounding of an angle itself is up to 2.4e-7 rad
    assert np.abs(sines - np.sin(exact)).max() < 4e-7
    assert np.abs(cosines - np.cos(exact)).max() < 4e-7
    _angles(np.sin(exact).astype(np.float32), np.cos(exact).astype(np.float32), found)
    apart = np.abs(found - exact)
    assert np.minimum(apart, 2.0 * np.pi - apart).max() < 4e-7
    _waves(np.zeros((1, 8), np.float32), sines[:1], cosines[:1], found[:1])
    assert not sines[0].any()
    np.testing.assert_array_equal(cosines[0], 1.0)
