"""Blend shapes for what a take's skin does beyond the skinning that UsdSkel knows.

UsdSkel evaluates linear or dual quaternion skinning after blend shapes, as glTF does with linear
skinning; so the same low-rank shapes in bind space serve, see `ecorche.io.departure`.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from ecorche.base.mesh import Morph
from ecorche.body.character import SkinnedMesh
from ecorche.body.compile import morphed_points
from ecorche.body.frames import Frame, Frames
from ecorche.body.take import Take
from ecorche.errors import WriteError
from ecorche.io.departure import ENOUGH, Departure, departures
from ecorche.io.playback import joint_keys
from ecorche.skeleton.kinematics import difference_from_bind
from ecorche.skeleton.motion import Motion
from ecorche.skin.methods import make_skinning

Boxes = list[npt.NDArray[np.float32]]


class _MeasuredFrames:
    """Frames that remember the box around each one read: corners (2, 3) [m]."""

    def __init__(self, frames: Frames) -> None:
        self._frames, self.times = frames, frames.times
        self.boxes: dict[int, npt.NDArray[np.float32]] = {}

    def __len__(self) -> int:
        return len(self._frames)

    def __getitem__(self, index: int) -> Frame:
        frame = self._frames[index]
        if index not in self.boxes:
            lows = [p.min(axis=0) for p in frame.points if len(p)]
            highs = [p.max(axis=0) for p in frame.points if len(p)]
            self.boxes[index] = np.stack([np.min(lows, axis=0), np.max(highs, axis=0)]).astype(np.float32)
        return frame


def with_departure_shapes(take: Take, most: int, notes: list[str]) -> tuple[Take, Boxes]:
    """The take with blend shapes that make UsdSkel show its frames, and the box around each frame.

    Args:
        take: A take with frames.
        most: At most this many shapes a mesh.
        notes: Told how far each mesh departs, and how well the shapes stand for it.
    """
    assert take.frames is not None
    frames = _MeasuredFrames(take.frames)
    character = take.character
    motion = take.motion
    if motion is None:
        rest = np.tile(character.skeleton.rest_local, (len(frames), 1, 1, 1))
        motion = Motion("cache", character.skeleton, frames.times, rest)
    elif motion.frame_count != len(frames):
        raise WriteError(
            f"the take has {len(frames)} frames of skin and {motion.frame_count} of joints",
            remedy="Bake the take anew",
        )
    own_weights = [_own_weights(mesh, motion) for mesh in character.meshes]
    found = departures(character, joint_keys(motion), own_weights, frames, most)
    meshes: list[SkinnedMesh] = []
    weights = dict(motion.morph_weights)
    for number, (mesh, departure) in enumerate(zip(character.meshes, found, strict=True)):
        if mesh.skinning == "dual_quaternion" and departure.linear_worst > ENOUGH:
            left = _dual_quaternion_error(mesh, number, motion, frames)
            if left <= ENOUGH:
                meshes.append(mesh)
                continue
        # the shapes are made for linear skinning, so that is what the file has to ask for
        plain = mesh if mesh.skinning in (None, "linear") else replace(mesh, skinning=None)
        meshes.append(_with_shapes(plain, departure, weights))
        if departure.linear_worst > ENOUGH:
            notes.append(
                f"mesh {mesh.name!r}: its skin departs from linear skinning by up to"
                f" {1e3 * departure.linear_worst:.3g} mm; {len(departure.targets)} blend shapes leave"
                f" {1e3 * departure.worst:.3g} mm at most, {1e3 * departure.rms:.3g} mm rms"
            )
    shaped = replace(character, meshes=tuple(meshes))
    told = Take(shaped, replace(motion, morph_weights=weights), take.frames, take.samples)
    return told, list(frames.boxes.values())


def _own_weights(mesh: SkinnedMesh, motion: Motion) -> npt.NDArray[np.float64]:
    """Weights of a mesh's own blend shapes over time, shape (frames, morphs)."""
    table = np.zeros((motion.frame_count, len(mesh.mesh.morphs)))
    for column, morph in enumerate(mesh.mesh.morphs):
        table[:, column] = motion.morph_weights.get(f"{mesh.name}/{morph.name}", morph.weight)
    return table


def _dual_quaternion_error(mesh: SkinnedMesh, number: int, motion: Motion, frames: Frames) -> float:
    """Largest distance [m] of a mesh's frames from dual quaternion skinning."""
    if mesh.weights is None or mesh.own_bind is not None:
        return np.inf
    skinning = make_skinning("dual_quaternion", mesh.mesh.points, mesh.weights, motion.skeleton)
    worst = 0.0
    for index in range(len(frames)):
        moved = difference_from_bind(motion.skeleton, motion.local[index])
        now = {name: float(curve[index]) for name, curve in motion.morph_weights.items()}
        apart = skinning.apply(moved, morphed_points(mesh, now)) - frames[index].points[number]
        worst = max(worst, float(np.linalg.norm(apart, axis=1).max(initial=0.0)))
    return worst


def _with_shapes(
    mesh: SkinnedMesh, departure: Departure, weights: dict[str, npt.NDArray[np.float64]]
) -> SkinnedMesh:
    """The mesh with its departure as further blend shapes, whose weights are added to ``weights``."""
    if not len(departure.targets):
        return mesh
    taken = {morph.name for morph in mesh.mesh.morphs}
    shapes = list(mesh.mesh.morphs)
    for number, offsets in enumerate(departure.targets):
        name = f"departure_{number:02d}"
        while name in taken:
            name += "_"
        moved = np.flatnonzero((offsets != 0.0).any(axis=1)).astype(np.int32)
        shapes.append(Morph(name, moved, offsets[moved]))
        weights[f"{mesh.name}/{name}"] = departure.weights[:, number].astype(np.float64)
    return replace(mesh, mesh=replace(mesh.mesh, morphs=tuple(shapes)))
