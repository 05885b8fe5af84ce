"""Which faces make up which normal: decided once, at bind.

A *place* is where a mesh keeps a normal: a vertex, or a corner where the authored normals are a corner
each. Places at the same position (bit for bit) whose authored normals agree within one degree share
their faces, across UV seams and across meshes; authored normals that differ more are a hard edge.
Places without an authored normal agree with all others at their position.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from numba import njit

from ecorche.base.mesh import Mesh, coincident_groups

Vectors = npt.NDArray[np.float32]
Numbers = npt.NDArray[np.integer]

_SAME_NORMAL = float(np.cos(np.radians(1.0)))


@dataclass(frozen=True, eq=False)
class Smoothing:
    """The surface around each place of some meshes, their vertices counted through.

    A face with corners p, q, r, s … seen from its corner p has the vector area
    ``½ Σ (q − p) × (r − p) + (r − p) × (s − p) + …``: it is kept as the pairs (q, r), (r, s) ….

    Attributes:
        vertices: Vertex of each place, shape (places,).
        starts: Borders of each place's row in ``pairs``, shape (places + 1,).
        pairs: Vertex pairs of the faces that shade each place, shape (pairs, 2).
        neighbours: Vertex at the far end of the longest edge at each place, shape (places,); its own
            where no face is.
    """

    vertices: Numbers
    starts: Numbers
    pairs: Numbers
    neighbours: Numbers


def has_corner_normals(mesh: Mesh) -> bool:
    """Whether the mesh's authored normals are a corner each."""
    return mesh.normals is not None and len(mesh.normals) != mesh.vertex_count


def place_count(mesh: Mesh) -> int:
    """How many normals a mesh has."""
    return len(mesh.face_indices) if has_corner_normals(mesh) else mesh.vertex_count


def smoothing(meshes: Sequence[Mesh]) -> Smoothing:
    """The smoothing of meshes that are shaded together."""
    first_vertex = np.cumsum([0, *(m.vertex_count for m in meshes)])
    first_place = np.cumsum([0, *(place_count(m) for m in meshes)])
    face_counts = _joined([m.face_counts for m in meshes])
    corners = _joined([m.face_indices + first for m, first in zip(meshes, first_vertex, strict=False)])
    place_vertex, corner_place = [], []
    for mesh, vertex, place in zip(meshes, first_vertex, first_place, strict=False):
        own = np.arange(place_count(mesh))
        place_vertex.append((mesh.face_indices if has_corner_normals(mesh) else own) + vertex)
        corner_place.append((own if has_corner_normals(mesh) else mesh.face_indices) + place)
    vertices = _joined(place_vertex)
    points = np.concatenate([*(m.points for m in meshes), np.zeros((0, 3), np.float32)])

    group = _smooth_groups(points[vertices], meshes)
    face = np.repeat(np.arange(len(face_counts)), face_counts)
    starts, members = _rows(group[_joined(corner_place)], int(group.max(initial=-1)) + 1)
    starts, members = _unrepeated(starts, members, face[members])
    pair_starts, pairs = _pairs(starts, members, corners, face_counts, face)
    # every place gets a row of its own, those of one group with the same pairs
    counts = np.diff(pair_starts)[group]
    place_starts = np.concatenate([[0], np.cumsum(counts)])
    entry = np.arange(int(counts.sum())) - np.repeat(place_starts[:-1] - pair_starts[group], counts)
    pairs = pairs[entry]
    return Smoothing(vertices, place_starts, pairs, _neighbours(points, vertices, place_starts, pairs))


def _pairs(
    starts: Numbers, members: Numbers, corners: Numbers, face_counts: Numbers, face: Numbers
) -> tuple[Numbers, Numbers]:
    """Rows of vertex pairs: each member corner's face as a fan seen from that corner."""
    size = face_counts[face[members]]
    first = (np.cumsum(face_counts) - face_counts)[face[members]]
    fans = size - 2
    own = np.repeat(members - first, fans)
    step = np.arange(int(fans.sum())) - np.repeat(np.cumsum(fans) - fans, fans) + 1
    first, size = np.repeat(first, fans), np.repeat(size, fans)
    pairs = np.stack([corners[first + (own + step) % size], corners[first + (own + step + 1) % size]], axis=1)
    return np.concatenate([[0], np.cumsum(fans)])[starts], pairs


def _joined(numbers: Sequence[npt.NDArray[np.integer]]) -> Numbers:
    """Integer arrays one after another, also none at all."""
    return np.concatenate([*numbers, np.zeros(0, np.int32)]).astype(np.int32)


def _rows(group: npt.NDArray[np.integer], count: int) -> tuple[Numbers, Numbers]:
    """Row borders (count + 1,) and members, rising within each group."""
    starts = np.zeros(count + 1, np.int32)
    np.cumsum(np.bincount(group, minlength=count), out=starts[1:])
    return starts, np.argsort(group, kind="stable").astype(np.int32)


def _unrepeated(starts: Numbers, members: Numbers, face: Numbers) -> tuple[Numbers, Numbers]:
    """The same rows with each face once: one that touches a place twice, as at a pole, counts once."""
    keep = np.ones(len(members), bool)
    keep[1:] = face[1:] != face[:-1]
    keep[starts[:-1][np.diff(starts) > 0]] = True
    return np.concatenate([[0], np.cumsum(keep)])[starts], members[keep]


def _smooth_groups(positions: Vectors, meshes: Sequence[Mesh]) -> Numbers:
    """A group number a place, equal where a normal is shared."""
    if len(positions) == 0:
        return np.zeros(0, np.int32)
    authored = [np.zeros((m.vertex_count, 3), np.float32) if m.normals is None else m.normals for m in meshes]
    together = coincident_groups(positions)
    starts, places = _rows(together, int(together.max()) + 1)
    return np.asarray(_split_at_hard_edges(starts, places, np.concatenate(authored)), np.int32)


@njit(cache=True)  # type: ignore[untyped-decorator]
def _split_at_hard_edges(starts: Numbers, places: Numbers, authored: Vectors) -> Numbers:
    """Of the places at one position, each joins the first that it agrees with."""
    group = np.empty(len(places), np.int32)
    first = np.empty(len(places), np.int32)
    count = 0
    for position in range(len(starts) - 1):
        begin = count
        for i in range(starts[position], starts[position + 1]):
            place = places[i]
            a = authored[place]
            length_a = np.sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2])
            chosen = -1
            for candidate in range(begin, count):
                b = authored[first[candidate]]
                length_b = np.sqrt(b[0] * b[0] + b[1] * b[1] + b[2] * b[2])
                along = a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
                if along >= _SAME_NORMAL * length_a * length_b:
                    chosen = candidate
                    break
            if chosen < 0:
                chosen = count
                first[chosen] = place
                count += 1
            group[place] = chosen
    return group


@njit(cache=True)  # type: ignore[untyped-decorator]
def _neighbours(points: Vectors, vertices: Numbers, starts: Numbers, pairs: Numbers) -> Numbers:
    neighbours = vertices.copy()
    for place in range(len(vertices)):
        longest = 0.0
        p = points[vertices[place]]
        for entry in range(starts[place], starts[place + 1]):
            for end in range(2):
                q = points[pairs[entry, end]]
                length = 0.0
                for axis in range(3):
                    length += (np.float64(q[axis]) - np.float64(p[axis])) ** 2
                if length > longest:
                    longest = length
                    neighbours[place] = pairs[entry, end]
    return neighbours
