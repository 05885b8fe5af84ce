"""A motion brought within the limits of its joints, with a report of what was clamped where.

Each joint is judged by its rotation against the nearest named joint above it, relative to the default
pose (see `default_pose`), so that twist and helper joints in between neither hide nor add motion. Only joints
found beyond their limits are changed, in those frames alone; all other local matrices stay bit for bit. A
corrected joint carries what hangs on it along, and joints keep their lengths and scales.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ecorche.base.rotations import (
    inverse_xyzw,
    matrix_from_xyzw,
    multiply_xyzw,
    rotation_vector_from_xyzw,
    xyzw_from_matrix,
)
from ecorche.base.transforms import nearest_rotation
from ecorche.skeleton.default_pose import default_from_bind, require_names
from ecorche.skeleton.human_limits import human_joints
from ecorche.skeleton.human_spine import SEGMENTS
from ecorche.skeleton.joints import Joint
from ecorche.skeleton.motion import Motion
from ecorche.skeleton.skeleton import Skeleton

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class LimitRow:
    """One joint that was beyond its limits.

    Attributes:
        joint, canonical: The rig's name and the H-Anim name.
        frames: In how many frames it was clamped.
        worst_degrees: The largest angle it was turned back by.
        worst_time: When that was [s].
    """

    joint: str
    canonical: str
    frames: int
    worst_degrees: float
    worst_time: float


@dataclass(frozen=True)
class LimitReport:
    """What `enforce_limits` did to a motion.

    Attributes:
        rows: Joints that were clamped, in the skeleton's order.
        judged: How many joints have limits.
        free: Joints without limits, which were left as they were.
        frames: How many frames the motion has.
    """

    rows: tuple[LimitRow, ...]
    judged: int
    free: tuple[str, ...]
    frames: int

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def lines(self) -> list[str]:
        """The report as readable lines, the worst joint first."""
        if not self.rows:
            return [f"all {self.judged} joints with limits stay within them"]
        return [
            f"{row.joint} ({row.canonical}): clamped in {row.frames} of {self.frames} frames, by at most"
            f" {row.worst_degrees:.1f}° at {row.worst_time:.2f} s"
            for row in sorted(self.rows, key=lambda row: -row.worst_degrees)
        ]


def enforce_limits(
    motion: Motion,
    canonical_names: Sequence[str | None],
    joints: Mapping[str, Joint] | None = None,
) -> tuple[Motion, LimitReport]:
    """The motion within its joints' limits, and a report of what was clamped.

    Args:
        motion: The motion to bring within limits.
        canonical_names: H-Anim name of each joint of its skeleton, None where it has none.
        joints: Joint models by H-Anim name; an adult's, as far as they are known, unless given.
    """
    skeleton = motion.skeleton
    if joints is None:
        joints = human_joints(name for name in canonical_names if name is not None)
    above = _judged_against(skeleton, canonical_names)
    since_default = rotations_since_default(motion, canonical_names)
    world = motion.world()[..., :3, :3]
    local = motion.local.copy()
    rows: list[LimitRow] = []
    free: list[str] = []
    for joint, name in enumerate(canonical_names):
        if name is None or name not in joints or above[joint] is None:
            free.append(skeleton.names[joint])
            continue
        base = since_default[:, above[joint]]
        rotation = multiply_xyzw(inverse_xyzw(base), since_default[:, joint])
        kept, excess = joints[name].clamp(rotation)
        beyond = np.flatnonzero(excess.beyond)
        if len(beyond) == 0:
            continue
        back = multiply_xyzw(kept, inverse_xyzw(rotation))[beyond]
        # the same turn in world axes, and then in those of the joint's parent
        turn = multiply_xyzw(multiply_xyzw(base[beyond], back), inverse_xyzw(base[beyond]))
        parent = world[beyond, skeleton.parents[joint]]
        change = np.linalg.inv(parent) @ matrix_from_xyzw(turn) @ parent
        local[beyond, joint, :3, :3] = change @ local[beyond, joint, :3, :3]
        angles = np.linalg.norm(rotation_vector_from_xyzw(back), axis=-1)
        worst = int(np.argmax(angles))
        rows.append(
            LimitRow(
                joint=skeleton.names[joint],
                canonical=name,
                frames=len(beyond),
                worst_degrees=float(np.degrees(angles[worst])),
                worst_time=float(motion.times[beyond[worst]]),
            )
        )
    judged = skeleton.joint_count - len(free)
    return replace(motion, local=local), LimitReport(tuple(rows), judged, tuple(free), motion.frame_count)


def rotations_since_default(motion: Motion, canonical_names: Sequence[str | None]) -> Floats:
    """How every joint is turned in the world since the default pose, xyzw (frames, joints, 4)."""
    skeleton = motion.skeleton
    since_bind = motion.world()[..., :3, :3] @ skeleton.bind_inverse[:, :3, :3]
    turned = xyzw_from_matrix(nearest_rotation(since_bind))
    return multiply_xyzw(turned, inverse_xyzw(default_from_bind(skeleton, canonical_names)))


def joint_rotations(motion: Motion, canonical_names: Sequence[str | None]) -> Mapping[str, Floats]:
    """The rotation of each named joint as joint models understand it, H-Anim name to xyzw (frames, 4)."""
    above = _judged_against(motion.skeleton, canonical_names)
    turned = rotations_since_default(motion, canonical_names)
    return {
        name: multiply_xyzw(inverse_xyzw(turned[:, base]), turned[:, joint])
        for joint, (name, base) in enumerate(zip(canonical_names, above, strict=True))
        if name is not None and base is not None
    }


def _judged_against(skeleton: Skeleton, canonical_names: Sequence[str | None]) -> list[int | None]:
    """The joint each one is judged against: the nearest named one above, else its parent.

    None for a root, and for a pelvis that carries the spine: it places the whole body, whatever it
    is called. (In H-Anim's own tree pelvis and spine hang side by side on the root.)
    """
    require_names(skeleton, canonical_names)
    against: list[int | None] = []
    for parent in skeleton.parents.tolist():
        above = parent
        while above >= 0 and canonical_names[above] is None:
            above = int(skeleton.parents[above])
        against.append(above if above >= 0 else parent if parent >= 0 else None)
    for joint, name in enumerate(canonical_names):
        base = against[joint]
        if name in SEGMENTS and base is not None and canonical_names[base] == "sacroiliac":
            against[base] = None
    return against
