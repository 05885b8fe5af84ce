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

from ecorche.base.mesh import coincident_groups
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
        faces = rings.place[np.asarray(triangles, np.int64)].astype(np.int64)
        self._learn(np.asarray(points, np.float64)[rings.speakers()], faces)

    @classmethod
    def of_places(cls, places: Floats, faces: npt.NDArray[np.int64]) -> Spreading:
        """The same of places [m], (places, 3), none of them twice, and the faces between them, (faces, 3)."""
        made = cls.__new__(cls)
        made._learn(places, faces)
        return made

    def _learn(self, places: Floats, faces: npt.NDArray[np.int64]) -> None:
        from robust_laplacian import mesh_laplacian

        whole = (faces[:, 0] != faces[:, 1]) & (faces[:, 1] != faces[:, 2]) & (faces[:, 2] != faces[:, 0])
        self._laplacian, mass = mesh_laplacian(
            np.ascontiguousarray(places), np.ascontiguousarray(faces[whole])
        )
        area = np.asarray(mass.diagonal())
        self._area = np.maximum(area, _LEAST * area.max(initial=1.0))

    def over(self, span: float, among: npt.NDArray[np.integer] | None = None) -> Evened:
        """What evens values over a stretch ℓ [m]; of some places alone where they are named, others are 0."""
        if among is None:
            return Evened(self._laplacian, self._area, span)
        return Evened(self._laplacian.tocsc()[among][:, among], self._area[among], span)


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


class EvenedPatch:
    """A patch of skin whose values are evened by themselves; those of the skin round it are 0.

    Args:
        vertices: Of the patch, (n,).
        points: Of the whole skin [m], (vertices, 3).
        triangles: Of it, (triangles, 3).
        span: The stretch ℓ [m].
    """

    def __init__(
        self,
        vertices: npt.NDArray[np.integer],
        points: Floats,
        triangles: npt.NDArray[np.integer],
        span: float,
    ) -> None:
        place = coincident_groups(np.asarray(points, np.float32))
        # each place speaks once: by the first of its vertices that is here
        own, self._speakers, self._place = np.unique(place[vertices], return_index=True, return_inverse=True)
        faces = place[triangles]
        faces = faces[np.isin(faces, own).any(axis=1)]
        near, number = np.unique(np.concatenate([own, faces.ravel()]), return_inverse=True)
        at = np.asarray(points, np.float64)[np.unique(place, return_index=True)[1][near]]
        faces = number[len(own) :].reshape(-1, 3).astype(np.int64)
        self._evened = Spreading.of_places(at, faces).over(span, number[: len(own)])

    def of(self, values: Floats) -> Floats:
        """Evened values of the vertices, (n, k)."""
        return np.asarray(self._evened.of(values[self._speakers])[self._place])
