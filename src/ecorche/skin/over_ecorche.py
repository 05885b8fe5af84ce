"""Skin over an écorché: the correction along its normals that a pose asks for.

Skinning moves the skin, muscles and bones move beneath it, and the skin is moved along its normals until it
is as far from them as at bind (`height_field`), or from the membrane over them (`fascia`). Rays that are not
believed take the median of those round them that are; a value far from the median of its surroundings is
replaced by it, others stay, or true bulges would be cut off (thesis, 5.5.2). The result is smoothed: more
where the skin is stiff, and where there is much fat to hide a muscle's relief.

All is a difference from the same computation at bind, so that at bind nothing moves, to the last bit.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from ecorche.base.ray_tree import RayTree, allowed_parts
from ecorche.skin.fascia import Fascia
from ecorche.skin.height_field import HeightField, nearest_beneath
from ecorche.skin.two_rings import TwoRings

Points = npt.NDArray[np.float32]
Singles = npt.NDArray[np.float32]

_SMOOTHINGS = 4
"""Rounds of smoothing."""


@dataclass(frozen=True)
class Reach:
    """Lengths by which a skin and what lies beneath belong together [m], for a human of usual size.

    Attributes:
        deepest: How far below, or above, the skin muscles and bones are looked for at bind.
        largest: How much a height may change.
        beside: How far along the skin a part may slide under it from where it was at bind.
        outlier: How far from the median of its surroundings a value is not believed.
        span: Half the width of the gaps that the fascia bridges.
        membrane: How deep the fascia hangs where nothing holds it.
    """

    deepest: float = 0.06
    largest: float = 0.03
    beside: float = 0.04
    outlier: float = 0.006
    span: float = 0.015
    membrane: float = 0.04

    def scaled(self, factor: float) -> Reach:
        """The same for a body so many times as large."""
        return replace(self, **{name: factor * value for name, value in vars(self).items()})


class SkinOverEcorche:
    """One skin over surfaces that move.

    Args:
        points, normals: Of the skin at bind [m] and unit, (vertices, 3).
        rings: Its neighbours.
        beneath: Points of muscles and bones at bind [m], (points, 3).
        triangles: Theirs, outwards, (triangles, 3).
        parts: The muscle or bone each of these belongs to, (triangles,).
        bridged: How much the fascia counts against the height field, 0 to 1, (vertices,).
        stiffness: How strongly the correction is smoothed, 0 to 1, (vertices,).
        thickness: Of what is over the muscles [m], (vertices,); None takes the heights.
        reach: Its lengths.

    Attributes:
        heights: Of the skin over what lies beneath at bind [m], not a number where nothing does, (vertices,).
    """

    def __init__(
        self,
        points: Points,
        normals: Points,
        rings: TwoRings,
        beneath: npt.ArrayLike,
        triangles: npt.ArrayLike,
        parts: npt.NDArray[np.int32],
        *,
        bridged: npt.ArrayLike,
        stiffness: npt.ArrayLike,
        thickness: npt.ArrayLike | None = None,
        reach: Reach,
    ) -> None:
        self._rings, self._reach, self._speaker = rings, reach, rings.speakers()
        tree = RayTree(beneath, triangles, parts)
        allowed = _parts_nearby(points, normals, rings, tree, parts, reach)
        self._field = HeightField(
            points, normals, tree, allowed, deepest=reach.deepest, largest=reach.largest
        )
        self.heights = self._field.heights
        own = self.heights[self._speaker]
        self._beneath = np.where(np.isfinite(own), own, np.inf).astype(np.float32)
        self._bridged = np.asarray(bridged, np.float32)[self._speaker]
        thick = np.where(np.isfinite(own), np.maximum(own, 0.0), 0.0)
        if thickness is not None:
            thick = np.asarray(thickness, np.float32)[self._speaker]
        # a round spreads a value over half an edge, so many rounds over half the thickness
        by_fat = thick**2 / (_SMOOTHINGS * np.maximum(rings.square_edge, 1e-12))
        self._strength = np.clip(np.asarray(stiffness)[self._speaker] + by_fat, 0.0, 1.0).astype(np.float32)
        self._bind = points, normals, np.asarray(beneath, np.float32)

    @cached_property
    def _fascia(self) -> tuple[Fascia, Singles]:
        """The membrane and how deep it lies at bind, (places,)."""
        edges = self._reach.span / max(float(np.sqrt(np.median(self._rings.square_edge))), 1e-6)
        rounds = int(np.clip(np.ceil(2.0 * edges**2), 12, 40))
        fascia = Fascia(self._rings, span=self._reach.span, deepest=self._reach.membrane, rounds=rounds)
        at_rest = fascia.depths(self._beneath)
        return fascia, fascia.depths(self._beneath, at_rest)

    @cached_property
    def _at_bind(self) -> Singles:
        return self._correction(*self._bind)

    def correction(self, points: Points, normals: Points, beneath: npt.ArrayLike) -> Singles:
        """How far each place of the skin moves along its normal [m], (places,).

        Args:
            points, normals: Of the skin as it was skinned, (vertices, 3).
            beneath: Points of the surfaces beneath in the same pose [m].
        """
        return self._correction(points, normals, beneath) - self._at_bind

    def _correction(self, points: Points, normals: Points, beneath: npt.ArrayLike) -> Singles:
        change, sure = map(self._rings.of_places, self._field.believed(points, normals, beneath))
        believed = self._rings.believed(change, sure, self._reach.outlier)
        moved = -believed
        if (self._bridged > 0.0).any():
            fascia, at_rest = self._fascia
            bridged = at_rest - fascia.depths(self._beneath + believed, at_rest)
            moved += self._bridged * (bridged - moved)
        return self._rings.smoothed(moved, self._strength, _SMOOTHINGS)


def _parts_nearby(
    points: Points,
    normals: Points,
    rings: TwoRings,
    tree: RayTree,
    parts: npt.NDArray[np.int32],
    reach: Reach,
) -> npt.NDArray[np.uint64]:
    """The parts each vertex may lie over: those that skin within reach along the skin lies over at bind."""
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import dijkstra

    hits = nearest_beneath(points, normals, tree, reach.deepest)
    over = np.where(hits.triangles >= 0, parts[hits.triangles], -1)
    count, at = rings.place_count, points[rings.speakers()]
    row = np.repeat(np.arange(count), np.diff(rings.near_starts))
    ways = csr_matrix(
        (np.linalg.norm(at[row] - at[rings.near], axis=1), rings.near, rings.near_starts), (count, count)
    )
    allowed = np.zeros((count, int(parts.max(initial=-1)) + 1), np.bool_)
    for part in np.unique(over[over >= 0]).tolist():
        from_there = np.unique(rings.place[over == part])
        near = dijkstra(ways, indices=from_there, min_only=True, limit=reach.beside)
        allowed[np.isfinite(near), part] = True
    return allowed_parts(allowed[rings.place])
