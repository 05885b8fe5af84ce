"""Run by Blender's Python: install the extension's zip and do with it what a rigger does.

    python extension.py ZIP MAN.glb FOLDER smoke
    python extension.py ZIP MAN.glb FOLDER RIG ANATOMY

Into FOLDER go ``points.npz``, every vertex in glTF's axes [m] by step and frame with the armature's poses,
and ``told.json``, what was said and found on the way. With ``smoke`` only the first steps are done.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import bpy  # type: ignore[import-not-found,unused-ignore]
import numpy as np
from control_rig import on_control_rig
from mathutils import Matrix  # type: ignore[import-not-found,unused-ignore]

FRAMES = (1, 6, 11)
BENT = {"RightForeArm": (1.7, 0.0, 0.3), "LeftLeg": (0.0, 0.0, 1.2), "RightArm": (0.0, 0.4, 0.5)}
MUSCLE = "biceps brachii, long head, right"

arrays: dict[str, Any] = {}
told: dict[str, Any] = {}


def keep(step: str, thing: Any, frames: tuple[int, ...] = FRAMES) -> None:
    """Write down where a mesh object's vertices are in some frames."""
    arrays[step] = np.array([at(thing, frame) for frame in frames])


def at(thing: Any, frame: int | None = None) -> Any:
    if frame is not None:
        bpy.context.scene.frame_set(frame)
    graph = bpy.context.evaluated_depsgraph_get()
    evaluated = thing.evaluated_get(graph)
    mesh = evaluated.to_mesh()
    flat = np.empty(3 * len(mesh.vertices), np.float32)
    mesh.vertices.foreach_get("co", flat)
    evaluated.to_mesh_clear()
    world = np.array(evaluated.matrix_world, np.float64)
    moved = flat.reshape(-1, 3) @ world[:3, :3].T + world[:3, 3]
    return np.stack([moved[:, 0], moved[:, 2], -moved[:, 1]], axis=1)


def refused(step: str, operator: Any, **options: Any) -> None:
    """Write down what an operator says that cannot do its work."""
    try:
        operator(**options)
    except RuntimeError as error:
        told[step] = str(error).strip()
    else:
        raise AssertionError(f"{step} was not refused")


def empty_scene() -> None:
    """A scene without anything; the extension is switched on in it again."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.preferences.addon_enable(module="bl_ext.user_default.ecorche")


def imported(file: str) -> tuple[Any, Any]:
    """A scene with nothing but a person who bends arm and leg."""
    empty_scene()
    bpy.context.scene.render.fps = 24
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = FRAMES[0], FRAMES[-1]
    bpy.ops.import_scene.gltf(filepath=file, merge_vertices=False, bone_heuristic="TEMPERANCE")
    armature = next(o for o in bpy.data.objects if o.type == "ARMATURE")
    body = next(o for o in bpy.data.objects if o.find_armature() == armature)
    bpy.context.view_layer.objects.active = armature
    for name, angles in BENT.items():
        bone = armature.pose.bones[name]
        bone.rotation_mode = "XYZ"
        bone.keyframe_insert("rotation_euler", frame=FRAMES[0])
        bone.rotation_euler = angles
        bone.keyframe_insert("rotation_euler", frame=FRAMES[-1])
    bpy.context.scene.frame_set(1)
    return armature, body


def keep_poses(armature: Any) -> None:
    bones = armature.data.bones
    arrays["names"] = np.array([bone.name for bone in bones])
    arrays["rest"] = np.array([bone.matrix_local for bone in bones])
    arrays["tails"] = np.array([bone.tail_local for bone in bones])
    poses = []
    for frame in range(FRAMES[0], FRAMES[-1] + 1):
        bpy.context.scene.frame_set(frame)
        poses.append([armature.pose.bones[bone.name].matrix.copy() for bone in bones])
    arrays["poses"] = np.array(poses)


class Layout:
    """Stands in for Blender's layout, which needs a window: names that it is given must be there."""

    def __init__(self) -> None:
        self.drawn: list[str] = []

    def column(self, align: bool = False) -> Layout:
        return self

    row = column

    def box(self) -> Layout:
        return self

    def label(self, text: str, icon: str = "NONE") -> None:
        self.drawn.append(text)

    def prop(self, data: Any, name: str) -> None:
        self.drawn.append(data.bl_rna.properties[name].name)

    def operator(self, name: str, text: str = "", icon: str = "NONE") -> Any:
        kind, _, verb = name.partition(".")
        known = getattr(getattr(bpy.ops, kind), verb).get_rna_type()
        icons = bpy.types.UILayout.bl_rna.functions["label"].parameters["icon"].enum_items
        assert icon in icons, icon
        self.drawn.append(text or known.name)
        return type("Options", (), {})()

    def operator_menu_enum(self, name: str, field: str, text: str = "", icon: str = "NONE") -> None:
        kind, _, verb = name.partition(".")
        known = getattr(getattr(bpy.ops, kind), verb).get_rna_type()
        assert field in known.properties
        self.drawn.append(text or known.name)

    def template_list(self, kind: str, _: str, data: Any, name: str, *place: Any, **more: Any) -> None:
        assert hasattr(bpy.types, kind)
        active, field = place
        assert field in active.bl_rna.properties
        self.drawn.append(f"{len(getattr(data, name))} {name}")


