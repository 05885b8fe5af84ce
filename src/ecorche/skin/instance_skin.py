"""Sixteen instances of a skin at once: skinning and sliding over muscles, a vertex at a time.

`linear` and `sliding_groups` lay vertices of one character side by side, and vertices differ: in joints, in
muscles. Instances of one character do not: joints, weights and muscles of a vertex are the same in all lanes,
so nothing is gathered, nothing is computed for lanes that do not need it, and a vertex goes from bind to its
end in registers. The arithmetic is that of those kernels, number by number in the same order: an instance has
the same bits as the character alone.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit, prange

from ecorche.base.lane_transpose import copy_run, transpose
from ecorche.base.lanes import WIDTH, broadcast, load, multiply_add, square_root, store
from ecorche.muscles.packed_sections import (
    ALONG,
    BELLY,
    BULGE,
    COLUMNS,
    CURVES,
    HEIGHT,
    ORIGIN,
    OUT,
    OVER,
    SIDE,
    STATION_ALONG,
    STATION_COLUMNS,
    STATION_OUT,
    STATION_POINT,
    STATION_SIDE,
    STATION_T,
)
from ecorche.skin.layout import Points
from ecorche.skin.sliding_groups import (
    FOLLOW,
    LIMIT,
    MINUS_SIGMA,
    PUSH,
    REST,
    STAY_A,
    STAY_T,
)
from ecorche.skin.sliding_lanes import SHORTEST, THINNEST, height, least, most, saturated, soft_clamp

Ints = npt.NDArray[np.int32]

GAIN = OVER + 1
"""Column of a muscle in a frame, beside those of `packed_sections`: how much of it is shown, 0 to 1."""
TILE = 128
"""So many vertices are brought to their end together: what a tile writes and turns over stays near."""
ROW = 12
"""Numbers of a joint's ``I − M``: its upper three rows."""
ENTRY_WORK = 1.25
"""What a muscle below a vertex takes, where skinning the vertex takes one: measured in whole frames, where
memory is what skinning waits for; by itself it would be twice as much."""

_ZERO, _ONE = np.float32(0.0), np.float32(1.0)
_THINNEST, _SHORTEST = np.float32(THINNEST), np.float32(SHORTEST)


class InstanceSkin(NamedTuple):
    """A skin vertex by vertex, the same in all frames.

    Attributes:
        points: At bind [m], (vertices, 3).
        joint_starts, joints, weights: Influences of each vertex, see `SkinWeights`.
        muscle_starts, muscles: Muscles below each vertex, see `SlidingEntries`.
        stations: The first of the two stations of a bent muscle, counted through the stations that are read;
            −1 of a straight muscle, (entries,).
        shares, kept: See `SlidingEntries`.
        swept: Whether each muscle sweeps outwards (1) or sideways too (2), (muscles,).
        work: What the tiles before each take, and all, without and with muscles: see `tile_work`.
    """

    points: Points
    joint_starts: Ints
    joints: Ints
    weights: Points
    muscle_starts: Ints
    muscles: Ints
    stations: Ints
    shares: Points
    kept: Points
    swept: Points
    work: npt.NDArray[np.float64]


