"""Pronation shared along the forearm: the ulna only bends, the radius turns round it, the hand follows.

Thesis 3.2 (after Scheepers) adds a radioulnar joint to each forearm, a sibling of the wrist, and links its
rotation to the elbow's twist. Motions put that twist into the elbow, the wrist, or both; here it is taken out
of both, and elbow, radioulnar joint and wrist are

    R_elbow · R_wrist = bend · turn · swing,

exactly, with ``bend`` free of twist about the forearm, ``turn`` about the forearm alone, and ``swing`` free
of twist again. Twist joints further up the forearm take a part of the turn, as far as they are along it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ecorche.base import transforms
from ecorche.base.rotations import (
    inverse_xyzw,
    matrix_from_xyzw,
    multiply_xyzw,
    rotate_xyzw,
    swing_twist_xyzw,
    xyzw_from_axis_angle,
)
from ecorche.errors import SkeletonError
from ecorche.skeleton.enforce_limits import joint_rotations, rotations_since_default
from ecorche.skeleton.joint_angles import knee_angles, twist_angle
from ecorche.skeleton.joints import IDENTITY
from ecorche.skeleton.motion import Motion
from ecorche.skeleton.naming.vocabulary import RADIOULNAR
from ecorche.skeleton.reach import anatomical_frame
from ecorche.skeleton.skeleton import Skeleton

Floats = npt.NDArray[np.float64]

FOREARM = np.array([0.0, -1.0, 0.0])
"""The forearm's direction in the default pose."""

_FRAME = anatomical_frame(limb=FOREARM, x=(-1, 0, 0))


@dataclass(frozen=True, eq=False)
class ForearmTurn:
    """A forearm's motion, parted by anatomy; rotations relative to the default pose.

    Attributes:
        bend_xyzw: What the ulna does, shape (..., 4).
        turn: The radius's turn about the forearm [rad], shape (...); for a right arm, supination is positive.
        swing_xyzw: What the hand does against the radius, shape (..., 4).
    """

    bend_xyzw: Floats
    turn: Floats
    swing_xyzw: Floats

    @property
    def radioulnar_xyzw(self) -> Floats:
        """The rotation of the radioulnar joint, shape (..., 4)."""
        return turned_part(self.turn, 1.0)


def forearm_turn(elbow_xyzw: npt.ArrayLike, wrist_xyzw: npt.ArrayLike = IDENTITY) -> ForearmTurn:
    """Part the rotations of elbow and wrist (..., 4) into bend, turn and swing."""
    elbow, wrist = np.broadcast_arrays(np.asarray(elbow_xyzw, np.float64), np.asarray(wrist_xyzw, np.float64))
    local = multiply_xyzw(multiply_xyzw(inverse_xyzw(_FRAME), elbow), _FRAME)
    elbow_twist = knee_angles(local)[2]
    wrist_twist = twist_angle(
        multiply_xyzw(multiply_xyzw(inverse_xyzw(_FRAME), swing_twist_xyzw(wrist, FOREARM)[1]), _FRAME)
    )
    turn = elbow_twist + wrist_twist
    return ForearmTurn(
        bend_xyzw=multiply_xyzw(elbow, turned_part(elbow_twist, -1.0)),
        turn=turn,
        swing_xyzw=multiply_xyzw(turned_part(wrist_twist, -1.0), wrist),
    )


def turned_part(turn: npt.ArrayLike, share: npt.ArrayLike) -> Floats:
    """The rotation (..., 4) that a joint has which takes ``share`` (...) of a forearm's turn [rad] (...)."""
    return xyzw_from_axis_angle(FOREARM, np.asarray(turn, np.float64) * np.asarray(share, np.float64))


