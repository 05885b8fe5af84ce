"""A folder of anatomy: surfaces of muscles, bones and attachment sites as STL, OBJ or PLY files.

The folder holds ``muscles/``, ``bones/`` and optionally ``sites/``; a flat folder does too, if its files
begin with ``muscle``, ``bone`` and ``site``. All are in the frame of the character's file, so they are turned
and scaled as that file was.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ecorche.body.character import Character
from ecorche.errors import EcorcheError, ReadError
from ecorche.io.surfaces import read_mesh
from ecorche.muscles.anatomy.folder import AnatomyFolder, AnatomyMesh
from ecorche.skin.weights import is_rigid

SUFFIXES = (".stl", ".obj", ".ply")


def read_anatomy_folder(folder: Path, up_axis: str = "Y", metres_per_unit: float = 1.0) -> AnatomyFolder:
    """The surfaces in a folder. A file that cannot be used is named in the notes, the others still serve.

    Args:
        folder: Where they are.
        up_axis: ``"Y"`` or ``"Z"``, as in the character's file.
        metres_per_unit: What the files' numbers mean: 0.001 for millimetres.

    Raises:
        ReadError: There is no such folder, or it holds no muscles or no bones that can be used.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise ReadError(
            "there is no such folder", where=folder, remedy="Give a folder with muscles/ and bones/"
        )
    notes: list[str] = []
    kinds = []
    for kind in ("muscle", "bone", "site"):
        inside = folder / f"{kind}s"
        files = sorted(inside.iterdir() if inside.is_dir() else folder.glob(f"{kind}[_ -]*"))
        meshes = []
        for file in files:
            if file.suffix.lower() not in SUFFIXES:
                continue
            try:
                meshes.append(placed_mesh(file, up_axis, metres_per_unit))
            except EcorcheError as error:
                notes.append(f"The {kind} {file.name} was left out: {error.what}.")
        kinds.append(tuple(meshes))
    try:
        muscles, bones, sites = kinds
        return AnatomyFolder(muscles, bones, sites, tuple(notes))
    except EcorcheError as error:
        said = f" ({notes[0]})" if notes else ""
        raise ReadError(error.what + said, where=folder, remedy=error.remedy) from error


def bones_of_character(character: Character) -> dict[str, int]:
    """The joint of each mesh that a character carries fixed to one joint, by the mesh's name."""
    return {
        mesh.name: int(mesh.weights.joints[mesh.weights.weights > 0.5][0])
        for mesh in character.meshes
        if mesh.weights is not None and is_rigid(mesh.weights)
    }


def placed_mesh(file: Path, up_axis: str, metres_per_unit: float, name: str | None = None) -> AnatomyMesh:
    """One surface in the character's frame, called as its file, or otherwise."""
    mesh = read_mesh(file, metres_per_unit)
    points = np.asarray(mesh.points, np.float64)
    if up_axis == "Z":
        points = np.stack([points[:, 0], points[:, 2], -points[:, 1]], axis=1)
    return AnatomyMesh(name or file.stem, points, mesh.triangles().astype(np.int64))
