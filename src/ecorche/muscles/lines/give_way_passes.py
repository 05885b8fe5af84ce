"""The compiled passes by which muscles give way to bones: what is near, how deep, and the relaxation."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ecorche.base import threads  # noqa: F401  settings that come before the first parallel kernel
from ecorche.base.distance_grid import OUTSIDE
from ecorche.muscles.lines.give_way_bones import Flesh, Grids, in_bones, in_cells, in_grid
from ecorche.muscles.triples import cross, dot, plus, read, scaled

from numba import njit, prange  # isort: skip  after the settings

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int32]
Bools = npt.NDArray[np.bool_]

RINGS = 4
"""How many edges from what a bone presses on the rest is taken along."""
TOUCHED = 1
"""How many edges from there a bone may press too, once flesh has moved."""
ROUNDS, SOFT = 8, 5
"""Of relaxation; and those at first in which vertices go a part of their way only."""
PART = 0.5
"""That part."""
MENDED, UPRIGHT = 3, 0.3
"""How often triangles that would turn by more than this cosine are taken along as a whole."""


@njit(parallel=True, cache=True)  # type: ignore[untyped-decorator]
def find_near(
    flesh: Flesh,
    grids: Grids,
    meet: Bools,
    margin: float,
    points: Floats,
    frames: Floats,
    count: Ints,
    bones: Ints,
    depth: Floats,
) -> None:
    """What bones are near each chunk (of those that its muscle may meet), and how deep vertices lie, (V,)."""
    for c in prange(len(flesh.muscle)):
        first, last = flesh.chunks[c], flesh.chunks[c + 1]
        lx, ly, lz = np.inf, np.inf, np.inf
        hx, hy, hz = -np.inf, -np.inf, -np.inf
        for n in range(first, last):
            v = flesh.order[n]
            lx, ly, lz = min(lx, points[v, 0]), min(ly, points[v, 1]), min(lz, points[v, 2])
            hx, hy, hz = max(hx, points[v, 0]), max(hy, points[v, 1]), max(hz, points[v, 2])
        half = 0.5 * np.sqrt((hx - lx) ** 2 + (hy - ly) ** 2 + (hz - lz) ** 2)
        radius = half + margin
        found, touching = 0, 0
        for b in range(meet.shape[1]):
            if not meet[flesh.muscle[c], b]:
                continue
            x, y, z = in_cells(frames, b, 0.5 * (lx + hx), 0.5 * (ly + hy), 0.5 * (lz + hz))
            # no further outside of the grid, and of the bone in it, than the chunk is large
            ox = max(-x, x - grids.nodes[b, 0] + 1.0, 0.0)
            oy = max(-y, y - grids.nodes[b, 1] + 1.0, 0.0)
            oz = max(-z, z - grids.nodes[b, 2] + 1.0, 0.0)
            far = ox * ox + oy * oy + oz * oz
            if far > (radius / grids.spacing[b]) ** 2:
                continue
            deep = in_grid(grids, b, x, y, z)[0]
            if deep > OUTSIDE and deep + 1.75 * grids.spacing[b] + radius < 0.0:
                continue
            bones[c, found] = b
            if far <= (half / grids.spacing[b]) ** 2 and not (
                deep > OUTSIDE and deep + 1.75 * grids.spacing[b] + half < 0.0
            ):
                # those that vertices may be in now come first
                bones[c, found], bones[c, touching] = bones[c, touching], b
                touching += 1
            found += 1
        if touching:
            count[c] = touching
            for n in range(first, last):
                v = flesh.order[n]
                x, y, z = points[v, 0], points[v, 1], points[v, 2]
                depth[v] = in_bones(grids, frames, count, bones, c, x, y, z)[0]
        count[c] = found


@njit(parallel=True, cache=True)  # type: ignore[untyped-decorator]
def relax(
    flesh: Flesh,
    grids: Grids,
    frames: Floats,
    count: Ints,
    bones: Ints,
    depth: Floats,
    points: Floats,
    out: Floats,
) -> None:
    """Move what lies too deep, and what is around, by ``out`` [m], (V, 3), which comes in as zeros."""
    ring = np.full(len(points), -1, np.int32)
    for muscle in prange(len(flesh.starts) - 1):
        m = np.int64(muscle)  # a parallel loop counts without signs: what it calls would be compiled twice
        a, b = flesh.starts[m], flesh.starts[m + 1]
        taken = np.empty(b - a, np.int32)
        size = 0
        for v in range(a, b):
            if depth[v] > flesh.allowed[v] and flesh.place[v] == v and not flesh.held[v]:
                taken[size], ring[v] = v, 0
                size += 1
        done = 0
        while done < size:
            v = taken[done]
            done += 1
            if ring[v] < RINGS:
                for entry in range(flesh.near_starts[v], flesh.near_starts[v + 1]):
                    w = flesh.near[entry]
                    if ring[w] < 0 and not flesh.held[w]:
                        taken[size], ring[w] = w, ring[v] + 1
                        size += 1
        if not size:
            continue
        # in an order that does not depend on where bones press, else what is left of errors would jump
        taken = np.sort(taken[:size])
        for turn in range(ROUNDS):
            part = PART if turn < SOFT else 1.0
            for n in range(size):
                v = taken[n] if turn % 2 == 0 else taken[size - 1 - n]
                _relax_one(flesh, grids, frames, count, bones, ring[v] <= TOUCHED, part, v, points, out)
        around = _around(flesh, m, ring)
        for _ in range(MENDED):
            _mend(flesh, around, points, out)
        for v in range(a, b):
            w = flesh.place[v]
            if w != v:
                out[v, 0], out[v, 1], out[v, 2] = out[w, 0], out[w, 1], out[w, 2]


@njit(inline="always")  # type: ignore[untyped-decorator]
def _relax_one(
    flesh: Flesh,
    grids: Grids,
    frames: Floats,
    count: Ints,
    bones: Ints,
    touched: bool,
    part: float,
    v: int,
    points: Floats,
    out: Floats,
) -> None:
    """One vertex goes where its neighbours take it, and a part of the way out of bones."""
    x, y, z = 0.0, 0.0, 0.0
    for entry in range(flesh.near_starts[v], flesh.near_starts[v + 1]):
        w, times = flesh.near[entry], flesh.counts[entry]
        x, y, z = x + times * out[w, 0], y + times * out[w, 1], z + times * out[w, 2]
    share = flesh.share[v]
    x, y, z = share * x, share * y, share * z
    if touched:
        deep, gx, gy, gz = in_bones(
            grids,
            frames,
            count,
            bones,
            flesh.chunk[v],
            points[v, 0] + x,
            points[v, 1] + y,
            points[v, 2] + z,
        )
        over = deep - flesh.allowed[v]
        if over > 0.0:
            # where it is not sure by which side to leave a bone, a vertex waits at first for those around it
            size = np.sqrt(gx * gx + gy * gy + gz * gz)
            over *= part / max(size, 1.0 if part < 1.0 else 1e-300)
            x, y, z = x + over * gx, y + over * gy, z + over * gz
    out[v, 0], out[v, 1], out[v, 2] = x, y, z


@njit(cache=True)  # type: ignore[untyped-decorator]
def _around(flesh: Flesh, m: int, ring: Ints) -> Ints:
    """Triangles of muscle m with a corner that may move, (n,)."""
    begin, found = flesh.triangle_starts[m], 0
    chosen = np.empty(flesh.triangle_starts[m + 1] - begin, np.int32)
    for t in range(begin, begin + len(chosen)):
        i, j, k = flesh.triangles[t, 0], flesh.triangles[t, 1], flesh.triangles[t, 2]
        if ring[i] >= 0 or ring[j] >= 0 or ring[k] >= 0:
            chosen[found] = t
            found += 1
    return chosen[:found]


@njit(cache=True)  # type: ignore[untyped-decorator]
def _mend(flesh: Flesh, chosen: Ints, points: Floats, out: Floats) -> None:
    """A triangle that would be turned over goes where its corners go on average."""
    for t in chosen:
        i, j, k = flesh.triangles[t, 0], flesh.triangles[t, 1], flesh.triangles[t, 2]
        p, q, r = read(out, i), read(out, j), read(out, k)
        if p == q and q == r:
            continue
        a = read(points, i)
        b, c = plus(read(points, j), -1.0, a), plus(read(points, k), -1.0, a)
        before = cross(b, c)
        after = cross(plus(plus(b, 1.0, q), -1.0, p), plus(plus(c, 1.0, r), -1.0, p))
        along = dot(before, after)
        if along >= 0.0 and along * along >= UPRIGHT * UPRIGHT * dot(before, before) * dot(after, after):
            continue
        mean = scaled(1.0 / 3.0, plus(plus(p, 1.0, q), 1.0, r))
        for v in (i, j, k):
            if not flesh.held[v]:
                out[v, 0], out[v, 1], out[v, 2] = mean[0], mean[1], mean[2]
