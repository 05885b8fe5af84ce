"""Winding numbers against another library's, and where a surface crosses itself."""

from __future__ import annotations

import igl
import numpy as np
import numpy.typing as npt

from ecorche.base.winding import winding_numbers

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


def cube(at: float) -> tuple[Floats, Ints]:
    corners = np.array([[at + x, y, z] for x in (0.0, 1.0) for y in (0.0, 1.0) for z in (0.0, 1.0)])
    quads = [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]
    return corners, np.array([t for a, b, c, d in quads for t in ((a, b, c), (a, c, d))])


def test_inside_outside_and_twice_inside() -> None:
    (one, faces), (other, _) = cube(0.0), cube(0.5)
    points, triangles = np.vstack([one, other]), np.vstack([faces, faces + 8])
    places = np.array([[0.25, 0.4, 0.6], [0.75, 0.4, 0.6], [1.25, 0.4, 0.6], [2.0, 0.4, 0.6]])
    np.testing.assert_allclose(winding_numbers(places, points, triangles), [1.0, 2.0, 1.0, 0.0], atol=1e-12)
    inside_out = winding_numbers(places, points, triangles[:, ::-1])
    np.testing.assert_allclose(inside_out, [-1.0, -2.0, -1.0, 0.0], atol=1e-12)
    assert len(winding_numbers(np.zeros((0, 3)), points, triangles)) == 0


def test_an_open_surface_agrees_with_igl() -> None:
    points, faces = cube(0.0)
    places = np.random.default_rng(2).uniform(-0.5, 1.5, (40, 3))
    theirs = igl.winding_number(points, faces[:-3], places)
    np.testing.assert_allclose(winding_numbers(places, points, faces[:-3]), theirs, atol=1e-9)
