"""Answers about a page's motion and its activation curves."""

from __future__ import annotations

import base64
import binascii
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import numpy.typing as npt

from ecorche.base.names import suggestion
from ecorche.errors import EcorcheError, MotionError, ReadError, WriteError
from ecorche.io.activation import read_activation, write_activation
from ecorche.muscles.edit_curves import Curve, thinned
from ecorche.muscles.keyed_curves import DECIMALS, KeyedCurves
from ecorche.studio.answers.table import Answers, answering
from ecorche.studio.folder import unfit_name
from ecorche.studio.messages.base import WithArrays
from ecorche.studio.messages.motion import (
    AheadTold,
    CurveEdit,
    CurveFree,
    CurveGet,
    CurveKey,
    CurveScale,
    CurvesOpen,
    CurvesSave,
    CurvesSet,
    CurvesUndo,
    CurveTense,
    CurveTold,
    KeyAdd,
    KeyDelete,
    KeyMove,
    MotionAhead,
    MotionDrop,
    MotionGet,
    MotionGive,
    MotionLoad,
    MotionPoseFromHere,
    MotionSeek,
    MotionShown,
    MotionSwing,
    MotionTold,
    SoughtTold,
)
from ecorche.studio.played import Loading, PlayedMotion, motion_from
from ecorche.studio.session import Session

ANSWERS: Answers = {}
Floats = npt.NDArray[np.float64]

MOTIONS = (".bvh", ".glb", ".gltf", ".usd", ".usda", ".usdc", ".usdz", ".x3d", ".wrl", ".fbx", ".pose")
"""Files that may hold a motion."""


def played(session: Session) -> PlayedMotion:
    """What the page plays."""
    found = session.kept.setdefault("motion", None) or PlayedMotion(session)
    session.kept["motion"] = found
    assert isinstance(found, PlayedMotion)
    return found


def told(session: Session, lines: tuple[str, ...] = ()) -> MotionTold:
    """What the page plays, and what was done."""
    now = played(session)
    player, loading, ahead = now.player, now.loading, now.ahead
    shown = None
    if player is not None and loading is not None:
        motion = player.motion
        shown = MotionShown(
            name=motion.name,
            source=loading.file,
            begins=player.begins,
            ends=player.ends,
            frames=len(player),
            rate=motion.rate,
        )
    return MotionTold(
        motion=shown,
        shown=now.is_shown,
        time=now.time,
        clips=tuple(motion.name for motion in session.document.character.motions),
        files=_files(session),
        dynamics=now.dynamics.value,
        computed=0 if ahead is None else ahead.computed,
        possible=0 if ahead is None else ahead.possible,
        share=1.0 if ahead is None else ahead.share,
        curves={
            name: tuple(zip(times.tolist(), values.tolist(), strict=True))
            for name, (times, values) in now.curves.curves.items()
        },
        undo=now.undo_label,
        redo=now.redo_label,
        lines=lines,
    )


@answering(ANSWERS, MotionGet)
def get(session: Session, _: MotionGet) -> MotionTold:
    """What the page plays."""
    return told(session, played(session).lines)


@answering(ANSWERS, MotionLoad)
def load(session: Session, asked: MotionLoad) -> MotionTold:
    """Load a file of the rig's folder, or a clip of the character."""
    if asked.file is not None:
        motion = motion_from(session, _in_folder(session, asked.file), asked.clip)
    else:
        clips = {clip.name: clip for clip in session.document.character.motions}
        if not clips:
            raise MotionError("the character has no motion of its own", remedy="Choose a file")
        name = next(iter(clips)) if asked.clip is None else asked.clip
        if name not in clips:
            raise MotionError(f"there is no clip {name!r}", remedy=suggestion(name, list(clips)))
        motion = clips[name]
    now = played(session)
    now.load(Loading(motion, asked.file, asked.feet, asked.rate, asked.limits))
    return told(session, now.lines)


@answering(ANSWERS, MotionGive)
def give(session: Session, asked: MotionGive) -> MotionTold:
    """Load a motion that comes with the message."""
    name = Path(asked.name.replace("\\", "/")).name
    if Path(name).suffix.lower() not in MOTIONS:
        raise ReadError("is no kind of motion", where=name, remedy=f"Give one of {', '.join(MOTIONS)}")
    try:
        content = base64.b64decode(asked.content, validate=True)
    except (binascii.Error, ValueError):
        raise ReadError("did not arrive whole", where=name, remedy="Give it again") from None
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"motion{Path(name).suffix.lower()}"
        path.write_bytes(content)
        try:
            motion = motion_from(session, path, None)
        except EcorcheError as error:  # told by the name the person knows
            where = None if error.where is None else str(error.where).replace(str(path), name)
            raise ReadError(error.what, where=where, remedy=error.remedy) from None
    now = played(session)
    now.load(Loading(motion, name, "directions", None, None))
    return told(session, now.lines)


