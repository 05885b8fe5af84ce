"""How much further it is round the limbs of a take than when it began: numbers for a map on its skin."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from ecorche.body.frames import Frames
from ecorche.body.limb_perimeters import LimbPerimeters, limb_bones
from ecorche.body.take import Take
from ecorche.skeleton.motion import Motion
from ecorche.skeleton.skeleton import world_from_local

Floats = npt.NDArray[np.float64]


class PerimeterGrowth:
    """Perimeters of a take's limbs against its first frame, or against bind where it has but one.

    Attributes:
        since: What they are measured against, in words.
    """

    def __init__(self, take: Take, motion: Motion, frames: Frames) -> None:
        character = take.character
        self._take, self._motion, self._frames = take, motion, frames
        body = character.body()
        self._mesh = next(n for n, mesh in enumerate(character.meshes) if mesh is body)
        self._limbs: LimbPerimeters | None = None
        self._before: Floats | None = None
        self.since = "the first frame" if len(frames) > 1 else "bind"

    @classmethod
    def of(cls, take: Take, frames: Frames) -> PerimeterGrowth | None:
        """Of a take whose joints are known and have arms or legs among them; else None."""
        character = take.character
        motion = take.motion
        if take.frames is None or motion is None or all(m.weights is None for m in character.meshes):
            return None
        return cls(take, motion, frames) if limb_bones(character.skeleton) else None

    def measured(self, number: int) -> Floats:
        """Growth of every bone's perimeters in a frame [mm], (bones, levels); NaN where there is none."""
        if self._limbs is None:
            character = self._take.character
            self._limbs = LimbPerimeters(character, self._mesh)
            first = self._frames[0].points[self._mesh], self._world(0)
            bind = character.meshes[self._mesh].mesh.points, character.skeleton.bind_world
            self._before = self._limbs.measure(*(first if len(self._frames) > 1 else bind))
        assert self._before is not None
        now = self._limbs.measure(self._frames[number].points[self._mesh], self._world(number))
        return np.asarray(1e3 * (now - self._before))

    def at_vertices(self, number: int) -> tuple[Floats, ...]:
        """The same at the vertices of every mesh [mm], each (vertices,); NaN where nothing is measured."""
        values = self.measured(number)
        assert self._limbs is not None
        frame = self._frames[number]
        found = [np.full(len(points), np.nan) for points in frame.points]
        found[self._mesh] = self._limbs.at_vertices(frame.points[self._mesh], self._world(number), values)
        return tuple(found)

    def range(self, numbers: Iterable[int]) -> tuple[float, float]:
        """The least and the greatest growth over some frames [mm]; 0 counts."""
        least, greatest = 0.0, 0.0
        for number in numbers:
            values = self.measured(number)
            least = min(least, float(np.nanmin(values, initial=0.0)))
            greatest = max(greatest, float(np.nanmax(values, initial=0.0)))
        return least, greatest

    def _world(self, number: int) -> Floats:
        return world_from_local(self._take.character.skeleton.parents, self._motion.local[number])
