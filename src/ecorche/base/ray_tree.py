"""Rays against triangle meshes that move from frame to frame: a tree that is fitted anew, never built anew.

Sixteen triangles make a leaf and sixteen boxes a node, so one comparison of lanes asks all of them. Triangles
are put in order once, at bind (`bounding_boxes`): a muscle that bends and swells keeps its triangles near
their neighbours, so the same order serves every pose and only boxes are computed again. A ray first asks the
leaf it hit a frame before, which mostly gives the answer's length and lets it pass by all other boxes.

An answer depends on the ray and the triangles alone, not on the frame before or the number of threads: of
several triangles hit at the very same distance the one with the lowest number is reported.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit, prange

from ecorche.base.bounding_boxes import box_tree
from ecorche.base.lane_bits import bits_at_most, lowest_bit, smaller
from ecorche.base.lanes import (
    WIDTH,
    broadcast,
    gather_points,
    larger,
    load,
    multiply_add,
    rows_of_lanes,
    store,
    where_less,
)
from ecorche.errors import MeshError

Points = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int32]
Bits = npt.NDArray[np.uint64]

_NOWHERE = np.float32(1e20)
"""Where boxes of children that do not exist stand [m]; no ray gets there. Times the largest inverse of a
direction, 1e12, it is still a number: where it was none, rays almost along an axis got there."""
_SLACK = np.float32(1e-6)
"""How much longer a ray's way through a box is taken, as a share of it: rounding loses no hit."""
_ROUNDING = np.float32(2.5e-7)
"""By how much the side on which a ray passes an edge is unsure, as a share of what it is computed from."""
_CHUNK, _LEAVES = 256, 64
"""Rays, and leaves, a thread takes at once."""
# rows of lanes of a box, and of a triangle: its corners
_LOW, _HIGH, _BOX = 0, 3, 6
_TRIANGLE = 9


@dataclass(frozen=True, eq=False, repr=False)
class Hits:
    """What rays have hit.

    Attributes:
        distances: From the rays' origins [m], infinite where nothing was hit, (rays,).
        triangles: What was hit, -1 where nothing was, (rays,).
    """

    distances: Points
    triangles: Ints


