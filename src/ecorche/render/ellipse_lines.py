"""The ellipses of muscles found in the skin, as lines, and the root curves that carry them.

Text 001, figure 1 (f): only the rings that were measured, not what is blended between and beyond them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ecorche.muscles.lofted_posing import Lofts
from ecorche.muscles.posed_lofts import section_points
from ecorche.render.colour_bar import Colours
from ecorche.render.muscle_colours import muscle_colours
from ecorche.render.tubes import Tubes

Floats = npt.NDArray[np.float64]

SIDES = 40
ROOT_POINTS = 48
THICKNESS = 0.013
"""Radius of the lines, share of the largest half-axis of all muscles."""


class EllipseLines:
    """The ellipses and root curves of muscles, posed frame by frame.

    Args:
        lofts: The muscles.
        before: Names of muscles that have colours before them.

    Attributes:
        triangles: Of the lines' surfaces, (triangles, 3).
        vertex_count: How many vertices those have.
        colours: Of their vertices, sRGB, (vertex_count, 3).
    """

    def __init__(self, lofts: Lofts, before: Sequence[str] = ()) -> None:
        self._lofts = lofts
        rings = [len(m.rings.u) for m in lofts.muscles]
        counts = [count for own in rings for count in (*([SIDES] * own), ROOT_POINTS)]
        closed = [round_again for own in rings for round_again in (*([True] * own), False)]
        self._tubes = Tubes(counts, closed)
        self.triangles, self.vertex_count = self._tubes.triangles, self._tubes.vertex_count
        largest = max((float(m.rings.half_axes.max()) for m in lofts.muscles), default=1.0)
        self._radius = THICKNESS * largest
        names = [*before, *(m.muscle for m in lofts.muscles)]
        own_colours = muscle_colours(names)[len(before) :]
        of_points = np.repeat(own_colours, [own * SIDES + ROOT_POINTS for own in rings], axis=0)
        self.colours: Colours = self._tubes.colours(of_points)

    def points(self, difference: Floats, bulge: Floats) -> npt.NDArray[np.float32]:
        """Vertices [m] (vertex_count, 3) for joints ``M − I`` (joints, 4, 4) and the bulge T (muscles,)."""
        posed = self._lofts.posed(difference, bulge)
        angle = 2.0 * np.pi * np.arange(SIDES) / SIDES
        lines = [np.zeros((0, 3))]
        for number, muscle in enumerate(self._lofts.muscles):
            ellipses = section_points(*posed.sections(number, muscle.rings.u), angle)
            lines.append(ellipses.reshape(-1, 3))
            lines.append(posed.axes(number, np.linspace(0.0, 1.0, ROOT_POINTS)).points)
        return self._tubes.points(np.concatenate(lines), self._radius)
