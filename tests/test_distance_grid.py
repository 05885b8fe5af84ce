"""Depths read off a grid, against the depths of the solids themselves."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from anatomy_shapes import ball
from ecorche.base.distance_grid import OUTSIDE, DistanceGrid, depth_in_grid, distance_grid
from ecorche.base.signed_distance import SignedSurface

Floats = npt.NDArray[np.float64]
RADII = np.array([0.02, 0.012, 0.008])
CENTRE = np.array([0.1, 0.2, 0.3])


def read(grid: DistanceGrid, points: Floats) -> tuple[Floats, Floats]:
    """Depths [m], (n,), and slopes, (n, 3)."""
    flat, (nx, ny, nz) = grid.values.ravel(), grid.values.shape
    cells = (points - grid.low) / grid.spacing
    rows = np.array([depth_in_grid(flat, 0, nx, ny, nz, *cell) for cell in cells])
    return rows[:, 0], rows[:, 1:] / grid.spacing


def test_inside_it_tells_depth_and_way_out_and_outside_that_it_is_outside() -> None:
    mesh = ball(CENTRE, RADII)
    grid = distance_grid(mesh.points, mesh.triangles, 0.001)
    near = CENTRE + np.random.default_rng(0).uniform(-1.1, 1.1, (2000, 3)) * RADII
    depth, outward = SignedSurface(mesh.points, mesh.triangles).depth(near)
    told, slopes = read(grid, near)
    inside = depth > 2e-4
    assert 500 < inside.sum() < 1200
    assert np.abs(told - depth)[inside].max() < 4e-4
    assert (told[depth < -2e-4] < 0.0).all()
    shallow = inside & (depth < 0.002)  # deeper down the ways out part
    assert (-np.sum(slopes * outward, axis=1)[shallow] > 0.9).mean() > 0.98  # at its tips they do too
    assert read(grid, CENTRE + np.array([[0.05, 0.0, 0.0]]))[0] == OUTSIDE


def test_most_nodes_outside_are_not_asked_for_and_stay_outside() -> None:
    """A ring lies in a box that is mostly empty."""
    angle = np.linspace(0.0, 2.0 * np.pi, 60, endpoint=False)
    around = np.stack([np.cos(angle), np.sin(angle), np.zeros(60)], axis=1)
    balls = [ball(0.05 * at, np.full(3, 0.006), rings=9) for at in around]
    sizes = np.cumsum([0, *(len(one.points) for one in balls)])
    points = np.concatenate([one.points for one in balls])
    triangles = np.concatenate([one.triangles + size for one, size in zip(balls, sizes, strict=False)])
    grid = distance_grid(points, triangles, 0.002)
    assert read(grid, 0.05 * around)[0].min() > 0.004
    middle = np.random.default_rng(1).uniform(-0.025, 0.025, (200, 3)) * (1.0, 1.0, 0.2)
    assert (read(grid, middle)[0] < 0.0).all()


def test_a_solid_that_is_inside_out_is_turned() -> None:
    mesh = ball(CENTRE, RADII)
    grid = distance_grid(mesh.points, mesh.triangles[:, ::-1], 0.002)
    assert read(grid, CENTRE[None])[0] > 0.005


def test_the_number_of_nodes_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ecorche.base.distance_grid.MOST", 10_000)
    mesh = ball(CENTRE, np.array([1.0, 0.9, 0.8]), rings=9)
    assert 5_000 < distance_grid(mesh.points, mesh.triangles, 1e-3).values.size < 20_000


def test_small_solids_get_small_cells() -> None:
    mesh = ball(CENTRE, np.full(3, 0.002))
    assert distance_grid(mesh.points, mesh.triangles, 0.01).spacing < 0.001
