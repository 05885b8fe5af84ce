"""The open file: a character and its rig, every step of its history, and the body made of the rig.

A rig is an immutable value, so that history is a list of them, without limit: steps share all that they did
not change. All pages that opened a file share one document: whoever edits, everybody sees it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from ecorche.body.character import Character
from ecorche.body.compile import Body, compile_body
from ecorche.body.edited_rig import Edited
from ecorche.body.kept_parts import KeptParts
from ecorche.document.files import Rig, write_rig
from ecorche.errors import WriteError
from ecorche.studio.history import History, Step
from ecorche.studio.messages.document import DocumentChanged

Listener = Callable[[DocumentChanged], None]


class OpenDocument:
    """A character and its rig while they are worked on.

    Args:
        character: The character.
        rig: Its rig.
        path: The rig's file; None for one that was never saved.
        notes: What was found while reading, a sentence each.
        saved: Whether the file holds this rig.

    Attributes:
        character: As given.
        path: As given, or where it was saved since.
        notes: As given.
        revision: Goes up with every change, also by undo: what was computed of another is out of date.
        listeners: Told of every change.
    """

    def __init__(
        self,
        character: Character,
        rig: Rig,
        path: Path | None = None,
        notes: Sequence[str] = (),
        *,
        saved: bool = True,
    ) -> None:
        self.character, self.path, self.notes = character, path, tuple(notes)
        self.revision = 0
        self.listeners: list[Listener] = []
        self._history = History(rig)
        self._saved: Rig | None = rig if path is not None and saved else None
        self._body: tuple[Rig, Body] | None = None
        self._kept = KeptParts()

    @property
    def rig(self) -> Rig:
        """The rig as it is now."""
        return self._history.now.state

    @property
    def undo_label(self) -> str | None:
        """What undo would take back; None for nothing."""
        return self._history.undo_label

    @property
    def redo_label(self) -> str | None:
        """What redo would do again; None for nothing."""
        return self._history.redo_label

    @property
    def dirty(self) -> bool:
        """Whether there is anything to save."""
        return self._saved is not self.rig

    @property
    def body(self) -> Body:
        """The body of the rig as it is now, compiled when it is first asked for."""
        if self._body is None or self._body[0] is not self.rig:
            self._body = (self.rig, self._compiled(self.rig))
        return self._body[1]

    def edit(
        self,
        edited: Rig | Edited,
        label: str,
        *,
        areas: Sequence[str],
        names: Sequence[str] = (),
        gesture: str | None = None,
    ) -> tuple[str, ...]:
        """Take an edited rig as the next step; what was done, a sentence each.

        A rig that cannot be compiled is refused with what is in its way, and nothing has changed.

        Args:
            edited: The rig, or the rig and what was done.
            label: What the step does, for undo.
            areas: Which parts it changed, such as ``"muscles"``.
            names: Which muscles or joints.
            gesture: Edits of one gesture are one step.
        """
        rig, lines = (edited.rig, edited.lines) if isinstance(edited, Edited) else (edited, ())
        if rig is self.rig:
            return lines
        body = self._compiled(rig)
        self._history.take(rig, label, gesture=gesture, areas=areas, names=names, apart_from=self._saved)
        self._body = (rig, body)
        self._tell(self._history.now)
        return lines

    def undo(self) -> str:
        """Take the last step back; what it was."""
        step = self._history.undo()
        self._tell(step)
        return step.label

    def redo(self) -> str:
        """Do the step again that was taken back last; what it is."""
        step = self._history.redo()
        self._tell(step)
        return step.label

    def save(self, path: Path | None = None) -> Path:
        """Write the rig to its file, or to another, which is its file from then on."""
        path = path or self.path
        if path is None:
            raise WriteError("the rig has no file yet", remedy="Save it under a name")
        spec = write_rig(path, self.rig)
        self.taken_as_saved(replace(self.rig, spec=spec, source=str(path)), path)
        return path

    def taken_as_saved(self, written: Rig, path: Path) -> None:
        """The rig as it is now is in a file.

        Args:
            written: As it was written: it names its arrays, and its character from there.
            path: The file, which is the document's from then on.
        """
        rig = self.rig
        self._history.write_as(written)
        if self._body is not None and self._body[0] is rig:
            self._body = (written, self._body[1])
        self._saved, self.path = written, path
        self._tell(Step(written, "save"))

    def _compiled(self, rig: Rig) -> Body:
        """The body of a rig: the last one where only joint models differ, of which none is made."""
        if self._body is not None and _differ_in_joints_alone(self._body[0], rig):
            return self._body[1]
        return compile_body(self.character, rig=rig, kept=self._kept)

    def _tell(self, step: Step[Rig]) -> None:
        self.revision += 1
        told = DocumentChanged(
            revision=self.revision,
            areas=step.areas,
            names=step.names,
            undo=self.undo_label,
            redo=self.redo_label,
            dirty=self.dirty,
        )
        for listener in tuple(self.listeners):
            listener(told)


def _differ_in_joints_alone(one: Rig, other: Rig) -> bool:
    """Whether all of two rigs but joint models and whether limits are kept is one and the same."""
    parts = ("maps", "surfaces", "bones", "bind")
    fields = [name for name in type(one.spec).model_fields if name != "skeleton"]
    if not all(getattr(one, part) is getattr(other, part) for part in parts):
        return False
    if not all(getattr(one.spec, name) is getattr(other.spec, name) for name in fields):
        return False
    without = {"joints": {}, "limits": "off"}
    first, second = (rig.spec.skeleton.model_copy(update=without) for rig in (one, other))
    return first == second
