"""How far apart vertices are: grids whose spacing is known, seams, and points no triangle uses."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from scipy.spatial.transform import Rotation

from ecorche.skin.spacing import edge_squares, spacing

Floats = npt.NDArray[np.float64]
X, Y, Z = np.eye(3)


def grid(across: float, along: float) -> tuple[Floats, npt.NDArray[np.int64]]:
    """Nine by nine points in the plane z = 0, every rectangle cut along one diagonal."""
    x, y = np.meshgrid(across * np.arange(9.0), along * np.arange(9.0), indexing="ij")
    points = np.stack([x, y, 0.0 * x], axis=-1).reshape(-1, 3)
    a = (9 * np.arange(8)[:, None] + np.arange(8)).reshape(-1)
    return points, np.concatenate([np.stack([a, a + 9, a + 10], 1), np.stack([a, a + 10, a + 1], 1)])


def test_rings_and_the_way_between_them_are_told_apart_however_the_grid_is_turned() -> None:
    points, triangles = grid(0.01, 0.04)
    turn = Rotation.from_rotvec([0.4, -0.8, 0.3]).as_matrix()
    for frame in (np.eye(3), turn):
        squares = edge_squares(points @ frame.T, triangles)[[40]]
        apart = [float(spacing(squares, frame @ axis)[0]) for axis in (X, Y, Z)]
        # four edges of six have the length of their axis in it: the diagonals are counted
        np.testing.assert_allclose(apart, np.sqrt(4.0 / 3.0) * np.array([0.01, 0.04, 0.0]), atol=1e-9)


def test_equal_triangles_are_as_far_apart_as_their_edges_are_long_in_every_direction() -> None:
    angles = np.pi / 3.0 * np.arange(6)
    points = np.concatenate(
        [np.zeros((1, 3)), 0.02 * np.stack([np.cos(angles), np.sin(angles), 0 * angles], 1)]
    )
    squares = edge_squares(points, np.array([[0, 1 + k, 1 + (k + 1) % 6] for k in range(6)]))
    for angle in np.linspace(0.0, np.pi, 7):
        direction = np.array([np.cos(angle), np.sin(angle), 0.0])
        assert spacing(squares[[0]], direction)[0] == pytest.approx(0.02)


def test_vertices_on_a_seam_have_one_spacing_and_unused_ones_none() -> None:
    points, triangles = grid(0.01, 0.02)
    used = edge_squares(points, triangles)
    # the right half on vertices of its own, and a point that no triangle has
    right = points[triangles][:, :, 0].mean(axis=1) > 0.04
    split = triangles.copy()
    split[right] += len(points)
    doubled = edge_squares(np.concatenate([points, points, points[:1] + 1.0]), split)
    on_seam = points[:, 0] == 0.04
    np.testing.assert_allclose(doubled[: len(points)][on_seam], used[on_seam], rtol=1e-12)
    assert (doubled[: len(points)] == doubled[len(points) : -1]).all()
    assert (doubled[-1] == 0.0).all()
