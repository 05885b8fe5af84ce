"""The extension's preferences: whether the package that does the work is there, and how to get it."""

import sys
from pathlib import Path

import bpy

from .messages import SceneError, package

NEEDED = "numba scipy pydantic lz4 trimesh shapely robust-laplacian"
"""What the package calls for in Blender; it comes with the extension itself, and Blender has its own USD."""


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
            column.label(text=f'"{Path(sys.executable)}" -m pip install {NEEDED} "numpy<2"')
            column.label(text="or install the zip that `make blender-wheels` builds for this computer")
            return
        column.label(text=f"Ecorche {ecorche.__version__}, {Path(ecorche.__file__).parent}", icon="CHECKMARK")


CLASSES = (EcorchePreferences,)
