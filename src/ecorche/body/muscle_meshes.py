"""A take with its muscles, bones and fat as meshes beside its skin, for files that shall hold them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Protocol

import numpy as np
import numpy.typing as npt

from ecorche.base.mesh import Mesh, triangle_mesh
from ecorche.base.names import unique
from ecorche.body.bones import BodyBones, compile_bones
from ecorche.body.character import Material, SkinnedMesh
from ecorche.body.drawn_muscles import DrawnMuscles
from ecorche.body.fat_shell import FatShell
from ecorche.body.frames import Frame, PointSet
from ecorche.body.live_frames import LiveFrames
from ecorche.body.played_frames import PlayedFrames
from ecorche.body.spool import Remembering
from ecorche.body.take import Take
from ecorche.errors import EcorcheError
from ecorche.skeleton.kinematics import difference_from_bind
from ecorche.skin.normals import Normals
from ecorche.skin.weights import rigid_weights

MUSCLES, BONES, FAT = "Muscles", "Bones", "Fat"
"""What the meshes stand under in a file that has groups."""

LOOKS = {
    MUSCLES: Material("muscle", (0.55, 0.10, 0.08, 1.0), roughness=0.45),
    BONES: Material("bone", (0.87, 0.82, 0.68, 1.0), roughness=0.6),
    FAT: Material("fat", (0.93, 0.76, 0.35, 1.0), roughness=0.5),
}
"""How each kind is shown."""


class _Layer(Protocol):
    """Meshes of one kind of tissue.

    Attributes:
        meshes: At bind.
    """

    meshes: tuple[SkinnedMesh, ...]

    def points(self, index: int, frame: Frame, /) -> Sequence[PointSet]:
        """Vertices of each [m], (vertices, 3), in a frame of the skin."""
        ...


class MuscleFrames:
    """Frames of a body and, after its meshes, of what lies beneath its skin.

    Args:
        skin: The frames of the body.
        layers: What lies beneath.

    Attributes:
        skin: As given.
    """

    def __init__(self, skin: LiveFrames | PlayedFrames, layers: Sequence[_Layer]) -> None:
        self.skin, self._layers, self.times = skin, tuple(layers), skin.times
        self._normals = Normals([mesh.mesh for layer in layers for mesh in layer.meshes])

    def __len__(self) -> int:
        return len(self.skin)

    def state(self) -> bytes | None:
        """What is remembered of the frames asked for so far, see `LiveFrames.state`."""
        return self.skin.state() if isinstance(self.skin, Remembering) else None

    def go_on_from(self, state: bytes) -> None:
        """Stand where a state was taken."""
        assert isinstance(self.skin, Remembering)
        self.skin.go_on_from(state)

    def __getitem__(self, index: int) -> Frame:
        frame = self.skin[index]
        beneath = [np.ascontiguousarray(p) for layer in self._layers for p in layer.points(index, frame)]
        normals = self._normals.apply(beneath)
        return Frame(frame.time, (*frame.points, *beneath), (*frame.normals, *normals))


def with_muscle_meshes(take: Take) -> tuple[Take, tuple[str, ...]]:
    """The take whose character has its muscles, bones and fat as meshes too, moved frame by frame.

    Also tells what there is none of, a sentence each.
    """
    frames = take.frames
    live = frames.live if isinstance(frames, PlayedFrames) else frames
    layers: list[_Layer] = []
    notes: list[str] = []
    if isinstance(live, LiveFrames):
        assert isinstance(frames, LiveFrames | PlayedFrames)
        taken = {mesh.name for mesh in take.character.meshes}
        material = len(take.character.materials)
        if live.body.muscles is not None or live.body.lofts is not None or live.body.lines is not None:
            layers.append(_Muscles(live, taken, material))
        bones = None if take.rig is None else compile_bones(take.rig, live.body.character.skeleton)
        if bones is None:
            notes.append("the rig has no meshes of bones, so none are written")
        else:
            layers.append(_Bones(live, bones, taken, material + 1))
        if live.fat is None:
            notes.append("no fat moves by itself, so none is written; --dynamics fat moves it")
        else:
            layers.append(_Fat(live, taken, material + 2))
    if not layers or not isinstance(frames, LiveFrames | PlayedFrames):
        raise EcorcheError(
            "there are no muscles, bones or fat beneath its skin",
            where=take.character.name,
            remedy="Give a rig that has them: ecorche rig CHARACTER -o RIG.ecorche",
        )
    added = [mesh for layer in layers for mesh in layer.meshes]
    character = replace(
        take.character,
        meshes=(*take.character.meshes, *added),
        materials=(*take.character.materials, *LOOKS.values()),
    )
    return replace(take, character=character, frames=MuscleFrames(frames, layers)), tuple(notes)


class _Muscles:
    """The muscles as they are drawn, whatever kind they are of."""

    def __init__(self, live: LiveFrames, taken: set[str], material: int) -> None:
        self._drawn = drawn = DrawnMuscles(live)
        surfaces, body = drawn.surfaces, live.body
        names = [
            *(() if body.muscles is None else (m.name for m in body.muscles.musculature.muscles)),
            *(() if body.lofts is None else (m.name for m in body.lofts.lofts.muscles)),
            *(() if body.lines is None else (m.name for m in body.lines.musculature.meshes.muscles)),
        ]
        self._starts = np.searchsorted(surfaces.muscle, np.arange(len(names) + 1))
        owner, bind = surfaces.muscle[surfaces.triangles[:, 0]], drawn.at_bind()
        self.meshes = tuple(
            _mesh(
                triangle_mesh(unique(name, taken), bind[a:b], surfaces.triangles[owner == row] - a),
                MUSCLES,
                material,
            )
            for row, (name, (a, b)) in enumerate(zip(names, pairwise(self._starts.tolist()), strict=True))
        )

    def points(self, index: int, frame: Frame, /) -> list[npt.NDArray[np.float32]]:
        return np.split(self._drawn.points(index, frame), self._starts[1:-1])


class _Bones:
    """The bones, each with its joint."""

    def __init__(self, live: LiveFrames, bones: BodyBones, taken: set[str], material: int) -> None:
        self._live, self._bones = live, bones
        self._borders = np.cumsum([len(bone.points) for bone in bones.bones])[:-1]
        self.meshes = tuple(
            replace(
                _mesh(triangle_mesh(unique(b.name, taken), b.points, b.triangles), BONES, material),
                weights=rigid_weights(len(b.points), b.joint),
            )
            for b in bones.bones
        )

    def points(self, index: int, _frame: Frame, /) -> list[npt.NDArray[np.float32]]:
        moved = difference_from_bind(self._live.motion.skeleton, self._live.motion.local[index])
        return np.split(self._bones.points(moved).astype(np.float32), self._borders)


class _Fat:
    """The outside of the solid that fat is, a mesh a region."""

    def __init__(self, live: LiveFrames, taken: set[str], material: int) -> None:
        assert live.body.fat is not None
        self._live = live
        self._shells = [FatShell(part) for part in live.body.fat.parts]
        self.meshes = tuple(
            _mesh(shell.mesh(unique(shell.part.name, taken)), FAT, material) for shell in self._shells
        )

    def points(self, index: int, _frame: Frame, /) -> list[npt.NDArray[np.float32]]:
        moved = difference_from_bind(self._live.motion.skeleton, self._live.motion.local[index])
        displaced = self._live.fat_displacements(index)
        return [shell.points(moved, now) for shell, now in zip(self._shells, displaced, strict=True)]


def _mesh(mesh: Mesh, scope: str, material: int) -> SkinnedMesh:
    return SkinnedMesh(replace(mesh, material=material), None, scope=scope)
