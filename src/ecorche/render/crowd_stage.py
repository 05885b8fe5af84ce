"""A crowd in the studio: members of one body type and level of detail are drawn as one mesh."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import TracebackType

import numpy as np
import numpy.typing as npt

from ecorche.body.character import Material
from ecorche.body.crowd_frames import CrowdFrames, Seen
from ecorche.body.vertex_program import VertexProgram
from ecorche.render.crowd_camera import CrowdCamera
from ecorche.render.ground import Ground
from ecorche.render.repeated_mesh import repeated_mesh
from ecorche.render.shadow import SurfaceSamples
from ecorche.render.stage import CLOTH, SKIN
from ecorche.render.studio import Picture, Studio
from ecorche.render.surface import Surface

Points = npt.NDArray[np.float32]

SHADED = 1_500
"""Samples of a member that throw its shadow."""
TEXEL, MOST_TEXELS = 0.03, 1_536
"""Of the ground's shadow [m], and how many at most."""
TONES = (1.0, 0.72, 1.16, 0.52, 0.9, 1.3, 0.62, 0.8)
"""How light the skin of each body type is, where the character's file says nothing of it."""


class CrowdStage:
    """Many members on one ground in front of a camera that stands still.

    Args:
        frames: Of the crowd.
        capacity: How many members of each body type and level there are at most.
        camera: Where the camera stands.
        size: Width and height of the pictures [pixels].
        spread: Half the side of the ground that members need [m].
        fine: Four times as many samples a pixel, for stills.
    """

    def __init__(
        self,
        frames: CrowdFrames,
        capacity: Mapping[tuple[int, int], int],
        camera: CrowdCamera,
        size: tuple[int, int],
        *,
        spread: float,
        fine: bool,
    ) -> None:
        towards = camera.offset / np.linalg.norm(camera.offset)
        self._studio = Studio(size, towards, fine=fine)
        height = float(np.ptp(frames.crowd.programs[0].points[:, 1]))
        texels = min(2 * round(spread / TEXEL), MOST_TEXELS)
        self._ground = Ground(
            self._studio.pv,
            self._studio.plotter,
            subject_size=height,
            height=0.0,
            to_light=self._studio.to_key,
            half=spread,
            texels=texels,
        )
        self._groups = {
            key: _Group(self._studio, frames.program(*key), count, TONES[key[0] % len(TONES)])
            for key, count in sorted(capacity.items())
        }
        away = float(np.linalg.norm(camera.offset))
        clipping = (0.2 * height, away + 6.0 * spread)
        self._studio.aim(camera.target, camera.offset, field=camera.field, clipping=clipping)

    def __enter__(self) -> CrowdStage:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._studio.close()

    def shoot(self, seen: Sequence[Seen]) -> Picture:
        """The picture of one frame, shape (height, width, 3)."""
        there = {(one.body_type, one.level): one for one in seen}
        samples, areas = [], []
        for key, group in self._groups.items():
            group.update(there.get(key))
            if key in there:
                samples.append(group.samples(there[key].points))
                areas.append(group.area_each)
        self._ground.update(np.concatenate(samples), float(np.mean(areas)))
        return self._studio.picture()


class _Group:
    """Members of one body type and level of detail."""

    def __init__(self, studio: Studio, program: VertexProgram, count: int, tone: float) -> None:
        character = program.body.character
        body = program.body.muscles or program.body.lofts
        skin = character.meshes.index(character.body()) if body is None else body.skin
        self._program, self._count = program, count
        self._shown = [n for n, mesh in enumerate(character.meshes) if len(mesh.mesh.face_counts)]
        self._surfaces = [
            Surface(
                studio.pv,
                studio.plotter,
                repeated_mesh(character.meshes[n].mesh, count),
                character,
                _toned(SKIN, tone) if n == skin else CLOTH,
            )
            for n in self._shown
        ]
        self._samples = SurfaceSamples([character.meshes[n].mesh for n in self._shown], SHADED)
        self.area_each = self._samples.area_each

    def update(self, seen: Seen | None) -> None:
        """Show these members; what there is room for beyond them has no extent."""
        for n, surface in zip(self._shown, self._surfaces, strict=True):
            parts = []
            for values, borders in (
                (None if seen is None else seen.points, self._program.borders),
                (None if seen is None else seen.normals, self._program.place_borders),
            ):
                first, last = int(borders[n]), int(borders[n + 1])
                if values is not None and len(values) == self._count and last - first == values.shape[1]:
                    parts.append(values.reshape(-1, 3))
                    continue
                filled = np.zeros((self._count, last - first, 3), np.float32)
                if values is not None:
                    filled[: len(values)] = values[:, first:last]
                parts.append(filled.reshape(-1, 3))
            surface.update(parts[0], parts[1] if len(parts[1]) else None)

    def samples(self, points: Points) -> Points:
        """Samples of the members' surfaces [m], (samples, 3)."""
        borders = self._program.borders
        return self._samples.at(tuple(points[:, borders[n] : borders[n + 1]] for n in self._shown)).reshape(
            -1, 3
        )


def _toned(skin: Material, tone: float) -> Material:
    red, green, blue = (min(1.0, tone * part) for part in skin.base_color[:3])
    return replace(skin, base_color=(red, green, blue, skin.base_color[3]))