def panel() -> list[str]:
    """What the panel shows, drawn by its own function."""
    layout = Layout()
    _panel_module().draw_ecorche(layout, bpy.context)
    return layout.drawn


def panel_of_message(armature: Any, message: str) -> list[str]:
    """What the panel shows while the preview stands still."""
    messages = _panel_module().live_preview.messages
    messages[armature.session_uid] = message
    drawn = panel()
    del messages[armature.session_uid]
    return drawn


def _panel_module() -> Any:
    return sys.modules[bpy.types.ECORCHE_PT_sidebar.__module__]


def install(file: str) -> None:
    bpy.ops.extensions.package_install_files(filepath=file, repo="user_default", enable_on_install=True)
    told["installed"] = [
        name
        for name in bpy.context.preferences.addons.keys()  # noqa: SIM118
        if name.endswith("ecorche")
    ]
    told["blender"] = list(bpy.app.version)


def first_steps(file: str) -> tuple[Any, Any]:
    empty_scene()
    refused("no armature", bpy.ops.ecorche.give_muscles)
    bpy.ops.object.armature_add()
    refused("no mesh", bpy.ops.ecorche.give_muscles)
    told["panel without muscles"] = panel()
    armature, body = imported(file)
    refused("no muscles yet", bpy.ops.ecorche.bake_shape_keys)
    refused("no folder named", bpy.ops.ecorche.give_muscles, muscles="anatomy")
    refused("no such folder", bpy.ops.ecorche.give_muscles, muscles="anatomy", directory="/nowhere")
    body.modifiers.new("Subdivision", "SUBSURF").levels = 0
    before = np.empty(3 * len(body.data.vertices), np.float32)
    body.data.vertices.foreach_get("co", before)
    keep("plain", body)
    keep_poses(armature)
    bpy.ops.ecorche.give_muscles(muscles="template")
    told["modifiers"] = [modifier.name for modifier in body.modifiers]
    told["muscles"] = len(armature.ecorche.muscles)
    keep("template", body)
    after = np.empty_like(before)
    body.data.vertices.foreach_get("co", after)
    assert np.array_equal(before, after)  # the mesh itself is as it was
    return armature, body


def posing_activation_and_undo(armature: Any, body: Any, folder: Path) -> None:
    scene = bpy.context.scene
    scene.frame_set(1)
    bone = armature.pose.bones["RightForeArm"]
    keyed = bone.rotation_euler.copy()
    bone.rotation_euler = BENT["RightForeArm"]  # posed by hand, no frame has changed
    bpy.context.view_layer.update()
    by_hand = at(body)
    told["posed by hand"] = float(np.abs(by_hand - arrays["template"][0]).max())
    bone.rotation_euler = keyed
    bpy.context.view_layer.update()
    told["and back"] = float(np.abs(at(body) - arrays["template"][0]).max())
    # activation, keyed
    armature.ecorche.active_muscle = armature.ecorche.muscles.find(MUSCLE)
    muscle = armature.ecorche.muscles[MUSCLE]
    scene.frame_set(1)
    muscle.activation = 0.0
    bpy.ops.ecorche.key_activation()
    scene.frame_set(11)
    muscle.activation = 1.0
    bpy.ops.ecorche.key_activation()
    keep("keyed", body)
    arrays["activation"] = np.array([_activation(f) for f in range(FRAMES[0], FRAMES[-1] + 1)])
    # the file keeps it all
    blend = str(folder / "человек с мышцами.blend")
    bpy.ops.wm.save_as_mainfile(filepath=blend)
    bpy.ops.wm.open_mainfile(filepath=blend)
    keep("loaded", _body())


