"""What one server has open: files of one folder, which pages share, and which page works on which."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from ecorche.document.files import Rig
from ecorche.errors import DocumentError, EcorcheError, WriteError
from ecorche.studio.folder import Folder
from ecorche.studio.from_folder import (
    Moved,
    Muscles,
    Opened,
    make_rig,
    open_character,
    open_recovery,
    open_rig,
    rebound,
)
from ecorche.studio.messages.document import DocumentChanged
from ecorche.studio.messages.files import FilesChanged, FilesEdited, Hello
from ecorche.studio.open_file import OpenFile
from ecorche.studio.recovery import Recovery, discard, left_behind, left_in
from ecorche.studio.session import Session
from ecorche.studio.upload import remove_left_partials

FIGURE = "the built-in figure"
"""In place of a file's name, for the command without one."""


@dataclass(eq=False)
class Visit:
    """A page and what it has to do with files.

    Attributes:
        session: The page.
        number: Counts the pages of this server.
        here: Whether it is connected.
        file: What it works on; None while nothing is open.
        moved: What it wanted to open and does not fit its character.
        failed: Why what it wanted to open is not.
        did: What it did last.
    """

    session: Session
    number: int
    here: bool = True
    file: OpenFile | None = None
    moved: Moved | None = None
    failed: EcorcheError | None = None
    did: str | None = None
    listening: list[Callable[[DocumentChanged], None]] = field(default_factory=list)


