"""Values on a skin, evened over a stretch that is the same however finely the skin is divided.

Smoothing from neighbour to neighbour (`two_rings`) reaches as far as edges are long: much less on a face than
on a back. Here values spread as heat does over the surface, in one step,

    (A + ℓ² L) x = A v,

with the Laplacian L and the areas A of the skin: what is finer than ℓ is taken away. It is solved with a
factorisation that is made once, so it is for what is done at bind, not for every frame.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.sparse.linalg import splu

from ecorche.skin.two_rings import TwoRings

Floats = npt.NDArray[np.float64]

_LEAST = 1e-9
"""Area of places that have none, as a share of the largest: they keep their values."""


class Spreading:
    """How values spread over one skin.

    Args:
        points: Of the skin [m], (vertices, 3).
        triangles: Of it, (triangles, 3).
        rings: Its places.
    """

    def __init__(self, points: Floats, triangles: npt.ArrayLike, rings: TwoRings) -> None:
        from robust_laplacian import mesh_laplacian

        faces = rings.place[np.asarray(triangles, np.int64)].astype(np.int64)
        whole = (faces[:, 0] != faces[:, 1]) & (faces[:, 1] != faces[:, 2]) & (faces[:, 2] != faces[:, 0])
        places = np.ascontiguousarray(np.asarray(points, np.float64)[rings.speakers()])
        self._laplacian, mass = mesh_laplacian(places, np.ascontiguousarray(faces[whole]))
        area = np.asarray(mass.diagonal())
        self._area = np.maximum(area, _LEAST * area.max(initial=1.0))

    def over(self, span: float) -> Evened:
        """What evens values over a stretch ℓ [m]."""
        return Evened(self._laplacian, self._area, span)


class Evened:
    """Evening over a stretch of one skin; see `Spreading`."""

    def __init__(self, laplacian: sparse.csc_matrix, area: Floats, span: float) -> None:
        self._area = area
        self._solved = splu(sparse.csc_matrix(sparse.diags(area) + span**2 * laplacian))

    def of(self, values: npt.ArrayLike) -> Floats:
        """Evened values (places,) or (places, k)."""
        given = np.asarray(values, np.float64)
        area = self._area if given.ndim == 1 else self._area[:, None]
        return np.asarray(self._solved.solve(area * given))
