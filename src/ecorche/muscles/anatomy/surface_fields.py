"""Smooth fields and distances over a surface of any make: open, tangled, or in several pieces.

Fields are harmonic: they solve Laplace's equation with the cotangent weights of the triangles, given values
at some vertices. Weights below a small share of the mean are lifted to it, so that obtuse and degenerate
triangles cannot make a field leave its bounds: every field is a weighted mean of the values given. Pieces are
joined, each to the nearest already joined, by links between their facing vertices, so that a field and a
distance go through all of a muscle.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
import numpy.typing as npt
from scipy.sparse import coo_array, csr_array, diags_array
from scipy.sparse.csgraph import connected_components, dijkstra
from scipy.sparse.linalg import splu
from scipy.spatial import cKDTree

from ecorche.base.mesh import coincident_groups

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

LEAST_WEIGHT = 1e-3
"""Least weight of an edge, in mean weights."""
FACING = 1.25
"""Vertices face another piece if they are at most so many times as far from it as the nearest."""


class SurfaceFields:
    """A surface to solve fields on: points [m] (vertices, 3), triangles (triangles, 3).

    Coincident vertices count as one, so seams are no borders.
    """

    def __init__(self, points: Floats, triangles: Ints) -> None:
        self.points, self.triangles = points, triangles
        group = coincident_groups(points).astype(np.int64)
        kept, self._merged = np.unique(group, return_inverse=True)
        self._places = points[kept]
        self._corners = self._merged[triangles]
        self.weights = self._linked(self._edge_weights())

    @cached_property
    def area(self) -> Floats:
        """Area that belongs to each vertex [m²], shape (vertices,); vertices in one place share it out."""
        corners = self._places[self._corners]
        size = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
        total = np.bincount(self._corners.reshape(-1), np.repeat(size / 6.0, 3), len(self._places))
        return np.asarray((total / np.bincount(self._merged))[self._merged])

    def harmonic(self, held: Ints, values: Floats) -> Floats:
        """Fields (vertices, k) that take the values (held, k) at held vertices and are smooth elsewhere."""
        rows = self._merged[held]
        _, first = np.unique(rows, return_index=True)
        rows, values = rows[first], np.asarray(values, np.float64)[first]
        free = np.ones(len(self._places), bool)
        free[rows] = False
        solution = np.zeros((len(self._places), values.shape[1]))
        solution[rows] = values
        laplacian = csr_array(diags_array(np.asarray(self.weights.sum(axis=1)).ravel()) - self.weights)
        if free.any():
            system = laplacian[free][:, free].tocsc()
            right = -(laplacian[free][:, ~free] @ solution[~free])
            solution[free] = splu(system).solve(right)
        return solution[self._merged]

    def distances(self, sources: Ints) -> Floats:
        """Shortest ways along edges from the nearest of some vertices to all [m], shape (vertices,)."""
        rows = np.unique(self._merged[sources])
        return np.asarray(dijkstra(self._lengths, directed=False, indices=rows, min_only=True)[self._merged])

    def pieces_among(self, vertices: Ints) -> list[Ints]:
        """Some vertices by the connected patches they form, the larger patch first."""
        if not len(vertices):
            return []
        inside = np.unique(self._merged[vertices])
        _, label = connected_components(self.weights[inside][:, inside], directed=False)
        of = label[np.searchsorted(inside, self._merged[vertices])]
        patches = [vertices[of == number] for number in np.unique(of)]
        return sorted(patches, key=lambda patch: (-len(patch), int(patch[0])))

    def pieces(self) -> int:
        """How many separate pieces the surface has."""
        return self._pieces

    @cached_property
    def _lengths(self) -> csr_array:
        graph = self.weights.tocoo()
        one, other = graph.coords
        far = np.linalg.norm(self._places[one] - self._places[other], axis=1)
        return csr_array(coo_array((np.maximum(far, 1e-12), (one, other)), shape=graph.shape))

    def _edge_weights(self) -> csr_array:
        corners = self._places[self._corners]
        entries = []
        for k in range(3):
            a, b, c = corners[:, k], corners[:, (k + 1) % 3], corners[:, (k + 2) % 3]
            across = np.linalg.norm(np.cross(a - c, b - c), axis=1)
            cotangent = np.sum((a - c) * (b - c), axis=1) / np.maximum(across, 1e-18)
            entries.append(
                (np.clip(cotangent, -1e3, 1e3), self._corners[:, k], self._corners[:, (k + 1) % 3])
            )
        weight, one, other = (np.concatenate(column) for column in zip(*entries, strict=True))
        proper = one != other
        weight, one, other = weight[proper], one[proper], other[proper]
        size = (len(self._places),) * 2
        graph = coo_array((0.5 * weight, (one, other)), shape=size).tocsr()
        graph = csr_array(graph + graph.T)
        graph.sum_duplicates()
        mean = float(np.abs(graph.data).mean()) if graph.nnz else 1.0
        graph.data = np.maximum(graph.data, LEAST_WEIGHT * mean)
        self._mean = mean
        return graph

    def _linked(self, graph: csr_array) -> csr_array:
        """The graph with its pieces joined; vertices of no triangle hang on their nearest neighbour."""
        count, label = connected_components(graph, directed=False)
        used = np.zeros(len(self._places), bool)
        used[self._corners.reshape(-1)] = True
        self._pieces = len(np.unique(label[used]))
        if count == 1:
            return graph
        sizes = np.bincount(label)
        joined = label == int(np.argmax(sizes))
        ends: list[tuple[int, int]] = []
        while not joined.all():
            tree = cKDTree(self._places[joined])
            waiting = np.flatnonzero(~joined)
            far, hit = (np.asarray(found) for found in tree.query(self._places[waiting]))
            piece = label[waiting] == label[waiting[int(np.argmin(far))]]
            facing = piece & (far <= FACING * far.min())
            ends += list(zip(waiting[facing], np.flatnonzero(joined)[hit[facing]], strict=True))
            joined[waiting[piece]] = True
        one, other = np.array(ends).T
        link = coo_array((np.full(len(one), self._mean), (one, other)), shape=graph.shape).tocsr()
        return csr_array(graph + link + link.T)
