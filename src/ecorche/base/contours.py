"""Where a value given at the vertices of a surface takes certain levels: its contour lines.

With the height along a bone as the value these are plane sections; with the distance to a joint, sections by
spheres. A vertex exactly on a level counts as a hair above it, always: so no curve runs through a vertex,
splits, or ends inside the surface.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from numba import njit, prange

from ecorche.base.checks import require_finite, require_indices
from ecorche.errors import MeshError

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False, repr=False)
class Contour:
    """One curve on a surface along which a value is level; higher values lie on its left, seen from outside.

    Attributes:
        points: Where it crosses edges of triangles, in order [m], shape (P, 3). Neighbours coincide where the
            curve passes a vertex that lies exactly on the level.
        below, above: The vertices of the edge each point lies on, with a lower and a higher value, (P,).
        share: How far along that edge from ``below`` to ``above``, over 0 up to 1, shape (P,).
        triangles: The triangle between each point and the next, (P,) where closed, (P − 1,) where open.
        closed: Whether the last point is joined to the first.
    """

    points: Floats
    below: Ints
    above: Ints
    share: Floats
    triangles: Ints
    closed: bool

    def __repr__(self) -> str:
        return f"Contour({len(self.points)} points, {'closed' if self.closed else 'open'})"

    def read(self, values: npt.NDArray[np.generic]) -> Floats:
        """Values given at the surface's vertices, read at the curve's points, shape (P, …)."""
        share = self.share.reshape(-1, *(1,) * (np.ndim(values) - 1))
        below = np.asarray(values[self.below], np.float64)
        return below + share * (np.asarray(values[self.above], np.float64) - below)

    def length(self) -> float:
        """Along the curve, round to the start where it is closed [m]."""
        points = np.vstack([self.points, self.points[:1]]) if self.closed else self.points
        return float(np.linalg.norm(np.diff(points, axis=0), axis=1).sum())


@dataclass(frozen=True, eq=False, repr=False)
class Contours:
    """The contours of a surface at some levels.

    Attributes:
        levels: For each level asked for, its curves; the one with the lowest triangle number comes first.
        tangled: Edges with more than two triangles, as vertex pairs, shape (n, 2): curves end there.
    """

    levels: tuple[tuple[Contour, ...], ...]
    tangled: Ints

    def __repr__(self) -> str:
        return f"Contours({sum(map(len, self.levels))} curves at {len(self.levels)} levels)"


def contours(
    points: npt.ArrayLike, triangles: npt.ArrayLike, values: npt.ArrayLike, levels: npt.ArrayLike
) -> Contours:
    """All curves on a surface along which a value given at its vertices takes each of some levels.

    Args:
        points: Vertices [m], shape (vertices, 3).
        triangles: Vertex numbers, shape (triangles, 3); any part of a surface.
        values: One number a vertex, linear over each triangle, shape (vertices,).
        levels: In any order, shape (levels,).

    Raises:
        MeshError: A number is not finite, or a triangle has no such vertex.
    """
    places = np.ascontiguousarray(points, np.float64)
    corners = np.ascontiguousarray(triangles, np.int64).reshape(-1, 3)
    heights = np.ascontiguousarray(values, np.float64)
    asked = np.ascontiguousarray(levels, np.float64).reshape(-1)
    where = "contours of a surface"
    require_finite(places, "Point", where, MeshError)
    require_finite(heights, "The value at point", where, MeshError)
    require_finite(asked, "Level", where, MeshError)
    require_indices(corners, len(places), "Triangle corner", where, MeshError)
    if heights.shape != (len(places),):
        what = f"There are {heights.size} values for {len(places)} points"
        raise MeshError(what, where=where, remedy="Give one a point")

    neighbours, tangled = neighbouring_triangles(corners)
    order = np.argsort(asked, kind="stable")
    rising = asked[order]
    at_corners = heights[corners]
    lowest, highest = (  # the levels a triangle crosses, as a range
        np.searchsorted(rising, at_corners.min(axis=1), "right"),
        np.searchsorted(rising, at_corners.max(axis=1), "right"),
    )
    counts = np.where(_proper(corners), highest - lowest, 0)
    rows = np.concatenate([[0], np.cumsum(counts)])  # triangle by triangle
    crossed = np.repeat(np.arange(len(corners)), counts)
    level_of = np.arange(rows[-1]) - np.repeat(rows[:-1] - lowest, counts)
    by_level = np.argsort(level_of, kind="stable")  # within a level by triangle
    starts = np.searchsorted(level_of[by_level], np.arange(len(rising) + 1))

    room = 2 * int(rows[-1])
    below, above, between = (np.full(room, -1, np.int64) for _ in range(3))
    ends, shut = np.zeros(room, np.int64), np.zeros(room, np.bool_)
    curves = np.zeros(len(rising), np.int64)
    _trace(
        corners, heights, rising, neighbours, rows, lowest, crossed[by_level], starts,
        np.zeros(rows[-1], np.bool_), below, above, between, ends, shut, curves,
    )  # fmt: skip

    found: list[tuple[Contour, ...]] = [()] * len(rising)
    for rank, level in enumerate(order):
        first = begin = 2 * int(starts[rank])
        kept = []
        for curve in range(first, first + int(curves[rank])):
            span = slice(begin, int(ends[curve]))
            begin = int(ends[curve])
            low, high, closed = below[span], above[span], bool(shut[curve])
            share = (rising[rank] - heights[low]) / (heights[high] - heights[low])
            along = places[low] + share[:, None] * (places[high] - places[low])
            if np.ptp(along, axis=0).any():  # a peak that only touches the level is no curve
                triangles_between = between[span] if closed else between[span][:-1]
                kept.append(Contour(along, low, high, share, triangles_between, closed))
        found[level] = tuple(kept)
    return Contours(tuple(found), tangled)


def neighbouring_triangles(triangles: Ints) -> tuple[Ints, Ints]:
    """The triangle over each edge (triangles, 3), and the edges that more than two share (n, 2).

    Edge k runs from corner k to corner k + 1. Where no triangle or more than one lies over it, −1 stands.
    Triangles with a corner twice are passed over.
    """
    ends = np.sort(np.stack([triangles, np.roll(triangles, -1, axis=1)], axis=-1).reshape(-1, 2), axis=1)
    edges = ends[:, 0] * (int(ends.max(initial=0)) + 1) + ends[:, 1]
    sides = np.flatnonzero(np.repeat(_proper(triangles), 3))
    sides = sides[np.argsort(edges[sides], kind="stable")]  # those of one edge stand together
    firsts = np.flatnonzero(np.diff(edges[sides], prepend=-1))
    count = np.diff(firsts, append=len(sides))
    pairs = firsts[count == 2]
    one, other = sides[pairs], sides[pairs + 1]
    neighbours = np.full(len(ends), -1, np.int64)
    neighbours[one], neighbours[other] = other // 3, one // 3
    return neighbours.reshape(-1, 3), ends[sides[firsts[count > 2]]]


def _proper(triangles: Ints) -> npt.NDArray[np.bool_]:
    """Whether a triangle has three corners."""
    distinct: npt.NDArray[np.bool_] = (triangles != np.roll(triangles, -1, axis=1)).all(axis=1)
    return distinct


@njit(parallel=True, cache=True)  # type: ignore[untyped-decorator]
def _trace(
    corners: Ints,
    heights: Floats,
    levels: Floats,
    neighbours: Ints,
    rows: Ints,
    lowest: Ints,
    crossed: Ints,
    starts: Ints,
    done: npt.NDArray[np.bool_],
    below: Ints,
    above: Ints,
    between: Ints,
    ends: Ints,
    shut: npt.NDArray[np.bool_],
    curves: Ints,
) -> None:
    """Walk from triangle to triangle along each level; a level owns a stretch of every output of its own."""
    for level in prange(len(levels)):
        height = levels[level]
        write = 2 * starts[level]
        for entry in range(starts[level], starts[level + 1]):
            start = crossed[entry]
            if done[rows[start] + level - lowest[start]]:
                continue
            begin = write
            # forwards from the first triangle, until the curve closes or comes to a border
            entered = _crossed_edge(corners, heights, height, start, False)
            write = _put(corners, heights, start, entered, below, above, between, write)
            triangle, leave = start, _crossed_edge(corners, heights, height, start, True)
            closed = False
            while True:
                done[rows[triangle] + level - lowest[triangle]] = True
                between[write - 1] = triangle
                onward = neighbours[triangle, leave]
                if onward == start and neighbours[start, entered] == triangle:
                    closed = True
                    break
                write = _put(corners, heights, triangle, leave, below, above, between, write)
                if onward < 0 or done[rows[onward] + level - lowest[onward]]:
                    break
                leave = _other_edge(corners, heights, height, onward, triangle, leave)
                triangle = onward
            if not closed:
                # backwards from the first triangle; that part then goes in front
                middle = write
                triangle, leave = start, entered
                onward = neighbours[triangle, leave]
                while onward >= 0 and not done[rows[onward] + level - lowest[onward]]:
                    leave = _other_edge(corners, heights, height, onward, triangle, leave)
                    triangle = onward
                    done[rows[triangle] + level - lowest[triangle]] = True
                    write = _put(corners, heights, triangle, leave, below, above, between, write)
                    between[write - 1] = triangle
                    onward = neighbours[triangle, leave]
                _to_the_front(below, begin, middle, write)
                _to_the_front(above, begin, middle, write)
                _to_the_front(between, begin, middle, write)
            curve = 2 * starts[level] + curves[level]
            ends[curve], shut[curve] = write, closed
            curves[level] += 1


@njit(cache=True)  # type: ignore[untyped-decorator]
def _crossed_edge(corners: Ints, heights: Floats, height: float, triangle: int, rising: bool) -> int:
    """The edge at which a triangle's border comes up over a height, or goes down below it."""
    for k in range(3):
        here = heights[corners[triangle, k]] >= height
        there = heights[corners[triangle, (k + 1) % 3]] >= height
        if here != there and there == rising:
            return k
    return 0


