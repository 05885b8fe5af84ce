"""Linear skinning to the joints of a skeleton and of its muscles, which are posed in the same compiled call.

A frame of an ordinary character is so short that a call of compiled code with a dozen arrays counts: muscle
joints that were posed in a call of their own would cost that on top.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit

from ecorche.base.threads import threads_for
from ecorche.errors import MeshError
from ecorche.muscles.extended_joints import skin_rows_of
from ecorche.muscles.lofted_posing import Lofts
from ecorche.muscles.packed_plans import counts
from ecorche.skin.layout import Points
from ecorche.skin.linear import LinearSkinning, skin_by_rows

Floats = npt.NDArray[np.float64]
Singles = npt.NDArray[np.float32]


class ActiveSkinning:
    """Skinning of one mesh to joints and muscle joints, ready to be applied frame after frame.

    Args:
        skinning: Of the mesh, by weights on the skeleton's joints and then on the muscle joints.
        muscles: The muscles.
    """

    def __init__(self, skinning: LinearSkinning, muscles: Lofts) -> None:
        count = muscles.curves.joint_count + len(muscles.joint_places)
        if skinning.joint_count > count:
            raise MeshError(
                f"a mesh is bound to {skinning.joint_count} joints, and with muscles there are {count}",
                remedy="Give the muscles that its weights were made for",
            )
        self._skinning, self._muscles, self._at_rest = skinning, muscles, np.zeros(len(muscles.muscles))
        self._fixed, self._group_count = (*skinning.layout, muscles.kept_for_skin), len(skinning.layout[0])

    def apply(
        self,
        difference: Floats,
        activation: Floats | None,
        points: Points | None = None,
        out: Points | None = None,
    ) -> Points:
        """Skinned positions [m], shape (vertices, 3), in the mesh's own vertex order.

        Args:
            difference: ``M − I`` of the skeleton's joints, (joints, 4, 4).
            activation: Of the muscles, 0 to 1, (M,); None is at rest.
            points: Positions to use in place of the bind positions, such as morphed ones.
            out: Where to write; it must be C-contiguous float32 (vertices, 3).
        """
        given, out = self._skinning.checked(points, out)
        moved = np.ascontiguousarray(difference, np.float64)
        active = self._at_rest if activation is None else np.ascontiguousarray(activation, np.float64)
        if moved.ndim != 3 or active.ndim != 1:
            self._muscles.refuse(moved, active)
        with threads_for(self._group_count):
            done = _skin_with(*self._fixed, given, moved, active, out)
        if not done:
            self._muscles.refuse(moved, active)
        return out


@njit(cache=True)  # type: ignore[untyped-decorator]
def _skin_with(
    vertices: npt.NDArray[np.int32],
    starts: npt.NDArray[np.int64],
    joints: npt.NDArray[np.int32],
    weights: Points,
    bind: Points,
    muscles: Singles,
    given: Points,
    difference: Floats,
    activation: Floats,
    out: Points,
) -> bool:
    """False where a pose or an activation cannot be; ``muscles`` are packed."""
    joint_count, muscle_joint_count, _ = counts(muscles)
    minus = np.empty((joint_count + muscle_joint_count, 12), np.float32)
    if not skin_rows_of(muscles, difference, activation, minus):
        return False
    skin_by_rows(vertices, starts, joints, weights, bind, given, minus, out)
    return True
