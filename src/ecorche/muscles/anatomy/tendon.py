"""Which part of an action line is tendon: where, next to an end, the muscle's section is thin.

Text 002, 4.1.1: a muscle is a belly with tendons at its extremities. A section counts as tendon while, going
inwards from an end, none has reached `THIN` of the median of all sections, which are taken at equal steps of
surface and so mostly in the belly. A muscle may have none: fleshy to the bone.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

THIN = 0.3
"""Share of the median section area up to which an end is tendon."""


def tendon_segments(places: Floats, area_at: Floats, area: Floats) -> Bools:
    """Whether each segment of a line is tendon, shape (n − 1,).

    Args:
        places: Arc length of the nodes [m], rising, shape (n,).
        area_at: Arc length at which section areas are known [m], rising, shape (sections,).
        area: Those areas [m²], shape (sections,).
    """
    thick = np.flatnonzero(area > THIN * np.median(area))
    middle = 0.5 * (places[1:] + places[:-1])
    tendon = np.zeros(len(middle), bool)
    # what lies before the first section, or past the last, is as thin as that one
    if len(thick) and thick[0] > 0:
        tendon |= middle < area_at[thick[0]]
    if len(thick) and thick[-1] < len(area) - 1:
        tendon |= middle > area_at[thick[-1]]
    return tendon
