"""A skin that goes with the nodes of the fat below it.

Thesis, 5.4.4 and equation 5.3. Every vertex is seen from the k nearest nodes at the surface of the fat, each
with a frame of its own that turns and shears as the fat does there, and is put at the mean of where they see
it, each weighted by one over its distance. A node's frame is spanned by three nodes next to it: of all
neighbours the three that are farthest from lying in a plane. On a grid every node has one along each axis, in
the voxel it belongs to, so frames are never singular at rest.

Where fat is thinner than a voxel no node is near: such vertices stay with the skin as it is without dynamics.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.spatial import cKDTree

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

NODES = 4
"""k, as in the thesis."""
_NEXT = 19
"""A vertex and two rings round it: what presses on single vertices of a coarse skin makes no dents."""
_COVERED = 0.5
"""Which share of the skin round a vertex must be over nodes for all of a force on it to act on them."""


class SkinOnNodes:
    """Vertices of a skin on nodes of a grid.

    Args:
        vertices: At bind [m], (vertices, 3).
        rest: Nodes at bind [m], (nodes, 3).
        places: Their numbers on the grid, (nodes, 3).
        surface: Which of them lie at the surface of the fat, (nodes,).
        reach: From how far a node may hold a vertex [m].
        count: How many nodes hold a vertex, k.

    Attributes:
        bound: Which vertices have nodes within reach, (vertices,).
    """

    def __init__(
        self,
        vertices: Floats,
        rest: Floats,
        places: Ints,
        surface: npt.NDArray[np.bool_],
        reach: float,
        count: int = NODES,
    ) -> None:
        frames, beside = _neighbours(places)
        chosen = np.flatnonzero(surface)
        nearest = [*range(1, min(count, len(chosen)) + 1)]
        away, number = map(np.asarray, cKDTree(rest[chosen]).query(vertices, k=nearest))
        self.bound = away[:, 0] <= reach
        self._nodes = chosen[number[self.bound]]
        self._frames = frames[self._nodes]
        seen = vertices[self.bound][:, None] - rest[self._nodes]
        self._seen = np.linalg.solve(self._axes(rest), seen[..., None])
        weights = 1.0 / np.maximum(away[self.bound], 1e-6)
        self._weights = weights / weights.sum(axis=1, keepdims=True)
        self._press = _spread(vertices[self.bound], rest, places, chosen, beside, away[self.bound])

    def _axes(self, nodes: Floats) -> Floats:
        """Frames (bound, k, 3, 3), their columns unit vectors to three neighbours."""
        towards = nodes[self._frames] - nodes[self._nodes][:, :, None]
        return np.asarray(np.swapaxes(towards / np.linalg.norm(towards, axis=-1, keepdims=True), -1, -2))

    def at(self, nodes: Floats) -> Floats:
        """Where the bound vertices are [m], (bound, 3), for nodes [m] (nodes, 3)."""
        seen = nodes[self._nodes] + (self._axes(nodes) @ self._seen)[..., 0]
        return np.asarray(np.einsum("vk,vkx->vx", self._weights, seen))

    def forces_on_nodes(self, forces: Floats) -> Floats:
        """What forces on the bound vertices (bound, 3) [N] do to the nodes, (nodes, 3).

        Each is spread over the skin as far as to the next vertices; at the rim of the fat some of it acts on
        what is beside, elsewhere all of it on nodes.
        """
        return np.asarray(self._press @ forces)


def _spread(
    vertices: Floats, rest: Floats, places: Ints, chosen: Ints, beside: Ints, away: Floats
) -> sparse.csr_matrix:
    """How much of the force on each vertex acts on each node, (nodes, vertices).

    Args:
        vertices: [m], (vertices, 3).
        rest, places: Nodes [m] and their numbers on the grid, (nodes, 3).
        chosen: Which of them are at the surface, (surface,).
        beside: How many neighbours each has, (nodes,): one in a plane has five.
        away: How far from each vertex the nodes are that hold it [m], (vertices, k).
    """
    apart, _ = cKDTree(vertices).query(vertices, k=[min(_NEXT, len(vertices))])
    # so far that the nodes which hold it take part
    radius = np.maximum(np.asarray(apart)[:, 0], 1.5 * away.max(axis=1))
    near = cKDTree(vertices).sparse_distance_matrix(
        cKDTree(rest[chosen]), float(radius.max()), output_type="coo_matrix"
    )
    weight = np.maximum(1.0 - (near.data / radius[near.row]) ** 2, 0.0) ** 2
    weight *= np.clip((beside[chosen[near.col]] - 2.0) / 3.0, 0.0, 1.0)
    total = np.bincount(near.row, weight, len(vertices))
    edge = float(np.linalg.norm(rest[-1] - rest[0]) / np.linalg.norm(places[-1] - places[0]))
    # a flat surface full of nodes has π r² / 3 h² of them by these weights
    there = np.minimum(total / (_COVERED * np.pi * (radius / edge) ** 2 / 3.0), 1.0)
    share = weight * (there / np.maximum(total, 1e-12))[near.row]
    return sparse.csr_matrix((share, (chosen[near.col], near.row)), (len(rest), len(vertices)))


def _neighbours(places: Ints) -> tuple[Ints, Ints]:
    """Three neighbours of each node, one along each axis, (nodes, 3), and how many it has, (nodes,)."""
    number = {tuple(place): n for n, place in enumerate(places.tolist())}
    found, many = np.zeros((len(places), 3), np.int64), np.zeros(len(places), np.int64)
    for node, place in enumerate(places.tolist()):
        for axis in range(3):
            for step in (-1, 1):
                beside = list(place)
                beside[axis] += step
                if tuple(beside) in number:
                    found[node, axis] = number[tuple(beside)]
                    many[node] += 1
    return found, many
