"""Skin that slides along itself: where a pose stretches it here and gathers it there, it evens out.

Every vertex has, at bind, a place among its neighbours: where their weighted mean is, in a frame of the
surface. In a pose it is drawn along the skin, never out of it, to that same place, by a share that says how
freely the skin slides. A vertex on a border or of a part that is held (share 0) stays.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit, prange

from ecorche.skin.two_rings import TwoRings

Points = npt.NDArray[np.float32]
Singles = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int32]

_STEP = np.float32(0.5)
"""How far it goes in a round, at most: with all vertices moving at once more would overshoot."""


class EvenStretch:
    """One skin.

    Args:
        points, normals: At bind [m] and unit, (vertices, 3).
        rings: Its neighbours.
        share: How freely each vertex slides, 0 to 1, (vertices,).
        rounds: So many edges far the skin gives way.
    """

    def __init__(
        self, points: Points, normals: Points, rings: TwoRings, share: npt.ArrayLike, rounds: int = 4
    ) -> None:
        self._rings, self._rounds, speaker = rings, rounds, rings.speakers()
        self._share = np.asarray(share, np.float32)[speaker]
        joined = np.diff(rings.near_starts) > 0
        self._sliding = np.flatnonzero((self._share > 0.0) & joined).astype(np.int32)
        self._aside = np.zeros((rings.place_count, 2), np.float32)
        at, up, kept = points[speaker], normals[speaker], np.zeros_like(self._aside)
        self._slide(1, at, up, kept, at.copy(), self._aside)

    def along(self, points: Points, normals: Points) -> Points:
        """How far each vertex slides [m], (vertices, 3); along the skin."""
        found, rings = np.zeros_like(points), self._rings
        if not len(self._sliding):
            return found
        start, up = rings.of_places(points), rings.of_places(normals)
        now, then, aside = start.copy(), start.copy(), np.empty_like(self._aside)
        self._slide(self._rounds, now, up, self._aside, then, aside)
        _moved(self._share, rings.place, then if self._rounds % 2 else now, start, found)
        return found

    def _slide(
        self, rounds: int, now: Points, up: Points, aside: Points, then: Points, found: Points
    ) -> None:
        rings = self._rings
        _slide(
            rings.near_starts, rings.near, rings.near_weights, self._share, self._sliding, rounds, now, up,
            aside, then, found,
        )  # fmt: skip


@njit(parallel=True, cache=True)  # type: ignore[untyped-decorator]
def _moved(share: Singles, place: Ints, slid: Points, start: Points, found: Points) -> None:
    for vertex in prange(len(place)):
        if share[place[vertex]] > 0.0:
            for axis in range(3):
                found[vertex, axis] = slid[place[vertex], axis] - start[place[vertex], axis]


@njit(parallel=True, cache=True, error_model="numpy")  # type: ignore[untyped-decorator]
def _slide(
    starts: Ints,
    near: Ints,
    weights: Singles,
    share: Singles,
    sliding: Ints,
    rounds: int,
    start: Points,
    up: Points,
    aside: Points,
    swapped: Points,
    found: Points,
) -> None:
    """Rounds from one array into the other and back.

    ``found`` is where the neighbours' mean is in the surface's frame.
    """
    for turn in range(rounds):
        now, then = (start, swapped) if turn % 2 == 0 else (swapped, start)
        for row in prange(len(sliding)):
            place = sliding[row]
            first, last = starts[place], starts[place + 1]
            x, y, z = now[place, 0], now[place, 1], now[place, 2]
            then[place, 0], then[place, 1], then[place, 2] = x, y, z
            found[place, 0], found[place, 1] = np.float32(0.0), np.float32(0.0)
            mx, my, mz = np.float32(0.0), np.float32(0.0), np.float32(0.0)
            for entry in range(first, last):
                other, weight = near[entry], weights[entry]
                mx += weight * (now[other, 0] - x)
                my += weight * (now[other, 1] - y)
                mz += weight * (now[other, 2] - z)
            ux, uy, uz = up[place, 0], up[place, 1], up[place, 2]
            other = near[first]
            ax, ay, az = now[other, 0] - x, now[other, 1] - y, now[other, 2] - z
            rise = ax * ux + ay * uy + az * uz
            ax, ay, az = ax - rise * ux, ay - rise * uy, az - rise * uz
            size = np.sqrt(ax * ax + ay * ay + az * az)
            if size <= np.float32(1e-12):
                continue
            ax, ay, az = ax / size, ay / size, az / size
            bx, by, bz = uy * az - uz * ay, uz * ax - ux * az, ux * ay - uy * ax
            a, b = mx * ax + my * ay + mz * az, mx * bx + my * by + mz * bz
            found[place, 0], found[place, 1] = a, b
            a, b = a - aside[place, 0], b - aside[place, 1]
            step = _STEP * share[place]
            then[place, 0] = x + step * (a * ax + b * bx)
            then[place, 1] = y + step * (a * ay + b * by)
            then[place, 2] = z + step * (a * az + b * bz)
