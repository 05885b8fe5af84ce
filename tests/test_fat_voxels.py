"""Fat as voxels under a skin, what holds them, and the skin that goes with them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
import trimesh

from ecorche.errors import EcorcheError
from ecorche.fat.below_skin import below_skin
from ecorche.fat.elastic_grid import ElasticGrid, FrameMotion
from ecorche.fat.elasticity import TISSUES
from ecorche.fat.skin_on_nodes import SkinOnNodes
from ecorche.fat.voxels import FatVoxels, SkinSurface, fat_voxels
from ecorche.io.formats import read_character

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@pytest.fixture(scope="module")
def ball() -> tuple[Floats, Ints]:
    mesh = trimesh.creation.icosphere(4, radius=0.1)
    return np.asarray(mesh.vertices), np.asarray(mesh.faces, np.int64)


def upper(points: Floats) -> Floats:
    return np.clip(0.5 + points[:, 2] / 0.02, 0.0, 1.0)


def grid_of(found: FatVoxels, size: float) -> ElasticGrid:
    return ElasticGrid(found.voxels, size, TISSUES["fat"], found.held, corner=found.corner)


def test_a_shell_has_the_volume_of_the_layer_and_is_held_at_its_inner_side(ball: tuple[Floats, Ints]) -> None:
    points, triangles = ball
    found = fat_voxels(
        SkinSurface(points, triangles), np.full(len(points), 0.04), np.ones(len(points)), 0.008
    )
    volume = 4.0 / 3.0 * np.pi * (0.1**3 - 0.06**3)
    assert found.voxels.sum() * 0.008**3 == pytest.approx(volume, rel=0.03)
    assert found.dropped == 0
    grid = grid_of(found, 0.008)
    away = np.linalg.norm(grid.rest, axis=1)
    assert (away[grid.held] < 0.06 + 0.014).all()
    assert (away[~grid.held] > 0.06 - 0.001).all()
    assert grid.held.sum() > 300


def test_a_region_is_held_at_its_borders_too(ball: tuple[Floats, Ints]) -> None:
    points, triangles = ball
    found = fat_voxels(SkinSurface(points, triangles), np.full(len(points), 0.05), upper(points), 0.008)
    grid = grid_of(found, 0.008)
    assert grid.rest[:, 2].min() > -0.01
    assert grid.held[np.abs(grid.rest[:, 2]) < 0.004].all()
    free = ~grid.held
    assert np.linalg.norm(grid.rest[free], axis=1).max() > 0.095


def test_what_is_too_thin_or_too_fine_is_refused(ball: tuple[Floats, Ints]) -> None:
    points, triangles = ball
    everywhere = np.ones(len(points))
    with pytest.raises(EcorcheError, match="nowhere thicker"):
        fat_voxels(SkinSurface(points, triangles), np.full(len(points), 0.00002), everywhere, 0.02)
    with pytest.raises(EcorcheError, match="no vertex"):
        fat_voxels(SkinSurface(points, triangles), np.full(len(points), 0.02), np.zeros(len(points)), 0.01)
    with pytest.raises(EcorcheError, match="Give at least"):
        fat_voxels(SkinSurface(points, triangles), np.full(len(points), 0.02), everywhere, 0.0005)


def test_places_below_a_skin_are_exact_at_bind_and_go_with_it(ball: tuple[Floats, Ints]) -> None:
    points, triangles = ball
    places = 0.05 * np.random.default_rng(0).normal(size=(200, 3))
    kept = below_skin(points, triangles, places)
    np.testing.assert_allclose(kept.at(points), places, atol=1e-15)
    turn = np.linalg.qr(np.random.default_rng(1).normal(size=(3, 3)))[0]
    turn *= np.sign(np.linalg.det(turn))
    np.testing.assert_allclose(kept.at(points @ turn.T + 3.0), places @ turn.T + 3.0, atol=1e-14)


def test_skin_goes_with_the_nodes_below_it(ball: tuple[Floats, Ints]) -> None:
    points, triangles = ball
    grid = grid_of(
        fat_voxels(SkinSurface(points, triangles), np.full(len(points), 0.05), upper(points), 0.008), 0.008
    )
    surface = np.linalg.norm(grid.rest, axis=1) > 0.09
    skin = SkinOnNodes(points, grid.rest, grid.places, surface, 0.012)
    assert skin.bound[upper(points) == 1.0].all()
    assert not skin.bound[points[:, 2] < -0.05].any()
    np.testing.assert_allclose(skin.at(grid.rest), points[skin.bound], atol=1e-15)
    turn = np.linalg.qr(np.random.default_rng(1).normal(size=(3, 3)))[0]
    turn *= np.sign(np.linalg.det(turn))
    np.testing.assert_allclose(skin.at(grid.rest @ turn.T), points[skin.bound] @ turn.T, atol=1e-14)
    # a small strain is followed to first order
    strain = 0.01 * np.random.default_rng(2).normal(size=(3, 3))
    apart = skin.at(grid.rest @ (np.eye(3) + strain).T) - points[skin.bound] @ (np.eye(3) + strain).T
    assert np.abs(apart).max() < 0.03 * 0.012


def test_a_womans_chest_swings_after_a_hop_and_comes_to_rest(data: Path) -> None:
    character = read_character(data / "human" / "female_average_cmu_mb.glb")
    mesh = character.meshes[0].mesh
    points, triangles = mesh.points.astype(np.float64), mesh.triangles()
    front = (points[:, 1] > 1.1) & (points[:, 1] < 1.4) & (points[:, 0] > 0.02)
    tip = points[np.argmax(np.where(front, points[:, 2], -1.0))]
    region = np.clip((0.095 - np.linalg.norm(points - tip, axis=1)) / 0.03, 0.0, 1.0)
    grid = ElasticGrid(
        (
            found := fat_voxels(SkinSurface(points, triangles), np.full(len(points), 0.045), region, 0.01)
        ).voxels,
        0.01,
        TISSUES["breast"],
        found.held,
        corner=found.corner,
    )
    skin = SkinOnNodes(points[region > 0.5], grid.rest, grid.places, ~grid.held, 0.03)
    assert skin.bound.mean() > 0.9
    ways = []
    for frame in range(120):
        lift = -6.0 * np.sin(2.0 * np.pi * 1.5 * frame / 60.0) if frame < 60 else 0.0
        motion = FrameMotion(np.array([0.0, lift, 0.0]), np.zeros(3), np.zeros(3))
        grid.advance(1.0 / 60.0, motion=motion)
        moved = skin.at(grid.rest + grid.displacements) - points[region > 0.5][skin.bound]
        ways.append(np.linalg.norm(moved, axis=1).max())
    assert 0.003 < max(ways[:60]) < 0.05
    assert ways[-1] < 0.05 * max(ways)
