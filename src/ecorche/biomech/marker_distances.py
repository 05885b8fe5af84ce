"""How near identified spindles come to markers of any motion, with and without their deformation.

A. Murai and others, 2016, table 2: the figure by which an identification is judged, on the motion it was made
from and on one it has never seen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ecorche.base.names import suggestion
from ecorche.biomech.identification import Options, Track, assign, require_tracks
from ecorche.biomech.markers_on_muscles import Assigned, Markers
from ecorche.document.identified_spec import IdentifiedSpec
from ecorche.errors import EcorcheError
from ecorche.muscles.sigmoid_spindle import QUANTITIES, SigmoidSpindles, SigmoidStates
from ecorche.muscles.spindle import Bools, Floats


@dataclass(frozen=True, eq=False)
class Compared:
    """Distances of markers from spindles [m], (N,) each, signed: positive where a marker lies outside.

    Attributes:
        assigned: Which markers on which of the spindles.
        names: Of the spindles that ``assigned`` numbers, M of them.
        undeformed: From the best spindles that do not deform.
        identified: From the spindles as identified.
        held: Frames and spindles whose shape had to be held within its bounds, (F, M).
    """

    assigned: Assigned
    names: tuple[str, ...]
    undeformed: Floats
    identified: Floats
    held: Bools

    @property
    def gain(self) -> float:
        """By which share the mean distance falls when spindles deform."""
        return 1.0 - float(np.abs(self.identified).mean() / np.abs(self.undeformed).mean())


def compare(
    identified: IdentifiedSpec, tracks: Sequence[Track], markers: Markers, options: Options | None = None
) -> Compared:
    """Distances of the markers of a motion from identified spindles.

    Tracks of muscles that were not identified take part in telling what lies beneath a marker, as they did
    then; their markers do not count.
    """
    options = Options() if options is None else options
    require_tracks(tracks, markers)
    found, kept = _known(assign(tracks, markers, options), tracks, identified)
    names = tuple(track.name for track in kept)
    if not len(found.spindle):
        raise EcorcheError(
            "no marker lies on an identified muscle", remedy="Check names of muscles, frame and unit"
        )
    lengths = np.stack([track.length for track in kept], axis=1)
    tensions = np.stack([track.tension * track.share for track in kept], axis=1)
    fat = np.array([identified.spindles[name].fat for name in names])[found.spindle]
    at = found.frame, found.spindle
    distances = []
    for undeformed in (True, False):
        spindles = spindles_of(identified, names, undeformed=undeformed)
        told = [identified.spindles[name] for name in names]
        turn = np.array([one.undeformed_turn if undeformed else one.turn for one in told])[found.spindle]
        states = spindles.states(lengths, tensions)
        each = SigmoidStates(spindles, lengths[at][:, None], states.values[at][:, None])
        radius = each.radius(found.along[:, None, None], (found.theta - turn)[:, None, None])[:, 0, 0]
        distances.append(found.distance - fat - radius)
    return Compared(found, names, distances[0], distances[1], states.held)


def spindles_of(
    identified: IdentifiedSpec, names: Sequence[str] | None = None, *, undeformed: bool = False
) -> SigmoidSpindles:
    """The shapes of identified spindles, each of a muscle of its own: tensions are those a spindle bears.

    Args:
        identified: The document.
        names: Which of its spindles; None for all, in its order.
        undeformed: The best spindles that do not deform instead.
    """
    chosen = list(identified.spindles) if names is None else list(names)
    made = np.zeros((len(chosen), len(QUANTITIES), 3))
    for number, name in enumerate(chosen):
        if name not in identified.spindles:
            raise EcorcheError(
                f"the muscle {name!r} was not identified", remedy=suggestion(name, identified.spindles)
            )
        spindle = identified.spindles[name]
        for row, quantity in enumerate(QUANTITIES):
            if undeformed:
                made[number, row, 2] = spindle.undeformed[quantity]  # type: ignore[index]
            else:
                made[number, row] = spindle.coefficients[quantity]  # type: ignore[index]
    return SigmoidSpindles(made, np.arange(len(chosen)), np.ones(len(chosen)))


def _known(
    every: Assigned, tracks: Sequence[Track], identified: IdentifiedSpec
) -> tuple[Assigned, list[Track]]:
    """Markers on identified spindles, numbered among those, and these."""
    kept = [track for track in tracks if track.name in identified.spindles]
    place = np.cumsum([track.name in identified.spindles for track in tracks]) - 1
    own = np.isin(every.spindle, [n for n, track in enumerate(tracks) if track.name in identified.spindles])
    return (
        Assigned(
            place[every.spindle[own]],
            every.frame[own],
            every.marker[own],
            every.along[own],
            every.theta[own],
            every.distance[own],
            every.alone,
        ),
        kept,
    )
