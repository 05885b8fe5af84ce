"""A document with its file: where it is saved, what it began from, and what keeps its unsaved work."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from ecorche.body.rig import relative_path, require_bound
from ecorche.document.files import Rig
from ecorche.errors import DocumentError, EcorcheError
from ecorche.io.figure_file import FigureFile
from ecorche.studio.autosave import Autosave
from ecorche.studio.document import OpenDocument
from ecorche.studio.folder import Folder
from ecorche.studio.from_folder import Opened, WithoutRig, open_rig, recovered
from ecorche.studio.messages.document import DocumentChanged
from ecorche.studio.recovery import Recovery, in_use, kept
from ecorche.studio.saving import require_unchanged, save, version_of

ALL_AREAS = ("file", "joints", "lines", "motion", "muscles")
"""Of a change that may have changed everything."""


class OpenFile:
    """A document and its file.

    Args:
        folder: The opened folder.
        opened: The rig and its character.
        character: The character's file; it need not exist for the built-in figure.
        saved: Whether the rig is what its file holds.
        made: Whether it was just made or rebound: work that is kept from the start.
        without_rig: What was found, where this is a character without a rig.
        figure: The built-in figure, which is written beside its rig.
        told: Called when something about the file changed that pages show, from any thread.

    Attributes:
        document: The document.
        name: Its file in the folder, or the one proposed for it.
        version: Of the file when it was opened or saved; None where there is none.
        without_rig: As given, until there are muscles or it is saved.
    """

    def __init__(
        self,
        folder: Folder,
        opened: Opened,
        character: Path,
        *,
        saved: bool,
        made: bool = False,
        without_rig: WithoutRig | None = None,
        figure: FigureFile | None = None,
        told: Callable[[], None] = lambda: None,
    ) -> None:
        self.folder, self.name, self.version = folder, opened.name, opened.version
        self.without_rig = without_rig
        self._character, self._figure, self._told = character, figure, told
        path = None if opened.version is None else self.path
        self.document = OpenDocument(opened.character, opened.rig, path, opened.told, saved=saved)
        self.autosave = Autosave(self.path, self.version, told=lambda _: told())
        self._began = None if made else self.document.rig  # what nobody has worked on yet is not kept
        self.document.listeners.append(self._changed)
        if made:
            self.autosave.keep(self._homed(self.document.rig, self.path))

    @property
    def path(self) -> Path:
        """Of the rig."""
        return self.folder.root / self.name

    @property
    def changed_on_disk(self) -> bool:
        """Whether somebody else has written the file since."""
        found = version_of(self.path)
        return found is not None and found != self.version

    @property
    def elsewhere(self) -> bool:
        """Whether another studio has unsaved work on the same file."""
        own = self.autosave.kept_path
        return any(recovery.path != own and in_use(recovery) for recovery in kept(self.path))

    @property
    def unsaved(self) -> bool:
        """Whether there is work in it that would be missed."""
        return self.document.dirty and self.document.rig is not self._began

    def save(self, name: str | None = None, over: str | None = None) -> str:
        """Write the rig; its file's name.

        Args:
            name: Another file; None is its own.
            over: The version on disk that may be replaced though it is not the one that was opened.
        """
        name = name or self.name
        target = self.folder.writable(name)
        own = name == self.name
        rig = self._homed(self.document.rig, target)
        opened = over or (self.version if own else None)
        if self._figure is not None:
            require_unchanged(target, name, opened)
            self._figure.write()
        spec, version = save(self.folder, name, rig, opened)
        self.autosave.clear(version, target)
        self.name, self.version, self.without_rig, self._began = name, version, None, None
        self.document.taken_as_saved(replace(rig, spec=spec, source=str(target)), target)
        return name

    def reload(self) -> tuple[str, ...]:
        """Take the rig as it is on disk, as a step that can be undone."""
        opened = open_rig(self.folder, self.name)
        self._take(opened.rig, "reload from disk")
        self._began = None
        self.document.taken_as_saved(self.document.rig, self.path)
        self.autosave.clear(opened.version)
        self.version = opened.version
        return (f"{self.name} is as it is on disk; undo brings back what was not saved",)

    def recover(self, recovery: Recovery) -> tuple[str, ...]:
        """Go on with work that was not saved, as a step that can be undone."""
        rig, base = recovered(self.folder, recovery)
        work = Autosave(self.path, base, told=lambda _: self._told(), recovery=recovery)
        before, self.autosave = self.autosave, work
        version, self.version = self.version, base
        try:
            self._take(rig, "recover what was not saved")
        except BaseException:
            self.autosave, self.version = before, version
            work.close()
            raise
        before.discard()
        self.without_rig = None
        fits = () if recovery.fits else (f"{self.name} was changed since: saving will ask",)
        return ("recovered what was not saved", *fits)

    def adopt(self, recovery: Recovery) -> None:
        """The document was opened from a recovery, which goes on keeping it."""
        before = self.autosave
        self.autosave = Autosave(self.path, self.version, told=lambda _: self._told(), recovery=recovery)
        self._began = None
        before.discard()

    @property
    def is_figure(self) -> bool:
        """Whether it is the built-in figure, not saved yet."""
        return self._figure is not None and self.version is None

    def close(self) -> None:
        """Unsaved work stays kept."""
        self.document.listeners.remove(self._changed)
        self.autosave.close()

    def _take(self, rig: Rig, label: str) -> None:
        """The rig of another version of this file, on the same character."""
        if rig.spec.character.hash != self.document.rig.spec.character.hash:
            raise DocumentError(
                "it was made for another shape of the character",
                where=self.name,
                remedy="Save your work, close the studio, and open the file again: it offers to rebind",
            )
        require_bound(rig, self.document.character, self.name)
        self.document.edit(rig, label, areas=ALL_AREAS)

    def _changed(self, _: DocumentChanged) -> None:
        if self.unsaved:
            try:
                self.autosave.keep(self._homed(self.document.rig, self.path))
            except EcorcheError:
                self._told()
        else:
            self.autosave.clear()

    def _homed(self, rig: Rig, target: Path) -> Rig:
        """The rig as it names its character from a file."""
        path = relative_path(self._character, target)
        if rig.spec.character.path == path:
            return rig
        character = rig.spec.character.model_copy(update={"path": path})
        return replace(rig, spec=rig.spec.model_copy(update={"character": character}))
