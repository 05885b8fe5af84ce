"""Few masses for many vertices of a skin: patches of about one size, and how vertices follow them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.sparse.csgraph import dijkstra

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

WIDER = 1.7
"""A patch fades out at so many times the distance that centres keep from each other."""
_AT_ONCE = 256
"""Of so many centres distances are looked for at once, to save memory."""


@dataclass(frozen=True, eq=False)
class SkinPatches:
    """Patches of a skin.

    Attributes:
        centres: The vertex in the middle of each, rising, (P,).
        follows: How much each vertex goes with each patch, (vertices, P): rows add up to 1, or to 0 where the
            skin has none.
        edges: Patches that touch, (E, 2).
    """

    centres: Ints
    follows: sparse.csr_matrix
    edges: Ints


def skin_patches(points: Floats, edges: Ints, apart: float, left_out: npt.NDArray[np.bool_]) -> SkinPatches:
    """Patches whose centres are about so far apart, along the edges of the skin.

    Args:
        points: Vertices [m], (V, 3).
        edges: Of the skin, (E, 2).
        apart: [m].
        left_out: Vertices that follow none, (V,).
    """
    length = np.linalg.norm(points[edges[:, 0]] - points[edges[:, 1]], axis=1)
    graph = sparse.coo_matrix((np.maximum(length, 1e-9), edges.T), shape=(len(points),) * 2).tocsr()
    covered, chosen = left_out.copy(), list[int]()
    for vertex in range(len(points)):
        if not covered[vertex]:
            chosen.append(vertex)
            away = dijkstra(graph, directed=False, indices=np.array([vertex]), limit=apart)
            covered |= np.isfinite(away[0])
    centres = np.array(chosen, np.int64)
    follows = _follows(graph, centres, WIDER * apart)
    search: Any = dijkstra  # whose stubs do not know what these arguments give together
    source = search(graph, directed=False, indices=centres, min_only=True, return_predecessors=True)[2]
    number = np.full(len(points), -1, np.int64)
    number[centres] = np.arange(len(centres))
    own = np.where(source >= 0, number[np.maximum(source, 0)], -1)
    touching = np.sort(own[edges], axis=1)
    touching = touching[(touching[:, 0] >= 0) & (touching[:, 0] != touching[:, 1])]
    touching = np.unique(touching, axis=0) if len(touching) else np.zeros((0, 2), np.int64)
    keep = sparse.diags((~left_out).astype(np.float64))
    return SkinPatches(centres, sparse.csr_matrix(keep @ follows), touching)


def _follows(graph: sparse.csr_matrix, centres: Ints, radius: float) -> sparse.csr_matrix:
    """Of every vertex the share of each patch, by the distance from its centre."""
    parts = []
    for first in range(0, len(centres), _AT_ONCE):
        away = dijkstra(graph, directed=False, indices=centres[first : first + _AT_ONCE], limit=radius)
        weight = np.where(np.isfinite(away), (1.0 - np.minimum(away / radius, 1.0) ** 2) ** 2, 0.0)
        parts.append(sparse.csr_matrix(weight))
    weights = sparse.vstack(parts).T.tocsr()
    total = np.asarray(weights.sum(axis=1)).ravel()
    return sparse.csr_matrix(sparse.diags(1.0 / np.maximum(total, 1e-12)) @ weights)
