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

import numpy as np
import numpy.typing as npt

from ecorche.base.ray_tree import Hits, RayTree

Points = npt.NDArray[np.float32]


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
        self._beneath, self._allowed = beneath, allowed
        self._reach = np.full(len(points), largest, np.float32)
        self._remembered = np.full(len(points), -1, np.int32)
        self.heights = nearest_beneath(points, normals, beneath, deepest, allowed).distances
        self.heights[~np.isfinite(self.heights)] = np.nan
        self._start = np.where(np.isfinite(self.heights), self.heights, 0.0).astype(np.float32)[:, None]

    def changes(self, points: Points, normals: Points, beneath: npt.ArrayLike) -> Points:
        """By how much more than at bind the skin is above what lies beneath [m], (vertices,).

        Not a number where no ray is believed.

        Args:
            points, normals: Of the skin as it was skinned, (vertices, 3).
            beneath: Points of the surfaces beneath in the same pose [m].
        """
        self._beneath.fit(beneath)
        hits = self._beneath.cast(
            points - self._start * normals,
            -normals,
            self._reach,
            facing=True,
            both_ways=True,
            allowed=self._allowed,
            remembered=self._remembered,
        )
        known = np.isfinite(self.heights) & (hits.triangles >= 0)
        return np.where(known, hits.distances, np.float32(np.nan))


def nearest_beneath(
    points: Points,
    normals: Points,
    beneath: RayTree,
    reach: float,
    allowed: npt.NDArray[np.uint64] | None = None,
) -> Hits:
    """What lies nearest along each normal, below (positive) or above, and faces it."""
    far = np.full(len(points), reach, np.float32)
    return beneath.cast(points, -normals, far, facing=True, both_ways=True, allowed=allowed)
