"""Skin over surfaces that move: heights, medians, and a membrane that bridges gaps."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from ecorche.base.ray_tree import RayTree, allowed_parts
from ecorche.skin.fascia import Fascia
from ecorche.skin.height_field import HeightField
from ecorche.skin.two_rings import TwoRings, two_rings

Points = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]


def sheet(count: int, height: float, size: float = 0.1) -> tuple[Points, Ints]:
    """A flat square of count × count vertices, facing up."""
    x, y = np.meshgrid(np.linspace(0.0, size, count), np.linspace(0.0, size, count), indexing="ij")
    points = np.stack([x, y, np.full_like(x, height)], axis=-1).reshape(-1, 3).astype(np.float32)
    a = np.arange(count * count).reshape(count, count)[:-1, :-1].ravel()
    triangles = np.concatenate(
        [np.stack([a, a + count, a + 1], 1), np.stack([a + 1, a + count, a + count + 1], 1)]
    )
    return points, triangles


def up(points: Points) -> Points:
    return np.tile(np.array([0.0, 0.0, 1.0], np.float32), (len(points), 1))


def everything(count: int, parts: int = 1) -> npt.NDArray[np.uint64]:
    return allowed_parts(np.ones((count, parts), np.bool_))


def test_a_height_is_signed_and_changes_as_what_lies_beneath_moves() -> None:
    skin, _ = sheet(9, 0.0)
    below, triangles = sheet(7, -0.012, size=0.12)
    below[:, :2] -= np.float32(0.01)
    field = HeightField(skin, up(skin), RayTree(below, triangles), everything(len(skin)))
    np.testing.assert_allclose(field.heights, 0.012, atol=1e-6)
    for shift in (0.0, 0.02, -0.02):
        moved = below + np.array([0.0, 0.0, shift], np.float32)
        np.testing.assert_allclose(field.changes(skin, up(skin), moved), -shift, atol=1e-6)
    # farther than any muscle moves: it is not believed
    assert np.isnan(field.changes(skin, up(skin), below - np.array([0.0, 0.0, 0.05], np.float32))).all()
    standing_out = HeightField(
        skin, up(skin), RayTree(below + np.array([0.0, 0.0, 0.015], np.float32), triangles), everything(81)
    )
    np.testing.assert_allclose(standing_out.heights, -0.003, atol=1e-6)


def test_the_far_side_of_what_lies_beside_is_not_what_the_skin_lies_in() -> None:
    """As between fingers: a ray out of one goes through the next, and through two muscles of it."""
    skin = np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 0.015], [0.0, 0.0, 0.08]], np.float32)
    below, triangles = sheet(3, -0.05)
    below -= np.array([0.05, 0.05, 0.0], np.float32)
    corners = [np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])]
    box = np.array([[0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1]])
    box = np.concatenate([box, [[2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4], [1, 5, 7], [1, 7, 3]]])
    beside = [0.01 * c + np.array([0.0021, 0.0013, z]) for c in corners for z in (0.02, 0.026)]
    points = np.concatenate([below, *beside]).astype(np.float32)
    faces = np.concatenate([triangles, box + len(below), box + len(below) + 8])
    parts = np.repeat([0, 1, 2], [len(triangles), 12, 12])
    field = HeightField(
        skin, up(skin), RayTree(points, faces, parts), everything(3, 3), deepest=0.07, largest=0.03
    )
    # outside of both; in the first, which reaches from 10 to 30 mm; above the second, which ends at 36
    np.testing.assert_allclose(field.heights, [0.05, -0.015, 0.044], atol=1e-6)


def test_rays_do_not_believe_inner_sides_other_parts_or_nothing() -> None:
    skin, _ = sheet(5, 0.0)
    own, triangles = sheet(7, -0.02, size=0.12)
    own[:, :2] -= np.float32(0.01)
    other = own + np.array([0.0, 0.0, 0.015], np.float32)
    both = np.concatenate([own, other])
    faces = np.concatenate([triangles, triangles + len(own)])
    parts = np.repeat([0, 1], len(triangles))
    mine = allowed_parts(np.tile([True, False], (len(skin), 1)))
    field = HeightField(skin, up(skin), RayTree(both, faces, parts), mine)
    np.testing.assert_allclose(field.heights, 0.02, atol=1e-6)
    turned = np.concatenate([triangles, triangles[:, ::-1] + len(own)])
    field = HeightField(skin, up(skin), RayTree(both, turned), everything(len(skin)))
    np.testing.assert_allclose(field.heights, 0.02, atol=1e-6)
    aside = RayTree(own + np.array([1.0, 0.0, 0.0], np.float32), triangles)
    assert np.isnan(HeightField(skin, up(skin), aside, everything(len(skin))).heights).all()


def test_the_median_throws_out_single_values_and_keeps_steps() -> None:
    points, triangles = sheet(15, 0.0)
    rings = two_rings(points, triangles)
    step = np.where(points[:, 0] < 0.05, 0.0, 1.0).astype(np.float32)
    astray = step.copy()
    astray[[16 * 7, 16 * 3, 16 * 10]] = 40.0
    found, known = rings.median(astray, np.ones(len(points), np.bool_))
    assert known.all()
    inner = (points[:, 0] < 0.04) | (points[:, 0] > 0.06)
    np.testing.assert_array_equal(found[inner], step[inner])
    sure = np.zeros(len(points), np.bool_)
    sure[0] = True
    found, known = rings.median(step + 3.0, sure)
    assert 3 <= known.sum() <= 9  # the corner and its two rings
    assert (found[known] == 3.0).all()


def test_vertices_on_a_seam_are_one_place() -> None:
    points, triangles = sheet(6, 0.0)
    # the same sheet cut along its middle: vertices there stand twice
    cut = np.concatenate([points, points[12:18]])
    right = np.flatnonzero((points[triangles][:, :, 0] > 0.041).any(axis=1))
    faces = triangles.copy()
    for old, new in zip(range(12, 18), range(36, 42), strict=True):
        faces[right] = np.where(faces[right] == old, new, faces[right])
    whole, seamed = two_rings(points, triangles), two_rings(cut, faces)
    assert seamed.place_count == 36
    np.testing.assert_array_equal(seamed.place[36:], seamed.place[12:18])
    np.testing.assert_array_equal(seamed.members, whole.members)


@pytest.fixture(scope="module")
def plane() -> tuple[Points, TwoRings]:
    points, triangles = sheet(41, 0.0, size=0.2)
    return points, two_rings(points, triangles)


def test_a_membrane_bridges_narrow_gaps_and_comes_down_into_wide_ones(plane: tuple[Points, TwoRings]) -> None:
    points, rings = plane
    fascia = Fascia(rings, span=0.02, deepest=0.04, rounds=400)
    x = points[:, 0]

    def in_gap(width: float) -> float:
        beneath = np.where(np.abs(x - 0.1) < 0.5 * width, np.inf, 0.005).astype(np.float32)
        depth = fascia.depths(beneath)
        assert (depth <= np.minimum(beneath, 0.04) + 1e-7).all()
        return float(depth[np.argmin(np.abs(x - 0.1) + np.abs(points[:, 1] - 0.1))]) - 0.005

    # the depth of a string over a gap: (1 − 1 / cosh(w / 2ℓ)) of the way to D
    for width, free in ((0.012, 0.02), (0.032, 0.04), (0.122, 0.13)):  # between the vertices that are held
        wanted = 0.035 * (1.0 - 1.0 / np.cosh(free / 0.04))
        assert in_gap(width) == pytest.approx(wanted, rel=0.1)


def test_the_membrane_solves_its_obstacle_problem(plane: tuple[Points, TwoRings]) -> None:
    points, triangles = sheet(9, 0.0, size=0.04)
    rings = two_rings(points, triangles)
    rng = np.random.default_rng(5)
    beneath = np.where(rng.random(81) < 0.3, rng.uniform(0.002, 0.02, 81), np.inf).astype(np.float32)
    found = Fascia(rings, span=0.015, deepest=0.03, rounds=3000).depths(beneath)
    # at rest each vertex is where its neighbours and D draw it, or on what holds it up
    near = np.repeat(np.arange(81), np.diff(rings.near_starts))
    mean = np.bincount(near, rings.near_weights * found[rings.near], 81)
    pull = rings.square_edge / (4.0 * 0.015**2)
    drawn = (mean + pull * 0.03) / (1.0 + pull)
    np.testing.assert_allclose(found, np.minimum(drawn, np.minimum(beneath, 0.03)), atol=1e-6)


def test_nothing_known_beneath_leaves_it_at_its_depth(plane: tuple[Points, TwoRings]) -> None:
    _, rings = plane
    fascia = Fascia(rings, span=0.02, deepest=0.04, rounds=5)
    depth = fascia.depths(np.full(rings.place_count, np.inf, np.float32))
    np.testing.assert_allclose(depth, 0.04, atol=1e-7)
