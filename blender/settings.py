"""What an armature knows of its muscles: kept in the .blend file, so that undo, saving and copies work."""

import base64
import hashlib
from typing import Any

import bpy

from . import live_preview
from .messages import SceneError, package


def _changed(self: Any, context: Any) -> None:
    live_preview.refresh(self.id_data, context)


class EcorcheMuscle(bpy.types.PropertyGroup):
    """One muscle of an armature."""

    own: bpy.props.BoolProperty(
        name="Own Activation",
        description="Take the activation beside, which may be keyed or driven; else the pose decides",
        update=_changed,
    )
    activation: bpy.props.FloatProperty(
        name="Activation",
        description="How active the muscle is, from 0 to 1",
        min=0.0,
        max=1.0,
        subtype="FACTOR",
        update=_changed,
    )


class EcorcheSettings(bpy.types.PropertyGroup):
    """The rig of an armature, and how it is shown."""

    packed: bpy.props.StringProperty(options={"HIDDEN"})
    stamp: bpy.props.StringProperty(options={"HIDDEN"})
    muscles: bpy.props.CollectionProperty(type=EcorcheMuscle)
    active_muscle: bpy.props.IntProperty(name="Active Muscle", options={"HIDDEN"})
    coupling: bpy.props.StringProperty(options={"HIDDEN"})
    preview: bpy.props.BoolProperty(
        name="Live Preview",
        description="Show muscles on the skin as the armature moves, by a modifier behind its own",
        update=lambda self, context: live_preview.switched(self.id_data, context),
    )


def attach() -> None:
    """Give every object its settings."""
    bpy.types.Object.ecorche = bpy.props.PointerProperty(type=EcorcheSettings)


def detach() -> None:
    """Take them away again; what the .blend file holds stays."""
    del bpy.types.Object.ecorche


def has_rig(armature: Any) -> bool:
    """Whether an armature has a rig."""
    return bool(armature.ecorche.packed)


def rig_of(armature: Any) -> Any:
    """The rig of an armature."""
    ecorche = package()
    if not has_rig(armature):
        raise SceneError(f"the armature {armature.name!r} has no muscles yet", "Give it some: Give Muscles")
    return ecorche.unpack_rig(base64.b64decode(armature.ecorche.packed), armature.name)


def set_rig(armature: Any, rig: Any, muscle_names: tuple[str, ...]) -> None:
    """Keep a rig with an armature; muscles that it had before keep their activation."""
    data = package().pack_rig(rig)
    settings = armature.ecorche
    settings.packed = base64.b64encode(data).decode("ascii")
    settings.stamp = hashlib.sha256(data).hexdigest()
    settings.coupling = rig.spec.coupling.everywhere
    if tuple(muscle.name for muscle in settings.muscles) == muscle_names:
        return
    before = {muscle.name: (muscle.own, muscle.activation) for muscle in settings.muscles}
    with live_preview.quiet():
        settings.muscles.clear()
        for name in muscle_names:
            muscle = settings.muscles.add()
            muscle.name = name
            muscle.own, muscle.activation = before.get(name, (False, 0.0))
        settings.active_muscle = 0


CLASSES = (EcorcheMuscle, EcorcheSettings)
