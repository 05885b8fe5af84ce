"""Bake to shape keys: a few keys with animated values, which any program that knows shape keys plays."""

from typing import Any

import bpy
import numpy as np

from .bake import FrameRange, end_preview
from .messages import SceneError, package, told
from .scene_character import armature_of

PREFIX = "Ecorche "


def remove_keys(thing: Any) -> None:
    """Remove the keys of an earlier bake."""
    keys = thing.data.shape_keys
    if keys is None:
        return
    for block in [block for block in keys.key_blocks if block.name.startswith(PREFIX)]:
        block.driver_remove("value")
        path = block.path_from_id("value")
        for curves in _curves(keys):
            for curve in [curve for curve in curves if curve.data_path == path]:
                curves.remove(curve)
        thing.shape_key_remove(block)


def _curves(keys: Any) -> list[Any]:
    """The animation curves of shape keys, wherever this Blender keeps them."""
    action = None if keys.animation_data is None else keys.animation_data.action
    if action is None:
        return []
    return [bag.fcurves for layer in action.layers for strip in layer.strips for bag in strip.channelbags]


class BakeShapeKeys(bpy.types.Operator, FrameRange):
    """Bake the muscles' effect to shape keys that go with the armature."""

    bl_idname, bl_label = "ecorche.bake_shape_keys", "Bake to Shape Keys"
    bl_options = {"REGISTER", "UNDO"}

    most: bpy.props.IntProperty(
        name="At Most", description="So many shape keys a mesh: more are nearer", default=32, min=2, max=256
    )

    def execute(self, context: Any) -> set[str]:
        """Bake."""
        return told(self, lambda: self._bake(context))

    def _bake(self, context: Any) -> list[str]:
        armature = armature_of(context)
        live, played, take = self.take(armature, context)
        for thing, mesh in zip(live.scene.meshes, live.scene.character.meshes, strict=True):
            if mesh.skinning == "dual_quaternion":
                raise SceneError(
                    f"the armature preserves the volume of {thing.name!r}, which shape keys cannot follow",
                    "Switch Preserve Volume off, or bake to a cache",
                )
            if thing.data.users > 1:
                raise SceneError(
                    f"the mesh of {thing.name!r} is shared by several objects",
                    "Give it its own: Object › Relations › Make Single User",
                )
        found = package().shape_basis(take, self.most)
        end_preview(armature)
        lines = []
        for thing, mesh in zip(live.scene.meshes, live.scene.character.meshes, strict=True):
            basis = found[mesh.name]
            remove_keys(thing)
            if len(basis.targets):
                self._write(thing, live.scene, basis, played)
            lines.append(
                f"{thing.name}: {len(basis.targets)} shape keys leave {1e3 * basis.worst:.3g} mm at most,"
                f" {1e3 * basis.rms:.2g} mm rms, of {1e3 * basis.linear_worst:.3g} mm"
            )
        return lines

    def _write(self, thing: Any, scene: Any, basis: Any, played: Any) -> None:
        """Shape keys and their values on a mesh object."""
        if thing.data.shape_keys is None:
            thing.shape_key_add(name="Basis", from_mix=False)
        keys = thing.data.shape_keys
        at_rest = np.empty(3 * len(thing.data.vertices), np.float32)
        keys.reference_key.data.foreach_get("co", at_rest)
        for target in range(len(basis.targets)):
            block = thing.shape_key_add(name=f"{PREFIX}{target + 1:02d}", from_mix=False)
            offsets = scene.offsets_in(thing, basis.targets[target])
            block.data.foreach_set("co", (at_rest + offsets.reshape(-1)).astype(np.float32))
            weights = basis.weights[:, target].tolist()
            block.value = weights[0]
            if max(weights) > min(weights):
                for frame, weight in zip(played.frames, weights, strict=True):
                    block.value = weight
                    block.keyframe_insert("value", frame=frame)
        thing.data.update_tag()


CLASSES = (BakeShapeKeys,)