def _activation(frame: int) -> float:
    bpy.context.scene.frame_set(frame)
    return float(_armature().ecorche.muscles[MUSCLE].activation)


def _armature() -> Any:
    return next(o for o in bpy.data.objects if o.type == "ARMATURE")


def _body() -> Any:
    return next(o for o in bpy.data.objects if o.find_armature() is not None)


def undone() -> None:
    """Undo and redo, with what they give back."""
    bpy.context.view_layer.objects.active = _armature()
    bpy.ops.ed.undo_push(message="before")
    bpy.ops.ecorche.remove_muscles()
    bpy.ops.ed.undo_push(message="removed")
    gone = _body().modifiers.get("Ecorche Muscles") is None and not _armature().ecorche.packed
    bpy.ops.ed.undo()
    keep("undone", _body())
    back = len(_armature().ecorche.muscles)
    bpy.ops.ed.redo()
    again = _body().modifiers.get("Ecorche Muscles") is None and not _armature().ecorche.packed
    bpy.ops.ed.undo()
    told["undo"] = [gone, back, again]


def painted(armature: Any, body: Any) -> None:
    """The muscle's own skin as a group, half of it painted away, taken back, and forgotten."""
    bpy.ops.ecorche.make_vertex_group()
    group = body.vertex_groups[MUSCLE]
    group.name = "двуглавая мышца"
    weights = {v.index: e.weight for v in body.data.vertices for e in v.groups if e.group == group.index}
    told["group"] = len(weights)
    group.remove(list(weights))
    bpy.ops.ecorche.take_vertex_group(field="muscle", group=group.name)
    keep("unpainted", body)
    bpy.ops.ecorche.forget_painting(field="muscle")
    keep("forgotten", body)
    refused("no such group", bpy.ops.ecorche.take_vertex_group, field="slide", group="nowhere")
    bpy.ops.ecorche.choose_coupling(everywhere="fascia")
    told["coupling"] = armature.ecorche.coupling
    keep("fascia", body)
    group.add([v.index for v in body.data.vertices], 0.0, "REPLACE")
    bpy.ops.ecorche.take_vertex_group(field="intensity", group=group.name)
    keep("fascia by intensity 0", body)
    bpy.ops.ecorche.forget_painting(field="intensity")
    bpy.ops.ecorche.choose_coupling(everywhere="muscles")
    refused("no such region", bpy.ops.ecorche.choose_coupling, everywhere="fascia", region="tail")


def baked(armature: Any, body: Any, folder: Path) -> None:
    bpy.ops.ecorche.bake_shape_keys(most=12)
    told["keys"] = len(body.data.shape_keys.key_blocks)
    told["preview after a bake"] = armature.ecorche.preview
    keep("shape keys", body)
    bpy.ops.ecorche.remove_bake()
    bpy.ops.ecorche.bake_cache(filepath=str(folder / "кэш 1.pc2"))
    keep("cache", body)
    told["cache modifiers"] = [modifier.name for modifier in body.modifiers]
    bpy.ops.ecorche.remove_bake()
    keep("after all bakes", body)
    bone = armature.data.bones["RightForeArm"]
    bone.bbone_segments = 4
    bpy.ops.ecorche.bake_muscle_joints(joints_per_muscle=1, poses=100)
    twin = next(o for o in bpy.data.objects if o.find_armature() not in (None, armature))
    bone.bbone_segments = twin.find_armature().data.bones[bone.name].bbone_segments = 1  # as it is told
    (folder / "drivers.json").write_text(bpy.data.texts["ecorche_drivers.json"].as_string(), encoding="utf-8")
    told["bones"] = [len(armature.data.bones), len(twin.find_armature().data.bones)]
    keep("muscle joints", twin)
    keep("beside muscle joints", body)
    bpy.context.view_layer.objects.active = armature


