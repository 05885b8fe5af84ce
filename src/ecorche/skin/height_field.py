"""Skin that keeps its distance to what lies beneath: a height field over muscles and bones.

Thesis, 5.5.2. At bind a ray along the normal of every vertex finds the nearest muscle or bone, below the skin
or, where one stands out of it, above. How far below the skin it is is the thickness of fat and skin together;
in a pose the skin is moved along its normal until it is as far again.

In a pose a ray looks from where that muscle would be if nothing had changed, both ways: it finds the same
layer again and not the one above, or the other limb that the skin lies against. A ray is not believed that
hits nothing within reach, that hits the inner side of something, or a part of the body that lies under no
skin nearby.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit, prange

from ecorche.base.ray_tree import Hits, RayTree, allowed_parts

Points = npt.NDArray[np.float32]
Ints = npt.NDArray[np.integer]
Bools = npt.NDArray[np.bool_]

_FADES, _EDGE = np.float32(0.3), np.float32(0.3)
"""The last share of how much a height may change in which it is believed less and less, and the cosine
between ray and surface below which."""
_PASSED, _AT_ONCE = 4, np.float32(1e-6)
"""So many parts beside a vertex are passed over; sides nearer to each other than this [m] are one."""


class HeightField:
    """Heights of one skin over surfaces that move, frame after frame.

    Args:
        points, normals: Of the skin at bind [m] and unit, (vertices, 3).
        beneath: Muscles and bones at bind.
        allowed: The parts of them that each vertex may lie over, see `allowed_parts`, (vertices, words).
        deepest: How far below, and above, the skin anything is looked for at bind [m].
        largest: How much a height may change [m].

    Attributes:
        heights: Of the skin over what lies beneath at bind [m], negative where it is within; not a number
            where nothing lies beneath; (vertices,).
    """

    def __init__(
        self,
        points: Points,
        normals: Points,
        beneath: RayTree,
        allowed: npt.NDArray[np.uint64],
        *,
        deepest: float = 0.06,
        largest: float = 0.03,
    ) -> None:
        self._beneath = beneath
        self.heights = nearest_beneath(points, normals, beneath, deepest, allowed).distances
        self.heights[~np.isfinite(self.heights)] = np.nan
        # skin over nothing at bind never hears of anything: no rays are cast for it
        self._vertices = np.flatnonzero(np.isfinite(self.heights)).astype(np.int32)
        self._allowed, self._start = allowed[self._vertices], self.heights[self._vertices, None]
        self._reach = np.full(len(self._vertices), largest, np.float32)
        self._remembered = np.full(len(self._vertices), -1, np.int32)

    def changes(self, points: Points, normals: Points, beneath: npt.ArrayLike) -> Points:
        """By how much more than at bind the skin is above what lies beneath [m], (vertices,).

        Not a number where no ray is believed.

        Args:
            points, normals: Of the skin as it was skinned, (vertices, 3).
            beneath: Points of the surfaces beneath in the same pose [m].
        """
        hits, found = self._hits(points, normals, beneath), np.full(len(self.heights), np.nan, np.float32)
        found[self._vertices] = np.where(hits.triangles >= 0, hits.distances, np.float32(np.nan))
        return found

    def believed(self, points: Points, normals: Points, beneath: npt.ArrayLike) -> tuple[Points, Points]:
        """The same, 0 where there is none, and how far each is believed, 0 to 1, (vertices,), (vertices,).

        Rays come to hit something, and miss it, where it is as far as they reach or seen from its edge. Near
        that they are believed less, so that nothing is believed, or no longer, at once.
        """
        hits = self._hits(points, normals, beneath)
        found, sure = np.zeros((2, len(self.heights)), np.float32)
        _believe(
            self._vertices, hits.distances, hits.triangles, self._beneath.triangles,
            np.ascontiguousarray(beneath, np.float32), normals, self._reach, found, sure,
        )  # fmt: skip
        return found, sure

    def _hits(self, points: Points, normals: Points, beneath: npt.ArrayLike) -> Hits:
        """What the rays of those vertices hit that have a height."""
        self._beneath.fit(beneath)
        down = -normals.take(self._vertices, axis=0)
        return self._beneath.cast(
            points.take(self._vertices, axis=0) + self._start * down,
            down,
            self._reach,
            facing=True,
            both_ways=True,
            allowed=self._allowed,
            remembered=self._remembered,
        )


@njit(parallel=True, cache=True, error_model="numpy")  # type: ignore[untyped-decorator]
def _believe(
    vertices: Ints,
    changes: Points,
    hit: Ints,
    triangles: Ints,
    beneath: Points,
    normals: Points,
    reach: Points,
    found: Points,
    sure: Points,
) -> None:
    for ray in prange(len(vertices)):
        if hit[ray] < 0:
            continue
        vertex = vertices[ray]
        found[vertex] = changes[ray]
        i, j, k = triangles[hit[ray], 0], triangles[hit[ray], 1], triangles[hit[ray], 2]
        ax, ay, az = (
            beneath[j, 0] - beneath[i, 0],
            beneath[j, 1] - beneath[i, 1],
            beneath[j, 2] - beneath[i, 2],
        )
        bx, by, bz = (
            beneath[k, 0] - beneath[i, 0],
            beneath[k, 1] - beneath[i, 1],
            beneath[k, 2] - beneath[i, 2],
        )
        x, y, z = ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx
        along = x * normals[vertex, 0] + y * normals[vertex, 1] + z * normals[vertex, 2]
        facing = along / max(np.sqrt(x * x + y * y + z * z), np.float32(1e-30))
        left = (np.float32(1.0) - abs(changes[ray]) / reach[ray]) / _FADES
        sure[vertex] = _smooth_step(left) * _smooth_step(facing / _EDGE)


@njit(forceinline=True)  # type: ignore[untyped-decorator]
def _smooth_step(x: Any) -> Any:
    x = min(max(x, np.float32(0.0)), np.float32(1.0))
    return x * x * (np.float32(3.0) - np.float32(2.0) * x)


def nearest_beneath(
    points: Points,
    normals: Points,
    beneath: RayTree,
    reach: float,
    allowed: npt.NDArray[np.uint64] | None = None,
) -> Hits:
    """What lies nearest along each normal, below (positive) or above, and faces it.

    Above is only what a vertex lies in: between fingers and toes a ray leaves the body, and would hit the far
    side of what is in the next one. What it enters on its way is passed over, and what lies behind is asked.
    """
    down, far = -normals, np.full(len(points), reach, np.float32)
    if allowed is None:
        allowed = allowed_parts(np.ones((len(points), int(beneath.parts.max(initial=0)) + 1), np.bool_))
    hits = beneath.cast(points, down, far, facing=True, both_ways=True, allowed=allowed)
    asked = np.flatnonzero((hits.triangles >= 0) & (hits.distances < 0.0))
    for turn in range(_PASSED + 1):
        asked = asked[_entered(points[asked], normals[asked], hits, asked, beneath)]
        if not len(asked):
            break
        # a part that it enters says nothing; after many of them nothing above does
        word, bit = np.divmod(beneath.parts[hits.triangles[asked]], 64)
        allowed = allowed.copy() if turn == 0 else allowed
        allowed[asked, word] &= ~(np.uint64(1) << bit.astype(np.uint64))
        again = beneath.cast(
            points[asked],
            down[asked],
            far[asked],
            facing=True,
            both_ways=turn < _PASSED,
            allowed=allowed[asked],
        )
        hits.distances[asked], hits.triangles[asked] = again.distances, again.triangles
        asked = asked[(again.triangles >= 0) & (again.distances < 0.0)]
    return hits


def _entered(points: Points, normals: Points, hits: Hits, rays: Ints, beneath: RayTree) -> Bools:
    """Whether each of some rays comes from outside into the part whose far side it hits above, (some,)."""
    hit, above = hits.triangles[rays], -hits.distances[rays]
    own = np.zeros((len(rays), int(beneath.parts.max(initial=0)) + 1), np.bool_)
    own[np.arange(len(rays)), beneath.parts[hit]] = True
    first = beneath.cast(points, normals, above, allowed=allowed_parts(own))
    return np.asarray((first.triangles >= 0) & (first.distances < above - _AT_ONCE), np.bool_)
