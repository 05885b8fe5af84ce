"""The compiled passes by which muscles give way to bones: what is near, how deep, and the relaxation."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ecorche.base import threads  # noqa: F401  settings that come before the first parallel kernel
from ecorche.base.distance_grid import OUTSIDE, depth_in_grid
from ecorche.muscles.triples import cross, dot, plus, read, scaled

from numba import njit, prange  # isort: skip  after the settings

Floats = npt.NDArray[np.float64]
Singles = npt.NDArray[np.float32]
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


class Grids(NamedTuple):
    """Grids of bones, one after another.

    Attributes:
        values: Depths at the nodes [m], (n,).
        first: Where those of each bone begin, (B,).
        nodes: How many it has, (B, 3).
        low: The first of them [m], (B, 3).
        spacing: From node to node [m], (B,).
    """

    values: Singles
    first: npt.NDArray[np.int64]
    nodes: Ints
    low: Floats
    spacing: Floats


class Flesh(NamedTuple):
    """Vertices of all muscles and their neighbours; vertices in one position count as the first of them.

    Attributes:
        starts: Vertices of muscle m are ``starts[m]`` to ``starts[m + 1] − 1``, (M + 1,).
        place: The first vertex in its position, (V,).
        near_starts, near: Neighbours of each such vertex, (V + 1,), (E,).
        stays: How many neighbours that have not moved it counts as, (V,).
        held: Whether a bone holds it wholly, (V,).
        allowed: How deep it may lie in bones [m], (V,).
        order: Vertices by chunks, (V,).
        chunks: Where each chunk begins in ``order``, (C + 1,).
        muscle: Of each chunk, (C,).
        chunk: Of each vertex, (V,).
        triangle_starts, triangles: Of each muscle, (M + 1,), (T, 3), of first vertices in their positions.
    """

    starts: Ints
    place: Ints
    near_starts: Ints
    near: Ints
    stays: Floats
    held: Bools
    allowed: Floats
    order: Ints
    chunks: Ints
    muscle: Ints
    chunk: Ints
    triangle_starts: Ints
    triangles: Ints


class Near(NamedTuple):
    """Bones in a pose, and which of them are near what.

    Attributes:
        frames: From the world into cells of each bone's grid, (B, 3, 4).
        number: How many are near each chunk, (C,).
        bones: Which, (C, B).
    """

    frames: Floats
    number: Ints
    bones: Ints


@njit(inline="always")  # type: ignore[untyped-decorator]
def _in_cells(frames: Floats, b: int, x: float, y: float, z: float) -> tuple[float, float, float]:
    return (
        frames[b, 0, 0] * x + frames[b, 0, 1] * y + frames[b, 0, 2] * z + frames[b, 0, 3],
        frames[b, 1, 0] * x + frames[b, 1, 1] * y + frames[b, 1, 2] * z + frames[b, 1, 3],
        frames[b, 2, 0] * x + frames[b, 2, 1] * y + frames[b, 2, 2] * z + frames[b, 2, 3],
    )


@njit(inline="always")  # type: ignore[untyped-decorator]
def _in_grid(grids: Grids, b: int, x: float, y: float, z: float) -> tuple[float, float, float, float]:
    nx, ny, nz = grids.nodes[b, 0], grids.nodes[b, 1], grids.nodes[b, 2]
    return depth_in_grid(grids.values, grids.first[b], nx, ny, nz, x, y, z)  # type: ignore[no-any-return]


@njit(inline="always")  # type: ignore[untyped-decorator]
def _in_bones(
    grids: Grids, frames: Floats, count: Ints, bones: Ints, c: int, x: float, y: float, z: float
) -> tuple[float, float, float, float]:
    """How deep a place of chunk c lies in the deepest bone [m], 0 outside, and the way out of it, unit."""
    deepest, gx, gy, gz = 0.0, 0.0, 0.0, 0.0
    for entry in range(count[c]):
        b = bones[c, entry]
        px, py, pz = _in_cells(frames, b, x, y, z)
        depth, sx, sy, sz = _in_grid(grids, b, px, py, pz)
        if depth > deepest:
            deepest = depth
            # slopes come back by the transpose
            gx = -(frames[b, 0, 0] * sx + frames[b, 1, 0] * sy + frames[b, 2, 0] * sz)
            gy = -(frames[b, 0, 1] * sx + frames[b, 1, 1] * sy + frames[b, 2, 1] * sz)
            gz = -(frames[b, 0, 2] * sx + frames[b, 1, 2] * sy + frames[b, 2, 2] * sz)
    size = np.sqrt(gx * gx + gy * gy + gz * gz)
    if size > 0.0:
        gx, gy, gz = gx / size, gy / size, gz / size
    return deepest, gx, gy, gz


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
        radius = 0.5 * np.sqrt((hx - lx) ** 2 + (hy - ly) ** 2 + (hz - lz) ** 2) + margin
        found = 0
        for b in range(meet.shape[1]):
            if not meet[flesh.muscle[c], b]:
                continue
            x, y, z = _in_cells(frames, b, 0.5 * (lx + hx), 0.5 * (ly + hy), 0.5 * (lz + hz))
            # no further outside of the grid, and of the bone in it, than the chunk is large
            ox = max(-x, x - grids.nodes[b, 0] + 1.0, 0.0)
            oy = max(-y, y - grids.nodes[b, 1] + 1.0, 0.0)
            oz = max(-z, z - grids.nodes[b, 2] + 1.0, 0.0)
            far = ox * ox + oy * oy + oz * oz
            if far > (radius / grids.spacing[b]) ** 2:
                continue
            deep = _in_grid(grids, b, x, y, z)[0]
            if deep > OUTSIDE and deep + 1.75 * grids.spacing[b] + radius < 0.0:
                continue
            bones[c, found] = b
            found += 1
        count[c] = found
        if found:
            for n in range(first, last):
                v = flesh.order[n]
                x, y, z = points[v, 0], points[v, 1], points[v, 2]
                depth[v] = _in_bones(grids, frames, count, bones, c, x, y, z)[0]


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
    for m in prange(len(flesh.starts) - 1):
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
        # in an order that does not depend on where bones press, else what is left of errors would jump
        taken = np.sort(taken[:size])
        for turn in range(ROUNDS):
            part = PART if turn < SOFT else 1.0
            for n in range(size):
                v = taken[n] if turn % 2 == 0 else taken[size - 1 - n]
                _relax_one(flesh, grids, frames, count, bones, ring[v] <= TOUCHED, part, v, points, out)
        if size:
            for _ in range(MENDED):
                _mend(flesh, m, points, out)
        for v in range(a, b):
            w = flesh.place[v]
            if size and w != v:
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
        w = flesh.near[entry]
        x, y, z = x + out[w, 0], y + out[w, 1], z + out[w, 2]
    share = 1.0 / max(flesh.near_starts[v + 1] - flesh.near_starts[v] + flesh.stays[v], 1e-300)
    x, y, z = share * x, share * y, share * z
    if touched:
        px, py, pz = points[v, 0] + x, points[v, 1] + y, points[v, 2] + z
        deep, gx, gy, gz = _in_bones(grids, frames, count, bones, flesh.chunk[v], px, py, pz)
        over = part * max(deep - flesh.allowed[v], 0.0)
        x, y, z = x + over * gx, y + over * gy, z + over * gz
    out[v, 0], out[v, 1], out[v, 2] = x, y, z


@njit(cache=True)  # type: ignore[untyped-decorator]
def _mend(flesh: Flesh, m: int, points: Floats, out: Floats) -> None:
    """A triangle that would be turned over goes where its corners go on average."""
    for t in range(flesh.triangle_starts[m], flesh.triangle_starts[m + 1]):
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
