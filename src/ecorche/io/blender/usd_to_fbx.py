"""Run by Blender's Python: a skeletal USD file as FBX.

    python usd_to_fbx.py FILE.usdc OUT.fbx NAMES.json SCALES.npz RATE FIRST LAST

NAMES holds the names of joints and meshes by what USD calls them; SCALES what USD rounds to half precision,
the scales of joints at frames. A RATE of 0 writes no motion.
"""

import json
import sys
from pathlib import Path
from typing import Any

import bpy
import numpy as np


def main() -> None:
    """Import, rename, export."""
    file, out, names, scales, rate, first, last = sys.argv[-7:]
    bpy.ops.wm.read_factory_settings(use_empty=True)
    scene = bpy.context.scene
    moving = float(rate) > 0.0
    if moving:
        # the file's time codes fall on whole Blender frames when the rates agree
        scene.render.fps = max(1, round(float(rate)))
        scene.render.fps_base = scene.render.fps / float(rate)
    bpy.ops.wm.usd_import(filepath=file, set_frame_range=True)
    if moving:
        scene.frame_start, scene.frame_end = int(first), int(last)
    called = json.loads(Path(names).read_text(encoding="utf-8"))
    scene.name = called["motion"]  # which becomes the name of the take
    for item in scene.objects:
        if item.type == "ARMATURE":
            for bone in item.data.bones:
                bone.name = called["joints"].get(bone.name, bone.name)
            if item.animation_data is not None and item.animation_data.action is not None:
                item.animation_data.action.name = called["motion"]
                if moving:
                    _set_scales(item, item.animation_data.action, Path(scales))
        elif item.type == "MESH":
            item.name = called["meshes"].get(item.name, item.name)
            item.data.name = item.name
    bpy.ops.export_scene.fbx(
        filepath=out,
        object_types={"ARMATURE", "MESH", "EMPTY"},
        use_mesh_modifiers=False,
        add_leaf_bones=False,
        bake_anim=moving,
        bake_anim_use_nla_strips=False,
        bake_anim_use_all_actions=False,
        bake_anim_simplify_factor=0.0,
        path_mode="COPY",
        embed_textures=True,
    )


def _set_scales(armature: Any, action: Any, scales: Path) -> None:
    """Give keys of scale the values that they had before USD rounded them."""
    with np.load(scales) as told:
        exact = {str(name): told["scales"][:, joint] for joint, name in enumerate(told["joints"])}
        frames = told["frames"]
    bones = {bone.path_from_id("scale"): bone.name for bone in armature.pose.bones}
    for curve in action.fcurves:
        values = exact.get(bones.get(curve.data_path, ""))
        if values is not None:
            for key in curve.keyframe_points:
                key.co.y = np.interp(key.co.x, frames, values[:, curve.array_index])
            curve.update()


main()
