"""All muscles of a body posed in one compiled call: from joints and bulges to what the skin reads.

The same as `SectionFrames.moved`, `contract` and `path_sections` one after another, which stay the analytical
tool for batches, lengths and moment arms, and which the tests hold this against (1e-12). The loop differs:
joints first, virtual scapulae among them, then nodes, segments and corners, then muscles and the stations of
bent ones, all numbers in float64 until the float32 rows of `packed_sections` are filled. Nodes and stations
are posed four at a time (`quads`) without a branch; so each has the same bits whatever others are posed with
it, and a plan of what one skin reads gives that skin exactly what the plan of everything would. One thread
has posed all muscles long before another would have woken up.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from ecorche.base.lanes import WIDTH, load, store
from ecorche.base.quads import (
    largest,
    pick,
    quad,
    read_quad,
    read_rows,
    smallest,
    square_roots,
    where_above,
    write_quad,
    write_rows,
)
from ecorche.muscles.centre_lines import STATIONS
from ecorche.muscles.packed_sections import (
    ALONG,
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
    STATION_T,
)
from ecorche.muscles.paths import SHORTEST
from ecorche.muscles.posed_joints import MOVED, TURN, pose_joints
from ecorche.muscles.posing_plan import (
    ACROSS,
    AWAY,
    BIND_OUT,
    CHORD,
    CURVE,
    CURVE_CHANGE,
    JOINT,
    JOINT_BEFORE,
    KEPT,
    NAMED,
    NEAR,
    NODE,
    OWNER,
    ROW,
    RULE,
    SCALE,
    SHARE,
    SIGN,
    TANGENT,
    TWO,
    WEIGHT,
    PosingPlan,
)
from ecorche.muscles.triples import cross, dot, plus, read, scaled, times, turned, unit, write

Floats = npt.NDArray[np.float64]
Reals = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]
Naturals = npt.NDArray[np.uint32]

# columns of a muscle in a frame: its frame, length and the change of its belly's thickness
FRAME, LENGTH, CHANGE, NUMBERS = 0, 12, 13, 14
# columns of a node: where it is, and the arc length up to it; direction and length of the segment that ends
# there; bend and reach of the rounding where it is a corner
_POINT, _ARC, _DIRECTION, _LENGTH, _BEND, _NODE = 0, 3, 4, 7, 8, 12
_PLACE = 7  # quads of four stations' places: point, tangent, t


_TOO_SHORT = np.nextafter(SHORTEST, 0.0)
_LEAST = 1e-300  # an end of a path has no rounding to be divided by


class PosedTables(NamedTuple):
    """One frame of the muscles of a plan.

    Attributes:
        numbers: Of the muscles, in the columns `FRAME` (origin, along, out, side; of straight ones), `LENGTH`
            and `CHANGE`.
        stations: What ``lines`` is rounded from, of the same shape; without rows where nobody asked for it.
        table, lines: See `PackedSections`.
    """

    numbers: Floats
    stations: Floats
    table: Reals
    lines: Reals


def posed_tables(
    plan: PosingPlan, difference: Floats, bulge: Floats, *, exact: bool = True
) -> PosedTables | None:
    """One frame, for the character's own joints ``M − I`` (joints, 4, 4) and the bulge of each muscle (M,).

    ``exact`` asks for the stations in float64 too, which the skin does without.
    None where something cannot be: nodes that coincide, a joint scaled to nothing, a bulge of zero or less,
    numbers that are not finite. `SectionFrames.moved` and `contract` say which, or do without this shortcut.
    """
    count, lines = len(plan.rows), plan.line_count
    tables = PosedTables(
        np.empty((count, NUMBERS)),
        np.empty((lines if exact else 0, STATIONS, STATION_COLUMNS)),
        np.empty((count, COLUMNS), np.float32),
        np.empty((lines, STATIONS, STATION_COLUMNS), np.float32),
    )
    return tables if _pose(*plan, difference, bulge, *tables) else None


@njit(cache=True)  # type: ignore[untyped-decorator]
def _pose(
    muscles: Naturals,
    starts: Naturals,
    joints: Naturals,
    node_rows: Naturals,
    node_joints: Naturals,
    node_points: Floats,
    segment_nodes: Naturals,
    corner_nodes: Naturals,
    rounding: float,
    turning: npt.NDArray[np.bool_],
    constants: Floats,
    rows: Reals,
    line_rows: npt.NDArray[np.int32],
    _line_count: int,
    named: Naturals,
    kept: Floats,
    scapula_joints: Ints,
    scapula_vectors: Floats,
    difference: Floats,
    bulge: Floats,
    numbers: Floats,
    stations: Floats,
    table: Reals,
    lines: Reals,
) -> bool:
    """Fill the tables of one frame; False where something cannot be."""
    moved, turn = np.empty((len(turning), MOVED)), np.empty((len(turning), TURN))
    nodes = np.empty((len(joints), _NODE))
    overs = np.empty(len(muscles))
    if not pose_joints(turning, scapula_joints, scapula_vectors, difference, moved, turn):
        return False
    _pose_nodes(node_rows, node_joints, node_points, moved, nodes)
    if not _pose_segments(segment_nodes, nodes):
        return False
    _pose_corners(corner_nodes, rounding, nodes)
    if not _contract(muscles, starts, constants, bulge, nodes, overs, numbers):
        return False
    places = np.empty((len(named), _PLACE, 4))
    _pose_places(named, kept, nodes, overs, places)
    _pose_stations(named, kept, turn, places, stations, lines)
    if not _pose_frames(muscles, starts, joints, constants, line_rows, turn, nodes, numbers):
        return False
    _fill_table(muscles, constants, rows, line_rows, bulge, overs, numbers, table)
    return True


@njit(cache=True)  # type: ignore[untyped-decorator]
def _pose_nodes(
    node_rows: Naturals, node_joints: Naturals, bind: Floats, moved: Floats, nodes: Floats
) -> None:
    """Where the nodes are."""
    for group in range(len(node_rows)):
        p = read_quad(bind, 3 * group), read_quad(bind, 3 * group + 1), read_quad(bind, 3 * group + 2)
        x, y, z = (
            read_rows(moved, node_joints, group, MOVED, 0),
            read_rows(moved, node_joints, group, MOVED, 4),
            read_rows(moved, node_joints, group, MOVED, 8),
        )
        # twice subtracted, so that a coordinate of minus zero keeps its sign at bind
        at = (
            p[0] - (0.0 - (dot(x, p) + x[3])),
            p[1] - (0.0 - (dot(y, p) + y[3])),
            p[2] - (0.0 - (dot(z, p) + z[3])),
            quad(0.0),
        )
        write_rows(nodes, node_rows, group, _NODE, _POINT, at)


@njit(cache=True)  # type: ignore[untyped-decorator]
def _pose_segments(named: Naturals, nodes: Floats) -> bool:
    """Directions and lengths between nodes; False where one is too short or not a number."""
    fine, none = quad(1.0), quad(0.0)
    for group in range(len(named)):
        after = read_rows(nodes, named, 2 * group, _NODE, _POINT)
        before = read_rows(nodes, named, 2 * group + 1, _NODE, _POINT)
        step = plus(after, -1.0, before)
        length = square_roots(dot(step, step))
        fine = where_above(length, quad(_TOO_SHORT), fine, none)
        x, y, z = scaled(1.0 / length, step)
        write_rows(nodes, named, 2 * group, _NODE, _DIRECTION, (x, y, z, length))
    return bool(smallest(fine) > 0.0)


@njit(cache=True)  # type: ignore[untyped-decorator]
def _pose_corners(named: Naturals, rounding: float, nodes: Floats) -> None:
    """How the path bends at the nodes between segments, and how far the rounding reaches."""
    for group in range(len(named)):
        before = read_rows(nodes, named, 2 * group, _NODE, _DIRECTION)
        after = read_rows(nodes, named, 2 * group + 1, _NODE, _DIRECTION)
        reach = rounding * before[3] * after[3] / (before[3] + after[3])
        x, y, z = plus(after, -1.0, before)
        write_rows(nodes, named, 2 * group, _NODE, _BEND, (x, y, z, reach))


@njit(cache=True, error_model="numpy")  # type: ignore[untyped-decorator]
def _contract(
    muscles: Naturals,
    starts: Naturals,
    constants: Floats,
    bulge: Floats,
    nodes: Floats,
    overs: Floats,
    numbers: Floats,
) -> bool:
    """Arc lengths, and the change of the bellies that keeps their volume: see `volume`."""
    for i in range(len(muscles)):
        m, first, last = muscles[i], starts[i], starts[i + 1] - np.uint32(1)
        whole = nodes[first, _ARC] = 0.0
        for n in range(first + 1, last + 1):
            whole += nodes[n, _LENGTH]
            nodes[n, _ARC] = whole
        # an end of the path is no corner
        for k in range(_BEND, _NODE):
            nodes[first, k] = nodes[last, k] = 0.0
        if not (whole < np.inf and bulge[m] > 0.0 and bulge[m] < np.inf):
            return False
        overs[i] = 1.0 / whole
        square, gradient = constants[m, RULE], constants[m, RULE + 1]
        constant, thinnest = constants[m, RULE + 2], constants[m, RULE + 3]
        excess = constant * (1.0 - constants[m, RULE + 4] / whole)
        change = thinnest
        if not excess + thinnest * (gradient + square * thinnest) > 0.0:
            root = np.sqrt(max(gradient * gradient - 4.0 * square * excess, 0.0))
            change = max(-2.0 * excess / (gradient + root), thinnest)
        numbers[m, LENGTH], numbers[m, CHANGE] = whole, change
    return True


@njit(inline="always")  # type: ignore[untyped-decorator]
def _carried(turn: Floats, joints: Naturals, row: int, bind_along: Any, bind_out: Any, along: Any) -> Any:
    """S_d as four joints carry it, turned the short way to the path's tangent: see `section_frames`."""
    x, y, z = (
        read_rows(turn, joints, row, TURN, 0),
        read_rows(turn, joints, row, TURN, 4),
        read_rows(turn, joints, row, TURN, 8),
    )
    a = dot(x, bind_along), dot(y, bind_along), dot(z, bind_along)
    out = dot(x, bind_out), dot(y, bind_out), dot(z, bind_out)
    cosine = 1.0 + dot(a, along)
    share = dot(out, plus(along, -1.0, a)) / cosine
    share = where_above(cosine, quad(1e-12), share, quad(0.0))
    return plus(out, quad(0.0) - share, plus(a, 1.0, along))


