"""All that no frame changes of muscle joints, packed into one array.

To hand a dozen arrays over to compiled code takes as long as posing the muscle joints of a character: here it
is one. Whole numbers lie in it among the others, four bytes each.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import carray, njit

from ecorche.base.quads import address
from ecorche.muscles.loft_plan import (
    FRAME,
    JOINT_KEPT,
    JOINT_NAMED,
    MUSCLE_COLUMNS,
    MUSCLE_KEPT,
    PIECE_COLUMNS,
    PLACE_KEPT,
    LoftPlan,
)
from ecorche.muscles.root_curves import KEPT, NAMED, CurveGroups, Numbers

_LINE = 64  # bytes of a cache's line: every array begins with one
# whole numbers at the front: how many there are of what, then where the arrays begin
_JOINTS, _MUSCLE_JOINTS, _GROUPS, _MUSCLES, _PIECES, _BORDERS, _PLACES, _JOINT_GROUPS, _TURNED = range(9)
_STARTS, _HEAD = 9, 32


def packed(joint_count: int, curves: CurveGroups, plan: LoftPlan, bind: Numbers) -> Numbers:
    """Plans of curves and muscle joints and the latter's frames at bind, for a skeleton of so many joints."""
    named = (curves.shapes, curves.named, plan.turned, plan.place_named, plan.joint_named)
    numbers = (curves.kept, plan.muscles, plan.pieces, plan.knots, plan.muscle_kept, plan.place_kept)
    arrays: list[npt.NDArray[Any]] = [array.astype(np.uint32) for array in named]
    arrays += [array.astype(bind.dtype) for array in (*numbers, plan.joint_kept, bind)]
    head = np.zeros(_HEAD, np.uint32)
    head[:_STARTS] = (
        joint_count,
        plan.joint_count,
        len(curves.shapes),
        len(plan.muscles),
        len(plan.pieces),
        plan.knots.shape[1],
        plan.place_named.shape[1],
        len(plan.joint_named),
        len(plan.turned),
    )
    starts = np.cumsum([head.nbytes, *(-(-array.nbytes // _LINE) * _LINE for array in arrays)])
    head[_STARTS : _STARTS + len(arrays)] = starts[:-1] // [array.itemsize for array in arrays]
    raw = np.zeros(starts[-1] + _LINE, np.uint8)
    memory = raw[-raw.ctypes.data % _LINE :][: starts[-1]]
    for start, array in zip((0, *starts), (head, *arrays), strict=False):
        memory[start : start + array.nbytes] = array.reshape(-1).view(np.uint8)
    return memory.view(bind.dtype)


@njit(inline="always")  # type: ignore[untyped-decorator]
def counts(memory: Numbers) -> Any:
    """How many joints, muscle joints and muscles there are."""
    head = memory.view(np.uint32)
    return np.int64(head[_JOINTS]), np.int64(head[_MUSCLE_JOINTS]), np.int64(head[_MUSCLES])


@njit(inline="always")  # type: ignore[untyped-decorator]
def _part(numbers: Any, head: Any, which: int, shape: Any) -> Any:
    # not a slice in another shape, which takes longer to make than to read
    return carray(address(numbers, np.int64(head[_STARTS + which])), shape)


@njit(inline="always")  # type: ignore[untyped-decorator]
def unpacked(memory: Numbers) -> Any:
    """What was packed: plans of curves and of muscle joints, and frames at bind; while the memory lasts."""
    head, width = memory.view(np.uint32), 32 // memory.itemsize
    groups, muscles, pieces = np.int64(head[_GROUPS]), np.int64(head[_MUSCLES]), np.int64(head[_PIECES])
    borders, places = np.int64(head[_BORDERS]), np.int64(head[_PLACES])
    fours, turned = np.int64(head[_JOINT_GROUPS]), np.int64(head[_TURNED])
    curves = CurveGroups(
        _part(head, head, 0, (groups,)),
        _part(head, head, 1, (groups, NAMED, width)),
        _part(memory, head, 5, (groups, KEPT, width)),
    )
    plan = LoftPlan(
        int(head[_MUSCLE_JOINTS]),
        _part(head, head, 2, (turned, width)),
        _part(memory, head, 6, (muscles, MUSCLE_COLUMNS)),
        _part(memory, head, 7, (pieces, PIECE_COLUMNS)),
        _part(memory, head, 8, (groups, borders, width)),
        _part(memory, head, 9, (groups, MUSCLE_KEPT, width)),
        _part(head, head, 3, (groups, places, width)),
        _part(memory, head, 10, (groups, places, PLACE_KEPT, width)),
        _part(head, head, 4, (fours, JOINT_NAMED, width)),
        _part(memory, head, 11, (fours, JOINT_KEPT, width)),
    )
    return curves, plan, _part(memory, head, 12, (fours, FRAME, width))
