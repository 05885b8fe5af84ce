"""How large voxels are when their corners are displaced."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit

Doubles = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int32]


def voxel_corners(voxels: npt.NDArray[np.bool_], places: npt.NDArray[np.integer]) -> Ints:
    """Nodes at the corners 000, 001, 010 … of the voxels there are, (V, 8).

    Args:
        voxels: Which are there, (X, Y, Z).
        places: Grid numbers of the nodes, (nodes, 3).
    """
    number = np.full([n + 1 for n in voxels.shape], -1, np.int32)
    number[tuple(places.T)] = np.arange(len(places))
    first = np.argwhere(voxels)
    return np.stack([number[tuple((first + corner).T)] for corner in np.ndindex(2, 2, 2)], axis=1)


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def voxel_volumes(corners: Ints, displacements: Doubles, size: float) -> Doubles:
    """Volumes of voxels as shares of those at rest, by the gradient at their middles, (V,).

    Args:
        corners: See `voxel_corners`, (V, 8).
        displacements: Of the nodes from rest [m], (nodes, 3).
        size: Of a voxel's edge [m].
    """
    found, f = np.empty(len(corners)), np.empty((3, 3))
    for voxel in range(len(corners)):
        for axis in range(3):
            for way in range(3):
                f[axis, way] = 1.0 if axis == way else 0.0
        for corner in range(8):
            node = corners[voxel, corner]
            for way in range(3):
                side = 0.25 / size if corner >> (2 - way) & 1 else -0.25 / size
                for axis in range(3):
                    f[axis, way] += side * displacements[node, axis]
        found[voxel] = (
            f[0, 0] * (f[1, 1] * f[2, 2] - f[1, 2] * f[2, 1])
            - f[0, 1] * (f[1, 0] * f[2, 2] - f[1, 2] * f[2, 0])
            + f[0, 2] * (f[1, 0] * f[2, 1] - f[1, 1] * f[2, 0])
        )
    return found
