"""How deep a point lies under a skin that comes in pieces: it is as deep as in the piece where it is deepest.

Bodies come as one closed skin, as a skin with eyes and teeth in it, or as limbs pushed into a trunk. Each
piece is a solid of its own and the body is their union, so a face inside another piece tells nothing.

Left out are sheets without an inside (lashes, hair cards) and crumbs; closed pieces that are inside out
are turned. Limit: where pieces overlap, a point is at least as deep as told.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from ecorche.base.mesh import coincident_groups
from ecorche.base.signed_distance import SignedSurface

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

SHEET = 0.005
"""Volume over area to the power of 3/2 below which an open piece is a sheet: 0.09 is a ball, 0.04 an arm."""
NOTHING = 1e-7
"""So measured, what encloses nothing: what is left of sums that cancel."""
CRUMB = 0.01
"""Pieces smaller than this share of the whole are left out: no muscle has room in them."""


class SignedPieces:
    """A surface in pieces to ask how deep points lie: points [m] (vertices, 3), triangles (triangles, 3).

    Attributes:
        inside_out: Whether the surface as a whole is: then depths are of the wrong sign.
        two_sided: Whether it encloses nothing, as every face is there a second time, turned round.
        pieces: How many connected pieces the surface has.
        left_out: How many of them are sheets or crumbs.
        turned: How many closed pieces were inside out and have been turned.
    """

    def __init__(self, points: npt.ArrayLike, triangles: npt.ArrayLike) -> None:
        places = np.asarray(points, np.float64)
        faces = np.asarray(triangles, np.int64)
        merged = coincident_groups(places).astype(np.int64)[faces]
        piece, self.pieces = _pieces(merged)
        corners = places[faces]
        volume, area, size = _measures(corners, piece, self.pieces)
        gaping = _open_pieces(merged, piece, self.pieces)
        empty = np.abs(volume).max(initial=0.0) < NOTHING * area.sum() ** 1.5
        self.two_sided = bool(empty) and not gaping.any()
        self.inside_out = bool(volume.sum() < 0.0) and not self.two_sided
        whole = float(np.linalg.norm(np.ptp(corners.reshape(-1, 3), axis=0)))
        out = (gaping & (np.abs(volume) < SHEET * area**1.5)) | (size < CRUMB * whole)
        out[np.abs(volume).argmax()] = False
        turned = ~gaping & ~out & (volume < 0.0) & (not self.inside_out)
        self.left_out, self.turned = int(out.sum()), int(turned.sum())
        faces = np.where(turned[piece][:, None], faces[:, ::-1], faces)[~out[piece]]
        piece = piece[~out[piece]]
        self._all, self._faces = SignedSurface(places, faces), faces
        self._solids: list[tuple[Floats, Floats, SignedSurface]] = []
        self._own_faces: list[Ints] = []
        kept = np.unique(piece)
        for number in kept if len(kept) > 1 else kept[:0]:
            used, own = np.unique(faces[piece == number], return_inverse=True)
            at = places[used]
            self._solids.append((at.min(axis=0), at.max(axis=0), SignedSurface(at, own.reshape(-1, 3))))
            self._own_faces.append(faces[piece == number])

    @property
    def notes(self) -> tuple[str, ...]:
        """What a person should know, in sentences."""
        notes = []
        if self._solids:
            notes.append(f"the skin is {len(self._solids)} pieces, taken as one body where they overlap")
        if self.left_out:
            notes.append(
                f"{self.left_out} pieces of the skin were left out: sheets and crumbs that hold no muscle"
            )
        if self.turned:
            notes.append(f"{self.turned} pieces of the skin are inside out and were turned for the fit")
        return tuple(notes)

    def depth(self, queries: npt.ArrayLike) -> tuple[Floats, Floats]:
        """Depth [m] (...,), negative outside, and the unit direction to the skin's outside (..., 3)."""
        if not self._solids:
            return self._all.depth(queries)
        asked = np.asarray(queries, np.float64)
        flat = asked.reshape(-1, 3)
        depth, outward = np.full(len(flat), -np.inf), np.zeros(flat.shape)
        for lower, upper, solid in self._solids:
            near = np.flatnonzero(((flat >= lower) & (flat <= upper)).all(axis=1))  # outside it is not inside
            here, way = solid.depth(flat[near])
            deeper = here > np.maximum(depth[near], 0.0)
            depth[near[deeper]], outward[near[deeper]] = here[deeper], way[deeper]
        outside = np.isinf(depth)
        here, way = self._all.depth(flat[outside])
        depth[outside], outward[outside] = -np.abs(here), np.where((here > 0.0)[:, None], -way, way)
        return depth.reshape(asked.shape[:-1]), outward.reshape(asked.shape)

    def holding(self, queries: npt.ArrayLike) -> tuple[SignedSurface, Ints]:
        """The piece in which most of some points (..., 3) lie, and its triangles, (n, 3).

        The whole surface where it is one piece, or none of them is in any.
        """
        flat = np.asarray(queries, np.float64).reshape(-1, 3)
        held = [0] * len(self._solids)
        for number, (lower, upper, solid) in enumerate(self._solids):
            near = ((flat >= lower) & (flat <= upper)).all(axis=1)
            held[number] = int((solid.depth(flat[near])[0] > 0.0).sum()) if near.any() else 0
        if not any(held):
            return self._all, self._faces
        most = int(np.argmax(held))
        return self._solids[most][2], self._own_faces[most]


