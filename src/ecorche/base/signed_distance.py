"""How deep a point lies under a surface: the distance to it, with the sign of inside and outside.

J. A. Bærentzen and H. Aanæs, "Signed Distance Computation Using the Angle Weighted Pseudonormal", 2005:
the normal of the face, the sum of both faces' normals on an edge, the angle-weighted sum at a vertex;
the sign of its product with the offset is exact on closed surfaces that do not cut themselves. Changed
here: coincident vertices count as one, so that seams of texture coordinates are no holes, and a surface may
be open: where the nearest place is on an open edge (a neck cut off, a wrist without a hand), a point is
inside if it is seen from there within 45 degrees of straight inwards. So a small hole lets nothing out but
what is in its mouth, and a cut limb ends about half its width after the cut.

Limit: all of the surface is one; for a body in several pieces, or with eyes in it, see `base.signed_pieces`.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ecorche.base.closest_point import TriangleSurface
from ecorche.base.mesh import coincident_groups
from ecorche.base.rotations import normalise

Floats = npt.NDArray[np.float64]

ON_EDGE = 1e-9
"""A barycentric weight up to this counts as none: the closest point is on an edge or a corner."""
BEYOND_RIM = np.sqrt(0.5)
"""Cosine to the way straight inwards from which on a point before an open edge is outside."""


class SignedSurface:
    """A surface to ask how deep points lie: points [m] (vertices, 3), outward triangles (triangles, 3)."""

    def __init__(self, points: npt.ArrayLike, triangles: npt.ArrayLike) -> None:
        places = np.asarray(points, np.float64)
        corners = np.asarray(triangles, np.int64)
        merged = coincident_groups(places)[corners].astype(np.int64)
        edges = places[corners[:, [1, 2, 0]]] - places[corners]
        area = np.cross(edges[:, 0], edges[:, 1])
        solid = np.linalg.norm(area, axis=1) > 0.0  # a triangle without area has no side
        corners, merged, edges = corners[solid], merged[solid], normalise(edges[solid])
        self._surface = TriangleSurface(places, corners)
        self._faces = normalise(area[solid])
        cosines = -sum(edges[..., axis] * edges[:, [2, 0, 1], axis] for axis in range(3))
        del edges
        self._corners = merged.astype(np.int32)
        self._at_corners = _summed(merged, self._faces, np.arccos(np.clip(cosines, -1.0, 1.0)))
        # the edge opposite of each corner, the same number seen from both its sides
        one, other = merged[:, [1, 2, 0]], merged[:, [2, 0, 1]]
        ends = np.minimum(one, other) * len(places) + np.maximum(one, other)
        _, number, times = np.unique(ends, return_inverse=True, return_counts=True)
        self._edges = number.reshape(-1, 3).astype(np.int32)
        del ends, number
        self._at_edges = _summed(self._edges, self._faces)
        self._open_edges = times[self._edges] == 1
        rim = np.zeros(len(places), bool)
        rim[one[self._open_edges]] = rim[other[self._open_edges]] = True
        self._open_corners = rim[merged]

    def depth(self, queries: npt.ArrayLike) -> tuple[Floats, Floats]:
        """Depth [m] (...,), negative outside, and the unit direction to the skin's outside (..., 3)."""
        asked = np.asarray(queries, np.float64)
        flat = asked.reshape(-1, 3)
        hit = self._surface.closest(flat)
        on = np.einsum("qc,qcx->qx", hit.barycentric, self._surface.corners[hit.triangles])
        none = hit.barycentric <= ON_EDGE
        normals = self._faces[hit.triangles].copy()
        edge, corner = none.sum(axis=1) == 1, none.sum(axis=1) == 2
        at_edge = hit.triangles[edge], none[edge].argmax(axis=1)
        at_corner = hit.triangles[corner], (~none[corner]).argmax(axis=1)
        normals[edge] = self._at_edges[self._edges[at_edge]]
        normals[corner] = self._at_corners[self._corners[at_corner]]
        least = np.zeros(len(flat))
        least[edge] = np.where(self._open_edges[at_edge], BEYOND_RIM, 0.0)
        least[corner] = np.where(self._open_corners[at_corner], BEYOND_RIM, 0.0)
        inside = np.einsum("qx,qx->q", normals, on - flat) >= least * hit.distances
        depth = np.where(inside, hit.distances, -hit.distances)
        # from well inside the way to the skin is the better normal: it does not jump between faces
        far = hit.distances > 1e-6
        outward = normals
        outward[far] = (on - flat)[far] / depth[far, None]
        return depth.reshape(asked.shape[:-1]), outward.reshape(asked.shape)


def _summed(number: npt.NDArray[np.integer], faces: Floats, weights: Floats | None = None) -> Floats:
    """Unit sums (numbers, 3) of the normals (T, 3) of faces with that number (T, 3), with weights (T, 3)."""
    flat, each = number.reshape(-1), np.ones((1, 3)) if weights is None else weights
    total = np.zeros((int(flat.max(initial=-1)) + 1, 3))
    for axis in range(3):
        own = (each * faces[:, axis, None]).reshape(-1)
        total[:, axis] = np.bincount(flat, own, len(total))
    return normalise(total)
