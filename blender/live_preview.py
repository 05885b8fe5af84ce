"""Muscles on the skin as the armature moves: frame by frame, and while it is posed."""

import contextlib
import threading
import traceback
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import bpy
import numpy as np
from bpy.app.handlers import persistent

from . import preview_modifier
from .messages import SceneError, package
from .scene_character import SceneCharacter, read_scene_character
from .wording import in_blender_words


@dataclass(eq=False)
class Live:
    """A compiled character that is shown live.

    Attributes:
        stamp: Of the rig it was compiled from.
        scene: The character and its objects.
        body: With muscles.
        plain: By skinning alone, as Blender does it.
        seen: The pose and activations that the meshes show.
    """

    stamp: str
    scene: SceneCharacter
    body: Any
    plain: Any
    seen: bytes = field(default=b"")


_live: dict[int, Live] = {}
"""By the armature's number in this session, which undo keeps."""
_busy = threading.Lock()
"""A render asks from a thread of its own."""
_quiet = False
messages: dict[int, str] = {}
"""Why an armature's preview stands still, by the armature's number; shown in the panel."""


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Let settings change without the preview following each change."""
    global _quiet
    before, _quiet = _quiet, True
    try:
        yield
    finally:
        _quiet = before


def compiled(armature: Any, scene: Any) -> Live:
    """An armature's character with its rig, compiled once."""
    from .settings import rig_of

    known = _live.get(armature.session_uid)
    if known is not None and known.stamp == armature.ecorche.stamp and _is_there(known):
        return known
    rig, read = rig_of(armature), read_scene_character(armature, scene)
    return compile_live(armature, read, rig)


def compile_live(armature: Any, read: SceneCharacter, rig: Any) -> Live:
    """Compile a character with a rig, to be shown live; a rig of another shape is refused."""
    ecorche = package()
    problems = ecorche.check_rig(rig, read.character)
    if problems:
        raise SceneError(
            " ".join(problems[:2]).removesuffix("Run `ecorche rebind` to fit the rig to this character."),
            "Fit its muscles to it: Fit Again",
        )
    body = ecorche.compile_body(read.character, rig=rig)
    live = Live(armature.ecorche.stamp, read, body, ecorche.compile_body(read.character))
    _live[armature.session_uid] = live
    return live


def forget(armature: Any) -> None:
    """Compile an armature anew when it is asked for next."""
    _live.pop(armature.session_uid, None)


def _is_there(live: Live) -> bool:
    """Whether all that was compiled is still as large as it was."""
    try:
        pairs = zip(live.scene.meshes, live.scene.character.meshes, strict=True)
        return all(len(thing.data.vertices) == mesh.mesh.vertex_count for thing, mesh in pairs)
    except ReferenceError:  # an object was deleted
        return False


def activations(live: Live, armature: Any, motion: Any) -> np.ndarray | None:
    """How active each muscle is in a motion of one frame, (muscles,): its own activation, else the pose's."""
    if live.body.activation is None:
        return None
    active = np.array(live.body.activation.over(motion)[0])
    muscles = armature.ecorche.muscles
    own, values = np.zeros(len(muscles), bool), np.zeros(len(muscles), np.float32)
    muscles.foreach_get("own", own)
    muscles.foreach_get("activation", values)
    place = {name: number for number, name in enumerate(live.body.muscle_names)}
    for number in np.flatnonzero(own):
        at = place.get(muscles[int(number)].name)
        if at is not None:
            active[at] = values[number]
    return active


def update(armature: Any, scene: Any, depsgraph: Any) -> None:
    """Show an armature's muscles as it is posed now."""
    ecorche = package()
    live = compiled(armature, scene)
    evaluated = armature.evaluated_get(depsgraph)
    world = live.scene.joint_world(evaluated)
    motion = ecorche.motion_from_arrays(
        live.scene.character, joints=live.scene.bones, world=world[None], times=[0.0]
    )
    active = activations(live, evaluated, motion)
    seen = world.tobytes() + (b"" if active is None else active.tobytes())
    if seen == live.seen:
        return
    pose = ecorche.Pose(motion.local[0], activation=active)
    shown, plain = (
        ecorche.evaluate(live.body, pose),
        ecorche.evaluate(live.plain, ecorche.Pose(motion.local[0])),
    )
    written = [
        preview_modifier.write_offsets(thing, live.scene.offsets_in(thing, to - from_))
        for thing, to, from_ in zip(live.scene.meshes, shown.points, plain.points, strict=True)
    ]
    live.seen = seen if all(written) else b""


def _update_all(scene: Any, depsgraph: Any) -> None:
    """Show every armature that shall be shown; what goes wrong is kept for the panel."""
    if _quiet or not _busy.acquire(blocking=False):
        return
    try:
        for thing in scene.objects:
            if thing.type == "ARMATURE" and thing.ecorche.preview and thing.ecorche.packed:
                _update_told(thing, scene, depsgraph)
    finally:
        _busy.release()


def _update_told(armature: Any, scene: Any, depsgraph: Any) -> None:
    try:
        update(armature, scene, depsgraph)
    except SceneError as error:
        messages[armature.session_uid] = str(error)
    except Exception as error:  # a handler that raises would be called no more
        if not isinstance(error, package().EcorcheError):
            traceback.print_exc()
        messages[armature.session_uid] = in_blender_words(str(error))
    else:
        messages.pop(armature.session_uid, None)


def refresh(armature: Any, context: Any) -> None:
    """Show an armature anew after its settings changed."""
    if not _quiet and armature.ecorche.preview:
        live = _live.get(armature.session_uid)
        if live is not None:
            live.seen = b""
        _update_all(context.scene, context.evaluated_depsgraph_get())


def switched(armature: Any, context: Any) -> None:
    """Follow the switch of an armature's preview."""
    from .scene_character import follows

    things = [thing for thing in context.scene.objects if follows(thing, armature)]
    if armature.ecorche.preview and armature.ecorche.packed:
        for thing in things:
            if thing.mode != "EDIT":
                preview_modifier.show(thing, armature)
    else:
        messages.pop(armature.session_uid, None)
        for thing in things:
            if thing.mode != "EDIT":
                preview_modifier.hide(thing)
    refresh(armature, context)


@persistent
def _on_frame(scene: Any, depsgraph: Any) -> None:
    _update_all(scene, depsgraph)


@persistent
def _on_change(scene: Any, depsgraph: Any) -> None:
    if any(isinstance(change.id, bpy.types.Object | bpy.types.Armature) for change in depsgraph.updates):
        _update_all(scene, depsgraph)


@persistent
def _on_undo(scene: Any, *_: Any) -> None:
    for live in _live.values():
        live.seen = b""
    _update_all(scene, bpy.context.evaluated_depsgraph_get())


@persistent
def _on_load(*_: Any) -> None:
    _live.clear()
    messages.clear()


_HANDLERS = (
    (bpy.app.handlers.frame_change_post, _on_frame),
    (bpy.app.handlers.depsgraph_update_post, _on_change),
    (bpy.app.handlers.undo_post, _on_undo),
    (bpy.app.handlers.redo_post, _on_undo),
    (bpy.app.handlers.load_pre, _on_load),
)


def listen() -> None:
    """Hear of frames, changes, undo and loaded files."""
    for handlers, handler in _HANDLERS:
        handlers.append(handler)


def stop_listening() -> None:
    """Hear of them no more."""
    for handlers, handler in _HANDLERS:
        if handler in handlers:
            handlers.remove(handler)
    _live.clear()
