"""Muscles of instances of a character posed eight instances at a time, into lanes as their skin reads them.

`posing` lays four nodes or stations of one character side by side, which have to be gathered and put back.
Instances of one character have the same nodes, joints and stations, so that eight of them lie side by side
from the joints on: nothing is gathered, and what comes out lies as sixteen lanes of skin read it. The
arithmetic is that of `posing`, from the same functions in the same order: an instance has the same bits as
the character alone. What there is done one muscle or joint at a time is done one instance at a time here.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from ecorche.base.quads import eight, read_eight, where_above, write_quad
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
    STATION_SIDE,
    STATION_T,
)
from ecorche.muscles.posed_joints import MOVED, TURN, pose_joints
from ecorche.muscles.posed_nodes import (
    ARC,
    BEND,
    DIRECTION,
    NODE_COLUMNS,
    POINT,
    SEGMENT,
    TOO_SHORT,
    carried_point,
    corner,
    segment,
)
from ecorche.muscles.posed_stations import between_joints, carried, place_between
from ecorche.muscles.posing import SHORTEST_CHORD, belly_change, straight_frame
from ecorche.muscles.posing_plan import (
    ACROSS,
    CURVE,
    CURVE_CHANGE,
    JOINT,
    JOINT_BEFORE,
    NEAR,
    NODE,
    OWNER,
    ROW,
    SCALE,
    SHARE,
    TANGENT,
    PosingPlan,
)
from ecorche.muscles.triples import cross, dot, write_vector

Bools = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]
Reals = npt.NDArray[np.float32]

EIGHT = 8
"""So many instances are posed side by side."""


class EightPosed(NamedTuple):
    """Memory for eight instances in a frame.

    Attributes:
        own_moved, own_turn: How far the joints of each have moved, (8, joints, MOVED), and turned.
        moved, turn: The same side by side, (joints, MOVED, 8) and (joints, TURN, 8).
        nodes: Of the paths, (N, NODE_COLUMNS, 8).
        overs: One over the length of each posed muscle, (K, 8).
        fine: Above zero where all segments of an instance have a length, (1, 8).
    """

    own_moved: Floats
    own_turn: Floats
    moved: Floats
    turn: Floats
    nodes: Floats
    overs: Floats
    fine: Floats


def eight_memory(plan: PosingPlan) -> EightPosed:
    """Memory for a plan, or for another of fewer muscles."""
    joints = len(plan.turning)
    return EightPosed(
        own_moved=np.zeros((EIGHT, joints, MOVED)),
        own_turn=np.zeros((EIGHT, joints, TURN)),
        moved=np.zeros((joints, MOVED, EIGHT)),
        turn=np.zeros((joints, TURN, EIGHT)),
        nodes=np.zeros((len(plan.joints), NODE_COLUMNS, EIGHT)),
        overs=np.zeros((len(plan.muscles), EIGHT)),
        fine=np.zeros((1, EIGHT)),
    )


@njit(cache=True)  # type: ignore[untyped-decorator]
def pose_instances(
    plan: PosingPlan,
    difference: Floats,
    bulge: Floats,
    station_rows: npt.NDArray[np.int32],
    memory: EightPosed,
    table: Reals,
    stations: Reals,
    fine: Bools,
) -> None:
    """One frame of up to sixteen instances.

    Args:
        plan: Of the muscles.
        difference: ``M − I`` of the character's own joints, (instances, joints, 4, 4).
        bulge: Of each muscle, (instances, M).
        station_rows: Where each station of the bent lines goes, (lines · STATIONS,).
        memory: Of `eight_memory`.
        table: Muscles in the columns of `packed_sections`, (M · COLUMNS, 16); what does not change is
            there before, from ``plan.rows``.
        stations: Where to write stations, (… · STATION_COLUMNS, 16).
        fine: False is written where an instance cannot be posed so: see `pose`.
    """
    for first in range(0, len(difference), EIGHT):
        _pose_joints(plan, difference, first, memory, fine)
        _pose_nodes(plan, memory)
        _contract(plan, bulge, first, memory, table, fine)
        _pose_stations(plan, station_rows, memory, first // EIGHT, stations)
        _pose_frames(plan, first, memory, table, fine)


@njit(cache=True)  # type: ignore[untyped-decorator]
def _pose_joints(plan: PosingPlan, difference: Floats, first: int, memory: EightPosed, fine: Bools) -> None:
    """Joints of each instance, then side by side; where there are fewer than eight, the last once more."""
    own_moved, own_turn, moved, turn = memory.own_moved, memory.own_turn, memory.moved, memory.turn
    for lane in range(EIGHT):
        instance = min(first + lane, len(difference) - 1)
        if not pose_joints(
            plan.turning,
            plan.scapula_joints,
            plan.scapula_vectors,
            difference[instance],
            own_moved[lane],
            own_turn[lane],
        ):
            fine[instance] = False
    for joint in range(len(moved)):
        if plan.turning[joint]:
            for k in range(MOVED):
                for lane in range(EIGHT):
                    moved[joint, k, lane] = own_moved[lane, joint, k]
                    turn[joint, k, lane] = own_turn[lane, joint, k]


@njit(inline="always")  # type: ignore[untyped-decorator]
def _read_four(rows: Floats, row: int) -> Any:
    """Four rows one after another."""
    return (
        read_eight(rows, row),
        read_eight(rows, row + 1),
        read_eight(rows, row + 2),
        read_eight(rows, row + 3),
    )


@njit(inline="always")  # type: ignore[untyped-decorator]
def _write_four(rows: Floats, row: int, four: Any) -> None:
    write_vector(rows, row, four)
    write_quad(rows, row + 3, four[3])


@njit(cache=True)  # type: ignore[untyped-decorator]
def _pose_nodes(plan: PosingPlan, memory: EightPosed) -> None:
    """Nodes of all paths, the segments between them and their corners."""
    joints, starts, bind, moved, nodes = (
        plan.joints,
        plan.starts,
        plan.node_points,
        memory.moved,
        memory.nodes,
    )
    fine, none = eight(1.0), eight(0.0)
    for node in range(len(joints)):
        group, lane, joint = node // 4, node % 4, MOVED * np.int64(joints[node])
        point = carried_point(
            _read_four(moved, joint),
            _read_four(moved, joint + 4),
            _read_four(moved, joint + 8),
            (eight(bind[group, 0, lane]), eight(bind[group, 1, lane]), eight(bind[group, 2, lane])),
        )
        write_vector(nodes, NODE_COLUMNS * node + POINT, point)
    for muscle in range(len(starts) - 1):
        first, end = np.int64(starts[muscle]), np.int64(starts[muscle + 1])
        for node in range(first + 1, end):
            at = NODE_COLUMNS * node
            found = segment(_read_four(nodes, at - NODE_COLUMNS + POINT), _read_four(nodes, at + POINT))
            fine = where_above(found[3], eight(TOO_SHORT), fine, none)
            _write_four(nodes, at + DIRECTION, found)
        for node in range(first, end):
            at = NODE_COLUMNS * node
            # an end of the path is no corner
            bend = none, none, none, none
            if first < node < end - 1:
                before, after = (
                    _read_four(nodes, at + DIRECTION),
                    _read_four(nodes, at + NODE_COLUMNS + DIRECTION),
                )
                bend = corner(before, after, plan.rounding)
            _write_four(nodes, at + BEND, bend)
    write_quad(memory.fine, 0, fine)


@njit(cache=True, error_model="numpy")  # type: ignore[untyped-decorator]
def _contract(
    plan: PosingPlan, bulge: Floats, first: int, memory: EightPosed, table: Reals, fine: Bools
) -> None:
    """Arc lengths, and the numbers and curves of all muscles."""
    muscles, starts, constants, nodes = plan.muscles, plan.starts, plan.constants, memory.nodes
    for lane in range(min(EIGHT, len(bulge) - first)):
        if not memory.fine[0, lane] > 0.0:
            fine[first + lane] = False
    for i in range(len(muscles)):
        m = np.int64(muscles[i])
        row = COLUMNS * m
        for lane in range(EIGHT):
            instance = min(first + lane, len(bulge) - 1)
            wide = bulge[instance, m]
            whole = nodes[starts[i], ARC, lane] = 0.0
            for n in range(starts[i] + 1, starts[i + 1]):
                whole += nodes[n, SEGMENT, lane]
                nodes[n, ARC, lane] = whole
            if not (whole < np.inf and wide > 0.0 and wide < np.inf):
                fine[instance] = False
            over, change = 1.0 / whole, belly_change(constants, m, whole)
            memory.overs[i, lane] = over
            for k in range(7):
                value = constants[m, CURVE + k] + change * constants[m, CURVE_CHANGE + k]
                table[row + CURVES + k, first + lane] = value
            table[row + BULGE, first + lane] = wide
            table[row + HEIGHT, first + lane] = constants[m, SCALE] * wide
            table[row + OVER, first + lane] = over


@njit(cache=True)  # type: ignore[untyped-decorator]
def _pose_stations(
    plan: PosingPlan,
    station_rows: npt.NDArray[np.int32],
    memory: EightPosed,
    half: int,
    stations: Reals,
) -> None:
    """Places of the stations of bent lines, and S_d there."""
    nodes, turn, overs, named, kept = memory.nodes, memory.turn, memory.overs, plan.named, plan.kept
    for number in range(4 * len(named)):
        group, lane = number // 4, number % 4
        node = NODE_COLUMNS * np.int64(named[group, NODE, lane])
        share = eight(kept[group, SHARE, lane])
        point, along, t = place_between(
            _read_four(nodes, node + POINT),
            _read_four(nodes, node + DIRECTION),
            _read_four(nodes, NODE_COLUMNS * np.int64(named[group, NEAR, lane]) + BEND),
            share,
            read_eight(overs, np.int64(named[group, OWNER, lane])),
        )
        bind_along = (
            eight(kept[group, TANGENT, lane]),
            eight(kept[group, TANGENT + 1, lane]),
            eight(kept[group, TANGENT + 2, lane]),
        )
        bind_out = (
            eight(kept[group, ACROSS, lane]),
            eight(kept[group, ACROSS + 1, lane]),
            eight(kept[group, ACROSS + 2, lane]),
        )
        joint = TURN * np.int64(named[group, JOINT_BEFORE, lane])
        out = _carried_by(turn, joint, bind_along, bind_out, along)
        if group >= plan.of_one_joint:
            joint = TURN * np.int64(named[group, JOINT, lane])
            out = between_joints(out, _carried_by(turn, joint, bind_along, bind_out, along), share)
        row = STATION_COLUMNS * np.int64(station_rows[named[group, ROW, lane]])
        _write_lanes(stations, row + STATION_POINT, half, point)
        _write_lanes(stations, row + STATION_ALONG, half, along)
        _write_lanes(stations, row + STATION_OUT, half, out)
        _write_lanes(stations, row + STATION_SIDE, half, cross(along, out))
        write_quad(stations, 2 * (row + STATION_T) + half, t)


@njit(inline="always")  # type: ignore[untyped-decorator]
def _carried_by(turn: Floats, joint: int, bind_along: Any, bind_out: Any, along: Any) -> Any:
    return carried(
        _read_four(turn, joint),
        _read_four(turn, joint + 4),
        _read_four(turn, joint + 8),
        bind_along,
        bind_out,
        along,
    )


@njit(inline="always")  # type: ignore[untyped-decorator]
def _write_lanes(rows: Reals, row: int, half: int, a: Any) -> None:
    """Three vectors' numbers into one half of three rows of sixteen."""
    write_quad(rows, 2 * row + half, a[0])
    write_quad(rows, 2 * row + 2 + half, a[1])
    write_quad(rows, 2 * row + 4 + half, a[2])


