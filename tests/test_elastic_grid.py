"""Fat as an elastic solid, against what mechanics knows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest

from ecorche.base.rotations import matrix_from_xyzw, xyzw_from_rotation_vector
from ecorche.errors import EcorcheError
from ecorche.fat.elastic_grid import ElasticGrid, FrameMotion
from ecorche.fat.elasticity import TISSUES, Tissue, tissue_named

Floats = npt.NDArray[np.float64]

STILL = np.zeros(3)
GRAVITY = np.array([0.0, 0.0, -9.81])


def rotation_from_vector(vector: Floats) -> Floats:
    return matrix_from_xyzw(xyzw_from_rotation_vector(vector))


def under(gravity: Floats) -> FrameMotion:
    """A frame that stands still while gravity acts: as if it accelerated the other way."""
    return FrameMotion(-gravity, STILL, STILL)


def block(*shape: int, tissue: Tissue, size: float = 0.01, held_side: int | None = 0) -> ElasticGrid:
    held = np.zeros([n + 1 for n in shape], np.bool_)
    if held_side is not None:
        held[held_side] = True
    return ElasticGrid(np.ones(shape, np.bool_), size, tissue, held)


def ragged(tissue: Tissue) -> ElasticGrid:
    voxels = np.random.default_rng(4).random((5, 4, 11)) < 0.7
    return ElasticGrid(voxels, 0.02, tissue, np.zeros((6, 5, 12), np.bool_))


def test_small_displacements_obey_the_lame_equation() -> None:
    tissue = Tissue(10_000.0, 0.4)
    grid = block(6, 7, 9, tissue=tissue, held_side=None)
    rng = np.random.default_rng(1)
    square = rng.normal(size=(3, 3, 3))
    square += square.transpose(0, 2, 1)
    # d = xᵀ A x in each component: Δd and ∇ div d are the same everywhere
    scale = 1e-3
    grid.displace(scale * np.einsum("cij,ni,nj->nc", square, grid.rest, grid.rest))
    laplacian, of_divergence = 2.0 * np.einsum("cii->c", square), 2.0 * np.einsum("ccj->j", square)
    density = tissue.shear * laplacian + (tissue.shear + tissue.bulk) * of_divergence
    inner = ((grid.places > 0) & (grid.places < grid.places.max(axis=0))).all(axis=1)
    assert inner.sum() == 5 * 6 * 8
    wanted = scale * density * grid.size**3
    assert np.abs(grid.forces()[inner] - wanted).max() < 2e-3 * np.abs(wanted).max()


@pytest.mark.parametrize("stiffening", [0.0, 3.0])
@pytest.mark.parametrize("grown", [False, True])
def test_forces_are_the_slope_of_the_energy_also_when_much_is_deformed(
    stiffening: float, grown: bool
) -> None:
    grid, rng = ragged(Tissue(8_000.0, 0.45, stiffening=stiffening)), np.random.default_rng(2)
    shape = grid.rest.shape
    start, way = 0.006 * rng.normal(size=shape), rng.normal(size=shape)
    if grown:
        grid.fill(grid.grown_in(start))
    energies = []
    for share in (-1e-5, 1e-5):
        grid.displace(start + share * way)
        energies.append(grid.energy())
    grid.displace(start)
    work = (grid.forces() * way).sum()
    assert -(energies[1] - energies[0]) / 2e-5 == pytest.approx(work, rel=2e-3)


def test_inner_forces_neither_push_nor_turn_the_whole() -> None:
    grid, rng = ragged(Tissue(8_000.0, 0.45)), np.random.default_rng(3)
    grid.displace(0.005 * rng.normal(size=grid.rest.shape))
    forces = grid.forces()
    largest = np.abs(forces).sum()
    assert np.abs(forces.sum(axis=0)).max() < 1e-5 * largest
    torque = np.cross(grid.rest + grid.displacements, forces).sum(axis=0)
    assert np.abs(torque).max() < 1e-5 * largest * 0.2


def test_what_is_only_moved_or_turned_feels_nothing() -> None:
    grid = ragged(Tissue(8_000.0, 0.45))
    grid.displace(np.array([[0.3, -0.2, 0.1]]) + np.zeros_like(grid.rest))
    assert np.abs(grid.forces()).max() < 1e-3
    turn = rotation_from_vector(np.array([0.9, -1.4, 2.0]))
    grid.displace(grid.rest @ turn.T - grid.rest)
    stretched = 0.01 * 8_000.0 * grid.size**2
    assert np.abs(grid.forces()).max() < 1e-3 * stretched
    assert abs(grid.energy()) < 1e-7


def test_a_hanging_bar_is_as_long_as_it_should_be() -> None:
    tissue = Tissue(200_000.0, 0.3, viscosity=0.004)
    bar = block(30, 3, 3, tissue=tissue)
    bar.advance(3.0, motion=under(np.array([9.81, 0.0, 0.0])))
    assert np.abs(bar.velocities).max() < 1e-4
    tip = bar.displacements[bar.places[:, 0] == 30, 0].mean()
    assert tip == pytest.approx(tissue.density * 9.81 * 0.3**2 / (2.0 * tissue.young), rel=0.05)


@pytest.mark.parametrize("young", [3_000.0, 10_000.0])
def test_the_thesis_cube_keeps_its_volume(young: float) -> None:
    # λ = 150 μ
    cube = block(7, 7, 7, tissue=Tissue(young, 150.0 / 302.0, viscosity=0.006))
    assert len(cube.rest) == 512
    for _ in range(40):
        cube.advance(0.02, motion=under(GRAVITY))
        assert cube.volume() == pytest.approx(0.07**3, rel=0.01)
    assert cube.displacements[:, 2].min() < -0.01


def test_energy_does_not_grow() -> None:
    lively = block(5, 5, 9, tissue=Tissue(10_000.0, 0.49, viscosity=0.0))
    lively.displace(0.005 * np.sin(20.0 * lively.rest[:, [1, 2, 0]]) * lively.rest[:, :1] / 0.05)
    whole = lively.energy()
    totals = []
    for _ in range(100):
        lively.advance(0.01)
        totals.append(lively.energy() + lively.kinetic_energy())
    # at once pressure goes; then it swings on for a second, losing little and gaining nothing
    assert max(totals) < 0.8 * whole
    assert 0.75 * np.mean(totals[10:30]) < np.mean(totals[-20:]) < 1.01 * np.mean(totals[10:30])
    calm = block(5, 5, 9, tissue=Tissue(10_000.0, 0.49, viscosity=0.004))
    calm.displace(lively.displacements)
    before = np.inf
    for _ in range(20):
        calm.advance(0.01)
        now = calm.energy() + calm.kinetic_energy()
        assert now < before * (1.0 + 1e-4)
        before = now


def test_a_step_that_is_too_long_is_halved_until_nothing_flies_apart() -> None:
    solid = block(5, 5, 9, tissue=Tissue(10_000.0, 0.49, viscosity=0.0))
    bent = 0.005 * np.sin(20.0 * solid.rest[:, [1, 2, 0]]) * solid.rest[:, :1] / 0.05
    solid.displace(bent)
    whole, seconds, long = solid.energy(), 0.05, 10.0 * solid.step
    steps = solid.advance(seconds, step=long)
    asked = int(np.ceil(seconds / long))
    assert steps in [asked * 2**halvings for halvings in range(2, 7)]
    assert solid.energy() + solid.kinetic_energy() < whole
    # and where six times do not help it is refused, and is where it was
    solid.displace(bent)
    before = solid.displacements.copy()
    with pytest.raises(EcorcheError, match=r"flies apart even at a step of .* ms"):
        solid.advance(seconds, step=1000.0 * solid.step)
    assert np.array_equal(solid.displacements, before)


def test_a_turn_of_the_whole_body_ends_where_it_began() -> None:
    # gravity goes round in the body's frame, and turning pulls outwards
    tissue, seconds, pieces = Tissue(10_000.0, 0.45, viscosity=0.02), 4.0, 400
    cube = block(5, 5, 5, tissue=tissue)
    cube.advance(2.0, motion=under(GRAVITY))
    start = cube.displacements
    farthest = 0.0
    for piece in range(pieces):
        share = (piece + 0.5) / pieces
        angle = 2.0 * np.pi * (share - np.sin(2.0 * np.pi * share) / (2.0 * np.pi))
        rate = 2.0 * np.pi / seconds * (1.0 - np.cos(2.0 * np.pi * share))
        faster = (2.0 * np.pi) ** 2 / seconds**2 * np.sin(2.0 * np.pi * share)
        down = rotation_from_vector(np.array([0.0, -angle, 0.0])) @ GRAVITY
        motion = FrameMotion(-down, np.array([0.0, rate, 0.0]), np.array([0.0, faster, 0.0]))
        cube.advance(seconds / pieces, motion=motion)
        farthest = max(farthest, float(np.abs(cube.displacements - start).max()))
    cube.advance(2.0, motion=under(GRAVITY))
    assert farthest > 0.003
    assert np.abs(cube.displacements - start).max() < 2e-5


def test_inertia_in_a_turning_frame_is_that_of_free_flight() -> None:
    # a free block that no force acts on goes straight on; seen from a turning frame it goes round
    grid, turn, seconds = (
        block(2, 2, 2, tissue=Tissue(20_000.0, 0.3, viscosity=0.0), held_side=None),
        1.5,
        0.4,
    )
    axis = np.array([0.2, -0.4, 1.0]) * turn
    speed = np.array([0.3, 0.1, -0.2])
    grid.displace(np.zeros_like(grid.rest), speed - np.cross(axis, grid.rest))
    motion = FrameMotion(STILL, axis, STILL)
    grid.advance(seconds, motion=motion, step=1e-5)
    back = rotation_from_vector(-seconds * axis)
    wanted = (grid.rest + seconds * speed) @ back.T
    np.testing.assert_allclose(grid.rest + grid.displacements, wanted, atol=2e-4)


def test_held_nodes_go_where_they_are_told_and_take_the_others_along() -> None:
    cube = block(4, 4, 4, tissue=Tissue(10_000.0, 0.45, viscosity=0.02))
    there = np.tile([0.03, -0.02, 0.01], (int(cube.held.sum()), 1))
    cube.advance(0.1, held_to=there)
    np.testing.assert_allclose(cube.displacements[cube.held], there, atol=1e-6)
    cube.advance(3.0)
    np.testing.assert_allclose(cube.displacements, np.tile(there[:1], (len(cube.rest), 1)), atol=1e-5)


def test_a_layer_that_is_drawn_apart_does_not_get_thinner_where_more_comes_in() -> None:
    tissue, held = replace(TISSUES["fat"], viscosity=0.02), np.zeros((13, 5, 4), np.bool_)
    held[:, :, 0] = held[[0, -1]] = True
    layer = ElasticGrid(np.ones((12, 4, 3), np.bool_), 0.01, tissue, held)
    # the right half is drawn out to half as long again; what is left of it is as it was
    apart = np.zeros_like(layer.rest)
    apart[:, 0] = np.maximum(layer.rest[:, 0] - 0.06, 0.0) * 0.5
    top = layer.places[:, 2] == 3
    low = {}
    for grown in (False, True):
        grid = layer.at_rest()
        if grown:
            grid.fill(grid.grown_in(apart))
        grid.advance(0.2, held_to=apart[grid.held], drag=20.0)
        grid.advance(2.0, drag=20.0)
        low[grown] = grid.displacements[top, 2].min()
        assert np.abs(grid.velocities).max() < 1e-4
    assert low[False] < -0.003
    assert low[True] > 0.35 * low[False]
    # what is pressed together holds as much as at rest
    assert layer.grown_in(-0.5 * apart).max() == 0.0


def test_the_thesis_breast_is_stable_at_the_step_that_is_stated() -> None:
    # 904 nodes of 1 cm, 254 of them held, 10 kPa, ν = 0.495
    i, j, k = np.meshgrid(np.arange(-8, 8), np.arange(-8, 8), np.arange(8), indexing="ij")
    away = ((i + 0.5) / 7.0) ** 2 + ((j + 0.5) / 7.0) ** 2 + ((k + 0.5) / 6.4) ** 2
    grid = ElasticGrid(away < 0.92, 0.01, TISSUES["fat"], np.broadcast_to(np.arange(9) < 1, (17, 17, 9)))
    assert 850 < len(grid.rest) < 960
    assert 170 < grid.held.sum() < 270
    assert 0.0002 < grid.step < 0.01 / TISSUES["fat"].pressure_wave
    grid.advance(1.0, motion=under(GRAVITY))
    assert np.isfinite(grid.displacements).all()
    assert 1e-4 < np.abs(grid.displacements).max() < 0.05
    # a step that is too long is noticed and halved, not believed
    settled, too_long = grid.displacements, 4.0 * grid.step
    steps = grid.advance(0.5, motion=under(GRAVITY), step=too_long)
    assert steps >= 2 * np.floor(0.5 / too_long)
    np.testing.assert_allclose(grid.displacements, settled, atol=2e-4)


def test_tissues_are_known_by_name_and_refused_in_words() -> None:
    assert tissue_named("fat") is TISSUES["fat"]
    with pytest.raises(EcorcheError, match="no tissue"):
        tissue_named("fet")
    for bad in ({"young": 0.0, "poisson": 0.4}, {"young": 1e4, "poisson": 0.5}):
        with pytest.raises(EcorcheError, match="material of fat"):
            Tissue(**bad)
    with pytest.raises(EcorcheError, match="no voxel"):
        ElasticGrid(np.zeros((2, 2, 2), np.bool_), 0.01, TISSUES["fat"], np.zeros((3, 3, 3), np.bool_))


def test_a_long_solid_swings_alike_along_each_axis_and_few_lanes_are_idle() -> None:
    # kernels take eight voxels along the axis that suits best: the solid must not notice
    tissue, pull = Tissue(10_000.0, 0.45), np.array([2.0, -3.0, 5.0])
    turning, faster = np.array([0.5, 2.0, -1.0]), np.array([3.0, 0.0, 4.0])
    ways = []
    for axis in range(3):
        shape = np.roll([13, 3, 2], axis)
        held = np.zeros([n + 1 for n in shape], np.bool_)
        held[tuple(0 if a == axis else slice(None) for a in range(3))] = True
        bar = ElasticGrid(np.ones(shape, np.bool_), 0.01, tissue, held)
        motion = FrameMotion(*(np.roll(v, axis) for v in (pull, turning, faster)))
        bar.advance(0.2, motion=motion)
        ways.append(np.roll(bar.displacements[np.lexsort(np.roll(bar.places, -axis, 1).T)], -axis, axis=1))
        assert len(bar._layout.voxel_runs) <= 13  # 78 voxels, in rows of 13 with a gap of one
    assert np.abs(ways[0]).max() > 0.002
    for other in ways[1:]:
        np.testing.assert_allclose(other, ways[0], atol=1e-6)


def test_forces_from_outside_move_it_as_its_weight_would() -> None:
    cube, pushed = (block(4, 4, 4, tissue=Tissue(10_000.0, 0.45, viscosity=0.02)) for _ in range(2))
    cube.advance(1.0, motion=under(GRAVITY))
    pushed.push(pushed.masses[:, None] * GRAVITY)
    pushed.advance(1.0)
    assert cube.displacements[:, 2].min() < -5e-4
    np.testing.assert_allclose(pushed.displacements, cube.displacements, atol=1e-7)


def test_drag_settles_it_where_it_would_come_to_rest() -> None:
    slow, fast = (block(5, 5, 5, tissue=Tissue(5_000.0, 0.45, viscosity=0.02)) for _ in range(2))
    slow.advance(6.0, motion=under(GRAVITY))
    fast.advance(0.6, motion=under(GRAVITY), drag=30.0)
    assert np.abs(fast.velocities).max() < 2e-3
    np.testing.assert_allclose(fast.displacements, slow.displacements, atol=1e-4)


def test_tissue_that_stiffens_gives_way_less_the_farther_it_is_sheared() -> None:
    sheared = np.zeros((1, 3))
    forces = []
    for stiffening in (0.0, 2.0):
        cube = block(4, 4, 4, tissue=Tissue(10_000.0, 0.45, stiffening=stiffening), held_side=None)
        for share in (0.1, 1.0):
            sheared = np.zeros_like(cube.rest)
            sheared[:, 1] = share * cube.rest[:, 0]
            cube.displace(sheared)
            forces.append(np.abs(cube.forces()[cube.places[:, 0] == 4, 1]).sum() / share)
    usual, far, small, stiff = forces
    assert far == pytest.approx(usual, rel=1e-3)
    assert small == pytest.approx(1.02 * usual, rel=1e-3)
    assert stiff == pytest.approx(3.0 * usual, rel=1e-3)
