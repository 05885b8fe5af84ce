"""Triangles that mapping to lines has turned over are laid open again.

On the inner side of a sharp bend, and where a bone's hold ends within a few triangles, vertices of a muscle
pass each other, and triangles come to lie the wrong way round. Each triangle knows the normal n that the mean
of its corners' frames gives it. Its area seen along n shall be at least a share of what it was at bind:

    n · (q − p) × (r − p) ≥ `OPEN` · s · 2A,     s ≤ 1 by how much the whole muscle has become smaller.

Triangles of which that is not true are widened one after another, each by the shortest way of its corners,
and some rounds of that. What a bone holds stays. Nothing else moves, and where all triangles lie open not a
bit changes. The result is a continuous function of where vertices and frames are.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ecorche.base import threads  # noqa: F401  settings that come before the first parallel kernel
from ecorche.muscles.lines.flesh_surface import Surface
from ecorche.muscles.lines.turns import four_dot
from ecorche.muscles.triples import cross, dot, plus, read, scaled

from numba import njit, prange  # isort: skip  after the settings

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int32]

OPEN = 0.15
"""How much of its area at bind a triangle shall show along the normal of its frame."""
RINGS = 2
"""How many edges around those that do not, triangles are widened too when it comes to that."""
ROUNDS = 10
"""How often each is looked at."""


@njit(parallel=True, cache=True)  # type: ignore[untyped-decorator]
def unfold(surface: Surface, turned: Floats, points: Floats, out: Floats) -> int:
    """Move vertices by ``out`` [m], (V, 3), which comes in as zeros; how many triangles ask for it.

    Args:
        surface: Of all muscles.
        turned: How the frame of each vertex has turned since bind, unit quaternions (V, 4).
        points: Vertices [m], (V, 3).
        out: See above.
    """
    asking = np.zeros(len(surface.starts) - 1, np.int64)
    for muscle in prange(len(surface.starts) - 1):
        m = np.int64(muscle)  # a parallel loop counts without signs: what it calls would be compiled twice
        begin, count = surface.triangle_starts[m], surface.triangle_starts[m + 1] - surface.triangle_starts[m]
        shown = np.empty(count)
        seen, whole = 0.0, 0.0
        for t in range(count):
            shown[t] = _shown(surface, turned, points, begin + t)
            seen += shown[t]
            whole += surface.areas[begin + t]
        least = OPEN * min(seen / max(whole, 1e-300), 1.0)
        if not least > 0.0:  # mirrored, or nothing left of it
            continue
        for t in range(count):
            asking[m] += shown[t] < least * surface.areas[begin + t]
        if asking[m]:
            chosen = _around(surface, m, shown, least)
            _widen(surface, turned, points, chosen, least, out)
            for v in range(surface.starts[m], surface.starts[m + 1]):
                w = surface.place[v]
                if w != v:
                    out[v, 0], out[v, 1], out[v, 2] = out[w, 0], out[w, 1], out[w, 2]
    return int(asking.sum())


@njit(inline="always")  # type: ignore[untyped-decorator]
def _carried(surface: Surface, turned: Floats, t: int) -> tuple[float, float, float]:
    """The normal of triangle t at bind, turned as the mean of its corners' frames, unit."""
    i, j, k = surface.triangles[t, 0], surface.triangles[t, 1], surface.triangles[t, 2]
    p = turned[i, 0], turned[i, 1], turned[i, 2], turned[i, 3]
    q = turned[j, 0], turned[j, 1], turned[j, 2], turned[j, 3]
    r = turned[k, 0], turned[k, 1], turned[k, 2], turned[k, 3]
    s = 1.0 if four_dot(p, q) >= 0.0 else -1.0
    u = 1.0 if four_dot(p, r) >= 0.0 else -1.0
    axis = p[0] + s * q[0] + u * r[0], p[1] + s * q[1] + u * r[1], p[2] + s * q[2] + u * r[2]
    w = p[3] + s * q[3] + u * r[3]
    # by a quaternion of any length, over the square of that
    square, normal = dot(axis, axis), read(surface.normals, t)
    turn = plus(scaled(w * w - square, normal), 2.0 * w, cross(axis, normal))
    turn = plus(turn, 2.0 * dot(axis, normal), axis)
    found: tuple[float, float, float] = scaled(1.0 / max(square + w * w, 1e-300), turn)
    return found


