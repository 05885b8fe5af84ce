"""A finer surface: where its vertices come from, as weights of those of the coarse one.

Thesis, 5.5.2: the last filter of a skin may be a subdivision instead of smoothing. Triangles are divided by
Loop's rule, other polygons by that of Catmull and Clark. Both draw a surface in: fingertips would lose some
millimetres, and muscles come through. So what is divided is the cage whose fine surface goes through the
coarse vertices, in every pose: these stay where they are. There need be no such cage (a cube has none that is
divided twice), so it is come near to in some rounds, and what is missing is filled in. Borders, and edges of
more than two faces, are curves of their own; a vertex where more than two such edges meet is a corner.

Vertices at one place, as on both sides of a texture seam, move as one, so that nothing opens; what is painted
on either side stays on its side.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt
from scipy import sparse

from ecorche.base.mesh import Attribute, FaceSubset, Mesh, Morph, coincident_groups

Ints = npt.NDArray[np.int64]

_ROUNDS = 12
"""In which the cage comes near to what it should be; each leaves at most half of what is missing, where
triangles meet in sixes, and three quarters where quads meet in fours."""
_SMALLEST = 1e-6
"""Blend shapes move no vertex by less [m]."""


@dataclass(frozen=True, eq=False, repr=False)
class Subdivision:
    """A finer surface by the coarse one. The coarse vertices come first, in their order.

    Attributes:
        vertices: Weights of the cage's vertices for each fine one, (fine, coarse), rows sum to 1.
        between: The same for what is painted on the vertices: it is not smoothed, only filled in.
        corners: The same for the corners of faces, (fine corners, coarse corners).
        face_counts, face_indices: The fine faces, as those of `Mesh`.
        parents: The coarse face that each fine one lies in, (fine faces,).
        place: The place of each coarse vertex, (coarse,); those at one point share one.
    """

    vertices: sparse.csr_matrix
    between: sparse.csr_matrix
    corners: sparse.csr_matrix
    face_counts: npt.NDArray[np.int32]
    face_indices: npt.NDArray[np.int32]
    parents: Ints
    place: Ints

    def points(self, coarse: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        """Points of the fine surface [m], (fine, 3), by those of the coarse one in any pose, (coarse, 3)."""
        speaker, drawn_in = self._coarse
        asked = coarse[speaker].astype(np.float64)
        cage, missing = asked.copy(), asked - drawn_in @ asked
        for _ in range(_ROUNDS):
            cage += missing
            missing = asked - drawn_in @ cage
        fine = np.asarray(self.vertices @ cage[self.place] + self.between @ missing[self.place], np.float32)
        fine[: len(coarse)] = coarse  # of which rounding would change the last bit
        return fine

    @cached_property
    def _coarse(self) -> tuple[Ints, sparse.csr_matrix]:
        """The first vertex at every place, and where these come by those of the cage, (places, places)."""
        speaker = np.zeros(int(self.place.max(initial=-1)) + 1, np.int64)
        speaker[self.place[::-1]] = np.arange(len(self.place))[::-1]
        return speaker, self.vertices[speaker][:, speaker].tocsr()


def subdivision(mesh: Mesh, levels: int) -> Subdivision:
    """A mesh whose faces are divided into four, so many times.

    Args:
        mesh: The coarse one.
        levels: How often; 0 divides nothing.
    """
    corners = len(mesh.face_indices)
    found = Subdivision(
        _one_each(mesh.vertex_count),
        _one_each(mesh.vertex_count),
        _one_each(corners),
        mesh.face_counts.astype(np.int32),
        mesh.face_indices.astype(np.int32),
        np.arange(len(mesh.face_counts)),
        coincident_groups(mesh.points).astype(np.int64),
    )
    place = found.place
    for _ in range(levels):
        step, place = _divided(found.face_counts, found.face_indices.astype(np.int64), place)
        found = replace(
            step,
            vertices=step.vertices @ found.vertices,
            between=step.between @ found.between,
            corners=step.corners @ found.corners,
            parents=found.parents[step.parents],
            place=found.place,
        )
    return found


def subdivided(mesh: Mesh, fine: Subdivision) -> Mesh:
    """The mesh, finer: with its coordinates, colours, materials and blend shapes.

    Its normals are those of its own faces. A cage that another program would have divided is none any more.
    """
    return Mesh(
        name=mesh.name,
        points=fine.points(mesh.points),
        face_counts=fine.face_counts,
        face_indices=fine.face_indices,
        uv=None if mesh.uv is None else _filled_in(mesh.uv, fine),
        attributes=tuple(_filled_in(a, fine) for a in mesh.attributes),
        subsets=tuple(_divided_subset(s, fine) for s in mesh.subsets),
        morphs=tuple(_divided_morph(m, fine) for m in mesh.morphs),
        material=mesh.material,
        double_sided=mesh.double_sided,
    )


def _one_each(count: int) -> sparse.csr_matrix:
    return sparse.identity(count, np.float64, "csr")


def _rows(
    row: Ints, column: npt.ArrayLike, weight: npt.ArrayLike, shape: tuple[int, int]
) -> sparse.csr_matrix:
    """Weights where a row and a column may come several times: they add up."""
    weights = np.broadcast_to(np.asarray(weight, np.float64), np.shape(row))
    return sparse.csr_matrix((weights, (row, np.asarray(column))), shape)


def _filled_in(attribute: Attribute, fine: Subdivision) -> Attribute:
    """Values between those painted; whole numbers and names are not mixed: the first of them is taken."""
    if attribute.interpolation == "constant":
        return attribute
    values = attribute.flat()
    if attribute.interpolation == "uniform":
        return replace(attribute, values=values[fine.parents], indices=None)
    weights = fine.between if attribute.interpolation == "vertex" else fine.corners
    if np.issubdtype(values.dtype, np.floating):
        mixed = np.asarray(weights @ values.astype(np.float64)).astype(values.dtype)
        return replace(attribute, values=mixed, indices=None)
    return replace(attribute, values=values[weights.indices[weights.indptr[:-1]]], indices=None)


def _divided_subset(subset: FaceSubset, fine: Subdivision) -> FaceSubset:
    faces = np.flatnonzero(np.isin(fine.parents, subset.faces))
    return replace(subset, faces=faces.astype(np.int32))


def _divided_morph(morph: Morph, fine: Subdivision) -> Morph:
    offsets = np.zeros((len(fine.place), 3), np.float32)
    offsets[morph.vertices] = morph.offsets
    finer = fine.points(offsets)
    finer[np.abs(finer).max(axis=1) < _SMALLEST] = 0.0
    moved = np.flatnonzero(finer.any(axis=1))
    return replace(morph, vertices=moved.astype(np.int32), offsets=finer[moved])


def _divided(counts: npt.NDArray[np.int32], indices: Ints, place: Ints) -> tuple[Subdivision, Ints]:
    """One division of faces whose vertices are at places, and the places of the fine vertices."""
    faces, corners, vertices = len(counts), len(indices), len(place)
    places = int(place.max(initial=-1)) + 1
    face = np.repeat(np.arange(faces), counts)
    start = np.cumsum(counts, dtype=np.int64) - counts
    here = np.arange(corners)
    after, before = here + 1, here - 1
    after[start + counts - 1] = start
    before[start] = start + counts - 1
    # edges of vertices, and of places: a seam has two of the former in one of the latter
    ends, edge = np.unique(np.sort(indices[np.stack([here, after], 1)], 1), axis=0, return_inverse=True)
    edge = edge.reshape(-1)
    shared, place_edge = np.unique(
        np.sort(place[indices[np.stack([here, after], 1)]], 1), axis=0, return_inverse=True
    )
    place_edge = place_edge.reshape(-1)
    is_triangles = bool((counts == 3).all())
    weights = _smooth(
        place[indices], face, counts, after, before, place_edge, shared, places, is_triangles=is_triangles
    )
    edge_place = np.zeros(len(ends), np.int64)
    edge_place[edge] = place_edge
    new_place = np.concatenate([place, places + edge_place])
    if not is_triangles:
        new_place = np.concatenate([new_place, places + len(shared) + np.arange(faces)])
    speaker = np.zeros(places, np.int64)
    speaker[place[::-1]] = np.arange(vertices)[::-1]
    spoken = _rows(np.arange(places), speaker, 1.0, (places, vertices))

    rows = np.arange(len(ends))
    middles = _rows(np.tile(rows, 2), ends.T.reshape(-1), 0.5, (len(ends), vertices))
    halves = _rows(np.tile(here, 2), np.concatenate([here, after]), 0.5, (corners, corners))
    own = _one_each(corners)
    at_edge = vertices + edge
    if is_triangles:
        a, b, c = start, start + 1, start + 2
        quarter = ([a, a, c], [a, b, b], [c, b, c], [a, b, c])  # corners, or the edges that begin there
        is_corner = ((1, 0, 0), (0, 1, 0), (0, 0, 1), (0, 0, 0))
        pick = np.stack([np.stack(q, 1) for q in quarter], 1).reshape(-1)
        plain = np.tile(np.array(is_corner).reshape(-1), faces).astype(np.bool_)
        new_indices = np.where(plain, indices[pick], at_edge[pick])
        corner_weights = sparse.vstack([own, halves], "csr")[np.where(plain, pick, corners + pick)]
        new_counts, parents = np.full(4 * faces, 3), np.repeat(np.arange(faces), 4)
        between = sparse.vstack([_one_each(vertices), middles], "csr")
    else:
        share = 1.0 / counts[face]
        centre = _rows(face, indices, share, (faces, vertices))
        inner = _rows(face, here, share, (faces, corners))
        new_indices = np.stack([indices, at_edge, vertices + len(ends) + face, at_edge[before]], 1).reshape(
            -1
        )
        pick = np.stack([here, corners + here, 2 * corners + face, corners + before], 1).reshape(-1)
        corner_weights = sparse.vstack([own, halves, inner], "csr")[pick]
        new_counts, parents = np.full(corners, 4), face
        between = sparse.vstack([_one_each(vertices), middles, centre], "csr")
    step = Subdivision(
        (weights[new_place] @ spoken).tocsr(),
        between,
        corner_weights,
        new_counts.astype(np.int32),
        new_indices.astype(np.int32),
        parents,
        place,
    )
    return step, new_place


def _smooth(
    corner: Ints,
    face: Ints,
    counts: npt.NDArray[np.int32],
    after: Ints,
    before: Ints,
    edge: Ints,
    ends: Ints,
    places: int,
    *,
    is_triangles: bool,
) -> sparse.csr_matrix:
    """Weights of the places for each place, each edge and, of polygons, each face, (fine, places).

    Args:
        corner: The place of each corner, (corners,).
        face: The face of each corner, (corners,).
        counts: Corners of each face, (faces,).
        after, before: The next and the last corner of the same face, (corners,).
        edge: The edge from each corner to the next, (corners,).
        ends: Both places of each edge, (edges, 2).
        places: How many there are.
        is_triangles: Whether all faces are.
    """
    # faces without area, two of whose corners are at one place, hold nothing together
    real = np.bincount(face, corner == corner[after], len(counts))[face] == 0
    beside = np.bincount(edge[real], minlength=len(ends))
    inner, border = beside == 2, (beside > 0) & (beside != 2)
    centre = _rows(face, corner, 1.0 / counts[face], (len(counts), places))
    first, second = ends.T
    middle = _rows(np.tile(np.arange(len(ends)), 2), ends.T.reshape(-1), 0.5, (len(ends), places))
    own = _one_each(places)
    around = np.concatenate([first[inner], second[inner]])
    edges_in, edges_out = (
        np.bincount(np.concatenate([first[kind], second[kind]]), minlength=places) for kind in (inner, border)
    )
    # edges between two faces
    facing = real & inner[edge]
    if is_triangles:
        opposite = _rows(edge[facing], corner[before[facing]], 1.0, (len(ends), places))
        at_edges = sparse.diags(np.where(inner, 0.75, 1.0)) @ middle + 0.125 * opposite
    else:
        both = _rows(edge[facing], face[facing], 1.0, (len(ends), len(counts))) @ centre
        at_edges = sparse.diags(np.where(inner, 0.5, 1.0)) @ middle + 0.25 * both
    # places within, on a border, and where borders meet or nothing is
    many = np.maximum(edges_in, 1)
    within = (edges_out == 0) & (edges_in >= 3)
    on_border = edges_out == 2
    neighbours = _rows(around, np.concatenate([second[inner], first[inner]]), 1.0, (places, places))
    if is_triangles:
        each = (0.625 - (0.375 + 0.25 * np.cos(2.0 * np.pi / many)) ** 2) / many
        smooth = sparse.diags(1.0 - many * each) @ own + sparse.diags(each) @ neighbours
    else:
        fans = _rows(corner[real], face[real], 1.0, (places, len(counts))) @ centre
        # ((n − 3) V + 2 R + F) / n with R and F the means of n middles of edges and n faces
        smooth = (
            sparse.diags((many - 2.0) / many) @ own
            + sparse.diags(1.0 / many**2) @ neighbours
            + sparse.diags(1.0 / many**2) @ fans
        )
    outer = np.concatenate([first[border], second[border]])
    along = _rows(outer, np.concatenate([second[border], first[border]]), 0.125, (places, places))
    at_places = (
        sparse.diags(within.astype(np.float64)) @ smooth
        + sparse.diags(on_border.astype(np.float64)) @ (0.75 * own + along)
        + sparse.diags((~within & ~on_border).astype(np.float64)) @ own
    )
    parts = [at_places, at_edges] if is_triangles else [at_places, at_edges, centre]
    weights: sparse.csr_matrix = sparse.vstack(parts, "csr")
    return weights
