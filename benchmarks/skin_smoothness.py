"""How much sharper muscles make a skin, at the borders of their influence and within it; and how jerky.

A crease is measured as the change of the dihedral angle across every edge from plain skinning to the skin
with muscles. A border edge has one vertex that a muscle moves and one that none moves.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.ndimage import maximum_filter1d

from benchmarks.muscle_people import Floats, Ints, Pair
from ecorche.body.compile import Body
from ecorche.body.evaluate import Pose, evaluate

FLOOR = 10.0
"""Accelerations of plain skinning below this count as this [m/s²]: about that of a falling body."""
WINDOW = 0.1
"""Seconds over which the largest accelerations are compared."""


@dataclass(frozen=True, eq=False)
class Edges:
    """Edges between two triangles: vertices (edges, 2) and triangles (edges, 2)."""

    vertices: Ints
    triangles: Ints
    corners: Ints

    def bend(self, points: Floats) -> Floats:
        """The signed angle between the two triangles at every edge [rad], (edges,)."""
        a, b, c = (points[self.corners[:, k]] for k in range(3))
        normals = np.cross(b - a, c - a)
        normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-30)
        along = points[self.vertices[:, 1]] - points[self.vertices[:, 0]]
        along /= np.maximum(np.linalg.norm(along, axis=1, keepdims=True), 1e-30)
        first, second = normals[self.triangles[:, 0]], normals[self.triangles[:, 1]]
        sine = np.sum(np.cross(first, second) * along, axis=1)
        return np.asarray(np.arctan2(sine, np.sum(first * second, axis=1)))


def edges_of(triangles: npt.NDArray[np.integer]) -> Edges:
    """The edges of a mesh that two triangles share."""
    corners = triangles.astype(np.int64)
    ends = np.concatenate([corners[:, [0, 1]], corners[:, [1, 2]], corners[:, [2, 0]]])
    face = np.tile(np.arange(len(corners)), 3)
    key = np.sort(ends, axis=1)
    order = np.lexsort((ends[:, 0] > ends[:, 1], key[:, 1], key[:, 0]))
    key, face = key[order], face[order]
    same = np.flatnonzero((key[1:] == key[:-1]).all(axis=1))
    return Edges(key[same], np.stack([face[same], face[same + 1]], axis=1), corners)


@dataclass(frozen=True)
class Crease:
    """What muscles change about a skin in one pose.

    Attributes:
        border: Root mean square change of the dihedral angle at border edges [rad].
        inside: The same at edges that muscles move at both ends: what the bulge itself makes.
        jump: Root mean square displacement of the moved vertices of border edges [m].
        largest: Largest displacement [m].
    """

    border: float
    inside: float
    jump: float
    largest: float


def crease(muscled: Body, plain: Body, edges: Edges, pose: Pose) -> Crease:
    """Compare the first mesh of two bodies in a pose."""
    assert muscled.muscles is not None
    skin, bare = (evaluate(b, pose).points[0].astype(np.float64) for b in (muscled, plain))
    change = np.abs(edges.bend(skin) - edges.bend(bare))
    change = np.minimum(change, 2.0 * np.pi - change)
    moved = np.diff(muscled.muscles.influences.starts) > 0
    first, second = moved[edges.vertices[:, 0]], moved[edges.vertices[:, 1]]
    border, inside = first ^ second, first & second
    displaced = np.linalg.norm(skin - bare, axis=1)
    return Crease(
        border=_rms(change[border]),
        inside=_rms(change[inside]),
        jump=_rms(displaced[edges.vertices[border]].max(axis=1)),
        largest=float(displaced.max()),
    )


@dataclass(frozen=True)
class Roughness:
    """How uneven muscles leave a skin: single vertices that stand out from those round them.

    Attributes:
        uneven: Root mean square of how far each vertex is moved outwards beside its neighbours' mean [m].
        displaced: Root mean square of how far they are moved outwards [m].
    """

    uneven: float
    displaced: float

    @property
    def over_displacement(self) -> float:
        """The first over the second."""
        return self.uneven / self.displaced


def roughness(
    bind: npt.NDArray[np.floating],
    triangles: npt.NDArray[np.integer],
    muscled: Floats,
    plain: Floats,
    where: npt.NDArray[np.bool_],
) -> Roughness:
    """Compare a skin with muscles to plain skinning at chosen vertices; points that are one at bind are one.

    Vertices that neither move nor have a neighbour that does are not counted.
    """
    _, first, same = np.unique(bind, axis=0, return_index=True, return_inverse=True)
    corners = same.reshape(-1)[triangles]
    bare, count = plain[first], len(first)
    facets = np.cross(bare[corners[:, 1]] - bare[corners[:, 0]], bare[corners[:, 2]] - bare[corners[:, 0]])
    normals = np.stack(
        [sum(np.bincount(corners[:, k], f, minlength=count) for k in range(3)) for f in facets.T], axis=1
    )
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-30)
    outward = np.sum((muscled[first] - bare) * normals, axis=1)
    ends = np.concatenate([corners[:, [0, 1]], corners[:, [1, 2]], corners[:, [2, 0]]])
    ends = np.unique(np.sort(ends[ends[:, 0] != ends[:, 1]], axis=1), axis=0)
    vertex, neighbour = np.concatenate([ends, ends[:, ::-1]]).T
    number = np.maximum(np.bincount(vertex, minlength=count), 1)
    uneven = outward - np.bincount(vertex, outward[neighbour], minlength=count) / number
    still = (outward == 0.0) & (np.bincount(vertex, outward[neighbour] != 0.0, minlength=count) == 0)
    counted = where[first] & ~still
    return Roughness(_rms(uneven[counted]), _rms(outward[counted]))


@dataclass(frozen=True, eq=False)
class Jerk:
    """Accelerations of the skin that muscles move, against plain skinning.

    Attributes:
        over_motion: Largest acceleration of each vertex over its largest by plain skinning, (vertices,).
        in_windows: The same of every window of `WINDOW` seconds, (frames, vertices), plain at least `FLOOR`.
        vertices: Their numbers in the skin.
        extra: Largest acceleration of the displacement alone [m/s²].
    """

    over_motion: Floats
    in_windows: Floats
    vertices: Ints
    extra: float


def jerk(pair: Pair, first: int, last: int) -> Jerk:
    """The accelerations between two frames of a motion."""
    moved = np.flatnonzero(np.diff(pair.muscles.influences.starts) > 0)
    skins = [pair.skins(i) for i in range(first, last + 1)]
    muscled, plain = (np.stack([s[k][moved] for s in skins]) for k in (0, 1))
    times = pair.muscled.times[first : last + 1]
    step = float(times[-1] - times[0]) / (len(times) - 1)
    with_muscles, without, alone = (
        np.linalg.norm(np.diff(p, 2, axis=0), axis=-1) / step**2 for p in (muscled, plain, muscled - plain)
    )
    width = 2 * round(0.5 * WINDOW / step) + 1
    most, plain_most = (maximum_filter1d(a, width, axis=0) for a in (with_muscles, without))
    return Jerk(
        over_motion=with_muscles.max(axis=0) / np.maximum(without.max(axis=0), FLOOR),
        in_windows=most / np.maximum(plain_most, FLOOR),
        vertices=moved,
        extra=float(alone.max()),
    )


def _rms(values: Floats) -> float:
    return float(np.sqrt(np.mean(values**2)))
