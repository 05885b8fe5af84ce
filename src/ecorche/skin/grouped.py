"""What all skinning methods share: vertices in groups of sixteen lanes, and inputs that fit them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit

from ecorche.base.lanes import broadcast, load, multiply_add, where_less
from ecorche.base.threads import threads_for
from ecorche.errors import MeshError
from ecorche.skin.layout import Groups, Points, group_vertices
from ecorche.skin.weights import SkinWeights

Floats = npt.NDArray[np.float64]

_NONE_GIVEN = np.zeros((0, 3), np.float32)


class GroupedSkinning(ABC):
    """Skinning of one mesh, ready to be applied frame after frame.

    Args:
        points: Bind positions [m], shape (vertices, 3), float32.
        weights: Skin weights of those vertices.
    """

    def __init__(self, points: Points, weights: SkinWeights) -> None:
        self._groups = group_vertices(weights)
        self._bind = self._groups.gather(points)
        self.joint_count = self._groups.joint_count

    @property
    def kept_bytes(self) -> int:
        """Memory the prepared layout takes; all of it is read once a frame."""
        return sum(array.nbytes for array in self.layout)

    def apply(self, difference: Floats, points: Points | None = None, out: Points | None = None) -> Points:
        """Skinned positions [m], shape (vertices, 3), in the mesh's own vertex order.

        Args:
            difference: How far each joint is from bind, ``M − I``, shape (joints, 4, 4).
            points: Positions to use in place of the bind positions, such as morphed ones.
            out: Where to write; it must be C-contiguous float32 (vertices, 3).
        """
        # a kernel does not look where it reads and writes: what does not fit is refused here
        if difference.shape[1:] != (4, 4) or len(difference) < self.joint_count:
            raise MeshError(
                f"joint matrices have shape {difference.shape} for {self.joint_count} joints",
                remedy="Give one 4 × 4 matrix a joint of the skeleton the mesh is bound to",
            )
        given, out = self.checked(points, out)
        with threads_for(len(self._groups.vertices)):
            self._skin(np.ascontiguousarray(difference, np.float64), given, out)
        return out

    def checked(self, points: Points | None, out: Points | None) -> tuple[Points, Points]:
        """What to read, no rows where the bind points are meant, and where to write."""
        shape = (self._groups.vertex_count, 3)
        if points is not None and points.shape != shape:
            raise MeshError(f"the points have shape {points.shape}", remedy=f"Give {shape[0]} points")
        given = _NONE_GIVEN if points is None else np.ascontiguousarray(points, np.float32)
        if out is None:
            out = np.empty(shape, np.float32)
        elif out.shape != shape or out.dtype != np.float32 or not out.flags.c_contiguous:
            raise MeshError(
                f"the output array is {out.dtype} of shape {out.shape}",
                remedy=f"Give C-contiguous float32 of shape {shape}",
            )
        return given, out

    @property
    def layout(self) -> tuple[npt.NDArray[Any], ...]:
        """The first arguments of every kernel: vertices, starts, joints, weights, bind points."""
        groups: Groups = self._groups
        return groups.vertices, groups.starts, groups.joints, groups.weights, self._bind

    @abstractmethod
    def _skin(self, difference: Floats, given: Points, out: Points) -> None:
        """Run the method's kernel; ``given`` has no rows where the bind points are meant."""


@njit(inline="always")  # type: ignore[untyped-decorator]
def strongest_rotation(
    rotations: Points, joints: npt.NDArray[np.int32], weights: Points, first: int, last: int
) -> Any:
    """The quaternion xyzw of each lane's strongest joint, of rows ``first`` to ``last``; in kernels."""
    q = rotations[joints[first]]
    x, y, z, w = broadcast(q[0]), broadcast(q[1]), broadcast(q[2]), broadcast(q[3])
    strongest = load(weights, first)
    for row in range(first + 1, last):
        q, weight = rotations[joints[row]], load(weights, row)
        x = where_less(strongest, weight, broadcast(q[0]), x)
        y = where_less(strongest, weight, broadcast(q[1]), y)
        z = where_less(strongest, weight, broadcast(q[2]), z)
        w = where_less(strongest, weight, broadcast(q[3]), w)
        strongest = where_less(strongest, weight, weight, strongest)
    return x, y, z, w


@njit(inline="always")  # type: ignore[untyped-decorator]
def blended_stretch(
    minus_stretch: Points,
    joints: npt.NDArray[np.int32],
    weights: Points,
    first: int,
    last: int,
    x: Any,
    y: Any,
    z: Any,
) -> Any:
    """``Σ w (I − S)`` times each lane's vector, over rows ``first`` to ``last``; in kernels."""
    sum_x = broadcast(np.float32(0.0))
    sum_y = broadcast(np.float32(0.0))
    sum_z = broadcast(np.float32(0.0))
    for row in range(first, last):
        s, w = minus_stretch[joints[row]], load(weights, row)
        sum_x = multiply_add(w, x * s[0] + y * s[1] + z * s[2], sum_x)
        sum_y = multiply_add(w, x * s[3] + y * s[4] + z * s[5], sum_y)
        sum_z = multiply_add(w, x * s[6] + y * s[7] + z * s[8], sum_z)
    return sum_x, sum_y, sum_z
