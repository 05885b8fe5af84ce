"""How much larger each segment of a subject is than a model's: by the distances of pairs of markers.

A still recording gives one place for each marker. A segment's factor is that of its pairs of markers, the
measured distance against the model's, long pairs counting more:

    factor = Σ d_measured d_model / Σ d_model²

Pairs are the caller's; else all pairs of measured markers on the segment that are `LEAST_APART` or more; else
pairs of one marker on it and one on a segment next to it, those beyond it first. A distance across a joint
depends on the pose: the model's is taken in the pose that fits the still recording best. A segment without
any takes the factor of the segment it hangs on, or of the nearest beyond it, and says so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from ecorche.base.names import listed, suggestion
from ecorche.base.recordings import MarkerRecording
from ecorche.biomech.inverse_kinematics import inverse_kinematics, marker_fit, require_size
from ecorche.biomech.model import LEAST_MASS, MusculoskeletalModel, index_of
from ecorche.errors import EcorcheError, MotionError

Floats = npt.NDArray[np.float64]
Pair = tuple[str, str]

LEAST_APART = 0.05
"""Markers nearer together [m] say more about how they were stuck on than about the segment."""
STILL = 0.01
"""How far a marker may stray [m], root mean square, in a recording that is still."""
PLAUSIBLE = (0.5, 2.0)
"""Factors outside are a wrong unit or a wrong marker."""


@dataclass(frozen=True)
class SegmentScale:
    """How much larger a segment is.

    Attributes:
        body: By name.
        factor: 1 leaves it as it is.
        pairs: Of markers that were measured; none if it was taken over.
        taken_from: The segment whose factor it took over, if it did.
    """

    body: str
    factor: float
    pairs: tuple[Pair, ...] = ()
    taken_from: str | None = None


@dataclass(frozen=True, eq=False)
class ScaledSubject:
    """What was written.

    Attributes:
        scales: Of every body.
        mass_before, mass: Of the whole body [kg].
        markers: Names of the markers that were measured.
        errors: Of each [m], scaled and before it was placed, (markers,).
        rms_before: Root mean square of the errors of the model as it was [m].
        placed: Names of those that were put where they were seen.
        notes: What was strange about the recording.
    """

    scales: tuple[SegmentScale, ...]
    mass_before: float
    mass: float
    markers: tuple[str, ...]
    errors: Floats
    rms_before: float
    placed: tuple[str, ...]
    notes: tuple[str, ...] = field(default=())

    @property
    def rms(self) -> float:
        """Root mean square of the errors [m]."""
        return float(np.sqrt((self.errors**2).mean()))


def still_markers(markers: MarkerRecording) -> tuple[MarkerRecording, list[str]]:
    """One frame: each marker's mean place [m] over the frames that show it, and notes on those that moved."""
    seen = ~np.isnan(markers.positions).any(axis=2)
    shown = np.asarray(seen.any(axis=0), np.bool_)
    kept = markers.positions[:, shown]
    mean = np.nanmean(kept, axis=0)
    stray = np.sqrt(np.nanmean(((kept - mean) ** 2).sum(axis=2), axis=0))
    names = tuple(name for name, ever in zip(markers.names, shown.tolist(), strict=True) if ever)
    moved = [name for name, far in zip(names, stray, strict=True) if far > STILL]
    notes = []
    if len(moved) > len(names) // 2:
        raise MotionError(
            f"{len(moved)} of {len(names)} markers move by more than {STILL * 1e3:.0f} mm",
            where=markers.source,
            remedy="Choose a recording of somebody who stands still, or a range of times in it",
        )
    if moved:
        notes.append(f"Moved by more than {STILL * 1e3:.0f} mm while standing: {listed(moved, 6)}.")
    if not shown.all():
        never = [name for name, ever in zip(markers.names, shown.tolist(), strict=True) if not ever]
        notes.append(f"Never seen: {listed(never, 6)}.")
    return MarkerRecording(names, markers.times[:1], mean[None], markers.notes, markers.source), notes


def standing(
    model: MusculoskeletalModel, static: MarkerRecording
) -> tuple[MarkerRecording, tuple[str, ...], list[str]]:
    """One frame of somebody who stood still; which of its markers the model has; notes."""
    still, notes = still_markers(static)
    fit, _ = marker_fit(model, still)
    require_size(fit, still.positions[:, [still.names.index(name) for name in fit.names]], still.source)
    return still, fit.names, notes


