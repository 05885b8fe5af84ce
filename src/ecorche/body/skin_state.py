"""In what state a skin is: whole or with holes, in how many pieces, which way its faces look.

Fat and what is bound to muscles lie on one side of the skin. A skin that is inside out is taken the other way
round; one whose faces look outwards here and inwards there is refused, as nobody knows its inside. All else
is taken as it is, and told.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from ecorche.base.mesh import coincident_groups
from ecorche.base.signed_pieces import NOTHING
from ecorche.errors import MeshError

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Whole = TypeVar("Whole", bound=np.signedinteger[Any])

AT_ODDS = 0.02
"""So much of a skin, as a share of its area, may look the other way: fins and doubled faces do."""


@dataclass(frozen=True)
class SkinState:
    """What is unusual about a skin.

    Attributes:
        pieces: Parts that hang together.
        holes, open_edges: Borders, and the edges they consist of.
        tangled: Edges of more than two triangles.
        flat: Triangles without area.
        inside_out: Whether its triangles run clockwise seen from outside.
        two_sided: Whether it encloses nothing, as every face is there a second time, turned round.
        at_odds: Share of its area whose triangles look the other way than the rest of their piece.
    """

    pieces: int
    holes: int
    open_edges: int
    tangled: int
    flat: int
    inside_out: bool
    two_sided: bool
    at_odds: float

    def told(self, name: str) -> tuple[str, ...]:
        """A sentence where there is anything to say."""
        said = []
        if self.pieces > 1:
            said.append(f"is in {self.pieces:,} pieces")
        if self.holes:
            said.append(f"has {_counted(self.holes, 'hole')} ({_counted(self.open_edges, 'edge')})")
        if self.tangled:
            said.append(f"has {_counted(self.tangled, 'edge')} with more than two faces")
        if self.flat:
            said.append(f"has {_counted(self.flat, 'triangle')} without area")
        if self.inside_out:
            said.append("is inside out, and taken the other way round")
        return (f"the skin {name!r} {', '.join(said)}",) if said else ()


def skin_state(points: npt.ArrayLike, triangles: npt.ArrayLike) -> SkinState:
    """The state of a skin; vertices in one place are one.

    Args:
        points: [m], (vertices, 3).
        triangles: (triangles, 3).
    """
    at = np.asarray(points, np.float64)
    corners = at[np.asarray(triangles, np.int64)]
    faces = coincident_groups(np.asarray(points, np.float32)).astype(np.int64)[np.asarray(triangles)]
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    area = np.linalg.norm(normal, axis=1)
    real = (area > 0.0) & (faces[:, 0] != faces[:, 1]) & (faces[:, 1] != faces[:, 2])
    real &= faces[:, 2] != faces[:, 0]
    faces, area = faces[real], area[real]
    edges = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]])
    owner = np.tile(np.arange(len(faces)), 3)
    upwards = edges[:, 0] < edges[:, 1]
    size = int(faces.max(initial=-1)) + 1
    key = edges.min(axis=1) * size + edges.max(axis=1)
    order = np.argsort(key, kind="stable")
    ends, counts = np.unique(key, return_counts=True)
    first = (np.cumsum(counts) - counts)[counts == 2]
    one, other = order[first], order[first + 1]
    agree = upwards[one] != upwards[other]
    piece = _parts(owner[one], owner[other], len(faces))
    patch = _parts(owner[one][agree], owner[other][agree], len(faces))
    border = np.stack(np.divmod(ends[counts == 1], max(size, 1)), axis=1)
    middle = corners.mean(axis=(0, 1)) if len(corners) else np.zeros(3)
    volume = float(np.einsum("ti,ti->", corners[:, 0] - middle, normal))
    empty = abs(volume) < NOTHING * float(area.sum()) ** 1.5
    two_sided = bool(len(faces)) and not len(border) and empty
    return SkinState(
        pieces=_used(_parts(edges[:, 0], edges[:, 1], size), faces),
        holes=_used(_parts(border[:, 0], border[:, 1], size), border),
        open_edges=len(border),
        tangled=int((counts > 2).sum()),
        flat=int((~real).sum()),
        inside_out=volume < 0.0 and not empty,
        two_sided=two_sided,
        at_odds=_at_odds(piece, patch, area),
    )


def outward(
    points: npt.ArrayLike, triangles: npt.NDArray[Whole], where: object
) -> tuple[npt.NDArray[Whole], SkinState]:
    """Triangles that look out of the body, and the state of the skin.

    Args:
        points: Of the skin at bind [m], (vertices, 3).
        triangles: As the file has them, (triangles, 3).
        where: What is refused, for messages.
    """
    state = skin_state(points, triangles)
    if state.two_sided:
        raise MeshError(
            "the skin encloses nothing: its faces are there twice, once turned round",
            where=where,
            remedy="Take out the faces that look inwards, and export again",
        )
    if state.at_odds > AT_ODDS:
        raise MeshError(
            f"{100.0 * state.at_odds:.0f} % of the skin looks the other way than the rest of it,"
            " so that nobody knows its inside",
            where=where,
            remedy="Flip those faces, so that all normals point outwards, and export again",
        )
    return np.ascontiguousarray(triangles[:, ::-1]) if state.inside_out else triangles, state


def _at_odds(piece: Ints, patch: Ints, area: Floats) -> float:
    """Share of the area that is not of the largest patch of its piece."""
    if not len(area):
        return 0.0
    size = np.bincount(patch, area)
    of_piece = np.zeros(len(size), np.int64)
    of_piece[patch] = piece
    largest = np.zeros(int(piece.max()) + 1)
    np.maximum.at(largest, of_piece, size)
    return float(1.0 - largest.sum() / size.sum())


def _parts(one: Ints, other: Ints, count: int) -> Ints:
    """Which part each of some things is in, where pairs of them hang together, (count,)."""
    links = coo_matrix((np.ones(len(one), np.int8), (one, other)), (count, count))
    return np.asarray(connected_components(links, directed=False)[1], np.int64)


def _used(parts: Ints, members: Ints) -> int:
    return len(np.unique(parts[members]))


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
