"""The spindle's curves are the two Béziers of the text, and shapes that cannot be are refused in words."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest

from ecorche.errors import EcorcheError
from ecorche.muscles.spindle import curve, joined, spindle_from_numbers
from spindle_shapes import bezier, random_spindles


def test_both_curves_are_the_two_beziers() -> None:
    spindles = random_spindles(200, 1)
    t = np.linspace(0.0, 1.0, 101)
    thickness, sweep = spindles.thickness_at(t), spindles.sweep_at(t)
    for i in range(len(spindles)):
        belly = float(spindles.belly[i])
        np.testing.assert_allclose(thickness[i], bezier(spindles.thickness[i], belly, t), atol=1e-15, rtol=0)
        np.testing.assert_allclose(sweep[i], bezier(spindles.sweep[i], belly, t), atol=1e-15, rtol=0)
    assert thickness.min() >= -1e-15


def test_each_muscle_may_have_places_of_its_own_and_frames_come_first() -> None:
    spindles = random_spindles(5, 2)
    t = np.random.default_rng(0).random((5, 7))
    one_by_one = [
        curve(spindles.thickness[i : i + 1], spindles.belly[i : i + 1]).at(t[i])[0] for i in range(5)
    ]
    np.testing.assert_array_equal(spindles.thickness_at(t), np.array(one_by_one))
    frames = np.stack([spindles.thickness, 2.0 * spindles.thickness])
    np.testing.assert_array_equal(curve(frames, spindles.belly).at(t)[1], 2.0 * spindles.thickness_at(t))


def test_ends_belly_and_beyond() -> None:
    spindles = random_spindles(50, 3)
    at = spindles.thickness_at(np.stack([np.full(50, -3.0), spindles.belly, np.full(50, 9.0)], axis=1))
    np.testing.assert_allclose(at[:, 0], spindles.thickness[:, 0, 0], atol=1e-15)
    np.testing.assert_array_equal(at[:, 1], spindles.thickness[:, 0, 3])
    np.testing.assert_allclose(at[:, 2], spindles.thickness[:, 1, 3], atol=1e-15)


def test_value_and_slope_are_continuous_at_the_belly() -> None:
    spindles = random_spindles(50, 4)
    h = 1e-6
    left, here, right = np.moveaxis(spindles.thickness_at(spindles.belly[:, None] + [-h, 0.0, h]), 1, 0)
    slope = 3.0 * (spindles.thickness[:, 0, 3] - spindles.thickness[:, 0, 2]) / spindles.belly
    # the halves' second derivatives are at most 6 (largest control) / 0.05²
    np.testing.assert_allclose((here - left) / h, slope, atol=120.0 * h)
    np.testing.assert_allclose((right - here) / h, slope, atol=120.0 * h)


def test_a_single_precision_form_about_the_belly_does_not_cancel() -> None:
    """Near an end the halves' cubes are thousands of times the thickness; kept apart, they stay harmless."""
    spindles = spindle_from_numbers(0.3, 0.03, belly=0.03, tendon_origin=0.004, tendon_insertion=0.003)
    t = np.linspace(0.0, 1.0, 500)
    form = curve(spindles.thickness, spindles.belly)
    belly, value, slope, square_o, cube_o, square_i, cube_i = (np.float32(field[0]) for field in form)
    w = t.astype(np.float32) - belly
    before, after = np.minimum(w, np.float32(0.0)), np.maximum(w, np.float32(0.0))
    single = (
        value
        + slope * w
        + before * before * (square_o + cube_o * before)
        + after * after * (square_i + cube_i * after)
    )
    assert single.dtype == np.float32
    assert np.abs(single - spindles.thickness_at(t)[0]).max() < 5e-7 * 0.03


