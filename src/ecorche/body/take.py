"""A take: one character in one performance, ready to be written or shown."""

from __future__ import annotations

from dataclasses import dataclass

from ecorche.body.character import Character
from ecorche.body.frames import Frames
from ecorche.document.files import Rig
from ecorche.skeleton.motion import Motion


@dataclass(frozen=True, eq=False)
class Take:
    """A character, the motion of its joints, and the frames of its skin.

    Attributes:
        character: The character.
        motion: Its joints over time, on ``character.skeleton``; None when nobody knows them.
        frames: Points of every mesh over time, at the motion's times; None for a still character,
            which a writer writes at bind with its skeleton and all its motions.
        samples: Moments a frame, for motion blur: every so manieth of ``frames`` is a frame.
        rig: The rig that was performed with; None for none. A bake goes on with frames of the same alone.
    """

    character: Character
    motion: Motion | None = None
    frames: Frames | None = None
    samples: int = 1
    rig: Rig | None = None


def recorded_take(character: Character) -> Take:
    """What a file recorded: its posed cache with the motion it came with, else the character alone."""
    if character.cache is None:
        return Take(character)
    motion = character.motions[0] if character.motions else None
    return Take(character, motion, character.cache)
