"""X3D in and out, VRML97 in: H-Anim humanoids with skin, segments, sites and animation.

After ISO/IEC 19775-1:2023 (X3D 4.0), 19774-1:2019 (H-Anim 2) and 14772 (VRML97, with H-Anim 1.1).
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from ecorche.base.names import suggestion
from ecorche.body.character import Character, SkinnedMesh
from ecorche.errors import EcorcheError, MotionError, ReadError
from ecorche.io.x3d.motion import read_motions
from ecorche.io.x3d.nodes import HUMANOIDS, JOINTS, SEGMENTS, SITES, Scene
from ecorche.io.x3d.shapes import Looks
from ecorche.io.x3d.skeleton import Humanoid, Site, find_humanoid
from ecorche.io.x3d.skin import read_meshes
from ecorche.io.x3d.vrml97 import read_vrml
from ecorche.io.x3d.write import write_take
from ecorche.io.x3d.xml import read_xml
from ecorche.skeleton.motion import Motion

__all__ = ["Site", "read_character", "read_motion", "read_sites", "write_take"]


def read_character(path: Path) -> Character:
    """The humanoid in an .x3d or .wrl file, in metres and +Y up."""
    with _readable(path):
        scene = _read_scene(path)
        humanoid = find_humanoid(scene)
        looks = Looks(scene)
        skin, others = read_meshes(scene, humanoid, looks)
        motions = read_motions(scene, humanoid)
        made = Character(
            path.stem,
            humanoid.skeleton,
            skin,
            motions,
            tuple(looks.materials),
            tuple(looks.images),
            notes=tuple(humanoid.notes + looks.notes + _notes(scene, humanoid)),
            source=str(path),
            metres_per_unit=scene.metres_per_unit,
        )
        return _weighted(made, others)


def read_motion(path: Path, clip: str | None = None) -> Motion:
    """A clip of an .x3d or .wrl file: the one named, else the first."""
    with _readable(path):
        scene = _read_scene(path)
        motions = read_motions(scene, find_humanoid(scene))
    if not motions:
        raise MotionError(
            "no time sensor moves the humanoid", where=path.name, remedy="Choose another motion"
        )
    if clip is None:
        return motions[0]
    for motion in motions:
        if motion.name == clip:
            return motion
    raise MotionError(
        f"there is no clip {clip!r}", where=path.name, remedy=suggestion(clip, [m.name for m in motions])
    )


def read_sites(path: Path) -> tuple[Site, ...]:
    """The named points of the humanoid's body: landmarks, end effectors, viewpoints."""
    with _readable(path):
        return tuple(find_humanoid(_read_scene(path)).sites)


def _read_scene(path: Path) -> Scene:
    data = path.read_bytes()
    if not data.strip():
        raise ReadError("the file is empty", where=path.name, remedy="Export it again")
    # what is inside decides, since both suffixes are used for both
    return read_vrml(path, data) if data[:1] == b"#" or data[:2] == b"\x1f\x8b" else read_xml(path, data)


def _weighted(character: Character, others: tuple[SkinnedMesh, ...]) -> Character:
    """The character with its other meshes, and with weights where its skin has none.

    A file that has no skin may have one that merely stands where the skeleton is.
    """
    from ecorche.body.automatic_weights import weighted_if_bones_lie_in_it, with_automatic_weights

    if any(mesh.weights is None for mesh in character.meshes):
        character = with_automatic_weights(character)
    whole = replace(character, meshes=(*character.meshes, *others))
    if any(mesh.weights is not None for mesh in whole.meshes):
        return whole
    return weighted_if_bones_lie_in_it(whole)


def _notes(scene: Scene, humanoid: Humanoid) -> list[str]:
    notes = []
    if humanoid.sites:
        listed = ", ".join(f"{s.name} ({s.joint})" for s in humanoid.sites)
        notes.append(f"{len(humanoid.sites)} sites with the joints that carry them: {listed}")
    carriers = [node for joint in humanoid.joints for node in (joint, *joint.below("children"))]
    displacers = sum(len(node.below("displacers")) for node in carriers)
    if displacers:
        notes.append(f"{displacers} displacers, which reshape parts of the surface, were not read")
    if humanoid.node.below("motions"):
        notes.append("motions in HAnimMotion nodes were not read; interpolators are")
    unknown = scene.prototypes - {*HUMANOIDS, *JOINTS, *SEGMENTS, *SITES, "Displacer", "HAnimDisplacer"}
    if unknown:
        notes.append(f"what the file's own prototypes hold was not read: {', '.join(sorted(unknown))}")
    return notes


@contextlib.contextmanager
def _readable(path: Path) -> Iterator[None]:
    """Every error names the file."""
    try:
        with np.errstate(all="ignore"):  # overflowing numbers are refused by checks on the results
            yield
    except EcorcheError as error:
        if error.where is not None and path.name in error.where:
            raise
        where = path.name if error.where is None else f"{path.name}, {error.where}"
        raise ReadError(error.what, where=where, remedy=error.remedy) from error
    except OSError as error:
        raise ReadError(f"cannot be read ({error.strerror or error})", where=path) from error
