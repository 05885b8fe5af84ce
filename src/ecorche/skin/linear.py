"""Linear blend skinning: each vertex moves by the weighted mean of its joints' motions.

Thesis equation (5.4), evaluated as a difference from bind: ``v + Σ w (M − I) v``. In the bind pose
every summand is zero, so the bind mesh comes back bit for bit. It is computed as ``v − Σ w (I − M) v``
with a sum that starts at plus zero: that keeps the sign of a coordinate that is minus zero too.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit, prange

from ecorche.base.lanes import broadcast, load, multiply_add
from ecorche.base.quads import read_quad, write_quad
from ecorche.skin.grouped import GroupedSkinning
from ecorche.skin.layout import Points, read_group, write_group

Floats = npt.NDArray[np.float64]


class LinearSkinning(GroupedSkinning):
    """Linear blend skinning of one mesh, ready to be applied frame after frame."""

    def _skin(self, difference: npt.NDArray[np.float64], given: Points, out: Points) -> None:
        _skin_by(*self.layout, given, difference, out)


@njit(cache=True)  # type: ignore[untyped-decorator]
def _skin_by(
    vertices: npt.NDArray[np.int32],
    starts: npt.NDArray[np.int64],
    joints: npt.NDArray[np.int32],
    weights: Points,
    bind: Points,
    given: Points,
    difference: Floats,
    out: Points,
) -> None:
    """Skin by ``M − I`` of the joints, (joints, 4, 4)."""
    minus = np.empty((len(difference), 12), np.float32)
    for joint in range(len(difference)):
        for row in range(3):
            write_quad(minus, 3 * joint + row, 0.0 - read_quad(difference, 4 * joint + row))
    skin_by_rows(vertices, starts, joints, weights, bind, given, minus, out)


@njit(parallel=True, cache=True)  # type: ignore[untyped-decorator]
def skin_by_rows(
    vertices: npt.NDArray[np.int32],
    starts: npt.NDArray[np.int64],
    joints: npt.NDArray[np.int32],
    weights: Points,
    bind: Points,
    given: Points,
    minus: Points,
    out: Points,
) -> None:
    """Skin by ``I − M`` of the joints, the upper three rows of each, (joints, 12)."""
    for group in prange(len(vertices)):
        x, y, z = read_group(bind, given, vertices, group)
        sum_x = broadcast(np.float32(0.0))
        sum_y = broadcast(np.float32(0.0))
        sum_z = broadcast(np.float32(0.0))
        for row in range(starts[group], starts[group + 1]):
            m = minus[joints[row]]
            w = load(weights, row)
            moved = multiply_add(broadcast(m[2]), z, broadcast(m[3]))
            moved = multiply_add(broadcast(m[1]), y, moved)
            sum_x = multiply_add(w, multiply_add(broadcast(m[0]), x, moved), sum_x)
            moved = multiply_add(broadcast(m[6]), z, broadcast(m[7]))
            moved = multiply_add(broadcast(m[5]), y, moved)
            sum_y = multiply_add(w, multiply_add(broadcast(m[4]), x, moved), sum_y)
            moved = multiply_add(broadcast(m[10]), z, broadcast(m[11]))
            moved = multiply_add(broadcast(m[9]), y, moved)
            sum_z = multiply_add(w, multiply_add(broadcast(m[8]), x, moved), sum_z)
        write_group(out, vertices, group, x - sum_x, y - sum_y, z - sum_z)
