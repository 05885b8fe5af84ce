"""What a writer of plain points needs of a take: its frames, and which mesh to write."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ecorche.body.character import Character
from ecorche.body.compile import morphed_points
from ecorche.body.frames import Frame, Frames, MemoryFrames
from ecorche.body.take import Take
from ecorche.skin.normals import Normals


def frames_of(take: Take) -> Frames:
    """The take's frames; a still character gives one, at bind, with its blend shapes at rest."""
    if take.frames is not None:
        return take.frames
    points = []
    for mesh in take.character.meshes:
        morphed = morphed_points(mesh, {})
        points.append(mesh.mesh.points if morphed is None else morphed)
    normals = Normals([mesh.mesh for mesh in take.character.meshes]).apply(points)
    return MemoryFrames([Frame(0.0, tuple(points), normals)])


def chosen_mesh(character: Character, name: str | None) -> int:
    """The number of the mesh of that name; without a name the body's, or the only mesh's."""
    if name is None and len(character.meshes) == 1:
        return 0
    return character.meshes.index(character.body(name))


def rate_of(times: npt.NDArray[np.float64]) -> tuple[float, bool]:
    """Mean frames a second of some times, and whether they are evenly spaced; 24 for one frame."""
    if len(times) < 2:
        return 24.0, True
    steps = np.diff(times)
    return float(1.0 / steps.mean()), bool(np.ptp(steps) <= 1e-3 * steps.mean())
