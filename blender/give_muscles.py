"""Operators that give an armature muscles, fit them again after it changed, and take them away."""

from pathlib import Path
from typing import Any

import bpy

from . import live_preview
from .messages import SceneError, package, told
from .scene_character import armature_of, read_scene_character
from .settings import has_rig, rig_of, set_rig

SOURCES = (
    ("template", "Template", "The anatomical muscles, fitted under the skin of a humanoid"),
    ("extract", "Extract", "Muscles that show in the skin, of any creature"),
    ("template+extract", "Both", "The anatomical muscles, adjusted to what shows in the skin"),
    ("anatomy", "Anatomy", "Meshes of muscles and bones in a folder, in the armature's axes and unit"),
)


def blend_file() -> Path:
    """The .blend file, which stands for the character in its rig."""
    return Path(bpy.data.filepath or "untitled.blend").resolve()


def keep_rig(armature: Any, read: Any, rig: Any, context: Any) -> None:
    """Keep a rig that fits an armature, and show it."""
    live = live_preview.compile_live(armature, read, rig)
    set_rig(armature, rig, live.body.muscle_names)
    live.stamp = armature.ecorche.stamp
    if armature.ecorche.preview:
        live_preview.switched(armature, context)
    else:
        armature.ecorche.preview = True


class GiveMuscles(bpy.types.Operator):
    """Give the armature muscles under the skin of its meshes."""

    bl_idname, bl_label = "ecorche.give_muscles", "Give Muscles"
    bl_options = {"REGISTER", "UNDO"}

    muscles: bpy.props.EnumProperty(name="Muscles", items=SOURCES, default="template")
    directory: bpy.props.StringProperty(
        name="Folder", description="Of an anatomy: with muscles/ and bones/", subtype="DIR_PATH"
    )

    def invoke(self, context: Any, _: Any) -> set[str]:
        """Ask for the folder of an anatomy; the others need nothing."""
        if self.muscles != "anatomy":
            return self.execute(context)
        context.window_manager.fileselect_add(self)
        return {"RUNNING_MODAL"}

    def execute(self, context: Any) -> set[str]:
        """Fit the muscles."""
        return told(self, lambda: self._give(context))

    def _give(self, context: Any) -> list[str]:
        armature = armature_of(context)
        read = read_scene_character(armature, context.scene)
        folder = None
        if self.muscles == "anatomy":
            if not self.directory:
                raise SceneError("an anatomy is a folder of meshes", "Name the folder")
            folder = bpy.path.abspath(self.directory)
        file = blend_file()
        made = package().new_rig(
            read.character, file, file.with_suffix(".ecorche"), muscles=self.muscles, anatomy=folder
        )
        keep_rig(armature, read, made.rig, context)
        return [*read.notes, *made.told]


class FitAgain(bpy.types.Operator):
    """Fit the muscles to armature and meshes after these were changed; edits and painted maps are kept."""

    bl_idname, bl_label = "ecorche.fit_again", "Fit Again"
    bl_options = {"REGISTER", "UNDO"}

    def execute(self, context: Any) -> set[str]:
        """Fit them."""
        return told(self, lambda: self._fit(context))

    def _fit(self, context: Any) -> list[str]:
        armature = armature_of(context)
        rig, read = rig_of(armature), read_scene_character(armature, context.scene)
        file = blend_file()
        fitted, report = package().rebind(rig, read.character, file, file.with_suffix(".ecorche"))
        keep_rig(armature, read, fitted, context)
        return report.lines()


class RemoveMuscles(bpy.types.Operator):
    """Take the muscles away from the armature; meshes are as they were."""

    bl_idname, bl_label = "ecorche.remove_muscles", "Remove Muscles"
    bl_options = {"REGISTER", "UNDO"}

    def execute(self, context: Any) -> set[str]:
        """Remove them."""
        return told(self, lambda: self._remove(context))

    def _remove(self, context: Any) -> list[str]:
        armature = armature_of(context)
        if not has_rig(armature):
            raise SceneError(f"the armature {armature.name!r} has no muscles", "Nothing is to be done")
        settings = armature.ecorche
        settings.preview = False
        settings.packed = settings.stamp = settings.coupling = ""
        settings.muscles.clear()
        live_preview.forget(armature)
        return []


CLASSES = (GiveMuscles, FitAgain, RemoveMuscles)