@njit(inline="always")  # type: ignore[untyped-decorator]
def _shown(surface: Surface, turned: Floats, points: Floats, t: int) -> float:
    """Twice the area of a triangle seen along its carried normal [m²]."""
    i, j, k = surface.triangles[t, 0], surface.triangles[t, 1], surface.triangles[t, 2]
    a = read(points, i)
    now = cross(plus(read(points, j), -1.0, a), plus(read(points, k), -1.0, a))
    found: float = dot(_carried(surface, turned, t), now)
    return found


@njit(cache=True)  # type: ignore[untyped-decorator]
def _around(surface: Surface, m: int, shown: Floats, least: float) -> Ints:
    """Triangles of muscle m within `RINGS` of those that show too little, (n,), ascending."""
    begin, count, a = surface.triangle_starts[m], len(shown), surface.starts[m]
    ring = np.full(surface.starts[m + 1] - a, -1, np.int32)
    taken = np.empty(len(ring), np.int32)
    size = 0
    for t in range(count):
        if shown[t] < least * surface.areas[begin + t]:
            for corner in range(3):
                v = surface.triangles[begin + t, corner]
                if ring[v - a] < 0:
                    ring[v - a], taken[size] = 0, v
                    size += 1
    done = 0
    while done < size:
        v = taken[done]
        done += 1
        if ring[v - a] < RINGS:
            for entry in range(surface.near_starts[v], surface.near_starts[v + 1]):
                w = surface.near[entry]
                if ring[w - a] < 0:
                    ring[w - a], taken[size] = ring[v - a] + 1, w
                    size += 1
    chosen = np.empty(count, np.int32)
    found = 0
    for t in range(begin, begin + count):
        i, j, k = surface.triangles[t, 0], surface.triangles[t, 1], surface.triangles[t, 2]
        if ring[i - a] >= 0 or ring[j - a] >= 0 or ring[k - a] >= 0:
            chosen[found] = t
            found += 1
    return chosen[:found]


@njit(cache=True)  # type: ignore[untyped-decorator]
def _widen(surface: Surface, turned: Floats, points: Floats, chosen: Ints, least: float, out: Floats) -> None:
    """Rounds over chosen triangles, each as wide as it shall be, if it is not, by the shortest way."""
    normals = np.empty((len(chosen), 3))
    for c in range(len(chosen)):
        normal = _carried(surface, turned, chosen[c])
        normals[c, 0], normals[c, 1], normals[c, 2] = normal
    for turn in range(ROUNDS):
        for n in range(len(chosen)):
            c = n if turn % 2 == 0 else len(chosen) - 1 - n
            t = chosen[c]
            i, j, k = surface.triangles[t, 0], surface.triangles[t, 1], surface.triangles[t, 2]
            p = plus(read(points, i), 1.0, read(out, i))
            q = plus(read(points, j), 1.0, read(out, j))
            r = plus(read(points, k), 1.0, read(out, k))
            normal = read(normals, c)
            pq, pr, qr = plus(q, -1.0, p), plus(r, -1.0, p), plus(r, -1.0, q)
            missing = least * surface.areas[t] - dot(normal, cross(pq, pr))
            if missing <= 0.0:
                continue
            # how the area seen grows with each corner
            slopes = cross(normal, qr), cross(pr, normal), cross(normal, pq)
            square = 0.0
            for v, slope in zip((i, j, k), slopes):  # noqa: B905  compiled
                if not surface.held[v]:
                    square += dot(slope, slope)
            if not square > 0.0:
                continue
            for v, slope in zip((i, j, k), slopes):  # noqa: B905  compiled
                if not surface.held[v]:
                    for axis in range(3):
                        out[v, axis] += missing / square * slope[axis]