def test_numbers_become_the_shape_they_say() -> None:
    spindles = spindle_from_numbers(
        [0.3, 0.2], 0.03, belly=0.4, scale=0.6, tendon_origin=0.004, tendon_insertion=[0.003, 0.0], arch=0.01
    )
    assert len(spindles) == 2
    t = [0.0, 0.4, 1.0]
    np.testing.assert_allclose(
        spindles.thickness_at(t), [[0.004, 0.03, 0.003], [0.004, 0.03, 0.0]], atol=1e-17
    )
    np.testing.assert_allclose(
        spindles.sweep_at(t), np.tile([[[0, 0], [0.01, 0], [0, 0]]], (2, 1, 1)), atol=1e-17
    )
    fine = np.linspace(0, 1, 401)
    assert spindles.thickness_at(fine).argmax(axis=1).tolist() == [160, 160]
    thin = spindle_from_numbers(0.3, 0.03, tendon_origin=0.004, fullness_origin=0.0)
    full = spindle_from_numbers(0.3, 0.03, tendon_origin=0.004, fullness_origin=1.0)
    inside = fine[(fine > 0.01) & (fine < 0.49)]
    assert np.all(thin.thickness_at(inside) < full.thickness_at(inside))


def test_sets_are_joined_in_order() -> None:
    a, b = random_spindles(3, 5), random_spindles(2, 6)
    both = joined([a, b])
    np.testing.assert_array_equal(both.thickness[3:], b.thickness)
    np.testing.assert_array_equal(both.bind_length[:3], a.bind_length)


@pytest.mark.parametrize(
    ("numbers", "message"),
    [
        ({"length": 0.0}, "muscle 0: its length at bind is not positive"),
        ({"length": [0.3, -0.1]}, "muscle 1: its length at bind is not positive"),
        ({"length": np.nan}, "muscle 0: the bind_length is not a finite number"),
        ({"thickness": [0.01, np.inf]}, "muscle 1: the thickness is not a finite number"),
        ({"thickness": 0.0}, "its belly has no thickness"),
        ({"thickness": -0.01}, "control value of its thickness is negative"),
        ({"tendon_insertion": -0.001}, "control value of its thickness is negative"),
        ({"slope": 0.5}, "control value of its thickness is negative.*smaller slope"),
        ({"scale": 0.0}, "the scale of its sections is not positive"),
        ({"scale": [1.0, -2.0, -3.0]}, r"muscle 1: the scale .* \(and 1 more\)"),
        ({"belly": 0.0}, "does not lie between origin and insertion"),
        ({"belly": 1.0}, "does not lie between origin and insertion"),
        ({"belly": np.nan}, "not a finite number"),
        ({"fullness_origin": 1.5}, "its fullness is not within 0 and 1"),
        ({"fullness_insertion": np.nan}, "its fullness is not within 0 and 1"),
        ({"arch": np.inf}, "the sweep is not a finite number"),
        ({"scale": [1.0, 2.0], "belly": [0.4, 0.5, 0.6]}, "different shapes"),
        ({"scale": [[1.0, 2.0]]}, "have shape"),
    ],
)
@pytest.mark.filterwarnings("ignore:invalid value")  # inf times zero on the way to the message
def test_impossible_numbers_are_refused(numbers: dict[str, npt.ArrayLike], message: str) -> None:
    with pytest.raises(EcorcheError, match=message):
        spindle_from_numbers(**({"length": 0.3, "thickness": 0.03} | numbers))


def test_curves_that_do_not_fit_are_refused() -> None:
    good = random_spindles(3, 7)
    cases = [
        ("thickness", (1, 1, 0), 1e-3, "muscle 1: the two halves of its thickness do not meet"),
        ("thickness", (2, 1, 1), 1e-3, "muscle 2: its thickness has a crease at the belly"),
        ("sweep", (0, 0, 3, 1), 1e-3, "muscle 0: the two halves of its sweep do not meet"),
        ("sweep", (0, 0, 2, 1), 1e-2, "muscle 0: its sweep has a crease at the belly"),
        ("sweep", (1, 1, 3, 0), 1e-3, "muscle 1: its sweep is not zero at origin and insertion"),
    ]
    for name, place, step, message in cases:
        values = getattr(good, name).copy()
        values[place] += step
        with pytest.raises(EcorcheError, match=message):
            replace(good, **{name: values})
    with pytest.raises(EcorcheError, match=r"scale is float64 of shape \(2,\).*shape \(3,\)"):
        replace(good, scale=np.ones(2))
    with pytest.raises(EcorcheError, match="float32"):
        replace(good, scale=np.ones(3, np.float32))
