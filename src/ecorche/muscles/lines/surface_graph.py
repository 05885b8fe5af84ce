"""How the vertices of any triangle mesh hang together: pieces, ways over the surface, closed pieces.

Vertices at one place count as one, so that triangle soup and meshes cut at seams hang together. Nothing is
asked of the mesh: it may be open, non-manifold, in pieces, with vertices that no triangle uses.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
import numpy.typing as npt
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import connected_components, dijkstra

from ecorche.base.mesh import coincident_groups

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


class SurfaceGraph:
    """Connectivity of points [m] (V, 3) and triangles (T, 3).

    Attributes:
        merged: Number of the place of each vertex, (V,).
        edges: Pairs of places joined by a triangle's side, (E, 2).
        piece: Of each vertex, (V,); a vertex without triangles is a piece of its own.
        piece_count: How many pieces there are.
    """

    def __init__(self, points: Floats, triangles: npt.NDArray[np.integer]) -> None:
        self.points = points
        self.triangles = np.asarray(triangles, np.int64)
        self.merged: Ints = coincident_groups(points).astype(np.int64)
        corners = self.merged[self.triangles]
        sides = corners[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2)
        sides = np.sort(sides[sides[:, 0] != sides[:, 1]], axis=1)
        self.edges: Ints = np.unique(sides, axis=0).reshape(-1, 2)
        label = self.components(np.ones(len(points), bool))
        self.piece: Ints = np.unique(label, return_inverse=True)[1].reshape(-1)
        self.piece_count = int(self.piece.max(initial=-1)) + 1

    @cached_property
    def _places(self) -> int:
        return int(self.merged.max(initial=-1)) + 1

    @cached_property
    def _lengths(self) -> Floats:
        at = np.empty((self._places, 3))
        at[self.merged] = self.points
        return np.asarray(np.linalg.norm(at[self.edges[:, 0]] - at[self.edges[:, 1]], axis=1))

    def _matrix(self, kept: Bools, values: Floats) -> csr_array:
        shape = (self._places, self._places)
        return csr_array(coo_array((values[kept], tuple(self.edges[kept].T)), shape=shape))

    def components(self, chosen: Bools) -> Ints:
        """Numbers of the connected parts of chosen vertices, (V,): equal where joined by such only."""
        at = np.zeros(self._places, bool)
        at[self.merged[chosen]] = True
        kept = at[self.edges[:, 0]] & at[self.edges[:, 1]]
        graph = self._matrix(kept, np.ones(len(self.edges)))
        return np.asarray(connected_components(graph, directed=False)[1], np.int64)[self.merged]

    def ways(self, sources: Ints, limit: float = np.inf) -> Floats:
        """How far it is over edges from the nearest source vertex [m], (V,), infinite past the limit."""
        if len(sources) == 0:
            return np.full(len(self.points), np.inf)
        graph = self._matrix(np.ones(len(self.edges), bool), np.maximum(self._lengths, 1e-12))
        found = dijkstra(
            graph, directed=False, indices=np.unique(self.merged[sources]), min_only=True, limit=limit
        )
        return np.asarray(found, np.float64)[self.merged]

    def closed_triangles(self) -> Ints:
        """Triangles (T', 3) of the closed pieces, turned so that each piece has a positive volume.

        Closed is a piece in which every side is walked as often one way as the other.
        """
        corners = self.merged[self.triangles]
        own = self.piece[self.triangles[:, 0]] if len(corners) else np.zeros(0, np.int64)
        ways = corners[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2)
        sign = np.where(ways[:, 0] < ways[:, 1], 1, -1)
        key = ways.min(axis=1) * self._places + ways.max(axis=1)
        sides, number = np.unique(key, return_inverse=True)
        balance = np.bincount(number.reshape(-1), sign, len(sides))
        gaping = np.zeros(self.piece_count, bool)
        gaping[np.repeat(own, 3)[balance[number.reshape(-1)] != 0]] = True
        faces, own = self.triangles[~gaping[own]], own[~gaping[own]]
        a, b, c = np.moveaxis(self.points[faces] - self.points.mean(axis=0), 1, 0)
        volume = np.bincount(own, np.sum(a * np.cross(b, c), axis=1), self.piece_count)
        return np.where((volume < 0.0)[own][:, None], faces[:, ::-1], faces)
