"""Muscles of the trunk come in pairs: what shows on one side of an even skin only is no muscle.

Thresholds have to be passed on each side by itself, and on coarse skin it may hang on a hair that only one
side does. Where the skin of both sides is the same, that is no sign of a muscle. Where it differs, as on a
body in a pose, one side alone may show it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ecorche.base.closest_point import TriangleSurface
from ecorche.muscles.extraction.rings import SpaceRings

Floats = npt.NDArray[np.float64]

EVEN = 0.1
"""The other side's skin is the same if it is off by no more than this share of the muscle's half-width."""
LONE = "the other side does not show it, though its skin is the same"


def lone(
    rings: Sequence[SpaceRings],
    sides: Sequence[int],
    midplane: Floats,
    skin: TriangleSurface,
) -> list[int]:
    """Numbers of the muscles whose other side is the same skin, but shows none.

    Args:
        rings: Of each muscle.
        sides: 1 for one on the left of the trunk, −1 on its right, 0 on a limb, which has no twin of its own.
        midplane: A point of it [m] and the unit vector to the left, (2, 3).
        skin: The skin.
    """
    middle, left = midplane
    alone = []
    for number, (own, side) in enumerate(zip(rings, sides, strict=True)):
        if side == 0:
            continue
        half = float(np.sqrt(np.median(np.linalg.eigvalsh(own.form)[:, -1])))
        image = own.top - 2.0 * ((own.top - middle) @ left)[:, None] * left
        if np.median(skin.closest(image).distances) > EVEN * half:
            continue
        gaps = [
            np.median(np.linalg.norm(image[:, None] - other.top, axis=-1).min(axis=1))
            for other, of_side in zip(rings, sides, strict=True)
            if other is not own and of_side != side
        ]
        if min(gaps, default=np.inf) > half:
            alone.append(number)
    return alone
