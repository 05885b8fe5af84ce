"""What a muscle found in a person's skin is called: after the template's muscle that lies there."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from ecorche.muscles.extraction.rings import SpaceRings
from ecorche.muscles.lofted import LoftedMuscle
from ecorche.muscles.muscle import Muscle
from ecorche.muscles.template import TEMPLATE, place
from ecorche.skeleton.naming import Naming
from ecorche.skeleton.skeleton import Skeleton

Floats = npt.NDArray[np.float64]

FARTHEST = 2.0
"""A template's muscle further from the skin over the found one than this many of its half-axes is another."""


class TemplateNames:
    """The template's muscles on one skeleton; none where the skeleton is no person's."""

    def __init__(self, skeleton: Skeleton, naming: Naming) -> None:
        self.muscles: tuple[Muscle, ...] = place(TEMPLATE, skeleton, naming).muscles

    def named(self, found: LoftedMuscle, rings: SpaceRings) -> LoftedMuscle:
        """The muscle, called after the template's that is nearest to the skin over it, and as strong."""
        if not self.muscles:
            return found
        size = float(np.sqrt(np.trace(rings.form, axis1=1, axis2=2).max()))
        near = [(self._gap(m, found, rings), n) for n, m in enumerate(self.muscles)]
        gap, number = min(near)
        if gap > FARTHEST * size:
            return found
        known = self.muscles[number]
        return replace(found, muscle=known.muscle, group=known.group, max_force=known.max_force)

    @staticmethod
    def _gap(known: Muscle, found: LoftedMuscle, rings: SpaceRings) -> float:
        """How far the skin over the found muscle is from a template's muscle, on average [m]."""
        if not set(known.reach.joints or known.joints) & set(found.reach):
            return np.inf
        steps = np.diff(known.positions, axis=0)
        length = np.concatenate([[0.0], np.cumsum(np.linalg.norm(steps, axis=1))])
        at = np.linspace(0.15, 0.85, 29) * length[-1]
        line = np.stack([np.interp(at, length, known.positions[:, k]) for k in range(3)], axis=1)
        gaps = np.linalg.norm(rings.top[:, None] - line, axis=-1).min(axis=1)
        belly = np.interp(known.belly * length[-1], length, np.arange(len(length)))
        low = min(int(belly), len(steps) - 1)
        middle = known.positions[low] + (belly - low) * steps[low]
        aside = np.linalg.norm(rings.top - middle, axis=1).min()
        return float(gaps.mean() + aside - 2.0 * known.scale * known.thickness.max())
