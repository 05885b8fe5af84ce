"""Put a motion on a character: retarget it, keep it within its limits, and skin it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ecorche.body.character import Character
from ecorche.body.compile import compile_body
from ecorche.body.evaluate import LiveFrames
from ecorche.body.take import Take
from ecorche.errors import SkeletonError
from ecorche.skeleton.enforce_limits import LimitReport, enforce_limits
from ecorche.skeleton.human_limits import human_joints
from ecorche.skeleton.joints import Joint
from ecorche.skeleton.motion import Motion, bind_pose
from ecorche.skeleton.naming import recognise
from ecorche.skeleton.resample import resample
from ecorche.skeleton.retarget import RetargetReport, retarget


@dataclass(frozen=True, eq=False)
class Performance:
    """A take and what was done to the motion on its way.

    Attributes:
        take: The take; its frames are computed when read.
        retargeting: What matched, and how well; None where the motion was already the character's.
        limits: What was clamped where; None where limits were not asked for.
    """

    take: Take
    retargeting: RetargetReport | None = None
    limits: LimitReport | None = None


def perform(
    character: Character,
    motion: Motion | None = None,
    *,
    feet: str = "directions",
    rate: float | None = None,
    frames: tuple[int, int] | None = None,
    limits: bool = False,
    joints: Mapping[str, Joint] | None = None,
    skinning: str | None = None,
    mapping: Mapping[str, str] | None = None,
    source_mapping: Mapping[str, str] | None = None,
) -> Performance:
    """A character in motion, its skin ready to be written or shown frame by frame.

    Args:
        character: Who moves.
        motion: How; None takes the character's posed cache with the motion it came with, else
            the bind pose. A motion made for another skeleton is retargeted.
        feet: ``"directions"`` keeps limb directions, ``"planted"`` keeps the feet in place.
        rate: Frames per second to resample to; None keeps the motion's own times.
        frames: First and last frame to keep, after resampling.
        limits: Keep joints within human limits.
        joints: Joint models by the character's joint names, instead of a human's, for ``limits``.
        skinning: Skinning method for all meshes; None takes the file's own.
        mapping: Joint name to H-Anim name, for a character whose names are not recognised.
        source_mapping: The same for the motion's skeleton.
    """
    posed = None
    if motion is None:
        posed = character.cache
        motion = (
            character.motions[0] if posed is not None and character.motions else bind_pose(character.skeleton)
        )
    report = None
    if motion.skeleton is not character.skeleton:
        moved = retarget(
            motion, character.skeleton, mode=feet, mapping=mapping, source_mapping=source_mapping
        )
        motion, report = moved.motion, moved.report
    if rate is not None:
        motion = resample(motion, rate=rate)
    if frames is not None:
        motion = motion.part(*frames)
    clamped = None
    if limits:
        canonical = recognise(character.skeleton, mapping).canonical
        models = human_joints(name for name in canonical if name is not None)
        for name, model in (joints or {}).items():
            known_as = canonical[character.skeleton.index(name)]
            if known_as is None:
                raise SkeletonError(
                    f"joint {name!r} has limits but no canonical name",
                    where=character.name,
                    remedy="Give it one in the mapping",
                )
            models[known_as] = model
        motion, clamped = enforce_limits(motion, canonical, models)
    body = compile_body(character, skinning=skinning)
    live = LiveFrames(body, motion, posed)
    return Performance(Take(character, motion, live), report, clamped)
