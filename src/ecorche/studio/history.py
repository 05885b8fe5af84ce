"""What can be undone and done again: states one after another, without limit, and which of them is now."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from ecorche.errors import EcorcheError

State = TypeVar("State")


@dataclass(frozen=True, eq=False)
class Step(Generic[State]):
    """A state after a change.

    Attributes:
        state: An immutable value: steps share all that they did not change.
        label: What was done, as in "Undo move the origin of biceps".
        gesture: Changes of one gesture are one step; None for one by itself.
        areas: Which parts it changed.
        names: Which things in them.
    """

    state: State
    label: str
    gesture: str | None = None
    areas: tuple[str, ...] = ()
    names: tuple[str, ...] = ()


class History(Generic[State]):
    """The states of one thing, from the one it was opened with.

    Args:
        first: That state.
        of_what: What has it, for messages: "among the curves"; empty where that goes without saying.
    """

    def __init__(self, first: State, of_what: str = "") -> None:
        self._steps, self._at, self._of_what = [Step(first, "open")], 0, of_what

    @property
    def now(self) -> Step[State]:
        """The step that led to the state as it is."""
        return self._steps[self._at]

    @property
    def undo_label(self) -> str | None:
        """What undo would take back; None for nothing."""
        return self.now.label if self._at else None

    @property
    def redo_label(self) -> str | None:
        """What redo would do again; None for nothing."""
        return self._steps[self._at + 1].label if self._at + 1 < len(self._steps) else None

    def take(
        self,
        state: State,
        label: str,
        *,
        gesture: str | None = None,
        areas: Sequence[str] = (),
        names: Sequence[str] = (),
        apart_from: State | None = None,
    ) -> None:
        """Make a state the next step; what was undone is forgotten.

        Args:
            state: The state.
            label, gesture, areas, names: See `Step`.
            apart_from: A state, as one that is saved, which no later change of its gesture replaces.
        """
        last = self.now
        del self._steps[self._at + 1 :]
        if gesture is not None and last.gesture == gesture and self._at and last.state is not apart_from:
            self._steps.pop()
            label, areas, names = last.label, (*last.areas, *areas), (*last.names, *names)
        self._steps.append(Step(state, label, gesture, tuple(sorted({*areas})), tuple(sorted({*names}))))
        self._at = len(self._steps) - 1

    def undo(self) -> Step[State]:
        """Take the last step back; the step that it was."""
        if not self._at:
            raise self._nothing("undo", "Edit")
        step = self.now
        self._at -= 1
        return step

    def redo(self) -> Step[State]:
        """Do the step again that was taken back last."""
        if self._at + 1 == len(self._steps):
            raise self._nothing("redo", "Undo")
        self._at += 1
        return self.now

    def write_as(self, state: State) -> None:
        """The same state in other words, as a file has it: neither a change nor undone."""
        self._steps[self._at] = replace(self.now, state=state)

    def _nothing(self, what: str, first: str) -> EcorcheError:
        where = f" {self._of_what}" if self._of_what else ""
        return EcorcheError(f"there is nothing to {what}{where}", remedy=f"{first} something{where} first")
