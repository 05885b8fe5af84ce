"""One frame of a body's muscles: bulge, posing and displacement in one compiled call.

All three are short: handing over their arrays one by one, and going from one to the next by way of Python,
took a third of their time. So the arrays are handed over once, as one thing that compiled code keeps. Where
something cannot be, nothing is done, and the parts one by one say in words what it is.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import get_num_threads, njit
from numba.core.types.containers import StructRef
from numba.core.types.misc import unliteral
from numba.experimental import structref

from ecorche.base.compiled_once import NO
from ecorche.body.frames import PointSet
from ecorche.muscles.musculature import Musculature
from ecorche.muscles.posing import PosedTables, pose, posing_memory
from ecorche.muscles.posing_plan import PosingPlan
from ecorche.skin.sliding import SlidingSkin
from ecorche.skin.sliding_groups import SlidingLayout, slide_alone, slide_shared

Floats = npt.NDArray[np.float64]


@structref.register
class _PreparedType(StructRef):  # type: ignore[misc]
    """Numba's type of what is handed over once."""

    def preprocess_fields(self, fields: Any) -> Any:
        return tuple((name, unliteral(kind)) for name, kind in fields)


class _Prepared(structref.StructRefProxy):  # type: ignore[misc]
    """Plan, layout, largest bulges (M,) and memory of one frame."""


structref.define_proxy(_Prepared, _PreparedType, ["plan", "layout", "largest_bulge", "tables"])


class Displacement:
    """The displacement of one skin by its muscles, from joints and activations, ready for frame after frame.

    Args:
        musculature: The muscles.
        sliding: The skin over them.
        largest_bulge: Of each muscle, at full activation, (M,).
    """

    def __init__(self, musculature: Musculature, sliding: SlidingSkin, largest_bulge: Floats) -> None:
        self._plan, self._layout = musculature.plan(sliding.stations_read), sliding.layout
        self._largest_bulge, self._rest = largest_bulge, np.zeros(len(largest_bulge))
        self._shape, self._is_shared = (sliding.vertex_count, 3), sliding.is_shared
        # what no frame is using, one for each thread that has asked at once
        self._idle: list[_Prepared] = []

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_idle": []}  # memory of frames stays here

    def apply(self, points: PointSet, difference: Floats, activation: npt.ArrayLike | None) -> bool:
        """Move skinned points (vertices, 3) in place; False, and nothing moved, where something cannot be.

        ``difference`` ``M − I`` is of the character's joints (joints, 4, 4), C-contiguous float64;
        ``activation`` of the muscles (M,), None at rest.
        """
        if points.shape != self._shape or points.dtype != np.float32 or not points.flags.c_contiguous:
            return False
        active = self._rest if activation is None else np.ascontiguousarray(activation, np.float64)
        if active.ndim != 1 or difference.ndim != 3:
            return False
        try:
            prepared = self._idle.pop()
        except IndexError:
            tables = posing_memory(self._plan, exact=False)
            prepared = _prepare(self._plan, self._layout, self._largest_bulge, tables)
        done: bool
        if self._is_shared:
            done = _displace_shared(prepared, difference, active, points, get_num_threads())
        else:
            done = _displace_alone(prepared, difference, active, points)
        self._idle.append(prepared)
        return done


@njit(cache=True)  # type: ignore[untyped-decorator]
def _prepare(
    plan: PosingPlan, layout: SlidingLayout, largest_bulge: Floats, tables: PosedTables
) -> _Prepared:
    return _Prepared(plan, layout, largest_bulge, tables)


@njit(cache=True)  # type: ignore[untyped-decorator]
def _displace_alone(prepared: Any, difference: Floats, activation: Floats, points: PointSet) -> bool:
    """Pose the muscles and move the skin; False, and nothing moved, where something cannot be."""
    if not _posed(prepared, difference, activation):
        return False
    slide_alone(prepared.layout, prepared.tables.table, prepared.tables.lines, points, NO)
    return True


@njit(cache=True)  # type: ignore[untyped-decorator]
def _displace_shared(
    prepared: Any, difference: Floats, activation: Floats, points: PointSet, parts: int
) -> bool:
    """The same, the skin on so many threads."""
    if not _posed(prepared, difference, activation):
        return False
    slide_shared(prepared.layout, prepared.tables.table, prepared.tables.lines, points, NO, parts)
    return True


@njit(inline="always")  # type: ignore[untyped-decorator]
def _posed(prepared: Any, difference: Floats, activation: Floats) -> bool:
    """Pose the muscles into their tables; False where something cannot be."""
    plan, tables, largest_bulge = prepared.plan, prepared.tables, prepared.largest_bulge
    joints = len(plan.turning) - len(plan.scapula_joints)
    if difference.shape != (joints, 4, 4) or activation.shape != largest_bulge.shape:
        return False
    bulge = np.empty(len(largest_bulge))
    fine: bool = bulge_in_frame(activation, largest_bulge, bulge) and pose(plan, difference, bulge, tables)
    return fine


@njit(cache=True)  # type: ignore[untyped-decorator]
def bulge_in_frame(activation: Floats, largest: Floats, bulge: Floats) -> bool:
    """`bulge_from_activation` of one frame; False where something cannot be."""
    fine = True
    for m in range(len(bulge)):
        fine &= activation[m] >= 0.0 and activation[m] <= 1.0 and largest[m] >= 1.0
        bulge[m] = 1.0 + activation[m] * (largest[m] - 1.0)
    return fine
