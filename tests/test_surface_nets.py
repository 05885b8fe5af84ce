"""Surface nets: closed, manifold, outward, and of second order."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
import trimesh
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from ecorche.base.surface_nets import Net, surface_net
from ecorche.errors import MeshError

Floats = npt.NDArray[np.float64]


def _grid(count: int) -> tuple[Floats, float]:
    axis = np.linspace(-1.3, 1.3, count)
    return np.stack(np.meshgrid(axis, axis, axis, indexing="ij"), axis=-1), float(axis[1] - axis[0])


def _mesh(net: Net) -> trimesh.Trimesh:
    triangles = np.concatenate([net.quads[:, [0, 1, 2]], net.quads[:, [0, 2, 3]]])
    return trimesh.Trimesh(net.points, triangles, process=False)


def _edges(net: Net) -> Floats:
    return np.stack([net.quads, np.roll(net.quads, -1, axis=1)], axis=-1).reshape(-1, 2)


def test_vertices_approach_a_sphere_with_the_second_power_of_the_spacing() -> None:
    errors, volumes = [], []
    for count in (20, 39, 77):
        points, step = _grid(count)
        net = surface_net(np.linalg.norm(points - (0.03, 0.02, 0.01), axis=-1) - 1.0)
        places = step * net.points - 1.3
        errors.append(np.abs(np.linalg.norm(places - (0.03, 0.02, 0.01), axis=1) - 1.0).max())
        volumes.append(_mesh(net).volume * step**3)
    assert errors[0] / errors[1] > 3.4
    assert errors[1] / errors[2] > 3.4
    assert volumes[-1] == pytest.approx(4.0 / 3.0 * np.pi, rel=2e-3)  # positive: quads face outwards


def test_a_torus_has_one_hole() -> None:
    points, step = _grid(48)
    ring = np.hypot(points[..., 0], points[..., 1]) - 0.8
    net = surface_net(np.hypot(ring, points[..., 2]) - 0.3)
    mesh = _mesh(net)
    assert mesh.is_watertight
    assert mesh.euler_number == 0
    assert mesh.volume * step**3 == pytest.approx(2.0 * np.pi**2 * 0.8 * 0.09, rel=0.02)


@pytest.mark.parametrize("seed", range(6))
def test_any_field_gives_a_manifold(seed: int) -> None:
    # noise holds every pattern of inside and outside corners there is
    noise = np.random.default_rng(seed).normal(size=(14, 13, 12))
    net = surface_net(np.pad(noise, 1, constant_values=1.0))
    directed = _edges(net)
    assert len(np.unique(directed, axis=0)) == len(directed)  # each way once
    assert {*map(tuple, directed)} == {*map(tuple, directed[:, ::-1])}  # and back
    assert _fans(net) == len(net.points)


def _fans(net: Net) -> int:
    """Into how many fans the quads fall when they hang together by edges alone, round all vertices."""
    corner = np.arange(net.quads.size).reshape(-1, 4)
    both_ends = []  # each directed edge: its ends, and the corners of its quad there
    for k in range(4):
        after = (k + 1) % 4
        both_ends.append(
            np.stack([net.quads[:, k], net.quads[:, after], corner[:, k], corner[:, after]], axis=1)
        )
    edges = np.concatenate(both_ends)
    there = edges[np.lexsort(edges[:, [1, 0]].T)]
    back = edges[np.lexsort(edges[:, [0, 1]].T)]  # the same edges, seen from the quad on the other side
    links = np.concatenate([np.stack([there[:, 2], back[:, 3]]), np.stack([there[:, 3], back[:, 2]])], axis=1)
    ones = np.ones(links.shape[1])
    count, _ = connected_components(
        sparse.coo_array((ones, links), (corner.size, corner.size)), directed=False
    )
    return int(count)


def test_two_balls_a_diagonal_apart_do_not_touch() -> None:
    field = np.ones((6, 6, 6))
    field[2, 2, 2] = field[3, 3, 3] = field[3, 2, 2] = -1.0
    net = surface_net(field)
    assert _mesh(net).is_watertight
    # the node that gave way draws no two vertices onto itself
    edges = net.points[net.quads] - net.points[np.roll(net.quads, 1, axis=1)]
    assert np.linalg.norm(edges, axis=-1).min() > 0.02


def test_open_where_the_inside_reaches_the_border() -> None:
    points, _ = _grid(16)
    net = surface_net(np.hypot(points[..., 0], points[..., 1]) - 0.8)
    mesh = _mesh(net)
    assert not mesh.is_watertight
    assert mesh.is_winding_consistent
    assert mesh.euler_number == 0  # a tube


def test_the_same_field_gives_the_same_bytes_and_is_not_changed() -> None:
    noise = np.random.default_rng(0).normal(size=(9, 9, 9))
    before = noise.copy()
    first, second = surface_net(noise), surface_net(noise)
    assert first.points.tobytes() == second.points.tobytes()
    assert first.quads.tobytes() == second.quads.tobytes()
    assert np.array_equal(noise, before)


def test_fields_without_cells_or_with_holes_are_refused() -> None:
    with pytest.raises(MeshError, match="has no cells"):
        surface_net(np.zeros((3, 3)))
    with pytest.raises(MeshError, match="not finite"):
        surface_net(np.full((3, 3, 3), np.nan))
