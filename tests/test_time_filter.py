"""Filters in time that do not depend on the frame rate."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from ecorche.errors import MotionError
from ecorche.skin.time_filter import Following, around

Floats = npt.NDArray[np.float64]


def filtered(rate: float, seconds: float) -> tuple[Floats, Floats]:
    times = np.arange(0.0, 2.0 + 1e-9, 1.0 / rate)
    values = np.sin(2.0 * np.pi * times) + np.where(np.abs(times - 1.0) < 0.02, 0.5, 0.0)
    found = []
    for frame in range(len(times)):
        first, weights = around(times, frame, seconds)
        found.append(float(weights @ values[first : first + len(weights)]))
    return times, np.array(found)


def test_the_same_motion_at_two_frame_rates_is_filtered_alike() -> None:
    coarse, fine = filtered(60.0, 0.05), filtered(240.0, 0.05)
    away = np.abs(coarse[0] - 1.0) > 0.2  # a spike of one frame is not the same motion at both
    np.testing.assert_allclose(coarse[1][away], fine[1][::4][away], atol=2e-3)


def test_a_slow_wave_is_damped_as_a_bell_damps_it_and_not_delayed() -> None:
    times, found = filtered(120.0, 0.05)
    inner = (times > 0.2) & (times < 0.8)
    wanted = np.exp(-((np.pi * 0.05) ** 2)) * np.sin(2.0 * np.pi * times)
    np.testing.assert_allclose(found[inner], wanted[inner], atol=2e-3)


def test_ends_stand_still_and_weights_sum_to_one() -> None:
    times = np.cumsum(np.random.default_rng(0).uniform(0.01, 0.05, 50))
    for frame in range(50):
        first, weights = around(times, frame, 0.1)
        assert weights.sum() == pytest.approx(1.0)
        assert first <= frame < first + len(weights)
    for frame in (0, 49):
        first, weights = around(times, frame, 0.1)
        assert (first, weights.tolist()) == (frame, [1.0])
    assert around(times, 20, 0.0)[1].tolist() == [1.0]


def test_following_live_is_exact_for_even_motion_at_any_rate() -> None:
    for rate in (24.0, 120.0):
        live = Following(0.1)
        for frame in range(int(rate) + 1):
            time = frame / rate
            value = live.at(time, np.array([2.0 * time], np.float32))
        # v' = (2t − v) / τ from rest
        assert value[0] == pytest.approx(2.0 * (1.0 - 0.1 + 0.1 * np.exp(-1.0 / 0.1)), abs=1e-5)
    at_once = Following(0.0)
    at_once.at(0.0, np.zeros(1, np.float32))
    assert at_once.at(0.1, np.ones(1, np.float32))[0] == 1.0


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(MotionError, match="seconds"):
        around([0.0, 1.0], 0, -1.0)
    live = Following(0.1)
    live.at(1.0, np.zeros(1, np.float32))
    with pytest.raises(MotionError, match="in order"):
        live.at(0.5, np.zeros(1, np.float32))
