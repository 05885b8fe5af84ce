"""What lies beneath a skin: bones, muscles and pads as surfaces, each with the fat over it.

Asked how far a place is outside the fat of all of them. That needs no inside and outside of the surfaces,
which may be open, overlap, or leave the body hollow.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from ecorche.base.checks import require_finite, require_indices
from ecorche.base.closest_point import TriangleSurface
from ecorche.base.ray_tree import RayTree
from ecorche.base.rotations import normalise
from ecorche.errors import MeshError

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

PASSING = 0.015
"""Over how far the width of what is bridged passes from one part's to the next one's [m]."""

WAYS = normalise(
    np.concatenate([tilted := np.array([[0.9, 0.3, 0.2], [-0.2, 0.9, 0.3], [-0.3, -0.2, 0.9]]), -tilted])
)
"""Where rays look from a place to find whether a surface is round it; along no axis."""
SEEN = 2
"""So many of them must see a surface from behind: one may slip through where it is not closed."""


@dataclass(frozen=True, eq=False, repr=False)
class LayersBeneath:
    """The surfaces beneath a skin in the pose in which it is made.

    Attributes:
        points: Their vertices [m], (V, 3).
        triangles: Their triangles, (T, 3).
        parts: The part each triangle belongs to, such as its muscle, (T,).
        fat: How thick fat and skin are over each part [m], (parts,).
        span: Half the width of the gaps that are bridged beside each part [m], (parts,).
    """

    points: Floats
    triangles: Ints
    parts: Ints
    fat: Floats
    span: Floats

    def __post_init__(self) -> None:
        where = "what lies beneath the skin"
        if not len(self.triangles):
            raise MeshError(
                "there is nothing to lay a skin over", where=where, remedy="Give bones or muscles"
            )
        require_finite(self.points, "vertex", where, MeshError)
        require_indices(self.triangles.ravel(), len(self.points), "vertex index", where, MeshError)
        require_indices(self.parts, len(self.fat), "part", where, MeshError)
        for what, values in (("fat", self.fat), ("span", self.span)):
            require_finite(values, what, where, MeshError)
            if len(values) != len(self.fat) or (values < 0.0).any():
                raise MeshError(
                    f"the {what} of a part is missing or below zero",
                    where=where,
                    remedy="Give each part a thickness in metres, 0 or more",
                )

    @property
    def widest(self) -> float:
        """Fat and half the gap that is bridged of the part where both together are most [m]."""
        return float((self.fat + self.span).max())

    @cached_property
    def _kinds(self) -> list[tuple[float, float, TriangleSurface]]:
        """Fat, span and triangles of all parts that have both in common."""
        pairs = np.stack([self.fat, self.span], axis=1)
        kinds, kind = np.unique(pairs, axis=0, return_inverse=True)
        of_triangle = kind.reshape(-1)[self.parts]
        return [
            (float(fat), float(span), TriangleSurface(self.points, self.triangles[of_triangle == number]))
            for number, (fat, span) in enumerate(kinds)
            if (of_triangle == number).any()
        ]

    @cached_property
    def _tree(self) -> RayTree:
        return RayTree(self.points, self.triangles)

    def outside(self, places: Floats, within: float = np.inf, share: float = 1.0) -> Floats:
        """How far places [m] (n, 3) are outside the fat (n,), infinite where it is more than ``within``.

        In the fat it is below zero; inside a muscle it grows again, as on its outside. With a ``share`` below
        one only so much of the fat counts.
        """
        return np.asarray(self._by_kind(places, within, share).min(axis=0))

    def outside_and_span(
        self, places: Floats, within: float, *, signed: bool = False
    ) -> tuple[Floats, Floats]:
        """As `outside`, and half the width of the gaps that are bridged there [m] (n,), 0 where too far.

        Where ``signed``, what is within a surface is below zero too, as far as surfaces are ``within`` reach.
        """
        fats, spans = (np.array([kind[i] for kind in self._kinds]) for i in (0, 1))
        by_kind = self._by_kind(places, within)
        nearest = by_kind.min(axis=0)
        known = np.flatnonzero(np.isfinite(nearest))
        share = np.exp((nearest[known] - by_kind[:, known]) / PASSING)
        span = np.zeros(len(places))
        span[known] = (spans[:, None] * share).sum(axis=0) / share.sum(axis=0)
        if signed:
            deep = known[self.holds(places[known])]
            nearest[deep] = -nearest[deep] - 2.0 * fats[by_kind[:, deep].argmin(axis=0)]
        return nearest, span

    def _by_kind(self, places: Floats, within: float, share: float = 1.0) -> Floats:
        return np.stack(
            [s.closest(places, within=within + fat).distances - share * fat for fat, _, s in self._kinds]
        )

    def way_out(self, places: Floats, share: float) -> Floats:
        """Places [m] (n, 3) within a surface taken straight out, to where a share of its fat is beneath."""
        nearest, out = np.full(len(places), np.inf), places.copy()
        for fat, _, surface in self._kinds:
            hit = surface.closest(places)
            there = np.einsum("vc,vcx->vx", hit.barycentric, surface.corners[hit.triangles])
            nearer = hit.distances < nearest
            beyond = there + share * fat * normalise(there - places)
            nearest[nearer], out[nearer] = hit.distances[nearer], beyond[nearer]
        return out

    def holds(self, places: Floats) -> npt.NDArray[np.bool_]:
        """Whether places (n, 3) are within one of the surfaces: rays from there see it from behind."""
        tree = self._tree
        corners = self.points[self.triangles]
        normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        reach = np.full(len(places), np.ptp(self.points, axis=0).max(), np.float32)
        behind = np.zeros(len(places), np.int64)
        for way in WAYS:
            hit = tree.cast(
                places.astype(np.float32), np.tile(way, (len(places), 1)).astype(np.float32), reach
            )
            behind += (hit.triangles >= 0) & (normals[hit.triangles] @ way > 0.0)
        return np.asarray(behind >= SEEN)
