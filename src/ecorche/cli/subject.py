"""Whom a command is about: a character file, or a rig that names one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ecorche.body.character import Character
    from ecorche.skeleton.joints import Joint
    from ecorche.skeleton.motion import Motion


@dataclass(frozen=True)
class Subject:
    """A character and what its rig says about it."""

    character: Character
    skinning: str | None = None
    limits: bool = False
    mapping: Mapping[str, str] | None = None
    joints: Mapping[str, Joint] | None = None


def read_subject(path: Path) -> Subject:
    """Read a character file, or a rig and the character it names."""
    from ecorche.io.formats import read_character

    if path.suffix.lower() != ".ecorche":
        return Subject(read_character(path))
    from ecorche.body.rig import joint_models, require_bound
    from ecorche.document.files import read_rig

    rig = read_rig(path)
    character = read_character(path.parent / rig.spec.character.path)
    require_bound(rig, character, path)
    return Subject(
        character,
        rig.spec.skinning.method,
        rig.spec.skeleton.limits == "enforce",
        rig.spec.skeleton.mapping or None,
        joint_models(rig),
    )


def subject_motion(character: Character, motion: Path | None, clip: str | None) -> Motion | None:
    """The motion to perform: from a file, a named clip of the character, or None."""
    from ecorche.base.names import suggestion
    from ecorche.errors import MotionError
    from ecorche.io.formats import read_motion
    from ecorche.io.keyframes import read_keyframes

    if motion is not None:
        if motion.suffix.lower() == ".pose":
            return read_keyframes(motion, character.skeleton)
        return read_motion(motion, clip)
    if clip is None:
        return character.motions[0] if character.motions and character.cache is None else None
    for own in character.motions:
        if own.name == clip:
            return own
    raise MotionError(
        f"there is no clip {clip!r}",
        where=character.source,
        remedy=suggestion(clip, [m.name for m in character.motions]),
    )
