"""Points of a skin moved along their normals, all vertices of a place alike."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit, prange

Points = npt.NDArray[np.float32]
Singles = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int32]


def along_normals(points: Points, normals: Points, by: Singles, place: Ints) -> Points:
    """Points [m] (vertices, 3) moved along unit normals by so much of each place [m], (places,).

    Args:
        points, normals: (vertices, 3).
        by: How far each place moves [m], (places,).
        place: Of each vertex, (vertices,).
    """
    moved = np.empty_like(points)
    _move(points, normals, by, place, moved)
    return moved


@njit(parallel=True, cache=True)  # type: ignore[untyped-decorator]
def _move(points: Points, normals: Points, by: Singles, place: Ints, moved: Points) -> None:
    for vertex in prange(len(points)):
        step = by[place[vertex]]
        for axis in range(3):
            moved[vertex, axis] = points[vertex, axis] + step * normals[vertex, axis]
