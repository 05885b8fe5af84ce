"""Rig files in and out: what the ecorche command, other programs and version control know."""

from pathlib import Path
from typing import Any

import bpy
from bpy_extras.io_utils import ExportHelper, ImportHelper

from .give_muscles import blend_file, keep_rig
from .messages import package, told
from .scene_character import armature_of, read_scene_character
from .settings import rig_of


class ReadRig(bpy.types.Operator, ImportHelper):
    """Read a rig file (.ecorche); one made for another shape or order of vertices is fitted to this one."""

    bl_idname, bl_label = "ecorche.read_rig", "Read Rig"
    bl_options = {"REGISTER", "UNDO"}
    filename_ext = ".ecorche"

    filter_glob: bpy.props.StringProperty(default="*.ecorche", options={"HIDDEN"})

    def execute(self, context: Any) -> set[str]:
        """Read it."""
        return told(self, lambda: self._read(context))

    def _read(self, context: Any) -> list[str]:
        ecorche, armature = package(), armature_of(context)
        read, lines = read_scene_character(armature, context.scene), []
        rig, file = ecorche.read_rig(bpy.path.abspath(self.filepath)), blend_file()
        if ecorche.check_rig(rig, read.character):
            rig, report = ecorche.rebind(rig, read.character, file, file.with_suffix(".ecorche"))
            lines = report.lines()
        keep_rig(armature, read, rig, context)
        return [*read.notes, *lines]


class WriteRig(bpy.types.Operator, ExportHelper):
    """Write the rig as a file (.ecorche) with its arrays, and beside it the character as .glb."""

    bl_idname, bl_label = "ecorche.write_rig", "Write Rig"
    filename_ext = ".ecorche"

    filter_glob: bpy.props.StringProperty(default="*.ecorche", options={"HIDDEN"})
    with_character: bpy.props.BoolProperty(
        name="With Character",
        description="Write the character too, so that the ecorche command can bake, draw and check the rig",
        default=True,
    )

    def execute(self, context: Any) -> set[str]:
        """Write it."""
        return told(self, lambda: self._write(context))

    def _write(self, context: Any) -> list[str]:
        ecorche, armature = package(), armature_of(context)
        rig, path = rig_of(armature), Path(bpy.path.abspath(self.filepath))
        lines = []
        if self.with_character:
            read = read_scene_character(armature, context.scene)
            character = path.with_suffix(".glb")
            lines += ecorche.write_take(character, ecorche.Take(read.character)).notes
            # numbers are rounded on their way: the rig names the character as the file has it
            rig, report = ecorche.rebind(rig, ecorche.read_character(character), character, path)
            lines += report.lines()
        ecorche.write_rig(path, rig)
        return [*lines, f"{path}: {rig.spec.muscles.count} muscles"]


CLASSES = (ReadRig, WriteRig)
