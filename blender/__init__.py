"""Ecorche in Blender: muscles under the skin of any armature. Registers what the other files hold."""

import bpy

from . import (
    bake_cache,
    bake_muscle_joints,
    bake_shape_keys,
    choose_coupling,
    give_muscles,
    live_preview,
    muscle_list,
    painted_maps,
    panel,
    preferences,
    rig_files,
    settings,
)

MODULES = (
    preferences,
    settings,
    give_muscles,
    choose_coupling,
    rig_files,
    painted_maps,
    muscle_list,
    bake_shape_keys,
    bake_cache,
    bake_muscle_joints,
    panel,
)


def register() -> None:
    """Switch the extension on."""
    for module in MODULES:
        for kind in module.CLASSES:
            bpy.utils.register_class(kind)
    settings.attach()
    live_preview.listen()


def unregister() -> None:
    """Switch it off; rigs stay in the .blend file."""
    live_preview.stop_listening()
    settings.detach()
    for module in reversed(MODULES):
        for kind in reversed(module.CLASSES):
            bpy.utils.unregister_class(kind)
