"""Which neighbourhood suits a muscle, where nobody says: found from the muscle and the skin round it at bind.

Text 000 leaves the choice to the modeller. Ours looks behind the belly. Where skin is right behind it too,
the muscle fills its limb, as in a tail or a finger, and thickens it all round: ``"radial"``. Any other moves
the skin over it: ``"fitted"``. ``"half_space"`` is never chosen: it has no border at the sides, and skin far
aside follows nothing there but the path.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ecorche.base.signed_distance import SignedSurface
from ecorche.skin.influence import Template

Floats = npt.NDArray[np.float64]

BEHIND = 1.5
"""Skin within so many half-axes behind the belly's centre is right behind the muscle."""


def suitable_neighbourhoods(
    bellies: Floats, outward: Floats, half_axes: Floats, skin: SignedSurface
) -> list[Template]:
    """The neighbourhood that suits each of M muscles.

    Args:
        bellies: Centres of the bellies at bind [m], shape (M, 3).
        outward: Unit bulge directions there, shape (M, 3).
        half_axes: Half the thickness along them [m], shape (M,).
        skin: The skin at bind.
    """
    filled = skin.depth(bellies - BEHIND * half_axes[:, None] * outward)[0] < 0.0
    return ["radial" if all_round else "fitted" for all_round in filled]
