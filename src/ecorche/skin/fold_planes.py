"""Where a limb folds at a hinge its two halves meet in a plane: the one that halves the angle between them.

Skin of the upper arm that would be on the forearm's side of that plane is laid onto it, and the other way
round: both press each other flat and the crease is clean. Only skin in the crook is laid so, from some angle
on, and the more the clearer it belongs to one half; on the outer side of the joint nothing meets. The volume
that is pressed in comes out beside (`keep_volume`).
"""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit, prange

from ecorche.base.rotations import normalise
from ecorche.skeleton.skeleton import Skeleton
from ecorche.skin.limb_segments import LimbSegment, limb_joints
from ecorche.skin.weights import SkinWeights

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

BEGINS, HOLDS = np.radians(50.0), np.radians(90.0)
"""From which bend on halves meet, and from which they do so wholly [rad]."""
_CLEARLY = 0.2
"""By how much more weight one half must have than the other for skin to belong to it clearly."""
_WITHIN = 0.01
"""How far inside the crook, from the joint on, skin begins to be laid onto the plane [m]."""


class FoldPlanes:
    """The folds of one skin.

    Args:
        points: The skin at bind [m], (vertices, 3).
        segments: Its limbs round the joints it folds at, see `limb_segments`.
        weights: Of the skin.
        skeleton: It hangs on.
        scale: How many times as large as a human it is.
    """

    def __init__(
        self,
        points: npt.ArrayLike,
        segments: Iterable[LimbSegment],
        weights: SkinWeights,
        skeleton: Skeleton,
        scale: float = 1.0,
    ) -> None:
        heads, tips = skeleton.bind_world[:, :3, 3], skeleton.tail_positions()
        vertex = np.repeat(np.arange(weights.vertex_count), np.diff(weights.starts))
        self._within, self._skin = _WITHIN * scale, np.asarray(points, np.float64)
        each = list(segments)
        self._joints = np.array([segment.joint for segment in each], np.int64)
        self._above = np.asarray(skeleton.parents, np.int64)[self._joints]
        self._heads = heads[self._joints]
        # unit, from the joint back along the bone before it and on along the bone behind it, at bind
        self._before = normalise(heads[self._above] - self._heads)
        self._behind = normalise(tips[self._joints] - self._heads)
        self._starts = np.cumsum([0, *(len(segment.vertices) for segment in each)])
        self._vertices = np.concatenate([np.zeros(0, np.int64), *(segment.vertices for segment in each)])
        # −1 of the half before the joint to 1 of that behind
        sides = [np.zeros(0)]
        for segment in each:
            _, lower = limb_joints(skeleton, segment.joint)
            behind = np.bincount(vertex, weights.weights * np.isin(weights.joints, list(lower)))
            sides.append(np.clip((2.0 * behind[segment.vertices] - 1.0) / _CLEARLY, -1.0, 1.0))
        self._sides = np.concatenate(sides)

    def beneath(self, points: npt.ArrayLike) -> FoldPlanes:
        """The same for points beneath at bind [m], (points, 3): each goes with the skin nearest to it."""
        from scipy.spatial import cKDTree

        nearest = np.asarray(cKDTree(self._skin).query(np.asarray(points, np.float64))[1])
        found = copy(self)
        vertices, sides = [np.zeros(0, np.int64)], [np.zeros(0)]
        for first, last in pairwise(self._starts):
            side = np.full(len(self._skin), np.nan)
            side[self._vertices[first:last]] = self._sides[first:last]
            own = np.flatnonzero(np.isfinite(side[nearest]))
            vertices.append(own)
            sides.append(side[nearest[own]])
        found._starts = np.cumsum([len(rows) for rows in vertices])
        found._vertices, found._sides = np.concatenate(vertices), np.concatenate(sides)
        return found

    def laid(self, points: npt.NDArray[np.float32], difference: Floats) -> npt.NDArray[np.float32]:
        """How far each vertex is moved [m], (vertices, 3), for ``M − I`` of the joints."""
        moved = np.zeros_like(points)
        _lay(
            points, difference, self._joints, self._above, self._heads, self._before, self._behind,
            self._starts, self._vertices, self._sides, self._within, moved,
        )  # fmt: skip
        return moved


@njit(inline="always")  # type: ignore[untyped-decorator]
def _smooth(x: float) -> float:
    x = min(max(x, 0.0), 1.0)
    return x * x * (3.0 - 2.0 * x)


@njit(cache=True)  # type: ignore[untyped-decorator]
def _unit(vector: Floats) -> Any:
    return vector / max(np.sqrt(np.sum(vector * vector)), 1e-12)


@njit(cache=True)  # type: ignore[untyped-decorator]
def _turned(difference: Floats, vector: Floats) -> Any:
    """A vector (3,) as ``M − I`` of a joint turns it."""
    found = vector.copy()
    for i in range(3):
        for k in range(3):
            found[i] += difference[i, k] * vector[k]
    return found


@njit(parallel=True, cache=True, error_model="numpy")  # type: ignore[untyped-decorator]
def _lay(
    points: npt.NDArray[np.float32],
    difference: Floats,
    joints: Ints,
    above: Ints,
    heads: Floats,
    before: Floats,
    behind: Floats,
    starts: Ints,
    vertices: Ints,
    sides: Floats,
    within: float,
    moved: npt.NDArray[np.float32],
) -> None:
    for fold in range(len(joints)):
        joint = joints[fold]
        back = _unit(_turned(difference[above[fold]], before[fold]))
        on = _unit(_turned(difference[joint], behind[fold]))
        bend = np.pi - np.arccos(min(max(np.sum(back * on), -1.0), 1.0))
        share = _smooth((bend - BEGINS) / (HOLDS - BEGINS))
        if share == 0.0:
            continue
        head = _turned(difference[joint], heads[fold]) + difference[joint, :3, 3]
        across, into = _unit(on - back), _unit(on + back)
        for row in prange(starts[fold], starts[fold + 1]):
            vertex, side = vertices[row], sides[row]
            x, y, z = points[vertex, 0] - head[0], points[vertex, 1] - head[1], points[vertex, 2] - head[2]
            # beyond the plane is positive for either half
            beyond = -np.sign(side) * (x * across[0] + y * across[1] + z * across[2])
            if beyond <= 0.0:
                continue
            inner = _smooth((x * into[0] + y * into[1] + z * into[2]) / within)
            step = share * side * inner * beyond
            moved[vertex, 0] += np.float32(step * across[0])
            moved[vertex, 1] += np.float32(step * across[1])
            moved[vertex, 2] += np.float32(step * across[2])
