"""Muscles that give way to the skin: where skin is pressed into a muscle, in a fold or by another limb.

Flesh is soft. Skin that meets skin, as in an armpit or a groin, is pressed in (`contact`, `fold_planes`), and
so is what lies beneath it. A vertex of the skin that is inside a muscle, and was not at bind, presses the
muscle's surface away, see `muscles.pressed_surfaces`. As the surface is not flat something is left, so it is
looked again, where all that was pressed counts: a vertex that is out by now says how far the muscle may come
back.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ecorche.muscles.pressed_surfaces import PressedSurfaces

Floats = npt.NDArray[np.float64]
Points = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]

_PASSES = 8
"""How often it is looked what is still deep, at most."""
_LEFT = 2e-4
"""Depth that is left where it is [m], for a human of usual size."""


class PressedMuscles:
    """Surfaces of muscles and the skin over them.

    Args:
        surfaces: Of the muscles.
        skin, normals: The skin at bind [m] and unit, (vertices, 3).
        pressing: Vertices of the skin that press, (n,).
    """

    def __init__(
        self, surfaces: PressedSurfaces, skin: Points, normals: Points, pressing: npt.ArrayLike
    ) -> None:
        self._surfaces = surfaces
        self._skin = np.asarray(skin, np.float64)
        self._pressing = np.asarray(pressing, np.int64)
        self._inside = np.zeros(0, np.int64)
        self._inside = np.sort(self._found(surfaces.bind, skin, normals, surfaces.used))

    def give_way(self, points: Points, skin: Points, normals: Points) -> Points:
        """Points of the muscles in a frame [m] as the skin leaves them room, (points, 3).

        Args:
            points: As they would be without it.
            skin, normals: The skin in this frame, (vertices, 3).
        """
        surfaces = self._surfaces
        now, moved, asked = points.astype(np.float64), False, surfaces.used
        held = np.zeros(0, np.int64)
        for _ in range(_PASSES):
            inside = self._found(now, skin, normals, asked)
            # skin that was given room keeps it, or what gives way to others would come back over it
            held = np.union1d(held, inside)
            muscle, vertex = np.divmod(held, len(self._skin))
            at, way, deep = surfaces.ways_out(now, self._skin, skin, vertex, muscle)
            deep = np.where(np.isin(held, inside), deep, -deep) - _LEFT * surfaces.scale
            if deep.max(initial=0.0) <= 0.0:
                break
            surfaces.press(now, muscle, at, way, deep)
            moved = True
            # the others are as they were
            pressed = np.isin(np.arange(len(surfaces.used)), muscle)
            asked = np.where(pressed[:, None], surfaces.used, 0)
        return now.astype(np.float32) if moved else points

    def _found(self, points: Floats, skin: Points, normals: Points, asked: Ints) -> Ints:
        """Keys of vertices that are in muscles and were not at bind, see `_key`.

        Muscles that are asked for have points from the first to the last, (muscles, 2).
        """
        vertex, muscle = self._surfaces.candidates(points, skin, self._pressing, asked)
        new = ~np.isin(self._key(vertex, muscle), self._inside)
        return self._key(*self._surfaces.inside(points, skin, normals, vertex[new], muscle[new]))

    def _key(self, vertex: Ints, muscle: Ints) -> Ints:
        """A number of each pair, by muscle first, (n,)."""
        return np.asarray(muscle * len(self._skin) + vertex, np.int64)
