"""Retargeting between skeletons that are no humanoids: joints of equal name move alike."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ecorche.errors import MotionError
from ecorche.skeleton.motion import Motion
from ecorche.skeleton.retarget.report import RetargetReport
from ecorche.skeleton.retarget.turns import local_of, performed
from ecorche.skeleton.skeleton import Skeleton

Floats = npt.NDArray[np.float64]


def retarget_by_name(motion: Motion, target: Skeleton, why: str) -> tuple[Motion, RetargetReport]:
    """The motion on a skeleton that has some of its joint names, and is posed alike at bind.

    Every matched joint turns in the world as the source's does; a joint whose place in its parent
    is the same in both takes its matrices bit for bit. Joints that move within their parent in
    the source do so in the target, scaled by the skeletons' sizes.
    """
    source = motion.skeleton
    theirs = {name: j for j, name in enumerate(source.names)}
    pairs = {j: theirs[name] for j, name in enumerate(target.names) if name in theirs}
    if not pairs:
        raise MotionError(
            f"none of its {source.joint_count} joints ({_some(source)}) matches one of the character's"
            f" {target.joint_count} ({_some(target)}); {why}",
            where=f"motion {motion.name!r}",
            remedy="Say which joint is which with a mapping from joint names to H-Anim names,"
            " such as {'Bone.012': 'l_knee'}, for the character and for the motion",
        )
    scale = _size(target, list(pairs)) / _size(source, list(pairs.values()))
    moved = performed(motion)
    still = np.array([0.0, 0.0, 0.0, 1.0])
    turns = np.empty((motion.frame_count, target.joint_count, 4))
    for j, parent in enumerate(target.parents):
        above = turns[:, parent] if parent >= 0 else np.broadcast_to(still, (motion.frame_count, 4))
        turns[:, j] = moved.turns[:, pairs[j]] if j in pairs else above
    local = local_of(target, turns, 0, np.tile(target.bind_local[0, :3, 3], (motion.frame_count, 1)))
    for j, i in pairs.items():
        up_j, up_i = target.parents[j], source.parents[i]
        same_parent = (up_j < 0 and up_i < 0) or (up_j >= 0 and up_i >= 0 and pairs.get(int(up_j)) == up_i)
        if same_parent and np.array_equal(target.bind_local[j], source.bind_local[i]):
            local[:, j] = motion.local[:, i]
        else:
            step = motion.local[:, i, :3, 3] - source.bind_local[i, :3, 3]
            local[:, j, :3, 3] = target.bind_local[j, :3, 3] + scale * _turned(source, i, target, j, step)
    report = RetargetReport(
        "names",
        scale,
        tuple((source.names[i], target.names[j]) for j, i in pairs.items()),
        tuple(name for i, name in enumerate(source.names) if i not in set(pairs.values())),
        tuple(name for j, name in enumerate(target.names) if j not in pairs),
    )
    return Motion(motion.name, target, motion.times, local, motion.morph_weights), report


def _turned(source: Skeleton, i: int, target: Skeleton, j: int, step: Floats) -> Floats:
    """A step in the source parent's axes at bind, in the target parent's axes at bind."""
    world_from_source = _parent_axes(source, i)
    return np.asarray(step @ world_from_source.T @ np.linalg.inv(_parent_axes(target, j)).T)


def _parent_axes(skeleton: Skeleton, joint: int) -> Floats:
    parent = skeleton.parents[joint]
    return np.eye(3) if parent < 0 else np.asarray(skeleton.bind_world[parent, :3, :3])


def _size(skeleton: Skeleton, joints: list[int]) -> float:
    """The spread of some joints at bind [m]."""
    heads = skeleton.bind_world[joints, :3, 3]
    spread = float(np.sqrt(((heads - heads.mean(axis=0)) ** 2).sum(axis=-1).mean()))
    return spread if spread > 0.0 else 1.0


def _some(skeleton: Skeleton) -> str:
    return ", ".join(repr(n) for n in skeleton.names[:4]) + (" …" if skeleton.joint_count > 4 else "")
