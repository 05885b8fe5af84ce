"""How well the skin keeps over what lies beneath: depth in muscles, acceleration, girth and volume.

A vertex counts as deep in a muscle where it is inside it in a frame, told by winding numbers, and was outside
that muscle at bind. The surfaces are those that are drawn and written (`DrawnMuscles`): finer than those the
skin was coupled to, and given way where skin is pressed into them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import igl
import numpy as np
import numpy.typing as npt

from ecorche.body.drawn_muscles import DrawnMuscles
from ecorche.body.ecorche_surfaces import EcorcheSurfaces
from ecorche.body.live_frames import LiveFrames

Floats = npt.NDArray[np.float64]

FEEL = 1.0
"""Acceleration below which nobody sees a difference [m/s²]: a tenth of gravity's."""


@dataclass(frozen=True, eq=False)
class Depths:
    """How deep skin is in muscles [m] over some frames, and where.

    Attributes:
        worst: Of each frame, (frames,).
        deep: How many vertices are more than 2 mm deep, of each frame.
        muscle: The muscle of the worst.
        vertex: The vertex of the worst.
    """

    worst: Floats
    deep: npt.NDArray[np.int64]
    muscle: list[str]
    vertex: list[int]


class Beneath:
    """The muscles of a body, asked how deep its skin is in them."""

    def __init__(self, live: LiveFrames) -> None:
        self.live, self.drawn = live, DrawnMuscles(live)
        self.surfaces, at_bind, body = self.drawn.surfaces, self.drawn.at_bind(), live.body
        assert body.coupling is not None
        self.skin = body.coupling.skin
        bind = body.character.meshes[self.skin].mesh.points
        self.parts = _parts(self.surfaces)
        self.inside_at_bind = [inside > 0.0 for inside in self._depths(bind, at_bind)]

    def depths(self, frames: Sequence[int]) -> Depths:
        """Over frames of the motion."""
        worst, deep, muscle, vertex = [], [], [], []
        for index in frames:
            frame = self.live[index]
            depth = np.zeros(len(frame.points[self.skin]))
            of = np.full(len(depth), -1)
            found = self._depths(frame.points[self.skin], self.drawn.points(index, frame))
            for number, (one, before) in enumerate(zip(found, self.inside_at_bind, strict=True)):
                one[before] = 0.0
                of[one > depth] = number
                depth = np.maximum(depth, one)
            place = int(depth.argmax())
            worst.append(depth[place])
            deep.append(int((depth > 0.002).sum()))
            muscle.append(self.surfaces.names[of[place]] if of[place] >= 0 else "")
            vertex.append(place)
        return Depths(np.array(worst), np.array(deep), muscle, vertex)

    def _depths(self, skin: npt.NDArray[np.float32], points: npt.NDArray[np.float32]) -> list[Floats]:
        """How deep each vertex is in each muscle [m], 0 outside, each (vertices,)."""
        found = []
        for vertices, triangles in self.parts:
            muscle = points[vertices].astype(np.float64)
            depth = np.zeros(len(skin))
            near = np.flatnonzero(((skin > muscle.min(0)) & (skin < muscle.max(0))).all(axis=1))
            if len(near):
                asked = skin[near].astype(np.float64)
                inside = igl.fast_winding_number(muscle, triangles, asked) > 0.5
                if inside.any():
                    away = igl.point_mesh_squared_distance(asked[inside], muscle, triangles)[0]
                    depth[near[inside]] = np.sqrt(away)
            found.append(depth)
        return found


def _parts(surfaces: EcorcheSurfaces) -> list[tuple[slice, npt.NDArray[np.int64]]]:
    """Vertices of each muscle, which lie together, and its triangles numbered within them."""
    parts, of = [], surfaces.muscle[surfaces.triangles[:, 0]]
    for number in range(len(surfaces.names)):
        own = np.flatnonzero(surfaces.muscle == number)
        triangles = surfaces.triangles[of == number].astype(np.int64) - own[0]
        parts.append((slice(int(own[0]), int(own[-1]) + 1), triangles))
    return parts


def accelerations(live: LiveFrames, mesh: int) -> Floats:
    """The greatest acceleration of each vertex over a motion [m/s²], (vertices,)."""
    most = np.zeros(live.body.character.meshes[mesh].mesh.vertex_count)
    held: list[Floats] = []
    step = float(np.median(np.diff(live.times)))
    for index in range(len(live)):
        held = [*held[-2:], live[index].points[mesh].astype(np.float64)]
        if len(held) == 3:
            bend = held[2] - 2.0 * held[1] + held[0]
            most = np.maximum(most, np.linalg.norm(bend, axis=1) / step**2)
    return most
