"""How deep a point lies under a surface: the distance to it, with the sign of inside and outside.

J. A. Bærentzen and H. Aanæs, "Signed Distance Computation Using the Angle Weighted Pseudonormal", 2005:
the normal of the face, the sum of both faces' normals on an edge, the angle-weighted sum at a vertex;
the sign of its product with the offset is exact on closed surfaces that do not cut themselves. Changed
here: coincident vertices count as one, so that seams of texture coordinates are no holes.

Limits: before an open edge (a neck cut off, a wrist without a hand) a point counts as inside when it is
behind the nearest face. Every piece of the surface counts, so eyes or teeth that are pieces of their own
must be left out, or points near them are told apart by them.
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
        cosines = -np.sum(edges * edges[:, [2, 0, 1]], axis=-1)
        angles = np.arccos(np.clip(cosines, -1.0, 1.0))
        self._at_corners = _summed(merged, angles[..., None] * self._faces[:, None])
        # the edge opposite of each corner, the same number seen from both its sides
        one, other = merged[:, [1, 2, 0]], merged[:, [2, 0, 1]]
        ends = np.minimum(one, other) * len(places) + np.maximum(one, other)
        _, number = np.unique(ends, return_inverse=True)
        spread = np.repeat(self._faces[:, None], 3, axis=1)
        self._at_edges = _summed(number.reshape(-1, 3), spread)

    def depth(self, queries: npt.ArrayLike) -> tuple[Floats, Floats]:
        """Depth [m] (...,), negative outside, and the unit direction to the skin's outside (..., 3)."""
        asked = np.asarray(queries, np.float64)
        flat = asked.reshape(-1, 3)
        hit = self._surface.closest(flat)
        on = np.einsum("qc,qcx->qx", hit.barycentric, self._surface.corners[hit.triangles])
        none = hit.barycentric <= ON_EDGE
        normals = self._faces[hit.triangles].copy()
        edge, corner = none.sum(axis=1) == 1, none.sum(axis=1) == 2
        normals[edge] = self._at_edges[hit.triangles[edge], none[edge].argmax(axis=1)]
        normals[corner] = self._at_corners[hit.triangles[corner], (~none[corner]).argmax(axis=1)]
        inside = np.einsum("qx,qx->q", normals, on - flat) >= 0.0
        depth = np.where(inside, hit.distances, -hit.distances)
        # from well inside the way to the skin is the better normal: it does not jump between faces
        far = hit.distances > 1e-6
        outward = normals
        outward[far] = ((on - flat) / depth[:, None])[far]
        return depth.reshape(asked.shape[:-1]), outward.reshape(asked.shape)


def _summed(number: npt.NDArray[np.int64], vectors: Floats) -> Floats:
    """Unit sums (T, 3, 3) of the vectors (T, 3, 3) that share a number (T, 3)."""
    total = np.zeros((int(number.max(initial=-1)) + 1, 3))
    for axis in range(3):
        total[:, axis] = np.bincount(number.reshape(-1), vectors[..., axis].reshape(-1), len(total))
    return normalise(total)[number]
