"""The operator that says how the skin follows what lies beneath."""

from typing import Any

import bpy

from .give_muscles import keep_rig
from .messages import package, told
from .scene_character import armature_of, read_scene_character
from .settings import rig_of

COUPLINGS = (
    ("muscles", "Muscles", "Every muscle moves the skin over it in its own way"),
    ("fascia", "Fascia", "The skin keeps its distance to a membrane over muscles and bones, and folds"),
    ("height_field", "Height Field", "The skin keeps its distance to muscles and bones"),
    ("plain", "Plain", "Skinning alone"),
)


class ChooseCoupling(bpy.types.Operator):
    """Choose how the skin follows what lies beneath."""

    bl_idname, bl_label = "ecorche.choose_coupling", "Choose Coupling"
    bl_options = {"REGISTER", "UNDO"}

    everywhere: bpy.props.EnumProperty(name="Coupling", items=COUPLINGS, default="muscles")
    region: bpy.props.StringProperty(
        name="Region",
        description="Only there: head, neck, trunk, upper_arms, forearms, hands, thighs, lower_legs, feet, or"
        " a bone, which stands for it and those below it; empty for everywhere",
    )

    def execute(self, context: Any) -> set[str]:
        """Change the rig."""
        return told(self, lambda: self._choose(context))

    def _choose(self, context: Any) -> list[str]:
        armature = armature_of(context)
        rig, read = rig_of(armature), read_scene_character(armature, context.scene)
        said: dict[str, Any] = {"everywhere": self.everywhere}
        if self.region:
            said = {"regions": {**rig.spec.coupling.regions, self.region: self.everywhere}}
        keep_rig(armature, read, package().with_coupling(rig, read.character, said, armature.name), context)
        return []


CLASSES = (ChooseCoupling,)
