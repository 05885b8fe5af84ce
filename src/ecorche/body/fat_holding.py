"""What holds fat: bones carry its nodes as they do the skin over them, muscles those beside them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.spatial import cKDTree

from ecorche.base.closest_point import TriangleSurface
from ecorche.base.smooth_step import smooth_step
from ecorche.body.fat import Holding
from ecorche.fat.below_skin import below_skin
from ecorche.fat.elastic_grid import ElasticGrid
from ecorche.fat.voxels import SkinSurface
from ecorche.skin.weights import SkinWeights

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

_BESIDE = 2.0
"""Of voxels: how near muscles carry a node too."""
_MOST = 0.02
"""How far muscles carry nodes of an adult away from where bones do [m]."""


def carried_by(
    grid: ElasticGrid, at_bind: Floats, skin: SkinSurface, weights: SkinWeights
) -> tuple[Ints, Floats]:
    """The joints that carry nodes as they do the skin over them, and how much each, (K,) and (nodes, K)."""
    hit = skin.nearest.closest(at_bind)
    joints, table = weights.padded()
    corners = skin.triangles[hit.triangles]
    carriers, column = np.unique(joints[corners], return_inverse=True)
    shares = np.zeros((len(at_bind), len(carriers)))
    row = np.broadcast_to(np.arange(len(at_bind))[:, None, None], joints[corners].shape)
    np.add.at(
        shares, (row, column.reshape(row.shape)), hit.barycentric[..., None] * table[corners].astype(float)
    )
    evened = _evening(grid)
    for _ in range(4):
        shares = evened @ shares
    shares /= shares.sum(axis=1, keepdims=True)
    used = shares.max(axis=0) > 0.0
    return carriers[used].astype(np.int64), shares[:, used]


def held_by_muscles(
    grid: ElasticGrid, at_bind: Floats, points: Floats, triangles: npt.NDArray[np.int32], size: float
) -> Holding | None:
    """How held nodes near muscles go with them; None where none is near.

    Args:
        grid: The fat.
        at_bind: Where its nodes are at bind [m], (nodes, 3).
        points, triangles: Of the muscles' surfaces at bind [m].
        size: How many times the size of a person the body is.
    """
    held, near_by = at_bind[grid.held], _BESIDE * grid.size
    corners = points[triangles]
    beside = (corners.max(axis=1) > held.min(axis=0) - near_by).all(axis=1)
    beside &= (corners.min(axis=1) < held.max(axis=0) + near_by).all(axis=1)
    if not beside.any():
        return None
    near_ones = triangles[beside]
    far = TriangleSurface(points, near_ones).closest(held).distances
    nodes = np.flatnonzero(far < near_by)
    if not len(nodes):
        return None
    muscles = below_skin(points, near_ones, held[nodes])
    near = sparse.csr_matrix(
        (smooth_step(2.0 - 2.0 * far[nodes] / near_by), (nodes, np.arange(len(nodes)))),
        shape=(len(held), len(nodes)),
    )
    evened = _evening(grid, grid.held)
    spread = sparse.csr_matrix(evened @ (evened @ (evened @ near)))
    return Holding(muscles, muscles.at(points), nodes, spread, _MOST * size)


def whole_inside(grid: ElasticGrid) -> Ints:
    """Nodes with a voxel on all eight sides."""
    beside = np.zeros([n + 1 for n in grid.voxels.shape], np.int64)
    for i, j, k in np.ndindex(2, 2, 2):
        x, y, z = grid.voxels.shape
        beside[i : i + x, j : j + y, k : k + z] += grid.voxels
    return np.flatnonzero(beside[tuple(grid.places.T)] == 8)


def _evening(grid: ElasticGrid, among: npt.NDArray[np.bool_] | None = None) -> sparse.csr_matrix:
    """The mean of every node and those beside it, (nodes, nodes); of some nodes alone where they are said."""
    chosen = np.arange(len(grid.places)) if among is None else np.flatnonzero(among)
    pairs = cKDTree(grid.places[chosen]).query_pairs(1.1, output_type="ndarray")
    ones = np.ones(2 * len(pairs) + len(chosen))
    own = np.arange(len(chosen))
    beside = sparse.csr_matrix(
        (ones, (np.r_[pairs[:, 0], pairs[:, 1], own], np.r_[pairs[:, 1], pairs[:, 0], own])),
        shape=(len(chosen), len(chosen)),
    )
    return sparse.csr_matrix(sparse.diags(1.0 / np.asarray(beside.sum(axis=1)).ravel()) @ beside)