def rig_files(armature: Any, body: Any, folder: Path, rig: str) -> None:
    bpy.ops.ecorche.write_rig(filepath=str(folder / "мышцы 1.ecorche"))
    bpy.ops.ecorche.remove_muscles()
    bpy.ops.ecorche.read_rig(filepath=str(folder / "мышцы 1.ecorche"))
    keep("read back", body)
    bpy.ops.ecorche.read_rig(filepath=rig)  # that of the command, made for the file itself
    keep("read", body)
    refused("no such file", bpy.ops.ecorche.read_rig, filepath=str(folder / "none.ecorche"))


def extracted(file: str, folder: Path) -> None:
    """Muscles found in the skin, and bakes that cannot be."""
    armature, body = imported(file)
    bpy.context.view_layer.objects.active = body  # the mesh will do: its armature is meant
    bpy.ops.ecorche.give_muscles(muscles="extract")
    told["found"] = [muscle.name for muscle in armature.ecorche.muscles]
    keep("extract", body)
    bpy.ops.ecorche.write_rig(filepath=str(folder / "found.ecorche"))
    body.modifiers["Armature"].use_deform_preserve_volume = True
    bpy.ops.ecorche.fit_again()
    refused("preserved volume", bpy.ops.ecorche.bake_shape_keys)
    body.modifiers["Armature"].use_deform_preserve_volume = False
    refused("no frames", bpy.ops.ecorche.bake_cache, filepath="nowhere.pc2", first=11, last=1)


def adjusted(file: str, folder: Path) -> None:
    """The template adjusted to what shows in the skin, and its fat swinging."""
    _, body = imported(file)
    bpy.ops.ecorche.give_muscles(muscles="template+extract")
    keep("template+extract", body)
    cache = str(folder / "fat.pc2")
    refused("nothing swings", bpy.ops.ecorche.bake_cache, filepath=cache, dynamics="oscillation")
    bpy.ops.ecorche.bake_cache(filepath=cache, dynamics="fat")
    keep("fat", body)


def from_folder(file: str, folder: Path, anatomy: str) -> None:
    """Muscles that are meshes in a folder, and the same swinging."""
    armature, body = imported(file)
    bpy.ops.ecorche.give_muscles(muscles="anatomy", directory=anatomy)
    told["muscles of a folder"] = [muscle.name for muscle in armature.ecorche.muscles]
    keep("anatomy", body)
    refused("meshes as joints", bpy.ops.ecorche.bake_muscle_joints)
    bpy.ops.ecorche.bake_cache(filepath=str(folder / "oscillation.pc2"), dynamics="oscillation")
    keep("oscillation", body)


