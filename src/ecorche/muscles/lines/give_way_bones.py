"""What is known when muscles give way to bones: bones as grids, flesh, how deep, and the way out."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from ecorche.base.distance_grid import depth_in_grid

Floats = npt.NDArray[np.float64]
Singles = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int32]
Bools = npt.NDArray[np.bool_]


class Grids(NamedTuple):
    """Grids of bones, one after another.

    Attributes:
        values: Depths at the nodes [m], (n,).
        first: Where those of each bone begin, (B,).
        nodes: How many it has, (B, 3).
        low: The first of them [m], (B, 3).
        spacing: From node to node [m], (B,).
    """

    values: Singles
    first: npt.NDArray[np.int64]
    nodes: Ints
    low: Floats
    spacing: Floats


class Flesh(NamedTuple):
    """Vertices of all muscles and their neighbours; vertices in one position count as the first of them.

    Attributes:
        starts: Vertices of muscle m are ``starts[m]`` to ``starts[m + 1] − 1``, (M + 1,).
        place: The first vertex in its position, (V,).
        near_starts, near: Neighbours of each such vertex, (V + 1,), (E,).
        counts: As how many neighbours each of them counts, (E,).
        share: What one neighbour counts among all, and those that stand for not moving at all, (V,).
        held: Whether a bone holds it wholly, (V,).
        allowed: How deep it may lie in bones [m], (V,).
        order: Vertices by chunks, (V,).
        chunks: Where each chunk begins in ``order``, (C + 1,).
        muscle: Of each chunk, (C,).
        chunk: Of each vertex, (V,).
        triangle_starts, triangles: Of each muscle, (M + 1,), (T, 3), of first vertices in their positions.
    """

    starts: Ints
    place: Ints
    near_starts: Ints
    near: Ints
    counts: Floats
    share: Floats
    held: Bools
    allowed: Floats
    order: Ints
    chunks: Ints
    muscle: Ints
    chunk: Ints
    triangle_starts: Ints
    triangles: Ints


class Near(NamedTuple):
    """Bones in a pose, and which of them are near what.

    Attributes:
        frames: From the world into cells of each bone's grid, (B, 3, 4).
        number: How many are near each chunk, (C,).
        bones: Which, (C, B).
    """

    frames: Floats
    number: Ints
    bones: Ints


@njit(inline="always")  # type: ignore[untyped-decorator]
def in_cells(frames: Floats, b: int, x: float, y: float, z: float) -> tuple[float, float, float]:
    """A place [m] in cells from the first node of bone b's grid."""
    return (
        frames[b, 0, 0] * x + frames[b, 0, 1] * y + frames[b, 0, 2] * z + frames[b, 0, 3],
        frames[b, 1, 0] * x + frames[b, 1, 1] * y + frames[b, 1, 2] * z + frames[b, 1, 3],
        frames[b, 2, 0] * x + frames[b, 2, 1] * y + frames[b, 2, 2] * z + frames[b, 2, 3],
    )


@njit(inline="always")  # type: ignore[untyped-decorator]
def in_grid(grids: Grids, b: int, x: float, y: float, z: float) -> tuple[float, float, float, float]:
    """Depth in bone b [m] at a place in cells, and its slopes [m a cell]."""
    nx, ny, nz = grids.nodes[b, 0], grids.nodes[b, 1], grids.nodes[b, 2]
    return depth_in_grid(grids.values, grids.first[b], nx, ny, nz, x, y, z)  # type: ignore[no-any-return]


@njit(inline="always")  # type: ignore[untyped-decorator]
def in_bones(
    grids: Grids, frames: Floats, count: Ints, bones: Ints, c: int, x: float, y: float, z: float
) -> tuple[float, float, float, float]:
    """How deep a place of chunk c lies in the deepest bone [m], 0 outside of all, and the way out.

    The way out is unit but in the midst of a bone, where ways to its sides meet: there it is shorter.
    """
    deepest, gx, gy, gz = 0.0, 0.0, 0.0, 0.0
    for entry in range(count[c]):
        b = bones[c, entry]
        px, py, pz = in_cells(frames, b, x, y, z)
        depth, sx, sy, sz = in_grid(grids, b, px, py, pz)
        if depth > deepest:
            deepest = depth
            # slopes come back by the transpose
            gx = -(frames[b, 0, 0] * sx + frames[b, 1, 0] * sy + frames[b, 2, 0] * sz)
            gy = -(frames[b, 0, 1] * sx + frames[b, 1, 1] * sy + frames[b, 2, 1] * sz)
            gz = -(frames[b, 0, 2] * sx + frames[b, 1, 2] * sy + frames[b, 2, 2] * sz)
    return deepest, gx, gy, gz
