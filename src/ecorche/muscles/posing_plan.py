"""What the posing of muscles needs and no frame changes, laid out for `posing`: four things side by side.

A plan may be for everything, or only for what a skin reads: of the template's stations a skin lies over
about six in ten, and over some muscles no skin lies at all. What a plan leaves out is left as it was.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from ecorche.base.quads import fours
from ecorche.muscles.centre_lines import STATIONS, stations
from ecorche.muscles.packed_sections import BELLY, COLUMNS, pack_curve, pack_sweep
from ecorche.muscles.scapula import VirtualScapula
from ecorche.muscles.section_frames import SectionFrames
from ecorche.muscles.spindle import Spindles
from ecorche.muscles.volume import MOVING, VolumeRule, belly_rule

Bools = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]
Reals = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]
Naturals = npt.NDArray[np.uint32]

# columns of a muscle's constants: chord and S_d at bind, the insertion's weight, s_f; square, gradient,
# constant, thinnest and bind length of its belly's rule; the curve of C_T, how that follows the belly
CHORD, BIND_OUT, WEIGHT, SCALE, RULE, CURVE, CURVE_CHANGE = 0, 3, 6, 7, 8, 13, 20
# what each station's lanes name: the node after it, the nearer node, joints of the one after and before, its
# muscle and its own row
NODE, NEAR, JOINT, JOINT_BEFORE, OWNER, ROW, NAMED = 0, 1, 2, 3, 4, 5, 6
# what they keep: share of the way between the nodes, tangent and S_d at bind
SHARE, TANGENT, ACROSS, KEPT = 0, 1, 4, 7


class PosingPlan(NamedTuple):
    """What posing needs and no frame changes; K of the M muscles are posed, and N nodes.

    Attributes:
        muscles: Which muscles are posed, shape (K,).
        starts: Borders of their nodes, shape (K + 1,).
        joints: Of the nodes, shape (N,).
        node_rows, node_joints, node_points: Number, joint and bind place of the nodes, by fours: (G, 4),
            (G, 4) and (G, 3, 4).
        segments: The nodes that end segments and the ones before, by fours, shape (G, 2, 4).
        corners: The nodes between two segments and the ones after, by fours, shape (G, 2, 4).
        rounding: Of the paths.
        turning: Whether each joint, virtual ones last, is needed.
        constants: Numbers of each muscle, in the columns above, shape (M, columns).
        rows: The table's rows, with what does not change.
        line_rows: Row of each muscle's bent line or −1, shape (M,).
        line_count: How many bent lines there are.
        named, kept: Of the stations of bent lines by fours, in the columns above, (G, NAMED, 4) and
            (G, KEPT, 4); those between nodes of one joint first.
        of_one_joint: How many of these fours are.
        scapula_joints, scapula_vectors: Girdle, thorax and arm (S, 3); pivot, axis, hanging, arm (S, 4, 3).
    """

    muscles: Naturals
    starts: Naturals
    joints: Naturals
    node_rows: Naturals
    node_joints: Naturals
    node_points: Floats
    segments: Naturals
    corners: Naturals
    rounding: float
    turning: Bools
    constants: Floats
    rows: Reals
    line_rows: npt.NDArray[np.int32]
    line_count: int
    named: Naturals
    kept: Floats
    of_one_joint: int
    scapula_joints: Ints
    scapula_vectors: Floats


def posing_plan(
    frames: SectionFrames,
    spindles: Spindles,
    scapulae: Sequence[VirtualScapula],
    volume: VolumeRule,
    read: Bools | None = None,
) -> PosingPlan:
    """Everything about the muscles that stays the same from frame to frame.

    ``read`` (M, STATIONS) says which stations are wanted, of a straight muscle any; None wants all.
    """
    count = frames.paths.muscle_count
    wanted = np.ones((count, STATIONS), np.bool_) if read is None else read
    muscles = np.flatnonzero(wanted.any(axis=1))
    paths = frames.paths
    sizes = np.diff(paths.starts)[muscles]
    starts = np.concatenate([[0], np.cumsum(sizes)])
    # numbers of the kept nodes in the paths, and of the paths' nodes among the kept ones
    nodes = np.repeat(paths.starts[muscles] - starts[:-1], sizes) + np.arange(starts[-1])
    of_node = np.zeros(len(paths.joints), np.int64)
    of_node[nodes] = np.arange(len(nodes))
    inner = np.ones(len(nodes), np.bool_)
    inner[starts[:-1]] = False
    ends = np.flatnonzero(inner)
    inner[starts[1:] - 1] = False
    corners = np.flatnonzero(inner)
    scapula_joints = np.array([[s.girdle, s.thorax, s.arm] for s in scapulae], np.int64).reshape(-1, 3)
    turning = np.zeros(paths.skeleton.joint_count, np.bool_)
    turning[paths.joints[nodes]] = True
    # a virtual scapula that holds nothing need not be anywhere
    turning[scapula_joints[turning[len(turning) - len(scapula_joints) :]]] = True
    line_rows = np.full(count, -1, np.int32)
    line_rows[frames.bent] = np.arange(frames.bent.sum())
    named, kept, of_one_joint = _stations(frames, wanted & frames.bent[:, None], muscles, line_rows, of_node)
    constants, rows = _constants(frames, spindles, volume)
    return PosingPlan(
        muscles=_naturals(muscles),
        starts=_naturals(starts),
        joints=_naturals(paths.joints[nodes]),
        node_rows=_naturals(fours(np.arange(len(nodes)))),
        node_joints=_naturals(fours(paths.joints[nodes])),
        node_points=fours(paths.bind_points[nodes]),
        segments=_naturals(fours(np.stack([ends, ends - 1], axis=1))),
        corners=_naturals(fours(np.stack([corners, corners + 1], axis=1))),
        rounding=float(paths.rounding),
        turning=turning,
        constants=constants,
        rows=rows,
        line_rows=line_rows,
        line_count=int(frames.bent.sum()),
        named=named,
        kept=kept,
        of_one_joint=of_one_joint,
        scapula_joints=scapula_joints,
        scapula_vectors=np.array(
            [[s.pivot, s.axis, s.hanging, s.arm_direction] for s in scapulae], np.float64
        ).reshape(-1, 4, 3),
    )


def _stations(
    frames: SectionFrames, wanted: Bools, muscles: Ints, line_rows: npt.NDArray[np.int32], of_node: Ints
) -> tuple[Naturals, Floats, int]:
    """``named``, ``kept`` and ``of_one_joint`` of a plan, for the wanted stations (M, STATIONS)."""
    joints = frames.paths.joints
    node, share = stations(frames)
    tangents, out = frames.bind_directions(node, share)
    two = joints[node] != joints[node - 1]
    # the rounding of a corner ends before the middle of its segments: the nearer node alone counts
    first_half = share < 0.5
    places = np.concatenate([share[..., None], tangents, out], axis=-1)
    # those of one joint are less work
    of_one, of_two = fours(np.flatnonzero(wanted & ~two)), fours(np.flatnonzero(wanted & two))
    muscle, station = np.divmod(np.concatenate([of_one, of_two]).ravel(), STATIONS)
    after = node[muscle, station]
    names = (
        of_node[after],
        of_node[after - first_half[muscle, station]],
        joints[after],
        joints[after - 1],
        np.searchsorted(muscles, muscle),
        line_rows[muscle] * STATIONS + station,
    )
    return _naturals(fours(np.stack(names, axis=1))), fours(places[muscle, station]), len(of_one)


def _constants(frames: SectionFrames, spindles: Spindles, volume: VolumeRule) -> tuple[Floats, Reals]:
    """``constants`` and ``rows`` of a plan."""
    count, rule = len(spindles.belly), belly_rule(spindles, volume)
    curve, change, rows = np.zeros((count, 7)), np.zeros((count, 7)), np.zeros((count, COLUMNS), np.float32)
    _pack_curves(spindles.thickness, spindles.sweep, spindles.belly, MOVING, curve, change, rows)
    numbers = (frames.weight, spindles.scale, np.full(count, rule.square), *rule[1:], spindles.bind_length)
    columns = (
        frames.bind.along,
        frames.out,
        np.stack(numbers, axis=1),
        curve,
        change,
    )
    return np.concatenate(columns, axis=1), rows


@njit(cache=True)  # type: ignore[untyped-decorator]
def _pack_curves(
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


def _naturals(values: npt.NDArray[Any]) -> Naturals:
    return np.ascontiguousarray(values, np.uint32)
