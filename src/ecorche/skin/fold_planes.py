"""Where a limb folds at a hinge its two halves meet in a plane: the one that halves the angle between them.

Skin of the upper arm that would be on the forearm's side of that plane is laid onto it, and the other way
round: both press each other flat and the crease is clean. Only skin in the crook is laid so, from some angle
on, and the more the clearer it belongs to one half; on the outer side of the joint nothing meets. The volume
that is pressed in comes out beside (`keep_volume`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ecorche.base.rotations import normalise
from ecorche.base.smooth_step import smooth_step
from ecorche.skeleton.skeleton import Skeleton
from ecorche.skin.keep_volume import LimbSegment, limb_joints
from ecorche.skin.weights import SkinWeights

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

BEGINS, HOLDS = np.radians(50.0), np.radians(90.0)
"""From which bend on halves meet, and from which they do so wholly [rad]."""
_CLEARLY = 0.2
"""By how much more weight one half must have than the other for skin to belong to it clearly."""
_WITHIN = 0.01
"""How far inside the crook, from the joint on, skin begins to be laid onto the plane [m]."""


@dataclass(frozen=True, eq=False, repr=False)
class _Fold:
    joint: int
    above: int
    head: Floats
    before: Floats  # unit, from the joint back along the bone before it, at bind
    behind: Floats  # unit, from the joint along the bone behind it, at bind
    vertices: Ints
    side: Floats  # −1 of the half before the joint to 1 of that behind


class FoldPlanes:
    """The folds of one skin.

    Args:
        segments: Its limbs round the joints it folds at, see `limb_segments`.
        weights: Of the skin.
        skeleton: It hangs on.
        scale: How many times as large as a human it is.
    """

    def __init__(
        self,
        segments: Iterable[LimbSegment],
        weights: SkinWeights,
        skeleton: Skeleton,
        scale: float = 1.0,
    ) -> None:
        heads, tips = skeleton.bind_world[:, :3, 3], skeleton.tail_positions()
        vertex = np.repeat(np.arange(weights.vertex_count), np.diff(weights.starts))
        self._folds, self._within = [], _WITHIN * scale
        for segment in segments:
            joint, above = segment.joint, int(skeleton.parents[segment.joint])
            _, lower = limb_joints(skeleton, joint)
            behind = np.bincount(vertex, weights.weights * np.isin(weights.joints, list(lower)))
            own = segment.vertices
            side = np.clip((2.0 * behind[own] - 1.0) / _CLEARLY, -1.0, 1.0)
            self._folds.append(
                _Fold(
                    joint,
                    above,
                    heads[joint],
                    normalise(heads[above] - heads[joint]),
                    normalise(tips[joint] - heads[joint]),
                    own,
                    side,
                )
            )

    def laid(self, points: npt.NDArray[np.float32], difference: Floats) -> npt.NDArray[np.float32]:
        """How far each vertex is moved [m], (vertices, 3), for ``M − I`` of the joints."""
        moved = np.zeros_like(points)
        for fold in self._folds:
            above, below = (difference[j, :3, :3] + np.eye(3) for j in (fold.above, fold.joint))
            back, on = normalise(above @ fold.before), normalise(below @ fold.behind)
            bend = np.pi - np.arccos(np.clip(back @ on, -1.0, 1.0))
            share = float(smooth_step((bend - BEGINS) / (HOLDS - BEGINS)))
            if share == 0.0:
                continue
            head = fold.head + difference[fold.joint, :3, :3] @ fold.head + difference[fold.joint, :3, 3]
            away = points[fold.vertices].astype(np.float64) - head
            across, into = normalise(on - back), normalise(on + back)
            # beyond the plane is positive for either half
            beyond = np.sign(fold.side) * -(away @ across)
            inner = smooth_step((away @ into) / self._within)
            step = share * np.abs(fold.side) * inner * np.maximum(beyond, 0.0)
            moved[fold.vertices] += ((step * np.sign(fold.side))[:, None] * across).astype(np.float32)
        return moved
