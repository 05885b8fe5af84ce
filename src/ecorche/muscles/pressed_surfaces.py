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

from functools import cached_property
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
        self._ends = np.array([self._farthest(first, last) for first, last in self.used]).reshape(-1, 2)
        self._parts = allowed_parts(np.eye(count, dtype=np.bool_))
        self._tree = RayTree(points, triangles, muscle)

    def _farthest(self, first: int, last: int) -> tuple[int, int]:
        """The two points of a muscle that are farthest apart, about."""
        if first == last:
            return first, first
        own = self.bind[first:last]
        one = int(np.linalg.norm(own - own.mean(axis=0), axis=1).argmax())
        return first + one, first + int(np.linalg.norm(own - own[one], axis=1).argmax())

    def candidates(
        self, now: Floats, places: Points, pressing: Ints, asked: Ints | None = None
    ) -> tuple[Ints, Ints]:
        """Vertices, and muscles that they may be inside of, (n,), (n,).

        Args:
            now: Points of the muscles [m], (points, 3).
            places: Where all vertices are [m], (vertices, 3).
            pressing: Those that press, (n,).
            asked: ``used`` of the muscles that are asked for, empty ranges of the others; None: all.
        """
        found: tuple[Ints, Ints] = _candidates(
            now, self.used if asked is None else asked, self._ends, places, pressing
        )
        return found

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
        count, sides = len(vertex), np.empty(len(vertex), np.int64)
        at, way, deep = np.empty((count, 3)), np.empty((count, 3)), np.empty(count)
        meshes = self.triangles, self._firsts
        _nearest(self.bind, *meshes, *self._balls_at_bind, at_bind, vertex, muscle, sides)
        which = np.unique(muscle)
        seen = self._normals(now, which), *self._balls(now, which)
        _ways_out(now, *meshes, *seen, sides, places, vertex, muscle, at, way, deep, _SOFT * self.scale)
        return at, way, deep

    @cached_property
    def _balls_at_bind(self) -> tuple[Floats, Floats]:
        return self._balls(self.bind, np.arange(len(self.used)))

    def _balls(self, points: Floats, which: Ints) -> tuple[Floats, Floats]:
        """Middles [m], (triangles, 3), and radii [m], (triangles,), of balls round triangles of muscles."""
        count = len(self.triangles)
        middles, radii = np.empty((count, 3)), np.empty(count)
        _find_balls(points, self.triangles, self._firsts, which, middles, radii)
        return middles, radii

    def _normals(self, points: Floats, which: Ints) -> Floats:
        """Normals of the triangles of muscles, as long as twice their area [m²], and that, (triangles, 4)."""
        normals = np.empty((len(self.triangles), 4))
        _find_normals(points, self.triangles, self._firsts, which, normals)
        return normals

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
def _candidates(points: Floats, used: Ints, ends: Ints, places: Points, pressing: Ints) -> tuple[Ints, Ints]:
    """Vertices, and muscles in whose boxes they are and in the cylinder round the line between its ends."""
    count = len(used)
    low, high = np.full((count, 3), np.inf), np.full((count, 3), -np.inf)
    along, thick = np.zeros((count, 3)), np.zeros(count)
    for m in range(count):
        for axis in range(3):
            along[m, axis] = points[ends[m, 1], axis] - points[ends[m, 0], axis]
        along[m] /= max(np.sqrt(np.sum(along[m] ** 2)), 1e-300)
        for p in range(used[m, 0], used[m, 1]):
            thick[m] = max(thick[m], _square_from_line(points[p], points[ends[m, 0]], along[m]))
            for axis in range(3):
                low[m, axis] = min(low[m, axis], points[p, axis])
                high[m, axis] = max(high[m, axis], points[p, axis])
    vertices, muscles = [], []
    for row in range(len(pressing)):
        v = pressing[row]
        x, y, z = np.float64(places[v, 0]), np.float64(places[v, 1]), np.float64(places[v, 2])
        for m in range(count):
            if (
                low[m, 0] < x < high[m, 0]
                and low[m, 1] < y < high[m, 1]
                and low[m, 2] < z < high[m, 2]
                and _square_from_line(places[v], points[ends[m, 0]], along[m]) < thick[m]
            ):
                vertices.append(v)
                muscles.append(np.int64(m))
    one, other = np.empty(len(vertices), np.int64), np.empty(len(vertices), np.int64)
    for row in range(len(vertices)):
        one[row], other[row] = vertices[row], muscles[row]
    return one, other


@njit(forceinline=True)  # type: ignore[untyped-decorator]
def _square_from_line(place: Any, on: Any, along: Any) -> Any:
    """How far a place is from a line, squared [m²]."""
    x, y, z = place[0] - on[0], place[1] - on[1], place[2] - on[2]
    t = x * along[0] + y * along[1] + z * along[2]
    return x * x + y * y + z * z - t * t


