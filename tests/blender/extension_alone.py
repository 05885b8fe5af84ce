"""Run by Blender's Python: the extension with the package from its own zip, and without what that needs.

python extension_alone.py ZIP OUT.json
"""

from __future__ import annotations

import importlib
import json
import os
import sys
from pathlib import Path
from typing import Any

import bpy  # type: ignore[import-not-found,unused-ignore]

found: dict[str, Any] = {}
bpy.ops.wm.read_factory_settings(use_empty=True)
bpy.ops.extensions.package_install_files(filepath=sys.argv[1], repo="user_default", enable_on_install=True)
found["package"] = importlib.import_module("ecorche").__file__  # what the zip brought
found["extensions"] = bpy.utils.user_resource("EXTENSIONS")
bpy.ops.object.armature_add()
try:
    bpy.ops.ecorche.give_muscles()
except RuntimeError as error:
    found["without a mesh"] = str(error)
sys.modules.update({"numba": None})  # type: ignore[dict-item]
try:
    bpy.ops.ecorche.give_muscles()
except RuntimeError as error:
    found["without numba"] = str(error)
bpy.ops.preferences.addon_disable(module="bl_ext.user_default.ecorche")
found["switched off"] = not hasattr(bpy.types.Object, "ecorche")
Path(sys.argv[2]).write_text(json.dumps(found), encoding="utf-8")
os._exit(0)  # Blender as a module may hang as Python ends
