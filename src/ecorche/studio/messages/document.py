"""Messages about the open file: what it is, its history, saving."""

from __future__ import annotations

from typing import ClassVar, Literal

from ecorche.studio.messages.base import Done, Event, Replied, Reply, Request


class JointTold(Reply):
    """A joint of the character.

    Attributes:
        name: The character's own.
        canonical: Its H-Anim name; None where it has none.
        parent: Number of the joint above; −1 for a root.
    """

    name: str
    canonical: str | None
    parent: int


class MuscleTold(Reply):
    """A muscle, as lists show it.

    Attributes:
        name: Its own.
        kind: Of the template or drawn like one, found in the skin, or a mesh on action lines.
        muscle: What it is a part of.
        group: What it is one of.
        joints: The joints its ends are on.
    """

    name: str
    kind: Literal["named", "lofted", "lines"]
    muscle: str
    group: str
    joints: tuple[str, ...]


class DocumentTold(Reply):
    """The open file.

    Attributes:
        file: The rig's file name within the folder; None for one that was never saved.
        character: The character's name.
        revision: Goes up with every change.
        undo, redo: What these would take back or do again; None for nothing.
        dirty: Whether there is anything to save.
        height: Of the character [m].
        floor: Its lowest point [m].
        joints: All joints.
        muscles: All muscles, in the order of activations.
        clips: Names of the motions that the character brings.
        limits: Whether limits of joints are kept.
        notes: What was found while reading, a sentence each.
    """

    file: str | None
    character: str
    revision: int
    undo: str | None
    redo: str | None
    dirty: bool
    height: float
    floor: float
    joints: tuple[JointTold, ...]
    muscles: tuple[MuscleTold, ...]
    clips: tuple[str, ...]
    limits: bool
    notes: tuple[str, ...]


class DocumentGet(Request):
    """The open file."""

    reply: ClassVar[Replied] = DocumentTold
    type: Literal["document.get"] = "document.get"


class DocumentUndo(Request):
    """Take the last step back."""

    type: Literal["document.undo"] = "document.undo"


class DocumentRedo(Request):
    """Do it again."""

    type: Literal["document.redo"] = "document.redo"


class DocumentSave(Request):
    """Write the rig to its file."""

    type: Literal["document.save"] = "document.save"


class DocumentChanged(Event):
    """The rig is another now: by an edit, undo, redo, or a save.

    Attributes:
        revision: Of the rig.
        areas: Which parts changed; none for a save.
        names: Which muscles or joints, where it is about some.
        undo, redo: What these would do now.
        dirty: Whether there is anything to save.
    """

    event: Literal["document.changed"] = "document.changed"
    revision: int
    areas: tuple[str, ...]
    names: tuple[str, ...]
    undo: str | None
    redo: str | None
    dirty: bool


REQUESTS = (DocumentGet, DocumentUndo, DocumentRedo, DocumentSave)
EVENTS = (DocumentChanged,)
__all__ = ["EVENTS", "REQUESTS", "Done"]
