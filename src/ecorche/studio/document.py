"""The open file: a character and its rig, every step of its history, and the body made of the rig.

A rig is an immutable value, so that history is a list of them, without limit: steps share all that they did
not change. All pages that opened a file share one document: whoever edits, everybody sees it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ecorche.body.character import Character
from ecorche.body.compile import Body, compile_body
from ecorche.body.edited_rig import Edited
from ecorche.body.kept_parts import KeptParts
from ecorche.document.files import Rig, write_rig
from ecorche.errors import EcorcheError, WriteError
from ecorche.studio.messages.document import DocumentChanged


@dataclass(frozen=True, eq=False)
class Step:
    """One state of the rig.

    Attributes:
        rig: As it was after the step.
        label: What the step did, as in "Undo move the origin of biceps".
        gesture: Edits of one gesture are one step; None for one by itself.
        areas: Which parts it changed.
        names: Which muscles or joints.
    """

    rig: Rig
    label: str
    gesture: str | None = None
    areas: tuple[str, ...] = ()
    names: tuple[str, ...] = ()


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
        self._steps, self._at = [Step(rig, "open")], 0
        self._saved: Rig | None = rig if path is not None and saved else None
        self._body: tuple[Rig, Body] | None = None
        self._kept = KeptParts()

    @property
    def rig(self) -> Rig:
        """The rig as it is now."""
        return self._steps[self._at].rig

    @property
    def undo_label(self) -> str | None:
        """What undo would take back; None for nothing."""
        return self._steps[self._at].label if self._at else None

    @property
    def redo_label(self) -> str | None:
        """What redo would do again; None for nothing."""
        return self._steps[self._at + 1].label if self._at + 1 < len(self._steps) else None

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
        last = self._steps[self._at]
        del self._steps[self._at + 1 :]
        if gesture is not None and last.gesture == gesture and self._at and last.rig is not self._saved:
            self._steps.pop()
            areas, names = {*last.areas, *areas}, {*last.names, *names}  # type: ignore[assignment]
        self._steps.append(Step(rig, label, gesture, tuple(sorted(areas)), tuple(sorted(names))))
        self._at = len(self._steps) - 1
        self._body = (rig, body)
        self._tell(self._steps[self._at])
        return lines

    def undo(self) -> str:
        """Take the last step back; what it was."""
        if not self._at:
            raise EcorcheError("there is nothing to undo", remedy="Edit something first")
        step = self._steps[self._at]
        self._at -= 1
        self._tell(step)
        return step.label

    def redo(self) -> str:
        """Do the step again that was taken back last; what it is."""
        if self._at + 1 == len(self._steps):
            raise EcorcheError("there is nothing to redo", remedy="Undo something first")
        self._at += 1
        self._tell(self._steps[self._at])
        return self._steps[self._at].label

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
        # as the same step it is neither undone nor an edit
        self._steps[self._at] = replace(self._steps[self._at], rig=written)
        if self._body is not None and self._body[0] is rig:
            self._body = (written, self._body[1])
        self._saved, self.path = written, path
        self._tell(Step(written, "save"))

    def _compiled(self, rig: Rig) -> Body:
        """The body of a rig: the last one where only joint models differ, of which none is made."""
        if self._body is not None and _differ_in_joints_alone(self._body[0], rig):
            return self._body[1]
        return compile_body(self.character, rig=rig, kept=self._kept)

    def _tell(self, step: Step) -> None:
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
