"""Spherical polygons: inside, nearest, and what is refused."""

from __future__ import annotations

import hypothesis.strategies as st
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from matplotlib.path import Path as PlanePath
from scipy.spatial.transform import Rotation

from ecorche.errors import SkeletonError
from ecorche.skeleton.spherical_polygon import SphericalPolygon, angle_between

Floats = npt.NDArray[np.float64]

calm = settings(max_examples=40)
ALL_ROUND = np.random.default_rng(3).normal(size=(1200, 3))
ALL_ROUND /= np.linalg.norm(ALL_ROUND, axis=1, keepdims=True)


@st.composite
def star_polygons(draw: st.DrawFn) -> SphericalPolygon:
    """Any star round some direction, convex or not, small or larger than half the sphere."""
    count = draw(st.integers(5, 12))
    reach = np.radians(draw(st.lists(st.floats(8.0, 150.0), min_size=count, max_size=count)))
    around = 2.0 * np.pi * np.arange(count) / count
    corners = np.stack(
        [np.sin(reach) * np.cos(around), np.sin(reach) * np.sin(around), np.cos(reach)], axis=1
    )
    tilt = draw(st.floats(0.0, 3.0)), draw(st.floats(0.0, 6.0))
    return SphericalPolygon(Rotation.from_euler("xz", tilt).apply(corners))


def border(polygon: SphericalPolygon, steps: int = 150) -> Floats:
    """Points along the sides."""
    a, b = polygon.corners[:, None], np.roll(polygon.corners, -1, axis=0)[:, None]
    angle = angle_between(a, b)[..., None]
    t = np.linspace(0.0, 1.0, steps, endpoint=False)[None, :, None]
    points = (np.sin((1.0 - t) * angle) * a + np.sin(t * angle) * b) / np.sin(angle)
    return np.asarray(points.reshape(-1, 3))


@calm
@given(star_polygons())
def test_inside_is_what_a_map_of_the_sphere_shows(polygon: SphericalPolygon) -> None:
    """The stereographic map from −z puts −z at infinity; there a planar test knows the inside."""

    def plane(v: Floats) -> Floats:
        return np.asarray(v[:, :2] / (1.0 + v[:, 2:]))

    edge = border(polygon)
    clear = (ALL_ROUND @ edge.T).max(axis=1) < np.cos(np.radians(0.5))
    clear &= ALL_ROUND[:, 2] > -0.9999
    expected = PlanePath(plane(edge)).contains_points(plane(ALL_ROUND))
    np.testing.assert_array_equal(polygon.contains(ALL_ROUND)[clear], expected[clear])


@calm
@given(star_polygons())
def test_nearest_is_nearest_admissible_and_stays(polygon: SphericalPolygon) -> None:
    nearest, angle = polygon.nearest(ALL_ROUND)
    inside = polygon.contains(ALL_ROUND)
    # inside: the same bits, angle zero
    np.testing.assert_array_equal(nearest[inside], ALL_ROUND[inside])
    assert (angle[inside] == 0.0).all()
    assert (angle[~inside] > 0.0).all()
    # admissible afterwards, and a second time nothing happens
    again, angle_again = polygon.nearest(nearest)
    np.testing.assert_array_equal(again, nearest)
    assert (angle_again == 0.0).all()
    # as far as said, and nothing along the border is nearer
    np.testing.assert_allclose(angle_between(ALL_ROUND, nearest)[~inside], angle[~inside], atol=1e-12)
    outside = ALL_ROUND[~inside]
    brute = np.arccos(np.clip((outside @ border(polygon).T).max(axis=1, initial=-1.0), -1.0, 1.0))
    assert (angle[~inside] <= brute + 1e-6).all()
    assert (angle[~inside] >= brute - 0.02).all()


