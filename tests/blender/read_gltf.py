"""Run by Blender's Python: import a glTF file and write down where every vertex is.

    python read_gltf.py FILE RATE OUT.npz FRAME…

Frames are whole numbers at RATE frames a second. OUT holds, for each mesh by its name in the file, an array
(frames, vertices, 3) in glTF's axes (+Y up), in Blender's own order of vertices.
"""

from __future__ import annotations

import sys
from typing import Any

import bpy  # type: ignore[import-not-found,unused-ignore]
import numpy as np


def main(file: str, rate: int, out: str, frames: list[int]) -> None:
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.context.scene.render.fps = rate
    bpy.context.scene.render.fps_base = 1.0
    bpy.ops.import_scene.gltf(filepath=file, merge_vertices=False, bone_heuristic="TEMPERANCE")
    # Blender draws bones as small meshes of its own
    bones = {b.custom_shape for o in bpy.data.objects if o.pose for b in o.pose.bones if b.custom_shape}
    objects = [o for o in bpy.data.objects if o.type == "MESH" and o not in bones]
    positions: dict[str, list[np.ndarray]] = {o.data.name: [] for o in objects}
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        graph = bpy.context.evaluated_depsgraph_get()
        for thing in objects:
            evaluated = thing.evaluated_get(graph)
            mesh = evaluated.to_mesh()
            flat = np.empty(3 * len(mesh.vertices), np.float32)
            mesh.vertices.foreach_get("co", flat)
            world = np.array(evaluated.matrix_world, np.float64)
            moved = flat.reshape(-1, 3) @ world[:3, :3].T + world[:3, 3]
            positions[thing.data.name].append(np.stack([moved[:, 0], moved[:, 2], -moved[:, 1]], axis=1))
            evaluated.to_mesh_clear()
    arrays: dict[str, Any] = {name: np.array(values) for name, values in positions.items()}
    np.savez(out, **arrays)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3], [int(f) for f in sys.argv[4:]])