@answering(ANSWERS, MotionDrop)
def drop(session: Session, _: MotionDrop) -> MotionTold:
    """Forget the motion."""
    played(session).drop()
    return told(session)


@answering(ANSWERS, MotionSeek)
def seek(session: Session, asked: MotionSeek) -> SoughtTold:
    """Show a moment of the motion."""
    now = played(session)
    waits = now.seek(asked.time)
    return SoughtTold(time=now.time, waits=waits)


@answering(ANSWERS, MotionPoseFromHere)
def pose_from_here(session: Session, _: MotionPoseFromHere) -> MotionTold:
    """Make the moment that is shown the page's pose."""
    now = played(session)
    now.required()
    now.pose_from_here()
    return told(session, ("the pose is that of the motion now",))


@answering(ANSWERS, MotionSwing)
def swing(session: Session, asked: MotionSwing) -> MotionTold:
    """Choose what swings after the bones."""
    played(session).swing(asked.dynamics)
    return told(session)


@answering(ANSWERS, MotionAhead)
def ahead(session: Session, asked: MotionAhead) -> AheadTold:
    """Compute a little of what swings."""
    now = played(session)
    now.required()
    if now.ahead is None:
        return AheadTold(computed=0, possible=0, share=1.0, lines=())
    try:
        now.ahead.advance(asked.seconds)
    except EcorcheError:
        now.swing("off")  # it would be refused again and again
        raise
    return AheadTold(
        computed=now.ahead.computed,
        possible=now.ahead.possible,
        share=now.ahead.share,
        lines=now.ahead.notes,
    )


@answering(ANSWERS, CurveGet)
def curve(session: Session, asked: CurveGet) -> WithArrays:
    """How active a muscle or a group is through the motion."""
    now = played(session)
    player = now.required()
    rows = _rows(session, asked.name)
    keys, by = _keys(now, asked.name)
    times = np.linspace(player.begins, player.ends, asked.samples)
    activation, source = player.activation, player.source_activation
    assert activation is not None  # there are muscles
    assert source is not None
    shown = _at(times, player.motion.times, activation[:, rows].mean(axis=1))
    if asked.name in now.curves:
        shown = now.curves.sampled(asked.name, times)
    told = CurveTold(
        name=asked.name,
        keyed=asked.name in now.curves,
        times=tuple(keys[0].tolist()),
        values=tuple(keys[1].tolist()),
        by=by,
    )
    without = _at(times, player.motion.times, source[:, rows].mean(axis=1))
    arrays = {"times": times, "activation": shown, "source": without}
    return WithArrays(told, {name: array.astype(np.float32) for name, array in arrays.items()})


@answering(ANSWERS, CurveKey)
def key(session: Session, asked: CurveKey) -> MotionTold:
    """Give a muscle or group a curve."""
    return _changed(session, asked, _with_own(session, asked.name), f"key {asked.name}")


@answering(ANSWERS, CurveFree)
def free(session: Session, asked: CurveFree) -> MotionTold:
    """Take its curve from a muscle or group."""
    now = played(session)
    return _changed(session, asked, now.curves.without_curve(asked.name), f"free {asked.name}")


@answering(ANSWERS, KeyAdd)
def add_key(session: Session, asked: KeyAdd) -> MotionTold:
    """Add a key."""
    curves = _with_own(session, asked.name).with_key(asked.name, asked.time, asked.value)
    return _changed(session, asked, curves, f"add a key to {asked.name}")


@answering(ANSWERS, KeyMove)
def move_key(session: Session, asked: KeyMove) -> MotionTold:
    """Move a key; a curve that was only proposed becomes the muscle's own."""
    curves = _with_own(session, asked.name)
    moved = curves.with_key_moved(asked.name, asked.key, asked.time, asked.value)
    return _changed(session, asked, moved, f"move a key of {asked.name}")


@answering(ANSWERS, KeyDelete)
def delete_key(session: Session, asked: KeyDelete) -> MotionTold:
    """Delete a key."""
    curves = _with_own(session, asked.name).without_key(asked.name, asked.key)
    return _changed(session, asked, curves, f"delete a key of {asked.name}")


@answering(ANSWERS, CurveTense)
def tense(session: Session, asked: CurveTense) -> MotionTold:
    """At least so active for a while."""
    curves = _with_own(session, asked.name)
    held = curves.tensed(asked.name, asked.begin, asked.end, asked.level, asked.ease)
    return _changed(session, asked, held, f"tense {asked.name}")


@answering(ANSWERS, CurveScale)
def scale(session: Session, asked: CurveScale) -> MotionTold:
    """More or less of the same, earlier or later."""
    curves = _with_own(session, asked.name).scaled(asked.name, asked.gain)
    return _changed(
        session, asked, curves.shifted(asked.name, asked.seconds), f"scale the curve of {asked.name}"
    )


