"""Import a glTF file and let Blender's own exporter write it with tangents: IN OUT."""

from __future__ import annotations

import sys

import bpy

bpy.ops.wm.read_factory_settings(use_empty=True)
bpy.ops.import_scene.gltf(filepath=sys.argv[-2])
bpy.ops.export_scene.gltf(filepath=sys.argv[-1], export_tangents=True, export_animations=False)
