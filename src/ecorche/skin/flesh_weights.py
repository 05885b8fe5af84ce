"""The flesh round muscles: it moves by the weights of the skin nearest to it.

Skin on the far side of a gap, as an arm's that hangs beside the trunk, is near too, but turns its outside to
the muscle: it does not count.

Ellipses lie under the skin (`extraction.under_skin`), but beyond the first and the last a muscle tapers on to
a bone, past a hollow such as an armpit perhaps: there it is drawn in to the skin.
"""

from __future__ import annotations

from functools import cached_property, partial

import numpy as np
import numpy.typing as npt

from ecorche.base.signed_distance import SignedSurface
from ecorche.base.signed_pieces import SignedPieces
from ecorche.muscles.even_rings import evened
from ecorche.muscles.flesh_carrier import Binding
from ecorche.muscles.loft_flesh import FINE_SIDES, FINE_STATIONS, SIDES, STATIONS, Flesh, between
from ecorche.muscles.lofted_posing import Lofts
from ecorche.skin.skin_samples import skin_samples, vertex_normals
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
TIMES, TIMES_FINE = 24, 3
"""How often that is done, first where weights are told and then more finely."""
LESS = 0.01
"""By this share of the furthest that anything is drawn in all others are drawn in less each time."""
HOLLOW = 0.5
"""A muscle whose middle is outside by more than this share of its half-thickness crosses a hollow."""
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
        self.weights, self.joint_count = weights, int(weights.joints.max(initial=-1)) + 1

    @cached_property
    def _near(self) -> tuple[object, Floats, Floats, npt.NDArray[np.int32], npt.NDArray[np.float32]]:
        """Tree, points, normals, joints and their shares of the vertices that triangles use."""
        from scipy.spatial import cKDTree

        used = np.unique(self.triangles)
        joints, shares = self.weights.padded()
        skin = self.points[used]
        return (
            cKDTree(skin),
            skin,
            vertex_normals(self.points, self.triangles)[used],
            joints[used],
            shares[used],
        )

    def shares(self, places: Floats) -> Floats:
        """How much each joint moves the flesh at places at bind [m] (P, 3), together 1, (P, joints).

        As many joints as the weights speak of.
        """
        tree, skin, normals, joints, shares = self._near
        near, counts = _nearest(places, tree, skin, normals, self._counted)
        table = np.zeros((len(places), self.joint_count))
        row = np.arange(len(places))[:, None, None]
        np.add.at(table, (row, joints[near]), counts[..., None] * shares[near])
        return table


def flesh_round(skin: SkinRound, lofts: Lofts) -> tuple[Flesh, ...]:
    """What moves the flesh round every muscle, by weights on the skeleton's joints and the muscle joints.

    A muscle stays in the piece of skin that it shows in: posed, a mannequin's plates go apart.
    """
    solid, found = SignedPieces(skin.points, skin.triangles), []
    sign = -1.0 if solid.inside_out else 1.0
    known: dict[int, _Below] = {}
    for number, muscle in enumerate(lofts.muscles):
        shown, fine = (
            lofts.rings_at_bind(number, *size) for size in ((STATIONS, SIDES), (FINE_STATIONS, FINE_SIDES))
        )
        place = np.linspace(0.0, 1.0, STATIONS)
        told = (place >= muscle.rings.u[0]) & (place <= muscle.rings.u[-1])
        piece, triangles = solid.holding(shown[told] if told.any() else shown)
        short = _gathered(shown, told, piece, sign)
        inset = _drawn_in(shown + short, piece, sign, TIMES)
        finely, at_first = (between(v, *_even_places(FINE_STATIONS, FINE_SIDES)) for v in (short, inset))
        finely += _drawn_in(fine + finely, piece, sign, TIMES_FINE, at_first)
        inset += short
        if id(triangles) not in known:
            known[id(triangles)] = _Below(skin, triangles)
        table, bows = (evened(v, EVENED) for v in known[id(triangles)].moved_by(shown + inset))
        mine = np.flatnonzero(table.max(axis=(0, 1)) > SLIGHT)
        own = table[..., mine] / table[..., mine].sum(axis=-1, keepdims=True)
        bows = bows.reshape(*table.shape, 3)[..., mine, :]
        bows -= own[..., None] * bows.sum(axis=-2, keepdims=True)  # a body moved as one moves its muscles
        depth, outward = piece.depth(fine + finely)
        room = np.concatenate([sign * outward, np.maximum(sign * depth, 0.0)[..., None]], axis=-1)
        draw_in = partial(_drawn_in, skin=piece, sign=sign, times=TIMES)
        found.append(Flesh(mine, own, finely, skin.binding, bows, room, draw_in))
    return tuple(found)


