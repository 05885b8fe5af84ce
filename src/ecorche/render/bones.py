"""The skeleton as a rigger draws it: octahedra from each joint to its children, thick near the joint."""

from __future__ import annotations

from collections.abc import Collection

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
    """Octahedra built at bind, each moved rigidly with the joint it starts from.

    Args:
        skeleton: The joint tree.
        anchors: Joints to leave out, such as a scene's root that stays behind when the body walks away.
    """

    def __init__(self, skeleton: Skeleton, anchors: Collection[int] = ()) -> None:
        places, tails = skeleton.bind_world[:, :3, 3], skeleton.tail_positions()
        bones = [
            (joint, tip)
            for joint, below in enumerate(skeleton.children)
            for tip in (places[list(below)] if below else tails[joint : joint + 1])
            if joint not in anchors and np.linalg.norm(tip - places[joint]) > 1e-9
        ]
        self.joints = np.array([joint for joint, _ in bones], np.int64)
        heads, tips = places[self.joints], np.array([tip for _, tip in bones]).reshape(-1, 3)
        length = np.linalg.norm(tips - heads, axis=1, keepdims=True)
        along = normalise(tips - heads)
        aside = np.eye(3)[np.argmin(np.abs(along), axis=1)]
        across = normalise(np.cross(along, aside))
        upwards = np.cross(along, across)
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
