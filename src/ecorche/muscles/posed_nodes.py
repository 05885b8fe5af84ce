"""The nodes of muscles' paths in a frame, the segments between them and their corners; for compiled loops.

Here four nodes lie side by side; in `instance_posing` a node of eight instances does. The arithmetic is one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit

from ecorche.base.quads import quad, read_quad, read_rows, smallest, square_roots, where_above, write_rows
from ecorche.muscles.paths import SHORTEST
from ecorche.muscles.posed_joints import MOVED
from ecorche.muscles.triples import dot, plus, scaled

Floats = npt.NDArray[np.float64]
Naturals = npt.NDArray[np.uint32]

# columns of a node: where it is, and the arc length up to it; direction and length of the segment that ends
# there; bend and reach of the rounding where it is a corner
POINT, ARC, DIRECTION, SEGMENT, BEND, NODE_COLUMNS = 0, 3, 4, 7, 8, 12

TOO_SHORT = np.nextafter(SHORTEST, 0.0)


@njit(forceinline=True)  # type: ignore[untyped-decorator]
def carried_point(x: Any, y: Any, z: Any, p: Any) -> Any:
    """Where rows of ``M − I`` take a point."""
    # twice subtracted, so that a coordinate of minus zero keeps its sign at bind
    return (
        p[0] - (0.0 - (dot(x, p) + x[3])),
        p[1] - (0.0 - (dot(y, p) + y[3])),
        p[2] - (0.0 - (dot(z, p) + z[3])),
    )


@njit(forceinline=True)  # type: ignore[untyped-decorator]
def segment(before: Any, after: Any) -> Any:
    """Direction from node to node, and how far it is."""
    step = plus(after, -1.0, before)
    length = square_roots(dot(step, step))
    x, y, z = scaled(1.0 / length, step)
    return x, y, z, length


@njit(forceinline=True)  # type: ignore[untyped-decorator]
def corner(before: Any, after: Any, rounding: float) -> Any:
    """How a path bends between two segments, and how far the rounding reaches."""
    reach = rounding * before[3] * after[3] / (before[3] + after[3])
    x, y, z = plus(after, -1.0, before)
    return x, y, z, reach


@njit(cache=True)  # type: ignore[untyped-decorator]
def pose_nodes(
    node_rows: Naturals, node_joints: Naturals, bind: Floats, moved: Floats, nodes: Floats
) -> None:
    """Where the nodes are."""
    for group in range(len(node_rows)):
        p = read_quad(bind, 3 * group), read_quad(bind, 3 * group + 1), read_quad(bind, 3 * group + 2)
        x, y, z = carried_point(
            read_rows(moved, node_joints, group, MOVED, 0),
            read_rows(moved, node_joints, group, MOVED, 4),
            read_rows(moved, node_joints, group, MOVED, 8),
            p,
        )
        write_rows(nodes, node_rows, group, NODE_COLUMNS, POINT, (x, y, z, quad(0.0)))


@njit(cache=True)  # type: ignore[untyped-decorator]
def pose_segments(named: Naturals, nodes: Floats) -> bool:
    """Directions and lengths between nodes; False where one is too short or not a number."""
    fine, none = quad(1.0), quad(0.0)
    for group in range(len(named)):
        after = read_rows(nodes, named, 2 * group, NODE_COLUMNS, POINT)
        before = read_rows(nodes, named, 2 * group + 1, NODE_COLUMNS, POINT)
        found = segment(before, after)
        fine = where_above(found[3], quad(TOO_SHORT), fine, none)
        write_rows(nodes, named, 2 * group, NODE_COLUMNS, DIRECTION, found)
    return bool(smallest(fine) > 0.0)


@njit(cache=True)  # type: ignore[untyped-decorator]
def pose_corners(named: Naturals, rounding: float, nodes: Floats) -> None:
    """How the path bends at the nodes between segments, and how far the rounding reaches."""
    for group in range(len(named)):
        before = read_rows(nodes, named, 2 * group, NODE_COLUMNS, DIRECTION)
        after = read_rows(nodes, named, 2 * group + 1, NODE_COLUMNS, DIRECTION)
        write_rows(nodes, named, 2 * group, NODE_COLUMNS, BEND, corner(before, after, rounding))
