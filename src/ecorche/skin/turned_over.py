"""Skin that a pose has turned over: its normals look into the flesh that carries it.

Deep in a fold plain skinning turns whole patches of skin inside out, within a few frames. Their triangles all
look one way, so nothing is crumpled, but it is the wrong one: rays and contact look out of the body's wrong
side. The joints tell which way is out: the normal at bind, turned as they turn the skin, goes evenly with the
pose. Where the normal of the skin itself leaves it, it is trusted less and less.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit, prange

from ecorche.skin.two_rings import TwoRings
from ecorche.skin.weights import SkinWeights

Points = npt.NDArray[np.float32]
Singles = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float64]

_UPRIGHT = np.float32(0.8)
"""Cosine between a normal and where joints turn it from which on it is trusted fully; across it is not."""
_KNOWN = np.float32(0.3)
"""How long the mean of what joints make of a normal must be to tell a direction; where a limb is twisted by
half a turn it is nothing."""


class TurnedOver:
    """One skin.

    Args:
        normals: At bind, unit, (vertices, 3).
        weights: Of its joints.
        rings: Its places.
    """

    def __init__(self, normals: Points, weights: SkinWeights, rings: TwoRings) -> None:
        self._normals, self._weights, self._speakers = normals, weights, rings.speakers()

    def upright(self, normals: Points, moved: Floats) -> Singles:
        """How far the normal of each place looks where its joints turn it, 0 to 1, (places,).

        Args:
            normals: In a pose, unit, (vertices, 3).
            moved: ``M − I`` of the joints, (joints, 4, 4).
        """
        found, weights = np.empty(len(self._speakers), np.float32), self._weights
        _look(
            self._speakers, weights.starts, weights.joints, weights.weights, self._normals, normals,
            moved.astype(np.float32), found,
        )  # fmt: skip
        return found


@njit(parallel=True, cache=True, error_model="numpy")  # type: ignore[untyped-decorator]
def _look(
    speakers: Ints,
    starts: Ints,
    joints: Ints,
    weights: Singles,
    bind: Points,
    normals: Points,
    moved: Points,
    found: Singles,
) -> None:
    for place in prange(len(speakers)):
        vertex = speakers[place]
        a, b, c = bind[vertex, 0], bind[vertex, 1], bind[vertex, 2]
        x, y, z = a, b, c
        for entry in range(starts[vertex], starts[vertex + 1]):
            m, weight = moved[joints[entry]], weights[entry]
            x += weight * (m[0, 0] * a + m[0, 1] * b + m[0, 2] * c)
            y += weight * (m[1, 0] * a + m[1, 1] * b + m[1, 2] * c)
            z += weight * (m[2, 0] * a + m[2, 1] * b + m[2, 2] * c)
        length = np.sqrt(x * x + y * y + z * z)
        along = x * normals[vertex, 0] + y * normals[vertex, 1] + z * normals[vertex, 2]
        along /= _UPRIGHT * max(length, np.float32(1e-12))
        along = min(max(along, np.float32(0.0)), np.float32(1.0))
        known = min(length / _KNOWN, np.float32(1.0))
        less = np.float32(1.0) - along * along * (np.float32(3.0) - np.float32(2.0) * along)
        found[place] = np.float32(1.0) - known * known * less