@calm
@given(st.floats(10.0, 70.0), st.integers(0, 10**6))
def test_nearest_moves_little_when_the_direction_does(reach: float, seed: int) -> None:
    """Onto a convex polygon, as long as it is less than a quarter turn away."""
    around = np.linspace(0.0, 2.0 * np.pi, 7, endpoint=False)
    flat = np.sin(np.radians(reach))
    polygon = SphericalPolygon(
        np.stack([flat * np.cos(around), flat * np.sin(around), np.full(7, np.cos(np.radians(reach)))], 1)
    )
    nearest, angle = polygon.nearest(ALL_ROUND)
    nudge = 1e-7 * np.random.default_rng(seed).normal(size=ALL_ROUND.shape)
    moved = ALL_ROUND + nudge
    moved /= np.linalg.norm(moved, axis=1, keepdims=True)
    near = angle < np.radians(80.0)
    change = angle_between(polygon.nearest(moved)[0], nearest)[near]
    # on the sphere a shadow grows by 1 / cos(distance): below six here
    assert (change <= 6.0 * angle_between(moved, ALL_ROUND)[near] + 1e-12).all()


@calm
@given(star_polygons())
def test_corners_sides_and_poles_are_no_trouble(polygon: SphericalPolygon) -> None:
    assert polygon.contains(polygon.corners).all()
    assert polygon.contains(border(polygon, 16)).all()
    assert not polygon.contains([0.0, 0.0, -1.0])
    # the pole is judged as its neighbours are, unless a side passes by
    pole = np.array([0.0, 0.0, 1.0])
    if (border(polygon) @ pole).max() < np.cos(0.01):
        assert polygon.contains(pole) == polygon.contains([1e-9, -1e-9, 1.0])
    # directions on the meridians of corners, where crossings are easily counted twice
    aligned = polygon.corners * (1.0, 1.0, 0.0) + (0.0, 0.0, 0.3)
    aligned /= np.linalg.norm(aligned, axis=1, keepdims=True)
    beside = Rotation.from_rotvec([0.0, 0.0, 1e-7]).apply(aligned)
    far_from_side = (aligned @ border(polygon).T).max(axis=1) < np.cos(0.01)
    np.testing.assert_array_equal(
        polygon.contains(aligned)[far_from_side], polygon.contains(beside)[far_from_side]
    )


def test_either_way_round_is_the_same_polygon() -> None:
    corners = np.array([[1.0, 0.0, 0.4], [0.1, 0.1, 1.0], [0.0, 1.0, 0.4], [-1.0, -1.0, 0.2]])
    there, back = SphericalPolygon(corners), SphericalPolygon(corners[::-1])
    np.testing.assert_array_equal(there.contains(ALL_ROUND), back.contains(ALL_ROUND))


@pytest.mark.parametrize(
    ("corners", "message"),
    [
        (np.eye(3)[:2], "at least three directions"),
        (np.zeros((4, 3)), "is no direction"),
        ([[1, 0, 1], [0, np.nan, 1], [0, 1, 1]], "is no direction"),
        ([[1, 0, 1], [1, 0, 1], [0, 1, 1]], "corners 0 and 1 of the spherical polygon are the same"),
        ([[1, 0, 0], [-1, 0, 0], [0, 1, 1]], "corners 0 and 1 of the spherical polygon are opposite"),
        ([[1, 0, 1], [-1, 0, 1], [0, 1, 1], [0, -1, 1]], "sides 0 and 2 of the spherical polygon meet"),
        ([[1, 0, -1], [-1, 0, -1], [0, 1, 1]], "passes through −z"),
    ],
)
def test_what_is_no_polygon_is_refused(corners: npt.ArrayLike, message: str) -> None:
    with pytest.raises(SkeletonError, match=message):
        SphericalPolygon(np.asarray(corners, np.float64))


def test_sides_along_one_great_circle_may_follow_but_not_fold() -> None:
    straight = [[1, 0, 1], [0, 0, 1], [-1, 0, 1], [0, 1, 0.5]]
    assert SphericalPolygon(np.array(straight, np.float64)).contains([0.0, 0.1, 1.0])
    folded = [[1, 0, 1], [-0.5, 0, 1], [0.5, 1, 1], [0.5, 0, 1], [-1, 0, 1], [0, 2, 1]]
    with pytest.raises(SkeletonError, match="meet"):
        SphericalPolygon(np.array(folded, np.float64))