@njit(cache=True)  # type: ignore[untyped-decorator]
def _pose_places(named: Naturals, kept: Floats, nodes: Floats, overs: Floats, places: Floats) -> None:
    """See `PosedPaths.on`: points, tangents and t of the stations of bent lines, four at a time."""
    # the loops are in here, because what is called in a loop counts its arrays again and again; and they are
    # two, because the processor overlaps the steps of short ones
    zero = quad(0.0)
    for group in range(len(named)):
        name, keep, at = NAMED * group, KEPT * group, _PLACE * group
        end = read_rows(nodes, named, name + NODE, _NODE, _POINT)
        direction = read_rows(nodes, named, name + NODE, _NODE, _DIRECTION)
        bend = read_rows(nodes, named, name + NEAR, _NODE, _BEND)
        arc, length, reach = end[3], direction[3], bend[3]
        left = (1.0 - read_quad(kept, keep + SHARE)) * length
        within = reach - read_quad(kept, keep + AWAY) * length
        within = where_above(within, zero, within, zero)
        part = within / (reach + reach + _LEAST)
        point = plus(plus(end, zero - left, direction), 0.5 * part * within, bend)
        along = plus(direction, read_quad(kept, keep + SIGN) * part, bend)
        along = scaled(1.0 / square_roots(dot(along, along)), along)
        write_quad(places, at, point[0])
        write_quad(places, at + 1, point[1])
        write_quad(places, at + 2, point[2])
        write_quad(places, at + 3, along[0])
        write_quad(places, at + 4, along[1])
        write_quad(places, at + 5, along[2])
        write_quad(places, at + 6, (arc - left) * pick(overs, named, name + OWNER))


