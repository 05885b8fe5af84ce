"""Muscles that give way to the skin: where skin is pressed into a muscle, in a fold or by another limb.

Flesh is soft. Skin that meets skin, as in an armpit or a groin, is pressed in (`contact`, `fold_planes`), and
so is what lies beneath it. A vertex of the skin that is inside a muscle, and was not at bind, presses the
muscle's surface away on the side where the vertex lay at bind. The muscle is displaced by the smoothest field

    u(x) = Σ wᵢ φ(|x − qᵢ| / R) dᵢ,   wᵢ ≥ 0,

that takes each point qᵢ of its surface, the nearest to such a vertex, at least as far along dᵢ as the vertex
is deep: of all fields with the kernel φ that do so it has the least norm, so it is unique and goes with the
depths without jumps. A thin muscle goes aside as a whole, a thick one is dented. As the surface is not flat
something is left, so it is looked again, where all that was pressed counts: a vertex that is out by now says
how far the muscle may come back.
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

_PASSES = 8
"""How often it is looked what is still deep, at most."""
_ROUNDS = 60
"""Of the search for the field."""
_LEFT = 2e-4
"""Depth that is left where it is [m], for a human of usual size."""
_SPAN = 0.05
"""R [m], for a human of usual size."""
_FAR = 0.3
"""How far from a vertex the way out of a muscle is looked for [m], for a human of usual size."""
_SOFT = 0.002
"""By how much farther than the nearest place another one counts a third as much [m], for a human of usual
size."""
_AWAY = 3.0
"""How many times as far again the other side of a muscle counts as being."""
_SLACK = 1e-3
"""By how much more a point gives way against itself, so that two at one place can be told apart."""


class PressedMuscles:
    """Surfaces of muscles and the skin over them.

    Args:
        points: Of all muscles at bind [m], (points, 3), those of one muscle together.
        triangles: Theirs, outwards, (triangles, 3), those of one muscle together.
        muscle: Of each triangle, (triangles,), rising.
        skin, normals: The skin at bind [m] and unit, (vertices, 3).
        pressing: Vertices of the skin that press, (n,).
        scale: How many times as large as a human the body is.
    """

    def __init__(
        self,
        points: npt.ArrayLike,
        triangles: npt.ArrayLike,
        muscle: npt.ArrayLike,
        skin: Points,
        normals: Points,
        pressing: npt.ArrayLike,
        scale: float = 1.0,
    ) -> None:
        self._bind = np.asarray(points, np.float64)
        self._triangles = np.asarray(triangles, np.int64)
        self._muscle = np.asarray(muscle, np.int64)
        self._skin = np.asarray(skin, np.float64)
        self._pressing = np.asarray(pressing, np.int64)
        self._scale = scale
        count = int(self._muscle.max(initial=-1)) + 1
        self._firsts = np.searchsorted(self._muscle, np.arange(count + 1))
        self._used = np.zeros((count, 2), np.int64)
        for number in range(count):
            own = self._triangles[self._firsts[number] : self._firsts[number + 1]]
            self._used[number] = (own.min(), own.max() + 1) if len(own) else (0, 0)
        self._parts = allowed_parts(np.eye(count, dtype=np.bool_))
        self._tree = RayTree(points, triangles, muscle) if len(self._triangles) else None
        self._inside = np.zeros(0, np.int64)
        self._inside = np.sort(self._key(*self._found(self._bind, skin, normals, self._used)))

    def give_way(self, points: npt.NDArray[np.float32], skin: Points, normals: Points) -> Points:
        """Points of the muscles in a frame [m] as the skin leaves them room, (points, 3).

        Args:
            points: As they would be without it.
            skin, normals: The skin in this frame, (vertices, 3).
        """
        if self._tree is None:
            return points
        now, moved, asked = points.astype(np.float64), False, self._used
        held = np.zeros(0, np.int64)
        for _ in range(_PASSES):
            inside = self._key(*self._found(now, skin, normals, asked))
            # skin that was given room keeps it, or what gives way to others would come back over it
            held = np.union1d(held, inside)
            muscle, vertex = np.divmod(held, len(self._skin))
            at, way, deep = np.empty((len(held), 3)), np.empty((len(held), 3)), np.empty(len(held))
            meshes = self._bind, now, self._triangles, self._firsts
            _ways_out(*meshes, self._skin, skin, vertex, muscle, at, way, deep, _SOFT * self._scale)
            deep = np.where(np.isin(held, inside), deep, -deep) - _LEFT * self._scale
            if deep.max(initial=0.0) <= 0.0:
                break
            starts = np.searchsorted(muscle, np.arange(len(self._used) + 1))
            _press(starts, at, way, deep, self._used, _SPAN * self._scale, now)
            moved = True
            # the others are as they were
            asked = np.where(np.isin(np.arange(len(self._used)), muscle)[:, None], self._used, 0)
        return now.astype(np.float32) if moved else points

    def _found(self, points: Floats, skin: Points, normals: Points, asked: Ints) -> tuple[Ints, Ints]:
        """Vertices of the skin that press, and the muscles they are in and were not at bind.

        Muscles that are asked for have points from the first to the last, (muscles, 2).
        """
        assert self._tree is not None
        self._tree.fit(points)
        vertex, muscle = _candidates(points, asked, skin, self._pressing)
        if len(self._inside):
            key = self._key(vertex, muscle)
            place = np.minimum(np.searchsorted(self._inside, key), len(self._inside) - 1)
            new = self._inside[place] != key
            vertex, muscle = vertex[new], muscle[new]
        way = normals[vertex]
        far = np.full(len(vertex), _FAR * self._scale, np.float32)
        hits = self._tree.cast(skin[vertex], way, far, allowed=self._parts[muscle])
        corners = points[self._triangles[hits.triangles]]
        out = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        inside = (hits.triangles >= 0) & (np.einsum("ni,ni->n", out, way) > 0.0)
        return vertex[inside], muscle[inside]

    def _key(self, vertex: Ints, muscle: Ints) -> Ints:
        return np.asarray(muscle * len(self._skin) + vertex, np.int64)


@njit(cache=True)  # type: ignore[untyped-decorator]
def _candidates(points: Floats, used: Ints, skin: Points, pressing: Ints) -> tuple[Ints, Ints]:
    """Vertices and muscles in whose boxes they are."""
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
        x, y, z = np.float64(skin[v, 0]), np.float64(skin[v, 1]), np.float64(skin[v, 2])
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
    skin_at_bind: Floats,
    skin: Points,
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
        x, y, z = skin_at_bind[v, 0], skin_at_bind[v, 1], skin_at_bind[v, 2]
        best, side = np.inf, firsts[m]
        for t in range(firsts[m], firsts[m + 1]):
            _corners(bind, triangles, t, corners)
            far = closest_on_triangle(corners, 0, x, y, z)[0]
            if far < best:
                best, side = far, t
        sx, sy, sz = _normal(points, triangles, side)
        size = max(np.sqrt(sx * sx + sy * sy + sz * sz), 1e-300)
        x, y, z = np.float64(skin[v, 0]), np.float64(skin[v, 1]), np.float64(skin[v, 2])
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
        for _ in range(_ROUNDS):
            for i in range(count):
                have = 0.0
                for j in range(count):
                    have += together[i, j] * weights[j]
                weights[i] = max(weights[i] + (deep[first + i] - have) / together[i, i], 0.0)
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
