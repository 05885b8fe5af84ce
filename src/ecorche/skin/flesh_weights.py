"""The flesh round muscles: it moves by the weights of the skin nearest to it.

Skin on the far side of a gap, as an arm's that hangs beside the trunk, is near too, but turns its outside to
the muscle: it does not count.

Ellipses lie under the skin (`extraction.under_skin`), but beyond the first and the last a muscle tapers on to
a bone, past a hollow such as an armpit perhaps: there it is drawn in to the skin.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
import numpy.typing as npt

from ecorche.base.rotations import normalise
from ecorche.base.signed_pieces import SignedPieces
from ecorche.muscles.even_rings import evened
from ecorche.muscles.flesh_carrier import Binding
from ecorche.muscles.loft_flesh import SIDES, STATIONS, Flesh
from ecorche.muscles.lofted_posing import Lofts
from ecorche.skin.weights import SkinWeights

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

NEAREST, COUNTED = 48, 16
"""So many vertices are looked at from a place, and so many of those that face away from it count."""
CLOSEST = 3
"""So many count for the template's muscles, whose shares are evened more (`spindles_in_flesh`): in an armpit
more of them would be of arm and chest at once."""
FLATTEST = 0.1
"""Vertices nearer than this share of the furthest that counts are no nearer."""
EVENED = 2
"""How often weights are brought half-way to the mean of those beside them, along and round a muscle."""
DRAWN_IN = 1.1
"""What is outside the skin is drawn in by this many times as much."""
SLIGHT = 1e-3
"""Joints with a smaller share everywhere are left out."""


class SkinRound:
    """A skin at bind, asked what moves the flesh at places below it.

    Args:
        points: The skin at bind [m], shape (V, 3).
        triangles: Its triangles, shape (T, 3).
        weights: Its weights.
        counted: How many of the nearest vertices that face away from a place count.
        binding: Binds flesh to the joints by the method this skin is skinned by; None where that is linear.
    """

    def __init__(
        self,
        points: npt.ArrayLike,
        triangles: npt.ArrayLike,
        weights: SkinWeights,
        counted: int = COUNTED,
        binding: Binding | None = None,
    ) -> None:
        self._counted, self.binding = counted, binding
        self.points = np.asarray(points, np.float64)
        self.triangles = np.asarray(triangles, np.int64).reshape(-1, 3)
        self._weights, self._joint_count = weights, int(weights.joints.max(initial=-1)) + 1

    @cached_property
    def _near(self) -> tuple[object, Floats, Floats, npt.NDArray[np.int32], npt.NDArray[np.float32]]:
        """Tree, points, normals, joints and their shares of the vertices that triangles use."""
        from scipy.spatial import cKDTree

        used = np.unique(self.triangles)
        joints, shares = self._weights.padded()
        skin = self.points[used]
        return cKDTree(skin), skin, _normals(self.points, self.triangles)[used], joints[used], shares[used]

    def shares(self, places: Floats) -> Floats:
        """How much each joint moves the flesh at places at bind [m] (P, 3), together 1, (P, joints).

        As many joints as the weights speak of.
        """
        tree, skin, normals, joints, shares = self._near
        near, counts = _nearest(places, tree, skin, normals, self._counted)
        table = np.zeros((len(places), self._joint_count))
        row = np.arange(len(places))[:, None, None]
        np.add.at(table, (row, joints[near]), counts[..., None] * shares[near])
        return table


def flesh_round(skin: SkinRound, lofts: Lofts) -> tuple[Flesh, ...]:
    """What moves the flesh round every muscle, by weights on the skeleton's joints and the muscle joints."""
    solid, found = SignedPieces(skin.points, skin.triangles), []
    for _, rings in lofts.rings_at_bind:
        table = evened(skin.shares(rings.reshape(-1, 3)).reshape(STATIONS, SIDES, -1), EVENED)
        mine = np.flatnonzero(table.max(axis=(0, 1)) > SLIGHT)
        own = table[..., mine] / table[..., mine].sum(axis=-1, keepdims=True)
        found.append(Flesh(mine, own, _inset(rings, solid), skin.binding))
    return tuple(found)


def _nearest(
    places: Floats, tree: object, skin: Floats, normals: Floats, counted: int
) -> tuple[Ints, Floats]:
    """The vertices (P, n) that count at places (P, 3), and how much, together 1."""
    count = min(NEAREST, len(skin))
    far, near = tree.query(places, count)  # type: ignore[attr-defined]
    far, near = far.reshape(-1, count), near.reshape(-1, count)
    away = skin[near] - places[:, None]
    # a place a little outside its own skin is no further from it than from the nearest vertex
    faces = np.sum(away * normals[near], axis=-1) >= -far[:, :1]
    # of those that count, the nearest
    rank = np.argsort(~faces, axis=1, kind="stable")[:, :counted]
    far, near, faces = (np.take_along_axis(v, rank, axis=1) for v in (far, near, faces))
    furthest = np.where(faces, far, 0.0).max(axis=1, keepdims=True)
    gap = np.maximum(far / np.where(furthest > 0.0, furthest, 1.0), FLATTEST)
    counts = np.where(faces, gap**-4.0, 0.0)
    return near, counts / counts.sum(axis=1, keepdims=True)


def _inset(rings: Floats, skin: SignedPieces) -> Floats:
    """By how much places (..., 3) are drawn in to be under the skin [m]."""
    depth, outward = skin.depth(rings)
    sign = -1.0 if skin.inside_out else 1.0
    return np.asarray((sign * DRAWN_IN * np.minimum(sign * depth, 0.0))[..., None] * outward)


def _normals(skin: Floats, corners: Ints) -> Floats:
    """Unit normals of vertices (V, 3), zero of those without a triangle."""
    a, b, c = (skin[corners[:, k]] for k in range(3))
    face, total = np.cross(b - a, c - a), np.zeros_like(skin)
    for k in range(3):
        np.add.at(total, corners[:, k], face)
    return normalise(total)
