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
        self._rings, self._rounds = rings, rounds
        self._speaker = rings.speakers()
        self._share = np.asarray(share, np.float32)[self._speaker]
        self._is_still = not (self._share > 0.0).any()
        self._aside = np.zeros((rings.place_count, 2), np.float32)
        at, up = points[self._speaker], normals[self._speaker]
        kept, out = np.zeros_like(self._aside), np.empty_like(at)
        _slide(rings.near_starts, rings.near, rings.near_weights, self._share, at, up, kept, out, self._aside)

    def along(self, points: Points, normals: Points) -> Points:
        """How far each vertex slides [m], (vertices, 3); along the skin."""
        if self._is_still:
            return np.zeros_like(points)
        start = np.ascontiguousarray(points[self._speaker])
        now, then, up = start, np.empty_like(start), np.ascontiguousarray(normals[self._speaker])
        found, rings = np.empty_like(self._aside), self._rings
        for _ in range(self._rounds):
            _slide(
                rings.near_starts, rings.near, rings.near_weights, self._share, now, up, self._aside, then,
                found,
            )  # fmt: skip
            now, then = then, np.empty_like(start) if now is start else now
        return np.asarray((now - start)[rings.place])


@njit(parallel=True, cache=True, error_model="numpy")  # type: ignore[untyped-decorator]
def _slide(
    starts: Ints,
    near: Ints,
    weights: Singles,
    share: Singles,
    now: Points,
    up: Points,
    aside: Points,
    then: Points,
    found: Points,
) -> None:
    """One round; ``found`` is where the neighbours' mean is in the surface's frame."""
    for place in prange(len(now)):
        first, last = starts[place], starts[place + 1]
        x, y, z = now[place, 0], now[place, 1], now[place, 2]
        then[place, 0], then[place, 1], then[place, 2] = x, y, z
        found[place, 0], found[place, 1] = np.float32(0.0), np.float32(0.0)
        if first == last or share[place] == 0.0:
            continue
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
