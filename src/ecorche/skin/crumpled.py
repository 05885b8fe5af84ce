"""Skin that is crumpled goes with the skin round it.

In a deep fold, such as an armpit behind a leg that is drawn far back, plain skinning turns triangles over.
The normal of a vertex whose triangles look all ways turns from one side to the other within a frame, and
whatever is moved along it leaps. How much the triangles round a vertex look one way,

    |Σ Aᵢ nᵢ| / Σ Aᵢ,

against the same at bind, says how far its normal can be trusted. The less it can, the more the vertex moves
as its neighbours do.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit, prange

from ecorche.skin.two_rings import TwoRings

Points = npt.NDArray[np.float32]
Singles = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int32]

_LEAST, _ENOUGH = np.float32(0.35), np.float32(0.85)
"""Up to which share of its value at bind a normal is not trusted, and from which it is fully."""
_ROUNDS = 6
"""So many edges far vertices that are crumpled are told how skin moves."""


class Crumpled:
    """One skin.

    Args:
        points: At bind [m], (vertices, 3).
        triangles: Its triangles, (triangles, 3).
        rings: Its neighbours.
    """

    def __init__(self, points: Points, triangles: npt.ArrayLike, rings: TwoRings) -> None:
        self._rings, self._triangles = rings, np.ascontiguousarray(triangles, np.int32)
        corners = rings.place[self._triangles].ravel()
        self._fans = (np.argsort(corners, kind="stable") // 3).astype(np.int32)
        self._starts = np.searchsorted(np.sort(corners), np.arange(rings.place_count + 1)).astype(np.int32)
        self._at_bind = np.maximum(self._one_way(points), np.float32(1e-6))

    def trust(self, points: Points) -> Singles:
        """How far the normal of each place can be trusted in a pose, 0 to 1, (places,)."""
        share = (self._one_way(points) / self._at_bind - _LEAST) / (_ENOUGH - _LEAST)
        share = np.clip(share, np.float32(0.0), np.float32(1.0))
        return np.asarray(share * share * (np.float32(3.0) - np.float32(2.0) * share))

    def evened(self, moved: Points, points: Points) -> Points:
        """How far vertices move [m], (vertices, 3), where those that are crumpled go with their neighbours.

        Args:
            moved: How far each would move.
            points: Where they are before that [m], (vertices, 3).
        """
        rings, trust = self._rings, self.trust(points)
        where = np.flatnonzero(trust < 1.0).astype(np.int32)
        if not len(where):
            return moved
        places = rings.of_places(moved).copy()
        now, then = places.copy(), places.copy()
        _even(rings.near_starts, rings.near, rings.near_weights, trust, where, places, now, then)
        found = moved.copy()
        changed = np.flatnonzero((trust < 1.0)[rings.place])
        found[changed] = now[rings.place[changed]]
        return found

    def _one_way(self, points: Points) -> Singles:
        found = np.empty(self._rings.place_count, np.float32)
        _look_one_way(self._starts, self._fans, self._triangles, points, found)
        return found


@njit(parallel=True, cache=True)  # type: ignore[untyped-decorator]
def _look_one_way(starts: Ints, fans: Ints, triangles: Ints, points: Points, found: Singles) -> None:
    """How much the triangles round each place look one way, 0 to 1; 1 where there are none."""
    for place in prange(len(found)):
        x, y, z, area = np.float32(0.0), np.float32(0.0), np.float32(0.0), np.float32(0.0)
        for entry in range(starts[place], starts[place + 1]):
            a, b, c = _normal(points, triangles, fans[entry])
            x, y, z = x + a, y + b, z + c
            area += np.sqrt(a * a + b * b + c * c)
        found[place] = np.float32(1.0)
        if area > 0.0:
            found[place] = np.sqrt(x * x + y * y + z * z) / area


@njit(inline="always")  # type: ignore[untyped-decorator]
def _normal(points: Points, triangles: Ints, triangle: int) -> Any:
    i, j, k = triangles[triangle, 0], triangles[triangle, 1], triangles[triangle, 2]
    ax, ay, az = points[j, 0] - points[i, 0], points[j, 1] - points[i, 1], points[j, 2] - points[i, 2]
    bx, by, bz = points[k, 0] - points[i, 0], points[k, 1] - points[i, 1], points[k, 2] - points[i, 2]
    return ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx


@njit(parallel=True, cache=True)  # type: ignore[untyped-decorator]
def _even(
    starts: Ints,
    near: Ints,
    weights: Singles,
    trust: Singles,
    where: Ints,
    own: Points,
    now: Points,
    then: Points,
) -> None:
    """Places between what they would do themselves and what their neighbours do, some rounds; ends in now."""
    for turn in range(_ROUNDS):
        before, after = (now, then) if turn % 2 == 0 else (then, now)
        for row in prange(len(where)):
            place = where[row]
            for axis in range(3):
                mean = np.float32(0.0)
                for entry in range(starts[place], starts[place + 1]):
                    mean += weights[entry] * before[near[entry], axis]
                after[place, axis] = trust[place] * own[place, axis] + (np.float32(1.0) - trust[place]) * mean
