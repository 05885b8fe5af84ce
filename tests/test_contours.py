"""Contours of values over a surface, against trimesh's plane sections and shapes known by heart."""

from __future__ import annotations

import time

import numpy as np
import numpy.typing as npt
import pytest
import trimesh

from ecorche.base.contours import contours, neighbouring_triangles
from ecorche.errors import MeshError

Floats = npt.NDArray[np.float64]


def _as_a_set(segments: Floats) -> Floats:
    """Middles and lengths of segments (n, 2, 3), whatever their order and sense."""
    middles = segments.mean(axis=1)
    lengths = np.linalg.norm(segments[:, 1] - segments[:, 0], axis=1)
    rows = np.column_stack([middles, lengths])
    return rows[np.lexsort(np.round(rows, 7).T)]


def test_the_height_cut_through_is_a_plane_section_as_trimesh_cuts_it() -> None:
    torus = trimesh.creation.torus(0.4, 0.15, major_sections=48, minor_sections=24)
    direction = np.array([0.8, 0.0, 0.6])
    levels = np.array([0.31, -0.2317, 0.017, 0.9])
    found = contours(torus.vertices, torus.faces, torus.vertices @ direction, levels)
    counts = []
    for level, curves in zip(levels, found.levels, strict=True):
        theirs = trimesh.intersections.mesh_plane(torus, direction, level * direction)
        counts.append(len(curves))
        assert all(curve.closed for curve in curves)
        for curve in curves:
            np.testing.assert_allclose(curve.points @ direction, level, atol=1e-12)
            np.testing.assert_allclose(curve.points, curve.read(torus.vertices), atol=1e-15)
            assert curve.below.shape == curve.above.shape == curve.share.shape == curve.triangles.shape
        ours = [np.stack([curve.points, np.roll(curve.points, -1, axis=0)], axis=1) for curve in curves]
        np.testing.assert_allclose(
            _as_a_set(np.concatenate([theirs[:0], *ours])), _as_a_set(theirs), atol=1e-9
        )
    assert counts == [1, 1, 2, 0]
    assert len(found.tangled) == 0


def test_every_step_of_a_curve_lies_in_its_triangle_and_higher_values_lie_on_its_left() -> None:
    ball = trimesh.creation.icosphere(3)
    values = ball.vertices[:, 1] + 0.3 * np.sin(4.0 * ball.vertices[:, 0])
    for curve in (
        curve for level in contours(ball.vertices, ball.faces, values, [0.02, 0.4]).levels for curve in level
    ):
        ahead = np.roll(curve.below, -1), np.roll(curve.above, -1)
        for corner in (curve.below, curve.above, *ahead):
            assert (ball.faces[curve.triangles] == corner[:, None]).any(axis=1).all()
        step = np.roll(curve.points, -1, axis=0) - curve.points
        left = np.cross(ball.face_normals[curve.triangles], step)
        upwards = ball.vertices[curve.above] - ball.vertices[curve.below]
        assert (np.einsum("px,px->p", left, upwards) > 0.0).all()


def test_vertices_exactly_on_a_level_neither_split_nor_tear_a_curve() -> None:
    across, up = np.meshgrid(np.arange(6), np.arange(5), indexing="ij")
    angle = 2.0 * np.pi * across.ravel() / 6
    tube = np.column_stack([np.cos(angle), np.sin(angle), up.ravel()])  # rows of vertices at whole heights
    first = (5 * np.arange(6)[:, None] + np.arange(4)).ravel()
    right = (first + 5) % 30
    triangles = np.vstack(
        [np.column_stack([first, right, right + 1]), np.column_stack([first, right + 1, first + 1])]
    )
    found = contours(tube, triangles, tube[:, 2], np.arange(5.0))
    assert [len(level) for level in found.levels] == [0, 1, 1, 1, 1]
    for height, (curve,) in zip([1.0, 2.0, 3.0, 4.0], found.levels[1:], strict=True):
        assert curve.closed
        np.testing.assert_array_equal(curve.points[:, 2], height)
        assert curve.length() == pytest.approx(6.0, abs=1e-12)  # the hexagon's rim, once round
    # a peak that touches its level is no curve
    tip = contours(
        [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]],
        [[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]],
        [0, 0, 0, 1],
        [1.0],
    )
    assert tip.levels == ((),)


def test_borders_leave_curves_open_and_a_fin_is_reported() -> None:
    flat = trimesh.creation.icosphere(2)
    front = flat.faces[(flat.vertices[flat.faces][:, :, 0] > -0.3).all(axis=1)]
    (curves,) = contours(flat.vertices, front, flat.vertices[:, 1], [0.1]).levels
    (curve,) = curves
    assert not curve.closed
    assert len(curve.triangles) == len(curve.points) - 1 == len(np.unique(curve.triangles))
    neighbours, _ = neighbouring_triangles(np.asarray(front, np.int64))
    assert (neighbours[curve.triangles[[0, -1]]] < 0).any(axis=1).all()  # it runs from border to border
    fin = contours(
        [[0, 0, 0], [0, 0, 1], [1, 0, 0], [-1, 0, 0], [0, 1, 0]],
        [[0, 1, 2], [1, 0, 3], [0, 1, 4]],
        [0, 1, 0, 0, 0],
        [0.5],
    )
    assert fin.tangled.tolist() == [[0, 1]]
    assert [len(curve.points) for curve in fin.levels[0]] == [2, 2, 2]


def test_wrong_input_is_refused_in_words() -> None:
    with pytest.raises(
        MeshError, match=r"contours of a surface: There are 2 values for 3 points. Give one a point"
    ):
        contours(np.eye(3), [[0, 1, 2]], [0.0, 1.0], [0.5])
    with pytest.raises(MeshError, match="The value at point 1 is not a finite number"):
        contours(np.eye(3), [[0, 1, 2]], [0.0, np.nan, 1.0], [0.5])
    with pytest.raises(MeshError, match="Triangle corner 2 is 3"):
        contours(np.eye(3), [[0, 1, 3]], [0.0, 0.5, 1.0], [0.5])
    assert contours(np.eye(3), np.zeros((0, 3), int), [0.0, 0.5, 1.0], [0.5]).levels == ((),)


def test_two_hundred_cuts_of_a_large_surface_take_seconds() -> None:
    ball = trimesh.creation.icosphere(7)  # 327,680 triangles
    levels = np.linspace(-0.99, 0.99, 200)
    contours(ball.vertices, ball.faces, ball.vertices[:, 1], levels[:1])  # compiled
    begin = time.perf_counter()
    found = contours(ball.vertices, ball.faces, ball.vertices[:, 1], levels)
    assert time.perf_counter() - begin < 5.0
    assert all(len(level) == 1 and level[0].closed for level in found.levels)
