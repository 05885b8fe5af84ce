"""The muscles of a rig in numbers: lengths and volume over a range of poses, and how much skin each moves."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ecorche.base.rotations import xyzw_from_axis_angle
from ecorche.base.transforms import compose
from ecorche.body.character import Character
from ecorche.body.compile import compile_body
from ecorche.body.muscles import BodyMuscles
from ecorche.body.rig import joint_models
from ecorche.document.files import Rig
from ecorche.muscles.musculature import Musculature
from ecorche.muscles.scapula import difference_with
from ecorche.muscles.volume import contract
from ecorche.skeleton.enforce_limits import enforce_limits
from ecorche.skeleton.human_limits import human_joints
from ecorche.skeleton.kinematics import difference_from_bind
from ecorche.skeleton.motion import Motion
from ecorche.skeleton.naming.recognise import Naming, recognise
from ecorche.skeleton.skeleton import Skeleton

Floats = npt.NDArray[np.float64]

STEP = 15.0
"""Between poses of one joint [degrees]."""
CHUNK = 256
"""Poses at a time: memory does not grow with the length of a motion."""


@dataclass(frozen=True)
class MuscleSummary:
    """One muscle; lengths in metres.

    Attributes:
        name, muscle, group: What it is.
        length: At bind.
        shortest, longest: Over the range of poses.
        volume_cm3: At bind.
        volume_error: Largest departure from that volume over the range, as a share of it.
        held: In which share of the poses it is too long to keep its volume, its belly as thin as can be.
        vertices: How many vertices of the body's skin it moves.
        max_force: F_max [N].
        gain: How much of its effect on the skin is shown.
    """

    name: str
    muscle: str
    group: str
    length: float
    shortest: float
    longest: float
    volume_cm3: float
    volume_error: float
    held: float
    vertices: int
    max_force: float
    gain: float


@dataclass(frozen=True)
class MusclesSummary:
    """All muscles, and the poses their ranges are told over."""

    over: str
    poses: int
    muscles: tuple[MuscleSummary, ...]

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return asdict(self)


def summarise_muscles(character: Character, rig: Rig, motion: Motion | None = None) -> MusclesSummary | None:
    """The muscles of a rig in numbers; None where it has none.

    Args:
        character: The rig's character.
        rig: The rig.
        motion: Poses to tell the ranges over, on the character's skeleton. None goes through the limits of
            one joint after another, the rig's or an adult's; where no joint has a canonical name, through
            the character's own clips.
    """
    muscles = compile_body(character, rig=rig).muscles
    if muscles is None:
        return None
    over, poses = _poses(character, rig, motion, muscles.musculature)
    lengths, error, held, count = _over(muscles.musculature, character, poses)
    return MusclesSummary(over, count, tuple(_rows(muscles, lengths, error, held / max(count, 1))))


def _rows(
    muscles: BodyMuscles, lengths: tuple[Floats, Floats], error: Floats, held: Floats
) -> Iterator[MuscleSummary]:
    musculature, influences = muscles.musculature, muscles.influences
    vertices = np.bincount(influences.muscles, minlength=len(musculature.muscles))
    at_bind = contract(musculature.spindles, musculature.spindles.bind_length).volumes()
    for m, muscle in enumerate(musculature.muscles):
        yield MuscleSummary(
            name=muscle.name,
            muscle=muscle.muscle,
            group=muscle.group,
            length=float(musculature.spindles.bind_length[m]),
            shortest=float(lengths[0][m]),
            longest=float(lengths[1][m]),
            volume_cm3=1e6 * float(at_bind[m]),
            volume_error=float(error[m]),
            held=float(held[m]),
            vertices=int(vertices[m]),
            max_force=muscle.max_force,
            gain=float(muscles.gains[m]),
        )


def _over(
    musculature: Musculature, character: Character, poses: Iterator[Floats]
) -> tuple[tuple[Floats, Floats], Floats, Floats, int]:
    """Shortest and longest [m], worst volume error, in how many poses each was held, all (M,); poses."""
    spindles = musculature.spindles
    at_bind = contract(spindles, spindles.bind_length, volume=musculature.volume).volumes()
    shortest, longest = spindles.bind_length.copy(), spindles.bind_length.copy()
    error, held, count = np.zeros(len(spindles)), np.zeros(len(spindles)), 0
    for local in poses:
        for first in range(0, len(local), CHUNK):
            moved = difference_from_bind(character.skeleton, local[first : first + CHUNK])
            lengths = musculature.frames.paths.moved(difference_with(moved, musculature.scapulae)).lengths
            states = contract(spindles, lengths, volume=musculature.volume)
            shortest = np.minimum(shortest, lengths.min(axis=0))
            longest = np.maximum(longest, lengths.max(axis=0))
            error = np.maximum(error, np.abs(states.volumes() / at_bind - 1.0).max(axis=0))
            held += states.held.sum(axis=0)
            count += len(lengths)
    return (shortest, longest), error, held, count


def _poses(
    character: Character, rig: Rig, motion: Motion | None, musculature: Musculature
) -> tuple[str, Iterator[Floats]]:
    """What the ranges are told over, and its poses, ``parent_from_joint`` (poses, joints, 4, 4) each."""
    if motion is not None:
        return f"motion {motion.name!r}", iter([motion.local])
    naming = recognise(character.skeleton, rig.spec.skeleton.mapping or None)
    if any(naming.canonical):
        crossed = _crossed(character.skeleton, musculature)
        return (
            "each joint's limits, one joint at a time from bind",
            _through_limits(character, rig, naming, crossed),
        )
    if character.motions:
        return "the character's own clips", (clip.local for clip in character.motions)
    return "the bind pose alone: no joint has limits, give a --motion", iter(())


def _crossed(skeleton: Skeleton, musculature: Musculature) -> npt.NDArray[np.bool_]:
    """Which joints some muscle crosses, shape (joints,): turning another changes no muscle's length."""
    paths = musculature.frames.paths
    rides_on = np.array([*range(skeleton.joint_count), *(s.girdle for s in musculature.scapulae)])
    below = np.eye(skeleton.joint_count, dtype=bool)  # below[j, k]: joint k hangs on joint j or is it
    for joint, parent in enumerate(skeleton.parents):  # parents come first
        if parent >= 0:
            below[:, joint] |= below[:, parent]
    nodes = below[:, rides_on[paths.joints]]
    some = np.logical_or.reduceat(nodes, paths.starts[:-1], axis=1)
    every = np.logical_and.reduceat(nodes, paths.starts[:-1], axis=1)
    crossed = np.asarray((some & ~every).any(axis=1), bool)
    crossed[[s.arm for s in musculature.scapulae]] = True
    return crossed


