"""Whose tension each muscle of a rig shows: those of a musculoskeletal model, by name.

A model has muscles that a rig has not, deep ones, and divides others differently: three slips of a gluteus
medius are two parts in the rig, one soleus is two halves. A part of the rig is as active as the model's
muscles of that name and side are, in the mean, the stronger ones counting more; where the model tells the
same parts apart, as that part alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ecorche.base.names import listed, suggestion
from ecorche.biomech.muscle_names import KnownMuscle, meant_by, side_of
from ecorche.errors import EcorcheError

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class MuscleMap:
    """Muscles of a rig from those of a model.

    Attributes:
        rig: Names of the rig's muscles, in its order.
        model: Names of the model's, in its order.
        shares: How much each of these counts in each of those, (rig, model); rows sum to 1, or to 0 where the
            model has no such muscle.
    """

    rig: tuple[str, ...]
    model: tuple[str, ...]
    shares: Floats

    def __repr__(self) -> str:
        return f"MuscleMap({self.matched.sum()} of {len(self.rig)} muscles)"

    @property
    def matched(self) -> npt.NDArray[np.bool_]:
        """Which of the rig's muscles the model has, (rig,)."""
        return np.asarray(self.shares.sum(axis=1) > 0.0)

    def activation(self, of_model: npt.ArrayLike, otherwise: npt.ArrayLike = 0.0) -> Floats:
        """Activations of the rig's muscles, (..., rig), of those of the model, (..., model).

        ``otherwise`` (..., rig) is that of muscles which the model has not.
        """
        given = np.asarray(of_model, np.float64)
        return np.asarray(np.where(self.matched, given @ self.shares.T, otherwise))

    def notes(self, alone_do: str = "follow the joints") -> tuple[str, ...]:
        """What a person should know: who has nobody, and what muscles of the rig do then."""
        alone = [name for name, has in zip(self.rig, self.matched, strict=True) if not has]
        unused = [
            name for name, used in zip(self.model, self.shares.sum(axis=0) > 0.0, strict=True) if not used
        ]
        told = [f"{int(self.matched.sum())} of {len(self.rig)} muscles show {len(self.model)} of the model"]
        if alone:
            told.append(f"the model has none for {listed(alone, 4)}: they {alone_do}")
        if unused:
            told.append(f"the rig has none for {listed(unused, 4)}: they pull, and do not show")
        return tuple(told)


def map_muscles(
    rig: Sequence[tuple[str, str]],
    model: Sequence[str],
    strength: npt.ArrayLike | None = None,
    *,
    by_hand: Mapping[str, Sequence[str]] | None = None,
) -> MuscleMap:
    """Find the model's muscles for those of a rig.

    Args:
        rig: Name and muscle of each, such as ("soleus, medial, right", "soleus").
        model: Names of the model's muscles.
        strength: How much each of these counts, such as F_max, (model,); None is alike.
        by_hand: Names of model muscles that a muscle of the rig takes, in place of what is found.
    """
    weights = np.ones(len(model)) if strength is None else np.asarray(strength, np.float64)
    meant = [meant_by(name) for name in model]
    sided = any(side for _, side in meant)
    shares = np.zeros((len(rig), len(model)))
    names = tuple(name for name, _ in rig)
    for row, (name, muscle) in enumerate(rig):
        words, side = side_of(name)
        fit = [k for k, (known, own) in enumerate(meant) if _fits(known, muscle or words) and own == side]
        if not sided:  # a model of one arm or leg is a right one, as those of OpenSim are
            fit = [
                k for k, (known, _) in enumerate(meant) if _fits(known, muscle or words) and side != "left"
            ]
        exact = [k for k in fit if meant[k][0].parts and _is_part(meant[k][0], words)]
        chosen = [*exact, *(k for k in fit if not meant[k][0].parts)] or fit
        shares[row, chosen] = weights[chosen]
    for name, own in (by_hand or {}).items():
        if name not in names:
            raise EcorcheError(
                f"the rig has no muscle {name!r}", where="muscle map", remedy=suggestion(name, names)
            )
        unknown = [one for one in own if one not in model]
        if unknown:
            raise EcorcheError(
                f"the model has no muscle {unknown[0]!r}",
                where=f"muscle map, {name}",
                remedy=suggestion(unknown[0], model),
            )
        row = names.index(name)
        shares[row] = 0.0
        chosen = [list(model).index(one) for one in own]
        shares[row, chosen] = weights[chosen]
    total = shares.sum(axis=1, keepdims=True)
    return MuscleMap(names, tuple(model), shares / np.where(total > 0.0, total, 1.0))


def _fits(known: KnownMuscle, muscle: str) -> bool:
    return known.muscle == muscle.split(",")[0].strip().lower()


def _is_part(known: KnownMuscle, words: str) -> bool:
    """Whether a rig's muscle is called by one of the parts."""
    said = {word.strip().lower() for word in words.split(",")[1:]}
    return not said.isdisjoint(known.parts)
