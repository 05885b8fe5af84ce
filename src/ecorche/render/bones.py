"""The skeleton as a rigger draws it: an octahedron a bone, thick near its joint."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ecorche.base.rotations import normalise
from ecorche.base.transforms import transform_points
from ecorche.skeleton.skeleton import Skeleton

Floats = npt.NDArray[np.float64]

_WAIST = 0.14
"""Where the octahedron is thickest, as a share of its length."""

_SLENDERNESS, _THICKEST = 0.10, 0.016
"""Half width as a share of the bone's length, but no more than this share of the skeleton's extent."""

_FACES = np.array([[0, 2, 1], [0, 3, 2], [0, 4, 3], [0, 1, 4], [5, 1, 2], [5, 2, 3], [5, 3, 4], [5, 4, 1]])


class BoneShapes:
    """Octahedra from each joint to its bone's tip, built at bind and moved rigidly with the joint."""

    def __init__(self, skeleton: Skeleton) -> None:
        heads, tips = skeleton.bind_world[:, :3, 3], skeleton.tail_positions()
        lengths = np.linalg.norm(tips - heads, axis=1)
        self.joints = np.flatnonzero(lengths > 1e-9)
        along = normalise(tips - heads)[self.joints]
        aside = np.eye(3)[np.argmin(np.abs(along), axis=1)]
        across = normalise(np.cross(along, aside))
        upwards = np.cross(along, across)
        heads, tips, length = heads[self.joints], tips[self.joints], lengths[self.joints, None]
        extent = np.ptp(np.concatenate([heads, tips]), axis=0).max(initial=0.0)
        radius = np.minimum(_SLENDERNESS * length, _THICKEST * extent)
        waist = heads + _WAIST * length * along
        world = np.stack(
            [
                heads,
                waist + radius * across,
                waist + radius * upwards,
                waist - radius * across,
                waist - radius * upwards,
                tips,
            ],
            axis=1,
        )
        self._local = transform_points(skeleton.bind_inverse[self.joints], world)
        first = 6 * np.arange(len(self.joints))
        self.triangles: npt.NDArray[np.int32] = (
            (_FACES[None] + first[:, None, None]).reshape(-1, 3).astype(np.int32)
        )

    def points(self, world: Floats) -> npt.NDArray[np.float32]:
        """Corners [m] (bones · 6, 3) for ``world_from_joint`` matrices (joints, 4, 4)."""
        return transform_points(world[self.joints], self._local).reshape(-1, 3).astype(np.float32)