@njit(inline="always")  # type: ignore[untyped-decorator]
def _vector(quads: Floats, at: int) -> Any:
    return read_quad(quads, at), read_quad(quads, at + 1), read_quad(quads, at + 2)


@njit(cache=True)  # type: ignore[untyped-decorator]
def _pose_stations(
    named: Naturals, kept: Floats, turn: Floats, places: Floats, stations: Floats, lines: Reals
) -> None:
    """See `PosedFrames.on`: S_d at those places, and all of it as rows."""
    zero = quad(0.0)
    for group in range(len(named)):
        name, keep, at = NAMED * group, KEPT * group, _PLACE * group
        along, bind_along = _vector(places, at + 3), _vector(kept, keep + TANGENT)
        bind_out = _vector(kept, keep + ACROSS)
        out = _carried(turn, named, name + JOINT_BEFORE, bind_along, bind_out, along)
        two = read_quad(kept, keep + TWO)
        if largest(two) > 0.0:
            share = read_quad(kept, keep + SHARE)
            other = _carried(turn, named, name + JOINT, bind_along, bind_out, along)
            both = plus(scaled(1.0 - share, out), share, other)
            both = scaled(1.0 / square_roots(dot(both, both)), both)
            # a station between nodes of one joint has the bits it has beside others of its kind
            out = (
                where_above(two, zero, both[0], out[0]),
                where_above(two, zero, both[1], out[1]),
                where_above(two, zero, both[2], out[2]),
            )
        point, t, side = _vector(places, at), read_quad(places, at + 6), cross(along, out)
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


