"""Bake to muscle joints: a copy of armature and meshes with a bone for every muscle, moved by drivers."""

import json
import runpy
import sys
import tempfile
from pathlib import Path
from typing import Any

import bpy
import numpy as np
from mathutils import Matrix

from . import live_preview, preview_modifier
from .messages import SceneError, package, told
from .scene_character import Y_UP, SceneCharacter, armature_of, bendy_bones, follows
from .settings import rig_of

LONGEST = 63
"""Bytes of a bone's name."""
LENGTH = 0.02
"""Of a muscle's bone [m]; it only shows where it is."""


class BakeMuscleJoints(bpy.types.Operator):
    """Copy armature and meshes, with a bone for every muscle that drivers move; needs no Ecorche to play."""

    bl_idname, bl_label = "ecorche.bake_muscle_joints", "Bake to Muscle Joints"
    bl_options = {"REGISTER", "UNDO"}

    influences: bpy.props.IntProperty(
        name="Influences", description="Bones a vertex", default=4, min=1, max=64
    )
    joints_per_muscle: bpy.props.IntProperty(
        name="Joints a Muscle", description="On each limb; 0 takes what suits", default=0, min=0, max=16
    )

    poses: bpy.props.IntProperty(
        name="Poses",
        description="Drivers learn from so many: more take longer",
        default=1500,
        min=50,
        max=20000,
    )

    def execute(self, context: Any) -> set[str]:
        """Bake."""
        return told(self, lambda: self._bake(context))

    def _bake(self, context: Any) -> list[str]:
        ecorche, armature = package(), armature_of(context)
        rig, live = rig_of(armature), live_preview.compiled(armature, context.scene)
        jointed = ecorche.jointed_character(
            live.scene.character,
            rig,
            influences=self.influences,
            joints_per_muscle=self.joints_per_muscle or None,
        )
        _require_names(jointed.character.skeleton.names)
        with tempfile.TemporaryDirectory() as folder:
            lines = ecorche.write_drivers(folder, jointed, rig, poses=self.poses)[:-1]
            table = Path(folder) / "drivers.json"
            _scaled(table, live.scene.scale)
            with live_preview.quiet():
                copy, things = _copies(armature, live.scene)
                _add_bones(context, copy, live.scene, jointed.character.skeleton)
                for thing, mesh in zip(things, jointed.character.meshes, strict=True):
                    _set_weights(thing, jointed.character.skeleton.names, mesh.weights)
                _drive(Path(folder) / "blender_drivers.py", table)
        count = jointed.character.skeleton.joint_count - live.scene.character.skeleton.joint_count
        lines += [f"{copy.name}: {count} muscle bones"]
        if curved := bendy_bones(armature):
            lines += [
                f"muscle bones do not see how {len(curved)} bendy bones curve: {', '.join(curved[:3])}."
                " Set Segments to 1, or Bake to Cache, where that shows"
            ]
        return lines


def _require_names(names: tuple[str, ...]) -> None:
    for name in names:
        if len(name.encode("utf-8")) > LONGEST:
            raise SceneError(
                f"the muscle joint {name!r} has a name longer than bones may have",
                "Shorten the muscle's name",
            )


def _scaled(table: Path, scale: float) -> None:
    """The table's lengths in the armature's own unit."""
    content = json.loads(table.read_text(encoding="utf-8"))
    for joint in content["muscle_joints"]:
        for row in range(3):
            joint["coefficients"][row] = [value / scale for value in joint["coefficients"][row]]
            for limit in ("lowest", "highest"):
                joint[limit][row] /= scale
    table.write_text(json.dumps(content), encoding="utf-8")


def _copies(armature: Any, scene: SceneCharacter) -> tuple[Any, list[Any]]:
    """The armature and its meshes once more, in the same collections, pointing at each other."""
    copy = _copy(armature)
    copy.name = f"{armature.name} muscle joints"
    copy.ecorche.preview = False
    copy.ecorche.packed = copy.ecorche.stamp = ""
    copy.ecorche.muscles.clear()
    for bone in copy.pose.bones:
        for constraint in bone.constraints:
            for holder in (constraint, *getattr(constraint, "targets", ())):
                for field in ("target", "pole_target"):
                    if getattr(holder, field, None) == armature:
                        setattr(holder, field, copy)
    own = {armature: copy, armature.data: copy.data}
    for animated in (thing.animation_data for thing in (copy, copy.data)):
        for curve in () if animated is None else animated.drivers:
            for target in (t for variable in curve.driver.variables for t in variable.targets):
                if target.id in own:
                    target.id = own[target.id]
    things = []
    for thing in scene.meshes:
        twin = _copy(thing)
        preview_modifier.hide(twin)
        for modifier in twin.modifiers:
            if modifier.type == "ARMATURE" and modifier.object == armature:
                modifier.object = copy
                modifier.use_deform_preserve_volume = False  # muscle joints are for linear skinning
        if twin.parent == armature:
            twin.parent = copy
            twin.matrix_parent_inverse = thing.matrix_parent_inverse
        things.append(twin)
    assert all(follows(thing, copy) for thing in things)
    return copy, things


def _copy(thing: Any) -> Any:
    twin = thing.copy()
    twin.data = thing.data.copy()
    for collection in thing.users_collection:
        collection.objects.link(twin)
    return twin


def _add_bones(context: Any, copy: Any, scene: SceneCharacter, skeleton: Any) -> None:
    """A bone for each muscle joint, where it is at bind, along its joint's own axes."""
    if context.object is not None and context.object.mode != "OBJECT":
        bpy.ops.object.mode_set(mode="OBJECT")
    for thing in context.selected_objects:
        thing.select_set(False)
    context.view_layer.objects.active = copy
    copy.select_set(True)
    bpy.ops.object.mode_set(mode="EDIT")
    for joint in range(len(scene.bones), skeleton.joint_count):
        world = np.linalg.inv(Y_UP) @ skeleton.bind_world[joint]
        world[:3, 3] /= scene.scale
        bone = copy.data.edit_bones.new(skeleton.names[joint])
        bone.head, bone.tail = (0.0, 0.0, 0.0), (0.0, LENGTH / scene.scale, 0.0)
        bone.matrix = Matrix(world.tolist())
        bone.parent = copy.data.edit_bones[skeleton.names[skeleton.parents[joint]]]
    bpy.ops.object.mode_set(mode="OBJECT")


def _set_weights(thing: Any, names: tuple[str, ...], weights: Any) -> None:
    """Vertex groups as a mesh of the character with muscle joints has its weights."""
    if weights is None:
        return
    joints = set(names)
    for group in [group for group in thing.vertex_groups if group.name in joints]:
        thing.vertex_groups.remove(group)
    vertices = np.repeat(np.arange(weights.vertex_count), np.diff(weights.starts))
    for joint in np.unique(weights.joints):
        group, mine = thing.vertex_groups.new(name=names[joint]), weights.joints == joint
        for vertex, weight in zip(vertices[mine].tolist(), weights.weights[mine].tolist(), strict=True):
            group.add([vertex], weight, "REPLACE")


def _drive(script: Path, table: Path) -> None:
    """Run the package's own script, which puts drivers on the bones of the active armature."""
    before, sys.argv = sys.argv, [str(script), "--", str(table)]
    try:
        runpy.run_path(str(script), run_name="__main__")
    except SystemExit as error:
        raise SceneError(str(error), "Bake to a cache or to shape keys instead") from None
    finally:
        sys.argv = before


CLASSES = (BakeMuscleJoints,)
