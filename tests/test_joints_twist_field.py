"""Twist limits over the swing plane: exact at keys, linear between, continuous everywhere."""

from __future__ import annotations

import hypothesis.strategies as st
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from scipy.interpolate import LinearNDInterpolator
from scipy.spatial import ConvexHull

from ecorche.errors import SkeletonError
from ecorche.skeleton.twist_field import TwistField

Floats = npt.NDArray[np.float64]

calm = settings(max_examples=40)


@st.composite
def fields(draw: st.DrawFn, at_least: int = 1) -> TwistField:
    count = draw(st.integers(at_least, 15))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    return TwistField(
        rng.uniform(-2.0, 2.0, (count, 2)), rng.uniform(-2.0, 0.0, count), rng.uniform(0.0, 2.0, count)
    )


@calm
@given(fields())
def test_a_key_gets_its_own_limits(field: TwistField) -> None:
    low, high = field.limits(field.swings)
    np.testing.assert_allclose(low, field.low, atol=1e-12)
    np.testing.assert_allclose(high, field.high, atol=1e-12)


@calm
@given(fields(at_least=4), st.integers(0, 10**6))
def test_between_keys_it_is_scipys_linear_interpolation(field: TwistField, seed: int) -> None:
    points = np.random.default_rng(seed).uniform(-2.0, 2.0, (10, 20, 2))
    for ours, values in zip(field.limits(points), (field.low, field.high), strict=True):
        expected = LinearNDInterpolator(field.swings, values)(points)
        known = np.isfinite(expected)
        np.testing.assert_allclose(ours[known], expected[known], atol=1e-9)


@calm
@given(fields(at_least=3), st.integers(0, 10**6))
def test_outside_it_is_the_nearest_point_of_the_hull(field: TwistField, seed: int) -> None:
    hull = ConvexHull(field.swings)
    for point in np.random.default_rng(seed).uniform(-6.0, 6.0, (8, 2)):
        if (hull.equations[:, :2] @ point + hull.equations[:, 2] <= 0.0).all():
            continue
        feet = []
        for a, b in field.swings[hull.simplices]:
            t = np.clip((point - a) @ (b - a) / ((b - a) @ (b - a)), 0.0, 1.0)
            feet.append(a + t * (b - a))
        nearest = min(feet, key=lambda foot: float(np.linalg.norm(foot - point)))
        np.testing.assert_allclose(field.limits(point), field.limits(nearest), atol=1e-9)


@calm
@given(fields(), st.integers(0, 10**6))
def test_a_step_changes_the_limits_by_no_more_than_the_steepest_slope(field: TwistField, seed: int) -> None:
    """Continuity across triangles, over the hull's sides and far outside."""
    rng = np.random.default_rng(seed)
    start, stop = rng.uniform(-5.0, 5.0, (2, 2))
    path = start + np.linspace(0.0, 1.0, 8001)[:, None] * (stop - start)
    step = np.linalg.norm(stop - start) / 8000
    for values in field.limits(path):
        jumps = np.abs(np.diff(values))
        assert jumps.max() <= steepest(field) * step + 1e-9


def steepest(field: TwistField) -> float:
    slopes = [0.0]
    for corners in field._triangles:
        sides = field.swings[corners[1:]] - field.swings[corners[0]]
        for values in (field.low, field.high):
            rise = values[corners[1:]] - values[corners[0]]
            slopes.append(float(np.linalg.norm(np.linalg.lstsq(sides, rise, rcond=None)[0])))
    for a, b in field._border:
        if a != b:
            run = float(np.linalg.norm(field.swings[b] - field.swings[a]))
            slopes += [abs(float(v[b] - v[a])) / run for v in (field.low, field.high)]
    return max(slopes)


def test_keys_on_one_line_are_joined_along_it() -> None:
    field = TwistField(
        np.array([[0.0, 0.0], [2.0, 2.0], [1.0, 1.0]]),
        np.array([-1.0, -3.0, -2.0]),
        np.array([1.0, 1.5, 3.0]),
    )
    low, high = field.limits([[0.5, 0.5], [1.5, 1.5], [1.0, 0.0], [9.0, 9.0]])
    np.testing.assert_allclose(low, [-1.5, -2.5, -1.5, -3.0])
    np.testing.assert_allclose(high, [2.0, 2.25, 2.0, 1.5])


def test_one_key_holds_everywhere() -> None:
    field = TwistField(np.array([[0.3, 0.1]]), np.array([-0.5]), np.array([0.7]))
    low, high = field.limits(np.random.default_rng(0).normal(size=(5, 2)))
    np.testing.assert_array_equal(low, np.full(5, -0.5))
    np.testing.assert_array_equal(high, np.full(5, 0.7))


@pytest.mark.parametrize(
    ("swings", "low", "high", "message"),
    [
        (np.empty((0, 2)), [], [], "Give each key as swing x"),
        ([[0.0, 0.0]], [0.1], [-0.1], "the twist of key 0 goes from 5.72958° to -5.72958°"),
        ([[0.0, 0.0], [0.0, 0.0]], [0.0, 0.0], [1.0, 1.0], "twist keys 0 and 1 are at the same swing"),
        ([[0.0, np.inf]], [0.0], [1.0], "not a finite number"),
        ([[0.0, 0.0]], [0.0], [np.nan], "not a finite number"),
        ([[0.0, 0.0]], [-4.0], [4.0], "more than one turn"),
    ],
)
def test_what_is_no_field_is_refused(
    swings: npt.ArrayLike, low: npt.ArrayLike, high: npt.ArrayLike, message: str
) -> None:
    with pytest.raises(SkeletonError, match=message):
        TwistField(np.asarray(swings), np.asarray(low), np.asarray(high))
