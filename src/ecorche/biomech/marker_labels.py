"""Markers that carry the wrong name: two exchanged, or one that is not where its name says.

A wrong name pulls the whole pose askew, so a large error shows that something is wrong, not what. Each
suspicion is therefore tried: the two labels are exchanged, or the one marker is left out, the frame is solved
anew, and the suspicion stands only if the sum of squares falls to half or less. Candidates are found in the
solved poses, where an exchange would bring both markers nearer to their places, and among the worst markers.
A skewed pose can be a trap: each trial also starts from the model's own pose at the root that was found.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Literal

import numpy as np
import numpy.typing as npt

from ecorche.base.recordings import MarkerRecording
from ecorche.biomech.inverse_kinematics import MarkerFit, MarkerMotion, marker_fit, settled
from ecorche.biomech.model import MusculoskeletalModel

Floats = npt.NDArray[np.float64]
Mend = tuple[int, ...]
"""Numbers of two markers to exchange, or of one to leave out."""

FALLS_TO = 0.7
"""Share of a frame's root mean square error that an exchange, or leaving out, must leave at most."""
LARGE = 0.03
"""Distance from its place [m] from which a marker may carry the wrong name."""
NEAR = 0.03
"""Distance [m] within which a marker is taken for another one of the model."""
TRIES = 5
"""Exchanges, and single markers, that are tried at once; and wrong labels found in one frame."""
LOOKED_AT = 9
"""Frames, evenly spread, besides as many with the largest errors."""
ALIKE = 1.1
"""Two explanations whose errors differ by less than this factor are as good: then an exchange it is."""


@dataclass(frozen=True)
class WrongLabel:
    """One or two markers that seem to carry a wrong name.

    Attributes:
        kind: Two names exchanged, or one marker out of place.
        markers: Their names.
        first, last: Times [s] of the first and last frame that was looked at and shows it.
        before, after: Root mean square error of the frame that shows it best [m], as named and as mended.
        seems: Another marker of the model that is where this one was measured, if there is one.
    """

    kind: Literal["exchanged", "out of place"]
    markers: tuple[str, ...]
    first: float
    last: float
    before: float
    after: float
    seems: str | None = None

    def __str__(self) -> str:
        when = f"from {self.first:g} to {self.last:g} s"
        falls = f"the error falls from {self.before * 1e3:.0f} to {self.after * 1e3:.0f} mm"
        if self.kind == "exchanged":
            one, other = self.markers
            return f"Markers {one!r} and {other!r} seem exchanged {when}: exchanged back, {falls}."
        like = "" if self.seems is None else f", but where {self.seems!r} belongs"
        where = f"seems not to be where its name says{like}, {when}"
        return f"Marker {self.markers[0]!r} {where}: without it {falls}."


def wrong_labels(
    model: MusculoskeletalModel,
    markers: MarkerRecording,
    motion: MarkerMotion,
    weights: Mapping[str, float] | None = None,
) -> tuple[WrongLabel, ...]:
    """Markers of a solved recording whose names seem wrong, the largest fall of the error first."""
    fit, _ = marker_fit(model, markers, weights)
    measured = markers.positions[:, [markers.names.index(name) for name in fit.names]]
    found: dict[Mend, WrongLabel] = {}
    for frame in _looked_at(motion):
        shown = _in_frame(fit, measured[frame], motion.q[frame], float(motion.times[frame]), list(found))
        for mend, one in shown.items():
            known = found.get(mend, one)
            best = min(known, one, key=lambda label: label.after / label.before)
            found[mend] = replace(best, first=min(known.first, one.first), last=max(known.last, one.last))
    return tuple(sorted(found.values(), key=lambda label: label.after - label.before))


def _looked_at(motion: MarkerMotion) -> list[int]:
    """Frames evenly spread, and those of the largest errors."""
    count = len(motion.times)
    even = np.unique(np.linspace(0, count - 1, min(count, LOOKED_AT)).round().astype(int))
    largest = np.argsort(-motion.worst, kind="stable")[:LOOKED_AT]
    chosen = set(even.tolist()) | set(largest.tolist())
    return sorted(frame for frame in chosen if motion.worst[frame] > LARGE)