class Workspace:
    """Files of one folder that are open, and the pages that share them.

    All methods are called in the thread that computes.

    Args:
        folder: The opened folder.
        first: What a page opens that asks for nothing: a name in the folder, `FIGURE`, or None.

    Attributes:
        folder, first: As given.
        files: What is open.
        visits: The pages.
    """

    def __init__(self, folder: Folder, first: str | None) -> None:
        self.folder, self.first = folder, first
        self.files: list[OpenFile] = []
        self.visits: list[Visit] = []
        self._count = 0
        self._acting: Visit | None = None
        self._asked = ""
        remove_left_partials(folder)

    # ---- pages ----

    def enter(self, session: Session, wanted: str | None) -> None:
        """A page has come; it is shown what it wants, or else what the command was given."""
        self._count += 1
        visit = Visit(session, self._count)
        self.visits.append(visit)
        name = wanted or self.first
        if name is not None:
            try:
                visit.moved = self._show(visit, name)
            except EcorcheError as error:
                visit.failed = error
        self._tell_others(visit)

    def come_back(self, session: Session) -> None:
        """A page is here again that was away."""
        visit = self.visit(session)
        visit.here = True
        self._deafen(visit)  # its last connection may not have been seen to end
        self._listen(visit)
        self._tell_others(visit)

    def away(self, session: Session) -> None:
        """A page is not here, and may come back."""
        visit = self.visit(session)
        visit.here = False
        self._deafen(visit)
        self._tell_others(visit)

    def leave(self, session: Session) -> None:
        """A page has gone."""
        visit = self.visit(session)
        self._deafen(visit)
        self.visits.remove(visit)
        self._tell_others(visit)
        self._drop_unused()

    def hello(self, session: Session, *, resumed: bool) -> Hello:
        """The first thing that a page is told."""
        visit = self.visit(session)
        file = visit.file
        name = None if file is None or file.is_figure else file.name
        return Hello(resumed=resumed, open=file is not None, file=name, number=visit.number)

    def visit(self, session: Session) -> Visit:
        """What a page has to do with files."""
        return next(visit for visit in self.visits if visit.session is session)

    def file(self, session: Session) -> OpenFile:
        """The file of a page."""
        file = self.visit(session).file
        if file is None:
            raise EcorcheError("nothing is open", remedy="Open a file first")
        return file

    def acting(self, session: Session | None, asked: str = "") -> None:
        """Whose request is being answered, and which; None for nobody's."""
        self._acting = None if session is None else self.visit(session)
        self._asked = asked

    # ---- opening ----

    def open(self, session: Session, name: str) -> Moved | None:
        """Show a file of the folder; what does not fit, where its character changed."""
        visit = self.visit(session)
        moved = self._show(visit, name)
        visit.failed, visit.moved = None, moved
        return moved

    def make(self, session: Session, character: str, muscles: Muscles, name: str | None) -> OpenFile:
        """Show a new rig for a character."""
        found = open_character(self.folder, character)
        made = make_rig(self.folder, found, name, muscles)
        visit = self.visit(session)
        bare = visit.file  # the character as it is shown until there is a rig
        if bare is not None and bare.without_rig is not None and not bare.unsaved and bare.name == made.name:
            self.files.remove(bare)
            bare.close()
            viewers = [v for v in self.visits if v.file is bare]
        else:
            viewers = [visit]
        file = self._file(made, self.folder.existing(character), saved=False, made=True)
        for viewer in viewers:
            self._move(viewer, file)
        return file

    def rebind(self, session: Session, name: str, character: str | None) -> tuple[str, ...]:
        """Show a rig fitted to its character as it is now; what was done, a sentence each."""
        self.require_closed(name)
        found = open_rig(self.folder, name)
        if not isinstance(found, Moved):
            raise DocumentError("fits its character", where=name, remedy="Open it")
        fitted = rebound(self.folder, found, character)
        self._move(
            self.visit(session),
            self._file(fitted, _character_of(self.folder, fitted), saved=False, made=True),
        )
        return fitted.told

    # ---- recoveries ----

    def recoveries(self, session: Session) -> list[Recovery]:
        """Work that was not saved: of the open file, or of the whole folder where nothing is open."""
        file = self.visit(session).file
        return left_in(self.folder.root) if file is None else left_behind(file.path)

    def recover(self, session: Session, recovery: Recovery) -> tuple[str, ...]:
        """Go on with work that was not saved."""
        visit = self.visit(session)
        file = visit.file or next((f for f in self.files if f.path == recovery.rig), None)
        if file is not None and file.path == recovery.rig:
            if visit.file is not file:
                self._move(visit, file)
            return file.recover(recovery)
        found = open_recovery(self.folder, recovery)
        if isinstance(found, Moved):
            raise DocumentError(
                " ".join(found.problems).removesuffix("."),
                where=found.name,
                remedy=f"Rebind the recovery by hand: ecorche rebind {recovery.path.name} CHARACTER",
            )
        opened = self._file(found, _character_of(self.folder, found), saved=False, made=False)
        opened.document.notes = ()
        opened.adopt(recovery)
        self._move(visit, opened)
        return ("recovered what was not saved",)

    def discard(self, recovery: Recovery) -> None:
        """Remove work that was not saved."""
        discard(recovery)
        self.tell_all()

    # ---- telling ----

    def tell_all(self) -> None:
        """Something that pages show of files is another now."""
        for visit in tuple(self.visits):  # the autosave's thread tells too
            if visit.here:
                visit.session.tell(FilesChanged())

    def close(self) -> None:
        """End; unsaved work stays kept."""
        for file in self.files:
            file.close()
        self.files.clear()

    def _show(self, visit: Visit, name: str) -> Moved | None:
        if name == FIGURE:
            self._move(visit, self._figure())
            return None
        known = next((file for file in self.files if file.name == name), None)
        if known is not None:
            self._move(visit, known)
            return None
        if not name.lower().endswith(".ecorche"):
            self._move(visit, self._without_rig(name))
            return None
        opened = open_rig(self.folder, name)
        if isinstance(opened, Moved):
            return opened
        self._move(visit, self._file(opened, _character_of(self.folder, opened), saved=True))
        return None

    def _without_rig(self, name: str) -> OpenFile:
        """A character with a rig that has no muscles and no file yet."""
        found = open_character(self.folder, name)
        path = self.folder.existing(name)
        for file in self.files:
            if file.without_rig is not None and file.without_rig.name == name:
                return file
        made = make_rig(self.folder, found, muscles="none")
        return self._file(made, path, saved=False, without_rig=found)

    def _figure(self) -> OpenFile:
        from ecorche.body.figure import ecorche_figure
        from ecorche.body.rig import create_rig
        from ecorche.io.figure_file import figure_file

        for file in self.files:
            if file.is_figure:
                return file
        name = self.folder.free_name("figure.ecorche")
        try:
            figure = figure_file(self.folder.root / name)
        except WriteError as error:  # it can be looked at wherever it cannot be saved
            bare = ecorche_figure()
            path = self.folder.root / f"{bare.name}.glb"
            shown = Opened(name, create_rig(bare, path, self.folder.root / name), bare, None, (str(error),))
            return self._file(shown, path, saved=False)
        rig: Rig = create_rig(figure.character, figure.path, self.folder.root / name)
        return self._file(Opened(name, rig, figure.character, None), figure.path, saved=False, figure=figure)

    def _file(self, opened: Opened, character: Path, **how: object) -> OpenFile:
        self.require_closed(opened.name)
        file = OpenFile(self.folder, opened, character, told=self.tell_all, **how)  # type: ignore[arg-type]
        self.files.append(file)
        return file

    def require_closed(self, name: str) -> None:
        """Refuse the name of a file that a page has open."""
        if any(file.name == name for file in self.files):
            raise WriteError("is open in a page", where=name, remedy="Open it there, or choose another name")

    def _move(self, visit: Visit, file: OpenFile) -> None:
        """Show a page another file."""
        self._deafen(visit)
        visit.file, visit.moved, visit.failed = file, None, None
        visit.session.show(file.document)
        if visit.here:
            self._listen(visit)
        self._drop_unused()
        self.tell_all()

    def _listen(self, visit: Visit) -> None:
        if visit.file is None:
            return

        def edited(told: DocumentChanged) -> None:
            visit.session.tell(told)
            acting = self._acting
            if acting is None:
                return
            if told.areas:
                acting.did = "undo" if self._asked == "document.undo" else told.undo or "edit"
            if acting is not visit and told.areas:
                visit.session.tell(FilesEdited(number=acting.number, did=acting.did or "edit"))

        visit.listening.append(edited)
        visit.file.document.listeners.append(edited)

    def _deafen(self, visit: Visit) -> None:
        for listener in visit.listening:
            if visit.file is not None and listener in visit.file.document.listeners:
                visit.file.document.listeners.remove(listener)
        visit.listening.clear()

    def _tell_others(self, visit: Visit) -> None:
        for other in self.visits:
            if other is not visit and other.here:
                other.session.tell(FilesChanged())

    def _drop_unused(self) -> None:
        """Files that no page shows and that hold nothing unsaved are closed."""
        shown = {id(visit.file) for visit in self.visits}
        for file in [f for f in self.files if id(f) not in shown and not f.unsaved]:
            self.files.remove(file)
            file.close()


def _character_of(folder: Folder, opened: Opened) -> Path:
    return (folder.root / opened.name).parent / opened.rig.spec.character.path