@answering(ANSWERS, CurvesUndo)
def undo(session: Session, asked: CurvesUndo) -> MotionTold:
    """Take back the last change of curves, or do it again."""
    label = played(session).step(1 if asked.redo else -1)
    return told(session, (f"{'done again' if asked.redo else 'undone'}: {label}",))


@answering(ANSWERS, CurvesSet)
def set_curves(session: Session, asked: CurvesSet) -> MotionTold:
    """Put curves in place of those there are."""
    keys = {name: np.array(pairs).reshape(-1, 2).T for name, pairs in asked.curves.items()}
    played(session).change(KeyedCurves({n: (k[0], k[1]) for n, k in keys.items()}), "set curves")
    return told(session)


@answering(ANSWERS, CurvesOpen)
def open_curves(session: Session, asked: CurvesOpen) -> MotionTold:
    """Take curves from a file."""
    curves = KeyedCurves(read_activation(_in_folder(session, asked.file)))
    for name in curves.curves:
        _rows(session, name)
    played(session).change(curves, f"open {asked.file}")
    session.kept.setdefault("curve files", set()).add(asked.file)
    return told(session, (f"{len(curves)} curves of {asked.file}",))


@answering(ANSWERS, CurvesSave)
def save_curves(session: Session, asked: CurvesSave) -> MotionTold:
    """Write the curves to a file, as the command line does."""
    path = _in_folder(session, asked.file, must_exist=False)
    own: set[str] = session.kept.setdefault("curve files", set())
    if path.exists() and path.name not in own:
        raise WriteError(
            "is there already, and was not opened here",
            where=path.name,
            remedy="Give another name, or open it first",
        )
    write_activation(path, played(session).curves.curves)
    own.add(path.name)
    return told(session, (f"saved {path.name}; bake with it: --activation {path.name}",))


def _changed(session: Session, asked: CurveEdit, curves: KeyedCurves, label: str) -> MotionTold:
    played(session).change(curves, label, asked.gesture)
    return told(session)


def _keys(now: PlayedMotion, name: str) -> tuple[Curve, str | None]:
    """The keys of a muscle or group, or those it would get; and whose curve it follows."""
    if name in now.curves:
        return now.curves.of(name), None
    player = now.required()
    rows = _rows(now.session, name)
    activation = player.activation
    assert activation is not None
    muscle = player.muscles[rows[0]]
    wider = [called for called in (muscle.muscle, muscle.group) if called != name and called in now.curves]
    times, values = thinned((player.motion.times, np.clip(activation[:, rows].mean(axis=1), 0.0, 1.0)))
    return (times, values.round(DECIMALS)), wider[0] if wider else None


def _with_own(session: Session, name: str) -> KeyedCurves:
    """The curves, that muscle or group with one of its own."""
    now = played(session)
    if name in now.curves:
        return now.curves
    return now.curves.with_curve(name, _keys(now, name)[0])


def _rows(session: Session, name: str) -> list[int]:
    """The muscles that a name is of: a muscle, what it is a head of, or a group."""
    muscles = played(session).required().muscles
    spaced = name.replace("_", " ")
    for called in (name, spaced):
        for word in ("name", "muscle", "group"):
            rows = [row for row, muscle in enumerate(muscles) if getattr(muscle, word) == called]
            if rows:
                return rows
    words = {word for muscle in muscles for word in (muscle.name, muscle.muscle, muscle.group) if word}
    raise EcorcheError(
        f"there is no muscle or group {name!r}",
        remedy=suggestion(name, sorted(words)) if words else "Make some muscles first",
    )


def _at(wanted: Floats, times: Floats, values: Floats) -> Floats:
    return np.asarray(np.interp(wanted, times, values))


def _folder(session: Session) -> Path | None:
    """The folder of the rig, or of its character; None where neither has a file."""
    document = session.document
    if document.path is not None:
        return document.path.parent
    source = document.character.source
    return Path(source).parent if source and Path(source).is_file() else None


def _files(session: Session) -> tuple[str, ...]:
    """Files beside the rig that may hold a motion, the character itself apart."""
    folder = _folder(session)
    if folder is None:
        return ()
    own = Path(session.document.character.source or "").name
    found = (f.name for f in folder.iterdir() if f.suffix.lower() in MOTIONS and f.name != own)
    return tuple(sorted(found))


def _in_folder(session: Session, name: str, *, must_exist: bool = True) -> Path:
    """A file of the rig's folder; nothing outside of it is read or written."""
    folder = _folder(session)
    if folder is None:
        raise EcorcheError("the rig has no folder yet", remedy="Save it first")
    path = folder / name
    if not name or "\0" in name or Path(name).name != name or path.resolve().parent != folder.resolve():
        raise EcorcheError(f"{name!r} is no file of the rig's folder", remedy="Give a name without folders")
    if not must_exist and (unfit := unfit_name(name)):
        raise WriteError(unfit, where=name, remedy="Give another name")
    if must_exist and not path.is_file():
        raise EcorcheError(f"there is no file {name!r} beside the rig", remedy="Choose another")
    return path
