"""The closest points of a triangle surface, exactly, also among those that face the right way.

A k-d tree of triangle centres proposes candidates; a triangle whose centre is further away than
the best distance plus its own radius cannot win, which ends the search. Triangles are sorted
into classes of similar size first, so that one large triangle does not spoil that bound.
(libigl and trimesh do the same with an optional native package; none here filters by normal.)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.spatial import cKDTree

from ecorche.base.rotations import normalise

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

PAIRS_AT_ONCE = 400_000


@dataclass(frozen=True, eq=False)
class ClosestPoints:
    """Where each query landed.

    Attributes:
        triangles: Triangle number, -1 where none was allowed, shape (queries,).
        barycentric: Weights of the triangle's corners, shape (queries, 3).
        distances: Distance [m], infinite where none was allowed, shape (queries,).
    """

    triangles: Ints
    barycentric: Floats
    distances: Floats


class TriangleSurface:
    """A surface to ask for closest points.

    Points [m] (vertices, 3), triangles (triangles, 3), and where it shall count as smooth its
    unit normals (vertices, 3); without them each triangle faces one way.
    """

    def __init__(
        self, points: npt.ArrayLike, triangles: npt.ArrayLike, normals: npt.ArrayLike | None = None
    ) -> None:
        triangles = np.asarray(triangles, np.int64)
        self.corners = np.asarray(points, np.float64)[triangles]
        if normals is not None:
            self.normals = np.asarray(normals, np.float64)[triangles]
        else:
            flat = np.cross(self.corners[:, 1] - self.corners[:, 0], self.corners[:, 2] - self.corners[:, 0])
            self.normals = np.repeat(normalise(flat)[:, None], 3, axis=1)
        centres = self.corners.mean(axis=1)
        radii = np.linalg.norm(self.corners - centres[:, None], axis=-1).max(axis=1, initial=0.0)
        size = np.frexp(radii)[1]  # the power of two just above
        self._classes: list[tuple[Ints, cKDTree, float]] = []
        for exponent in np.unique(size):
            members = np.flatnonzero(size == exponent)
            self._classes.append((members, cKDTree(centres[members]), float(radii[members].max())))
        # the most numerous first: a good answer early rules most of the rest out
        self._classes.sort(key=lambda entry: -len(entry[0]))

    def closest(
        self,
        queries: npt.ArrayLike,
        *,
        facing: npt.ArrayLike | None = None,
        least_cosine: float = 0.0,
        within: float = np.inf,
    ) -> ClosestPoints:
        """The closest point of the surface to each query [m] (queries, 3).

        Args:
            queries: Where to look from.
            facing: Unit normals (queries, 3): a triangle is allowed only if the surface normal at
                its closest point has at least ``least_cosine`` with it.
            least_cosine: See ``facing``.
            within: Only points nearer than this [m] are allowed.
        """
        queries = np.asarray(queries, np.float64)
        directions = None if facing is None else np.asarray(facing, np.float64)
        best = ClosestPoints(
            np.full(len(queries), -1, np.int64), np.zeros((len(queries), 3)), np.full(len(queries), within)
        )
        for members, tree, radius in self._classes:
            active, seen, count = np.arange(len(queries)), 0, 1
            while len(active):
                still = [active[:0]]
                for rows in np.array_split(active, 1 + len(active) * (count - seen) // PAIRS_AT_ONCE):
                    ranks = list(range(seen + 1, count + 1))
                    gaps, found = (np.asarray(x) for x in tree.query(queries[rows], k=ranks))
                    row, rank = np.nonzero(gaps < best.distances[rows, None] + radius)
                    pairs = rows[row], members[found[row, rank]]
                    self._improve(best, *pairs, queries, directions, least_cosine)
                    still.append(rows[gaps[:, -1] < best.distances[rows] + radius])
                active = np.concatenate(still) if count < len(members) else active[:0]
                seen, count = count, min(4 * count, len(members))
        best.distances[best.triangles < 0] = np.inf
        return best

    def _improve(
        self,
        best: ClosestPoints,
        rows: Ints,
        candidates: Ints,
        queries: Floats,
        directions: Floats | None,
        least_cosine: float,
    ) -> None:
        """Take over what is better in pairs of a query (rows ascending) and a triangle, (pairs,) each."""
        corners = self.corners[candidates]
        barycentric = closest_barycentric(corners, queries[rows])
        distance = np.linalg.norm(np.einsum("pc,pcx->px", barycentric, corners) - queries[rows], axis=1)
        if directions is not None:
            normals = normalise(np.einsum("pc,pcx->px", barycentric, self.normals[candidates]))
            distance[np.einsum("px,px->p", normals, directions[rows]) < least_cosine] = np.inf
        order = np.lexsort((distance, rows))
        target, first = np.unique(rows[order], return_index=True)
        chosen = order[first]
        better = distance[chosen] < best.distances[target]
        target, chosen = target[better], chosen[better]
        best.triangles[target] = candidates[chosen]
        best.barycentric[target] = barycentric[chosen]
        best.distances[target] = distance[chosen]


def closest_barycentric(corners: Floats, points: Floats) -> Floats:
    """Barycentric weights (..., 3) of the point of each triangle (..., 3, 3) closest to ``points`` (..., 3).

    The plane's answer where it falls inside, else the best of the three edges; a triangle
    without area is its edges.
    """
    a, b, c = corners[..., 0, :], corners[..., 1, :], corners[..., 2, :]
    points = np.broadcast_to(points, a.shape)
    ab, ac, ap = b - a, c - a, points - a
    bb, bc, cc = _dot(ab, ab), _dot(ab, ac), _dot(ac, ac)
    pb, pc = _dot(ap, ab), _dot(ap, ac)
    area = bb * cc - bc * bc
    flat = area <= 1e-14 * bb * cc
    area = np.where(flat, 1.0, area)
    v, w = (cc * pb - bc * pc) / area, (bb * pc - bc * pb) / area
    inside = ~flat & (v >= 0.0) & (w >= 0.0) & (v + w <= 1.0)
    result = np.stack([1.0 - v - w, v, w], axis=-1)
    least = np.where(inside, -1.0, np.inf)
    for start, end in ((0, 1), (1, 2), (2, 0)):
        edge = corners[..., end, :] - corners[..., start, :]
        square = _dot(edge, edge)
        t = np.clip(
            _dot(points - corners[..., start, :], edge) / np.where(square > 0.0, square, 1.0), 0.0, 1.0
        )
        gap = points - corners[..., start, :] - t[..., None] * edge
        distance = _dot(gap, gap)
        nearer = distance < least
        least = np.where(nearer, distance, least)
        on_edge = np.zeros_like(result)
        on_edge[..., start], on_edge[..., end] = 1.0 - t, t
        result = np.where(nearer[..., None], on_edge, result)
    return result


def _dot(a: Floats, b: Floats) -> Floats:
    product: Floats = np.einsum("...x,...x->...", a, b)
    return product
