"""Answers about poses in files: beside the rig, and by text from elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ecorche.base.names import suggestion
from ecorche.errors import ReadError, WriteError
from ecorche.io.keyframes_write import pose_from_text, pose_text, read_pose, write_pose
from ecorche.studio.answers.joints import pose_of, take
from ecorche.studio.answers.table import Answers, answering
from ecorche.studio.folder import unfit_name
from ecorche.studio.messages import joints as asked_of
from ecorche.studio.messages.base import Done
from ecorche.studio.session import Session

ANSWERS: Answers = {}
LARGEST = 4_000_000
"""A pose file with more bytes is none."""


@answering(ANSWERS, asked_of.PoseList)
def names(session: Session, _: asked_of.PoseList) -> asked_of.PosesTold:
    """Pose files beside the rig."""
    folder = _folder(session)
    if folder is None:
        return asked_of.PosesTold(names=None)
    found = sorted(path.stem for path in folder.glob("*.pose") if _inside(path, folder) and path.is_file())
    return asked_of.PosesTold(names=tuple(found))


@answering(ANSWERS, asked_of.PoseSave)
def save(session: Session, asked: asked_of.PoseSave) -> Done:
    """Write what is shown to a pose file beside the rig."""
    path = _beside(session, asked.name)
    if path.exists() and not asked.replace:
        raise WriteError(
            "there is a pose of that name already",
            where=path.name,
            remedy="Give another name, or replace it",
        )
    told = write_pose(path, session.document.character.skeleton, pose_of(session), _mapping(session))
    return Done(lines=(f"saved {path.name}", *told))


@answering(ANSWERS, asked_of.PoseLoad)
def load(session: Session, asked: asked_of.PoseLoad) -> Done:
    """Take the pose of a file beside the rig."""
    path = _beside(session, asked.name)
    if not path.is_file():
        known = names(session, asked_of.PoseList()).names or ()
        raise ReadError("there is no such pose", where=path.name, remedy=suggestion(asked.name, known))
    if path.stat().st_size > LARGEST:
        raise ReadError("it is too large for a pose", where=path.name, remedy="Load it as a motion")
    take(session, read_pose(path, session.document.character.skeleton, _mapping(session)))
    return Done(lines=(f"loaded {path.name}",))


@answering(ANSWERS, asked_of.PoseWrite)
def write(session: Session, _: asked_of.PoseWrite) -> asked_of.PoseText:
    """What is shown as the text of a pose file."""
    text, told = pose_text(session.document.character.skeleton, pose_of(session), _mapping(session))
    return asked_of.PoseText(text=text, lines=told)


@answering(ANSWERS, asked_of.PoseRead)
def read(session: Session, asked: asked_of.PoseRead) -> Done:
    """Take the pose in a text."""
    skeleton = session.document.character.skeleton
    take(session, pose_from_text(asked.text, asked.name, skeleton, _mapping(session)))
    return Done(lines=(f"loaded {asked.name}",))


def _folder(session: Session) -> Path | None:
    path = session.document.path
    return None if path is None else path.parent


def _beside(session: Session, name: str) -> Path:
    """A pose file in the rig's folder, and nowhere else."""
    folder = _folder(session)
    if folder is None:
        raise WriteError(
            "the rig has no folder yet",
            remedy="Save the rig first, or download the pose",
        )
    path = folder / f"{name}.pose"
    if not _inside(path, folder):
        raise ReadError("leads out of the rig's folder", where=path.name, remedy="Give another name")
    if unfit := unfit_name(path.name):
        raise WriteError(unfit, where=path.name, remedy="Give another name")
    return path


def _inside(path: Path, folder: Path) -> bool:
    try:
        return path.resolve().parent == folder.resolve()
    except (OSError, RuntimeError, ValueError):  # a circle of links, a name no system knows
        return False


def _mapping(session: Session) -> Mapping[str, str] | None:
    return session.document.rig.spec.skeleton.mapping or None
