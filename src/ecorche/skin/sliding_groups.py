"""Sixteen vertices of a sliding skin at a time, over all their muscles: see `sliding` for what and why.

The same code learns at bind and displaces in a pose, so that nothing is left at bind, bit for bit.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit, prange

from ecorche.base.lanes import (
    broadcast,
    gather_points,
    load,
    multiply_add,
    square_root,
    store,
    where_less,
)
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
from ecorche.muscles.sections import ENDS, RIM
from ecorche.skin.layout import Points, write_group

BRIDGED = 0.4
"""Inwards δ saturates at this part of what it does outwards: taut skin and fat bridge a hollow."""
_LOWEST, _HIGHEST = np.float32(-ENDS), np.float32(1.0 + ENDS)
_FIRST, _LAST, _PARABOLA = np.float32(ENDS), np.float32(1.0 - ENDS), np.float32(0.25 / ENDS)
_BEYOND_RIM, _OVER_RIM, _ROOT_RIM = np.float32(3.0 * RIM), np.float32(0.25 / RIM), np.float32(np.sqrt(RIM))
_BRIDGED, _SOONER = np.float32(BRIDGED), np.float32(1.0 / BRIDGED)
_ZERO, _ONE, _THIRD = np.float32(0.0), np.float32(1.0), np.float32(1.0 / 3.0)

# the lanes a row keeps: w² gain / Σ w times the saturated δ, one over it, L_fat, σ, κ, and what κ leaves of
# the bind: t (1 − κ), a (1 − κ)
PUSH, LIMIT, REST, SIGMA, FOLLOW, STAY_T, STAY_A, KEPT = 0, 1, 2, 3, 4, 5, 6, 7


@njit(inline="always")  # type: ignore[untyped-decorator]
def _least(a: Any, b: Any) -> Any:
    return where_less(a, b, a, b)


@njit(inline="always")  # type: ignore[untyped-decorator]
def _most(a: Any, b: Any) -> Any:
    return where_less(b, a, a, b)


@njit(inline="always")  # type: ignore[untyped-decorator]
def _dot(table: Points, row: int, at: int, x: Any, y: Any, z: Any) -> Any:
    """The product of lanes of vectors with one vector of a row."""
    # number by number, here and below: a view of the row would be counted, which costs more than the product
    so_far = z * broadcast(table[row, at + 2])
    return multiply_add(x, broadcast(table[row, at]), multiply_add(y, broadcast(table[row, at + 1]), so_far))


@njit(inline="always")  # type: ignore[untyped-decorator]
def _soft_clamp(t: Any) -> Any:
    """`sections.soft_clamp`: t held within 0 … 1, with a parabola at either end."""
    t = _least(_most(t, broadcast(_LOWEST)), broadcast(_HIGHEST))
    before, after = _most(_FIRST - t, broadcast(_ZERO)), _most(t - _LAST, broadcast(_ZERO))
    return multiply_add(before * before - after * after, broadcast(_PARABOLA), t)


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
    lines: Points,
    line: int,
    over: Any,
    first: int,
    last: int,
    near: Points,
    at_first: int,
    x: Any,
    y: Any,
    z: Any,
) -> Any:
    """`CentreLines.places` of sixteen points: t, v and a before the sweep, how short they are, and S_d.

    Blended directions are shorter than one: v and S_d by the first number, a by the second.
    """
    w = load(near, at_first)
    foot_x = w * lines[line, first, STATION_POINT]
    foot_y = w * lines[line, first, STATION_POINT + 1]
    foot_z = w * lines[line, first, STATION_POINT + 2]
    along_x = w * lines[line, first, STATION_ALONG]
    along_y = w * lines[line, first, STATION_ALONG + 1]
    along_z = w * lines[line, first, STATION_ALONG + 2]
    t = w * lines[line, first, STATION_T]
    for k in range(first + 1, last + 1):
        w = load(near, at_first + k - first)
        foot_x = multiply_add(w, broadcast(lines[line, k, STATION_POINT]), foot_x)
        foot_y = multiply_add(w, broadcast(lines[line, k, STATION_POINT + 1]), foot_y)
        foot_z = multiply_add(w, broadcast(lines[line, k, STATION_POINT + 2]), foot_z)
        along_x = multiply_add(w, broadcast(lines[line, k, STATION_ALONG]), along_x)
        along_y = multiply_add(w, broadcast(lines[line, k, STATION_ALONG + 1]), along_y)
        along_z = multiply_add(w, broadcast(lines[line, k, STATION_ALONG + 2]), along_z)
        t = multiply_add(w, broadcast(lines[line, k, STATION_T]), t)
    x, y, z = x - foot_x, y - foot_y, z - foot_z
    slid = multiply_add(x, along_x, multiply_add(y, along_y, z * along_z))
    t = multiply_add(slid, broadcast(over), t)
    # a second time along the stations: thirteen sums at once would not stay in the processor's registers
    w = load(near, at_first)
    out_x = w * lines[line, first, STATION_OUT]
    out_y = w * lines[line, first, STATION_OUT + 1]
    out_z = w * lines[line, first, STATION_OUT + 2]
    side_x = w * lines[line, first, STATION_SIDE]
    side_y = w * lines[line, first, STATION_SIDE + 1]
    side_z = w * lines[line, first, STATION_SIDE + 2]
    for k in range(first + 1, last + 1):
        w = load(near, at_first + k - first)
        out_x = multiply_add(w, broadcast(lines[line, k, STATION_OUT]), out_x)
        out_y = multiply_add(w, broadcast(lines[line, k, STATION_OUT + 1]), out_y)
        out_z = multiply_add(w, broadcast(lines[line, k, STATION_OUT + 2]), out_z)
        side_x = multiply_add(w, broadcast(lines[line, k, STATION_SIDE]), side_x)
        side_y = multiply_add(w, broadcast(lines[line, k, STATION_SIDE + 1]), side_y)
        side_z = multiply_add(w, broadcast(lines[line, k, STATION_SIDE + 2]), side_z)
    # never zero: between opposite directions a lane must stay a number
    tiny = broadcast(np.float32(1e-6))
    long_out = multiply_add(out_x, out_x, multiply_add(out_y, out_y, out_z * out_z))
    long_side = multiply_add(side_x, side_x, multiply_add(side_y, side_y, side_z * side_z))
    v = multiply_add(x, out_x, multiply_add(y, out_y, z * out_z))
    a = multiply_add(x, side_x, multiply_add(y, side_y, z * side_z))
    short_out, short_side = square_root(_most(long_out, tiny)), square_root(_most(long_side, tiny))
    return t, v, a, short_out, short_side, out_x, out_y, out_z


@njit(inline="always")  # type: ignore[untyped-decorator]
def _slide(
    group: int,
    vertices: npt.NDArray[np.int32],
    starts: npt.NDArray[np.int64],
    muscles: npt.NDArray[np.int32],
    spans: npt.NDArray[np.int32],
    near: Points,
    rows: Points,
    line_rows: npt.NDArray[np.int32],
    table: Points,
    lines: Points,
    points: Points,
    learn: bool,
) -> None:
    x, y, z = gather_points(points, vertices, group)
    zero, one = broadcast(_ZERO), broadcast(_ONE)
    sum_x, sum_y, sum_z = broadcast(_ZERO), broadcast(_ZERO), broadcast(_ZERO)
    for row in range(starts[group], starts[group + 1]):
        muscle = muscles[row]
        kept = KEPT * row
        if spans[row, 0] >= 0:
            t, v, a, short_out, short_side, out_x, out_y, out_z = _bent_place(
                lines,
                line_rows[muscle],
                table[muscle, OVER],
                spans[row, 0],
                spans[row, 1],
                near,
                spans[row, 2],
                x,
                y,
                z,
            )
        else:
            from_x, from_y, from_z = (
                x - table[muscle, ORIGIN],
                y - table[muscle, ORIGIN + 1],
                z - table[muscle, ORIGIN + 2],
            )
            t = _dot(table, muscle, ALONG, from_x, from_y, from_z)
            v = _dot(table, muscle, OUT, from_x, from_y, from_z)
            a = _dot(table, muscle, SIDE, from_x, from_y, from_z)
            out_x, out_y, out_z = (
                broadcast(table[muscle, OUT]),
                broadcast(table[muscle, OUT + 1]),
                broadcast(table[muscle, OUT + 2]),
            )
            short_out, short_side = one, one
        follow = load(rows, kept + FOLLOW)
        t = multiply_add(t, follow, load(rows, kept + STAY_T))
        d = _soft_clamp(t) - table[muscle, BELLY]
        m, p = _least(d, zero), _most(d, zero)
        thickness = _most(_curve(table, muscle, CURVES, m, p), broadcast(np.float32(1e-12)))
        # one division for all three: nothing is slower
        over = one / (short_out * short_side * thickness)
        lengthen = over * short_side * thickness
        v, a = v * lengthen, a * (over * short_out * thickness)
        # most muscles sweep outwards only, and subtracting zero changes no bit
        if table[muscle, SWEPT] > 0.5:
            v = v - _curve(table, muscle, CURVES + 7, m, p)
        if table[muscle, SWEPT] > 1.5:
            a = a - _curve(table, muscle, CURVES + 14, m, p)
        a = multiply_add(a, follow, load(rows, kept + STAY_A)) * table[muscle, BULGE]
        a = a * (over * short_out * short_side)
        inside = one - a * a
        s = _most(inside + _BEYOND_RIM, zero) * _OVER_RIM
        root = where_less(s, one, s * s * _ROOT_RIM, square_root(_most(inside, zero)))
        # minus σ b − v, and its difference from bind
        apart = v * follow - load(rows, kept + SIGMA) * (thickness * table[muscle, HEIGHT] * root)
        if learn:
            store(rows, kept + REST, apart)
            store(rows, kept + LIMIT, thickness * table[muscle, HEIGHT])
        else:
            off = (apart - load(rows, kept + REST)) * load(rows, kept + LIMIT)
            # outwards, which is negative here, up to the limit; inwards skin bridges a hollow sooner
            off = where_less(off, zero, _most(off, broadcast(-_ONE)), _least(off * _SOONER, one))
            cubic = off - off * off * off * _THIRD
            minus = load(rows, kept + PUSH) * where_less(off, zero, cubic, cubic * _BRIDGED) * lengthen
            sum_x = multiply_add(minus, out_x, sum_x)
            sum_y = multiply_add(minus, out_y, sum_y)
            sum_z = multiply_add(minus, out_z, sum_z)
    if not learn:
        # subtracted, so that a coordinate that is minus zero keeps its sign at bind
        write_group(points, vertices, group, x - sum_x, y - sum_y, z - sum_z)


@njit(cache=True)  # type: ignore[untyped-decorator]
def slide_alone(
    vertices: npt.NDArray[np.int32],
    starts: npt.NDArray[np.int64],
    muscles: npt.NDArray[np.int32],
    spans: npt.NDArray[np.int32],
    near: Points,
    rows: Points,
    line_rows: npt.NDArray[np.int32],
    table: Points,
    lines: Points,
    points: Points,
    learn: bool,
) -> None:
    """Displace all groups on this thread; or learn from the bind what the rows keep of it."""
    for group in range(len(vertices)):
        _slide(group, vertices, starts, muscles, spans, near, rows, line_rows, table, lines, points, learn)


@njit(parallel=True, cache=True)  # type: ignore[untyped-decorator]
def slide_shared(
    vertices: npt.NDArray[np.int32],
    starts: npt.NDArray[np.int64],
    muscles: npt.NDArray[np.int32],
    spans: npt.NDArray[np.int32],
    near: Points,
    rows: Points,
    line_rows: npt.NDArray[np.int32],
    table: Points,
    lines: Points,
    points: Points,
    learn: bool,
) -> None:
    """The same on all threads, which pays for large skins."""
    for group in prange(len(vertices)):
        _slide(group, vertices, starts, muscles, spans, near, rows, line_rows, table, lines, points, learn)
