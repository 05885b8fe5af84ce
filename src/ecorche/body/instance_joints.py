"""Joints and muscle joints of up to sixteen instances, side by side, as skinning reads them.

Lanes that have no instance keep what was there before: nobody reads what becomes of them.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit, prange

from ecorche.base.lane_transpose import transpose
from ecorche.base.lanes import WIDTH, rows_of_lanes
from ecorche.body.vertex_program import VertexProgram
from ecorche.muscles.extended_joints import skin_rows_of
from ecorche.skin.instance_skin import ROW

Bools = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Points = npt.NDArray[np.float32]


class InstanceJoints:
    """Memory for the joints of sixteen instances of a character.

    Attributes:
        minus: ``I − M`` of joints and then of muscle joints, the upper three rows of each, (…, 16).
    """

    def __init__(self, program: VertexProgram) -> None:
        found = None if program.body.lofts is None else program.body.lofts.lofts
        self._kept = None if found is None else found.kept_for_skin
        self._parents = np.zeros(0, np.int64) if found is None else found.joints.parents
        self._owners = np.zeros(0, np.int64) if found is None else found.joints.muscles
        padded = -(-(program.joint_count + program.muscle_joint_count) * ROW // WIDTH) * WIDTH
        self._rows = np.zeros((WIDTH, padded), np.float32)
        self.minus = rows_of_lanes((padded,))

    @property
    def kept_bytes(self) -> int:
        """Memory of it."""
        return self._rows.nbytes + self.minus.nbytes

    def pose(self, moved: Floats, active: Floats, gain: Floats, fine: Bools) -> None:
        """Pose them.

        Args:
            moved: ``M − I`` of the skeleton's joints, (instances, joints, 4, 4).
            active, gain: Of the muscles found in the skin, (instances, muscles).
            fine: False is written where an instance cannot be posed so, (16,).
        """
        if self._kept is not None and gain.any():
            _pose_muscle_joints(
                self._kept, moved, active, gain, self._parents, self._owners, self._rows, fine
            )
        else:
            _negate(moved, self._parents, self._rows)
        _lay(self._rows, self.minus)


@njit(cache=True)  # type: ignore[untyped-decorator]
def _negate(moved: Floats, parents: Ints, rows: Points) -> None:
    """``I − M`` of joints, and of muscle joints that go with their limbs."""
    joints = moved.shape[1]
    for lane in range(len(moved)):
        for joint in range(joints + len(parents)):
            of = joint if joint < joints else parents[joint - joints]
            for k in range(ROW):
                rows[lane, ROW * joint + k] = 0.0 - moved[lane, of, k // 4, k % 4]


@njit(parallel=True, cache=True)  # type: ignore[untyped-decorator]
def _pose_muscle_joints(
    kept: Points,
    moved: Floats,
    activation: Floats,
    gain: Floats,
    parents: Ints,
    owners: Ints,
    rows: Points,
    fine: Bools,
) -> None:
    """``I − M`` of joints and muscle joints, the latter nearer to their limbs the less they are shown."""
    joints = moved.shape[1]
    for lane in prange(len(moved)):
        result = np.empty((joints + len(parents), ROW), np.float32)
        if not skin_rows_of(kept, moved[lane], activation[lane], result):
            fine[lane] = False
        for joint in range(joints + len(parents)):
            for k in range(ROW):
                rows[lane, ROW * joint + k] = result[joint, k]
        for number in range(len(parents)):
            shown = np.float32(gain[lane, owners[number]])
            if shown < 1.0:
                for k in range(ROW):
                    own, limb = result[joints + number, k], result[parents[number], k]
                    mixed = shown * own + (np.float32(1.0) - shown) * limb
                    rows[lane, ROW * (joints + number) + k] = mixed


@njit(cache=True)  # type: ignore[untyped-decorator]
def _lay(rows: Points, minus: Points) -> None:
    """The rows of all instances (16, …) side by side (…, 16)."""
    for at in range(0, rows.shape[1], WIDTH):
        transpose(rows, at, rows.shape[1], minus, WIDTH * at, WIDTH, WIDTH)
