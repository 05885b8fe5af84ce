"""Messages about files: what the folder holds, opening, saving, recovering, and who else is here."""

from __future__ import annotations

from typing import ClassVar, Literal

from ecorche.studio.folder import Kind
from ecorche.studio.from_folder import Muscles
from ecorche.studio.messages.base import Event, Message, Replied, Reply, Request


class EntryTold(Message):
    """A file that can be opened.

    Attributes:
        name: Within the folder.
        kind: What it is.
        size: Bytes.
        changed: When, in seconds since 1970.
    """

    name: str
    kind: Kind
    size: int
    changed: float


class RecoveryTold(Message):
    """Work that was not saved when a server ended.

    Attributes:
        id: Which one.
        name: The rig's file.
        saved: When it was kept, in seconds since 1970.
        fits: Whether the rig's file is still the one that the work began from.
    """

    id: str
    name: str
    saved: float
    fits: bool


class WithoutRigTold(Message):
    """A character that was opened without a rig.

    Attributes:
        name: The character's file.
        proposed: A name for its rig.
        rigs: Rigs of the folder that were made for it.
    """

    name: str
    proposed: str
    rigs: tuple[str, ...]


class MovedTold(Message):
    """A rig that does not fit its character any more.

    Attributes:
        name: The rig's file.
        problems: What does not fit, a sentence each.
        character: Where the character is; None where it is gone.
        candidates: Characters that it may be now, the likeliest first.
    """

    name: str
    problems: tuple[str, ...]
    character: str | None
    candidates: tuple[str, ...]


class TroubleTold(Message):
    """What is wrong, where, and how to mend it."""

    what: str
    where: str | None
    remedy: str | None


class PersonTold(Message):
    """A page that has the same file open.

    Attributes:
        number: Counts the pages of this server.
        did: What it did last; None for nothing yet.
        you: Whether it is this page.
    """

    number: int
    did: str | None
    you: bool


class FilesTold(Reply):
    """The folder, and how the open file stands in it.

    Attributes:
        folder: Its name.
        entries: What can be opened.
        cut_short: Whether there is more.
        open: Name of the open rig, or the one proposed for it; None where nothing is open.
        saved: Whether that file was ever written.
        dirty: Whether there is anything to save.
        kept: When unsaved work was kept last, in seconds since 1970; None where there is none.
        changed_on_disk: Whether somebody else has written the file since.
        elsewhere: Whether another studio has unsaved work on the same file.
        without_rig: The character, where this page opened one without a rig.
        moved: The rig, where what this page wanted to open does not fit its character.
        failed: Why what this page wanted to open is not.
        recoveries: Of the open rig, or of all rigs of the folder where nothing is open.
        unsaved: Files that are open in some page and hold work that is not saved.
        trouble: Why unsaved work cannot be kept.
        people: Who has the file open.
    """

    folder: str
    entries: tuple[EntryTold, ...]
    cut_short: bool
    open: str | None
    saved: bool
    dirty: bool
    kept: float | None
    changed_on_disk: bool
    elsewhere: bool
    without_rig: WithoutRigTold | None
    moved: MovedTold | None
    failed: TroubleTold | None
    recoveries: tuple[RecoveryTold, ...]
    unsaved: tuple[str, ...]
    trouble: TroubleTold | None
    people: tuple[PersonTold, ...]


class FilesGet(Request):
    """The folder, and how the open file stands in it."""

    reply: ClassVar[Replied] = FilesTold
    type: Literal["files.get"] = "files.get"


class OpenedTold(Reply):
    """What came of opening.

    Attributes:
        name: The rig that is open now; None where a person has to decide first.
        lines: What a person should know, a sentence each.
        moved: What does not fit, where the rig's character changed.
    """

    name: str | None
    lines: tuple[str, ...] = ()
    moved: MovedTold | None = None


class FilesOpen(Request):
    """Open a rig or a character in this page.

    Attributes:
        name: Within the folder.
    """

    reply: ClassVar[Replied] = OpenedTold
    type: Literal["files.open"] = "files.open"
    name: str


class FilesFigure(Request):
    """Open the built-in figure."""

    reply: ClassVar[Replied] = OpenedTold
    type: Literal["files.figure"] = "files.figure"


class FilesMake(Request):
    """Make a rig for a character; nothing is written before it is saved.

    Attributes:
        character: The character's file.
        muscles: Where they come from.
        name: The rig's file; None takes the proposed one.
    """

    reply: ClassVar[Replied] = OpenedTold
    type: Literal["files.make"] = "files.make"
    character: str
    muscles: Muscles = "template"
    name: str | None = None


class FilesRebind(Request):
    """Fit a rig to its character as it is now; nothing is written before it is saved.

    Attributes:
        name: The rig's file.
        character: The character's file; None is the one that the rig names.
    """

    reply: ClassVar[Replied] = OpenedTold
    type: Literal["files.rebind"] = "files.rebind"
    name: str
    character: str | None = None


class SavedTold(Reply):
    """What came of saving.

    Attributes:
        name: The file.
        lines: What was done.
        conflict: Why nothing was written, where another version is on disk.
        found: That version: saving over it names it.
    """

    name: str
    lines: tuple[str, ...] = ()
    conflict: TroubleTold | None = None
    found: str | None = None


class FilesSave(Request):
    """Write the open rig.

    Attributes:
        name: The file; None is its own.
        over: The version on disk that may be replaced, of those that somebody else wrote.
    """

    reply: ClassVar[Replied] = SavedTold
    type: Literal["files.save"] = "files.save"
    name: str | None = None
    over: str | None = None


class FilesReload(Request):
    """Take the rig as it is on disk; what was not saved can be had back by undo."""

    reply: ClassVar[Replied] = OpenedTold
    type: Literal["files.reload"] = "files.reload"


class FilesRecover(Request):
    """Go on with work that was not saved.

    Attributes:
        recovery: Which one.
    """

    reply: ClassVar[Replied] = OpenedTold
    type: Literal["files.recover"] = "files.recover"
    recovery: str


class FilesDiscard(Request):
    """Remove work that was not saved.

    Attributes:
        recovery: Which one.
    """

    type: Literal["files.discard"] = "files.discard"
    recovery: str


class Hello(Event):
    """The first thing that a page is told.

    Attributes:
        resumed: Whether the server still knows this page, and what it asked before.
        open: Whether a file is open.
        file: Its name in the folder; None where the page cannot ask for it by a name.
        number: Of this page.
    """

    event: Literal["files.hello"] = "files.hello"
    resumed: bool
    open: bool
    file: str | None
    number: int


class FilesChanged(Event):
    """Something of `FilesTold` is another now."""

    event: Literal["files.changed"] = "files.changed"


class FilesEdited(Event):
    """Somebody else changed the open file.

    Attributes:
        number: Of the page that did.
        did: What it did.
    """

    event: Literal["files.edited"] = "files.edited"
    number: int
    did: str


REQUESTS = (
    FilesGet,
    FilesOpen,
    FilesFigure,
    FilesMake,
    FilesRebind,
    FilesSave,
    FilesReload,
    FilesRecover,
    FilesDiscard,
)
EVENTS = (Hello, FilesChanged, FilesEdited)
