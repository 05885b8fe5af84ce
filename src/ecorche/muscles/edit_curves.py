"""Activation curves made for a person to edit: few keys, and the edits that animators ask for.

A curve is times [s] and activations, both (keys,), smooth between keys and held beyond them (`Curves`).
The thesis (text 002, 4.6.3) expects curves to be refined by hand where a character handles things: a motion
does not tell that a book is heavy.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ecorche.base.smooth_step import smooth_step
from ecorche.errors import EcorcheError
from ecorche.muscles.activation import Curves
from ecorche.muscles.keyed_activation import Keys

Floats = npt.NDArray[np.float64]
Curve = tuple[Floats, Floats]


def curves_of(
    names: Sequence[str], times: Floats, activation: Floats, tolerance: float = 0.01
) -> dict[str, Curve]:
    """Curves by name of activations (frames, M) at times [s] (frames,), with as few keys as will do."""
    if activation.shape != (len(times), len(names)):
        raise EcorcheError(
            f"activations {activation.shape} are not for {len(times)} frames of {len(names)} muscles",
            remedy="Give (frames, muscles)",
        )
    return {name: thinned((times, a), tolerance) for name, a in zip(names, activation.T, strict=True)}


def thinned(curve: Keys, tolerance: float = 0.01) -> Curve:
    """The curve with as few of its keys as keep it within ``tolerance`` at every key left out.

    Keys are put back where the curve is farthest off, until it is nowhere.
    """
    times, values = Curves([curve]).keys[0]
    if np.abs(values - values[0]).max() <= tolerance:
        return times[:1].copy(), values[:1].copy()
    kept = np.array([0, len(times) - 1])
    while len(kept) < len(times):
        off = np.abs(Curves([(times[kept], values[kept])]).at(times)[:, 0] - values)
        off[kept] = 0.0  # to rounding they are not, and asking for them again would never end
        # the farthest of every stretch between two keys at once
        stretches = np.split(off, kept[1:-1])
        starts = [0, *kept[1:-1].tolist()]
        worst = [start + int(np.argmax(part)) for start, part in zip(starts, stretches, strict=True)]
        more = [key for key in worst if off[key] > tolerance]
        if not more:
            break
        kept = np.union1d(kept, more)
    return times[kept], values[kept]


def scaled(curve: Keys, gain: float) -> Curve:
    """More or less of the same: activations times ``gain``, and never past 1."""
    if not 0.0 <= gain < np.inf:
        raise EcorcheError(f"a gain of {gain:g} is not from 0 on", remedy="Give one, such as 1.5")
    times, values = Curves([curve]).keys[0]
    return times.copy(), np.minimum(gain * values, 1.0)


def shifted(curve: Keys, seconds: float) -> Curve:
    """The same earlier (below 0) or later."""
    times, values = Curves([curve]).keys[0]
    return times + seconds, values.copy()


def tensed(curve: Keys, begin: float, end: float, level: float, ease: float = 0.15) -> Curve:
    """At least ``level`` from ``begin`` to ``end`` [s], as to hold a load; eased in before and out after."""
    if not (begin <= end and 0.0 <= level <= 1.0 and ease > 0.0):
        raise EcorcheError(
            f"a level of {level:g} from {begin:g} to {end:g} s, eased over {ease:g} s, cannot be",
            remedy="Give a time and a later one, a level from 0 to 1 and seconds above 0",
        )
    times, values = Curves([curve]).keys[0]
    steps = np.linspace(0.0, 1.0, 7)
    added = np.concatenate([begin - ease * (1.0 - steps), end + ease * steps])
    merged = np.union1d(times, added)
    own = Curves([(times, values)]).at(merged)[:, 0]
    away = np.maximum(np.maximum(begin - merged, merged - end), 0.0)
    return merged, np.maximum(own, level * smooth_step(1.0 - away / ease))
