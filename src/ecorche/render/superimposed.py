"""Two skins in one place, in two colours: what pierces the other shows where they differ.

Text 001, figure 3 (e). Skin that both have in the same place is grey, so that a colour always means a
difference, and which of two is on top means inwards or outwards.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ecorche.base.smooth_step import smooth_step
from ecorche.render.colour_bar import Colours

Floats = npt.NDArray[np.float64]

ALIKE = np.array([196.0, 192.0, 188.0])
PLAIN, WITH_MUSCLES = np.array([52.0, 120.0, 190.0]), np.array([222.0, 104.0, 40.0])
NONE, WHOLE = 0.2, 1.2
"""How far apart both skins are along the normal where a colour begins to show, and where it is full, in mm of
a body `BODY` metres high."""
BODY = 1.75


def two_colours(apart: Floats, height: float) -> tuple[Colours, Colours]:
    """sRGB colours of the plain skin and of that with muscles, each (V, 3).

    Args:
        apart: How far the second lies outside the first [mm], (V,).
        height: Of the body [m].
    """
    share = smooth_step((np.abs(apart) * BODY / max(height, 1e-9) - NONE) / (WHOLE - NONE))[:, None]
    first, second = (
        np.rint((1.0 - share) * ALIKE + share * colour).astype(np.uint8) for colour in (PLAIN, WITH_MUSCLES)
    )
    return first, second
