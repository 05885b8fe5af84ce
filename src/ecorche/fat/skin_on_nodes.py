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
from scipy.spatial import cKDTree

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

NODES = 4
"""k, as in the thesis."""


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
        frames = _neighbours(places)
        self._node_count = len(rest)
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

    def _axes(self, nodes: Floats) -> Floats:
        """Frames (bound, k, 3, 3), their columns unit vectors to three neighbours."""
        towards = nodes[self._frames] - nodes[self._nodes][:, :, None]
        return np.asarray(np.swapaxes(towards / np.linalg.norm(towards, axis=-1, keepdims=True), -1, -2))

    def at(self, nodes: Floats) -> Floats:
        """Where the bound vertices are [m], (bound, 3), for nodes [m] (nodes, 3)."""
        seen = nodes[self._nodes] + (self._axes(nodes) @ self._seen)[..., 0]
        return np.asarray(np.einsum("vk,vkx->vx", self._weights, seen))

    def forces_on_nodes(self, forces: Floats) -> Floats:
        """What forces on the bound vertices (bound, 3) [N] do to the nodes, (nodes, 3): each its share."""
        total = np.zeros((self._node_count, 3))
        np.add.at(total, self._nodes, self._weights[..., None] * forces[:, None])
        return total


def _neighbours(places: Ints) -> Ints:
    """Three neighbours of each node, one along each axis, (nodes, 3)."""
    number = {tuple(place): n for n, place in enumerate(places.tolist())}
    found = np.zeros((len(places), 3), np.int64)
    for node, place in enumerate(places.tolist()):
        for axis in range(3):
            for step in (1, -1):
                beside = list(place)
                beside[axis] += step
                if tuple(beside) in number:
                    found[node, axis] = number[tuple(beside)]
                    break
    return found
