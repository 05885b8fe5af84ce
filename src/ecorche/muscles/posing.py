"""All muscles of a body posed in one compiled call: from joints and bulges to what the skin reads.

The same as `SectionFrames.moved`, `contract` and `path_sections` one after another, which stay the analytical
tool for batches, lengths and moment arms, and which the tests hold this against (1e-12). The loop differs:
joints first, virtual scapulae among them, then nodes, then muscles and the stations of bent ones, all numbers
in float64 until the float32 rows of `packed_sections` are filled. Muscles are few and cheap: one thread has
posed them before another would have woken up.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from ecorche.muscles.centre_lines import STATIONS, stations
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
    STEP,
    pack_curve,
    pack_lines,
    pack_sweep,
)
from ecorche.muscles.paths import SHORTEST
from ecorche.muscles.posed_joints import pose_joints
from ecorche.muscles.scapula import VirtualScapula
from ecorche.muscles.section_frames import SectionFrames
from ecorche.muscles.spindle import Spindles
from ecorche.muscles.triples import cross, dot, plus, read, scaled, times, turned, unit, write
from ecorche.muscles.volume import MOVING, VolumeRule, belly_rule

Floats = npt.NDArray[np.float64]
Reals = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]
Naturals = npt.NDArray[np.uint32]

_MOVING = MOVING.reshape(8)

# columns of a muscle's constants: chord and S_d at bind, the insertion's weight, s_f; square, gradient,
# constant, thinnest and bind length of its belly's rule; control values of C_T, its curve, how that follows
_CHORD, _BIND_OUT, _WEIGHT, _SCALE, _RULE, _THICKNESS, _CURVE, _CURVE_CHANGE = 0, 3, 6, 7, 8, 13, 21, 28
# columns of a muscle in a frame: its frame, length and control values of C_T
FRAME, LENGTH, THICKNESS, NUMBERS = 0, 12, 13, 21
# columns of a segment that ends at a node: direction, length; the node's rounding and bend if it is a corner;
# arc length up to the node, one over the whole
_DIRECTION, _LENGTH, _REACH, _BEND, _ARC, _OVER = 0, 3, 4, 5, 8, 9


class PosingPlan(NamedTuple):
    """What posing needs and no frame changes.

    Attributes:
        starts, joints, points, rounding: Of the paths, at bind.
        turning: Whether the rotation of each joint, virtual ones last, is needed.
        muscles: Numbers of each muscle, in the columns above.
        rows: The table's rows, with what does not change.
        line_rows: Row of each muscle's bent line or −1, shape (M,).
        bent_nodes: Of all bent lines the nodes that end segments, their joint and that of the node before,
            and where their stations begin, shape (S + 1, 4); the last row ends the stations.
        segments: Direction and S_d of those segments at bind, shape (S, 6).
        stations: Of all bent lines in turn: share of the way between the nodes, tangent and S_d at bind, and
            whether at bind the station lies on a corner's rounding, shape (B STATIONS, 8).
        scapula_joints, scapula_vectors: Girdle, thorax and arm (K, 3); pivot, axis, hanging, arm (K, 4, 3).
    """

    starts: Ints
    joints: Naturals
    points: Floats
    rounding: float
    turning: npt.NDArray[np.bool_]
    muscles: Floats
    rows: Reals
    line_rows: npt.NDArray[np.int32]
    bent_nodes: Naturals
    segments: Floats
    stations: Floats
    scapula_joints: Ints
    scapula_vectors: Floats


class PosedTables(NamedTuple):
    """One frame of all muscles.

    Attributes:
        numbers: Of the muscles, in the columns `FRAME` (origin, along, out, side), `LENGTH`, `THICKNESS`; of
            a bent one the frame is that of its first station.
        stations: Of the bent lines, in the columns of `packed_sections` with unit along, (B STATIONS, STEP).
        table, lines: See `PackedSections`.
    """

    numbers: Floats
    stations: Floats
    table: Reals
    lines: Reals


def posing_plan(
    frames: SectionFrames, spindles: Spindles, scapulae: Sequence[VirtualScapula], volume: VolumeRule
) -> PosingPlan:
    """Everything about the muscles that stays the same from frame to frame."""
    paths, count = frames.paths, frames.paths.muscle_count
    bent = np.flatnonzero(frames.bent)
    line_rows = np.full(count, -1, np.int32)
    line_rows[bent] = np.arange(len(bent))
    node, share = stations(frames)
    tangents, out = frames.bind_directions(node, share)
    after = node[bent].reshape(-1)
    places = np.concatenate([share[..., None], tangents, out], axis=-1)[bent].reshape(-1, 7)
    ends = np.concatenate([np.zeros(0, np.int64), *(np.arange(*paths.starts[m : m + 2])[1:] for m in bent)])
    segments = np.concatenate(frames.bind_segments(), axis=1)
    rounded = np.abs(places[:, 1:4] - segments[after, :3]).max(axis=1, initial=0.0) > 1e-13
    begins = np.searchsorted(after, np.append(ends, len(paths.joints)))
    carriers = [np.append(column, 0) for column in (ends, paths.joints[ends], paths.joints[ends - 1])]
    turning = np.zeros(paths.skeleton.joint_count, np.bool_)
    turning[paths.joints] = True
    scapula_joints = np.array([[s.girdle, s.thorax, s.arm] for s in scapulae], np.int64).reshape(-1, 3)
    turning[scapula_joints] = True
    rule = belly_rule(spindles, volume)
    curve, change, rows = np.zeros((count, 7)), np.zeros((count, 7)), np.zeros((count, COLUMNS), np.float32)
    _constant_curves(spindles.thickness, spindles.sweep, spindles.belly, MOVING, curve, change, rows)
    numbers = (frames.weight, spindles.scale, np.full(count, rule.square), *rule[1:], spindles.bind_length)
    return PosingPlan(
        starts=paths.starts,
        joints=paths.joints.astype(np.uint32),
        points=paths.bind_points,
        rounding=float(paths.rounding),
        turning=turning,
        muscles=np.concatenate(
            [
                frames.bind.along,
                frames.out,
                np.stack(numbers, axis=1),
                spindles.thickness.reshape(-1, 8),
                curve,
                change,
            ],
            axis=1,
        ),
        rows=rows,
        line_rows=line_rows,
        bent_nodes=np.stack([*carriers, begins], axis=1).astype(np.uint32),
        segments=segments[ends],
        stations=np.concatenate([places, rounded[:, None]], axis=1),
        scapula_joints=scapula_joints,
        scapula_vectors=np.array(
            [[s.pivot, s.axis, s.hanging, s.arm_direction] for s in scapulae], np.float64
        ).reshape(-1, 4, 3),
    )


def posed_tables(plan: PosingPlan, difference: Floats, bulge: Floats) -> PosedTables | None:
    """One frame, for the character's own joints ``M − I`` (joints, 4, 4) and the bulge of each muscle (M,).

    None where something cannot be: nodes that coincide, a joint scaled to nothing, a bulge of zero or less,
    numbers that are not finite. `SectionFrames.moved` and `contract` say which, or do without this shortcut.
    """
    count, lines = len(plan.rows), len(plan.stations) // STATIONS
    tables = PosedTables(
        np.empty((count, NUMBERS)),
        np.empty((lines * STATIONS, STEP)),
        np.empty((count, COLUMNS), np.float32),
        np.empty((lines, STATIONS - 1, STATION_COLUMNS), np.float32),
    )
    return tables if _pose(*plan, difference, bulge, *tables) else None


@njit(cache=True)  # type: ignore[untyped-decorator]
def _constant_curves(
    thickness: Floats,
    sweep: Floats,
    belly: Floats,
    moving: Floats,
    curve: Floats,
    change: Floats,
    rows: Reals,
) -> None:
    for m in range(len(belly)):
        pack_curve(thickness[m], belly[m], curve[m], 0)
        pack_curve(moving, belly[m], change[m], 0)
        pack_sweep(sweep[m], belly[m], rows[m])
        rows[m, BELLY] = belly[m]


@njit(cache=True)  # type: ignore[untyped-decorator]
def _pose(
    starts: Ints,
    joints: Naturals,
    bind_points: Floats,
    rounding: float,
    turning: npt.NDArray[np.bool_],
    muscles: Floats,
    rows: Reals,
    line_rows: npt.NDArray[np.int32],
    bent_nodes: Naturals,
    bind_segments: Floats,
    places: Floats,
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
    moved, turn = np.empty((len(turning), 12)), np.empty((len(turning), 9))
    points, segments = np.empty(bind_points.shape), np.empty((len(bind_points), _OVER + 1))
    changes = np.empty(len(rows))
    if not (
        pose_joints(turning, scapula_joints, scapula_vectors, difference, moved, turn)
        and _pose_nodes(starts, joints, bind_points, rounding, moved, points, segments)
        and _contract(starts, segments, muscles, bulge, numbers, changes)
    ):
        return False
    _pose_stations(bent_nodes, bind_segments, places, turn, points, segments, stations)
    pack_lines(stations, lines)
    if not _pose_chords(starts, joints, muscles, line_rows, turn, points, stations, numbers):
        return False
    _fill_table(muscles, rows, bulge, numbers, changes, table)
    return True


@njit(cache=True)  # type: ignore[untyped-decorator]
def _pose_nodes(
    starts: Ints,
    joints: Naturals,
    bind: Floats,
    rounding: float,
    moved: Floats,
    points: Floats,
    segments: Floats,
) -> bool:
    """Where the nodes are, the segments that end at them, and the corners."""
    for n in range(len(points)):
        joint, p = joints[n], read(bind, n)
        for k in range(3):
            change = dot(read(moved, joint, 4 * k), p) + moved[joint, 4 * k + 3]
            # twice subtracted, so that a coordinate of minus zero keeps its sign at bind
            points[n, k] = p[k] - (0.0 - change)
    for m in range(len(starts) - 1):
        first, last = starts[m], starts[m + 1] - 1
        segments[first, _LENGTH] = segments[first, _REACH] = segments[last, _REACH] = 0.0
        arc = 0.0
        for n in range(first + 1, last + 1):
            step = plus(read(points, n), -1.0, read(points, n - 1))
            length = np.sqrt(dot(step, step))
            if not length >= SHORTEST:
                return False
            direction = scaled(1.0 / length, step)
            write(segments, n, _DIRECTION, direction)
            arc += length
            segments[n, _LENGTH], segments[n, _ARC] = length, arc
            if n > first + 1:
                before = segments[n - 1, _LENGTH]
                segments[n - 1, _REACH] = rounding * before * length / (before + length)
                write(segments, n - 1, _BEND, plus(direction, -1.0, read(segments, n - 1, _DIRECTION)))
        over = 1.0 / arc
        for n in range(first + 1, last + 1):
            segments[n, _OVER] = over
    return True


@njit(cache=True, error_model="numpy")  # type: ignore[untyped-decorator]
def _contract(
    starts: Ints, segments: Floats, muscles: Floats, bulge: Floats, numbers: Floats, changes: Floats
) -> bool:
    """Lengths of the muscles, and the change of their bellies that keeps their volume: see `volume`."""
    for m in range(len(numbers)):
        whole = segments[starts[m + 1] - 1, _ARC]
        if not (whole < np.inf and bulge[m] > 0.0 and bulge[m] < np.inf):
            return False
        square, gradient = muscles[m, _RULE], muscles[m, _RULE + 1]
        constant, thinnest = muscles[m, _RULE + 2], muscles[m, _RULE + 3]
        excess = constant * (1.0 - muscles[m, _RULE + 4] / whole)
        change = thinnest
        if not excess + thinnest * (gradient + square * thinnest) > 0.0:
            root = np.sqrt(max(gradient * gradient - 4.0 * square * excess, 0.0))
            change = max(-2.0 * excess / (gradient + root), thinnest)
        numbers[m, LENGTH], changes[m] = whole, change
        for k in range(8):
            numbers[m, THICKNESS + k] = muscles[m, _THICKNESS + k] + change * _MOVING[k]
    return True


@njit(cache=True, error_model="numpy")  # type: ignore[untyped-decorator]
def _pose_stations(
    bent_nodes: Naturals,
    bind: Floats,
    places: Floats,
    turn: Floats,
    points: Floats,
    segments: Floats,
    stations: Floats,
) -> None:
    """See `PosedFrames.on`: the stations of all bent lines, segment by segment."""
    one = np.uint32(1)
    for number in range(len(bind)):
        n, joint, joint_before = bent_nodes[number, 0], bent_nodes[number, 1], bent_nodes[number, 2]
        direction, length, end = read(segments, n), segments[n, _LENGTH], read(points, n)
        arc, over = segments[n, _ARC], segments[n, _OVER]
        reach_before, reach = segments[n - one, _REACH], segments[n, _REACH]
        # away from the corners S_d as each joint carries it is one direction for the whole segment
        bind_along, bind_out = read(bind, number), read(bind, number, 3)
        out = before = turned(
            times(turn, joint_before, bind_along), direction, times(turn, joint_before, bind_out)
        )
        after, side = before, cross(direction, before)
        if joint != joint_before:
            after = turned(times(turn, joint, bind_along), direction, times(turn, joint, bind_out))
        for k in range(bent_nodes[number, 3], bent_nodes[number + 1, 3]):
            share = places[k, 0]
            left = (1.0 - share) * length
            point, tangent = plus(end, -left, direction), direction
            past, ahead = reach_before - share * length, reach - left
            if past > 0.0 or ahead > 0.0 or places[k, 7] != 0.0:
                # two corners never reach the same place: each at most to the middle of their segment
                if past > 0.0:
                    part, bend = past / (2.0 * reach_before), read(segments, n - one, _BEND)
                    point = plus(point, 0.5 * part * past, bend)
                    tangent = unit(plus(direction, -part, bend))
                elif ahead > 0.0:
                    part, bend = ahead / (2.0 * reach), read(segments, n, _BEND)
                    point = plus(point, 0.5 * part * ahead, bend)
                    tangent = unit(plus(direction, part, bend))
                along, across = read(places, k, 1), read(places, k, 4)
                out = turned(times(turn, joint_before, along), tangent, times(turn, joint_before, across))
                if joint != joint_before:
                    other = turned(times(turn, joint, along), tangent, times(turn, joint, across))
                    out = unit(plus(scaled(1.0 - share, out), share, other))
                write(stations, k, STATION_SIDE, cross(tangent, out))
            elif joint != joint_before:
                out = unit(plus(scaled(1.0 - share, before), share, after))
                write(stations, k, STATION_SIDE, cross(tangent, out))
            else:
                out = before
                write(stations, k, STATION_SIDE, side)
            write(stations, k, STATION_POINT, point)
            write(stations, k, STATION_ALONG, tangent)
            write(stations, k, STATION_OUT, out)
            stations[k, STATION_T] = (arc - left) * over


@njit(cache=True)  # type: ignore[untyped-decorator]
def _pose_chords(
    starts: Ints,
    joints: Naturals,
    muscles: Floats,
    line_rows: npt.NDArray[np.int32],
    turn: Floats,
    points: Floats,
    stations: Floats,
    numbers: Floats,
) -> bool:
    """See `SectionFrames.moved`: the frames of straight muscles; of bent ones that of the first station."""
    for m in range(len(numbers)):
        if line_rows[m] >= 0:
            for k in range(12):
                numbers[m, FRAME + k] = stations[line_rows[m] * STATIONS, STATION_POINT + k]
            continue
        first, last = starts[m], starts[m + 1] - 1
        step = plus(read(points, last), -1.0, read(points, first))
        if not dot(step, step) > 1e-18:
            return False
        along, joint, weight = unit(step), joints[first], muscles[m, _WEIGHT]
        bind_along, bind_out = read(muscles, m, _CHORD), read(muscles, m, _BIND_OUT)
        out = turned(times(turn, joint, bind_along), along, times(turn, joint, bind_out))
        if weight > 0.0:
            joint = joints[last]
            other = turned(times(turn, joint, bind_along), along, times(turn, joint, bind_out))
            if out != other:
                side = cross(along, out)
                angle = weight * np.arctan2(dot(side, other), dot(out, other))
                out = plus(scaled(np.cos(angle), out), np.sin(angle), side)
        write(numbers, m, FRAME, read(points, first))
        write(numbers, m, FRAME + 3, along)
        write(numbers, m, FRAME + 6, out)
        write(numbers, m, FRAME + 9, cross(along, out))
    return True


@njit(cache=True, error_model="numpy")  # type: ignore[untyped-decorator]
def _fill_table(
    muscles: Floats, rows: Reals, bulge: Floats, numbers: Floats, changes: Floats, table: Reals
) -> None:
    """The muscles packed."""
    for m in range(len(table)):
        for k in range(COLUMNS):
            table[m, k] = rows[m, k]
        for k in range(7):
            table[m, CURVES + k] = muscles[m, _CURVE + k] + changes[m] * muscles[m, _CURVE_CHANGE + k]
        table[m, BULGE], table[m, HEIGHT] = bulge[m], muscles[m, _SCALE] * bulge[m]
        over = 1.0 / numbers[m, LENGTH]
        table[m, OVER] = over
        for k in range(3):
            table[m, ORIGIN + k], table[m, ALONG + k] = numbers[m, k], numbers[m, 3 + k] * over
            table[m, OUT + k], table[m, SIDE + k] = numbers[m, 6 + k], numbers[m, 9 + k]
