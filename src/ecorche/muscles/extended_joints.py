"""All joints of a frame, the skeleton's and then the muscles', in one compiled call.

Posing the muscle joints of a character takes some microseconds, and so does handing two dozen arrays over to
compiled code: they are handed over once, as one thing that compiled code keeps.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit
from numba.core.types.containers import StructRef
from numba.core.types.misc import unliteral
from numba.experimental import structref

from ecorche.muscles.loft_joints import FRAME, pose_muscle_joints
from ecorche.muscles.loft_plan import LARGEST_BULGE, LoftPlan
from ecorche.muscles.root_curves import CurveGroups

Floats = npt.NDArray[np.float64]


@structref.register
class _KeptType(StructRef):  # type: ignore[misc]
    """Numba's type of what is handed over once."""

    def preprocess_fields(self, fields: Any) -> Any:
        return tuple((name, unliteral(kind)) for name, kind in fields)


class Kept(structref.StructRefProxy):  # type: ignore[misc]
    """Plans of curves and muscle joints, and frames of the muscle joints at bind (groups, FRAME, 4)."""


structref.define_proxy(Kept, _KeptType, ["curves", "plan", "bind"])


@njit(cache=True)  # type: ignore[untyped-decorator]
def keep(curves: CurveGroups, plan: LoftPlan, bind: Floats) -> Kept:
    """What the calls below ask for."""
    return Kept(curves, plan, bind)


@njit(cache=True)  # type: ignore[untyped-decorator]
def difference_of(kept: Any, difference: Floats, bulge: Floats, result: Floats) -> bool:
    """``M − I`` of the muscle joints (K, 4, 4) from that of the joints and T (M,); False where none is."""
    if difference.shape != (len(kept.plan.turning), 4, 4) or len(bulge) != len(kept.plan.muscles):
        return False
    done: bool = pose_muscle_joints(
        kept.curves, kept.plan, kept.bind, difference, bulge, np.empty((0, FRAME, 4)), result
    )
    return done


@njit(cache=True)  # type: ignore[untyped-decorator]
def extend(kept: Any, difference: Floats, activation: Floats, result: Floats) -> bool:
    """``M − I`` of the joints and then of the muscle joints (joints + K, 4, 4), for muscles so active (M,).

    False where a pose or an activation cannot be.
    """
    muscles, count = kept.plan.muscles, len(kept.plan.turning)
    if difference.shape != (count, 4, 4) or len(activation) != len(muscles):
        return False
    bulge = np.empty(len(muscles))
    for muscle in range(len(muscles)):
        active, largest = activation[muscle], muscles[muscle, LARGEST_BULGE]
        if not (active >= 0.0 and active <= 1.0 and largest >= 1.0):
            return False
        bulge[muscle] = 1.0 + active * (largest - 1.0)
    for joint in range(count):
        for i in range(4):
            for j in range(4):
                result[joint, i, j] = difference[joint, i, j]
    done: bool = pose_muscle_joints(
        kept.curves, kept.plan, kept.bind, difference, bulge, np.empty((0, FRAME, 4)), result[count:]
    )
    return done
