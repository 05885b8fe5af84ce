"""The closest points of a triangle surface, exactly, also among those that face the right way.

Each query descends a tree of boxes, the nearer child first, and leaves out every box further away than
the best triangle so far; it begins with the triangle its predecessor found. Of triangles that are equally
near the one with the lowest number wins, so the answer depends neither on the tree nor on the threads.
(libigl and trimesh do the same with an optional native package; none there filters by normal.)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from numba import njit, prange

import ecorche.base.threads  # noqa: F401  settings that must precede the first parallel kernel
from ecorche.base.bounding_boxes import box_tree
from ecorche.base.rotations import normalise

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

QUERIES_AT_ONCE = 64
"""That one thread answers one after another: neighbours find the same part of the surface."""


@dataclass(frozen=True, eq=False)
class ClosestPoints:
    """Where each query landed.

    Attributes:
        triangles: Triangle number, -1 where none was allowed, shape (queries,).
        barycentric: Weights of the triangle's corners, shape (queries, 3).
        distances: Distance [m], infinite where none was allowed, shape (queries,).
    """

    triangles: Ints
    barycentric: Floats
    distances: Floats


class TriangleSurface:
    """A surface to ask for closest points.

    Points [m] (vertices, 3), triangles (triangles, 3), and where it shall count as smooth its
    unit normals (vertices, 3); without them each triangle faces one way.
    """

    def __init__(
        self, points: npt.ArrayLike, triangles: npt.ArrayLike, normals: npt.ArrayLike | None = None
    ) -> None:
        triangles = np.asarray(triangles, np.int64).reshape(-1, 3)
        self.corners: Floats = np.asarray(points, np.float64)[triangles]
        self.normals: Floats
        if normals is not None:
            self.normals = np.asarray(normals, np.float64)[triangles]
        else:
            flat = np.cross(self.corners[:, 1] - self.corners[:, 0], self.corners[:, 2] - self.corners[:, 0])
            self.normals = np.repeat(normalise(flat)[:, None], 3, axis=1)
        if len(triangles):
            self.tree = box_tree(self.corners.min(axis=1), self.corners.max(axis=1))
            self._in_order = self.corners[self.tree.members]  # what is near in space is near in memory

    def closest(
        self,
        queries: npt.ArrayLike,
        *,
        facing: npt.ArrayLike | None = None,
        least_cosine: float = 0.0,
        within: float = np.inf,
    ) -> ClosestPoints:
        """The closest point of the surface to each query [m] (queries, 3).

        Args:
            queries: Where to look from.
            facing: Unit normals (queries, 3): a triangle is allowed only if the surface normal at
                its closest point has at least ``least_cosine`` with it.
            least_cosine: See ``facing``.
            within: Only points nearer than this [m] are allowed.
        """
        asked = np.ascontiguousarray(queries, np.float64)
        directions = np.zeros((0, 3)) if facing is None else np.ascontiguousarray(facing, np.float64)
        found = ClosestPoints(
            np.full(len(asked), -1, np.int64), np.zeros((len(asked), 3)), np.full(len(asked), np.inf)
        )
        if len(asked) and len(self.corners):
            _closest(
                self.tree.boxes,
                self.tree.members,
                self._in_order,
                self.normals,
                asked,
                directions,
                float(least_cosine),
                float(within),
                # rounding may bring a triangle this much nearer than the box it lies in
                1e-14 * float(max(np.abs(self.tree.boxes[1]).max(), np.abs(asked).max())),
                found.triangles,
                found.barycentric,
                found.distances,
            )
        return found


@njit(parallel=True, cache=True)  # type: ignore[untyped-decorator]
def _closest(
    boxes: Floats,
    members: Ints,
    corners: Floats,
    normals: Floats,
    queries: Floats,
    facing: Floats,
    least_cosine: float,
    within: float,
    slack: float,
    triangles: Ints,
    barycentric: Floats,
    distances: Floats,
) -> None:
    for batch in prange((len(queries) + QUERIES_AT_ONCE - 1) // QUERIES_AT_ONCE):
        waiting = np.empty(64, np.int64)
        gaps = np.empty(64)
        place = np.int64(-1)
        first = np.int64(batch) * QUERIES_AT_ONCE  # the outer loop's numbers are unsigned
        for step in range(QUERIES_AT_ONCE):
            q = first + step
            if q >= len(queries):
                break
            place, distances[q] = _search(
                boxes, members, corners, normals, queries, facing, least_cosine, within, slack,
                q, place, waiting, gaps, barycentric,
            )  # fmt: skip
            if place >= 0:
                triangles[q] = members[place]


@njit(cache=True)  # type: ignore[untyped-decorator]
def _search(
    boxes: Floats,
    members: Ints,
    corners: Floats,
    normals: Floats,
    queries: Floats,
    facing: Floats,
    least_cosine: float,
    within: float,
    slack: float,
    q: int,
    guess: int,
    waiting: Ints,
    gaps: Floats,
    barycentric: Floats,
) -> tuple[int, float]:
    """Place in the tree and distance of the triangle closest to query q; its weights go to the last array.

    ``guess`` is a place to look at first, or -1.
    """
    leaves = len(boxes) // 2
    leaf_size = len(members) // leaves
    x, y, z = queries[q, 0], queries[q, 1], queries[q, 2]
    best, best_place, best_member = within * within, -1, np.int64(-1)
    limit = (within + slack) ** 2
    waiting[0], gaps[0], depth = 1, 0.0, 1
    if guess >= 0:
        waiting[1], gaps[1], depth = -1 - guess, 0.0, 2
    while depth > 0:
        depth -= 1
        node = waiting[depth]
        if not gaps[depth] <= limit:
            continue
        if 0 < node < leaves:
            near, far = 2 * node, 2 * node + 1
            to_near, to_far = gap_to_box(boxes, near, x, y, z), gap_to_box(boxes, far, x, y, z)
            if to_far < to_near:
                near, far, to_near, to_far = far, near, to_far, to_near
            if to_far <= limit:
                waiting[depth], gaps[depth] = far, to_far
                depth += 1
            if to_near <= limit:
                waiting[depth], gaps[depth] = near, to_near
                depth += 1
            continue
        first, end = -1 - node, -node  # one place only
        if node > 0:
            first, end = (node - leaves) * leaf_size, (node - leaves + 1) * leaf_size
        for place in range(first, end):
            square, u, v, w = closest_on_triangle(corners, place, x, y, z)
            member = members[place]
            if not (square < best or (square == best and member < best_member)):
                continue
            if len(facing) and not _faces(normals, member, u, v, w, facing, q, least_cosine):
                continue
            best, best_place, best_member = square, place, member
            limit = (np.sqrt(square) + slack) ** 2
            barycentric[q, 0], barycentric[q, 1], barycentric[q, 2] = u, v, w
    return best_place, np.sqrt(best) if best_place >= 0 else np.inf


@njit(cache=True)  # type: ignore[untyped-decorator]
def _faces(
    normals: Floats, t: int, u: float, v: float, w: float, facing: Floats, q: int, least_cosine: float
) -> bool:
    """Whether the smooth normal of triangle t, at barycentric weights, faces as query q asks."""
    square, along = 0.0, 0.0
    for axis in range(3):
        n = u * normals[t, 0, axis] + v * normals[t, 1, axis] + w * normals[t, 2, axis]
        square += n * n
        along += n * facing[q, axis]
    return along >= least_cosine * np.sqrt(square) if square > 0.0 else least_cosine <= 0.0


@njit(cache=True)  # type: ignore[untyped-decorator]
def gap_to_box(boxes: Floats, node: int, x: float, y: float, z: float) -> float:
    """Squared distance to a node's box [m²]."""
    dx = max(boxes[node, 0, 0] - x, x - boxes[node, 1, 0], 0.0)
    dy = max(boxes[node, 0, 1] - y, y - boxes[node, 1, 1], 0.0)
    dz = max(boxes[node, 0, 2] - z, z - boxes[node, 1, 2], 0.0)
    square: float = dx * dx + dy * dy + dz * dz
    return square


