"""The muscles as an écorché shows them: red bellies that end in pale tendons."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ecorche.base.smooth_step import smooth_step
from ecorche.body.ecorche_surfaces import EcorcheSurfaces
from ecorche.render.colour_bar import Colours, activation_bar
from ecorche.render.muscle_colours import muscle_colours

Floats = npt.NDArray[np.float64]

FLESH, TENDON = np.array([158.0, 48.0, 42.0]), np.array([226.0, 214.0, 196.0])
TENDON_WIDTH, FLESH_WIDTH = 0.3, 0.55
"""Up to which share of its belly's width a muscle is pale tendon, and from which it is all flesh: one with a
broad origin is red up to its bone, one that ends in a cord is pale along it."""
SHADES = 0.16
"""How much lighter or darker neighbouring muscles are, so that the eye tells them apart."""


class TissueColours:
    """Colours of the surfaces of all muscles of a body."""

    def __init__(self, surfaces: EcorcheSurfaces) -> None:
        self._names, self._muscle = surfaces.names, surfaces.muscle
        self._fleshy = smooth_step((surfaces.width - TENDON_WIDTH) / (FLESH_WIDTH - TENDON_WIDTH))[:, None]
        # parts of one muscle share a shade; the golden ratio sets those after one another apart
        order = {name: n for n, name in enumerate(dict.fromkeys(self._names))}
        number = np.array([order[name] for name in self._names])
        self._shade = 1.0 + SHADES * (2.0 * ((number * 0.6180339887498949) % 1.0) - 1.0)

    def tissue(self) -> Colours:
        """sRGB colours (vertices, 3): red flesh, pale tendon."""
        flesh = np.clip(self._shade[self._muscle, None] * FLESH, 0.0, 255.0)
        return self._with_tendons(flesh)

    def activation(self, activation: Floats) -> Colours:
        """sRGB colours (vertices, 3) by activation (muscles,); tendons, which do not contract, stay pale."""
        return self._with_tendons(activation_bar().colours(activation)[self._muscle].astype(np.float64))

    def own(self) -> Colours:
        """sRGB colours (vertices, 3): one for every muscle, those of its sections and ellipses."""
        colours: Colours = muscle_colours(self._names)[self._muscle]
        return colours

    def _with_tendons(self, flesh: Floats) -> Colours:
        mixed: Colours = np.rint(self._fleshy * flesh + (1.0 - self._fleshy) * TENDON).astype(np.uint8)
        return mixed
