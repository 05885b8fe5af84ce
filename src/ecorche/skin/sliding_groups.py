"""Eight vertices of a sliding skin at a time, over all their muscles: see `sliding` for what and why.

The same code learns at bind and displaces in a pose, so that nothing is left at bind, bit for bit.

A row, which is one muscle below one group of vertices, is a long chain of operations that wait for one
another. So it goes in short steps, each through all rows of some groups before the next: a processor works
on several rows at once where the steps are short, and fetches the points of several groups at once. Eight
vertices, because most muscles of a skin lie below few, and because what a row needs then stays in registers.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit, prange

from ecorche.base.lanes import EIGHT, multiply_add, scatter_points, square_root, store
from ecorche.base.lanes import broadcast_eight as broadcast
from ecorche.base.lanes import gather_eight_points as gather_points
from ecorche.base.lanes import load_eight as load
from ecorche.muscles.packed_sections import (
    ALONG,
    BELLY,
    BULGE,
    CURVES,
    HEIGHT,
    ORIGIN,
    OUT,
    OVER,
    SIDE,
    STATION_ALONG,
    STATION_OUT,
    STATION_POINT,
    STATION_SIDE,
    STATION_T,
    SWEPT,
)
from ecorche.skin.layout import Points
from ecorche.skin.sliding_lanes import SHORTEST, THINNEST, height, least, most, saturated, soft_clamp

_THINNEST, _SHORTEST = np.float32(THINNEST), np.float32(SHORTEST)
_ZERO, _ONE = np.float32(0.0), np.float32(1.0)

GROUPS_TOGETHER = 32
"""So many groups take a step together: what a step leaves to the next stays near the processor."""

# the lanes a row keeps: w² gain / Σ w times the saturated δ, one over it, L_fat, −σ, κ, and what κ leaves of
# the bind: t (1 − κ), a (1 − κ)
PUSH, LIMIT, REST, MINUS_SIGMA, FOLLOW, STAY_T, STAY_A, KEPT = 0, 1, 2, 3, 4, 5, 6, 7
# what the span of a row says: row of the muscle's bent line, or −1; its first and last station that matter,
# and where their shares begin
LINE, FIRST, LAST, SHARES, SPAN = 0, 1, 2, 3, 4
# the lanes that steps leave of a row, beside where its vertices came from: t, later the half-axis s_f T C_T;
# v and a; S_d and what it is short of one by
T, HALF_AXIS, V, A, OUT_X, OUT_Y, OUT_Z, LENGTHEN, LEFT = 0, 0, 1, 2, 3, 4, 5, 6, 7


class SlidingLayout(NamedTuple):
    """What displacing needs and no frame changes.

    Attributes:
        vertices, starts, muscles: See `MuscleGroups`.
        spans: Which stations matter to each row, in the columns above, (rows, SPAN).
        near: The stations' shares in the lanes' places, (stations, 8).
        rows: What the rows keep, in the lanes above, (rows, KEPT, 8).
        most_rows: How many rows take a step together, at most.
    """

    vertices: npt.NDArray[np.int32]
    starts: npt.NDArray[np.int64]
    muscles: npt.NDArray[np.int32]
    spans: npt.NDArray[np.int32]
    near: Points
    rows: Points
    most_rows: int


@njit(inline="always")  # type: ignore[untyped-decorator]
def _dot(table: Points, row: int, at: int, x: Any, y: Any, z: Any) -> Any:
    """The product of lanes of vectors with one vector of a row."""
    # number by number, here and below: a view of the row would be counted, which costs more than the product
    so_far = z * broadcast(table[row, at + 2])
    return multiply_add(x, broadcast(table[row, at]), multiply_add(y, broadcast(table[row, at + 1]), so_far))


@njit(inline="always")  # type: ignore[untyped-decorator]
def _curve(table: Points, row: int, at: int, m: Any, p: Any) -> Any:
    """One of the curves of `Sections.curves`, m below and p above the belly."""
    below = multiply_add(
        m,
        multiply_add(m, broadcast(table[row, at + 3]), broadcast(table[row, at + 2])),
        broadcast(table[row, at + 1]),
    )
    above = multiply_add(
        p,
        multiply_add(p, broadcast(table[row, at + 6]), broadcast(table[row, at + 5])),
        broadcast(table[row, at + 4]),
    )
    return multiply_add(m, below, multiply_add(p, above, broadcast(table[row, at])))


@njit(inline="always")  # type: ignore[untyped-decorator]
def _bent_place(
    lines: Points, line: int, first: int, last: int, near: Points, shares: int, x: Any, y: Any, z: Any
) -> Any:
    """`CentreLines.places` of eight points: t of the foot, how far they slid from it, v, a and S_d."""
    w = load(near, shares)
    foot_x = w * lines[line, first, STATION_POINT]
    foot_y = w * lines[line, first, STATION_POINT + 1]
    foot_z = w * lines[line, first, STATION_POINT + 2]
    along_x = w * lines[line, first, STATION_ALONG]
    along_y = w * lines[line, first, STATION_ALONG + 1]
    along_z = w * lines[line, first, STATION_ALONG + 2]
    out_x = w * lines[line, first, STATION_OUT]
    out_y = w * lines[line, first, STATION_OUT + 1]
    out_z = w * lines[line, first, STATION_OUT + 2]
    side_x = w * lines[line, first, STATION_SIDE]
    side_y = w * lines[line, first, STATION_SIDE + 1]
    side_z = w * lines[line, first, STATION_SIDE + 2]
    t = w * lines[line, first, STATION_T]
    for k in range(first + 1, last + 1):
        w = load(near, shares + k - first)
        foot_x = multiply_add(w, broadcast(lines[line, k, STATION_POINT]), foot_x)
        foot_y = multiply_add(w, broadcast(lines[line, k, STATION_POINT + 1]), foot_y)
        foot_z = multiply_add(w, broadcast(lines[line, k, STATION_POINT + 2]), foot_z)
        along_x = multiply_add(w, broadcast(lines[line, k, STATION_ALONG]), along_x)
        along_y = multiply_add(w, broadcast(lines[line, k, STATION_ALONG + 1]), along_y)
        along_z = multiply_add(w, broadcast(lines[line, k, STATION_ALONG + 2]), along_z)
        out_x = multiply_add(w, broadcast(lines[line, k, STATION_OUT]), out_x)
        out_y = multiply_add(w, broadcast(lines[line, k, STATION_OUT + 1]), out_y)
        out_z = multiply_add(w, broadcast(lines[line, k, STATION_OUT + 2]), out_z)
        side_x = multiply_add(w, broadcast(lines[line, k, STATION_SIDE]), side_x)
        side_y = multiply_add(w, broadcast(lines[line, k, STATION_SIDE + 1]), side_y)
        side_z = multiply_add(w, broadcast(lines[line, k, STATION_SIDE + 2]), side_z)
        t = multiply_add(w, broadcast(lines[line, k, STATION_T]), t)
    x, y, z = x - foot_x, y - foot_y, z - foot_z
    slid = multiply_add(x, along_x, multiply_add(y, along_y, z * along_z))
    # blended directions are shorter than one, and never zero: between opposite ones a lane stays a number
    tiny = broadcast(_SHORTEST)
    long_out = multiply_add(out_x, out_x, multiply_add(out_y, out_y, out_z * out_z))
    long_side = multiply_add(side_x, side_x, multiply_add(side_y, side_y, side_z * side_z))
    short_out, short_side = square_root(most(long_out, tiny)), square_root(most(long_side, tiny))
    # one division for both: nothing is slower
    over = _ONE / (short_out * short_side)
    lengthen = over * short_side
    v = multiply_add(x, out_x, multiply_add(y, out_y, z * out_z)) * lengthen
    a = multiply_add(x, side_x, multiply_add(y, side_y, z * side_z)) * (over * short_out)
    return t, slid, v, a, out_x, out_y, out_z, lengthen


@njit(inline="always")  # type: ignore[untyped-decorator]
def _find_places(
    groups: Any,
    vertices: npt.NDArray[np.int32],
    starts: npt.NDArray[np.int64],
    muscles: npt.NDArray[np.int32],
    spans: npt.NDArray[np.int32],
    near: Points,
    table: Points,
    lines: Points,
    points: Points,
    left: Points,
    came: Points,
) -> None:
    """Where the vertices are in the sections through them, before the sweep."""
    begin, end = groups
    for group in range(begin, end):
        x, y, z = gather_points(points, vertices, group)
        store(came, 3 * (group - begin), x)
        store(came, 3 * (group - begin) + 1, y)
        store(came, 3 * (group - begin) + 2, z)
    for group in range(begin, end):
        x, y = load(came, 3 * (group - begin)), load(came, 3 * (group - begin) + 1)
        z = load(came, 3 * (group - begin) + 2)
        for row in range(starts[group], starts[group + 1]):
            muscle, at = muscles[row], LEFT * (row - starts[begin])
            if spans[row, LINE] >= 0:
                t, slid, v, a, out_x, out_y, out_z, lengthen = _bent_place(
                    lines,
                    spans[row, LINE],
                    spans[row, FIRST],
                    spans[row, LAST],
                    near,
                    spans[row, SHARES],
                    x,
                    y,
                    z,
                )
                t = multiply_add(slid, broadcast(table[muscle, OVER]), t)
            else:
                from_x = x - table[muscle, ORIGIN]
                from_y = y - table[muscle, ORIGIN + 1]
                from_z = z - table[muscle, ORIGIN + 2]
                t = _dot(table, muscle, ALONG, from_x, from_y, from_z)
                v = _dot(table, muscle, OUT, from_x, from_y, from_z)
                a = _dot(table, muscle, SIDE, from_x, from_y, from_z)
                out_x, out_y = broadcast(table[muscle, OUT]), broadcast(table[muscle, OUT + 1])
                out_z, lengthen = broadcast(table[muscle, OUT + 2]), broadcast(_ONE)
            store(left, at + T, t)
            store(left, at + V, v)
            store(left, at + A, a)
            store(left, at + OUT_X, out_x)
            store(left, at + OUT_Y, out_y)
            store(left, at + OUT_Z, out_z)
            store(left, at + LENGTHEN, lengthen)


@njit(inline="always")  # type: ignore[untyped-decorator]
def _find_thickness(
    groups: Any,
    starts: npt.NDArray[np.int64],
    muscles: npt.NDArray[np.int32],
    rows: Points,
    table: Points,
    left: Points,
) -> None:
    """How thick the muscles are there; v and a from the swept centre, by the share κ, a in half-widths."""
    begin, end = groups
    zero = broadcast(_ZERO)
    for row in range(starts[begin], starts[end]):
        muscle, kept, at = muscles[row], KEPT * row, LEFT * (row - starts[begin])
        follow = load(rows, kept + FOLLOW)
        t = multiply_add(load(left, at + T), follow, load(rows, kept + STAY_T))
        d = soft_clamp(t) - table[muscle, BELLY]
        m, p = least(d, zero), most(d, zero)
        thickness = most(_curve(table, muscle, CURVES, m, p), broadcast(_THINNEST))
        v, a = load(left, at + V), load(left, at + A)
        # most muscles sweep outwards only, and subtracting zero changes no bit
        if table[muscle, SWEPT] > 0.5:
            v = v - _curve(table, muscle, CURVES + 7, m, p)
        if table[muscle, SWEPT] > 1.5:
            a = a - _curve(table, muscle, CURVES + 14, m, p)
        a = multiply_add(a, follow, load(rows, kept + STAY_A)) * table[muscle, BULGE]
        store(left, at + HALF_AXIS, thickness * table[muscle, HEIGHT])
        store(left, at + V, v * follow)
        store(left, at + A, a / thickness)


@njit(inline="always")  # type: ignore[untyped-decorator]
def _push(
    groups: Any,
    vertices: npt.NDArray[np.int32],
    starts: npt.NDArray[np.int64],
    rows: Points,
    points: Points,
    learn: bool,
    left: Points,
    came: Points,
) -> None:
    """How far the muscles' surfaces have moved from the skin since bind, and the skin after them."""
    begin, end = groups
    for group in range(begin, end):
        sum_x, sum_y, sum_z = broadcast(_ZERO), broadcast(_ZERO), broadcast(_ZERO)
        for row in range(starts[group], starts[group + 1]):
            kept, at = KEPT * row, LEFT * (row - starts[begin])
            a, half_axis = load(left, at + A), load(left, at + HALF_AXIS)
            # v − σ b, and its difference from bind
            apart = multiply_add(half_axis * height(a), load(rows, kept + MINUS_SIGMA), load(left, at + V))
            if learn:
                store(rows, kept + REST, apart)
                store(rows, kept + LIMIT, half_axis)
            else:
                off = (apart - load(rows, kept + REST)) * load(rows, kept + LIMIT)
                minus = saturated(off) * (load(rows, kept + PUSH) * load(left, at + LENGTHEN))
                sum_x = multiply_add(minus, load(left, at + OUT_X), sum_x)
                sum_y = multiply_add(minus, load(left, at + OUT_Y), sum_y)
                sum_z = multiply_add(minus, load(left, at + OUT_Z), sum_z)
        if not learn:
            # subtracted, so that a coordinate that is minus zero keeps its sign at bind
            x, y = load(came, 3 * (group - begin)), load(came, 3 * (group - begin) + 1)
            z = load(came, 3 * (group - begin) + 2)
            scatter_points(points, vertices, group, x - sum_x, y - sum_y, z - sum_z)


