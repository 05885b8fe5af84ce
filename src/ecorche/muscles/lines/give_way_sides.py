"""Which side of a bone a muscle takes that the bone presses into: the one on which it lay at bind.

A bone that has passed a sheet by more than half would let it out behind. But the sheet knows where the bone
was: seen from a triangle with the normal n at bind in the direction d, and carried along by the triangle,
whose normal is n' now, it was at (n · d) n'. The mean of that over a connected patch of what is pressed, by
area and depth, is where the bone came from, and the patch as a whole leaves by the other side. What the bone
has passed wholly goes back through it. Where some vertex had to go too far for that, the bone is through,
and all of the patch comes out behind it. Where that is too far as well, or the mean tells nothing, every
vertex takes the side that is nearer.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit

from ecorche.muscles.lines.give_way_bones import Flesh, Grids, in_bones, way_through
from ecorche.muscles.triples import cross, dot, plus, read, unit

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int32]
Bools = npt.NDArray[np.bool_]

TELLS = 0.5
"""How long the mean must be to tell a side, of what it were if all triangles agreed."""


@njit(cache=True)  # type: ignore[untyped-decorator]
def find_sides(
    flesh: Flesh,
    grids: Grids,
    frames: Floats,
    beside: Bools,
    taken: Ints,
    ring: Ints,
    depth: Floats,
    presses: Ints,
    count: Ints,
    bones: Ints,
    m: int,
    points: Floats,
    patch: Ints,
    behind: Ints,
) -> Floats:
    """Where each patch of muscle m goes out of each bone: unit, or zero for the nearer way, (P, B, 3).

    Args:
        flesh, grids: Muscles, and bones.
        frames: From the world into cells of each bone's grid, (B, 3, 4).
        beside: Which bones muscles lay at or are held by, on whatever side, (M, B).
        taken: Vertices of the muscle that may move, (n,).
        ring: How many edges each is from one that lies too deep, −1 of those that stay, (V,).
        depth, presses: How deep vertices lie [m], and in which bone, (V,).
        count, bones: Near each chunk, see `Near`.
        m: The muscle.
        points: Vertices [m], (V, 3).
        patch: Of each vertex that may move, found here, (V,).
        behind: The bone that has passed each vertex wholly, −1 for none, found here, (V,).
    """
    patches = _patches(flesh, taken, ring, patch)
    sides = np.zeros((patches, len(frames), 3))
    whole = np.zeros((patches, len(frames)))
    for t in range(flesh.triangle_starts[m], flesh.triangle_starts[m + 1]):
        deepest, over, at = 0.0, 0.0, -1
        for corner in range(3):
            v = flesh.triangles[t, corner]
            much = depth[v] - flesh.allowed[v]
            if ring[v] == 0 and much > 0.0:
                over += much
                if much > deepest:
                    deepest, at = much, v
        if at < 0 or beside[m, presses[at]]:
            continue
        i, j, k = flesh.triangles[t, 0], flesh.triangles[t, 1], flesh.triangles[t, 2]
        normal, now = unit(_across(flesh.bind, i, j, k)), _across(points, i, j, k)
        came = dot(normal, _towards(grids.marks, presses[at], read(flesh.bind, at)))
        p, b = patch[at], presses[at]
        for axis in range(3):
            sides[p, b, axis] -= over * came * now[axis]
        whole[p, b] += over * abs(came) * np.sqrt(dot(now, now))
    for p in range(patches):
        for b in range(len(frames)):
            size = np.sqrt(dot(sides[p, b], sides[p, b]))
            told = size > TELLS * whole[p, b]
            for axis in range(3):
                sides[p, b, axis] = sides[p, b, axis] / size if told else 0.0
    far = np.zeros((patches, len(frames)), np.bool_)
    for often in range(2):
        _find_far(flesh, grids, frames, taken, ring, presses, count, bones, m, points, patch, sides, far)
        for p in range(patches):
            for b in range(len(frames)):
                if far[p, b]:
                    far[p, b] = False
                    for axis in range(3):
                        sides[p, b, axis] *= -1.0 if often == 0 else 0.0
    told_of = np.zeros(patches, np.bool_)
    for p in range(patches):
        for b in range(len(frames)):
            told_of[p] |= sides[p, b, 0] != 0.0 or sides[p, b, 1] != 0.0 or sides[p, b, 2] != 0.0
    for v in taken:
        p = patch[v]
        if presses[v] >= 0 or not told_of[p]:
            continue
        for b in range(len(frames)):
            to = sides[p, b, 0], sides[p, b, 1], sides[p, b, 2]
            if dot(to, to) > 0.0:
                way = way_through(grids, frames, b, read(points, v), to, flesh.allowed[v], flesh.reach[m])
                if way > 0.0:
                    behind[v] = b
    return sides


@njit(cache=True)  # type: ignore[untyped-decorator]
def _find_far(
    flesh: Flesh,
    grids: Grids,
    frames: Floats,
    taken: Ints,
    ring: Ints,
    presses: Ints,
    count: Ints,
    bones: Ints,
    m: int,
    points: Floats,
    patch: Ints,
    sides: Floats,
    far: Bools,
) -> None:
    """Whether a vertex of each patch had to go further than the muscle reaches to its side, (P, B)."""
    for v in taken:
        if ring[v] != 0:
            continue
        b, place = presses[v], read(points, v)
        p = patch[v]
        to = sides[p, b, 0], sides[p, b, 1], sides[p, b, 2]
        _, gx, gy, gz, _ = in_bones(grids, frames, count, bones, flesh.chunk[v], place[0], place[1], place[2])
        if dot((gx, gy, gz), to) < 0.0:
            way = way_through(grids, frames, b, place, to, flesh.allowed[v], flesh.reach[m])
            if way < 0.0:
                far[patch[v], b] = True


@njit(cache=True)  # type: ignore[untyped-decorator]
def _patches(flesh: Flesh, taken: Ints, ring: Ints, patch: Ints) -> int:
    """Number connected patches of what may move; how many there are."""
    waiting = np.empty(len(taken), np.int32)
    found = 0
    for start in taken:
        if patch[start] >= 0:
            continue
        patch[start], waiting[0], size = found, start, 1
        while size:
            size -= 1
            v = waiting[size]
            for entry in range(flesh.near_starts[v], flesh.near_starts[v + 1]):
                w = flesh.near[entry]
                if ring[w] >= 0 and patch[w] < 0:
                    patch[w], waiting[size] = found, w
                    size += 1
        found += 1
    return found


@njit(inline="always")  # type: ignore[untyped-decorator]
def _across(places: Floats, i: int, j: int, k: int) -> tuple[float, float, float]:
    a = read(places, i)
    found: tuple[float, float, float] = cross(plus(read(places, j), -1.0, a), plus(read(places, k), -1.0, a))
    return found


@njit(inline="always")  # type: ignore[untyped-decorator]
def _towards(marks: Floats, b: int, place: tuple[float, float, float]) -> tuple[float, float, float]:
    """The direction from a place to the nearest mark of a bone, at bind, unit."""
    best, nearest = np.inf, (0.0, 0.0, 0.0)
    for k in range(marks.shape[1]):
        to = plus((marks[b, k, 0], marks[b, k, 1], marks[b, k, 2]), -1.0, place)
        far = dot(to, to)
        if far < best:
            best, nearest = far, to
    found: tuple[float, float, float] = unit(nearest)
    return found
