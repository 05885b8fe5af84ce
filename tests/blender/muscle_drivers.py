"""Run by Blender's Python: muscle bones with drivers, where every vertex is, saved and loaded again.

    python muscle_drivers.py FILE.glb SCRIPT TABLE RATE OUT.npz BONE FRAME…

OUT holds, for each mesh by its name, an array (frames, vertices, 3) in glTF's axes: under ``NAME`` with the
drivers just installed, under ``NAME/loaded`` after saving and loading the .blend file, and under
``NAME/constrained`` in the first frame with the bone BONE and its parent led by inverse kinematics. Of that
frame it has the bones' ``names``, ``pose`` and ``rest``, matrices in Blender's armature space. ``texts`` are
the names of what the drivers keep in the file.
"""

from __future__ import annotations

import os
import runpy
import sys
from pathlib import Path
from typing import Any

import bpy  # type: ignore[import-not-found,unused-ignore]
import numpy as np
from mathutils import Vector  # type: ignore[import-not-found,unused-ignore]


def points(frames: list[int]) -> dict[str, Any]:
    bones = {b.custom_shape for o in bpy.data.objects if o.pose for b in o.pose.bones if b.custom_shape}
    found: dict[str, list[Any]] = {}
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        graph = bpy.context.evaluated_depsgraph_get()
        for thing in bpy.data.objects:
            if thing.type == "MESH" and thing not in bones:
                evaluated = thing.evaluated_get(graph)
                mesh = evaluated.to_mesh()
                flat = np.empty(3 * len(mesh.vertices), np.float32)
                mesh.vertices.foreach_get("co", flat)
                world = np.array(evaluated.matrix_world, np.float64)
                moved = flat.reshape(-1, 3) @ world[:3, :3].T + world[:3, 3]
                turned = np.stack([moved[:, 0], moved[:, 2], -moved[:, 1]], axis=1)
                found.setdefault(thing.data.name, []).append(turned)
                evaluated.to_mesh_clear()
    return {name: np.array(values) for name, values in found.items()}


def main(file: str, script: str, table: str, rate: int, out: str, bone: str, frames: list[int]) -> None:
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.context.scene.render.fps = rate
    bpy.context.scene.render.fps_base = 1.0
    bpy.ops.import_scene.gltf(filepath=file, merge_vertices=False)
    sys.argv = [script, "--", table]
    for _ in range(2):  # once more puts them on anew
        runpy.run_path(script, run_name="__main__")
    arrays = points(frames)
    arrays["texts"] = np.array([text.name for text in bpy.data.texts])
    blend = str(Path(out).with_suffix(".blend"))
    bpy.ops.wm.save_as_mainfile(filepath=blend)
    bpy.app.driver_namespace.pop("ecorche_muscle", None)
    bpy.ops.wm.open_mainfile(filepath=blend, use_scripts=True)
    arrays |= {f"{name}/loaded": values for name, values in points(frames).items()}
    armature = next(thing for thing in bpy.data.objects if thing.type == "ARMATURE")
    target = bpy.data.objects.new("target", None)
    bpy.context.scene.collection.objects.link(target)
    target.location = armature.pose.bones[bone].head + Vector((0.1, -0.3, 0.2))
    constraint = armature.pose.bones[bone].constraints.new("IK")
    constraint.target, constraint.chain_count = target, 2
    arrays |= {f"{name}/constrained": values for name, values in points(frames[:1]).items()}
    posed = armature.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones
    arrays["names"] = np.array([b.name for b in posed])
    arrays["pose"] = np.array([b.matrix for b in posed])
    arrays["rest"] = np.array([b.bone.matrix_local for b in posed])
    np.savez(out, **arrays)
    # Blender as a module tells of every block of memory that drivers still hold when Python ends: minutes
    os._exit(0)


if __name__ == "__main__":
    file, script, table, rate, out, bone = sys.argv[1:7]
    main(file, script, table, int(rate), out, bone, [int(f) for f in sys.argv[7:]])