def _through_limits(
    character: Character, rig: Rig, naming: Naming, crossed: npt.NDArray[np.bool_]
) -> Iterator[Floats]:
    """Each named joint that a muscle crosses, turned all ways about bind and brought within its limits."""
    skeleton = character.skeleton
    models = human_joints(name for name in naming.canonical if name is not None)
    for own_name, model in joint_models(rig).items():
        canonical = naming.canonical[skeleton.index(own_name)]
        if canonical is not None:
            models[canonical] = model
    angles = np.radians(np.arange(-165.0, 166.0, STEP))
    axes = np.concatenate([np.eye(3), [[1.0, 1.0, 0.0], [1.0, -1.0, 0.0], [1.0, 0.0, 1.0], [1.0, 0.0, -1.0]]])
    axes /= np.linalg.norm(axes, axis=1, keepdims=True)
    turns = compose(np.zeros(3), xyzw_from_axis_angle(axes[:, None], angles)).reshape(-1, 4, 4)
    for joint, name in enumerate(naming.canonical):
        if name is None or name not in models or skeleton.parents[joint] < 0 or not crossed[joint]:
            continue
        local = np.tile(skeleton.bind_local, (len(turns), 1, 1, 1))
        # about the world's axes, so that all rigs turn alike
        frame = skeleton.bind_world[joint, :3, :3]
        local[:, joint, :3, :3] = local[:, joint, :3, :3] @ np.linalg.inv(frame) @ turns[:, :3, :3] @ frame
        clamped, _ = enforce_limits(
            Motion("limits", skeleton, np.arange(float(len(turns))), local),
            naming.canonical,
            {name: models[name]},
        )
        yield clamped.local
