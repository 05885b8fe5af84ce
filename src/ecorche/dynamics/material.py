"""How tissues swing, and which of them the nodes of action lines are."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from ecorche.dynamics.oscillation import Oscillation


@dataclass(frozen=True)
class Material:
    """How a tissue swings.

    Attributes:
        frequency: Of its free oscillation if nothing damped it [Hz].
        damping: Damping ratio: 0 swings for ever, 1 no longer swings at all.
        limit: How far it may ever be from its kinematic place [m].
    """

    frequency: float
    damping: float
    limit: float

    @property
    def stiffness(self) -> float:
        """Of the spring of a unit mass [N/m per kg]."""
        return (2.0 * np.pi * self.frequency) ** 2


MATERIALS = {
    "belly": Material(frequency=6.0, damping=0.25, limit=0.02),
    "tense belly": Material(frequency=12.0, damping=0.3, limit=0.01),
    "tendon": Material(frequency=19.0, damping=0.5, limit=0.002),
    "fat": Material(frequency=4.0, damping=0.2, limit=0.03),
}
"""Ours, chosen to be seen: stiffness of a tendon is ten times that of a belly, as in the thesis's paths."""


def oscillation_on_lines(
    starts: npt.NDArray[np.int32],
    nodes: npt.ArrayLike,
    tendon: npt.NDArray[np.bool_],
    *,
    belly: Material = MATERIALS["belly"],
    tendons: Material = MATERIALS["tendon"],
    where: object = "oscillation",
) -> Oscillation:
    """The oscillation of action lines: nodes swing freely at the middle of a line, not at its ends.

    A line's ends are attached. In between the limit rises smoothly with the distance along the line at
    bind, as 4 s (1 − s), so that the line stays a curve.

    Args:
        starts: Line l owns the nodes ``starts[l]`` to ``starts[l + 1] − 1``, (L + 1,).
        nodes: Their places at bind [m], (N, 3).
        tendon: Which nodes lie on tendons, (N,).
        belly, tendons: The two materials.
        where: What the lines belong to, for messages.
    """
    points = np.asarray(nodes, np.float64)
    limit = np.where(tendon, tendons.limit, belly.limit)
    for begin, end in pairwise(starts.tolist()):
        away = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(points[begin:end], axis=0), axis=1))])
        share = away / away[-1] if away[-1] > 0.0 else away
        limit[begin:end] *= 4.0 * share * (1.0 - share)
    frequency = np.where(tendon, tendons.frequency, belly.frequency)
    damping = np.where(tendon, tendons.damping, belly.damping)
    return Oscillation(frequency, damping, limit, where=where)
