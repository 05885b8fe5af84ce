"""What posing spindles needs, one thing after another: `PosingPlan` without its fours."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ecorche.body.muscles import BodyMuscles
from ecorche.muscles.packed_sections import BELLY, CURVES
from ecorche.muscles.posing_plan import CURVE_CHANGE, KEPT, NAMED, ROW

# columns of a muscle's sweep: the belly's place, the curves outwards and sideways
SWEEP_BELLY, SWEEP_OUT, SWEEP_SIDE, SWEEP_COLUMNS = 0, 1, 8, 15
CURVE_NUMBERS = 7
"""Of a curve along a muscle: see `packed_sections`."""
CONSTANTS = CURVE_CHANGE + CURVE_NUMBERS
"""Columns of a muscle's constants: see `posing_plan`."""

Ints = npt.NDArray[Any]
Floats = npt.NDArray[Any]


class SpindleArrays(NamedTuple):
    """Muscles that a skin slides over: M in all, of which it reads R, on N nodes, with S stations.

    Attributes:
        read: Numbers of the muscles that are read, (R,).
        starts: Borders of their nodes, (R + 1,).
        joints, points: Of the nodes, (N,), and where these are at bind [m], (N, 3).
        constants: In the columns of `posing_plan`, (M, CONSTANTS).
        sweeps: In the columns above, (M, SWEEP_COLUMNS).
        named, kept: Of the stations, in the columns of `posing_plan`, (S, NAMED) and (S, KEPT).
        line_count: How many muscles are bent.
        scapula_joints, scapula_vectors: As in `PosingPlan`.
        turning: Whether the rotation of each joint, virtual ones last, is needed.
        rounding: Of the paths.
    """

    read: Ints
    starts: Ints
    joints: Ints
    points: Floats
    constants: Floats
    sweeps: Floats
    named: Ints
    kept: Floats
    line_count: int
    scapula_joints: Ints
    scapula_vectors: Floats
    turning: npt.NDArray[np.bool_]
    rounding: float


def spindle_arrays(muscles: BodyMuscles | None, joint_count: int) -> SpindleArrays:
    """Of the muscles of a body with so many joints, what its skin reads; of a body without, nothing."""
    if muscles is None:
        none = np.zeros(0, np.uint32)
        return SpindleArrays(
            read=none,
            starts=np.zeros(1, np.uint32),
            joints=none,
            points=np.zeros((0, 3)),
            constants=np.zeros((0, CONSTANTS)),
            sweeps=np.zeros((0, SWEEP_COLUMNS)),
            named=np.zeros((0, NAMED), np.uint32),
            kept=np.zeros((0, KEPT)),
            line_count=0,
            scapula_joints=np.zeros((0, 3), np.uint32),
            scapula_vectors=np.zeros((0, 4, 3)),
            turning=np.zeros(joint_count, np.bool_),
            rounding=0.0,
        )
    plan = muscles.musculature.plan(muscles.sliding.stations_read)
    named = _one_by_one(plan.named)
    # a station that fills up a four is there already
    _, once = np.unique(named[:, ROW], return_index=True)
    swept = slice(CURVES + CURVE_NUMBERS, CURVES + 3 * CURVE_NUMBERS)
    return SpindleArrays(
        read=plan.muscles,
        starts=plan.starts,
        joints=plan.joints,
        points=_one_by_one(plan.node_points)[: len(plan.joints)],
        constants=plan.constants,
        sweeps=np.column_stack([plan.rows[:, BELLY], plan.rows[:, swept]]),
        named=named[once],
        kept=_one_by_one(plan.kept)[once],
        line_count=plan.line_count,
        scapula_joints=plan.scapula_joints,
        scapula_vectors=plan.scapula_vectors,
        turning=plan.turning,
        rounding=plan.rounding,
    )


def _one_by_one(quads: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Things side by side (groups, columns, 4) one after another, (4 groups, columns)."""
    return np.moveaxis(quads, -1, 1).reshape(-1, quads.shape[1])