def share_pronation(
    motion: Motion, canonical_names: Sequence[str | None], twist_joints: Sequence[str] = ()
) -> Motion:
    """The motion with each forearm's turn shared: elbow none, twist joints a part, radius and hand all.

    Hands and all below them stay exactly where they were in the world. Joints named ``l_radioulnar`` or
    ``r_radioulnar`` take the whole turn; each of ``twist_joints`` (names) below an elbow takes as much as it
    is along from elbow to wrist. Their own motion, if they had any, is replaced.
    """
    skeleton = motion.skeleton
    twisting = {skeleton.index(name) for name in twist_joints}
    twisting |= {joint for joint, name in enumerate(canonical_names) if name in RADIOULNAR}
    joint_of = {name: joint for joint, name in enumerate(canonical_names) if name is not None}
    placed: dict[int, Floats] = {}
    for side in "lr":
        elbow, wrist = joint_of.get(f"{side}_elbow"), joint_of.get(f"{side}_radiocarpal")
        if elbow is None or wrist is None:
            continue
        shares = {
            joint: 1.0 if canonical_names[joint] in RADIOULNAR else _share(skeleton, joint, elbow, wrist)
            for joint in sorted(twisting)
            if _is_below(skeleton, joint, elbow) and not _is_below(skeleton, joint, wrist)
        }
        if shares:
            placed |= _forearm(motion, canonical_names, elbow, wrist, shares)
    if not placed:
        raise SkeletonError(
            f"no forearm of motion {motion.name!r} has a radioulnar or twist joint",
            remedy="Name the twist joints, or map a joint to l_radioulnar or r_radioulnar",
        )
    return _with_world(motion, placed)


def _forearm(
    motion: Motion, canonical_names: Sequence[str | None], elbow: int, wrist: int, shares: dict[int, float]
) -> dict[int, Floats]:
    """Where the joints of one forearm are in the world then, joint to (frames, 4, 4)."""
    skeleton, world = motion.skeleton, motion.world()
    since_default = rotations_since_default(motion, canonical_names)
    hand = multiply_xyzw(inverse_xyzw(since_default[:, elbow]), since_default[:, wrist])
    bent = joint_rotations(motion, canonical_names)[canonical_names[elbow] or ""]
    parted = forearm_turn(bent, hand)
    # unwrapped in time, or a part of the turn would jump where the whole passes half a turn
    turn = np.unwrap(parted.turn)
    upper_arm = multiply_xyzw(since_default[:, elbow], inverse_xyzw(bent))
    ulna = multiply_xyzw(upper_arm, parted.bend_xyzw)
    placed = {elbow: _turned(world[:, elbow], multiply_xyzw(ulna, inverse_xyzw(since_default[:, elbow])))}
    bind_elbow_from_world = skeleton.bind_inverse[elbow]
    for joint, share in shares.items():
        carried = placed[elbow] @ (bind_elbow_from_world @ skeleton.bind_world[joint])
        about = xyzw_from_axis_angle(rotate_xyzw(ulna, FOREARM), share * turn)
        placed[joint] = _turned(carried, about)
    placed[wrist] = world[:, wrist]
    return placed


def _with_world(motion: Motion, placed: dict[int, Floats]) -> Motion:
    """The motion with some joints put elsewhere in the world; all others keep their local matrices."""
    world, local = motion.world(), motion.local.copy()
    for joint, parent in enumerate(motion.skeleton.parents):
        if joint in placed:
            world[:, joint] = placed[joint]
            local[:, joint] = transforms.inverse(world[:, parent]) @ placed[joint]
        elif parent >= 0:
            world[:, joint] = world[:, parent] @ local[:, joint]
    return replace(motion, local=local)


def _turned(world: Floats, rotation_xyzw: Floats) -> Floats:
    """World matrices (frames, 4, 4) turned about their own origins."""
    turned = world.copy()
    turned[:, :3, :3] = matrix_from_xyzw(rotation_xyzw) @ world[:, :3, :3]
    return turned


def _is_below(skeleton: Skeleton, joint: int, ancestor: int) -> bool:
    above = int(skeleton.parents[joint])
    while above > ancestor:
        above = int(skeleton.parents[above])
    return above == ancestor


def _share(skeleton: Skeleton, joint: int, elbow: int, wrist: int) -> float:
    """How far along from elbow to wrist a joint lies at bind, 0 to 1."""
    heads = skeleton.bind_world[:, :3, 3]
    forearm = heads[wrist] - heads[elbow]
    length = max(float(forearm @ forearm), 1e-12)
    return float(np.clip((heads[joint] - heads[elbow]) @ forearm / length, 0.0, 1.0))
