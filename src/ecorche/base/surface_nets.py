"""A closed quad surface round the inside of a field of values on a grid.

Surface nets (S. Gibson, "Constrained Elastic Surface Nets", 1998) without the elastic part: one vertex in
every cell that the surface passes, at the mean of where it crosses the cell's edges, and one quad round every
grid edge that it crosses. Changed here: where inside nodes touch only across a face's or a cell's diagonal,
the one nearest to the surface counts as outside, until none is left. Such a set is well-composed (L. Latecki,
"3D Well-Composed Pictures", 1997), so the surface is a manifold: two quads an edge, whatever the field. For a
smooth field the vertices lie within the second power of the spacing from the surface.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ecorche.errors import MeshError

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

_CORNERS = np.array([[c & 1, c >> 1 & 1, c >> 2 & 1] for c in range(8)])
_EDGES = [(c, c | 1 << axis) for axis in range(3) for c in range(8) if not c >> axis & 1]
"""The twelve edges of a cell by their corners."""
_AROUND = ((0, 0), (1, 0), (1, 1), (0, 1))
"""Corners of a square, in turn."""
TOUCHING = 0.1
"""What stands for a node that counts as outside, as a share of the mean step from node to node: so the
surface passes before it, and the vertices of the cells round it do not all fall on it."""


@dataclass(frozen=True, eq=False)
class Net:
    """The surface of a field.

    Attributes:
        points: Vertices in steps of the grid, shape (vertices, 3).
        quads: Vertex fours, counter-clockwise seen from outside, shape (quads, 4).
        cells: The grid cell each vertex lies in, shape (vertices, 3).
    """

    points: Floats
    quads: Ints
    cells: Ints


def surface_net(values: npt.ArrayLike) -> Net:
    """The surface where ``values`` (nx, ny, nz) change sign; inside they are negative.

    Where the inside reaches the grid's border the surface stays open there.
    """
    field = np.array(values, np.float64)
    if field.ndim != 3 or min(field.shape) < 2:
        raise MeshError(
            f"a field of shape {field.shape} has no cells", remedy="Give at least 2 values along each axis"
        )
    if not np.isfinite(field).all():
        raise MeshError(
            "the field holds values that are not finite", remedy="Give a finite value at each node"
        )
    _parted(field)
    inside = field < 0.0
    whole = [_shifted(inside, corner) for corner in _CORNERS]
    cells = np.argwhere(np.any(whole, axis=0) & ~np.all(whole, axis=0))
    row = np.full([n - 1 for n in field.shape], -1, np.int64)
    row[tuple(cells.T)] = np.arange(len(cells))
    return Net(_points(field, cells), _quads(inside, row), cells)


def _points(field: Floats, cells: Ints) -> Floats:
    """The mean of where the surface crosses the edges of each cell, shape (cells, 3)."""
    total, count = np.zeros((len(cells), 3)), np.zeros((len(cells), 1))
    at = [field[tuple((cells + corner).T)] for corner in _CORNERS]
    for a, b in _EDGES:
        hit = np.flatnonzero((at[a] < 0.0) != (at[b] < 0.0))
        share = (at[a][hit] / (at[a][hit] - at[b][hit]))[:, None]
        total[hit] += _CORNERS[a] + share * (_CORNERS[b] - _CORNERS[a])
        count[hit] += 1.0
    return cells + total / count


def _quads(inside: npt.NDArray[np.bool_], row: Ints) -> Ints:
    """A quad of the four cells round every crossed edge, but for edges on the grid's border."""
    quads = []
    for axis in range(3):
        one, two = (axis + 1) % 3, (axis + 2) % 3
        inner = [slice(1, -1)] * 3
        inner[axis] = slice(0, -1)
        start = inside[tuple(inner)]
        inner[axis] = slice(1, None)
        nodes = np.argwhere(start != inside[tuple(inner)])
        outward = start[tuple(nodes.T)]
        around = []
        for step_one, step_two in _AROUND:
            cell = nodes.copy()  # the slices begin at 1 across the edge: this is the cell before it
            cell[:, one] += 1 - step_one
            cell[:, two] += 1 - step_two
            around.append(row[tuple(cell.T)])
        quad = np.stack(around, axis=1)
        quads.append(np.where(outward[:, None], quad, quad[:, ::-1]))
    return np.concatenate(quads)


def _parted(field: Floats) -> None:
    """Make the inside well-composed, in place."""
    steps = np.concatenate([np.abs(np.diff(field, axis=axis)).ravel() for axis in range(3)])
    outside = TOUCHING * float(steps.mean()) + np.finfo(float).tiny
    shapes = []  # corners of each face and of the cell, opposite ones side by side
    for axis in range(3):
        one, two = (axis + 1) % 3, (axis + 2) % 3
        square = np.zeros((4, 3), int)
        square[:, [one, two]] = _AROUND
        shapes.append(square[[0, 2, 1, 3]])
    shapes.append(_CORNERS[[0, 7, 1, 6, 2, 5, 3, 4]])
    changed = True
    while changed:
        changed = False
        for corners in shapes:
            nodes = np.stack([_shifted(field, corner, corners.max(axis=0)) for corner in corners])
            pairs = (nodes < 0.0).reshape(len(corners) // 2, 2, *nodes.shape[1:])
            full, empty = pairs.all(axis=1), ~pairs.any(axis=1)
            # one diagonal differs from all others: inside, or outside
            lone = (full.sum(axis=0) == 1) & (empty.sum(axis=0) == len(pairs) - 1)
            gap = (empty.sum(axis=0) == 1) & (full.sum(axis=0) == len(pairs) - 1)
            places = np.argwhere(lone | gap)
            if len(places):
                found = nodes[(slice(None), *places.T)]
                nearest = np.where(found < 0.0, found, -np.inf).argmax(axis=0)
                field[tuple((places + corners[nearest]).T)] = outside
                changed = True


def _shifted(
    grid: npt.NDArray[np.generic], corner: Ints, extent: Ints | tuple[int, ...] = (1, 1, 1)
) -> npt.NDArray[np.generic]:
    """The nodes at one corner of every cell, or of every face of a given extent."""
    return grid[tuple(slice(c, n - e + c) for c, n, e in zip(corner, grid.shape, extent, strict=True))]