@njit(inline="always")  # type: ignore[untyped-decorator]
def _slide(
    begin: int,
    vertices: npt.NDArray[np.int32],
    starts: npt.NDArray[np.int64],
    muscles: npt.NDArray[np.int32],
    spans: npt.NDArray[np.int32],
    near: Points,
    rows: Points,
    table: Points,
    lines: Points,
    points: Points,
    learn: bool,
    left: Points,
    came: Points,
) -> None:
    groups = begin, min(begin + GROUPS_TOGETHER, len(vertices))
    _find_places(groups, vertices, starts, muscles, spans, near, table, lines, points, left, came)
    _find_thickness(groups, starts, muscles, rows, table, left)
    _push(groups, vertices, starts, rows, points, learn, left, came)


@njit(cache=True)  # type: ignore[untyped-decorator]
def slide_alone(layout: SlidingLayout, table: Points, lines: Points, points: Points, learn: bool) -> None:
    """Displace all groups on this thread; or learn from the bind what the rows keep of it."""
    vertices, starts, muscles, spans, near, rows, most_rows = layout
    left = np.empty((most_rows * LEFT, EIGHT), np.float32)
    came = np.empty((3 * GROUPS_TOGETHER, EIGHT), np.float32)
    for begin in range(0, len(vertices), GROUPS_TOGETHER):
        _slide(begin, vertices, starts, muscles, spans, near, rows, table, lines, points, learn, left, came)


@njit(parallel=True, cache=True)  # type: ignore[untyped-decorator]
def slide_shared(
    layout: SlidingLayout, table: Points, lines: Points, points: Points, learn: bool, parts: int
) -> None:
    """The same on so many threads, which pays for large skins."""
    vertices, starts, muscles, spans, near, rows, most_rows = layout
    # some groups lie below one muscle, others below five: no thread gets more rows than another
    before = starts[::GROUPS_TOGETHER]
    for part in prange(parts):
        left = np.empty((most_rows * LEFT, EIGHT), np.float32)
        came = np.empty((3 * GROUPS_TOGETHER, EIGHT), np.float32)
        first = np.searchsorted(before, len(muscles) * part / parts)
        for some in range(first, np.searchsorted(before, len(muscles) * (part + 1) / parts)):
            begin = GROUPS_TOGETHER * some
            _slide(
                begin, vertices, starts, muscles, spans, near, rows, table, lines, points, learn, left, came
            )