@njit(inline="always")  # type: ignore[untyped-decorator]
def _normal(points: Floats, triangles: Ints, t: int) -> tuple[float, float, float]:
    a, b, c = triangles[t, 0], triangles[t, 1], triangles[t, 2]
    ex, ey, ez = points[b, 0] - points[a, 0], points[b, 1] - points[a, 1], points[b, 2] - points[a, 2]
    fx, fy, fz = points[c, 0] - points[a, 0], points[c, 1] - points[a, 1], points[c, 2] - points[a, 2]
    return ey * fz - ez * fy, ez * fx - ex * fz, ex * fy - ey * fx


@njit(parallel=True, cache=True)  # type: ignore[untyped-decorator]
def _find_balls(
    points: Floats, triangles: Ints, firsts: Ints, which: Ints, middles: Floats, radii: Floats
) -> None:
    """Balls round the triangles of some muscles, (triangles, 3), (triangles,) [m]."""
    for row in prange(len(which)):
        for t in range(firsts[which[row]], firsts[which[row] + 1]):
            a, b, c = triangles[t, 0], triangles[t, 1], triangles[t, 2]
            for axis in range(3):
                middles[t, axis] = (points[a, axis] + points[b, axis] + points[c, axis]) / 3.0
            radii[t] = 0.0
            for k in range(3):
                p = triangles[t, k]
                radii[t] = max(radii[t], _from_middle(middles, t, points[p, 0], points[p, 1], points[p, 2]))


@njit(parallel=True, cache=True)  # type: ignore[untyped-decorator]
def _find_normals(points: Floats, triangles: Ints, firsts: Ints, which: Ints, normals: Floats) -> None:
    for row in prange(len(which)):
        for t in range(firsts[which[row]], firsts[which[row] + 1]):
            x, y, z = _normal(points, triangles, t)
            normals[t, 0], normals[t, 1], normals[t, 2] = x, y, z
            normals[t, 3] = max(np.sqrt(x * x + y * y + z * z), 1e-300)


@njit(parallel=True, cache=True)  # type: ignore[untyped-decorator]
def _nearest(
    points: Floats,
    triangles: Ints,
    firsts: Ints,
    middles: Floats,
    radii: Floats,
    places: Floats,
    vertex: Ints,
    muscle: Ints,
    nearest: Ints,
) -> None:
    """The triangle of its muscle that is nearest to each vertex, (n,)."""
    for row in prange(len(vertex)):
        corners = np.empty((1, 3, 3))
        x, y, z = places[vertex[row], 0], places[vertex[row], 1], places[vertex[row], 2]
        first, last = firsts[muscle[row]], firsts[muscle[row] + 1]
        best, nearest[row] = np.inf, first
        for t in range(first, last):
            if max(_from_middle(middles, t, x, y, z) - radii[t], 0.0) ** 2 < best:
                _corners(points, triangles, t, corners)
                far = closest_on_triangle(corners, 0, x, y, z)[0]
                if far < best:
                    best, nearest[row] = far, t


@njit(inline="always")  # type: ignore[untyped-decorator]
def _from_middle(middles: Floats, t: int, x: float, y: float, z: float) -> Any:
    dx, dy, dz = x - middles[t, 0], y - middles[t, 1], z - middles[t, 2]
    return np.sqrt(dx * dx + dy * dy + dz * dz)


@njit(parallel=True, cache=True, error_model="numpy")  # type: ignore[untyped-decorator]
def _ways_out(
    points: Floats,
    triangles: Ints,
    firsts: Ints,
    normals: Floats,
    middles: Floats,
    radii: Floats,
    sides: Ints,
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
    ridge to the other. What faces away from the side where the vertex lay at bind counts as farther.
    """
    for row in prange(len(vertex)):
        corners = np.empty((1, 3, 3))
        v, m = vertex[row], muscle[row]
        side = sides[row]
        x, y, z = np.float64(places[v, 0]), np.float64(places[v, 1]), np.float64(places[v, 2])
        first, count = firsts[m], firsts[m + 1] - firsts[m]
        near, ratio, least = np.full((count, 4), np.inf), np.empty(count), np.inf
        for n in range(count):
            t = first + n
            facing = (
                normals[t, 0] * normals[side, 0]
                + normals[t, 1] * normals[side, 1]
                + normals[t, 2] * normals[side, 2]
            )
            away = max(-facing / (normals[t, 3] * normals[side, 3]), 0.0)
            ratio[n] = 1.0 / (1.0 + _AWAY * away)
            # what is too far to count needs no closer look
            far = (_from_middle(middles, t, x, y, z) - radii[t]) / ratio[n]
            if far < least + 8.0 * soft:
                _corners(points, triangles, t, corners)
                square, near[n, 1], near[n, 2], near[n, 3] = closest_on_triangle(corners, 0, x, y, z)
                near[n, 0] = np.sqrt(square) / ratio[n]
                least = min(least, near[n, 0])
        deep[row], total = 0.0, 0.0
        at[row], way[row] = 0.0, 0.0
        for n in range(count):
            if near[n, 0] < least + 8.0 * soft:
                fades = np.exp((least - near[n, 0]) / soft)
                for axis in range(3):
                    way[row, axis] -= fades * normals[first + n, axis]
                share = fades * normals[first + n, 3]
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