@njit(cache=True)  # type: ignore[untyped-decorator]
def closest_on_triangle(
    corners: Floats, t: int, x: float, y: float, z: float
) -> tuple[float, float, float, float]:
    """Squared distance to a triangle [m²], and the barycentric weights of its closest point.

    The plane's answer where it falls inside, else the best of the three edges; a triangle
    without area is its edges.
    """
    ax, ay, az = corners[t, 0, 0] - x, corners[t, 0, 1] - y, corners[t, 0, 2] - z
    bx, by, bz = corners[t, 1, 0] - x, corners[t, 1, 1] - y, corners[t, 1, 2] - z
    cx, cy, cz = corners[t, 2, 0] - x, corners[t, 2, 1] - y, corners[t, 2, 2] - z
    ux, uy, uz = bx - ax, by - ay, bz - az
    vx, vy, vz = cx - ax, cy - ay, cz - az
    uu, uv, vv = ux * ux + uy * uy + uz * uz, ux * vx + uy * vy + uz * vz, vx * vx + vy * vy + vz * vz
    pu, pv = -(ax * ux + ay * uy + az * uz), -(ax * vx + ay * vy + az * vz)
    area = uu * vv - uv * uv
    b, c = vv * pu - uv * pv, uu * pv - uv * pu
    if area > 1e-14 * uu * vv and b >= 0.0 and c >= 0.0 and b + c <= area:
        b, c = b / area, c / area
        a = 1.0 - b - c
    else:
        a, b, c = 1.0, 0.0, 0.0
        ab, to_ab = _closest_on_edge(ax, ay, az, bx, by, bz)
        bc, to_bc = _closest_on_edge(bx, by, bz, cx, cy, cz)
        ca, to_ca = _closest_on_edge(cx, cy, cz, ax, ay, az)
        if to_ab <= to_bc and to_ab <= to_ca:
            a, b = 1.0 - ab, ab
        elif to_bc <= to_ca:
            a, b, c = 0.0, 1.0 - bc, bc
        else:
            a, c = ca, 1.0 - ca
    dx, dy, dz = a * ax + b * bx + c * cx, a * ay + b * by + c * cy, a * az + b * bz + c * cz
    return dx * dx + dy * dy + dz * dz, a, b, c


@njit(cache=True)  # type: ignore[untyped-decorator]
def _closest_on_edge(ax: float, ay: float, az: float, bx: float, by: float, bz: float) -> tuple[float, float]:
    """The share of b in the point of an edge a–b closest to the origin, and its squared distance [m²]."""
    ex, ey, ez = bx - ax, by - ay, bz - az
    square = ex * ex + ey * ey + ez * ez
    t = 0.0
    if square > 0.0:
        t = min(max(-(ax * ex + ay * ey + az * ez) / square, 0.0), 1.0)
    dx, dy, dz = ax + t * ex, ay + t * ey, az + t * ez
    return t, dx * dx + dy * dy + dz * dz
