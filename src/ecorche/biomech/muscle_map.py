"""Whose tension each muscle of a rig shows: those of a musculoskeletal model, by name and by place.

A model has muscles that a rig has not, deep ones, and divides others differently: three slips of a gluteus
medius are two parts in the rig, one soleus is two halves. A part of the rig is as active as the model's
muscles of that name and side are, in the mean, the stronger ones counting more; where the model tells the
same parts apart, as that part alone. What has no namesake takes the muscles that run where it runs
(`muscles_by_place`), where these are known. A person's word goes before both.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt

from ecorche.base.names import listed, suggestion
from ecorche.biomech.muscle_names import KnownMuscle, meant_by, side_of
from ecorche.biomech.muscles_by_place import Nearness
from ecorche.errors import EcorcheError, ReadError

Floats = npt.NDArray[np.float64]
How = Literal["name", "place", "hand", ""]
"""By what a muscle was matched; empty where it was not."""
_WAYS: tuple[How, ...] = ("name", "place", "hand")


@dataclass(frozen=True, eq=False, repr=False)
class MuscleMap:
    """Muscles of a rig from those of a model.

    Attributes:
        rig: Names of the rig's muscles, in its order.
        model: Names of the model's, in its order.
        shares: How much each of these counts in each of those, (rig, model); rows sum to 1, or to 0 where the
            model has no such muscle.
        how: By what each of the rig's was matched, (rig,).
        distance: Of its belly from the paths it takes, in the mean of the shares [m], (rig,); not a number
            where places were not asked for.
    """

    rig: tuple[str, ...]
    model: tuple[str, ...]
    shares: Floats
    how: tuple[How, ...]
    distance: Floats

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

    def taken(self, row: int) -> dict[str, float]:
        """Names and shares of the model's muscles that one of the rig's takes, the largest share first."""
        order = np.argsort(-self.shares[row], kind="stable")
        return {self.model[k]: float(self.shares[row, k]) for k in order if self.shares[row, k] > 0.0}

    def notes(self, alone_do: str = "follow the joints") -> tuple[str, ...]:
        """What a person should know: who was found otherwise than by name, who has nobody, what these do."""
        alone = [name for name, has in zip(self.rig, self.matched, strict=True) if not has]
        unused = [
            name for name, used in zip(self.model, self.shares.sum(axis=0) > 0.0, strict=True) if not used
        ]
        told = [f"{int(self.matched.sum())} of {len(self.rig)} muscles show {len(self.model)} of the model"]
        found = ", ".join(f"{self.how.count(by)} by {by}" for by in _WAYS if by in self.how)
        told[0] += f": {found}" if found else ""
        for row, (name, how) in enumerate(zip(self.rig, self.how, strict=True)):
            if how == "place":
                taken = ", ".join(f"{one} {share:.0%}" for one, share in self.taken(row).items())
                told.append(f"{name!r} by place: {taken}, {1e3 * self.distance[row]:.0f} mm from it")
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
    places: Nearness | None = None,
    by_hand: Mapping[str, Sequence[str]] | None = None,
) -> MuscleMap:
    """Find the model's muscles for those of a rig.

    Args:
        rig: Name and muscle of each, such as ("soleus, medial, right", "soleus").
        model: Names of the model's muscles.
        strength: How much each of these counts, such as F_max, (model,); None is alike.
        places: How far these are from the rig's, of the same muscles in the same order; None seeks by name
            alone.
        by_hand: Names of model muscles that a muscle of the rig takes, in place of what is found; none at
            all where it shall follow the joints.
    """
    weights = np.ones(len(model)) if strength is None else np.asarray(strength, np.float64)
    meant = [meant_by(name) for name in model]
    sided = any(side for _, side in meant)
    shares = np.zeros((len(rig), len(model)))
    names = tuple(name for name, _ in rig)
    how: list[How] = [""] * len(rig)
    near = np.zeros(shares.shape) if places is None else places.shares(weights)
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
        if chosen:
            how[row] = "name"
        elif near[row].any():
            shares[row], how[row] = near[row], "place"
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
        how[row] = "hand" if chosen else ""
    total = shares.sum(axis=1, keepdims=True)
    shares = shares / np.where(total > 0.0, total, 1.0)
    distance = np.full(len(rig), np.nan)
    if places is not None:
        parts = np.where(shares > 0.0, shares * places.distance, 0.0).sum(axis=1)
        distance = np.where(total[:, 0] > 0.0, parts, np.nan)
    return MuscleMap(names, tuple(model), shares, tuple(how), distance)


def read_muscle_map(path: Path) -> dict[str, list[str]]:
    """What a person says: a CSV file with the columns muscle, model, a line for each muscle that is taken.

    A muscle of the rig with nothing in the second column takes none.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as problem:
        raise ReadError(
            "the muscle map cannot be read", where=path, remedy="Give a CSV file in UTF-8"
        ) from problem
    rows = list(csv.reader(text.splitlines()))
    if not rows or [cell.strip() for cell in rows[0]] != ["muscle", "model"]:
        raise ReadError(
            "the muscle map has no columns muscle, model",
            where=f"{path}, line 1",
            remedy="Begin it with the line muscle,model",
        )
    found: dict[str, list[str]] = {}
    for line, row in enumerate(rows[1:], start=2):
        cells = [cell.strip() for cell in row]
        if not any(cells):
            continue
        if len(cells) != 2 or not cells[0]:
            raise ReadError(
                f"{row} is not muscle, model",
                where=f"{path}, line {line}",
                remedy='Put names that hold commas between quotes: "soleus, medial, right",soleus_r',
            )
        own = found.setdefault(cells[0], [])
        if cells[1] in own:
            raise ReadError(
                f"{cells[0]!r} takes {cells[1]!r} twice", where=f"{path}, line {line}", remedy="Leave one"
            )
        own += [cells[1]] if cells[1] else []
    return found


def _fits(known: KnownMuscle, muscle: str) -> bool:
    return known.muscle == muscle.split(",")[0].strip().lower()


def _is_part(known: KnownMuscle, words: str) -> bool:
    """Whether a rig's muscle is called by one of the parts."""
    said = {word.strip().lower() for word in words.split(",")[1:]}
    return not said.isdisjoint(known.parts)
