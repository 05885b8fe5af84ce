"""Run by Blender's Python: a USD point cache as Alembic.

python usd_to_abc.py FILE.usdc OUT.abc RATE FIRST LAST SAMPLES
"""

import sys

import bpy


def main() -> None:
    """Import and export."""
    file, out, rate, first, last, samples = sys.argv[-6:]
    bpy.ops.wm.read_factory_settings(use_empty=True)
    scene = bpy.context.scene
    scene.render.fps = max(1, round(float(rate)))
    scene.render.fps_base = scene.render.fps / float(rate)
    bpy.ops.wm.usd_import(filepath=file, set_frame_range=True, import_guide=True, import_skeletons=False)
    scene.frame_start, scene.frame_end = int(first), int(last)
    bpy.ops.wm.alembic_export(
        filepath=out,
        start=int(first),
        end=int(last),
        xsamples=1,
        gsamples=int(samples),
        flatten=False,
        uvs=True,
        normals=True,
        face_sets=True,
        export_hair=False,
        export_particles=False,
        evaluation_mode="RENDER",
    )


main()
