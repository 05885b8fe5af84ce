"""Closest points are exact: equal to libigl, and to trying every triangle."""

from __future__ import annotations

from pathlib import Path

import igl
import numpy as np
import numpy.typing as npt
import pytest

from ecorche.base.bounding_boxes import box_tree
from ecorche.base.closest_point import TriangleSurface
from ecorche.base.threads import at_most_threads
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


def closest_barycentric(corners: Floats, points: Floats) -> Floats:
    """Weights (..., 3) of the corners of triangles (..., 3, 3) at their points closest to (..., 3)."""
    a, b, c = corners[..., 0, :], corners[..., 1, :], corners[..., 2, :]
    points = np.broadcast_to(points, a.shape)
    ab, ac, ap = b - a, c - a, points - a
    bb, bc, cc = _dot(ab, ab), _dot(ab, ac), _dot(ac, ac)
    pb, pc = _dot(ap, ab), _dot(ap, ac)
    area = bb * cc - bc * bc
    flat = area <= 1e-14 * bb * cc
    area = np.where(flat, 1.0, area)
    v, w = (cc * pb - bc * pc) / area, (bb * pc - bc * pb) / area
    inside = ~flat & (v >= 0.0) & (w >= 0.0) & (v + w <= 1.0)
    result = np.stack([1.0 - v - w, v, w], axis=-1)
    least = np.where(inside, -1.0, np.inf)
    for start, end in ((0, 1), (1, 2), (2, 0)):
        edge = corners[..., end, :] - corners[..., start, :]
        square = _dot(edge, edge)
        t = np.clip(
            _dot(points - corners[..., start, :], edge) / np.where(square > 0.0, square, 1.0), 0.0, 1.0
        )
        gap = points - corners[..., start, :] - t[..., None] * edge
        distance = _dot(gap, gap)
        nearer = distance < least
        least = np.where(nearer, distance, least)
        on_edge = np.zeros_like(result)
        on_edge[..., start], on_edge[..., end] = 1.0 - t, t
        result = np.where(nearer[..., None], on_edge, result)
    return result


def _dot(a: Floats, b: Floats) -> Floats:
    product: Floats = np.einsum("...x,...x->...", a, b)
    return product


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


def test_the_lowest_of_equally_near_triangles_wins_on_any_number_of_threads() -> None:
    """A fan seen from its apex, and copies of it: every triangle is at the same distance."""
    angle = np.linspace(0.0, 2.0 * np.pi, 101)
    rim = np.stack([np.cos(angle), np.sin(angle), 0.0 * angle], axis=1)
    fan = np.stack([np.broadcast_to((0.0, 0.0, 1.0), (100, 3)), rim[:-1], rim[1:]], axis=1)
    points = np.tile(fan, (3, 1, 1)).reshape(-1, 3)
    surface = TriangleSurface(points, np.arange(900).reshape(-1, 3))
    above = np.tile((0.0, 0.0, 1.5), (200, 1))
    assert (surface.closest(above).triangles == 0).all()
    queries = np.random.default_rng(1).normal(size=(2000, 3))
    both = surface.closest(queries)
    assert both.triangles.max() < 100  # the copies never win
    with at_most_threads(1):
        alone = surface.closest(queries)
    for one, other in zip(vars(both).values(), vars(alone).values(), strict=True):
        np.testing.assert_array_equal(one, other)
    turned = surface.closest(queries[::-1])
    np.testing.assert_array_equal(turned.triangles[::-1], both.triangles)
    np.testing.assert_array_equal(turned.distances[::-1], both.distances)


@pytest.mark.parametrize("count", [1, 2, 4, 5, 7, 64, 65, 1000])
def test_every_member_is_in_a_leaf_and_every_box_holds_its_children(count: int) -> None:
    lower = np.random.default_rng(count).normal(size=(count, 3))
    upper = lower + 0.1
    tree = box_tree(lower, upper)
    np.testing.assert_array_equal(np.unique(tree.members), np.arange(count))
    moved = tree.fitted(lower + 5.0, upper + 5.0)
    np.testing.assert_allclose(moved.boxes[1:], tree.boxes[1:] + 5.0, rtol=0, atol=1e-12)
    for node in range(1, tree.leaf_count):
        children = tree.boxes[2 * node : 2 * node + 2]
        np.testing.assert_array_equal(tree.boxes[node, 0], children[:, 0].min(axis=0))
        np.testing.assert_array_equal(tree.boxes[node, 1], children[:, 1].max(axis=0))
    leaves = tree.members.reshape(tree.leaf_count, -1)
    np.testing.assert_array_equal(tree.boxes[tree.leaf_count :, 0], lower[leaves].min(axis=1))
    np.testing.assert_array_equal(tree.boxes[tree.leaf_count :, 1], upper[leaves].max(axis=1))


def test_nothing_to_find() -> None:
    assert (
        TriangleSurface(np.zeros((1, 3)), np.zeros((0, 3), int)).closest(np.ones((2, 3))).triangles == -1
    ).all()
    points, triangles = soup(20, 0)
    assert len(TriangleSurface(points, triangles).closest(np.zeros((0, 3))).triangles) == 0
    assert (
        TriangleSurface(points, triangles).closest(np.full((3, 3), 99.0), within=1.0).triangles == -1
    ).all()
