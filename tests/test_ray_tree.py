"""Rays against moving meshes, with Embree as the judge."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from embreex import rtcore_scene
from embreex.mesh_construction import TriangleMesh
from numba import njit

from ecorche.base.lanes import broadcast, rows_of_lanes
from ecorche.base.ray_tree import _NOWHERE, Hits, RayTree, _boxes_met, _inverse, allowed_parts
from ecorche.base.threads import at_most_threads
from ecorche.errors import MeshError
from ecorche.io.formats import read_character

Points = npt.NDArray[np.float32]
Ints = npt.NDArray[Any]


def embree(points: Points, triangles: Ints, origins: Points, directions: Points) -> Hits:
    scene = rtcore_scene.EmbreeScene(robust=True)
    TriangleMesh(scene, points[triangles].astype(np.float32))
    found = scene.run(origins, directions, query="INTERSECT", output=True)
    missed = found["geomID"] < 0
    return Hits(np.where(missed, np.inf, found["tfar"]), np.where(missed, -1, found["primID"]))


def singles(values: npt.ArrayLike) -> Points:
    return np.asarray(values, np.float32)


def unit(vectors: npt.NDArray[Any]) -> Points:
    return singles(vectors / np.linalg.norm(vectors, axis=1)[:, None])


def random_rays(count: int, about: npt.NDArray[Any]) -> tuple[Points, Points, Points]:
    rng = np.random.default_rng(8)
    origins = (about + 0.5 * rng.normal(size=(count, 3))).astype(np.float32)
    directions = unit(rng.normal(size=(count, 3)))
    # along the axes too, where boxes are met on their faces
    directions[: count // 8] = np.eye(3, dtype=np.float32)[rng.integers(0, 3, count // 8)]
    return origins, directions, np.full(count, 100.0, np.float32)


@pytest.fixture(scope="module")
def man(data: Path) -> tuple[Points, Ints]:
    mesh = read_character(data / "human" / "male_muscular_cmu_mb.glb").meshes[0].mesh
    return mesh.points, mesh.triangles()


def test_a_moving_person_is_hit_where_embree_hits_him(man: tuple[Points, Ints]) -> None:
    points, triangles = man
    origins, directions, reach = random_rays(4000, points.mean(axis=0))
    tree, remembered = RayTree(points, triangles), np.full(4000, -1, np.int32)
    for shift in (0.0, 0.02, 0.3):
        now = points + np.float32(shift) * np.sin(4.0 * points[:, [1, 2, 0]])
        tree.fit(now)
        ours = tree.cast(origins, directions, reach, remembered=remembered)
        theirs = embree(now, triangles, origins, directions)
        assert 400 < (ours.triangles >= 0).sum() < 3600
        np.testing.assert_array_equal(ours.triangles, theirs.triangles)
        np.testing.assert_allclose(ours.distances, theirs.distances, atol=3e-6)
        # what a ray remembers, and how many threads there are, does not show
        with at_most_threads(1):
            fresh = tree.cast(origins, directions, reach)
        np.testing.assert_array_equal(fresh.distances, ours.distances)
        np.testing.assert_array_equal(fresh.triangles, ours.triangles)


def test_no_ray_leaves_a_closed_mesh_between_its_triangles() -> None:
    # a sphere asked from within, exactly at its corners and along its edges
    rows, columns = 24, 48
    v, u = np.meshgrid(
        np.linspace(0.1, np.pi - 0.1, rows), np.arange(columns) * 2 * np.pi / columns, indexing="ij"
    )
    round_it = np.stack([np.sin(v) * np.cos(u), np.sin(v) * np.sin(u), np.cos(v)], axis=-1).reshape(-1, 3)
    points = np.concatenate([round_it, [[0.0, 0.0, 1.0], [0.0, 0.0, -1.0]]]).astype(np.float32)
    a = np.arange(rows * columns).reshape(rows, columns)
    b, c, d = np.roll(a, -1, 1)[:-1], a[1:], np.roll(a, -1, 1)[1:]
    sides = np.concatenate([np.stack([a[:-1], c, b], -1), np.stack([b, c, d], -1)]).reshape(-1, 3)
    top = np.stack([a[0], np.roll(a[0], -1), np.full(columns, len(points) - 2)], -1)
    bottom = np.stack([np.roll(a[-1], -1), a[-1], np.full(columns, len(points) - 1)], -1)
    triangles = np.concatenate([sides, top, bottom])
    tree = RayTree(points, triangles)
    middle = np.array([0.21, -0.13, 0.4], np.float32)
    targets = np.concatenate([points, points[triangles].mean(axis=1), points[triangles[:, :2]].mean(axis=1)])
    origins = np.tile(middle, (len(targets), 1))
    hits = tree.cast(origins, unit(targets - middle), np.full(len(targets), 9.0, np.float32))
    np.testing.assert_allclose(hits.distances, np.linalg.norm(targets - middle, axis=1), rtol=1e-5)
    outwards = tree.cast(origins, unit(targets - middle), np.full(len(targets), 9.0, np.float32), facing=True)
    assert (outwards.triangles < 0).all()
    inwards = tree.cast(
        singles(9.0 * targets), unit(-targets), np.full(len(targets), 9.0, np.float32), facing=True
    )
    assert (inwards.triangles >= 0).all()


def test_rays_pass_through_parts_they_may_not_hit() -> None:
    square = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]], np.float32)
    points = np.concatenate([square, square + singles([0, 0, 1]), square + singles([0, 0, 2])])
    one = np.array([[0, 1, 2], [0, 2, 3]])
    triangles = np.concatenate([one, one + 4, one + 8])
    tree = RayTree(points, triangles, np.repeat([0, 70, 129], 2))
    origins = np.tile(singles([0.3, 0.6, 5.0]), (4, 1))
    down, reach = np.tile(singles([0.0, 0.0, -1.0]), (4, 1)), singles([9.0, 9.0, 9.0, 4.5])
    allowed = np.zeros((4, 130), np.bool_)
    allowed[[0, 0, 0, 1, 1, 2, 3], [0, 70, 129, 0, 70, 64, 0]] = True
    hits = tree.cast(origins, down, reach, allowed=allowed_parts(allowed))
    np.testing.assert_allclose(hits.distances, [3.0, 4.0, np.inf, np.inf])
    np.testing.assert_array_equal(hits.triangles, [5, 3, -1, -1])


def test_rays_that_look_both_ways_find_what_is_nearest(man: tuple[Points, Ints]) -> None:
    points, triangles = man
    origins, directions, reach = random_rays(2000, points.mean(axis=0))
    tree = RayTree(points, triangles)
    forth, back = (tree.cast(origins, sign * directions, reach).distances for sign in (1, -1))
    both = tree.cast(origins, directions, reach, both_ways=True).distances
    np.testing.assert_allclose(both, np.where(forth <= back, forth, -back), atol=1e-5)


def test_triangles_without_area_are_not_hit_and_hide_nothing() -> None:
    points = singles([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.2, 0.2, 1.0], [0.4, 0.4, 1.0]])
    tree = RayTree(points, [[3, 3, 3], [3, 4, 3], [0, 1, 2], [3, 4, 4]])
    hits = tree.cast(singles([[0.2, 0.2, 3.0]]), singles([[0.0, 0.0, -1.0]]), singles([9.0]), facing=True)
    assert hits.triangles.tolist() == [2]
    assert hits.distances.tolist() == [3.0]


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(MeshError, match="no triangles"):
        RayTree(np.zeros((3, 3)), np.zeros((0, 3)))
    tree = RayTree(np.eye(3), [[0, 1, 2]])
    with pytest.raises(MeshError, match="shape"):
        tree.fit(np.zeros((4, 3)))


@njit  # type: ignore[untyped-decorator]
def children_met(boxes: Points, direction: Points, reach: float) -> int:
    o = broadcast(np.float32(0.1)), broadcast(np.float32(0.1)), broadcast(np.float32(0.1))
    inverse = (
        broadcast(_inverse(direction[0])),
        broadcast(_inverse(direction[1])),
        broadcast(_inverse(direction[2])),
    )
    return int(_boxes_met(boxes, 0, o, inverse, broadcast(np.float32(0.0)), broadcast(np.float32(reach))))


def test_no_ray_meets_boxes_that_are_not_there() -> None:
    boxes = rows_of_lanes((1, 6))
    boxes[:] = _NOWHERE
    boxes[0, :3, 0], boxes[0, 3:, 0] = 0.0, 1.0  # the first child is there
    slight = (1.0, 1e-6, 1e-9, 1e-11, 1e-12, 1e-20, 0.0)
    for sizes in product(slight, repeat=3):
        for signs in product((-1.0, 1.0), repeat=3):
            assert children_met(boxes, singles(sizes) * singles(signs), 0.02) == 1


def test_fitting_what_changed_is_fitting_all(man: tuple[Points, Ints]) -> None:
    points, triangles = man
    some, whole = RayTree(points, triangles), RayTree(points, triangles)
    changed = points[:, 1] > np.quantile(points[:, 1], 0.9)
    moved = np.where(changed[:, None], points + singles([0.1, 0.2, 0.0]), points)
    some.fit(moved, changed)
    whole.fit(moved)
    rays = random_rays(3000, moved.mean(axis=0))
    np.testing.assert_array_equal(some.cast(*rays).triangles, whole.cast(*rays).triangles)
    np.testing.assert_array_equal(some.cast(*rays).distances, whole.cast(*rays).distances)
    assert (whole.cast(*rays).triangles != RayTree(points, triangles).cast(*rays).triangles).any()