def _pieces(merged: Ints) -> tuple[Ints, int]:
    """The piece each triangle (triangles, 3) belongs to, (triangles,), and how many there are."""
    vertices = int(merged.max(initial=-1)) + 1
    start, end = merged[:, :2].reshape(-1), merged[:, 1:].reshape(-1)
    graph = coo_array((np.ones(len(start), np.int8), (start, end)), shape=(vertices, vertices))
    label = np.asarray(connected_components(graph, directed=False)[1], np.int64)
    _, piece = np.unique(label[merged[:, 0]], return_inverse=True)
    return piece.reshape(-1), int(piece.max(initial=-1)) + 1


def _measures(corners: Floats, piece: Ints, count: int) -> tuple[Floats, Floats, Floats]:
    """Signed volume [m³], area [m²] and diagonal [m] of each piece, (count,) each.

    An open piece is closed by cones to its middle.
    """
    weight = np.bincount(piece, minlength=count)[:, None]
    middle = np.stack([np.bincount(piece, corners[:, :, x].mean(axis=1), count) for x in range(3)], axis=1)
    a, b, c = np.moveaxis(corners - (middle / weight)[piece][:, None], 1, 0)
    volume = np.asarray(np.bincount(piece, np.sum(a * np.cross(b, c), axis=1) / 6.0, count), np.float64)
    area = np.asarray(
        np.bincount(piece, np.linalg.norm(np.cross(b - a, c - a), axis=1) / 2.0, count), np.float64
    )
    lower, upper = np.full((count, 3), np.inf), np.full((count, 3), -np.inf)
    np.minimum.at(lower, piece, corners.min(axis=1))
    np.maximum.at(upper, piece, corners.max(axis=1))
    return volume, area, np.linalg.norm(upper - lower, axis=1)


def _open_pieces(merged: Ints, piece: Ints, count: int) -> Bools:
    """Which pieces have an edge with one triangle only, (count,)."""
    one, other = merged[:, [1, 2, 0]], merged[:, [2, 0, 1]]
    ends = np.minimum(one, other) * (int(merged.max()) + 1) + np.maximum(one, other)
    _, first, times = np.unique(ends.reshape(-1), return_index=True, return_counts=True)
    found = np.zeros(count, bool)
    found[piece[first[times == 1] // 3]] = True
    return found
