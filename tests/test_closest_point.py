"""Closest points are exact: equal to libigl, and to trying every triangle."""

from __future__ import annotations

from pathlib import Path

import igl
import numpy as np
import numpy.typing as npt
import pytest

from ecorche.base.closest_point import TriangleSurface, closest_barycentric
from ecorche.io.formats import read_character

Floats = npt.NDArray[np.float64]


def soup(count: int, seed: int) -> tuple[Floats, npt.NDArray[np.int64]]:
    """Loose triangles of very different sizes, some without area."""
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(count, 1, 3))
    size = 10.0 ** rng.uniform(-4, 0.3, size=(count, 1, 1))
    corners = centres + size * rng.normal(size=(count, 3, 3))
    corners[: count // 20, 2] = corners[: count // 20, 0]  # a needle
    corners[count // 20 : count // 10, 1:] = corners[count // 20 : count // 10, :1]  # a point
    return corners.reshape(-1, 3), np.arange(3 * count).reshape(-1, 3)


@pytest.mark.parametrize("seed", range(3))
def test_equal_to_trying_every_triangle(seed: int) -> None:
    points, triangles = soup(300, seed)
    queries = np.random.default_rng(seed + 100).normal(size=(200, 3)) * 1.5
    surface = TriangleSurface(points, triangles)
    found = surface.closest(queries)
    barycentric = closest_barycentric(np.tile(surface.corners, (200, 1, 1, 1)), queries[:, None])
    nearest = np.einsum("qtc,tcx->qtx", barycentric, surface.corners)
    everything = np.linalg.norm(nearest - queries[:, None], axis=-1)
    np.testing.assert_allclose(found.distances, everything.min(axis=1), rtol=0, atol=1e-12)
    reached = np.einsum("qc,qcx->qx", found.barycentric, surface.corners[found.triangles])
    np.testing.assert_allclose(np.linalg.norm(reached - queries, axis=1), found.distances, atol=1e-12)
    np.testing.assert_allclose(found.barycentric.sum(axis=1), 1.0, atol=1e-12)
    assert found.barycentric.min() >= 0.0

    facing = np.random.default_rng(seed + 200).normal(size=(200, 3))
    facing /= np.linalg.norm(facing, axis=1, keepdims=True)
    allowed = facing @ surface.normals[:, 0].T >= 0.7
    limited = surface.closest(queries, facing=facing, least_cosine=0.7, within=0.5)
    expected = np.where(allowed & (everything < 0.5), everything, np.inf).min(axis=1)
    np.testing.assert_allclose(limited.distances, expected, rtol=0, atol=1e-12)
    assert ((limited.triangles < 0) == np.isinf(expected)).all()
    assert 0 < (limited.triangles < 0).sum() < 200


def test_equal_to_libigl_on_a_body(data: Path) -> None:
    old = read_character(data / "human" / "male_average_cmu_mb.glb").body().mesh
    new = read_character(data / "human" / "male_muscular_cmu_mb.glb").body().mesh
    found = TriangleSurface(old.points, old.triangles()).closest(new.points)
    squared, _, _ = igl.point_mesh_squared_distance(
        new.points.astype(np.float64), old.points.astype(np.float64), old.triangles().astype(np.int64)
    )
    np.testing.assert_allclose(found.distances, np.sqrt(squared), rtol=0, atol=1e-9)
