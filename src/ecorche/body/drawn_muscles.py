"""The muscles of a body in motion as they are drawn, written and measured: beneath its skin."""

from __future__ import annotations

from copy import copy
from functools import cached_property

import numpy as np
import numpy.typing as npt

from ecorche.body.compile import Body
from ecorche.body.ecorche_surfaces import points_at_bind, surfaces_of
from ecorche.body.evaluate import Pose, evaluate
from ecorche.body.frames import Frame
from ecorche.body.live_frames import LiveFrames
from ecorche.muscles.muscles_apart import MusclesApart
from ecorche.muscles.pressed_surfaces import PressedSurfaces
from ecorche.skeleton.kinematics import difference_from_bind
from ecorche.skin.pressed_muscles import PressedMuscles

Points = npt.NDArray[np.float32]


class DrawnMuscles:
    """Surfaces of all muscles, frame by frame.

    Where the skin keeps its distance to them, muscles give way to each other, and to skin that is pressed
    into them.

    Args:
        live: The body's frames.

    Attributes:
        surfaces: The surfaces.
    """

    def __init__(self, live: LiveFrames) -> None:
        self._live, self.surfaces = live, surfaces_of(live.body)

    @property
    def body(self) -> Body:
        """Whose muscles they are."""
        return self._live.body

    def over(self, live: LiveFrames) -> DrawnMuscles:
        """The same muscles in other frames of the same body."""
        other = copy(self)
        other._live = live
        return other

    def at_bind(self) -> Points:
        """Vertices at bind [m], (vertices, 3)."""
        return points_at_bind(self.surfaces, self._live.body)

    def points(self, index: int, frame: Frame | None = None) -> Points:
        """Vertices in a frame [m], (vertices, 3).

        Args:
            index: Of the frame.
            frame: The frame itself, where it is at hand.
        """
        points, coupling = self.among_each_other(index), self._live.body.coupling
        if self._soft is None or coupling is None:
            return points
        skin = (self._live[index] if frame is None else frame).points[coupling.skin]
        return self._soft[1].give_way(points, skin, coupling.up(skin))

    def among_each_other(self, index: int) -> Points:
        """The same as if no skin pressed on them [m], (vertices, 3)."""
        points = self.before_giving_way(index)
        return points if self._soft is None else self._soft[0].apart(points)

    def before_giving_way(self, index: int) -> Points:
        """The same as if nothing pressed on them [m], (vertices, 3)."""
        live, body = self._live, self._live.body
        moved = difference_from_bind(body.character.skeleton, live.motion.local[index])
        active = None if live.activation is None else live.activation[index]
        meshes = None if body.lines is None else live.line_points(index)
        return self.surfaces.points(moved, body.bulge(active), meshes)

    @cached_property
    def _soft(self) -> tuple[MusclesApart, PressedMuscles] | None:
        """How muscles give way to each other and to skin; None where that does not look beneath itself."""
        body, surfaces = self._live.body, self.surfaces
        coupling = body.coupling
        if coupling is None or coupling.over is None or not len(surfaces.triangles):
            return None
        skin = evaluate(body, Pose(body.character.skeleton.bind_local)).points[coupling.skin]
        speakers = coupling.rings.speakers()
        of = surfaces.muscle[surfaces.triangles[:, 0]]
        soft = PressedSurfaces(self.at_bind(), surfaces.triangles, of, coupling.scale)
        pressing = speakers[coupling.by_heights[speakers] > 0.0]
        return (
            MusclesApart(soft, surfaces.muscle, surfaces.width),
            PressedMuscles(soft, skin, coupling.up(skin), pressing),
        )
