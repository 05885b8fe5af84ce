"""Activation by curves for the muscles that have one, and by another source for all others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from ecorche.base.names import suggestion
from ecorche.errors import EcorcheError
from ecorche.muscles.activation import ActivationSource, Curves
from ecorche.muscles.line_muscle import LineMuscle
from ecorche.muscles.lofted import LoftedMuscle
from ecorche.muscles.muscle import Muscle
from ecorche.skeleton.motion import Motion

Floats = npt.NDArray[np.float64]
Keys = tuple[npt.ArrayLike, npt.ArrayLike]
"""Times [s] and activations, both (keys,)."""


class KeyedActivation:
    """Curves by name over another source.

    Args:
        muscles: All muscles.
        curves: Keys by the name of a muscle (``"biceps brachii, long head, right"``), of the muscle it is
            a head of (``"biceps brachii"``: all heads, both sides) or of a group (``"elbow flexors"``).
            The nearer name wins. Underscores may stand for spaces, as OpenSim wants them.
        others: How active the muscles without a curve are.
    """

    def __init__(
        self,
        muscles: Sequence[Muscle | LoftedMuscle | LineMuscle],
        curves: Mapping[str, Keys],
        others: ActivationSource,
    ) -> None:
        called = [(muscle.group, muscle.muscle, muscle.name) for muscle in muscles]
        known = dict.fromkeys(word for words in called for word in reversed(words) if word)
        spaced = {name: name if name in known else name.replace("_", " ") for name in curves}
        if len(set(spaced.values())) < len(spaced):
            twice = next(name for name in spaced if list(spaced.values()).count(spaced[name]) > 1)
            raise EcorcheError(
                f"two curves are for {spaced[twice]!r}", where="activation curves", remedy="Keep one of them"
            )
        ranks = [  # from the widest name to the nearest
            {name: [m for m, words in enumerate(called) if words[rank] == spaced[name]] for name in curves}
            for rank in range(3)
        ]
        self.others = others
        chosen: dict[int, str] = {}
        for rank in ranks:
            chosen |= {m: name for name, found in rank.items() for m in found}
        for name in curves:
            if not any(rank[name] for rank in ranks):
                raise EcorcheError(
                    f"there is no muscle or group {name!r}",
                    where="activation curves",
                    remedy=suggestion(name, list(known)),
                )
        self._muscles = np.array(sorted(chosen), np.int64)
        self._curves = Curves([curves[chosen[m]] for m in sorted(chosen)])

    def over(self, motion: Motion) -> Floats:
        """Activation, shape (frames, M)."""
        activation = np.array(self.others.over(motion))
        activation[:, self._muscles] = self._curves.over(motion)
        return activation
