"""Where springs of a body go: what skin is held by, how much surface and mass belongs to a vertex."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.spatial import cKDTree

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

_LOOKED_AT = 48
"""So many of the nearest are looked at for the nearest that is below the skin."""
_SLAB = 0.06
"""Share of a muscle's length over which the middle of its section is taken."""


def edges_of(triangles: Ints) -> Ints:
    """The edges of triangles, each once, (E, 2)."""
    pairs = np.sort(triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1)
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    return np.unique(pairs, axis=0) if len(pairs) else np.zeros((0, 2), np.int64)


def areas_of(points: Floats, triangles: Ints) -> Floats:
    """How much of a surface belongs to each vertex: a third of its triangles [m²], (vertices,)."""
    a, b, c = (points[triangles[:, k]] for k in range(3))
    area = 0.5 * np.linalg.norm(np.cross(b - a, c - a), axis=1)
    return np.asarray(np.bincount(triangles.ravel(), np.repeat(area / 3.0, 3), len(points)), np.float64)


def areas_with_none_empty(points: Floats, triangles: Ints, part: Ints) -> Floats:
    """The same, but none has less than a twentieth of the mean of its part: pointed ends have hardly any."""
    area = areas_of(points, triangles)
    count = int(part.max()) + 1
    mean = np.bincount(part, area, count) / np.maximum(np.bincount(part, minlength=count), 1)
    return np.maximum(area, 0.05 * mean[part])


def one_a_cell(points: Floats, edge: float) -> Ints:
    """Of each cube of an edge [m] the point that is nearest to its middle: their numbers, rising."""
    cell = np.floor(points / edge)
    away = np.linalg.norm(points / edge - cell - 0.5, axis=1)
    order = np.lexsort((np.arange(len(points)), away, *cell.T))
    new = np.any(np.diff(cell[order], axis=0, prepend=np.inf) != 0.0, axis=1)
    return np.sort(order[new])


def strewn(points: Floats, triangles: Ints) -> Floats:
    """Points all over a surface [m], (15 T, 3): where it is, not only where its vertices are."""
    return np.asarray(np.einsum("sk,tkx->tsx", strewn_shares(), points[triangles]).reshape(-1, 3))


def strewn_shares() -> Floats:
    """How much each corner counts in the points that `strewn` puts on a triangle, (15, 3)."""
    n = 4
    return np.array([(i, j, n - i - j) for i in range(n + 1) for j in range(n + 1 - i)]) / n


def held_from_below(
    skin: Floats, normals: Floats, beneath: Floats, reach: float, most: int
) -> tuple[Ints, Ints, Floats, Floats]:
    """The hemisphere of text 004: what lies below each vertex of the skin, not much deeper than the nearest.

    Of a hemisphere about the vertex, below the skin, with a radius of ``reach`` more than the distance r to
    the nearest point in it, all points; of more than ``most`` the nearest, as together they are as stiff as
    few. Where none of the nearest is below the skin, as where a muscle comes out of it, the ball counts.

    Args:
        skin, normals: Places [m] and unit normals, (n, 3).
        beneath: Points of muscles and bones [m], (m, 3).
        reach: [m].
        most: Springs a vertex.

    Returns:
        The vertex and the point of each spring (S,), its length [m] (S,), and r of each vertex [m] (n,).
    """
    tree = cKDTree(beneath)
    away, near = tree.query(skin, k=min(_LOOKED_AT, len(beneath)))
    away, near = np.reshape(away, (len(skin), -1)), np.reshape(near, (len(skin), -1))
    below = np.einsum("nkx,nx->nk", beneath[near] - skin[:, None], normals) <= 0.0
    found = below.any(axis=1)
    nearest = away[np.arange(len(skin)), np.where(found, below.argmax(axis=1), 0)]
    inside = tree.query_ball_point(skin, nearest + reach, return_sorted=True)
    counts = np.array([len(points) for points in inside])
    vertex = np.repeat(np.arange(len(skin)), counts)
    point = np.concatenate([np.asarray(points, np.int64) for points in inside])
    along = beneath[point] - skin[vertex]
    kept = (np.sum(along * normals[vertex], axis=1) <= 0.0) | ~found[vertex]
    vertex, point, length = vertex[kept], point[kept], np.linalg.norm(along[kept], axis=1)
    order = np.lexsort((point, length, vertex))
    vertex, point, length = vertex[order], point[order], length[order]
    counts = np.bincount(vertex, minlength=len(skin))
    rank = np.arange(len(vertex)) - np.repeat(np.cumsum(counts) - counts, counts)
    few = rank < most
    return vertex[few], point[few], length[few], nearest


def muscle_masses(
    points: Floats, triangles: Ints, muscle: Ints, width: Floats, density: float, thinnest: float
) -> tuple[Floats, Floats]:
    """Mass of each vertex of muscles' surfaces [kg], and how thick the flesh is that it stands for [m].

    Together the vertices of a muscle have the mass of its volume; each has it by its area and by how wide the
    muscle is there, so that thin ends are light, and stand for little depth.

    Args:
        points: Of closed surfaces [m], (V, 3).
        triangles: Outwards, (T, 3).
        muscle: Number of each vertex's muscle, rising, (V,).
        width: Of the muscle there, share of its greatest, (V,).
        density: [kg/m³].
        thinnest: No flesh is taken for thinner [m].
    """
    area = areas_with_none_empty(points, triangles, muscle)
    own = muscle[triangles[:, 0]]
    a, b, c = (points[triangles[:, k]] - points[muscle.searchsorted(own)] for k in range(3))
    count = int(muscle.max()) + 1
    volume = np.abs(np.bincount(own, np.sum(np.cross(a, b) * c, axis=1) / 6.0, count))
    weight = area * np.maximum(width, 0.4)
    total = np.bincount(muscle, weight, count)
    depth = np.maximum((volume / np.maximum(total, 1e-12))[muscle] * np.maximum(width, 0.4), thinnest)
    return density * area * depth, depth


def thinned(points: Floats, starts: Ints, share: float) -> sparse.csr_matrix:
    """What makes muscles thinner: every vertex goes towards the middle of its section, (V, V).

    Args:
        points: Of all muscles at bind [m], (V, 3).
        starts: First vertex of each and, last, their number, (M + 1,).
        share: How thick they then are, of what they were.
    """
    rows, columns, values = list[Ints](), list[Ints](), list[Floats]()
    for begin, end in pairwise(starts.tolist()):
        own = points[begin:end] - points[begin:end].mean(axis=0)
        _, _, axes = np.linalg.svd(own, full_matrices=False)
        along = own @ axes[0]
        order = np.argsort(along, kind="stable")
        slab = _SLAB * float(np.ptp(along))
        first = np.searchsorted(along[order], along - slab, "left")
        size = np.searchsorted(along[order], along + slab, "right") - first
        inner = np.arange(size.sum()) - np.repeat(np.cumsum(size) - size, size)
        rows.append(np.repeat(np.arange(begin, end), size))
        columns.append(begin + order[np.repeat(first, size) + inner])
        values.append(np.repeat((1.0 - share) / size, size))
    count = int(starts[-1])
    middle = sparse.csr_matrix(
        (np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))), shape=(count, count)
    )
    return sparse.csr_matrix(share * sparse.identity(count) + middle)