@njit(cache=True)  # type: ignore[untyped-decorator]
def _other_edge(corners: Ints, heights: Floats, height: float, triangle: int, last: int, left: int) -> int:
    """The edge by which the curve leaves a triangle that it entered from ``last`` over that one's edge."""
    one, other = corners[last, left], corners[last, (left + 1) % 3]
    leave = _crossed_edge(corners, heights, height, triangle, True)
    here, there = corners[triangle, leave], corners[triangle, (leave + 1) % 3]
    if (here == one and there == other) or (here == other and there == one):
        leave = _crossed_edge(corners, heights, height, triangle, False)
    return int(leave)


@njit(cache=True)  # type: ignore[untyped-decorator]
def _put(
    corners: Ints,
    heights: Floats,
    triangle: int,
    edge: int,
    below: Ints,
    above: Ints,
    between: Ints,
    write: int,
) -> int:
    """Write a crossed edge down, its lower vertex first; where the next goes."""
    here, there = corners[triangle, edge], corners[triangle, (edge + 1) % 3]
    if heights[here] > heights[there]:
        here, there = there, here
    below[write], above[write], between[write] = here, there, -1
    return write + 1


@njit(cache=True)  # type: ignore[untyped-decorator]
def _to_the_front(row: Ints, begin: int, middle: int, end: int) -> None:
    """Put the part of a row from ``middle`` on, turned round, before the part from ``begin`` on."""
    ahead, back = row[begin:middle].copy(), row[middle:end].copy()
    row[begin : begin + len(back)] = back[::-1]
    row[begin + len(back) : end] = ahead