def odd_scenes(file: str) -> None:
    """Scales, modifiers and names that people bring."""
    armature, body = imported(file)
    armature.name, body.name, body.data.name = "Скелет 1", "身体 (body)", "кожа"
    for number, bone in enumerate(armature.data.bones):
        bone.name = f"кость {number}"
    told["renamed group"] = body.vertex_groups[0].name
    armature.data.transform(Matrix.Scale(100.0, 4))
    body.data.transform(Matrix.Scale(100.0, 4))
    for layer in armature.animation_data.action.layers:  # keys are of bones that are called otherwise now
        told["layers"] = len(layer.strips)
    armature.scale = (0.01, 0.01, 0.01)
    armature.location, armature.rotation_euler = (3.0, 1.0, 0.5), (0.1, 0.2, 1.0)
    bpy.context.view_layer.update()
    bpy.ops.ecorche.give_muscles(muscles="template")
    told["muscles of odd names"] = len(armature.ecorche.muscles)
    world = np.array(armature.matrix_world)
    keep("scaled", body)
    y_up = np.array([[1, 0, 0, 0], [0, 0, 1, 0], [0, -1, 0, 0], [0, 0, 0, 1]])
    placed = y_up @ world @ np.diag([100.0, 100.0, 100.0, 1.0]) @ np.linalg.inv(y_up)
    arrays["scaled"] = (arrays["scaled"] - placed[:3, 3]) @ np.linalg.inv(placed[:3, :3]).T
    armature.scale = (0.01, 0.01, 0.012)
    bpy.context.view_layer.update()
    refused("uneven scale", bpy.ops.ecorche.give_muscles)
    armature.scale = (0.01, 0.01, 0.01)
    bpy.context.view_layer.update()
    mirror = body.modifiers.new("Зеркало", "MIRROR")
    body.modifiers.move(len(body.modifiers) - 1, 0)
    refused("mirror before", bpy.ops.ecorche.give_muscles)
    body.modifiers.remove(mirror)
    held = [(entry.group, entry.weight) for entry in body.data.vertices[7].groups]
    for number, _ in held:
        body.vertex_groups[number].remove([7])
    refused("bare vertices", bpy.ops.ecorche.give_muscles)
    for number, weight in held:
        body.vertex_groups[number].add([7], weight, "REPLACE")
    armature.ecorche.preview = False
    bpy.context.scene.frame_set(1)
    body.data.vertices[0].co.x += 0.5
    bpy.ops.ecorche.fit_again()
    told["fitted again"] = len(armature.ecorche.muscles)
    for bone in armature.data.bones:
        bone.use_deform = False
    refused("nothing deforms", bpy.ops.ecorche.give_muscles)
    bpy.ops.object.mode_set(mode="EDIT")
    refused("edit mode", bpy.ops.ecorche.give_muscles)
    bpy.ops.object.mode_set(mode="OBJECT")


def under_controls(file: str, folder: Path) -> None:
    """Muscle joints on a control rig of Blender's own Rigify."""
    armature, body = imported(file)
    rig = on_control_rig(armature, body)
    bpy.context.view_layer.objects.active = rig
    bpy.context.scene.frame_set(FRAMES[0])
    keep("controlled, plain", body)
    bpy.ops.ecorche.give_muscles(muscles="template")
    bpy.ops.ecorche.write_rig(filepath=str(folder / "controlled.ecorche"))
    bpy.ops.ecorche.bake_muscle_joints(joints_per_muscle=1, poses=100)
    twin = next(o for o in bpy.data.objects if o.find_armature() not in (None, rig))
    keep("controlled", twin)
    table = bpy.data.texts["ecorche_drivers.json"].as_string()
    (folder / "controlled.json").write_text(table, encoding="utf-8")
    names = [bone.name for bone in rig.data.bones if bone.use_deform]
    poses = []
    for frame in FRAMES:
        bpy.context.scene.frame_set(frame)
        poses.append([rig.pose.bones[name].matrix.copy() for name in names])
    arrays["controlled names"], arrays["controlled poses"] = np.array(names), np.array(poses)


def main(archive: str, file: str, folder: Path, *more: str) -> None:
    install(archive)
    armature, body = first_steps(file)
    told["panel"] = panel()
    told["panel of a message"] = panel_of_message(armature, "word " * 12)
    if more != ("smoke",):
        posing_activation_and_undo(armature, body, folder)
        undone()
        armature, body = _armature(), _body()
        bpy.context.view_layer.objects.active = armature
        painted(armature, body)
        baked(armature, body, folder)
        rig_files(armature, body, folder, more[0])
        extracted(file, folder)
        adjusted(file, folder)
        from_folder(file, folder, more[1])
        under_controls(file, folder)
        odd_scenes(file)
    told["ours"] = sys.modules["ecorche"].__file__
    told["second USD"] = [name for name in sys.modules if name.split(".")[0] == "pxr"]
    np.savez(folder / "points.npz", **arrays)
    (folder / "told.json").write_text(json.dumps(told, ensure_ascii=False, indent=1), encoding="utf-8")
    # Blender as a module may hang as Python ends, and tells of every block of memory that drivers hold
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], Path(sys.argv[3]), *sys.argv[4:])
