"""Which part of an action line is tendon: where, next to an end, the muscle's section is thin.

Text 002, 4.1.1: a muscle is a belly with tendons at its extremities. A section counts as tendon while, going
inwards from an end, none has reached `THIN` of the section that the muscle's volume has on average. That is
the belly's, however long the tendons are and however many of them there are. The muscle's whole section
decides, so lines side by side agree where belly and tendon meet. A muscle may have none: fleshy to the bone.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ecorche.muscles.anatomy.centroid import Sections
from ecorche.muscles.anatomy.node_places import arc_lengths

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

THIN = 0.3
"""Share of the mean section area up to which an end is tendon."""


def tendon_sections(sections: Sections) -> Bools:
    """Whether each section of a muscle is of a tendon, shape (sections,)."""
    area = sections.area
    step = np.gradient(arc_lengths(sections.centre)) if len(area) > 1 else np.ones(1)
    volume = np.maximum(area * np.maximum(step, 0.0), 1e-30)
    thick = np.flatnonzero(area > THIN * float(volume @ area / volume.sum()))
    tendon = np.zeros(len(area), bool)
    if len(thick):
        tendon[: thick[0]] = tendon[thick[-1] + 1 :] = True
    return tendon


def tendon_segments(places: Floats, sections_at: Floats, tendon: Bools) -> Bools:
    """Whether each segment of a line is tendon, shape (n − 1,).

    Args:
        places: Arc length of the nodes [m], rising, shape (n,).
        sections_at: Arc length at which the muscle's sections lie [m], rising, shape (sections,).
        tendon: Which of them are of a tendon, shape (sections,).
    """
    middle = 0.5 * (places[1:] + places[:-1])
    # what lies before the first section, or past the last, is as that one
    nearest = np.clip(np.searchsorted(0.5 * (sections_at[1:] + sections_at[:-1]), middle), 0, len(tendon) - 1)
    return np.asarray(tendon[nearest])