def _even_places(stations: int, sides: int) -> tuple[Floats, Floats]:
    """Shares of a muscle's length and angles [rad], evenly along and round it."""
    return np.linspace(0.0, 1.0, stations), 2.0 * np.pi * np.arange(sides) / sides


class _Below:
    """Some of a skin's triangles, asked what moves the flesh at places below them."""

    def __init__(self, skin: SkinRound, triangles: Ints) -> None:
        from scipy.sparse import csr_array
        from scipy.spatial import cKDTree

        self._samples = skin_samples(skin.points, triangles)
        self._skin, self._tree = skin, cKDTree(self._samples.points)
        own, size = skin.weights, (len(skin.points), skin.joint_count)
        weights = csr_array((own.weights.astype(np.float64), own.joints, own.starts), size)
        self._tables = weights, *(csr_array(weights.multiply(at[:, None])) for at in skin.points.T)

    def moved_by(self, places: Floats) -> tuple[Floats, Floats]:
        """Shares of joints (..., joints) and their bows [m] (..., 3 joints) at places (..., 3)."""
        from scipy.sparse import csr_array

        samples, flat = self._samples, places.reshape(-1, 3)
        near, counts = _nearest(flat, self._tree, samples.points, samples.normals, COUNTED)
        middle = np.einsum("ps,psx->px", counts, samples.points[near])
        corners = samples.corners[near].reshape(len(flat), -1)
        shares = (counts[..., None] * samples.shares[near]).reshape(corners.shape)
        row, count = np.repeat(np.arange(len(flat)), corners.shape[1]), len(self._skin.points)
        found = csr_array((shares.ravel(), (row, corners.ravel())), (len(flat), count))
        own, *weighed = ((found @ table).toarray() for table in self._tables)
        bows = middle[:, None] * own[..., None] - np.stack(weighed, axis=-1)
        around = places.shape[:-1]
        return own.reshape(*around, -1), bows.reshape(*around, -1)


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


def _gathered(rings: Floats, told: npt.NDArray[np.bool_], skin: SignedSurface, sign: float) -> Floats:
    """Steps [m] (K, A, 3) by which rings beyond a hollow, as an armpit is, are gathered before it.

    Beyond the told ones (K,) a muscle tapers on to a bone. Where its middle leaves the skin and comes back to
    it on the other side, it would be a string through the air: it is drawn as ending where it leaves.
    """
    steps, middle = np.zeros_like(rings), rings.mean(axis=1, keepdims=True)
    depth, places = sign * skin.depth(middle[:, 0])[0], np.flatnonzero(told)
    thick = np.linalg.norm(rings - middle, axis=-1).min(axis=1).max()
    for way in (np.arange(places[0], -1, -1), np.arange(places[-1], len(rings))) if len(places) else ():
        out, deepest = depth[way] < 0.0, depth[way].min()
        if out[0] or deepest > -HOLLOW * thick or depth[way[-1]] < 0.5 * deepest:
            continue
        last, beyond = way[out.argmax() - 1], way[out.argmax() :]
        left = np.linspace(1.0, 0.0, len(beyond) + 1)[1:, None, None]
        steps[beyond] = middle[last] + left * (rings[last] - middle[last]) - rings[beyond]
    return steps


def _drawn_in(
    rings: Floats, skin: SignedSurface, sign: float, times: int, at_first: Floats | None = None
) -> Floats:
    """By how much rings of places (K, A, 3) are drawn in to be under the skin [m].

    Places side by side are drawn in alike: between two walls, as in an armpit, one would go to one and the
    next to the other, and the muscle between them through the air. Evened and drawn in by turns, it goes
    round the hollow.

    Args:
        rings: The places [m].
        skin: The skin.
        sign: −1 for a skin that is inside out.
        times: How often it is done at most.
        at_first: By how much they are drawn in to begin with [m]; None is not at all.
    """
    inset = np.zeros_like(rings) if at_first is None else at_first
    outside = sign * skin.depth(rings)[0] < 0.0
    if not outside.any():
        return np.zeros_like(rings)
    for _ in range(times):
        inset = _less(evened(inset, EVENED))
        asked = outside | inset.any(axis=-1)
        depth, outward = skin.depth((rings + inset)[asked])
        out = np.minimum(sign * depth, 0.0)
        if not out.any():
            break
        inset[asked] += (sign * DRAWN_IN * out)[..., None] * outward
    return inset


def _less(inset: Floats) -> Floats:
    """Vectors (..., 3) shorter by a share of the longest, so that evening does not reach everywhere."""
    length = np.linalg.norm(inset, axis=-1, keepdims=True)
    left = np.maximum(length - LESS * length.max(initial=0.0), 0.0)
    return np.asarray(inset * (left / np.where(length > 0.0, length, 1.0)))
