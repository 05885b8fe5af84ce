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
    beyond, free = _beyond(motion, canonical_names, joints)
    world = motion.world()[..., :3, :3]
    local = motion.local.copy()
    rows: list[LimitRow] = []
    for found in beyond:
        parent = world[found.frames, skeleton.parents[found.joint]]
        before = local[found.frames, found.joint, :3, :3]
        local[found.frames, found.joint, :3, :3] = turned_local(before, parent, found.turn)
        worst = int(np.argmax(found.angles))
        rows.append(
            LimitRow(
                joint=skeleton.names[found.joint],
                canonical=found.canonical,
                frames=len(found.frames),
                worst_degrees=float(np.degrees(found.angles[worst])),
                worst_time=float(motion.times[found.frames[worst]]),
            )
        )
    judged = skeleton.joint_count - len(free)
    return replace(motion, local=local), LimitReport(tuple(rows), judged, free, motion.frame_count)


@dataclass(frozen=True)
class BrokenLimit:
    """One joint that a motion takes beyond its limits.

    Attributes:
        joint, canonical: The rig's name and the H-Anim name.
        spans: First and last time of each stretch beyond [s], in order.
        worst_degrees: The largest angle it would have to be turned back by.
        worst_time: When that is [s].
    """

    joint: str
    canonical: str
    spans: tuple[tuple[float, float], ...]
    worst_degrees: float
    worst_time: float


def broken_limits(
    motion: Motion,
    canonical_names: Sequence[str | None],
    joints: Mapping[str, Joint] | None = None,
) -> tuple[BrokenLimit, ...]:
    """Where a motion goes beyond its joints' limits, the worst joint first; nothing is changed.

    The arguments are those of `enforce_limits`, which would turn back what is told here.
    """
    rows: list[BrokenLimit] = []
    for found in _beyond(motion, canonical_names, joints)[0]:
        parts = np.split(found.frames, np.flatnonzero(np.diff(found.frames) > 1) + 1)
        worst = int(np.argmax(found.angles))
        rows.append(
            BrokenLimit(
                joint=motion.skeleton.names[found.joint],
                canonical=found.canonical,
                spans=tuple((float(motion.times[p[0]]), float(motion.times[p[-1]])) for p in parts),
                worst_degrees=float(np.degrees(found.angles[worst])),
                worst_time=float(motion.times[found.frames[worst]]),
            )
        )
    return tuple(sorted(rows, key=lambda row: -row.worst_degrees))


@dataclass(frozen=True, eq=False)
class _Beyond:
    """One joint beyond its limits: the frames (n,), how it is turned back in the world (n, 4), by how far."""

    joint: int
    canonical: str
    frames: npt.NDArray[np.int64]
    turn: Floats
    angles: Floats


def _beyond(
    motion: Motion, canonical_names: Sequence[str | None], joints: Mapping[str, Joint] | None
) -> tuple[list[_Beyond], tuple[str, ...]]:
    """The joints beyond their limits, in the skeleton's order, and the names of those without any."""
    if joints is None:
        joints = human_joints(name for name in canonical_names if name is not None)
    above = judged_against(motion.skeleton, canonical_names)
    turned = rotations_since_default(motion, canonical_names)
    found: list[_Beyond] = []
    free: list[str] = []
    for joint, name in enumerate(canonical_names):
        if name is None or name not in joints or above[joint] is None:
            free.append(motion.skeleton.names[joint])
            continue
        base = turned[:, above[joint]]
        rotation = multiply_xyzw(inverse_xyzw(base), turned[:, joint])
        kept, excess = joints[name].clamp(rotation)
        beyond = np.flatnonzero(excess.beyond)
        if len(beyond) == 0:
            continue
        back = multiply_xyzw(kept, inverse_xyzw(rotation))[beyond]
        turn = multiply_xyzw(multiply_xyzw(base[beyond], back), inverse_xyzw(base[beyond]))
        angles = np.linalg.norm(rotation_vector_from_xyzw(back), axis=-1)
        found.append(_Beyond(joint, name, beyond, turn, angles))
    return found, tuple(free)


def turned_local(local: Floats, parent_world: Floats, turn_xyzw: Floats) -> Floats:
    """The linear part of local matrices (..., 3, 3) after a turn in world axes (..., 4).

    ``parent_world`` is the linear part of the parent's ``world_from_joint``, (..., 3, 3).
    """
    change = np.linalg.inv(parent_world) @ matrix_from_xyzw(turn_xyzw) @ parent_world
    turned: Floats = change @ local
    return turned


def rotations_since_default(motion: Motion, canonical_names: Sequence[str | None]) -> Floats:
    """How every joint is turned in the world since the default pose, xyzw (frames, joints, 4)."""
    skeleton = motion.skeleton
    return since_default(skeleton, motion.world(), default_from_bind(skeleton, canonical_names))


def since_default(skeleton: Skeleton, world: Floats, default_xyzw: Floats) -> Floats:
    """How joints are turned in the world since the default pose, xyzw (..., joints, 4).

    Args:
        skeleton: The joints.
        world: ``world_from_joint``, shape (..., joints, 4, 4).
        default_xyzw: What `default_from_bind` says of the skeleton, (joints, 4).
    """
    since_bind = world[..., :3, :3] @ skeleton.bind_inverse[:, :3, :3]
    return multiply_xyzw(xyzw_from_matrix(nearest_rotation(since_bind)), inverse_xyzw(default_xyzw))


def joint_rotations(motion: Motion, canonical_names: Sequence[str | None]) -> Mapping[str, Floats]:
    """The rotation of each named joint as joint models understand it, H-Anim name to xyzw (frames, 4)."""
    above = judged_against(motion.skeleton, canonical_names)
    turned = rotations_since_default(motion, canonical_names)
    return {
        name: multiply_xyzw(inverse_xyzw(turned[:, base]), turned[:, joint])
        for joint, (name, base) in enumerate(zip(canonical_names, above, strict=True))
        if name is not None and base is not None
    }


def judged_against(skeleton: Skeleton, canonical_names: Sequence[str | None]) -> list[int | None]:
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
