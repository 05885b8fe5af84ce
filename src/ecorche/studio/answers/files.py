"""Answers about files: the folder, opening, saving, recovering, and who else is here."""

from __future__ import annotations

from ecorche.errors import EcorcheError
from ecorche.studio.answers.table import Answers, answering
from ecorche.studio.from_folder import Moved
from ecorche.studio.messages.base import Done
from ecorche.studio.messages.files import (
    EntryTold,
    FilesDiscard,
    FilesFigure,
    FilesGet,
    FilesMake,
    FilesOpen,
    FilesRebind,
    FilesRecover,
    FilesReload,
    FilesSave,
    FilesTold,
    MovedTold,
    OpenedTold,
    PersonTold,
    RecoveryTold,
    SavedTold,
    TroubleTold,
    WithoutRigTold,
)
from ecorche.studio.recovery import Recovery
from ecorche.studio.saving import FileConflict
from ecorche.studio.session import Session
from ecorche.studio.workspace import FIGURE, Workspace

ANSWERS: Answers = {}


@answering(ANSWERS, FilesGet)
def told(session: Session, _: FilesGet) -> FilesTold:
    """The folder, and how the open file stands in it."""
    space = _space(session)
    visit, listing = space.visit(session), space.folder.listing()
    file = visit.file
    found = None if file is None else file.without_rig
    people = [v for v in space.visits if v.here and file is not None and v.file is file]
    return FilesTold(
        folder=space.folder.root.name or str(space.folder.root),
        entries=tuple(
            EntryTold(name=e.name, kind=e.kind, size=e.size, changed=e.changed) for e in listing.entries
        ),
        cut_short=listing.cut_short,
        open=None if file is None else file.name,
        saved=file is not None and file.version is not None,
        dirty=file is not None and file.document.dirty,
        kept=None if file is None else file.autosave.kept_at,
        changed_on_disk=file is not None and file.changed_on_disk,
        elsewhere=file is not None and file.elsewhere,
        without_rig=None
        if found is None
        else WithoutRigTold(name=found.name, proposed=found.proposed, rigs=found.rigs),
        moved=moved_told(visit.moved),
        failed=trouble_told(visit.failed),
        recoveries=tuple(recovery_told(space, recovery) for recovery in space.recoveries(session)),
        unsaved=tuple(f.name for f in space.files if f.unsaved),
        trouble=None if file is None else trouble_told(file.autosave.trouble),
        people=tuple(PersonTold(number=v.number, did=v.did, you=v is visit) for v in people),
    )


@answering(ANSWERS, FilesOpen)
def open_file(session: Session, asked: FilesOpen) -> OpenedTold:
    """Open a rig or a character in this page."""
    space = _space(session)
    moved = space.open(session, asked.name)
    if moved is not None:
        return OpenedTold(name=None, moved=moved_told(moved))
    return OpenedTold(name=space.file(session).name)


@answering(ANSWERS, FilesFigure)
def open_figure(session: Session, _: FilesFigure) -> OpenedTold:
    """Open the built-in figure."""
    space = _space(session)
    space.open(session, FIGURE)
    return OpenedTold(name=space.file(session).name)


@answering(ANSWERS, FilesMake)
def make(session: Session, asked: FilesMake) -> OpenedTold:
    """Make a rig for a character."""
    file = _space(session).make(session, asked.character, asked.muscles, asked.name)
    return OpenedTold(name=file.name, lines=file.document.notes)


@answering(ANSWERS, FilesRebind)
def rebind(session: Session, asked: FilesRebind) -> OpenedTold:
    """Fit a rig to its character as it is now."""
    space = _space(session)
    lines = space.rebind(session, asked.name, asked.character)
    return OpenedTold(name=space.file(session).name, lines=lines)


@answering(ANSWERS, FilesSave)
def save(session: Session, asked: FilesSave) -> SavedTold:
    """Write the open rig."""
    space = _space(session)
    file = space.file(session)
    name = asked.name or file.name
    if name != file.name:
        space.require_closed(name)
    try:
        file.save(name, asked.over)
    except FileConflict as conflict:
        return SavedTold(name=name, conflict=trouble_told(conflict), found=conflict.found)
    space.tell_all()
    return SavedTold(name=name, lines=(f"saved {name}",))


@answering(ANSWERS, FilesReload)
def reload(session: Session, _: FilesReload) -> OpenedTold:
    """Take the rig as it is on disk."""
    space = _space(session)
    file = space.file(session)
    lines = file.reload()
    space.tell_all()
    return OpenedTold(name=file.name, lines=lines)


@answering(ANSWERS, FilesRecover)
def recover(session: Session, asked: FilesRecover) -> OpenedTold:
    """Go on with work that was not saved."""
    space = _space(session)
    lines = space.recover(session, _recovery(space, session, asked.recovery))
    space.tell_all()
    return OpenedTold(name=space.file(session).name, lines=lines)


@answering(ANSWERS, FilesDiscard)
def discard(session: Session, asked: FilesDiscard) -> Done:
    """Remove work that was not saved."""
    space = _space(session)
    found = _recovery(space, session, asked.recovery)
    space.discard(found)
    return Done(lines=(f"discarded what was not saved of {space.folder.name_of(found.rig)}",))


def moved_told(moved: Moved | None) -> MovedTold | None:
    """What does not fit, as a message."""
    if moved is None:
        return None
    return MovedTold(
        name=moved.name, problems=moved.problems, character=moved.character, candidates=moved.candidates
    )


def trouble_told(error: EcorcheError | None) -> TroubleTold | None:
    """An error, as a part of a message."""
    return None if error is None else TroubleTold(what=error.what, where=error.where, remedy=error.remedy)


def recovery_told(space: Workspace, recovery: Recovery) -> RecoveryTold:
    """Work that was not saved, as a message."""
    return RecoveryTold(
        id=recovery.path.name,
        name=space.folder.name_of(recovery.rig),
        saved=recovery.saved,
        fits=recovery.fits,
    )


def _recovery(space: Workspace, session: Session, chosen: str) -> Recovery:
    """One of the recoveries that the page was told of: its name is compared, never opened."""
    for recovery in space.recoveries(session):
        if recovery.path.name == chosen:
            return recovery
    raise EcorcheError("this recovery is gone", remedy="Open the file")


def _space(session: Session) -> Workspace:
    if session.space is None:
        raise EcorcheError("this studio has no folder", remedy="Start it with a file or folder")
    return session.space