def _in_frame(
    fit: MarkerFit, measured: Floats, q: Floats, time: float, known: list[Mend]
) -> dict[Mend, WrongLabel]:
    """What stands the trial in one frame, mended one after the other; first what other frames showed."""
    found: dict[Mend, WrongLabel] = {}
    while len(found) < TRIES:
        before = _rms(fit, q, measured)
        again = [mend for mend in known if mend not in found]
        best = _best(fit, measured, q, again) or _best(fit, measured, q, _suspects(fit, measured, q))
        if best is None:
            break
        mend, q, after = best
        kind: Literal["exchanged", "out of place"] = "exchanged" if len(mend) == 2 else "out of place"
        names = tuple(fit.names[k] for k in mend)
        seems = _another(fit, q, measured, mend[0]) if len(mend) == 1 else None
        found[mend] = WrongLabel(kind, names, time, time, before, after, seems)
        measured = _mended(measured, mend)
    return found


def _suspects(fit: MarkerFit, measured: Floats, q: Floats) -> list[Mend]:
    """Exchanges that would bring markers nearer, exchanges among the worst, and the worst alone."""
    model = fit.model.marker_positions(q)[fit.numbers]
    apart = ((model[:, None] - measured[None]) ** 2).sum(axis=2)  # model i, measured j
    own = np.nan_to_num(np.diag(apart))
    gain = own[:, None] + own[None] - apart - apart.T
    gain = np.triu(np.nan_to_num(gain, nan=-1.0), 1)
    gain[np.maximum(own[:, None], own[None]) < LARGE**2] = -1.0
    pairs = [
        divmod(flat, len(model)) for flat in np.argsort(-gain, axis=None, kind="stable")[:TRIES].tolist()
    ]
    exchanges: list[Mend] = [pair for pair in pairs if gain[pair] > 0.0]
    worst = [k for k in np.argsort(-own, kind="stable")[:TRIES].tolist() if own[k] > LARGE**2]
    exchanges += [(i, j) for i, j in combinations(sorted(worst[:3]), 2) if (i, j) not in exchanges]
    return [*exchanges, *((k,) for k in worst)]


def _best(
    fit: MarkerFit, measured: Floats, q: Floats, mends: list[Mend]
) -> tuple[Mend, Floats, float] | None:
    """Of some explanations the one that leaves the least error, if small enough: with pose and error."""
    best: tuple[Mend, Floats, float] | None = None
    most = FALLS_TO * _rms(fit, q, measured)
    for mend in mends:  # exchanges first
        if np.isnan(measured[list(mend)]).any():
            continue
        tried = _mended(measured, mend)
        pose = settled(fit, q, tried)
        error = _rms(fit, pose, tried)
        if error < most:
            best = mend, pose, error
            most = error / ALIKE
    return best


def _mended(measured: Floats, mend: Mend) -> Floats:
    """Measured markers with two exchanged, or one taken out."""
    mended = measured.copy()
    mended[list(mend)] = measured[list(reversed(mend))] if len(mend) == 2 else np.nan
    return mended


def _rms(fit: MarkerFit, q: Floats, measured: Floats) -> float:
    return float(np.sqrt(np.nanmean((fit.error(q, measured) ** 2).sum(axis=1))))


def _another(fit: MarkerFit, q: Floats, measured: Floats, number: int) -> str | None:
    """The model's marker that lies where one was measured; rather one that was measured too."""
    apart = np.linalg.norm(fit.model.marker_positions(q) - measured[number], axis=1)
    names = [marker.name for marker in fit.model.markers]
    own = fit.names[number]
    for known in (set(fit.names), set(names)):
        near = [k for k, name in enumerate(names) if name in known and name != own and apart[k] < NEAR]
        if near:
            return names[min(near, key=lambda k: float(apart[k]))]
    return None
