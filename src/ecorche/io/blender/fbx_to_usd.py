"""Run by Blender's Python: an FBX file as USD, one file for each of its motions.

    python fbx_to_usd.py FILE.fbx FOLDER

FOLDER/0.usdc holds the character with its first motion, 1.usdc and so on the others; FOLDER/names.json what
joints, meshes and motions are called, which USD's own names may not say; 0.npy and so on the scales of joints
in every frame of a motion: USD rounds them to half precision, and Blender leaves out what changes little.
"""

import json
import math
import sys
from pathlib import Path
from typing import Any

import bpy
import numpy as np


def main() -> None:
    """Import, then export with each action in turn."""
    file, target = sys.argv[-2:]
    folder = Path(target)
    bpy.ops.wm.read_factory_settings(use_empty=True)
    scene = bpy.context.scene
    bpy.ops.import_scene.fbx(filepath=file, anim_offset=0.0)
    armatures = [item for item in scene.objects if item.type == "ARMATURE"]
    for armature in armatures:
        armature.data.pose_position = "POSE"
    actions = [a for a in bpy.data.actions if any(".bones" in c or "bones[" in c for c in _paths(a))]
    meshes = [item for item in scene.objects if item.type == "MESH"]
    names = {
        "joints": [bone.name for armature in armatures for bone in armature.data.bones],
        "meshes": [item.name for item in meshes],
        "motions": [action.name for action in actions],
        "armatures": len(armatures),
        "ranges": [
            [math.floor(action.frame_range[0]), math.ceil(action.frame_range[1])] for action in actions
        ],
        "rate": scene.render.fps / scene.render.fps_base,
    }
    (folder / "names.json").write_text(json.dumps(names), encoding="utf-8")
    for number, action in enumerate(actions or [None]):
        if action is not None:
            for armature in armatures:
                _play(armature, action)
            first, last = action.frame_range
            scene.frame_start, scene.frame_end = math.floor(first), math.ceil(last)
            frames = range(scene.frame_start, scene.frame_end + 1)
            np.save(folder / f"{number}.npy", _scales(armatures, action, frames))
        bpy.ops.wm.usd_export(
            filepath=str(folder / f"{number}.usdc"),
            export_animation=action is not None,
            export_armatures=True,
            export_shapekeys=True,
            only_deform_bones=False,
            use_instancing=False,
            export_lights=False,
            export_cameras=False,
            convert_world_material=False,
            allow_unicode=True,
            root_prim_path="/root",
            evaluation_mode="RENDER",
        )


def _scales(armatures: list[Any], action: Any, frames: range) -> Any:
    """Scales of all joints (frames, joints, 3)."""
    bones = [armature.pose.bones[bone.name] for armature in armatures for bone in armature.data.bones]
    places = {bone.path_from_id("scale"): place for place, bone in enumerate(bones)}
    scales = np.ones((len(frames), len(bones), 3))
    for curve in action.fcurves:
        if curve.data_path in places:
            values = [curve.evaluate(frame) for frame in frames]
            scales[:, places[curve.data_path], curve.array_index] = values
    return scales


def _paths(action: Any) -> list[str]:
    return [curve.data_path for curve in action.fcurves]


def _play(armature: Any, action: Any) -> None:
    data = armature.animation_data or armature.animation_data_create()
    data.action = action
    if getattr(action, "slots", None):
        fitting = [slot for slot in action.slots if slot.target_id_type in ("OBJECT", "UNSPECIFIED")]
        if fitting:
            data.action_slot = fitting[0]


main()
