"""What is worn on a body: how it follows the body's skin over the muscles, and where the body shows through.

Which vertices of the body a garment covers is found at bind: those with cloth just outside, facing the same
way. In a frame each of them is measured against the nearest cloth that faces as it does; how far it lies on
the outer side of it is its depth through the cloth. The plain skinned frame decides which point of the
cloth that is, and the frame with muscles is measured at the same point: what the muscles add is never
confused with a leap to another fold.

Limits: it is a measure a vertex, so a vertex of coarse cloth that dips into the skin between two vertices
of the body is not seen; in folds (groin, hollow of the knee) where linear skinning drives body and cloth
into each other, skin counts as through though the fold may hide it; cloth that slid off so that only its
border is near, or that lies further off than the search reaches, is told as uncovered, not as through.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ecorche.base.closest_point import TriangleSurface
from ecorche.base.mesh import coincident_groups
from ecorche.base.rotations import normalise
from ecorche.body.character import Character
from ecorche.body.frames import PointSet
from ecorche.body.transfer import vertex_normals
from ecorche.errors import MeshError
from ecorche.skin.delta_transfer import DeltaTransfer, FollowedSkin
from ecorche.skin.weights import is_rigid

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

COVERING = 1 / 58.0
"""Cloth covers skin from up to this distance, in the body's greatest extent: 3 cm for 1.75 m."""
SEARCH = 1.5
"""In a frame cloth is looked for within this many times that distance."""
SAME_WAY, ROUGHLY_SAME_WAY = 0.5, 0.3
"""Least cosine between the normals of skin and cloth, at bind and in a frame."""
WORN = 0.5
"""A mesh is worn if at least this share of it lies outside the skin: bones and eyes are not."""
COUNTED = 1e-4
"""Depths up to this [m] are none: a tenth of a millimetre is rounding and facets."""


def garment_transfers(
    character: Character, skin: int, bind: Sequence[PointSet]
) -> tuple[DeltaTransfer | None, ...]:
    """How every other skinned mesh follows the body's displacements.

    None for the body, for props, and for bones: what hangs on one joint inside the skin is moved by nothing
    else.

    Args:
        character: The character.
        skin: Number of the mesh that is the body.
        bind: Points of every mesh in the skeleton's bind pose [m], each (vertices, 3).
    """
    if len(character.meshes) == 1:
        return (None,)
    body = character.meshes[skin]
    followed = FollowedSkin(bind[skin], body.mesh.triangles(), body.weights)
    return tuple(
        None
        if number == skin
        or mesh.weights is None
        or (is_rigid(mesh.weights) and not _is_worn(followed, bind[number]))
        else DeltaTransfer(followed, bind[number], mesh.weights)
        for number, mesh in enumerate(character.meshes)
    )


@dataclass(frozen=True)
class CoverReport:
    """Where the body shows through one garment in one frame, with and without its muscles.

    Attributes:
        covered: How many vertices of the body the garment covers at bind.
        uncovered: How many of them it no longer covers, because it slid off.
        through: How many of them come through the cloth.
        deepest: How far the worst comes through [m].
        plain_through, plain_deepest: The same by skinning alone, without the muscles.
        added: How many come through with the muscles and not without.
        deepest_added: By how much the muscles push any of them further out than it was or, where it was
            covered, through [m].
        worst_vertex: Number of the body's vertex that comes through furthest; -1 where none does.
    """

    covered: int
    uncovered: int
    through: int
    deepest: float
    plain_through: int
    plain_deepest: float
    added: int
    deepest_added: float
    worst_vertex: int

    def line(self) -> str:
        """One sentence for a person."""
        if not self.through and not self.plain_through:
            return f"none of {self.covered} covered vertices comes through"
        return (
            f"{self.through} of {self.covered} covered vertices come through, {1e3 * self.deepest:.1f} mm at"
            f" most; without muscles {self.plain_through}, {1e3 * self.plain_deepest:.1f} mm; muscles add"
            f" {self.added}, {1e3 * self.deepest_added:.1f} mm at most"
        )


