"""A skin that what lies beneath pushes out: by more here than there, in small steps.

Normals of a crease (groin, armpit, under a breast) cross when the skin goes far along them. So it goes a
little and looks again, and goes along normals that are evened over a stretch of the skin: a navel goes with
the belly round it. Skin that faces skin, as thighs do, goes at most half the way to it. Where triangles would
still turn over, the skin moves as that round it does.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix

from ecorche.base.ray_tree import RayTree
from ecorche.skin.evened import Evened
from ecorche.skin.two_rings import TwoRings

Floats = npt.NDArray[np.float64]
Points = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]

_CANCELLED = 0.2
"""Evened normals shorter than this cancel each other: the skin goes less far there, as between fingers."""
_LEAST_COSINE, _UNFOLDINGS = 0.3, 40
"""Triangles that turn by more than this are turning over, and how often that is mended after a step."""
_SIDEWAYS, _MOST_OF_IT = np.float32(0.05), 0.45
"""Skin that goes along itself comes no nearer; of a gap beside it, either side takes this share in a step."""
_BEFORE = 1e-3
"""How far before the skin a look ahead begins, as a share of a step: not in the skin itself."""


def grown(
    points: Floats,
    triangles: npt.ArrayLike,
    rings: TwoRings,
    amount: npt.ArrayLike,
    *,
    step: float,
    evened: Evened,
    apart: float,
) -> Floats:
    """Where the vertices go [m], (vertices, 3).

    Args:
        points: Of the skin [m], (vertices, 3).
        triangles: Outwards, (triangles, 3).
        rings: Its vertices' neighbours.
        amount: How far each place goes, below zero inwards [m], (places,).
        step: How far it goes at a time [m].
        evened: What evens its normals.
        apart: How near skin may come to skin that faces it [m].
    """
    wanted, faces = np.asarray(amount, np.float32), np.asarray(triangles, np.int64)
    now = np.array(points, np.float64)
    furthest = float(np.abs(wanted).max(initial=0.0))
    if furthest == 0.0:
        return now
    count = int(np.ceil(furthest / step))
    speaker = rings.speakers()
    ahead = RayTree(now, faces)
    reach = np.full(rings.place_count, 2.0 * step + apart, np.float32)
    for _ in range(count):
        out = outwards(now, faces, rings, evened)
        start = (now[speaker] + _BEFORE * step * out).astype(np.float32)
        ahead.fit(now.astype(np.float32))
        gap = ahead.cast(start, out, reach, facing=True).distances
        room = np.maximum(np.float32(0.5) * (gap - np.float32(apart)), np.float32(0.0))
        # walls of a cleft that do not face where they go still come nearer to each other
        up = place_normals(now, faces, rings)
        side = (now[speaker] + _BEFORE * step * up).astype(np.float32)
        beside = ahead.cast(side, up, reach, facing=True).distances
        towards = np.maximum((up * out).sum(axis=1), _SIDEWAYS)
        room = np.minimum(room, np.float32(_MOST_OF_IT) * beside / towards)
        room = np.minimum(rings.smoothed(np.minimum(room, np.float32(step)), 0.5, 3), room)
        now += (np.minimum(wanted / np.float32(count), room)[:, None] * out)[rings.place]
        now = unfolded(points, now, faces, rings)
    return now


def unfolded(before: Floats, now: Floats, triangles: Ints, rings: TwoRings) -> Floats:
    """The vertices [m] (vertices, 3), and where triangles turned over they have moved as those round them."""
    speaker, corners = rings.speakers(), rings.place[triangles]
    at, moved = before[speaker], (now - before)[speaker]
    faced, asked, changed = _areas(before, triangles), np.arange(len(triangles)), False
    round_it = csr_matrix((rings.near_weights, rings.near, rings.near_starts), (rings.place_count,) * 2)
    for _ in range(_UNFOLDINGS):
        over = asked[_turned(faced[asked], _areas(at + moved, corners[asked]))]
        if not len(over):
            break
        marked = np.zeros(rings.place_count, np.bool_)
        marked[corners[over]] = True
        for _ in range(2):  # and two rings round them
            marked[round_it[np.flatnonzero(marked)].indices] = True
        near = np.flatnonzero(marked)
        rows = round_it[near]
        for _ in range(2):
            moved[near] = 0.5 * (moved[near] + rows @ moved)
        asked, changed = np.flatnonzero(np.logical_or.reduce(marked[corners.T])), True
    return np.asarray(before + moved[rings.place]) if changed else now


def _turned(before: Floats, now: Floats) -> npt.NDArray[np.bool_]:
    """Whether triangles with these areas [m²] (n, 3) turn over, (n,)."""
    lengths = np.linalg.norm(before, axis=1) * np.linalg.norm(now, axis=1)
    return np.asarray(np.einsum("ij,ij->i", before, now) < _LEAST_COSINE * lengths)


def outwards(points: Floats, triangles: npt.NDArray[np.int64], rings: TwoRings, evened: Evened) -> Points:
    """Evened normals of the places, (places, 3): unit, shorter where they cancel."""
    even = evened.of(place_normals(points, triangles, rings))
    length = np.linalg.norm(even, axis=1, keepdims=True)
    unit: Points = (even / np.maximum(length, _CANCELLED)).astype(np.float32)
    return unit


def _areas(points: Floats, triangles: npt.NDArray[np.integer]) -> Floats:
    """Vectors along the normals, twice as long as the triangles are large [m²], (triangles, 3)."""
    corners = points[triangles]
    return np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])


def place_normals(points: Floats, triangles: npt.NDArray[np.int64], rings: TwoRings) -> Points:
    """Unit normals of the places, by the areas round each, (places, 3); zero where there is no area."""
    area = _areas(points, triangles)
    place = rings.place[triangles].ravel()
    summed = np.stack(
        [np.bincount(place, np.repeat(area[:, axis], 3), minlength=rings.place_count) for axis in range(3)],
        axis=-1,
    )
    length = np.linalg.norm(summed, axis=1, keepdims=True)
    unit: Points = (summed / np.where(length > 0.0, length, 1.0)).astype(np.float32)
    return unit
