"""The stations of bent muscles in a frame, four at a time and without a branch; for compiled loops.

Here four stations lie side by side; in `instance_posing` a station of eight instances does. The arithmetic is
one.
Places come first and S_d in a second loop, because a processor overlaps the steps of short loops. A loop
stands within its function: what is called in a loop counts its arrays again and again, which costs more than
the work itself.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit

from ecorche.base.quads import (
    like,
    pick,
    quad,
    read_quad,
    read_rows,
    square_roots,
    where_above,
    write_quad,
    write_rows,
)
from ecorche.muscles.packed_sections import (
    STATION_ALONG,
    STATION_COLUMNS,
    STATION_OUT,
    STATION_POINT,
    STATION_T,
)
from ecorche.muscles.posed_joints import TURN
from ecorche.muscles.posed_nodes import BEND, DIRECTION, NODE_COLUMNS, POINT
from ecorche.muscles.posing_plan import (
    ACROSS,
    JOINT,
    JOINT_BEFORE,
    KEPT,
    NAMED,
    NEAR,
    NODE,
    OWNER,
    ROW,
    SHARE,
    TANGENT,
)
from ecorche.muscles.triples import cross, dot, plus, read_vector, scaled, write_vector

Floats = npt.NDArray[np.float64]
Reals = npt.NDArray[np.float32]
Naturals = npt.NDArray[np.uint32]

PLACE = 7
"""Quads of four stations' places: point, tangent, t."""
_LEAST = 1e-300  # an end of a path has no rounding to be divided by


@njit(forceinline=True)  # type: ignore[untyped-decorator]
def place_between(end: Any, direction: Any, bend: Any, share: Any, over: Any) -> Any:
    """Point, tangent and t of a station: see `PosedPaths.on`.

    Args:
        end: The node after it, and the arc length up to there.
        direction: Of the segment that ends there, and its length.
        bend: Of the nearer node, and the reach of its rounding.
        share: Of the segment that lies before it.
        over: One over the muscle's length.
    """
    arc, length, reach = end[3], direction[3], bend[3]
    zero, half, rest = like(share, 0.0), like(share, 0.5), 1.0 - share
    left = rest * length
    # how far it is from the nearer node, and on which side of it
    away = where_above(half, share, share, rest)
    side = where_above(half, share, like(share, -1.0), like(share, 1.0))
    within = reach - away * length
    within = where_above(within, zero, within, zero)
    part = within / (reach + reach + _LEAST)
    point = plus(plus(end, zero - left, direction), 0.5 * part * within, bend)
    along = plus(direction, side * part, bend)
    return point, scaled(1.0 / square_roots(dot(along, along)), along), (arc - left) * over


@njit(forceinline=True)  # type: ignore[untyped-decorator]
def carried(x: Any, y: Any, z: Any, bind_along: Any, bind_out: Any, along: Any) -> Any:
    """S_d as rows of rotations carry it, turned the short way to the path's tangent: see `section_frames`."""
    a = dot(x, bind_along), dot(y, bind_along), dot(z, bind_along)
    out = dot(x, bind_out), dot(y, bind_out), dot(z, bind_out)
    cosine = 1.0 + dot(a, along)
    share = dot(out, plus(along, -1.0, a)) / cosine
    share = where_above(cosine, like(cosine, 1e-12), share, like(cosine, 0.0))
    return plus(out, like(share, 0.0) - share, plus(a, 1.0, along))


@njit(forceinline=True)  # type: ignore[untyped-decorator]
def between_joints(out: Any, other: Any, share: Any) -> Any:
    """S_d between two joints that carry it differently."""
    both = plus(scaled(1.0 - share, out), share, other)
    return scaled(1.0 / square_roots(dot(both, both)), both)


@njit(inline="always")  # type: ignore[untyped-decorator]
def _carried_by(turn: Floats, joints: Naturals, row: int, bind_along: Any, bind_out: Any, along: Any) -> Any:
    """S_d as four joints carry it."""
    return carried(
        read_rows(turn, joints, row, TURN, 0),
        read_rows(turn, joints, row, TURN, 4),
        read_rows(turn, joints, row, TURN, 8),
        bind_along,
        bind_out,
        along,
    )


@njit(cache=True)  # type: ignore[untyped-decorator]
def pose_places(named: Naturals, kept: Floats, nodes: Floats, overs: Floats, places: Floats) -> None:
    """Points, tangents and t of the stations of bent lines, four at a time."""
    for group in range(len(named)):
        name, keep, at = NAMED * group, KEPT * group, PLACE * group
        point, along, t = place_between(
            read_rows(nodes, named, name + NODE, NODE_COLUMNS, POINT),
            read_rows(nodes, named, name + NODE, NODE_COLUMNS, DIRECTION),
            read_rows(nodes, named, name + NEAR, NODE_COLUMNS, BEND),
            read_quad(kept, keep + SHARE),
            pick(overs, named, name + OWNER),
        )
        write_vector(places, at, point)
        write_vector(places, at + 3, along)
        write_quad(places, at + 6, t)


@njit(cache=True)  # type: ignore[untyped-decorator]
def pose_stations(
    named: Naturals,
    kept: Floats,
    of_one_joint: int,
    turn: Floats,
    places: Floats,
    stations: Floats,
    lines: Reals,
) -> None:
    """See `PosedFrames.on`: S_d at those places, and all of it as rows."""
    for group in range(len(named)):
        name, keep, at = NAMED * group, KEPT * group, PLACE * group
        along, bind_along = read_vector(places, at + 3), read_vector(kept, keep + TANGENT)
        bind_out = read_vector(kept, keep + ACROSS)
        out = _carried_by(turn, named, name + JOINT_BEFORE, bind_along, bind_out, along)
        if group >= of_one_joint:
            other = _carried_by(turn, named, name + JOINT, bind_along, bind_out, along)
            out = between_joints(out, other, read_quad(kept, keep + SHARE))
        point, t, side = read_vector(places, at), read_quad(places, at + 6), cross(along, out)
        _write_stations(lines, named, name + ROW, point, along, out, side, t)
        if len(stations) > 0:
            _write_stations(stations, named, name + ROW, point, along, out, side, t)


@njit(inline="always")  # type: ignore[untyped-decorator]
def _write_stations(
    rows: Any, named: Naturals, row: int, point: Any, along: Any, out: Any, side: Any, t: Any
) -> None:
    """Four stations in the columns of `packed_sections`."""
    zero = quad(0.0)
    write_rows(rows, named, row, STATION_COLUMNS, STATION_POINT, (point[0], point[1], point[2], along[0]))
    write_rows(rows, named, row, STATION_COLUMNS, STATION_ALONG + 1, (along[1], along[2], out[0], out[1]))
    write_rows(rows, named, row, STATION_COLUMNS, STATION_OUT + 2, (out[2], side[0], side[1], side[2]))
    write_rows(rows, named, row, STATION_COLUMNS, STATION_T, (t, zero, zero, zero))
