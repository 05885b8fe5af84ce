"""Run within Blender: a person's skin on a control rig that Blender's own Rigify makes."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import bpy  # type: ignore[import-not-found,unused-ignore]

SPINE = {
    "spine": "Hips",
    "spine.001": "LowerBack",
    "spine.002": "Spine",
    "spine.003": "Spine1",
    "spine.004": "Neck",
    "spine.005": "Neck1",
    "spine.006": "Head",
}
LIMBS = {
    "shoulder": "Shoulder",
    "upper_arm": "Arm",
    "forearm": "ForeArm",
    "hand": "Hand",
    "thigh": "UpLeg",
    "shin": "Leg",
    "foot": "Foot",
    "toe": "ToeBase",
}
SIDES = {"L": "Left", "R": "Right"}
SAME = SPINE | {
    f"{ours}.{s}": f"{side}{theirs}" for s, side in SIDES.items() for ours, theirs in LIMBS.items()
}
"""Bones of Rigify's metarig, and those of the person that they take the place of."""
ARM, LEG = ("shoulder", "upper_arm", "forearm", "hand"), ("thigh", "shin", "foot", "toe")
CHAINS = (tuple(SPINE), *(tuple(f"{name}.{s}" for name in limb) for s in SIDES for limb in (ARM, LEG)))
"""Bones that each end where the next one begins."""


def on_control_rig(armature: Any, body: Any) -> Any:
    """The control rig that the person follows from now on, with an arm and a leg bent by its controls."""
    heads = {bone.name: bone.head_local.copy() for bone in armature.data.bones}
    bpy.ops.preferences.addon_enable(module="rigify")
    bpy.ops.object.armature_basic_human_metarig_add()
    metarig = bpy.context.object
    _place(metarig, heads)
    bpy.ops.pose.rigify_generate()
    rig = bpy.context.object
    bpy.data.objects.remove(metarig)
    rig.name = "Управление 1"
    _take_skin(body, rig)
    bpy.data.objects.remove(armature)
    _key(rig, "root", "rotation_euler", (0.0, 0.0, 0.9))
    _key(rig, "torso", "location", (0.1, 0.0, -0.15))
    _key(rig, "chest", "rotation_euler", (0.3, 0.2, 0.1))
    for limb in ("upper_arm_parent.R", "thigh_parent.L"):
        rig.pose.bones[limb]["IK_FK"] = 1.0  # these are turned, the other limbs are drawn by their ends
    _key(rig, "forearm_fk.R", "rotation_euler", (1.5, 0.0, 0.0))
    _key(rig, "upper_arm_fk.R", "rotation_euler", (0.3, 0.5, 0.2))
    _key(rig, "shin_fk.L", "rotation_euler", (1.2, 0.0, 0.0))
    _key(rig, "hand_ik.L", "location", (0.0, 0.15, 0.1))
    return rig


def _place(metarig: Any, heads: dict[str, Any]) -> None:
    """Put the metarig's bones where the person's are."""
    bpy.ops.object.mode_set(mode="EDIT")
    bones = metarig.data.edit_bones
    for name in ("heel.02.L", "heel.02.R"):  # stay where they are beneath the feet, as guides
        bones[name].head.z = bones[name].tail.z = 0.0
    for name, theirs in SAME.items():
        bones[name].head = heads[theirs]
    for chain in CHAINS:
        for name, following in pairwise(chain):
            bones[name].tail = bones[following].head
    for s, side in SIDES.items():
        bones[f"hand.{s}"].tail = heads[f"{side}FingerBase"]
    bpy.ops.object.mode_set(mode="OBJECT")


def _take_skin(body: Any, rig: Any) -> None:
    """The body's weights for the deforming bones of the control rig, straight ones."""
    for ours, theirs in SAME.items():
        body.vertex_groups[theirs].name = f"DEF-{ours}"
    for s, side in SIDES.items():
        _merge(body, f"DEF-pelvis.{s}", f"{side[0]}HipJoint")
        _merge(body, f"DEF-hand.{s}", f"{side[0]}Thumb", f"{side}FingerBase", f"{side}HandFinger1")
    for bone in rig.data.bones:
        bone.bbone_segments = 1
    body.modifiers["Armature"].object = rig
    body.parent = rig


def _merge(body: Any, into: str, *names: str) -> None:
    target = body.vertex_groups.get(into) or body.vertex_groups.new(name=into)
    for group in (body.vertex_groups[name] for name in names if name in body.vertex_groups):
        for vertex in body.data.vertices:
            for entry in vertex.groups:
                if entry.group == group.index:
                    target.add([vertex.index], entry.weight, "ADD")
    for name in names:
        if name in body.vertex_groups:
            body.vertex_groups.remove(body.vertex_groups[name])


def _key(rig: Any, name: str, path: str, value: tuple[float, float, float]) -> None:
    bone = rig.pose.bones[name]
    bone.rotation_mode = "XYZ"
    bone.keyframe_insert(path, frame=1)
    setattr(bone, path, value)
    bone.keyframe_insert(path, frame=11)
