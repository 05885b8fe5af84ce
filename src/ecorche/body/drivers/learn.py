"""Drivers learnt from poses: which joints drive a muscle joint, and by what polynomial.

Our own method. Which joints matter is found by turning each of them, in a few poses, and looking what the
muscle joints do; the strongest `MOST` drive. The polynomial (`terms`) is the least-squares fit over poses
within the joints' limits, with a ridge that keeps coefficients of rare terms small. Activation by the joints
is part of what is learnt: a pose is taken as held.

Other ways were measured on one man, a seventh of his muscle joints, on frames of four captured motions: error
of the joints' shifts in mm rms, and numbers in the table. This one: 0.46, 297,000. Fourth powers too: 0.39,
450,000. Second powers only: 0.69, 196,000. Radial basis functions (cubic, centres furthest from each other)
with 64, 128 and 256 centres: 0.44, 539,000; 0.36, 1,048,000; 0.30, 2,066,000. The choice was for small
tables, made with those motions in sight; other people were only measured.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ecorche.base import rotations, transforms
from ecorche.body.as_joints import JointedCharacter
from ecorche.body.drivers.table import OUTPUTS, Driver, DriverTable
from ecorche.body.drivers.terms import products, terms
from ecorche.body.sample_poses import sample_poses
from ecorche.document.files import Rig
from ecorche.skeleton.motion import Motion

Floats = npt.NDArray[np.float64]

POSES = 1500
"""Poses to learn from."""
MOST = 4
"""At most so many joints drive a muscle joint."""
LEAST_EFFECT = 0.05
"""A joint drives where turning it does at least this part of what the strongest does."""
LEVER = 0.03
"""What a turn or a dilation counts as much as: a shift of that times this [m], the skin's distance."""
RIDGE = 1e-6
"""Of the least squares, in the poses' number."""
TURNED = 0.9
"""By how much joints are turned to see what they drive [rad]."""
ROOM = 0.1
"""How much more than what was seen a driver may give, in the range that was seen."""


def learn_drivers(
    jointed: JointedCharacter,
    rig: Rig,
    *,
    poses: int = POSES,
    motions: Sequence[Motion] = (),
    seed: int = 5,
) -> DriverTable:
    """The drivers of a character's muscle joints.

    Args:
        jointed: The character with its muscles as joints.
        rig: Its rig, whose limits hold.
        poses: How many poses to learn from.
        motions: Motions on the character's own skeleton to learn from besides.
        seed: Of the poses.
    """
    own = jointed.body.character
    samples = sample_poses(own, rig, poses, seed=seed, motions=(*own.motions, *motions)).local
    seen = np.stack([muscle_outputs(jointed, local) for local in samples])
    skeleton, joints = own.skeleton, jointed.muscles.joints
    bind_xyzw = transforms.decompose(skeleton.bind_local)[1]
    turned = rotations.multiply_xyzw(rotations.inverse_xyzw(bind_xyzw), transforms.decompose(samples)[1])
    numbers = np.where(turned[..., 3:] < 0.0, -1.0, 1.0) * turned[..., :3]
    driving = _driving_joints(jointed, samples[[1, 2]])
    used = sorted({joint for found in driving for joint in found})
    world_xyzw = transforms.decompose(skeleton.bind_world)[1]
    bind_local = jointed.character.skeleton.bind_local[skeleton.joint_count :]
    muscle_turns = transforms.decompose(joints.bind_world)[1]
    drivers: list[Driver | None] = [None] * len(driving)
    for group in sorted(set(driving)):
        members = [k for k, found in enumerate(driving) if found == group]
        flat = numbers[:, list(group)].reshape(len(samples), -1)
        table = products(flat, terms(len(group)))
        square = table.T @ table + RIDGE * len(samples) * np.eye(table.shape[1])
        solved = np.linalg.solve(square, table.T @ seen[:, members].reshape(len(samples), -1))
        for k, coefficients in zip(members, np.split(solved, len(members), axis=1), strict=True):
            low, high = np.minimum(seen[:, k].min(axis=0), 0.0), np.maximum(seen[:, k].max(axis=0), 0.0)
            room = ROOM * (high - low)
            drivers[k] = Driver(
                name=jointed.character.skeleton.names[skeleton.joint_count + k],
                parent=skeleton.names[int(joints.parents[k])],
                joints=tuple(skeleton.names[joint] for joint in group),
                coefficients=np.ascontiguousarray(coefficients.T),
                lowest=low - room,
                highest=high + room,
                bind_local=bind_local[k],
                bind_turn_xyzw=muscle_turns[k],
            )
    return DriverTable(
        character=jointed.character.name,
        joints=tuple(skeleton.names[joint] for joint in used),
        parents=tuple(
            None if skeleton.parents[joint] < 0 else skeleton.names[skeleton.parents[joint]] for joint in used
        ),
        bind_xyzw=bind_xyzw[used],
        bind_turn_xyzw=world_xyzw[used],
        drivers=tuple(driver for driver in drivers if driver is not None),
        errors={},
    )


def muscle_outputs(jointed: JointedCharacter, local: Floats) -> Floats:
    """What drivers should give in a pose that is held, (K, OUTPUTS)."""
    count = jointed.body.character.skeleton.joint_count
    bind = jointed.character.skeleton.bind_local[count:]
    offset, turn, scale = transforms.decompose(transforms.inverse(bind) @ jointed.muscle_local(local))
    vector = rotations.rotation_vector_from_xyzw(turn)
    return np.concatenate([offset, vector, scale[:, 1:] - 1.0], axis=-1)


def _driving_joints(jointed: JointedCharacter, bases: Floats) -> list[tuple[int, ...]]:
    """The joints that drive each muscle joint, rising, found by turning them in a few poses."""
    skeleton = jointed.body.character.skeleton
    weight = np.array([1.0] * 3 + [LEVER] * (OUTPUTS - 3))
    effect = np.zeros((len(jointed.muscles.joints.names), skeleton.joint_count))
    turns = [
        transforms.compose(np.zeros(3), rotations.xyzw_from_axis_angle(axis, angle))
        for axis in np.eye(3)
        for angle in (-TURNED, TURNED)
    ]
    for base in (skeleton.bind_local, *bases):
        rest = muscle_outputs(jointed, base)
        for joint in range(skeleton.joint_count):
            for turn in turns:
                local = base.copy()
                local[joint] = local[joint] @ turn
                change = np.abs(muscle_outputs(jointed, local) - rest) * weight
                effect[:, joint] = np.maximum(effect[:, joint], change.max(axis=1))
    found = []
    for row in effect:
        strongest = np.argsort(-row, kind="stable")[:MOST]
        found.append(tuple(sorted(int(j) for j in strongest if row[j] >= LEAST_EFFECT * row.max())))
    return found
