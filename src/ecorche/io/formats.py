"""Which file reads and writes which format. A new format is one module and one line here.

A format module offers what it can of

    read_character(path) -> Character
    read_motion(path, clip=None) -> Motion
    read_mesh(path) -> Mesh
    write_take(path, take, options) -> Written

and raises `ReadError` or `WriteError` with one clear message. One that needs another program offers
``require_program(path, error)``, which raises where there is none. Modules are imported when used.
"""

from __future__ import annotations

import importlib
import os
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from ecorche.base.files import require_file
from ecorche.base.mesh import Mesh
from ecorche.base.names import suggestion
from ecorche.body.character import Character
from ecorche.body.take import Take
from ecorche.errors import EcorcheError, MissingPackageError, MotionError, ReadError, WriteError
from ecorche.skeleton.motion import Motion

MODULES: dict[str, str] = {
    ".glb": "gltf",
    ".gltf": "gltf",
    ".usd": "usd",
    ".usda": "usd",
    ".usdc": "usd",
    ".usdz": "usd",
    ".obj": "surfaces",
    ".ply": "surfaces",
    ".stl": "surfaces",
    ".xml": "mujoco",
    ".skn": "mujoco",
    ".bvh": "bvh",
    ".pose": "keyframes",
    ".x3d": "x3d",
    ".wrl": "x3d",
    ".pc2": "pc2",
    ".npz": "npz",
    ".fbx": "fbx",
    ".abc": "alembic",
}
"""Suffix to module of this package."""


USD_AS = ("points", "skeleton", "override")
"""How the skin moves in a USD file."""


@dataclass(frozen=True)
class WriteOptions:
    """Choices a person may make when writing; a format that has no use for one ignores it.

    Attributes:
        usd_as: ``"points"``: point samples and velocities; ``"skeleton"``: UsdSkel with the
            skeleton's animation and blend shapes; ``"override"``: point samples as a layer over the USD
            file that the character was read from.
        morph_targets: At most this many morph targets for the skin's departure from plain linear
            skinning in glTF; 0 writes the skeleton alone.
        mesh: For formats that hold one mesh: which, by name; None takes the body.
        tangents: Write tangents for normal maps where a mesh has texture coordinates: in glTF at bind,
            in USD points and NPZ a corner in every frame.
        usd_clips: Frames a value clip of USD points; 0 writes one file.
    """

    usd_as: str = "points"
    morph_targets: int = 32
    mesh: str | None = None
    tangents: bool = False
    usd_clips: int = 0

    def __post_init__(self) -> None:
        if self.usd_as not in USD_AS:
            raise WriteError(
                f"there is no way {self.usd_as!r} to write USD", remedy=suggestion(self.usd_as, USD_AS)
            )
        if self.usd_clips < 0:
            raise WriteError(f"{self.usd_clips} frames a clip were asked for", remedy="Give 1 or more")
        if self.morph_targets < 0:
            raise WriteError(f"{self.morph_targets} morph targets were asked for", remedy="Give 0 or more")


@dataclass(frozen=True)
class Written:
    """What a writer has to say about the file it wrote: errors reached, what a format cannot hold."""

    notes: tuple[str, ...] = ()


def module_for(path: str | os.PathLike[str], ability: str, error: type[EcorcheError]) -> ModuleType:
    """The module that has the named ability for that suffix, or one clear message."""
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix in MODULES:
        module = importlib.import_module(f"ecorche.io.{MODULES[suffix]}")
        if hasattr(module, ability):
            if hasattr(module, "require_program"):
                module.require_program(path, error)
            return module
    able = [known for known, home in MODULES.items() if _is_able(home, ability)]
    if suffix not in MODULES:
        raise error(
            f"the suffix {suffix!r} is none that Ecorche knows",
            where=path,
            remedy=suggestion(suffix, able, at_most=len(able)),
        )
    verb, noun = ability.split("_")
    raise error(
        f"{suffix} files are not something to {verb} a {noun} {'from' if verb == 'read' else 'to'}",
        where=path,
        remedy=f"Use one of {', '.join(able)}",
    )


def _is_able(home: str, ability: str) -> bool:
    """Whether a format's module has an ability here; one whose package is missing is no advice."""
    try:
        return hasattr(importlib.import_module(f"ecorche.io.{home}"), ability)
    except MissingPackageError:
        return False


def read_character(path: str | os.PathLike[str]) -> Character:
    """The rigged character in a file."""
    require_file(path)
    character: Character = module_for(path, "read_character", ReadError).read_character(Path(path))
    return character


def read_motion(path: str | os.PathLike[str], clip: str | None = None) -> Motion:
    """The motion in a file, on the skeleton the file gives it; ``clip`` names one of several."""
    require_file(path)
    motion: Motion = module_for(path, "read_motion", MotionError).read_motion(Path(path), clip)
    return motion


def read_mesh(path: str | os.PathLike[str]) -> Mesh:
    """The surface in a file: a bone, a muscle, a garment."""
    require_file(path)
    mesh: Mesh = module_for(path, "read_mesh", ReadError).read_mesh(Path(path))
    return mesh


def write_take(path: str | os.PathLike[str], take: Take, options: WriteOptions | None = None) -> Written:
    """Write a take whole, or not at all."""
    module = module_for(path, "write_take", WriteError)
    written: Written = module.write_take(Path(path), take, options or WriteOptions())
    return written
