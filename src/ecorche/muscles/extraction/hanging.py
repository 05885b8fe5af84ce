"""Flesh that hangs from the trunk: what stands out there is no muscle.

Text 001 takes all that stands out for a muscle. A breast stands out more than any pectoral does, and would
then bulge when the arm moves. A muscle lies on the ribs, and its lower border is a slope; what hangs has an
underside. So the skin in a strip below a bump's top tells them apart, by how far it turns towards the hips:
on thirteen women of all weights by 43° and more, on the pectorals of seven muscular men by 36° at most, and
by 41° where their arms are held out in a T.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ecorche.muscles.extraction.trunk_groups import TrunkSkin

Floats = npt.NDArray[np.float64]

UNDERSIDE = np.sin(np.radians(42.0))
"""Skin that turns further to the hips than this is an underside, as the sine of the angle from upright."""
STRIP, BELOW = 0.15, 1.2
"""Half the width of the strip below the top, and how far down it reaches, in half-widths of the trunk."""
AHEAD = 0.5
"""Nothing hangs from the back: bumps lie so far ahead of the trunk's axis, in half-widths."""


def hangs(tops: Floats, most: int, skin: TrunkSkin) -> bool:
    """Whether a row of bumps with these tops [m], (n, 3), the most prominent being ``most``, hangs."""
    plan, width = skin.plan, skin.width
    if float((tops.mean(axis=0) - plan.start) @ plan.front) < AHEAD * width:
        return False
    away = skin.points - tops[most]
    down = -(away @ plan.axis)
    strip = (np.abs(away @ plan.left) < STRIP * width) & (down > 0.0) & (down < BELOW * width)
    strip &= (skin.part == 0) & (away @ plan.front > -width) & (skin.normals @ plan.front > -0.2)
    return bool((-(skin.normals[strip] @ plan.axis) > UNDERSIDE).any())
