"""The extension's preferences: whether the package that does the work is there, and how to get it."""

import sys
from pathlib import Path

import bpy

from .messages import SceneError, package


class EcorchePreferences(bpy.types.AddonPreferences):
    """Says which Ecorche is used."""

    bl_idname = __package__

    def draw(self, _context: bpy.types.Context) -> None:
        """Draw the preferences."""
        column = self.layout.column()
        try:
            ecorche = package()
        except SceneError as error:
            column.label(text=str(error), icon="ERROR")
            column.label(text=f'"{Path(sys.executable)}" -m pip install ecorche "numpy<2"')
            column.label(text="or install the zip that `make blender-wheels` builds for this computer")
            return
        column.label(text=f"Ecorche {ecorche.__version__}, {Path(ecorche.__file__).parent}", icon="CHECKMARK")


CLASSES = (EcorchePreferences,)
