"""The surfaces of all muscles together: who is whose neighbour, what bones hold, triangles.

Vertices in one position count as the first of them. The two sides of a sheet are neighbours too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.spatial import cKDTree

from ecorche.muscles.lines.surface_graph import SurfaceGraph

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int32]
Bools = npt.NDArray[np.bool_]

FIRMNESS = 3
"""As so many neighbours, both ways, counts who faces away on the other side of a sheet."""
FACING = -0.5
"""Cosine between normals below which two vertices face away from each other."""


class Surface(NamedTuple):
    """Vertices of all muscles and their neighbours.

    Attributes:
        starts: Vertices of muscle m are ``starts[m]`` to ``starts[m + 1] − 1``, (M + 1,).
        bind: Where each is at bind [m], (V, 3).
        place: The first vertex in its position, (V,).
        near_starts, near: Neighbours of each such vertex, (V + 1,), (E,).
        counts: As how many neighbours each of them counts, (E,).
        held: Whether a bone holds it wholly, (V,).
        triangle_starts, triangles: Of each muscle, (M + 1,), (T, 3), of first vertices in their positions.
        normals: Of the triangles at bind, unit, or zero of those without area, (T, 3).
        areas: Twice how large they are at bind [m²], (T,).
    """

    starts: Ints
    bind: Floats
    place: Ints
    near_starts: Ints
    near: Ints
    counts: Floats
    held: Bools
    triangle_starts: Ints
    triangles: Ints
    normals: Floats
    areas: Floats


class Part(NamedTuple):
    """The surface of one muscle, whose vertices count from 0; no pose and no other muscle changes it.

    Attributes:
        place: The first vertex in the position of each, (V,).
        faces: Triangles of such, (T, 3).
        pairs: Neighbours, each both ways, in order, (E, 2).
        times: As how many neighbours each pair counts, (E,).
        held: Which vertices a bone holds wholly, (V,).
    """

    place: npt.NDArray[np.int64]
    faces: npt.NDArray[np.int64]
    pairs: npt.NDArray[np.int64]
    times: Floats
    held: Bools


def part_of(graph: SurfaceGraph, held: Bools) -> Part:
    """The surface of one muscle of whose vertices bones hold some, (V,)."""
    points = graph.points
    first = np.unique(graph.merged, return_index=True)[1]
    own = first[graph.merged]
    edges = first[graph.edges].reshape(-1, 2)
    facing = _across(points, graph.triangles, own, lengths(points, edges))
    pairs = np.concatenate([edges, np.repeat(facing, FIRMNESS, axis=0)])
    pairs = np.concatenate([pairs, pairs[:, ::-1]])
    pairs, often = np.unique(pairs, axis=0, return_counts=True)
    sits = np.bincount(own, held, len(points))[own] > 0.0
    return Part(own, own[graph.triangles], pairs.reshape(-1, 2), often.astype(np.float64), sits)


def surface_of(parts: Sequence[Part], starts: npt.NDArray[np.integer], bind: Floats) -> Surface:
    """The surfaces of muscles whose vertices (V, 3) [m] begin at ``starts``, (M + 1,)."""
    place, held, times = [np.zeros(0, np.int64)], [np.zeros(0, bool)], [np.zeros(0)]
    ends, faces = [np.zeros((0, 2), np.int64)], [np.zeros((0, 3), np.int64)]
    for part, a in zip(parts, starts[:-1].tolist(), strict=True):
        place.append(part.place + a)
        faces.append(part.faces + a)
        ends.append(part.pairs + a)
        times.append(part.times)
        held.append(part.held)
    ways, triangles = np.concatenate(ends), np.concatenate(faces).astype(np.int32)
    corners = bind[triangles]
    across = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    areas = np.linalg.norm(across, axis=1)
    return Surface(
        starts.astype(np.int32),
        bind,
        np.concatenate(place).astype(np.int32),
        np.searchsorted(ways[:, 0], np.arange(len(bind) + 1)).astype(np.int32),
        ways[:, 1].astype(np.int32),
        np.concatenate(times),
        np.concatenate(held),
        np.cumsum([0, *map(len, faces[1:])]).astype(np.int32),
        triangles,
        across / np.maximum(areas, 1e-300)[:, None],
        areas,
    )


def fading_shares(surface: Surface, fades: float) -> Floats:
    """What one neighbour counts in displacements that fade over a way [m], (V,).

    They make ``Σ |uᵢ − uⱼ|² + Σ (a / ℓ)² |uᵢ|²`` small, a being the length of edges and ℓ the way, when every
    vertex goes by this share of the sum of its neighbours' displacements.
    """
    count = len(surface.bind)
    # the mean over neighbours differs by a quarter of Δu times the mean square of the edges
    owner = np.repeat(np.arange(count), np.diff(surface.near_starts))
    apart = lengths(surface.bind, np.stack([owner, surface.near], axis=1))
    square = np.bincount(owner, surface.counts * apart**2, count)
    neighbours = np.bincount(owner, surface.counts, count)
    return np.asarray(1.0 / np.maximum(neighbours + square / (4.0 * fades**2), 1e-300))


def lengths(points: Floats, pairs: npt.NDArray[np.integer]) -> Floats:
    """Of the ways between pairs of vertices [m], (n,)."""
    return np.asarray(np.linalg.norm(points[pairs[:, 0]] - points[pairs[:, 1]], axis=1))


def _across(
    points: Floats, triangles: npt.NDArray[np.integer], own: npt.NDArray[np.int64], edges: Floats
) -> npt.NDArray[np.int64]:
    """Each vertex of a sheet with the nearest that faces the other way, (n, 2): within a mean edge."""
    corners = points[triangles]
    area = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normals = np.zeros(points.shape)
    for axis in range(3):
        normals[:, axis] = np.bincount(own[triangles].ravel(), np.repeat(area[:, axis], 3), len(points))
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-300)
    used = np.unique(own[triangles])
    if not len(edges):
        return np.zeros((0, 2), np.int64)
    found = used[cKDTree(points[used]).query_pairs(float(edges.mean()), output_type="ndarray")].reshape(-1, 2)
    found = found[np.sum(normals[found[:, 0]] * normals[found[:, 1]], axis=1) < FACING]
    found = np.concatenate([found, found[:, ::-1]])
    found = found[np.lexsort((found[:, 1], lengths(points, found), found[:, 0]))]
    return np.asarray(found[np.unique(found[:, 0], return_index=True)[1]], np.int64)