class Cover:
    """Which vertices of a body a garment covers at bind, and how far they come through it in a frame.

    Args:
        body_points: The body at bind [m], shape (vertices, 3).
        body_triangles: Its triangles, outwards, shape (triangles, 3).
        cloth_points: The garment in the same bind pose [m], shape (points, 3).
        cloth_triangles: Its triangles, outwards, shape (triangles, 3).
        within: How far off cloth may lie to cover skin [m]; None is 3 cm for a body 1.75 m large.

    Attributes:
        covered: Numbers of the covered vertices, rising.
    """

    def __init__(
        self,
        body_points: npt.ArrayLike,
        body_triangles: npt.ArrayLike,
        cloth_points: npt.ArrayLike,
        cloth_triangles: npt.ArrayLike,
        *,
        within: float | None = None,
    ) -> None:
        body, cloth = np.asarray(body_points, np.float64), np.asarray(cloth_points, np.float64)
        self._body = _Surface(body, np.asarray(body_triangles, np.int32).reshape(-1, 3))
        self._cloth = _Surface(cloth, np.asarray(cloth_triangles, np.int32).reshape(-1, 3))
        size = float(np.ptp(body, axis=0).max()) if len(body) else 0.0
        self.within = COVERING * size if within is None else within
        facing = self._body.normals(body)
        places = self._cloth.nearest(cloth, body, facing, SAME_WAY, self.within)
        outside = np.einsum("vx,vx->v", places.at(cloth) - body, facing) > 0.0
        self.covered: Ints = np.flatnonzero(outside & self._cloth.within(places))

    def check(
        self,
        body_points: npt.ArrayLike,
        cloth_points: npt.ArrayLike,
        plain_body: npt.ArrayLike | None = None,
        plain_cloth: npt.ArrayLike | None = None,
    ) -> CoverReport:
        """How far the body shows through in one frame.

        Args:
            body_points: The posed body [m], shape (vertices, 3).
            cloth_points: The posed garment [m], shape (points, 3).
            plain_body: The body by skinning alone; None where it is the same.
            plain_cloth: The garment by skinning alone; None where it is the same.
        """
        body, cloth = self._body.posed(body_points), self._cloth.posed(cloth_points)
        before = body if plain_body is None else self._body.posed(plain_body)
        cloth_before = cloth if plain_cloth is None else self._cloth.posed(plain_cloth)
        skin = before[self.covered]
        facing = self._body.normals(before)[self.covered]
        places = self._cloth.nearest(cloth_before, skin, facing, ROUGHLY_SAME_WAY, SEARCH * self.within)
        there = self._cloth.within(places)
        plain = np.where(there, places.height(skin, cloth_before), 0.0)
        depth = np.where(there, places.height(body[self.covered], cloth), 0.0)
        growth = np.maximum(depth, 0.0) - np.maximum(plain, 0.0)
        through, plain_through = depth > COUNTED, plain > COUNTED
        return CoverReport(
            covered=len(self.covered),
            uncovered=int((~there).sum()),
            through=int(through.sum()),
            deepest=float(depth[through].max(initial=0.0)),
            plain_through=int(plain_through.sum()),
            plain_deepest=float(plain[plain_through].max(initial=0.0)),
            added=int((through & ~plain_through).sum()),
            deepest_added=float(growth[through].max(initial=0.0)),
            worst_vertex=int(self.covered[depth.argmax()]) if through.any() else -1,
        )


def covers(character: Character, skin: int, bind: Sequence[PointSet]) -> tuple[Cover | None, ...]:
    """What every other mesh covers of the body; None for the body and for meshes that cover nothing.

    Arguments are those of `garment_transfers`.
    """
    triangles = character.meshes[skin].mesh.triangles()
    surface = FollowedSkin(bind[skin], triangles)
    found = [
        None
        if number == skin or not _is_worn(surface, bind[number])
        else Cover(bind[skin], triangles, bind[number], mesh.mesh.triangles())
        for number, mesh in enumerate(character.meshes)
    ]
    return tuple(cover if cover is not None and len(cover.covered) else None for cover in found)


def _is_worn(skin: FollowedSkin, points: PointSet) -> bool:
    """Whether a mesh lies outside the skin, for the most part."""
    return len(points) > 0 and bool(np.mean(skin.depth(points) < 0.0) >= WORN)


@dataclass(frozen=True, eq=False)
class _Places:
    """Points on a surface that stay with it; triangle -1 where there is none."""

    surface: _Surface
    triangle: Ints
    barycentric: Floats

    def at(self, points: Floats) -> Floats:
        """Where they are when the surface's vertices are there [m], shape (places, 3)."""
        return self._blend(points)

    def height(self, queries: Floats, points: Floats) -> Floats:
        """How far queries (places, 3) lie on the outer side of the surface, along its normal [m]."""
        normals = normalise(self._blend(self.surface.normals(points)))
        return np.asarray(np.einsum("px,px->p", normals, queries - self._blend(points)))

    def _blend(self, values: Floats) -> Floats:
        blended: Floats = np.einsum(
            "pc,pcx->px", self.barycentric, values[self.surface.triangles[self.triangle]]
        )
        return blended


class _Surface:
    """A posed mesh whose coincident vertices count as one."""

    def __init__(self, bind: Floats, triangles: npt.NDArray[np.int32]) -> None:
        self.count, self.triangles, self.group = len(bind), triangles, coincident_groups(bind)
        corners = self.group[triangles].astype(np.int64)
        # the edge opposite of each corner is a border if no other triangle has it
        ends = np.sort(np.stack([corners[:, [1, 2, 0]], corners[:, [2, 0, 1]]], axis=-1), axis=-1)
        _, number, times = np.unique(ends.reshape(-1, 2), axis=0, return_inverse=True, return_counts=True)
        self.border = (times == 1)[number.reshape(-1)].reshape(corners.shape)

    def posed(self, points: npt.ArrayLike) -> Floats:
        """Points of a frame, if they are as many as at bind."""
        result = np.asarray(points, np.float64)
        if result.shape != (self.count, 3):
            raise MeshError(
                f"the frame's points have shape {result.shape}, at bind there were {self.count}",
                remedy="Give the frame of the same mesh",
            )
        return result

    def normals(self, points: Floats) -> Floats:
        """Smooth unit normals (vertices, 3)."""
        return vertex_normals(points, self.triangles, self.group)

    def nearest(
        self, points: Floats, queries: Floats, facing: Floats, least_cosine: float, within: float
    ) -> _Places:
        """The closest places of the posed surface that face as the queries do."""
        surface = TriangleSurface(points, self.triangles, self.normals(points))
        hits = surface.closest(queries, facing=facing, least_cosine=least_cosine, within=within)
        return _Places(self, hits.triangles, hits.barycentric)

    def within(self, places: _Places) -> npt.NDArray[np.bool_]:
        """Whether there are such places, and not only on an open edge: beyond it nothing is covered."""
        on_border = ((places.barycentric <= 1e-9) & self.border[places.triangle]).any(axis=1)
        found: npt.NDArray[np.bool_] = (places.triangle >= 0) & ~on_border
        return found
