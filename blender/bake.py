"""What all bakes share: a range of frames, what swings, and the way from the scene to a take."""

from typing import Any

import bpy

from . import live_preview, preview_modifier
from .messages import SceneError
from .scene_motion import SceneMotion, perform, read_scene_motion
from .settings import rig_of

DYNAMICS = (
    ("off", "Off", "The skin follows the pose"),
    ("oscillation", "Oscillation", "Muscles that are meshes swing after the bones"),
    ("fat", "Fat", "Fat swings between muscles and skin"),
    ("springs", "Springs", "Muscles and skin jiggle as masses on springs"),
)


class FrameRange:
    """Options of a bake over frames, for operators."""

    first: bpy.props.IntProperty(
        name="First Frame", description="0 with last 0: the scene's range", default=0
    )
    last: bpy.props.IntProperty(name="Last Frame", default=0)
    dynamics: bpy.props.EnumProperty(name="Dynamics", items=DYNAMICS, default="off")

    def take(self, armature: Any, context: Any) -> tuple[live_preview.Live, SceneMotion, Any]:
        """The armature's character over the frames, as it was read, played and performed."""
        scene = context.scene
        first, last = (
            (self.first, self.last) if self.first or self.last else (scene.frame_start, scene.frame_end)
        )
        rig = rig_of(armature)
        live = live_preview.compiled(armature, scene)
        divided = rig.spec.coupling.subdivision
        if divided:
            raise SceneError(
                f"the rig divides its skin {divided} times, which has other vertices than the mesh",
                "Set coupling.subdivision to 0 in the rig and add a Subdivision modifier instead",
            )
        played = read_scene_motion(live, context, first, last)
        return live, played, perform(live, rig, played, self.dynamics)


def end_preview(armature: Any) -> None:
    """Switch the preview off: what is baked shows the muscles now."""
    armature.ecorche.preview = False


def place_behind_armature(thing: Any, modifier: Any, place: int) -> None:
    """Move a new modifier, which is the last, right behind the Armature modifier."""
    number = list(thing.modifiers).index(modifier)
    thing.modifiers.move(number, place + 1)


def without_earlier(thing: Any, name: str) -> None:
    """Remove a modifier of an earlier bake."""
    earlier = thing.modifiers.get(name)
    if earlier is not None:
        thing.modifiers.remove(earlier)
    assert preview_modifier.preview_modifier(thing) is None  # it would add the muscles twice
