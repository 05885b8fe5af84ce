"""Nearest points of ellipsoids: on the surface, along a normal, and no other point is nearer."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from scipy.optimize import minimize

from ecorche.base.ellipsoid import (
    distance_to_second_order,
    nearest_on_ellipsoid,
    nearest_point_derivatives,
    nearest_points,
    signed_distances,
)
from ecorche.errors import EcorcheError

Floats = npt.NDArray[np.float64]


def sphere_points(count: int) -> Floats:
    """Spread evenly over the unit sphere."""
    i = np.arange(count) + 0.5
    polar, turn = np.arccos(1.0 - 2.0 * i / count), np.pi * (1.0 + 5.0**0.5) * i
    return np.stack([np.cos(turn) * np.sin(polar), np.sin(turn) * np.sin(polar), np.cos(polar)], axis=-1)


def cases() -> tuple[Floats, Floats]:
    """Points and radii: anywhere, on axes and planes, at the centre; balls, needles, discs."""
    rng = np.random.default_rng(5)
    radii = np.exp(rng.uniform(np.log(0.003), np.log(0.3), (400, 3)))
    radii[::7, 1] = radii[::7, 0]
    radii[::13] = radii[::13, :1]
    radii[::11, 2] = 1e-7
    radii[::17, :2] = 1e-5
    points = radii * rng.normal(size=radii.shape) * rng.choice([0.01, 0.5, 1.0, 3.0], (400, 1))
    points[rng.random(points.shape) < 0.25] = 0.0
    points[:5] = 0.0
    points[::19] *= 1e-9
    return points, radii


def test_nearest_points_lie_on_the_surface_and_along_its_normal() -> None:
    points, radii = cases()
    found = nearest_points(points, radii)
    assert np.abs(np.sum((found / radii) ** 2, axis=1) - 1.0).max() < 1e-13
    normals = found / radii**2
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    across = np.linalg.norm(np.cross(points - found, normals), axis=1)
    assert (across <= 1e-12 * (np.linalg.norm(points, axis=1) + radii.max(axis=1))).all()


def test_no_point_of_the_surface_is_nearer_by_dense_search_and_minimisation() -> None:
    points, radii = cases()
    distance = np.linalg.norm(points - nearest_points(points, radii), axis=1)
    ball = sphere_points(4000)
    for n in range(0, 400, 4):
        x, e = points[n], radii[n]
        square = np.sum((ball * e - x) ** 2, axis=1)
        assert distance[n] <= np.sqrt(square.min()) * (1.0 + 1e-12)
        start = ball[np.argmin(square)]

        def away(q: Floats, x: Floats = x, e: Floats = e) -> float:
            return float(np.sum((e * q / np.linalg.norm(q) - x) ** 2)) / float(e.max()) ** 2

        best = minimize(away, start, method="Nelder-Mead", options={"xatol": 1e-10, "fatol": 1e-16})
        assert distance[n] <= np.sqrt(best.fun) * e.max() * (1.0 + 1e-9)


def test_of_a_sphere_and_at_the_centre() -> None:
    points = np.random.default_rng(1).normal(size=(50, 3))
    found = nearest_points(points, [0.3, 0.3, 0.3])
    assert found == pytest.approx(0.3 * points / np.linalg.norm(points, axis=1, keepdims=True), abs=1e-14)
    assert nearest_on_ellipsoid((0.0, 0.0, 0.0), (0.3, 0.1, 0.2)) == (0.0, 0.1, 0.0)
    assert nearest_on_ellipsoid((0.0, -0.0, 0.0), (0.1, 0.1, 0.1)) == (0.1, 0.0, 0.0)


def test_signed_distance_is_negative_inside_and_its_gradient_is_the_normal() -> None:
    points, radii = cases()
    found, normals = signed_distances(points, radii)
    away = points - nearest_points(points, radii)
    assert np.abs(found) == pytest.approx(np.linalg.norm(away, axis=1), rel=1e-9, abs=1e-15)
    inside = np.sum((points / radii) ** 2, axis=1)
    assert ((found < 0.0) == (inside < 1.0)).all()
    assert np.linalg.norm(normals, axis=1) == pytest.approx(1.0)
    assert np.abs(found[:, None] * normals - away).max() < 1e-13


def ordinary() -> tuple[Floats, Floats]:
    """Outside and near the surface inside, away from where nearest points jump."""
    rng = np.random.default_rng(8)
    radii = rng.uniform(0.05, 0.3, (100, 3))
    ball = rng.normal(size=(100, 3))
    ball /= np.linalg.norm(ball, axis=1, keepdims=True)
    return radii * ball * rng.uniform(0.93, 2.0, (100, 1)), radii


def test_derivative_of_the_nearest_point_is_the_closed_form() -> None:
    points, radii = ordinary()
    closed, step = nearest_point_derivatives(points, radii), 1e-6
    for axis in range(3):
        ahead = np.eye(3)[axis] * step
        numeric = (nearest_points(points + ahead, radii) - nearest_points(points - ahead, radii)) / (2 * step)
        assert closed[:, :, axis] == pytest.approx(numeric, abs=2e-7)


def test_second_derivative_of_the_distance() -> None:
    points, radii = ordinary()
    step = 1e-6
    for x, e in zip(points, radii, strict=True):
        d, nx, ny, nz, xx, xy, xz, yy, yz, zz = distance_to_second_order(*x, *e)
        value, normal = signed_distances(x, e)
        assert (d, nx, ny, nz) == pytest.approx((float(value), *normal), abs=1e-14)
        closed = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        around = np.eye(3) * step
        numeric = (signed_distances(x + around, e)[1] - signed_distances(x - around, e)[1]) / (2 * step)
        assert closed == pytest.approx(numeric, abs=1e-5 * np.abs(numeric).max() + 1e-6)


def test_the_disc_inside_takes_a_side_and_comes_near_to_it_from_both() -> None:
    radii = np.array([0.3, 0.2, 0.05])
    on_disc = np.array([0.1, 0.05, 0.0])
    found = nearest_points(on_disc, radii)
    assert found[2] > 0.0
    aside = np.array([0.0, 0.0, 1e-12])
    above, below = nearest_points(on_disc + aside, radii), nearest_points(on_disc - aside, radii)
    assert above == pytest.approx(found, abs=1e-10)
    assert below == pytest.approx(found * [1.0, 1.0, -1.0], abs=1e-10)


@pytest.mark.parametrize("radii", [(0.0, 1.0, 1.0), (-1.0, 1.0, 1.0), (np.nan, 1.0, 1.0), (1.0, 1.0)])
def test_what_is_no_ellipsoid_is_refused(radii: tuple[float, ...]) -> None:
    with pytest.raises(EcorcheError, match=r"make no ellipsoid.*above zero"):
        nearest_points([0.0, 0.0, 0.0], radii)
