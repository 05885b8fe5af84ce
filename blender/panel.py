"""The panel: in the armature's properties and in the sidebar of the 3D view."""

import textwrap
from typing import Any

import bpy

from . import live_preview
from .messages import SceneError
from .scene_character import armature_of
from .settings import has_rig


def draw_ecorche(layout: Any, context: Any) -> None:
    """Everything an animator needs of an armature's muscles."""
    try:
        armature = armature_of(context)
    except SceneError as error:
        layout.label(text=str(error), icon="INFO")
        return
    settings = armature.ecorche
    column = layout.column(align=True)
    column.operator_menu_enum("ecorche.give_muscles", "muscles", icon="OUTLINER_OB_ARMATURE")
    row = column.row(align=True)
    row.operator("ecorche.read_rig", text="Read Rig…", icon="IMPORT")
    if not has_rig(armature):
        return
    row.operator("ecorche.write_rig", text="Write Rig…", icon="EXPORT")
    layout.prop(settings, "preview")
    said = live_preview.messages.get(armature.session_uid)
    if said:
        box = layout.box().column(align=True)
        for number, line in enumerate(textwrap.wrap(said, _letters(context))):
            box.label(text=line, icon="BLANK1" if number else "ERROR")
        box.operator("ecorche.fit_again")
    layout.operator_menu_enum("ecorche.choose_coupling", "everywhere", text=f"Coupling: {settings.coupling}")
    layout.template_list(
        "ECORCHE_UL_muscles", "", settings, "muscles", settings, "active_muscle", rows=5, sort_lock=True
    )
    row = layout.row(align=True)
    row.operator("ecorche.key_activation", icon="KEY_HLT")
    row.operator("ecorche.key_activation", text="", icon="KEYINGSET").every = True
    column = layout.column(align=True)
    column.operator("ecorche.make_vertex_group", icon="GROUP_VERTEX")
    column.operator_menu_enum("ecorche.take_vertex_group", "field", icon="BRUSH_DATA")
    column.operator_menu_enum("ecorche.forget_painting", "field", icon="LOOP_BACK")
    column = layout.column(align=True)
    column.operator("ecorche.bake_shape_keys", icon="SHAPEKEY_DATA")
    column.operator("ecorche.bake_cache", icon="FILE_CACHE")
    column.operator("ecorche.bake_muscle_joints", icon="BONE_DATA")
    column.operator("ecorche.remove_bake", icon="TRASH")
    row = layout.row(align=True)
    row.operator("ecorche.fit_again")
    row.operator("ecorche.remove_muscles", icon="X")


def _letters(context: Any) -> int:
    """How many letters a line of the panel has room for beside an icon."""
    letter = 7.0 * context.preferences.system.ui_scale
    return 40 if context.region is None else max(20, int(context.region.width / letter) - 8)


class ECORCHE_PT_armature(bpy.types.Panel):
    """Muscles of an armature, in its properties."""

    bl_label, bl_space_type, bl_region_type, bl_context = "Ecorche", "PROPERTIES", "WINDOW", "data"

    @classmethod
    def poll(cls, context: Any) -> bool:
        """Whether the panel belongs to what is active."""
        return context.object is not None and context.object.type == "ARMATURE"

    def draw(self, context: Any) -> None:
        """Draw the panel."""
        draw_ecorche(self.layout, context)


class ECORCHE_PT_sidebar(bpy.types.Panel):
    """Muscles of an armature, beside the 3D view."""

    bl_label, bl_space_type, bl_region_type, bl_category = "Ecorche", "VIEW_3D", "UI", "Ecorche"

    def draw(self, context: Any) -> None:
        """Draw the panel."""
        draw_ecorche(self.layout, context)


CLASSES = (ECORCHE_PT_armature, ECORCHE_PT_sidebar)
