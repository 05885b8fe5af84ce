"""A take with the meshes of its muscles beside its skin, for files that shall hold both."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ecorche.base.mesh import triangle_mesh
from ecorche.base.names import unique
from ecorche.body.character import SkinnedMesh
from ecorche.body.drawn_muscles import DrawnMuscles
from ecorche.body.frames import Frame
from ecorche.body.live_frames import LiveFrames
from ecorche.body.take import Take
from ecorche.errors import EcorcheError
from ecorche.skin.normals import Normals

SCOPE = "Muscles"
"""What the meshes stand under in a file that has groups."""


class MuscleFrames:
    """Frames of a body and, after its meshes, of its muscles.

    Args:
        live: The body's frames, with muscles on action lines.
        normals: The plan for the muscles' normals.
    """

    def __init__(self, live: LiveFrames, normals: Normals) -> None:
        assert live.body.lines is not None
        self.live, self._normals = live, normals
        starts = live.body.lines.musculature.meshes.starts
        self._drawn, self._count, self._borders = DrawnMuscles(live), int(starts[-1]), starts[1:-1]
        self.times = live.times

    def __len__(self) -> int:
        return len(self.live)

    def state(self) -> bytes | None:
        """What is remembered of the frames asked for so far, see `LiveFrames.state`."""
        return self.live.state()

    def go_on_from(self, state: bytes) -> None:
        """Stand where a state was taken."""
        self.live.go_on_from(state)

    def __getitem__(self, index: int) -> Frame:
        frame = self.live[index]
        everything = self._drawn.points(index, frame)[-self._count :]  # those of the template come before
        muscles = tuple(np.ascontiguousarray(part) for part in np.split(everything, self._borders))
        return Frame(frame.time, (*frame.points, *muscles), (*frame.normals, *self._normals.apply(muscles)))


def with_muscle_meshes(take: Take) -> Take:
    """The take whose character has its muscles on action lines as meshes too, moved frame by frame."""
    live = take.frames
    if not isinstance(live, LiveFrames) or live.body.lines is None:
        raise EcorcheError(
            "there are no muscles that are meshes",
            where=take.character.name,
            remedy="Make a rig of them: ecorche rig --anatomy FOLDER CHARACTER",
        )
    meshes = live.body.lines.musculature.meshes
    taken = {mesh.name for mesh in take.character.meshes}
    added = tuple(
        SkinnedMesh(triangle_mesh(unique(m.name, taken), m.points, m.triangles), None, scope=SCOPE)
        for m in meshes.muscles
    )
    character = replace(take.character, meshes=(*take.character.meshes, *added))
    frames = MuscleFrames(live, Normals([mesh.mesh for mesh in added]))
    return replace(take, character=character, frames=frames)
