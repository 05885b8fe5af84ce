"""All triangles near a point, against libigl asked about one triangle at a time."""

from __future__ import annotations

import igl
import numpy as np

from ecorche.base.closest_point import TriangleSurface
from ecorche.base.near_triangles import triangles_within


def test_every_triangle_within_reach_is_found_once_with_its_closest_point() -> None:
    rng = np.random.default_rng(3)
    corners = rng.normal(size=(90, 1, 3)) + 0.4 * rng.normal(size=(90, 3, 3))
    points, triangles = corners.reshape(-1, 3), np.arange(270).reshape(-1, 3)
    queries, reach = rng.normal(size=(40, 3)), rng.uniform(0.0, 1.5, 40)
    near = triangles_within(TriangleSurface(points, triangles), queries, reach)
    truth = np.sqrt(
        [
            igl.point_mesh_squared_distance(queries, points, triangles[n : n + 1].astype(np.int64))[0]
            for n in range(len(triangles))
        ]
    ).T
    found = np.full(truth.shape, np.inf)
    found[near.rows(), near.triangles] = near.distances
    assert len(near.triangles) == np.isfinite(found).sum() == (truth <= reach[:, None]).sum() > 300
    inside = np.isfinite(found)
    np.testing.assert_array_equal(inside, truth <= reach[:, None])
    np.testing.assert_allclose(found[inside], truth[inside], atol=1e-9)
    places = np.einsum("ec,ecx->ex", near.barycentric, corners[near.triangles])
    np.testing.assert_allclose(
        np.linalg.norm(places - queries[near.rows()], axis=1), near.distances, atol=1e-12
    )
    np.testing.assert_allclose(near.barycentric.sum(axis=1), 1.0, atol=1e-12)


def test_nothing_is_near_nothing() -> None:
    empty = TriangleSurface(np.zeros((0, 3)), np.zeros((0, 3), int))
    near = triangles_within(empty, np.zeros((2, 3)), 1.0)
    assert near.starts.tolist() == [0, 0, 0]
    far = TriangleSurface(np.eye(3), [[0, 1, 2]])
    assert triangles_within(far, [[9.0, 9.0, 9.0]], 1.0).starts.tolist() == [0, 0]
    assert triangles_within(far, np.zeros((0, 3)), 1.0).starts.tolist() == [0]