def segment_scales(
    model: MusculoskeletalModel,
    still: MarkerRecording,
    pairs: Mapping[str, Sequence[Pair]] | None = None,
) -> tuple[SegmentScale, ...]:
    """A factor for every body of a model, in its order, from one frame of markers (`still_markers`)."""
    chosen = _checked(model, still, pairs or {})
    names = [marker.name for marker in model.markers]
    pose = inverse_kinematics(model, still).q[0]
    places = dict(zip(names, model.marker_positions(pose), strict=True))
    measured = {name: still.of(name)[0] for name in still.names if name in names}
    found: dict[str, SegmentScale] = {}
    for body in model.bodies:
        own = chosen.get(body.name) or _pairs_of(model, body.name, measured, places)
        if own:
            theirs, mine = (
                np.array([np.linalg.norm(at[a] - at[b]) for a, b in own]) for at in (measured, places)
            )
            factor = float(theirs @ mine / (mine @ mine))
            if not PLAUSIBLE[0] <= factor <= PLAUSIBLE[1]:
                a, b = own[int(np.argmax(np.abs(np.log(theirs / mine))))]
                raise MotionError(
                    f"{body.name!r} would be {factor:.2f} times as large, by markers such as {a!r} and {b!r}",
                    where=still.source,
                    remedy="Check their names and the unit, or name other pairs",
                )
            found[body.name] = SegmentScale(body.name, factor, tuple(own))
    if not found:
        raise MotionError(
            "no segment has two markers to be measured by",
            where=still.source,
            remedy="Name pairs of markers for its segments",
        )
    return tuple(found.get(body.name) or _taken(model, body.name, found) for body in model.bodies)


def require_scalable(model: MusculoskeletalModel, mass: float | None, keep: Sequence[str]) -> None:
    """Refuse markers to keep that are not there, and a mass that cannot be shared out."""
    known = [marker.name for marker in model.markers]
    for name in keep:
        if name not in known:
            raise MotionError(
                f"there is no marker {name!r} to keep", where=model.name, remedy=suggestion(name, known)
            )
    if mass is not None and not mass > 0.0:
        raise EcorcheError(f"a mass of {mass:g} kg", remedy="Give what the subject weighs")
    if mass is not None and not sum(body.mass for body in model.bodies) > LEAST_MASS:
        raise EcorcheError(
            "no body of the model has a mass to scale", where=model.name, remedy="Leave the mass out"
        )


def _checked(
    model: MusculoskeletalModel, still: MarkerRecording, pairs: Mapping[str, Sequence[Pair]]
) -> dict[str, list[Pair]]:
    """The caller's pairs, each of two markers that model and recording have."""
    bodies, known = [body.name for body in model.bodies], [marker.name for marker in model.markers]
    for body, own in pairs.items():
        index_of(body, bodies, "body", model.name)
        for one, other in own:
            for name in (one, other):
                for where, names in ((model.name, known), (still.source, list(still.names))):
                    if name not in names:
                        raise MotionError(
                            f"there is no marker {name!r} to measure {body!r} by",
                            where=where,
                            remedy=suggestion(name, names),
                        )
            if one == other:
                raise MotionError(
                    f"{body!r} cannot be measured from {one!r} to itself", remedy="Name two markers"
                )
    return {body: list(own) for body, own in pairs.items()}


def _pairs_of(
    model: MusculoskeletalModel, body: str, measured: Mapping[str, Floats], places: Mapping[str, Floats]
) -> list[Pair]:
    """Pairs that measure a segment: on it, or from it to those beyond it, or to the one it hangs on."""
    parents = {one.name: one.parent for one in model.bodies}
    on: dict[str, list[str]] = {}
    for marker in model.markers:
        if marker.name in measured:
            on.setdefault(marker.body, []).append(marker.name)
    mine = on.get(body, [])
    beyond = [name for child, parent in parents.items() if parent == body for name in on.get(child, [])]
    before = on.get(parents[body] or "", [])
    inner = [(a, b) for k, a in enumerate(mine) for b in mine[k + 1 :]]
    for tried in (inner, [(a, b) for a in mine for b in beyond], [(a, b) for a in mine for b in before]):
        far = [(a, b) for a, b in tried if np.linalg.norm(places[a] - places[b]) >= LEAST_APART]
        if far:
            return far
    return []


def _taken(model: MusculoskeletalModel, body: str, found: Mapping[str, SegmentScale]) -> SegmentScale:
    """The factor of the nearest segment on the way to the root; else of the nearest beyond."""
    parents = {one.name: one.parent for one in model.bodies}
    above = parents[body]
    while above is not None:
        if above in found:
            return SegmentScale(body, found[above].factor, (), above)
        above = parents[above]
    level = [body]
    while level:
        level = [one.name for one in model.bodies if one.parent in level]
        for one in level:
            if one in found:
                return SegmentScale(body, found[one].factor, (), one)
    first = next(iter(found.values()))  # on another tree
    return SegmentScale(body, first.factor, (), first.body)