@njit(cache=True)  # type: ignore[untyped-decorator]
def _pose_frames(plan: PosingPlan, first: int, memory: EightPosed, table: Reals, fine: Bools) -> None:
    """Where straight muscles are."""
    muscles, starts, joints, nodes = plan.muscles, plan.starts, plan.joints, memory.nodes
    for i in range(len(muscles)):
        m = np.int64(muscles[i])
        if plan.line_rows[m] >= 0:
            continue
        row, begin, last = COLUMNS * m, np.int64(starts[i]), np.int64(starts[i + 1]) - 1
        for lane in range(min(EIGHT, len(fine) - first)):
            origin = nodes[begin, 0, lane], nodes[begin, 1, lane], nodes[begin, 2, lane]
            step = (
                nodes[last, 0, lane] + -1.0 * origin[0],
                nodes[last, 1, lane] + -1.0 * origin[1],
                nodes[last, 2, lane] + -1.0 * origin[2],
            )
            if not dot(step, step) > SHORTEST_CHORD:
                fine[first + lane] = False
            turn, over = memory.own_turn[lane], memory.overs[i, lane]
            along, out = straight_frame(plan.constants, m, turn, joints[begin], joints[last], step)
            side = cross(along, out)
            for k in range(3):
                table[row + ORIGIN + k, first + lane] = origin[k]
                table[row + ALONG + k, first + lane] = along[k] * over
                table[row + OUT + k, first + lane] = out[k]
                table[row + SIDE + k, first + lane] = side[k]
