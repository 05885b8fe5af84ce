"""How near identified spindles come to markers of any motion, with and without their deformation.

A. Murai and others, 2016, table 2: the figure by which an identification is judged, on the motion it was made
from and on one it has never seen. There distances are to a skin that lies over the muscles as at rest. The
same is had here by a thickness for each marker, as measured at rest: signed, since a spindle is simpler than
the muscle and lies outside it in places.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ecorche.base.names import suggestion
from ecorche.biomech.identification import AtRest, Options, Track, assign, require_at_rest, require_tracks
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

    @property
    def told(self) -> str:
        """The gain in words."""
        return f"the mean {'falls' if self.gain >= 0.0 else 'rises'} by {100.0 * abs(self.gain):.1f} %"


def compare(
    identified: IdentifiedSpec,
    tracks: Sequence[Track],
    markers: Markers,
    options: Options | None = None,
    *,
    at_rest: AtRest | None = None,
) -> Compared:
    """Distances of the markers of a motion from identified spindles, or from a skin over them.

    With ``at_rest``, tracks and the same markers of a body that is still and slack, each marker's mean
    distance there is the thickness of what lies between it and the spindle; undeformed then means as at rest.
    Markers that were not seen there do not count.

    Tracks of muscles that were not identified take part in telling what lies beneath a marker, as they did
    then; their markers do not count.
    """
    options = Options() if options is None else options
    require_tracks(tracks, markers)
    if at_rest is not None:
        require_at_rest(at_rest, tracks, markers)
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
    thickness = np.zeros((2, len(found.spindle)))
    if at_rest is not None:
        by_name = {track.name: track for track in at_rest[0]}
        thickness = np.stack(
            [
                _at_rest(identified, names, by_name, at_rest[1], undeformed)[found.spindle, found.marker]
                for undeformed in (True, False)
            ]
        )
        fat = 0.0 * fat
        known = np.asarray(np.isfinite(thickness).all(axis=0))
        found, thickness, fat = _some(found, known), thickness[:, known], fat[known]
        at = found.frame, found.spindle
    distances = []
    for undeformed, between in zip((True, False), thickness, strict=True):
        spindles = spindles_of(identified, names, undeformed=undeformed)
        turn = _turns(identified, names, undeformed)[found.spindle]
        states = spindles.states(lengths, tensions)
        each = SigmoidStates(spindles, lengths[at][:, None], states.values[at][:, None])
        radius = each.radius(found.along[:, None, None], (found.theta - turn)[:, None, None])[:, 0, 0]
        distances.append(found.distance - fat - between - radius)
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


def _turns(identified: IdentifiedSpec, names: Sequence[str], undeformed: bool) -> Floats:
    told = [identified.spindles[name] for name in names]
    return np.array([one.undeformed_turn if undeformed else one.turn for one in told])


def _at_rest(
    identified: IdentifiedSpec,
    names: Sequence[str],
    tracks: Mapping[str, Track],
    markers: Markers,
    undeformed: bool,
) -> Floats:
    """How far each marker lies from each spindle at rest, on average over its frames [m], (M, K).

    Not a number where it was not seen.
    """
    seen = np.ones(markers.positions.shape[:2], np.bool_) if markers.seen is None else markers.seen
    places = np.where(seen[..., None], markers.positions, 0.0)
    frames = np.where(seen.any(axis=0), seen.sum(axis=0), np.nan)
    spindles, turns = (
        spindles_of(identified, names, undeformed=undeformed),
        _turns(identified, names, undeformed),
    )
    found = np.zeros((len(names), markers.positions.shape[1]))
    for number, name in enumerate(names):
        track = tracks[name]
        around = track.path.around(places)
        alone = SigmoidSpindles(spindles.coefficients[[number]], np.zeros(1, np.int64), np.ones(1))
        states = alone.states(track.length[:, None], (track.tension * track.share)[:, None])
        radius = states.radius(around.along[:, None], (around.theta - turns[number])[:, None])[:, 0]
        found[number] = np.where(seen, around.distance - radius, 0.0).sum(axis=0) / frames
    return found


def _some(found: Assigned, which: Bools) -> Assigned:
    """Some of the positions."""
    rows = {
        name: getattr(found, name)[which]
        for name in ("spindle", "frame", "marker", "along", "theta", "distance")
    }
    return replace(found, **rows)


def _known(
    every: Assigned, tracks: Sequence[Track], identified: IdentifiedSpec
) -> tuple[Assigned, list[Track]]:
    """Markers on identified spindles, numbered among those, and these."""
    kept = [track for track in tracks if track.name in identified.spindles]
    place = np.cumsum([track.name in identified.spindles for track in tracks]) - 1
    own = np.isin(every.spindle, [n for n, track in enumerate(tracks) if track.name in identified.spindles])
    some = _some(every, own)
    return replace(some, spindle=place[some.spindle]), kept
