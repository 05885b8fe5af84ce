"""All muscles of a body posed in one compiled call: from joints and bulges to what the skin reads.

The same as `SectionFrames.moved`, `contract` and `path_sections` one after another, which stay the analytical
tool for batches, lengths and moment arms, and which the tests hold this against (1e-12). The loop differs:
joints first (`posed_joints`), virtual scapulae among them, then nodes (`posed_nodes`), then muscles and the
stations of bent ones (`posed_stations`), all numbers in float64 until the float32 rows of `packed_sections`
are filled. Nodes and stations are posed four at a time (`quads`) without a branch; so each has the same bits
whatever others are posed with it, and a plan of what one skin reads gives that skin exactly what the plan of
everything would. One thread has posed all muscles long before another would have woken up.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from ecorche.base.lanes import WIDTH, load, store
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
    STATION_COLUMNS,
)
from ecorche.muscles.posed_joints import MOVED, TURN, pose_joints
from ecorche.muscles.posed_nodes import (
    ARC,
    BEND,
    NODE_COLUMNS,
    SEGMENT,
    pose_corners,
    pose_nodes,
    pose_segments,
)
from ecorche.muscles.posed_stations import PLACE, pose_places, pose_stations
from ecorche.muscles.posing_plan import (
    BIND_OUT,
    CHORD,
    CURVE,
    CURVE_CHANGE,
    RULE,
    SCALE,
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
    nodes = np.empty((len(joints), NODE_COLUMNS))
    overs = np.empty(len(muscles))
    if not pose_joints(turning, scapula_joints, scapula_vectors, difference, moved, turn):
        return False
    pose_nodes(node_rows, node_joints, node_points, moved, nodes)
    if not pose_segments(segment_nodes, nodes):
        return False
    pose_corners(corner_nodes, rounding, nodes)
    if not _contract(muscles, starts, constants, bulge, nodes, overs, numbers):
        return False
    places = np.empty((len(named), PLACE, 4))
    pose_places(named, kept, nodes, overs, places)
    pose_stations(named, kept, turn, places, stations, lines)
    if not _pose_frames(muscles, starts, joints, constants, line_rows, turn, nodes, numbers):
        return False
    _fill_table(muscles, constants, rows, line_rows, bulge, overs, numbers, table)
    return True


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
        whole = nodes[first, ARC] = 0.0
        for n in range(first + 1, last + 1):
            whole += nodes[n, SEGMENT]
            nodes[n, ARC] = whole
        # an end of the path is no corner
        for k in range(BEND, NODE_COLUMNS):
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
