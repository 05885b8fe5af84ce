"""Surfaces of muscles that something presses into, displaced by the smoothest field that makes room for it.

Places that press, of the skin (`skin.pressed_muscles`) or of other muscles (`muscles_apart`), are inside a
muscle where they were not at bind. The muscle's surface goes away on the side where the place lay at bind, by
the field

    u(x) = Σ wᵢ φ(|x − qᵢ| / R) dᵢ,   0 ≤ wᵢ ≤ twice the most that is asked,

that takes each point qᵢ of the surface, the nearest to such a place, at least as far along dᵢ as is asked: of
all fields with the kernel φ that do so it has the least norm, so it is unique and goes with the depths
without jumps. A thin muscle goes aside as a whole, a thick one is dented. Where it is pressed from two sides
at once and nothing can do what both ask, the bound keeps it in its place.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit, prange

import ecorche.base.threads  # noqa: F401  settings that must precede the first parallel kernel
from ecorche.base.closest_point import closest_on_triangle
from ecorche.base.ray_tree import RayTree, allowed_parts

Floats = npt.NDArray[np.float64]
Points = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

_ROUNDS = 60
"""Of the search for the field."""
_SPAN = 0.05
"""R [m], for a human of usual size."""
_FAR = 0.3
"""How far from a place the way out of a muscle is looked for [m], for a human of usual size."""
_SOFT = 0.002
"""By how much farther than the nearest place another one counts a third as much [m], for a human of usual
size."""
_AWAY = 3.0
"""How many times as far again the other side of a muscle counts as being."""
_SLACK = 1e-3
"""By how much more a point gives way against itself, so that two at one place can be told apart."""
_MOST = 2.0
"""How many times the most that is asked of a muscle one place may press at most."""


class PressedSurfaces:
    """Surfaces of muscles.

    Args:
        points: Of all muscles at bind [m], (points, 3), those of one muscle together.
        triangles: Theirs, outwards, (triangles, 3), those of one muscle together.
        muscle: Of each triangle, (triangles,), rising.
        scale: How many times as large as a human the body is.

    Attributes:
        bind: The points at bind [m], (points, 3).
        triangles: As given.
        used: First point of each muscle and the one after its last, (muscles, 2).
        scale: As given.
    """

    def __init__(
        self, points: npt.ArrayLike, triangles: npt.ArrayLike, muscle: npt.ArrayLike, scale: float = 1.0
    ) -> None:
        self.bind = np.asarray(points, np.float64)
        self.triangles = np.asarray(triangles, np.int64)
        self.scale = scale
        of = np.asarray(muscle, np.int64)
        count = int(of.max(initial=-1)) + 1
        self._firsts = np.searchsorted(of, np.arange(count + 1))
        self.used = np.zeros((count, 2), np.int64)
        for number in range(count):
            own = self.triangles[self._firsts[number] : self._firsts[number + 1]]
            self.used[number] = (own.min(), own.max() + 1) if len(own) else (0, 0)
        self._parts = allowed_parts(np.eye(count, dtype=np.bool_))
        self._tree = RayTree(points, triangles, muscle)

    def inside(
        self, now: Floats, places: Points, ways: Points, vertex: Ints, muscle: Ints
    ) -> tuple[Ints, Ints]:
        """Those pairs of a vertex and a muscle, (n,), of which the vertex is inside the muscle.

        Args:
            now: Points of the muscles [m], (points, 3).
            places, ways: Where all vertices are [m], and a direction of each to look out in, (vertices, 3).
            vertex, muscle: The pairs, (n,).
        """
        self._tree.fit(now)
        way = ways[vertex]
        far = np.full(len(vertex), _FAR * self.scale, np.float32)
        hits = self._tree.cast(places[vertex], way, far, allowed=self._parts[muscle])
        corners = now[self.triangles[hits.triangles]]
        out = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        found = (hits.triangles >= 0) & (np.einsum("ni,ni->n", out, way) > 0.0)
        return vertex[found], muscle[found]

    def ways_out(
        self, now: Floats, at_bind: Floats, places: Points, vertex: Ints, muscle: Ints
    ) -> tuple[Floats, Floats, Floats]:
        """Where the surface of a muscle gives way to a vertex, whither, and how far it is from it.

        Args:
            now: Points of the muscles [m], (points, 3).
            at_bind, places: Where all vertices were at bind and are now [m], (vertices, 3).
            vertex, muscle: Pairs, (n,).

        Returns:
            Places on surfaces [m], (n, 3), directions, unit, (n, 3), and distances [m], (n,).
        """
        count = len(vertex)
        at, way, deep = np.empty((count, 3)), np.empty((count, 3)), np.empty(count)
        meshes = self.bind, now, self.triangles, self._firsts
        _ways_out(*meshes, at_bind, places, vertex, muscle, at, way, deep, _SOFT * self.scale)
        return at, way, deep

    def press(self, now: Floats, muscle: Ints, at: Floats, way: Floats, deep: Floats) -> None:
        """Displace the points [m], (points, 3), in their place.

        Args:
            now: The points.
            muscle: What is pressed, rising, (n,).
            at: Where, [m], (n, 3).
            way: Whither, unit, (n, 3).
            deep: How far at least [m], (n,); negative: how far back it may come.
        """
        starts = np.searchsorted(muscle, np.arange(len(self.used) + 1))
        _press(starts, at, way, deep, self.used, _SPAN * self.scale, now)


@njit(cache=True)  # type: ignore[untyped-decorator]
def candidates(points: Floats, used: Ints, places: Points, pressing: Ints) -> tuple[Ints, Ints]:
    """Vertices that press, and muscles in whose boxes they are, (n,), (n,).

    Args:
        points: Of the muscles [m], (points, 3).
        used: First and last of each muscle, (muscles, 2).
        places: Where vertices are [m], (vertices, 3).
        pressing: Those that press, (n,).
    """
    count = len(used)
    low, high = np.full((count, 3), np.inf), np.full((count, 3), -np.inf)
    for m in range(count):
        for p in range(used[m, 0], used[m, 1]):
            for axis in range(3):
                low[m, axis] = min(low[m, axis], points[p, axis])
                high[m, axis] = max(high[m, axis], points[p, axis])
    vertices, muscles = [], []
    for row in range(len(pressing)):
        v = pressing[row]
        x, y, z = np.float64(places[v, 0]), np.float64(places[v, 1]), np.float64(places[v, 2])
        for m in range(count):
            if low[m, 0] < x < high[m, 0] and low[m, 1] < y < high[m, 1] and low[m, 2] < z < high[m, 2]:
                vertices.append(v)
                muscles.append(np.int64(m))
    one, other = np.empty(len(vertices), np.int64), np.empty(len(vertices), np.int64)
    for row in range(len(vertices)):
        one[row], other[row] = vertices[row], muscles[row]
    return one, other


@njit(inline="always")  # type: ignore[untyped-decorator]
def _normal(points: Floats, triangles: Ints, t: int) -> tuple[float, float, float]:
    a, b, c = triangles[t, 0], triangles[t, 1], triangles[t, 2]
    ex, ey, ez = points[b, 0] - points[a, 0], points[b, 1] - points[a, 1], points[b, 2] - points[a, 2]
    fx, fy, fz = points[c, 0] - points[a, 0], points[c, 1] - points[a, 1], points[c, 2] - points[a, 2]
    return ey * fz - ez * fy, ez * fx - ex * fz, ex * fy - ey * fx


@njit(parallel=True, cache=True, error_model="numpy")  # type: ignore[untyped-decorator]
def _ways_out(
    bind: Floats,
    points: Floats,
    triangles: Ints,
    firsts: Ints,
    places_at_bind: Floats,
    places: Points,
    vertex: Ints,
    muscle: Ints,
    at: Floats,
    way: Floats,
    deep: Floats,
    soft: float,
) -> None:
    """How far each vertex is from its muscle's surface [m], where that gives way to it, and whither, unit.

    Both are means over what is hardly farther than the nearest, so that they do not jump from one side of a
    ridge to the other. What faces away from where the vertex lay at bind counts as farther.
    """
    for row in prange(len(vertex)):
        corners = np.empty((1, 3, 3))
        v, m = vertex[row], muscle[row]
        x, y, z = places_at_bind[v, 0], places_at_bind[v, 1], places_at_bind[v, 2]
        best, side = np.inf, firsts[m]
        for t in range(firsts[m], firsts[m + 1]):
            _corners(bind, triangles, t, corners)
            far = closest_on_triangle(corners, 0, x, y, z)[0]
            if far < best:
                best, side = far, t
        sx, sy, sz = _normal(points, triangles, side)
        size = max(np.sqrt(sx * sx + sy * sy + sz * sz), 1e-300)
        x, y, z = np.float64(places[v, 0]), np.float64(places[v, 1]), np.float64(places[v, 2])
        first, count = firsts[m], firsts[m + 1] - firsts[m]
        near, ratio, least = np.empty((count, 4)), np.empty(count), np.inf
        for n in range(count):
            nx, ny, nz = _normal(points, triangles, first + n)
            area = max(np.sqrt(nx * nx + ny * ny + nz * nz), 1e-300)
            away = max(-(nx * sx + ny * sy + nz * sz) / (area * size), 0.0)
            _corners(points, triangles, first + n, corners)
            square, near[n, 1], near[n, 2], near[n, 3] = closest_on_triangle(corners, 0, x, y, z)
            ratio[n] = 1.0 / (1.0 + _AWAY * away)
            near[n, 0] = np.sqrt(square) / ratio[n]
            least = min(least, near[n, 0])
        deep[row], total = 0.0, 0.0
        at[row], way[row] = 0.0, 0.0
        for n in range(count):
            if near[n, 0] < least + 8.0 * soft:
                nx, ny, nz = _normal(points, triangles, first + n)
                fades = np.exp((least - near[n, 0]) / soft)
                way[row, 0] -= fades * nx
                way[row, 1] -= fades * ny
                way[row, 2] -= fades * nz
                share = fades * np.sqrt(nx * nx + ny * ny + nz * nz)
                total += share
                deep[row] += share * ratio[n] * least
                for k in range(3):
                    for axis in range(3):
                        at[row, axis] += share * near[n, 1 + k] * points[triangles[first + n, k], axis]
        deep[row] /= max(total, 1e-300)
        at[row] /= max(total, 1e-300)
        way[row] /= max(np.sqrt(np.sum(way[row] ** 2)), 1e-300)


@njit(inline="always")  # type: ignore[untyped-decorator]
def _corners(points: Floats, triangles: Ints, t: int, corners: Floats) -> None:
    for k in range(3):
        for axis in range(3):
            corners[0, k, axis] = points[triangles[t, k], axis]


@njit(inline="always")  # type: ignore[untyped-decorator]
def _kernel(one: Floats, other: Floats, i: int, j: int, span: float) -> Any:
    """Wendland's function of two points."""
    x, y, z = one[i, 0] - other[j, 0], one[i, 1] - other[j, 1], one[i, 2] - other[j, 2]
    r = min(np.sqrt(x * x + y * y + z * z) / span, 1.0)
    near = (1.0 - r) * (1.0 - r)
    return near * near * (4.0 * r + 1.0)