def allowed_parts(allowed: npt.NDArray[np.bool_]) -> Bits:
    """Which parts each ray may hit (rays, parts) as `RayTree.cast` reads it, a bit a part, (rays, words)."""
    words = -(-allowed.shape[1] // 64)
    padded = np.zeros((len(allowed), 64 * words), np.bool_)
    padded[:, : allowed.shape[1]] = allowed
    return np.packbits(padded, axis=1, bitorder="little").view("<u8").astype(np.uint64)


class RayTree:
    """Triangles that move, ready to be asked what rays hit.

    Args:
        points: Of the mesh at bind [m], (vertices, 3).
        triangles: Its triangles, (triangles, 3); at least one.
        parts: The number of the part each triangle belongs to, such as its muscle, (triangles,); a ray that
            is allowed some parts passes through the others. None: all are one part.
    """

    def __init__(
        self, points: npt.ArrayLike, triangles: npt.ArrayLike, parts: npt.ArrayLike | None = None
    ) -> None:
        at_bind = np.ascontiguousarray(points, np.float32)
        self.triangles = np.ascontiguousarray(triangles, np.int32)
        if not len(self.triangles):
            raise MeshError("there are no triangles for rays to hit", remedy="Give at least one")
        self._parts = np.zeros(len(self.triangles), np.int32)
        if parts is not None:
            self._parts = np.ascontiguousarray(parts, np.int32)
        self._point_count = len(at_bind)
        corners = at_bind[self.triangles].astype(np.float64)
        ordered = box_tree(corners.min(axis=1), corners.max(axis=1), WIDTH)
        members = ordered.members.reshape(ordered.leaf_count, -1)
        # leaves are filled up with their own: a triangle that is hit twice is hit at the same distance
        self._members = members[:, np.arange(WIDTH) % members.shape[1]].astype(np.int32)
        # first corners of the sixteen, second, third
        self._vertices = np.ascontiguousarray(self.triangles[self._members].transpose(0, 2, 1))
        counts = [-(-ordered.leaf_count // WIDTH)]
        while counts[-1] > 1:
            counts.append(-(-counts[-1] // WIDTH))
        self._levels = np.cumsum([0, *counts]).astype(np.int32)
        self._all_leaves = np.arange(ordered.leaf_count, dtype=np.int32)
        self._corners = rows_of_lanes((ordered.leaf_count, _TRIANGLE))
        self._boxes = rows_of_lanes((int(self._levels[-1]), _BOX))
        self._boxes[:] = _NOWHERE
        self.fit(at_bind)

    def __repr__(self) -> str:
        return f"RayTree({len(self.triangles)} triangles)"

    @cached_property
    def _leaves_at(self) -> tuple[Ints, Ints]:
        """The leaves with a triangle at each vertex, in rows, (vertices + 1,), (entries,)."""
        corners = self._vertices.reshape(len(self._members), -1).astype(np.int64)
        pairs = np.unique(corners * len(self._members) + self._all_leaves[:, None])
        vertices, leaves = np.divmod(pairs, len(self._members))
        starts = np.searchsorted(vertices, np.arange(self._point_count + 1))
        return starts.astype(np.int32), leaves.astype(np.int32)

    @property
    def parts(self) -> Ints:
        """The number of the part each triangle belongs to, (triangles,)."""
        return self._parts

    @property
    def kept_bytes(self) -> int:
        """Memory the tree takes."""
        kept = self._members, self._vertices, self._corners, self._boxes, self._parts, self.triangles
        return sum(array.nbytes for array in kept)

    def fit(self, points: npt.ArrayLike, changed: npt.NDArray[np.bool_] | None = None) -> None:
        """Let the triangles be where the points [m], (vertices, 3), are now.

        Args:
            points: All of them.
            changed: Which are not where they were when it was fitted last, (vertices,); None: any may be.
        """
        now = np.ascontiguousarray(points, np.float32)
        if now.shape != (self._point_count, 3):
            raise MeshError(
                f"points of shape {now.shape} do not fit the mesh that rays are cast on",
                remedy=f"Give {self._point_count} points, as at bind",
            )
        leaves = self._all_leaves
        if changed is not None:
            leaves = _leaves_of(changed, *self._leaves_at, len(leaves))
        _fit_leaves(now, self._vertices, leaves, self._corners, self._boxes)
        _fit_nodes(self._levels, self._boxes)

    def cast(
        self,
        origins: Points,
        directions: Points,
        reach: Points,
        *,
        facing: bool = False,
        both_ways: bool = False,
        allowed: Bits | None = None,
        remembered: Ints | None = None,
    ) -> Hits:
        """What each ray hits nearest to its origin.

        Args:
            origins: Where rays begin [m], (rays, 3).
            directions: Unit, (rays, 3).
            reach: How far each goes [m], (rays,).
            facing: Only triangles whose front faces the ray; else both sides.
            both_ways: Rays also look back, as far; what they hit behind has a negative distance.
            allowed: The parts each ray may hit, packed by `allowed_parts`, (rays, words); None: all.
            remembered: The leaf each ray hit last, (rays,), -1 for none; written to. Give the same array
                frame after frame: it changes no answer, only the time it takes.
        """
        count = len(origins)
        if allowed is None:
            allowed = np.zeros((count, 0), np.uint64)
        if remembered is None:
            remembered = np.full(count, -1, np.int32)
        hits = Hits(np.empty(count, np.float32), np.empty(count, np.int32))
        rays = (np.ascontiguousarray(a, np.float32) for a in (origins, directions, reach))
        _cast(
            self._levels,
            self._boxes,
            self._corners,
            self._members,
            self._parts,
            *rays,
            facing,
            both_ways,
            np.ascontiguousarray(allowed, np.uint64),
            remembered,
            hits.distances,
            hits.triangles,
        )
        return hits


@njit(parallel=True, cache=True)  # type: ignore[untyped-decorator]
def _fit_leaves(points: Points, vertices: Ints, leaves: Ints, corners: Points, boxes: Points) -> None:
    """Corners of the triangles of some leaves, and the leaves' boxes."""
    for chunk in prange(-(-len(leaves) // _LEAVES)):
        lanes = np.empty((_BOX, WIDTH), np.float32)
        for row in range(_LEAVES * chunk, min(len(leaves), _LEAVES * (chunk + 1))):
            leaf = leaves[row]
            a = gather_points(points, vertices, 3 * leaf)
            b = gather_points(points, vertices, 3 * leaf + 1)
            c = gather_points(points, vertices, 3 * leaf + 2)
            for axis in range(3):
                first = _TRIANGLE * leaf + axis
                store(corners, first, a[axis])
                store(corners, first + 3, b[axis])
                store(corners, first + 6, c[axis])
                store(lanes, _LOW + axis, smaller(smaller(a[axis], b[axis]), c[axis]))
                store(lanes, _HIGH + axis, larger(larger(a[axis], b[axis]), c[axis]))
            node, lane = leaf // WIDTH, leaf % WIDTH
            for axis in range(3):
                low, high = lanes[_LOW + axis, 0], lanes[_HIGH + axis, 0]
                for place in range(1, WIDTH):
                    low, high = min(low, lanes[_LOW + axis, place]), max(high, lanes[_HIGH + axis, place])
                boxes[node, _LOW + axis, lane], boxes[node, _HIGH + axis, lane] = low, high


@njit(cache=True)  # type: ignore[untyped-decorator]
def _leaves_of(changed: npt.NDArray[np.bool_], starts: Ints, leaves: Ints, count: int) -> Ints:
    """Leaves with a triangle at a vertex that changed."""
    found, many, seen = np.empty(count, np.int32), 0, np.zeros(count, np.bool_)
    for vertex in range(len(changed)):
        if changed[vertex]:
            for entry in range(starts[vertex], starts[vertex + 1]):
                if not seen[leaves[entry]]:
                    seen[leaves[entry]], found[many] = True, leaves[entry]
                    many += 1
    return found[:many]


@njit(cache=True)  # type: ignore[untyped-decorator]
def _fit_nodes(levels: Ints, boxes: Points) -> None:
    """Boxes of all nodes above the leaves' own, from below upwards."""
    for level in range(1, len(levels) - 1):
        for child in range(levels[level - 1], levels[level]):
            number = child - levels[level - 1]
            node, lane = levels[level] + number // WIDTH, number % WIDTH
            for axis in range(3):
                low, high = np.float32(np.inf), np.float32(-np.inf)
                for place in range(WIDTH):
                    if boxes[child, _LOW + axis, place] < _NOWHERE:
                        low = min(low, boxes[child, _LOW + axis, place])
                        high = max(high, boxes[child, _HIGH + axis, place])
                boxes[node, _LOW + axis, lane], boxes[node, _HIGH + axis, lane] = low, high


@njit(forceinline=True)  # type: ignore[untyped-decorator]
def _size(a: Any) -> Any:
    return larger(a, -a)


@njit(inline="always")  # type: ignore[untyped-decorator]
def _boxes_met(boxes: Points, node: int, o: Any, inverse: Any, nearest: Any, farthest: Any) -> Any:
    """Bits of the children of a node whose boxes a ray meets between two distances."""
    row = _BOX * node
    ax, bx = (load(boxes, row) - o[0]) * inverse[0], (load(boxes, row + 3) - o[0]) * inverse[0]
    ay, by = (load(boxes, row + 1) - o[1]) * inverse[1], (load(boxes, row + 4) - o[1]) * inverse[1]
    az, bz = (load(boxes, row + 2) - o[2]) * inverse[2], (load(boxes, row + 5) - o[2]) * inverse[2]
    enters = larger(larger(smaller(ax, bx), smaller(ay, by)), smaller(az, bz))
    leaves = smaller(smaller(larger(ax, bx), larger(ay, by)), larger(az, bz))
    # of a ray that runs along a face of the box both are the same but for rounding
    leaves = multiply_add(broadcast(_SLACK), _size(leaves), leaves)
    return bits_at_most(larger(enters, nearest), smaller(leaves, farthest))


@njit(forceinline=True)  # type: ignore[untyped-decorator]
def _passed(a: Any, b: Any, d: Any) -> Any:
    """On which side of the edge from a to b, both as seen from the ray's origin, the ray passes.

    Twelve times the volume of the tetrahedron that edge and direction span. Seen from b to a it is the same
    number with the other sign, to the last bit: no ray slips between two triangles that share the edge.
    """
    ex, ey, ez = b[0] - a[0], b[1] - a[1], b[2] - a[2]
    sx, sy, sz = b[0] + a[0], b[1] + a[1], b[2] + a[2]
    return (ey * sz - ez * sy) * d[0] + (ez * sx - ex * sz) * d[1] + (ex * sy - ey * sx) * d[2]


@njit(inline="always")  # type: ignore[untyped-decorator]
def _distances(corners: Points, leaf: int, o: Any, d: Any, facing: bool, both_ways: bool) -> Any:
    """How far along a ray the triangles of a leaf are, infinite where it does not hit them."""
    row, never, nothing = _TRIANGLE * leaf, broadcast(np.float32(np.inf)), broadcast(np.float32(0.0))
    a = load(corners, row) - o[0], load(corners, row + 1) - o[1], load(corners, row + 2) - o[2]
    b = load(corners, row + 3) - o[0], load(corners, row + 4) - o[1], load(corners, row + 5) - o[2]
    c = load(corners, row + 6) - o[0], load(corners, row + 7) - o[1], load(corners, row + 8) - o[2]
    u, v, w = _passed(a, b, d), _passed(b, c, d), _passed(c, a, d)
    ex, ey, ez = b[0] - a[0], b[1] - a[1], b[2] - a[2]
    fx, fy, fz = c[0] - a[0], c[1] - a[1], c[2] - a[2]
    nx, ny, nz = ey * fz - ez * fy, ez * fx - ex * fz, ex * fy - ey * fx
    along = nx * d[0] + ny * d[1] + nz * d[2]
    t = (nx * a[0] + ny * a[1] + nz * a[2]) / along
    # it passes on the same side of all three edges, as far as rounding tells: at a corner all edges of a fan
    # may seem to be passed on one side. A triangle without area gives t that is no number
    size = _size(ex) + _size(ey) + _size(ez) + _size(fx) + _size(fy) + _size(fz)
    unsure = broadcast(_ROUNDING) * size * (_size(a[0]) + _size(a[1]) + _size(a[2]) + size)
    lowest, highest = smaller(smaller(u, v), w), larger(larger(u, v), w)
    t = where_less(lowest, -unsure, where_less(unsure, highest, never, t), t)
    if not both_ways:
        t = where_less(t, nothing, never, t)
    if facing:
        t = where_less(along, nothing, t, never)
    return t


@njit(parallel=True, cache=True, error_model="numpy")  # type: ignore[untyped-decorator]
def _cast(
    levels: Ints,
    boxes: Points,
    corners: Points,
    members: Ints,
    parts: Bits,
    origins: Points,
    directions: Points,
    reach: Points,
    facing: bool,
    both_ways: bool,
    allowed: Bits,
    remembered: Ints,
    distances: Points,
    hit: Ints,
) -> None:
    count, height = len(origins), len(levels) - 1
    for chunk in prange(-(-count // _CHUNK)):
        # nodes to look into: of a node's sixteen children one goes on at a time
        waiting = np.empty(WIDTH * height + 2, np.int32)
        level_of = np.empty(WIDTH * height + 2, np.int32)
        asked = np.empty((1, WIDTH), np.float32)
        for ray in range(_CHUNK * chunk, min(count, _CHUNK * (chunk + 1))):
            o = broadcast(origins[ray, 0]), broadcast(origins[ray, 1]), broadcast(origins[ray, 2])
            d = broadcast(directions[ray, 0]), broadcast(directions[ray, 1]), broadcast(directions[ray, 2])
            inverse = (
                broadcast(_inverse(directions[ray, 0])),
                broadcast(_inverse(directions[ray, 1])),
                broadcast(_inverse(directions[ray, 2])),
            )
            best, found, at, signed = reach[ray], np.int32(-1), np.int32(-1), np.float32(np.inf)
            waiting[0], level_of[0] = 0, height - 1
            left = 1
            asked_first = remembered[ray]
            if asked_first >= 0:
                waiting[1], level_of[1] = asked_first, -1
                left = 2
            while left > 0:
                left -= 1
                number, level = waiting[left], level_of[left]
                if level >= 0:
                    node = levels[level] + number
                    nearest = broadcast(-best if both_ways else np.float32(0.0))
                    bits = _boxes_met(boxes, node, o, inverse, nearest, broadcast(best))
                    while bits != 0:
                        child = WIDTH * number + lowest_bit(bits)
                        bits &= bits - 1
                        if level > 0 or child != asked_first:
                            waiting[left], level_of[left] = child, level - 1
                            left += 1
                    continue
                t = _distances(corners, number, o, d, facing, both_ways)
                bits = bits_at_most(_size(t), broadcast(best))
                if bits == 0:
                    continue
                store(asked, 0, t)
                while bits != 0:
                    lane = lowest_bit(bits)
                    bits &= bits - 1
                    triangle, distance = members[number, lane], abs(asked[0, lane])
                    nearer = distance < best or (distance == best and (found < 0 or triangle < found))
                    if nearer and _may(allowed, ray, parts[triangle]):
                        best, found, at, signed = distance, triangle, number, asked[0, lane]
            distances[ray] = signed
            hit[ray], remembered[ray] = found, at


@njit(inline="always")  # type: ignore[untyped-decorator]
def _may(allowed: Bits, ray: int, part: int) -> bool:
    if allowed.shape[1] == 0:
        return True
    return bool((allowed[ray, part >> 6] >> np.uint64(part & 63)) & np.uint64(1))


@njit(forceinline=True)  # type: ignore[untyped-decorator]
def _inverse(component: float) -> Any:
    """Of a direction's component; finite, so that a ray along a box's face gives numbers."""
    if abs(component) < np.float32(1e-12):
        return np.float32(1e12)
    return np.float32(1.0) / component
