"""Skin that is crumpled goes with the skin round it.

In a deep fold, such as an armpit behind a leg that is drawn far back, plain skinning turns triangles over.
The normal of a vertex whose triangles look all ways turns from one side to the other within a frame, and
whatever is moved along it leaps. How much the triangles round a vertex look one way,

    |Σ Aᵢ nᵢ| / Σ Aᵢ,

against the same at bind, says how far its normal can be trusted. The less it can, the more the vertex moves
as its neighbours do.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit, prange

from ecorche.base.lanes import WIDTH, gather_points, square_root, store
from ecorche.base.threads import threads_for
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
        moving: Which places are ever moved, (places,): far from them no normal matters. None: all.
    """

    def __init__(
        self,
        points: Points,
        triangles: npt.ArrayLike,
        rings: TwoRings,
        moving: npt.NDArray[np.bool_] | None = None,
    ) -> None:
        self._rings, faces = rings, np.asarray(triangles, np.int32)
        matters = np.ones(rings.place_count, np.bool_) if moving is None else rings.around(moving, _ROUNDS)
        self._places = np.flatnonzero(matters).astype(np.int32)
        faces = faces[matters[rings.place[faces]].any(axis=1)]
        corners = rings.place[faces].ravel()
        self._fans = (np.argsort(corners, kind="stable") // 3).astype(np.int32)
        self._starts = np.searchsorted(np.sort(corners), np.arange(rings.place_count + 1)).astype(np.int32)
        # first corners of sixteen triangles, second, third; filled up with the first triangle
        padded = np.concatenate([faces, np.repeat(faces[:1], -len(faces) % WIDTH, axis=0)])
        self._corners = np.ascontiguousarray(padded.reshape(-1, WIDTH, 3).transpose(0, 2, 1))
        self._at_bind = np.maximum(self._one_way(points), np.float32(1e-6))

    def trust(self, points: Points) -> Singles:
        """How far the normal of each place can be trusted in a pose, 0 to 1, (places,).

        Places that do not matter are trusted.
        """
        share = (self._one_way(points) / self._at_bind - _LEAST) / (_ENOUGH - _LEAST)
        share = np.clip(share, np.float32(0.0), np.float32(1.0))
        trust = np.ones(self._rings.place_count, np.float32)
        trust[self._places] = share * share * (np.float32(3.0) - np.float32(2.0) * share)
        return trust

    def evened(self, moved: Points, points: Points, upright: Singles | None = None) -> Points:
        """How far vertices move [m], (vertices, 3), where those that are crumpled go with their neighbours.

        Args:
            moved: How far each would move.
            points: Where they are before that [m], (vertices, 3).
            upright: How far the normal of each place is trusted besides, see `TurnedOver`, (places,).
        """
        rings, trust = self._rings, self.trust(points)
        if upright is not None:
            trust = trust * upright
        where = np.flatnonzero(trust < 1.0).astype(np.int32)
        if not len(where):
            return moved
        places = rings.of_places(moved).copy()
        # what is not trusted is not passed on either, in patches that few rounds do not cross
        now = trust[:, None] * places
        then = now.copy()
        with threads_for(_ROUNDS * len(where) // WIDTH):
            _even(rings.near_starts, rings.near, rings.near_weights, trust, where, places, now, then)
        found = moved.copy()
        changed = np.flatnonzero((trust < 1.0)[rings.place])
        found[changed] = now[rings.place[changed]]
        return found

    def _one_way(self, points: Points) -> Singles:
        """How much the triangles round each place that matters look one way, 0 to 1."""
        areas = np.empty((len(self._corners), WIDTH, 4), np.float32)
        found = np.empty(len(self._places), np.float32)
        with threads_for(len(self._corners)):
            _vector_areas(np.ascontiguousarray(points, np.float32), self._corners, areas)
            _look_one_way(self._places, self._starts, self._fans, areas.reshape(-1, 4), found)
        return found


@njit(parallel=True, cache=True)  # type: ignore[untyped-decorator]
def _vector_areas(points: Points, corners: Ints, areas: Points) -> None:
    """Vector areas of triangles and their lengths, a row each, twice as long as they are."""
    for group in prange(len(corners)):
        lanes = np.empty((4, WIDTH), np.float32)
        px, py, pz = gather_points(points, corners, 3 * group)
        qx, qy, qz = gather_points(points, corners, 3 * group + 1)
        rx, ry, rz = gather_points(points, corners, 3 * group + 2)
        ax, ay, az = qx - px, qy - py, qz - pz
        bx, by, bz = rx - px, ry - py, rz - pz
        x, y, z = ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx
        store(lanes, 0, x)
        store(lanes, 1, y)
        store(lanes, 2, z)
        store(lanes, 3, square_root(x * x + y * y + z * z))
        for lane in range(WIDTH):
            for column in range(4):
                areas[group, lane, column] = lanes[column, lane]


@njit(parallel=True, cache=True)  # type: ignore[untyped-decorator]
def _look_one_way(places: Ints, starts: Ints, fans: Ints, areas: Points, found: Singles) -> None:
    """How much the triangles round some places look one way, 0 to 1; 1 where there are none."""
    for row in prange(len(places)):
        x, y, z, area = np.float32(0.0), np.float32(0.0), np.float32(0.0), np.float32(0.0)
        for entry in range(starts[places[row]], starts[places[row] + 1]):
            x += areas[fans[entry], 0]
            y += areas[fans[entry], 1]
            z += areas[fans[entry], 2]
            area += areas[fans[entry], 3]
        found[row] = np.float32(1.0)
        if area > 0.0:
            found[row] = np.sqrt(x * x + y * y + z * z) / area


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
