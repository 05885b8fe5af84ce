"""How far apart the vertices of a skin are, in every direction: what it can show, and what is too fine.

Limbs of real characters have rings of short edges and long edges from ring to ring, so that one number a
vertex would say little. The mean of ``e eᵀ`` over the edges e at a vertex is a matrix S; ``sqrt(2 uᵀ S u)``
is the distance of neighbours along the unit direction u on a flat grid of rectangles or of equal triangles,
and up to a third more where rectangles have diagonals.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ecorche.base.mesh import coincident_groups

Floats = npt.NDArray[np.float64]


def edge_squares(points: npt.NDArray[np.floating], triangles: npt.NDArray[np.integer]) -> Floats:
    """Mean of ``e eᵀ`` over the edges at each vertex [m²], shape (vertices, 3, 3); 0 where no triangle is.

    Vertices in one place, as along a seam, have one mean: what depends on it must not part them.

    Args:
        points: The skin's vertices [m], shape (vertices, 3).
        triangles: Its triangles, shape (triangles, 3).
    """
    place, count = coincident_groups(points), len(points)
    first, second = np.stack([triangles, np.roll(triangles, -1, axis=1)]).reshape(2, -1)
    edge = np.asarray(points, np.float64)[second] - points[first]
    at = place[np.concatenate([first, second])]
    square = np.empty((count, 3, 3))
    number = np.maximum(np.bincount(at, minlength=count), 1)
    for row in range(3):
        for column in range(3):
            product = np.tile(edge[:, row] * edge[:, column], 2)
            square[:, row, column] = np.bincount(at, product, minlength=count) / number
    return square[place]


def spacing(squares: Floats, directions: Floats) -> Floats:
    """About how far from their neighbours vertices are along directions [m], shape (vertices,).

    Args:
        squares: Of `edge_squares`, shape (vertices, 3, 3).
        directions: Unit vectors, shape (vertices, 3) or (3,).
    """
    along = (squares @ directions[..., None])[..., 0]
    return np.asarray(np.sqrt(2.0 * np.maximum(np.sum(along * directions, axis=-1), 0.0)))
