"""Smoothing and rates: the cut-off that was asked for, no delay, and SciPy's own filter."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.signal import butter, filtfilt, freqz

from ecorche.biomech.filtering import low_pass, rates, run_cutoff
from ecorche.errors import MotionError

RATE = 200.0
TIMES = np.arange(2000) / RATE


@pytest.mark.parametrize("cutoff", [3.0, 6.0, 20.0, 60.0])
def test_a_wave_at_the_cutoff_keeps_one_part_in_root_two(cutoff: float) -> None:
    wave = np.sin(2 * np.pi * cutoff * TIMES)
    middle = slice(500, 1500)
    kept = low_pass(wave, RATE, cutoff)[middle]
    assert np.sqrt(2.0 * (kept**2).mean()) == pytest.approx(np.sqrt(0.5), rel=2e-3)
    # no delay: in phase with what went in
    np.testing.assert_allclose(kept, wave[middle] * np.sqrt(0.5), atol=5e-3)


def test_two_runs_at_the_plain_cutoff_would_keep_half() -> None:
    b, a = butter(2, 6.0, fs=RATE)
    _, response = freqz(b, a, worN=[6.0], fs=RATE)
    assert abs(response[0]) ** 2 == pytest.approx(0.5)
    assert run_cutoff(6.0, RATE) == pytest.approx(6.0 / 0.8022, rel=1e-2)
    b, a = butter(2, run_cutoff(6.0, RATE), fs=RATE)
    _, response = freqz(b, a, worN=[6.0], fs=RATE)
    assert abs(response[0]) ** 2 == pytest.approx(np.sqrt(0.5), rel=1e-12)


def test_it_is_scipys_filter_at_that_cutoff() -> None:
    noise = np.random.default_rng(0).normal(size=(300, 3))
    b, a = butter(2, run_cutoff(6.0, RATE), fs=RATE)
    np.testing.assert_allclose(
        low_pass(noise, RATE, 6.0), filtfilt(b, a, noise, axis=0, padlen=167), atol=1e-12
    )


def test_fourth_order_falls_by_sixteen_an_octave() -> None:
    gains = []
    for frequency in (16.0, 32.0):
        wave = np.sin(2 * np.pi * frequency * np.arange(20000) / 2000.0)
        gains.append(np.abs(low_pass(wave, 2000.0, 2.0)[8000:12000]).max())
    assert gains[0] / gains[1] == pytest.approx(16.0, rel=0.02)


def test_what_is_straight_stays() -> None:
    line = np.stack([3.0 - 2.0 * TIMES, np.full_like(TIMES, 7.0)], axis=1)
    np.testing.assert_allclose(low_pass(line, RATE, 6.0), line, atol=1e-9)


def test_rates_of_polynomials_are_exact() -> None:
    times = np.linspace(0.0, 1.0, 30)
    first, second = rates(times, np.stack([times**5 - times, times**2], axis=1))
    np.testing.assert_allclose(first, np.stack([5 * times**4 - 1, 2 * times], axis=1), atol=1e-10)
    np.testing.assert_allclose(second, np.stack([20 * times**3, np.full(30, 2.0)], axis=1), atol=1e-8)


def test_rates_converge_at_fourth_order() -> None:
    """Of a quintic spline's second derivative, inside."""
    errors = []
    for count in (41, 81):
        times = np.linspace(0.0, 2.0, count)
        _, second = rates(times, np.sin(4 * times))
        inside = slice(count // 4, 3 * count // 4)
        errors.append(np.abs(second + 16 * np.sin(4 * times))[inside].max())
    assert errors[0] / errors[1] == pytest.approx(16.0, rel=0.25)


def test_curves_that_cannot_be_smoothed_are_refused() -> None:
    with pytest.raises(
        MotionError, match=r"a cut-off of 100 Hz does not suit 200 samples a second. Choose one"
    ):
        low_pass(np.zeros(50), RATE, 100.0)
    with pytest.raises(MotionError, match=r"12 samples are too few to smooth"):
        low_pass(np.zeros(12), RATE, 6.0)
    gap = np.zeros((50, 2))
    gap[7, 1] = np.nan
    with pytest.raises(
        MotionError, match=r"sample 7 of a curve to smooth is a gap \(1 are\). Solve for the pose"
    ):
        low_pass(gap, RATE, 6.0)
    with pytest.raises(MotionError, match=r"sample 7 of a curve"):
        rates(TIMES[:50], gap)
    with pytest.raises(MotionError, match=r"5 samples are too few for accelerations"):
        rates(TIMES[:5], np.zeros(5))
