"""All muscles of a body posed in one compiled call: from joints and bulges to what the skin reads.

The same as `SectionFrames.moved`, `contract` and `path_sections` one after another, which stay the analytical
tool for batches, lengths and moment arms, and which the tests hold this against (1e-12). The loop differs:
joints first (`posed_joints`), virtual scapulae among them, then nodes (`posed_nodes`), then muscles and the
stations of bent ones (`posed_stations`), all numbers in float64 until the float32 rows of `packed_sections`
are filled. Nodes and stations are posed four at a time (`quads`) without a branch; so each has the same bits
whatever others are posed with it, and a plan of what one skin reads gives that skin exactly what the plan of
everything would. One thread has posed all muscles long before another would have woken up, and memory that
is used again (`posing_memory`) spares it what takes a third as long as the posing: getting fresh memory.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from ecorche.muscles.centre_lines import STATIONS
from ecorche.muscles.packed_sections import (
    ALONG,
    BULGE,
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
Naturals = npt.NDArray[np.uint32]

# columns of a muscle in a frame: its frame, length and the change of its belly's thickness
FRAME, LENGTH, CHANGE, NUMBERS = 0, 12, 13, 14
SHORTEST_CHORD = 1e-18
"""Of a straight muscle, squared [m²]: what is shorter has no direction."""


class PosedTables(NamedTuple):
    """One frame of the muscles of a plan.

    Attributes:
        moved, turn: How far the joints have moved, (joints, MOVED), and turned, (joints, TURN).
        nodes: Of the paths, (N, NODE_COLUMNS).
        overs: One over the length of each posed muscle, (K,).
        places: Of the stations of bent lines by fours, (G, PLACE, 4).
        numbers: Of the muscles, in the columns `FRAME` (origin, along, out, side; of straight ones), `LENGTH`
            and `CHANGE`.
        stations: What ``lines`` is rounded from, of the same shape; without rows where nobody asked for it.
        table, lines: See `PackedSections`.
    """

    moved: Floats
    turn: Floats
    nodes: Floats
    overs: Floats
    places: Floats
    numbers: Floats
    stations: Floats
    table: Reals
    lines: Reals


def posing_memory(plan: PosingPlan, *, exact: bool) -> PosedTables:
    """Memory for one frame of a plan; ``exact`` asks for the stations in float64, which skin does without."""
    count, lines = len(plan.rows), plan.line_count
    return PosedTables(
        moved=np.empty((len(plan.turning), MOVED)),
        turn=np.empty((len(plan.turning), TURN)),
        nodes=np.empty((len(plan.joints), NODE_COLUMNS)),
        overs=np.empty(len(plan.muscles)),
        places=np.empty((len(plan.named), PLACE, 4)),
        numbers=np.empty((count, NUMBERS)),
        stations=np.empty((lines if exact else 0, STATIONS, STATION_COLUMNS)),
        table=plan.rows.copy(),
        lines=np.empty((lines, STATIONS, STATION_COLUMNS), np.float32),
    )


@njit(cache=True)  # type: ignore[untyped-decorator]
def pose(plan: PosingPlan, difference: Floats, bulge: Floats, tables: PosedTables) -> bool:
    """One frame, for the character's own joints ``M − I`` (joints, 4, 4) and the bulge of each muscle (M,).

    False where something cannot be: nodes that coincide, a joint scaled to nothing, a bulge of zero or less,
    numbers that are not finite. `SectionFrames.moved` and `contract` say which, or do without this shortcut.
    """
    moved, turn, nodes, overs = tables.moved, tables.turn, tables.nodes, tables.overs
    muscles, starts, constants, numbers = plan.muscles, plan.starts, plan.constants, tables.numbers
    if not pose_joints(plan.turning, plan.scapula_joints, plan.scapula_vectors, difference, moved, turn):
        return False
    pose_nodes(plan.node_rows, plan.node_joints, plan.node_points, moved, nodes)
    if not pose_segments(plan.segments, nodes):
        return False
    pose_corners(plan.corners, plan.rounding, nodes)
    if not _contract(muscles, starts, constants, bulge, nodes, overs, numbers):
        return False
    pose_places(plan.named, plan.kept, nodes, overs, tables.places)
    places, stations, lines = tables.places, tables.stations, tables.lines
    pose_stations(plan.named, plan.kept, plan.of_one_joint, turn, places, stations, lines)
    if not _pose_frames(muscles, starts, plan.joints, constants, plan.line_rows, turn, nodes, numbers):
        return False
    _fill_table(muscles, constants, plan.line_rows, bulge, overs, numbers, tables.table)
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
    """Arc lengths, and the change of the bellies that keeps their volume."""
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
        numbers[m, LENGTH], numbers[m, CHANGE] = whole, belly_change(constants, m, whole)
    return True


@njit(inline="always")  # type: ignore[untyped-decorator]
def belly_change(constants: Floats, m: int, length: float) -> Any:
    """How much thicker a belly is at a length, so that the muscle keeps its volume: see `volume`."""
    square, gradient = constants[m, RULE], constants[m, RULE + 1]
    constant, thinnest = constants[m, RULE + 2], constants[m, RULE + 3]
    excess = constant * (1.0 - constants[m, RULE + 4] / length)
    change = thinnest
    if not excess + thinnest * (gradient + square * thinnest) > 0.0:
        root = np.sqrt(max(gradient * gradient - 4.0 * square * excess, 0.0))
        change = max(-2.0 * excess / (gradient + root), thinnest)
    return change


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
        if not dot(step, step) > SHORTEST_CHORD:
            return False
        along, out = straight_frame(constants, m, turn, joints[first], joints[last], step)
        write(numbers, m, FRAME, read(nodes, first))
        write(numbers, m, FRAME + 3, along)
        write(numbers, m, FRAME + 6, out)
        write(numbers, m, FRAME + 9, cross(along, out))
    return True


@njit(inline="always")  # type: ignore[untyped-decorator]
def straight_frame(constants: Floats, m: int, turn: Floats, joint: int, last: int, step: Any) -> Any:
    """Direction and S_d of a straight muscle from one joint to the last, ``step`` apart."""
    along, weight = unit(step), constants[m, WEIGHT]
    bind_along, bind_out = read(constants, m, CHORD), read(constants, m, BIND_OUT)
    out = turned(times(turn, joint, bind_along), along, times(turn, joint, bind_out))
    if weight > 0.0:
        other = turned(times(turn, last, bind_along), along, times(turn, last, bind_out))
        if out != other:
            side = cross(along, out)
            angle = weight * np.arctan2(dot(side, other), dot(out, other))
            out = plus(scaled(np.cos(angle), out), np.sin(angle), side)
    return along, out


@njit(cache=True, error_model="numpy")  # type: ignore[untyped-decorator]
def _fill_table(
    muscles: Naturals,
    constants: Floats,
    line_rows: npt.NDArray[np.int32],
    bulge: Floats,
    overs: Floats,
    numbers: Floats,
    table: Reals,
) -> None:
    """What changes of the muscles packed; where a bent one is, only its stations say."""
    for i in range(len(muscles)):
        m = muscles[i]
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
