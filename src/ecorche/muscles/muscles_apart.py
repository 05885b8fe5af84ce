"""Muscles that press on each other give way, both of them.

Each muscle is shaped by itself, so that in a pose two of them may come to share a place. A vertex of a belly
that is inside another muscle, and was not at bind, presses that muscle away by half of how deep it is, and
its own back by the other half, each by the smoothest field that does so (`pressed_surfaces`); so they meet
midway. It is looked again some times, since fields of all of a muscle's neighbours move it together. Flesh
cannot be squeezed to nothing: a muscle that would lose more than a twentieth of its volume goes only a part
of the way.

How muscles lie in each other at bind is how they were drawn, and stays: at bind nothing moves. Tendons run
through and between muscles and press on nothing.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit, prange

import ecorche.base.threads  # noqa: F401  settings that must precede the first parallel kernel
from ecorche.muscles.pressed_surfaces import PressedSurfaces

Floats = npt.NDArray[np.float64]
Points = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]

_PASSES = 4
"""How often it is looked what is still deep, at most."""
_LEFT = 5e-4
"""Depth that is left where it is [m], for a human of usual size."""
_BELLY = 0.5
"""From which share of a muscle's greatest width its vertices press."""
_LOSS = 0.05
"""Share of its volume that a muscle gives up at most; one that is squeezed by more goes a part of its way."""
_SPARSE = 0.012
"""How far apart vertices that press are, about [m], for a human of usual size."""


class MusclesApart:
    """Muscles that keep out of each other.

    Args:
        surfaces: Of the muscles.
        owner: The muscle of each point, (points,), rising.
        width: Of the muscle at each point, share of its greatest, (points,).
    """

    def __init__(self, surfaces: PressedSurfaces, owner: npt.ArrayLike, width: npt.ArrayLike) -> None:
        self._surfaces, self._owner = surfaces, np.asarray(owner, np.int64)
        bellies = np.flatnonzero(np.asarray(width) > _BELLY)
        self._pressing = bellies[
            _sparse(surfaces.bind[bellies], self._owner[bellies], _SPARSE * surfaces.scale)
        ]
        corners = surfaces.triangles.ravel()
        order = np.argsort(corners, kind="stable")
        self._corner_starts = np.searchsorted(corners[order], np.arange(len(surfaces.bind) + 1))
        self._corner_of = order // 3
        self._inside = np.zeros(0, np.int64)
        self._inside = np.sort(self._found(surfaces.bind))

    def apart(self, points: Points) -> Points:
        """Points of the muscles in a frame [m] as they leave each other room, (points, 3)."""
        surfaces, moved = self._surfaces, False
        now, held = points.astype(np.float64), np.zeros(0, np.int64)
        for _ in range(_PASSES):
            inside = self._found(now)
            # who was given room keeps it, or what gives way to others would come back over it
            held = np.union1d(held, inside)
            muscle, vertex = np.divmod(held, len(now))
            at, way, deep = surfaces.ways_out(now, surfaces.bind, now.astype(np.float32), vertex, muscle)
            deep = np.where(np.isin(held, inside), deep, -deep) - _LEFT * surfaces.scale
            if deep.max(initial=0.0) <= 0.0:
                break
            both = np.concatenate([muscle, self._owner[vertex]])
            order = np.argsort(both, kind="stable")
            at, way = np.concatenate([at, now[vertex]])[order], np.concatenate([way, -way])[order]
            surfaces.press(now, both[order], at, way, 0.5 * np.tile(deep, 2)[order])
            moved = True
        if not moved:
            return points
        before = points.astype(np.float64)
        whole, left = self._volumes(before), self._volumes(now)
        lost = np.maximum(1.0 - left / np.where(whole > 0.0, whole, np.inf), 0.0)
        goes = np.minimum(_LOSS / np.maximum(lost, _LOSS), 1.0)
        return (before + goes[self._owner, None] * (now - before)).astype(np.float32)

    def _volumes(self, points: Floats) -> Floats:
        """Of each muscle [m³], (muscles,)."""
        corners = points - points[self._surfaces.used[self._owner, 0]]
        a, b, c = np.moveaxis(corners[self._surfaces.triangles], 1, 0)
        of = self._owner[self._surfaces.triangles[:, 0]]
        parts = np.einsum("ti,ti->t", np.cross(a, b), c) / 6.0
        return np.bincount(of, parts, len(self._surfaces.used)).astype(np.float64)

    def _found(self, points: Floats) -> Ints:
        """Keys of vertices that are in other muscles and were not at bind: by muscle, then vertex, rising."""
        places, normals = points.astype(np.float32), np.zeros((len(points), 3), np.float32)
        _normals(
            points, self._surfaces.triangles, self._corner_starts, self._corner_of, self._pressing, normals
        )
        vertex, muscle = self._surfaces.candidates(points, places, self._pressing)
        new = (self._owner[vertex] != muscle) & ~np.isin(muscle * len(points) + vertex, self._inside)
        vertex, muscle = self._surfaces.inside(points, places, normals, vertex[new], muscle[new])
        return np.sort(muscle * len(points) + vertex)


def _sparse(points: Floats, owner: Ints, edge: float) -> Ints:
    """Numbers of points [m], (n, 3), one in each cube of an edge [m] that a muscle has any in."""
    cubes = np.floor(points / edge).astype(np.int64)
    return np.sort(np.unique(np.column_stack([owner, cubes]), axis=0, return_index=True)[1])


@njit(parallel=True, cache=True, error_model="numpy")  # type: ignore[untyped-decorator]
def _normals(
    points: Floats, triangles: Ints, starts: Ints, corner_of: Ints, asked: Ints, normals: Points
) -> None:
    """Of those points that are asked for, unit, (points, 3)."""
    for row in prange(len(asked)):
        p = asked[row]
        x, y, z = 0.0, 0.0, 0.0
        for entry in range(starts[p], starts[p + 1]):
            t = corner_of[entry]
            a, b, c = triangles[t, 0], triangles[t, 1], triangles[t, 2]
            ex, ey, ez = points[b, 0] - points[a, 0], points[b, 1] - points[a, 1], points[b, 2] - points[a, 2]
            fx, fy, fz = points[c, 0] - points[a, 0], points[c, 1] - points[a, 1], points[c, 2] - points[a, 2]
            x, y, z = x + ey * fz - ez * fy, y + ez * fx - ex * fz, z + ex * fy - ey * fx
        size = max(np.sqrt(x * x + y * y + z * z), 1e-300)
        normals[p, 0], normals[p, 1], normals[p, 2] = x / size, y / size, z / size
