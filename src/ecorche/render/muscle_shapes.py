"""The muscles as an écorché shows them: closed surfaces, red bellies that end in pale tendons."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ecorche.base.smooth_step import smooth_step
from ecorche.muscles.musculature import Musculature
from ecorche.muscles.spindle import curve
from ecorche.muscles.spindle_mesh import Stations, spindle_surfaces
from ecorche.render.colour_bar import Colours, activation_bar

Floats = npt.NDArray[np.float64]

RINGS, SIDES = 28, 20
FLESH, TENDON = np.array([158.0, 48.0, 42.0]), np.array([226.0, 214.0, 196.0])
TENDON_WIDTH, FLESH_WIDTH = 0.3, 0.55
"""Up to which share of its belly's width a muscle is pale tendon, and from which it is all flesh: one with a
broad origin is red up to its bone, one that ends in a cord is pale along it."""
SHADES = 0.16
"""How much lighter or darker neighbouring muscles are, so that the eye tells them apart."""


class MuscleShapes:
    """Surfaces of all muscles of a body, posed frame by frame.

    Args:
        musculature: The muscles.
    """

    def __init__(self, musculature: Musculature) -> None:
        self.musculature = musculature
        self._surfaces = surfaces = spindle_surfaces(musculature.spindles, rings=RINGS, sides=SIDES)
        self.triangles: npt.NDArray[np.int32] = surfaces.triangles
        self.vertex_count = int(surfaces.vertex_starts[-1])
        self._muscle = np.repeat(np.arange(len(musculature.muscles)), np.diff(surfaces.vertex_starts))
        t = np.zeros(self.vertex_count)
        t[surfaces.triangles] = surfaces.uv[..., 1]
        spindles, own = musculature.spindles, self._muscle
        width = curve(spindles.thickness[own], spindles.belly[own]).at(t[:, None])[:, 0]
        width /= spindles.thickness[own, 0, 3]
        self._fleshy = smooth_step((width - TENDON_WIDTH) / (FLESH_WIDTH - TENDON_WIDTH))[:, None]
        # parts of one muscle share a shade; the golden ratio sets those after one another apart
        order = {name: n for n, name in enumerate(dict.fromkeys(m.muscle for m in musculature.muscles))}
        number = np.array([order[m.muscle] for m in musculature.muscles])
        self._shade = 1.0 + SHADES * (2.0 * ((number * 0.6180339887498949) % 1.0) - 1.0)

    def points(self, difference: Floats, bulge: Floats) -> npt.NDArray[np.float32]:
        """Vertices [m] (vertices, 3) for joints ``M − I`` (joints, 4, 4) and the bulge T (muscles,)."""
        frames, states = self.musculature.posed(difference, bulge)
        return self._surfaces.points(states, Stations(*frames.at(self._surfaces.t))).astype(np.float32)

    def tissue_colours(self) -> Colours:
        """sRGB colours (vertices, 3): red flesh, pale tendon."""
        flesh = np.clip(self._shade[self._muscle, None] * FLESH, 0.0, 255.0)
        return self._with_tendons(flesh)

    def activation_colours(self, activation: Floats) -> Colours:
        """sRGB colours (vertices, 3) by activation (muscles,); tendons, which do not contract, stay pale."""
        return self._with_tendons(activation_bar().colours(activation)[self._muscle].astype(np.float64))

    def _with_tendons(self, flesh: Floats) -> Colours:
        mixed: Colours = np.rint(self._fleshy * flesh + (1.0 - self._fleshy) * TENDON).astype(np.uint8)
        return mixed