@njit(cache=True)  # type: ignore[untyped-decorator]
def _pose_frames(
    muscles: Naturals,
    starts: Naturals,
    joints: Naturals,
    constants: Floats,
    line_rows: npt.NDArray[np.int32],
    turn: Floats,
    nodes: Floats,
    numbers: Floats,
) -> bool:
    """See `SectionFrames.moved`: the frames of straight muscles."""
    for i in range(len(muscles)):
        m = muscles[i]
        if line_rows[m] >= 0:
            continue
        first, last = starts[i], starts[i + 1] - np.uint32(1)
        step = plus(read(nodes, last), -1.0, read(nodes, first))
        if not dot(step, step) > 1e-18:
            return False
        along, joint, weight = unit(step), joints[first], constants[m, WEIGHT]
        bind_along, bind_out = read(constants, m, CHORD), read(constants, m, BIND_OUT)
        out = turned(times(turn, joint, bind_along), along, times(turn, joint, bind_out))
        if weight > 0.0:
            joint = joints[last]
            other = turned(times(turn, joint, bind_along), along, times(turn, joint, bind_out))
            if out != other:
                side = cross(along, out)
                angle = weight * np.arctan2(dot(side, other), dot(out, other))
                out = plus(scaled(np.cos(angle), out), np.sin(angle), side)
        write(numbers, m, FRAME, read(nodes, first))
        write(numbers, m, FRAME + 3, along)
        write(numbers, m, FRAME + 6, out)
        write(numbers, m, FRAME + 9, cross(along, out))
    return True


@njit(cache=True, error_model="numpy")  # type: ignore[untyped-decorator]
def _fill_table(
    muscles: Naturals,
    constants: Floats,
    rows: Reals,
    line_rows: npt.NDArray[np.int32],
    bulge: Floats,
    overs: Floats,
    numbers: Floats,
    table: Reals,
) -> None:
    """The muscles packed; where a bent one is, only its stations say."""
    for i in range(len(muscles)):
        m = muscles[i]
        for k in range(COLUMNS // WIDTH):
            row = COLUMNS // WIDTH * m + k
            store(table, row, load(rows, row))
        over, change = overs[i], numbers[m, CHANGE]
        for k in range(7):
            table[m, CURVES + k] = constants[m, CURVE + k] + change * constants[m, CURVE_CHANGE + k]
        table[m, BULGE], table[m, HEIGHT] = bulge[m], constants[m, SCALE] * bulge[m]
        table[m, OVER] = over
        if line_rows[m] >= 0:
            continue
        for k in range(3):
            table[m, ORIGIN + k], table[m, ALONG + k] = numbers[m, k], numbers[m, 3 + k] * over
            table[m, OUT + k], table[m, SIDE + k] = numbers[m, 6 + k], numbers[m, 9 + k]
