"""The sections a skin was cut into to find its muscles, drawn on it: bumps in the colours of their muscles.

Text 001, figure 1 (b) and (e). What stands out and was dropped, because it is slight, short, or the muscle
of another region, is pale; the rest of a section is a thin dark line.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ecorche.base.closest_point import TriangleSurface
from ecorche.muscles.extraction.build import Extraction
from ecorche.muscles.lofted import LoftedMuscle
from ecorche.render.colour_bar import Colours
from ecorche.render.muscle_colours import NO_MUSCLE, muscle_colours
from ecorche.render.tubes import Tubes

Floats = npt.NDArray[np.float64]

SMOOTH_SKIN = (58, 52, 56)
"""Where a section has no bump."""
THICKNESS, THIN = 0.0016, 0.0006
"""Radius of the lines where they have a bump and where not, share of the body's size."""


class SectionLines:
    """The sections of an extraction, which ride on the skin in any pose.

    Args:
        found: What was found in the skin.
        shown: The muscles that are shown; bumps of others are pale.
        bind: The skin in which it was found [m], shape (V, 3).
        triangles: Its triangles, (T, 3).
        before: Names of muscles that have colours before them.

    Attributes:
        triangles: Of the lines' surfaces, (triangles, 3).
        vertex_count: How many vertices those have.
        colours: Of their vertices, sRGB, (vertex_count, 3).
    """

    def __init__(
        self,
        found: Extraction,
        shown: Sequence[LoftedMuscle],
        bind: npt.ArrayLike,
        triangles: npt.NDArray[np.integer],
        before: Sequence[str] = (),
    ) -> None:
        skin = np.asarray(bind, np.float64)
        cuts = found.cuts
        self._tubes = Tubes([len(cut.points) for cut in cuts], [cut.closed for cut in cuts])
        self.triangles, self.vertex_count = self._tubes.triangles, self._tubes.vertex_count
        places = np.concatenate([np.zeros((0, 3)), *(cut.points for cut in cuts)])
        nearest = TriangleSurface(skin, triangles).closest(places)
        self._corners = triangles[nearest.triangles]
        self._shares = nearest.barycentric
        of_points = section_colours(found, shown, before)
        standing_out = (of_points != np.array(SMOOTH_SKIN, np.uint8)).any(axis=1)
        size = float(np.ptp(skin, axis=0).max())
        self._radius = size * np.where(standing_out, THICKNESS, THIN)
        self.colours: Colours = self._tubes.colours(of_points)

    def points(self, skin: npt.NDArray[np.floating]) -> npt.NDArray[np.float32]:
        """Vertices [m] (vertex_count, 3) on a posed skin (V, 3)."""
        lines = np.einsum("pk,pki->pi", self._shares, skin.astype(np.float64)[self._corners])
        return self._tubes.points(lines, self._radius)


def section_colours(found: Extraction, shown: Sequence[LoftedMuscle], before: Sequence[str] = ()) -> Colours:
    """sRGB colours of the points of all sections, one section after another, (points, 3)."""
    colours_of = muscle_colours([*before, *(muscle.muscle for muscle in shown)])[len(before) :]
    of_muscle = {muscle.name: colour for muscle, colour in zip(shown, colours_of, strict=True)}
    of_bump: dict[int, Colours] = {}
    for muscle, track in zip(found.muscles, found.tracks, strict=True):
        if muscle.name in of_muscle:
            of_bump.update(dict.fromkeys(track.bumps, of_muscle[muscle.name]))
    starts = np.concatenate([[0], np.cumsum([len(cut.points) for cut in found.cuts])]).astype(np.int64)
    colours = np.tile(np.array(SMOOTH_SKIN, np.uint8), (int(starts[-1]), 1))
    # what was dropped first, so that it hides no muscle
    for number in sorted(range(len(found.bumps)), key=lambda n: n in of_bump):
        bump = found.bumps[number]
        own = starts[bump.cut] + np.arange(bump.first, bump.last + 1) % len(found.cuts[bump.cut].points)
        colours[own] = of_bump.get(number, np.array(NO_MUSCLE, np.uint8))
    return colours
