"""The list of muscles, and keys for their activation."""

from typing import Any

import bpy

from .messages import SceneError, told
from .painted_maps import chosen_muscle
from .scene_character import armature_of


class ECORCHE_UL_muscles(bpy.types.UIList):
    """Muscles with their activation."""

    def draw_item(
        self, _context: Any, layout: Any, _data: Any, item: Any, _icon: int, _active: Any, _property: str
    ) -> None:
        """Draw a muscle's row."""
        row = layout.row(align=True)
        row.label(text=item.name)
        row.prop(item, "own", text="")
        if item.own:  # else its name has the room
            row.prop(item, "activation", text="", slider=True)


class KeyActivation(bpy.types.Operator):
    """Key the activation of the chosen muscle, or of all that have their own, in this frame."""

    bl_idname, bl_label = "ecorche.key_activation", "Key Activation"
    bl_options = {"REGISTER", "UNDO"}

    every: bpy.props.BoolProperty(name="All", description="All muscles with an activation of their own")

    def execute(self, context: Any) -> set[str]:
        """Set the keys."""
        return told(self, lambda: self._key(context))

    def _key(self, context: Any) -> list[str]:
        armature = armature_of(context)
        muscles = armature.ecorche.muscles
        if self.every:
            chosen = [muscle.name for muscle in muscles if muscle.own]
        else:
            chosen = [chosen_muscle(armature)]
            muscles[chosen[0]].own = True
        if not chosen:
            raise SceneError("no muscle has an activation of its own", "Tick one in the list")
        for name in chosen:  # by name: keys stay with their muscle when there are more or fewer
            path = f'ecorche.muscles["{bpy.utils.escape_identifier(name)}"].activation'
            armature.keyframe_insert(path, group="Ecorche")
        return []


CLASSES = (ECORCHE_UL_muscles, KeyActivation)
