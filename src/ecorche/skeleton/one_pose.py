"""`difference_from_bind` of one pose, compiled: a frame needs it before anything else, in microseconds."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit

Floats = npt.NDArray[np.float64]


@njit(cache=True)  # type: ignore[untyped-decorator]
def _multiply(a: Floats, b: Floats, product: Floats) -> None:
    for i in range(4):
        for j in range(4):
            product[i, j] = a[i, 0] * b[0, j] + a[i, 1] * b[1, j] + a[i, 2] * b[2, j] + a[i, 3] * b[3, j]


@njit(cache=True)  # type: ignore[untyped-decorator]
def pose_difference(
    parents: npt.NDArray[np.int32],
    bind_local: Floats,
    bind_world: Floats,
    bind_inverse: Floats,
    local: Floats,
    difference: Floats,
) -> None:
    """Fill ``difference`` (joints, 4, 4) for local matrices of the same shape; see `kinematics`."""
    change, step, product = np.empty((4, 4)), np.empty((4, 4)), np.empty((4, 4))
    for joint in range(len(parents)):
        parent = parents[joint]
        for i in range(4):
            for j in range(4):
                change[i, j] = local[joint, i, j] - bind_local[joint, i, j]
        if parent < 0:
            _multiply(change, bind_inverse[joint], difference[joint])
            continue
        above = difference[parent]
        _multiply(change, bind_inverse[joint], product)
        _multiply(bind_world[parent], product, step)
        _multiply(above, step, product)
        for i in range(4):
            for j in range(4):
                difference[joint, i, j] = above[i, j] + step[i, j] + product[i, j]
