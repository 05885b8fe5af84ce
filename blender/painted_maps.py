"""Vertex groups as painted maps: what a person paints in Blender, the rig knows."""

from typing import Any

import bpy
import numpy as np

from .give_muscles import keep_rig
from .live_preview import compiled
from .messages import SceneError, package, told
from .scene_character import armature_of, read_scene_character
from .settings import rig_of

FIELDS = (
    ("intensity", "Intensity", "How much of the coupling's correction is shown"),
    ("stiffness", "Stiffness", "How strongly it is smoothed over the skin"),
    ("thickness", "Thickness", "Of fat and skin: 1 is 5 cm"),
    ("slide", "Slide", "How freely the skin slides along itself"),
    ("muscle", "Muscle", "Which skin the muscle that is chosen in the list moves"),
)


def body_object(armature: Any, rig: Any, meshes: Any) -> Any:
    """The mesh object that is the body."""
    name = rig.spec.body
    found = next((thing for thing in meshes if thing.name == name), None)
    if found is None:
        raise SceneError(f"the body {name!r} of {armature.name!r} is not there", "Fit the muscles again")
    return found


def group_values(thing: Any, name: str) -> np.ndarray:
    """What a vertex group says of every vertex, 0 where it says nothing, (vertices,)."""
    group = thing.vertex_groups.get(name) if name else thing.vertex_groups.active
    if group is None:
        raise SceneError(
            f"{thing.name!r} has no vertex group {name!r}" if name else f"{thing.name!r} has no vertex group",
            "Paint one in weight paint mode and name it",
        )
    values = np.zeros(len(thing.data.vertices))
    for vertex in thing.data.vertices:
        for entry in vertex.groups:
            if entry.group == group.index:
                values[vertex.index] = entry.weight
    return values


def chosen_muscle(armature: Any) -> str:
    """The muscle that is chosen in the list."""
    settings = armature.ecorche
    if not 0 <= settings.active_muscle < len(settings.muscles):
        raise SceneError("no muscle is chosen", "Choose one in the list")
    return str(settings.muscles[settings.active_muscle].name)


class TakeVertexGroup(bpy.types.Operator):
    """Take a vertex group of the body as a painted map."""

    bl_idname, bl_label = "ecorche.take_vertex_group", "Take Vertex Group"
    bl_options = {"REGISTER", "UNDO"}

    field: bpy.props.EnumProperty(name="For", items=FIELDS, default="intensity")
    group: bpy.props.StringProperty(name="Vertex Group", description="Empty for the active one")

    def execute(self, context: Any) -> set[str]:
        """Take it."""
        return told(self, lambda: self._take(context))

    def _take(self, context: Any) -> list[str]:
        ecorche, armature = package(), armature_of(context)
        rig, read = rig_of(armature), read_scene_character(armature, context.scene)
        thing = body_object(armature, rig, read.meshes)
        values = group_values(thing, self.group)
        named = self.group or thing.vertex_groups.active.name
        if self.field == "muscle":
            rig = ecorche.with_weights(rig, chosen_muscle(armature), values, about=f"vertex group {named}")
        else:
            rig = ecorche.with_map(rig, self.field, values, about=f"vertex group {named}")
            rig = ecorche.with_coupling(rig, read.character, {self.field: self.field}, armature.name)
        keep_rig(armature, read, rig, context)
        return [f"{named}: above 0 at {int((values > 0.0).sum()):,} of {len(values):,} vertices"]


class MakeVertexGroup(bpy.types.Operator):
    """Make a vertex group of the skin that the chosen muscle moves, to be painted on."""

    bl_idname, bl_label = "ecorche.make_vertex_group", "Make Vertex Group"
    bl_options = {"REGISTER", "UNDO"}

    def execute(self, context: Any) -> set[str]:
        """Make it."""
        return told(self, lambda: self._make(context))

    def _make(self, context: Any) -> list[str]:
        armature = armature_of(context)
        live, muscle = compiled(armature, context.scene), chosen_muscle(armature)
        thing = body_object(armature, rig_of(armature), live.scene.meshes)
        values = package().skin_moved_by(live.body, muscle)
        group = thing.vertex_groups.get(muscle) or thing.vertex_groups.new(name=muscle)
        group.remove(range(len(values)))
        for vertex in np.flatnonzero(values > 0.0).tolist():
            group.add([vertex], float(min(values[vertex], 1.0)), "REPLACE")
        thing.vertex_groups.active = group
        return [f"{group.name}: {int((values > 0.0).sum()):,} vertices of {thing.name!r}"]


class ForgetPainting(bpy.types.Operator):
    """Forget a painted map: the field takes its usual number again, a muscle finds its skin again."""

    bl_idname, bl_label = "ecorche.forget_painting", "Forget Painting"
    bl_options = {"REGISTER", "UNDO"}

    field: bpy.props.EnumProperty(name="Of", items=FIELDS, default="intensity")

    def execute(self, context: Any) -> set[str]:
        """Forget it."""
        return told(self, lambda: self._forget(context))

    def _forget(self, context: Any) -> list[str]:
        ecorche, armature = package(), armature_of(context)
        rig, read = rig_of(armature), read_scene_character(armature, context.scene)
        if self.field == "muscle":
            rig = ecorche.without_weights(rig, chosen_muscle(armature))
        else:
            usual = type(rig.spec.coupling)()
            said = {self.field: getattr(usual, self.field)}
            rig = ecorche.with_coupling(rig, read.character, said, armature.name)
        keep_rig(armature, read, rig, context)
        return []


CLASSES = (TakeVertexGroup, MakeVertexGroup, ForgetPainting)
