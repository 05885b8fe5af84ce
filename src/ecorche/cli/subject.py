"""Whom a command is about: a character file, a rig that names one, or else the built-in figure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ecorche.base.files import require_file, require_not_input
from ecorche.errors import DocumentError, MotionError, ReadError

if TYPE_CHECKING:
    from ecorche.body.character import Character
    from ecorche.body.take import Take
    from ecorche.document.files import Rig
    from ecorche.skeleton.motion import Motion

_MOTION = ("is a motion, not a character", "Put it on one: ecorche bake CHARACTER --motion FILE -o OUT.usdc")
_CACHE = (
    "holds points without joints, weights or materials, not a character",
    "Bake to .usdc or .glb too: they hold the character with its frames",
)
_SURFACE = ("is a surface without joints, not a character", "Give a rigged one, such as .glb or .usdc")
_NO_CHARACTER = {
    **dict.fromkeys((".bvh", ".pose"), _MOTION),
    **dict.fromkeys((".pc2", ".npz"), _CACHE),
    **dict.fromkeys((".obj", ".ply", ".stl"), _SURFACE),
}


@dataclass(frozen=True)
class Subject:
    """A character, and its rig where the command was given one."""

    character: Character
    rig: Rig | None = None

    @property
    def mapping(self) -> Mapping[str, str] | None:
        """The joint names the rig gives."""
        return None if self.rig is None else self.rig.spec.skeleton.mapping or None

    @property
    def body(self) -> str | None:
        """The mesh the rig calls the body."""
        return None if self.rig is None else self.rig.spec.body


def read_subject(path: Path | None) -> Subject:
    """Read a character file, or a rig and the character it names; None is the built-in figure and its rig."""
    if path is None:
        return figure_subject()
    if path.suffix.lower() != ".ecorche":
        return Subject(character_in(path))
    from ecorche.body.rig import require_bound

    rig, character = read_rig_and_character(path)
    require_bound(rig, character, path)
    return Subject(character, rig)


def read_rigged(path: Path) -> tuple[Character, Rig]:
    """A rig and its character, for commands about nothing else."""
    subject = read_subject(path)
    if subject.rig is None:
        raise DocumentError(
            "is no rig", where=path, remedy="Make one: ecorche rig CHARACTER, and give the .ecorche file"
        )
    return subject.character, subject.rig


def figure_subject() -> Subject:
    """The built-in figure and its rig, which no file holds."""
    from ecorche.body.figure import ecorche_figure
    from ecorche.body.rig import create_rig

    figure = ecorche_figure()
    return Subject(figure, create_rig(figure, f"{figure.name}.glb", f"{figure.name}.ecorche"))


def require_not_read(output: Path, character: Character, *others: Path | None) -> None:
    """Refuse to write over a file the command reads: a rig's character would be lost, and the rig with it."""
    require_not_input(output, character.source or None, *others)


def read_rig_and_character(path: Path) -> tuple[Rig, Character]:
    """A rig, and the character it names as it is now."""
    from ecorche.document.files import read_rig

    rig = read_rig(path)
    named = path.parent / rig.spec.character.path
    if not named.exists():
        raise DocumentError(
            f"there is no file {str(named)!r}",
            where=f"{path}, character.path",
            remedy="Put the character back there, or run `ecorche rebind RIG CHARACTER` with where it is now",
        )
    return rig, character_in(named)


def character_in(path: Path) -> Character:
    """The character in a file that is no rig; other kinds of file are told what they are."""
    from ecorche.io.formats import read_character

    require_file(path)
    suffix = path.suffix.lower()
    if suffix == ".ecorche":
        raise ReadError("is a rig, not a character", where=path, remedy="Give the character it names")
    if suffix in _NO_CHARACTER:
        what, remedy = _NO_CHARACTER[suffix]
        raise ReadError(what, where=path, remedy=remedy)
    return read_character(path)


def subject_motion(character: Character, motion: Path | None, clip: str | None) -> Motion | None:
    """The motion to perform: from a file, or a clip of the character; None for its baked frames or bind."""
    from ecorche.base.names import suggestion

    if motion is not None and motion.suffix.lower() == ".pose":
        from ecorche.io.keyframes import read_keyframes

        made = read_keyframes(motion, character.skeleton)
        if clip not in (None, made.name):
            raise MotionError(
                f"there is no clip {clip!r}", where=motion, remedy=suggestion(str(clip), [made.name])
            )
        return made
    if motion is not None:
        from ecorche.io.formats import read_motion

        return read_motion(motion, clip)
    names = [own.name for own in character.motions]
    if clip is not None and clip not in names:
        raise MotionError(
            f"there is no clip {clip!r}", where=character.source, remedy=suggestion(clip, names)
        )
    number = 0 if clip is None else names.index(clip)
    if not names or (number == 0 and character.cache is not None):
        return None
    return character.motions[number]


def weights_found(character: Character) -> tuple[str, ...]:
    """That a character's skin weights are not its file's, where it is so, a sentence."""
    from ecorche.body.automatic_weights import NONE

    return tuple(note for note in character.notes if note.startswith(NONE))


def line_notes(take: Take) -> tuple[str, ...]:
    """Action lines that did not come to rest where a command asked for them, a sentence each."""
    from ecorche.body.live_frames import LiveFrames

    return take.frames.line_notes if isinstance(take.frames, LiveFrames) else ()


def skin_notes(take: Take) -> tuple[str, ...]:
    """What is unusual about a skin over muscles or fat, and fat that does not move, a sentence each."""
    from ecorche.body.live_frames import LiveFrames

    if not isinstance(take.frames, LiveFrames):
        return ()
    body = take.frames.body
    parts = (body.coupling, body.fat, body.springs)
    told = [note for part in parts if part is not None for note in part.notes]
    return tuple(dict.fromkeys(told))


def clip_note(character: Character, motion: Motion | None, clip: str | None) -> list[str]:
    """Which of several clips was taken, where nobody chose one."""
    names = [own.name for own in character.motions]
    if clip is not None or motion not in character.motions or len(names) < 2:
        return []
    return [f"clip {names[0]!r}, the first of {len(names)}; --clip chooses another: {', '.join(names[1:])}"]