def tile_work(muscle_starts: Ints) -> npt.NDArray[np.float64]:
    """What the tiles before each take, without and with muscles, (2, tiles + 1).

    Muscles lie together: of a man's, one half of the vertices has three times as many below it as the other.
    """
    until = np.minimum(TILE * np.arange(-(-(len(muscle_starts) - 1) // TILE) + 1), len(muscle_starts) - 1)
    return np.stack([until, until + ENTRY_WORK * muscle_starts[until]])


@njit(inline="always")  # type: ignore[untyped-decorator]
def _product(rows: Points, row: int, x: Any, y: Any, z: Any) -> Any:
    """The product of vectors with those in three rows of lanes."""
    return multiply_add(x, load(rows, row), multiply_add(y, load(rows, row + 1), z * load(rows, row + 2)))


@njit(inline="always")  # type: ignore[untyped-decorator]
def _curve(table: Points, at: int, m: Any, p: Any) -> Any:
    below = multiply_add(m, multiply_add(m, load(table, at + 3), load(table, at + 2)), load(table, at + 1))
    above = multiply_add(p, multiply_add(p, load(table, at + 6), load(table, at + 5)), load(table, at + 4))
    return multiply_add(m, below, multiply_add(p, above, load(table, at)))


@njit(inline="always")  # type: ignore[untyped-decorator]
def _between(stations: Points, at: int, u: Any, w: Any) -> Any:
    """What lies between two stations, by how much they count."""
    return multiply_add(w, load(stations, at + STATION_COLUMNS), u * load(stations, at))


@njit(inline="always")  # type: ignore[untyped-decorator]
def _slid(skin: InstanceSkin, entry: int, table: Points, stations: Points, x: Any, y: Any, z: Any) -> Any:
    """How far a muscle pushes a vertex inwards, and along which direction."""
    zero = broadcast(_ZERO)
    muscle = np.int64(skin.muscles[entry])
    row, at = COLUMNS * muscle, STATION_COLUMNS * np.int64(skin.stations[entry])
    if at >= 0:
        u, w = broadcast(skin.shares[entry, 0]), broadcast(skin.shares[entry, 1])
        x = x - _between(stations, at + STATION_POINT, u, w)
        y = y - _between(stations, at + STATION_POINT + 1, u, w)
        z = z - _between(stations, at + STATION_POINT + 2, u, w)
        along_x = _between(stations, at + STATION_ALONG, u, w)
        along_y = _between(stations, at + STATION_ALONG + 1, u, w)
        along_z = _between(stations, at + STATION_ALONG + 2, u, w)
        slid = multiply_add(x, along_x, multiply_add(y, along_y, z * along_z))
        t = multiply_add(slid, load(table, row + OVER), _between(stations, at + STATION_T, u, w))
        out_x = _between(stations, at + STATION_OUT, u, w)
        out_y = _between(stations, at + STATION_OUT + 1, u, w)
        out_z = _between(stations, at + STATION_OUT + 2, u, w)
        side_x = _between(stations, at + STATION_SIDE, u, w)
        side_y = _between(stations, at + STATION_SIDE + 1, u, w)
        side_z = _between(stations, at + STATION_SIDE + 2, u, w)
        long_out = multiply_add(out_x, out_x, multiply_add(out_y, out_y, out_z * out_z))
        long_side = multiply_add(side_x, side_x, multiply_add(side_y, side_y, side_z * side_z))
        short_out = square_root(most(long_out, broadcast(_SHORTEST)))
        short_side = square_root(most(long_side, broadcast(_SHORTEST)))
        over = _ONE / (short_out * short_side)
        lengthen = over * short_side
        v = multiply_add(x, out_x, multiply_add(y, out_y, z * out_z)) * lengthen
        a = multiply_add(x, side_x, multiply_add(y, side_y, z * side_z)) * (over * short_out)
    else:
        x = x - load(table, row + ORIGIN)
        y = y - load(table, row + ORIGIN + 1)
        z = z - load(table, row + ORIGIN + 2)
        t = _product(table, row + ALONG, x, y, z)
        v = _product(table, row + OUT, x, y, z)
        a = _product(table, row + SIDE, x, y, z)
        out_x, out_y, out_z = load(table, row + OUT), load(table, row + OUT + 1), load(table, row + OUT + 2)
        lengthen = broadcast(_ONE)
    follow = broadcast(skin.kept[entry, FOLLOW])
    t = multiply_add(t, follow, broadcast(skin.kept[entry, STAY_T]))
    d = soft_clamp(t) - load(table, row + BELLY)
    m, p = least(d, zero), most(d, zero)
    thickness = most(_curve(table, row + CURVES, m, p), broadcast(_THINNEST))
    if skin.swept[muscle] > 0.5:
        v = v - _curve(table, row + CURVES + 7, m, p)
    if skin.swept[muscle] > 1.5:
        a = a - _curve(table, row + CURVES + 14, m, p)
    a = multiply_add(a, follow, broadcast(skin.kept[entry, STAY_A])) * load(table, row + BULGE)
    half_axis = thickness * load(table, row + HEIGHT)
    v, a = v * follow, a / thickness
    apart = multiply_add(half_axis * height(a), broadcast(skin.kept[entry, MINUS_SIGMA]), v)
    off = (apart - skin.kept[entry, REST]) * skin.kept[entry, LIMIT]
    push = skin.kept[entry, PUSH] * lengthen * load(table, row + GAIN)
    return saturated(off) * push, out_x, out_y, out_z


@njit(inline="always")  # type: ignore[untyped-decorator]
def _skinned(skin: InstanceSkin, vertex: int, minus: Points, x: Any, y: Any, z: Any) -> Any:
    sum_x, sum_y, sum_z = broadcast(_ZERO), broadcast(_ZERO), broadcast(_ZERO)
    for entry in range(skin.joint_starts[vertex], skin.joint_starts[vertex + 1]):
        m, w = ROW * np.int64(skin.joints[entry]), broadcast(skin.weights[entry])
        moved = multiply_add(load(minus, m + 1), y, multiply_add(load(minus, m + 2), z, load(minus, m + 3)))
        sum_x = multiply_add(w, multiply_add(load(minus, m), x, moved), sum_x)
        moved = multiply_add(load(minus, m + 5), y, multiply_add(load(minus, m + 6), z, load(minus, m + 7)))
        sum_y = multiply_add(w, multiply_add(load(minus, m + 4), x, moved), sum_y)
        moved = multiply_add(load(minus, m + 9), y, multiply_add(load(minus, m + 10), z, load(minus, m + 11)))
        sum_z = multiply_add(w, multiply_add(load(minus, m + 8), x, moved), sum_z)
    return x - sum_x, y - sum_y, z - sum_z


@njit(parallel=True, cache=True)  # type: ignore[untyped-decorator]
def skin_instances(
    skin: InstanceSkin,
    minus: Points,
    table: Points,
    stations: Points,
    shown: npt.NDArray[np.bool_],
    at: Points,
    deltas: Points,
    out: Points,
    parts: int,
) -> None:
    """Sixteen instances, skinned and moved by their muscles.

    Args:
        skin: The skin.
        minus: ``I − M`` of joints and muscle joints, (joints, ROW, 16).
        table, stations: Muscles and stations in the columns of `packed_sections`, (muscles, COLUMNS, 16) and
            (stations, STATION_COLUMNS, 16).
        shown: Whether any instance shows each muscle, (muscles,); none where there are no muscles.
        at: Where to write positions [m] for normals, (3 vertices, 16); no rows where nobody asks.
        deltas: Where to write how far muscles move each vertex, (3 vertices, 16); no rows where nobody asks.
        out: Where to write positions instance by instance, (instances up to 16, 3 vertices).
        parts: How many threads share the work.
    """
    work = skin.work[1 if len(shown) > 0 else 0]
    for part in prange(parts):
        # tiles one after another, and no thread with more work than another
        begin = np.searchsorted(work, work[-1] * part / parts)
        end = np.searchsorted(work, work[-1] * (part + 1) / parts)
        tile_rows, turned = np.empty((3 * TILE, WIDTH), np.float32), np.empty((WIDTH, 3 * TILE), np.float32)
        for tile in range(begin, end):
            first, last = TILE * tile, min(TILE * tile + TILE, len(skin.points))
            for vertex in range(first, last):
                x, y, z = (
                    broadcast(skin.points[vertex, 0]),
                    broadcast(skin.points[vertex, 1]),
                    broadcast(skin.points[vertex, 2]),
                )
                x, y, z = _skinned(skin, vertex, minus, x, y, z)
                if len(shown) > 0 and skin.muscle_starts[vertex] < skin.muscle_starts[vertex + 1]:
                    sum_x, sum_y, sum_z = broadcast(_ZERO), broadcast(_ZERO), broadcast(_ZERO)
                    for entry in range(skin.muscle_starts[vertex], skin.muscle_starts[vertex + 1]):
                        if shown[skin.muscles[entry]]:
                            push, out_x, out_y, out_z = _slid(skin, entry, table, stations, x, y, z)
                            sum_x = multiply_add(push, out_x, sum_x)
                            sum_y = multiply_add(push, out_y, sum_y)
                            sum_z = multiply_add(push, out_z, sum_z)
                    if len(deltas) > 0:
                        store(deltas, 3 * vertex, (x - sum_x) - x)
                        store(deltas, 3 * vertex + 1, (y - sum_y) - y)
                        store(deltas, 3 * vertex + 2, (z - sum_z) - z)
                    x, y, z = x - sum_x, y - sum_y, z - sum_z
                row = 3 * (vertex - first)
                store(tile_rows, row, x)
                store(tile_rows, row + 1, y)
                store(tile_rows, row + 2, z)
                if len(at) > 0:
                    store(at, 3 * vertex, x)
                    store(at, 3 * vertex + 1, y)
                    store(at, 3 * vertex + 2, z)
            write_instances(tile_rows, 3 * (last - first), turned, out, 3 * first)


@njit(inline="always")  # type: ignore[untyped-decorator]
def write_instances(rows: Points, count: int, turned: Points, out: Points, to: int) -> None:
    """Numbers in rows of lanes, ``count`` of (3 TILE, 16), instance by instance (up to 16, …) from ``to`` on.

    ``turned`` (16, 3 TILE) is memory for it.
    """
    for row in range(0, count, WIDTH):
        transpose(rows, WIDTH * row, WIDTH, turned, row, 3 * TILE, len(out))
    for lane in range(len(out)):
        copy_run(turned, 3 * TILE * lane, out, out.shape[1] * lane + to, count)


@njit(parallel=True, cache=True)  # type: ignore[untyped-decorator]
def wear_instances(
    worn: Ints,
    starts: Ints,
    vertices: Ints,
    parts: Points,
    deltas: Points,
    at: Points,
    out: Points,
) -> None:
    """What is worn takes over how far the skin below it was moved: see `delta_transfer`.

    Vertices that are worn are moved where `skin_instances` has written them.
    """
    for number in prange(len(worn)):
        point = np.int64(worn[number])
        x, y, z = broadcast(_ZERO), broadcast(_ZERO), broadcast(_ZERO)
        for entry in range(starts[point], starts[point + 1]):
            vertex, part = 3 * np.int64(vertices[entry]), broadcast(parts[entry])
            x = x - part * load(deltas, vertex)
            y = y - part * load(deltas, vertex + 1)
            z = z - part * load(deltas, vertex + 2)
        row = 3 * point
        store(at, row, load(at, row) - x)
        store(at, row + 1, load(at, row + 1) - y)
        store(at, row + 2, load(at, row + 2) - z)
        for lane in range(len(out)):
            for axis in range(3):
                out[lane, 3 * point + axis] = at[row + axis, lane]