@njit(parallel=True, cache=True, error_model="numpy")  # type: ignore[untyped-decorator]
def _press(
    starts: Ints, at: Floats, way: Floats, deep: Floats, used: Ints, span: float, points: Floats
) -> None:
    """Displace the points of the muscles that are pressed, rows from start to start of each."""
    for m in prange(len(used)):
        first, last = starts[m], starts[m + 1]
        count = last - first
        if count == 0:
            continue
        together = np.empty((count, count))
        for i in range(count):
            for j in range(count):
                a, b = first + i, first + j
                same = way[a, 0] * way[b, 0] + way[a, 1] * way[b, 1] + way[a, 2] * way[b, 2]
                together[i, j] = same * _kernel(at, at, a, b, span)
            together[i, i] = 1.0 + _SLACK
        weights = np.zeros(count)
        most = _MOST * max(deep[first:last].max(), 0.0)
        for _ in range(_ROUNDS):
            for i in range(count):
                have = 0.0
                for j in range(count):
                    have += together[i, j] * weights[j]
                step = (deep[first + i] - have) / together[i, i]
                weights[i] = min(max(weights[i] + step, 0.0), most)
        for p in range(used[m, 0], used[m, 1]):
            x, y, z = 0.0, 0.0, 0.0
            for j in range(count):
                if weights[j] > 0.0:
                    much = weights[j] * _kernel(points, at, p, first + j, span)
                    x += much * way[first + j, 0]
                    y += much * way[first + j, 1]
                    z += much * way[first + j, 2]
            points[p, 0] += x
            points[p, 1] += y
            points[p, 2] += z
