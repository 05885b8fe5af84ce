"""All triangles of a surface within reach of a point, each with its own closest point."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from numba import njit, prange

from ecorche.base.closest_point import TriangleSurface, closest_on_triangle, gap_to_box

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class NearTriangles:
    """Triangles within reach of each query, in rows: query i owns entries ``starts[i]`` to ``starts[i+1]``.

    Within a row each triangle stands once, in no particular order, which is always the same.

    Attributes:
        starts: Row borders, shape (queries + 1,).
        triangles: Triangle numbers, shape (entries,).
        barycentric: Weights of the triangle's corners at its point closest to the query, (entries, 3).
        distances: Distance to that point [m], shape (entries,).
    """

    starts: Ints
    triangles: Ints
    barycentric: Floats
    distances: Floats

    def rows(self) -> Ints:
        """The query of each entry, shape (entries,)."""
        return np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))


def triangles_within(surface: TriangleSurface, queries: npt.ArrayLike, reach: npt.ArrayLike) -> NearTriangles:
    """All triangles of a surface that come within ``reach`` [m] (queries,) of each query [m] (queries, 3)."""
    asked = np.ascontiguousarray(queries, np.float64)
    limits = np.ascontiguousarray(np.broadcast_to(np.asarray(reach, np.float64), (len(asked),)))
    starts = np.zeros(len(asked) + 1, np.int64)
    if not len(asked) or not len(surface.corners):
        return NearTriangles(starts, np.zeros(0, np.int64), np.zeros((0, 3)), np.zeros(0))
    first = np.zeros(len(surface.tree.members), np.bool_)
    first[np.unique(surface.tree.members, return_index=True)[1]] = True  # some stand twice, to fill leaves up
    tree = surface.tree.boxes, surface.tree.members, first, surface.corners
    _collect(*tree, asked, limits, starts, np.zeros(0, np.int64), np.zeros((0, 3)), np.zeros(0))
    np.cumsum(starts, out=starts)
    count = int(starts[-1])
    found = NearTriangles(starts, np.zeros(count, np.int64), np.zeros((count, 3)), np.zeros(count))
    _collect(*tree, asked, limits, starts, found.triangles, found.barycentric, found.distances)
    return found


@njit(parallel=True, cache=True)  # type: ignore[untyped-decorator]
def _collect(
    boxes: Floats,
    members: Ints,
    first: npt.NDArray[np.bool_],
    corners: Floats,
    queries: Floats,
    reach: Floats,
    starts: Ints,
    triangles: Ints,
    barycentric: Floats,
    distances: Floats,
) -> None:
    """Count the triangles of query i in ``starts[i + 1]``, or write them down where there is room."""
    leaves = len(boxes) // 2
    leaf_size = len(members) // leaves
    for q in prange(len(queries)):
        x, y, z = queries[q]
        limit = reach[q] ** 2
        waiting = np.empty(64, np.int64)
        waiting[0], depth = 1, 1
        found = 0
        while depth > 0:
            depth -= 1
            node = waiting[depth]
            if gap_to_box(boxes, node, x, y, z) > limit:
                continue
            if node < leaves:
                waiting[depth], waiting[depth + 1] = 2 * node, 2 * node + 1
                depth += 2
                continue
            for place in range((node - leaves) * leaf_size, (node - leaves + 1) * leaf_size):
                if not first[place]:
                    continue
                square, u, v, w = closest_on_triangle(corners, members[place], x, y, z)
                if square > limit:
                    continue
                if len(triangles):
                    entry = starts[q] + found
                    triangles[entry], distances[entry] = members[place], np.sqrt(square)
                    barycentric[entry, 0], barycentric[entry, 1], barycentric[entry, 2] = u, v, w
                found += 1
        if not len(triangles):
            starts[q + 1] = found
