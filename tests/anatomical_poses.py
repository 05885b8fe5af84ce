"""A person standing as anatomists draw one, with joints turned in anatomical directions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ecorche.base.rotations import matrix_from_xyzw, xyzw_from_axis_angle
from ecorche.muscles.template.directions import axis_of
from ecorche.muscles.template.segments import segments
from ecorche.skeleton.default_pose import default_from_bind
from ecorche.skeleton.naming import Naming
from ecorche.skeleton.skeleton import Skeleton

Floats = npt.NDArray[np.float64]

Turn = tuple[str, str, float]
"""A segment, the direction it moves in, and by how many degrees."""


class AnatomicalPoses:
    """Poses of one skeleton as differences from bind, made from its default pose."""

    def __init__(self, skeleton: Skeleton, naming: Naming) -> None:
        self.skeleton = skeleton
        self.parts = segments(skeleton, naming)
        self.standing = _standing(skeleton, naming)

    def difference(self, turns: Sequence[Turn], side: str = "right") -> Floats:
        """``M − I`` (joints, 4, 4) of the default pose with joints turned, one turn after another."""
        moved = self.standing
        for joint, direction, degrees in turns:
            moved = self._turned(moved, self.parts[joint].joint, axis_of(joint, direction, side), degrees)
        return moved - np.eye(4)

    def _turned(self, moved: Floats, joint: int, axis: npt.ArrayLike, degrees: float) -> Floats:
        """The pose with one joint, and all below it, turned about an axis of space."""
        centre = moved[joint, :3, :3] @ self.skeleton.bind_world[joint, :3, 3] + moved[joint, :3, 3]
        turn = np.eye(4)
        turn[:3, :3] = matrix_from_xyzw(xyzw_from_axis_angle(axis, np.radians(degrees)))
        turn[:3, 3] = centre - turn[:3, :3] @ centre
        below = np.zeros(len(moved), bool)
        below[joint] = True
        for child, parent in enumerate(self.skeleton.parents):
            below[child] |= parent >= 0 and below[parent]
        return np.where(below[:, None, None], turn @ moved, moved)


def _standing(skeleton: Skeleton, naming: Naming) -> Floats:
    """What moves each joint's bone from bind to the default pose, (joints, 4, 4)."""
    turns = matrix_from_xyzw(default_from_bind(skeleton, naming.canonical))
    heads = skeleton.bind_world[:, :3, 3]
    moved = np.tile(np.eye(4), (skeleton.joint_count, 1, 1))
    for joint, parent in enumerate(skeleton.parents):
        head = heads[joint] if parent < 0 else moved[parent, :3, :3] @ heads[joint] + moved[parent, :3, 3]
        moved[joint, :3, :3] = turns[joint]
        moved[joint, :3, 3] = head - turns[joint] @ heads[joint]
    return moved
