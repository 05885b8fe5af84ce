"""Run by Blender's Python: import an Alembic file and save the positions of every mesh at some frames.

    python read_abc.py FILE.abc OUT.npz 0,5,10 RATE

Blender has +Z up; positions are turned back to +Y up, in metres, in the file's vertex order.
"""

import sys
from typing import Any

import bpy
import numpy as np


def main() -> None:
    file, out, frames, rate = sys.argv[-4:]
    bpy.ops.wm.read_factory_settings(use_empty=True)
    scene = bpy.context.scene
    scene.render.fps = max(1, round(float(rate)))
    scene.render.fps_base = scene.render.fps / float(rate)
    bpy.ops.wm.alembic_import(filepath=file, as_background_job=False, always_add_cache_reader=True)
    saved: dict[str, Any] = {}
    for frame in (int(f) for f in frames.split(",")):
        scene.frame_set(frame)
        graph = bpy.context.evaluated_depsgraph_get()
        for item in scene.objects:
            if item.type != "MESH":
                continue
            evaluated = item.evaluated_get(graph)
            flat = np.empty(3 * len(evaluated.data.vertices), np.float32)
            evaluated.data.vertices.foreach_get("co", flat)
            world = np.array(evaluated.matrix_world)
            points = flat.reshape(-1, 3) @ world[:3, :3].T + world[:3, 3]
            saved[f"{item.name}/{frame}"] = np.stack([points[:, 0], points[:, 2], -points[:, 1]], axis=1)
    np.savez(out, **saved)


main()
