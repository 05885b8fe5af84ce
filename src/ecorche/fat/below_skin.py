"""Places at a fixed distance from a triangle of a surface that moves: what holds fat.

Thesis, 5.4.4: a node is anchored to its projection on the surface, by barycentric coordinates, so that it
goes wherever that surface goes. What remains beside the projection is kept in a frame of the triangle's, so
that at bind every place is where it was, to rounding.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ecorche.base.closest_point import TriangleSurface
from ecorche.base.rotations import normalise

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False, repr=False)
class BelowSkin:
    """Places that go with a surface.

    Attributes:
        vertices: Corners of the triangle each goes with, (places, 3).
        shares: Of the corners, (places, 3).
        beside: What remains, in the triangle's frame [m], (places, 3).
    """

    vertices: Ints
    shares: Floats
    beside: Floats

    def at(self, points: npt.ArrayLike) -> Floats:
        """Where they are [m], (places, 3), on a surface's points [m] (vertices, 3)."""
        corners = np.asarray(points, np.float64)[self.vertices]
        on = np.einsum("pc,pcx->px", self.shares, corners)
        return np.asarray(on + np.einsum("pax,pa->px", _frames(corners), self.beside))


def below_skin(points: npt.ArrayLike, triangles: npt.ArrayLike, places: npt.ArrayLike) -> BelowSkin:
    """How places [m] (places, 3) go with the nearest triangles of a surface at bind."""
    at, faces = np.asarray(points, np.float64), np.asarray(triangles, np.int64)
    asked = np.asarray(places, np.float64)
    area = np.linalg.norm(
        np.cross(at[faces[:, 1]] - at[faces[:, 0]], at[faces[:, 2]] - at[faces[:, 0]]), axis=1
    )
    faces = faces[area > 0.0]  # one without area has no frame
    hit = TriangleSurface(at, faces).closest(asked)
    corners = at[faces[hit.triangles]]
    away = asked - np.einsum("pc,pcx->px", hit.barycentric, corners)
    return BelowSkin(faces[hit.triangles], hit.barycentric, np.einsum("pax,px->pa", _frames(corners), away))


def _frames(corners: Floats) -> Floats:
    """Orthonormal axes in rows (places, 3, 3): along the first edge, across it, out of the triangle."""
    along = normalise(corners[:, 1] - corners[:, 0])
    out = normalise(cross(along, corners[:, 2] - corners[:, 0]))
    return np.stack([along, cross(out, along), out], axis=1)


def cross(a: Floats, b: Floats) -> Floats:
    """``a × b`` of vectors (..., 3): what NumPy's own gives, in a tenth of the time where they are few."""
    product = np.empty(np.broadcast_shapes(a.shape, b.shape))
    for x, y, z in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        product[..., x] = a[..., y] * b[..., z] - a[..., z] * b[..., y]
    return product
