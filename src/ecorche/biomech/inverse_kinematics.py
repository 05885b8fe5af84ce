"""Poses from markers: in each frame the coordinates that bring the model's markers nearest to the measured.

Text 004, section 3.1, takes markers as soft constraints of an iterative solver and says no more. Here:
weighted least squares over the markers that are seen,

    minimise  Σ w_m |x_m(q) − y_m|²   with   low ≤ q ≤ high,

by Levenberg and Marquardt's method with the model's own derivative. A coordinate at its limit that the
markers press further is held there for the step; the others are solved without it. Each frame starts from the
one before. A marker that is not seen does not count in that frame, and a coordinate that no marker moves
stays. The first frame starts from the model's own pose, and where that ends far off, from the body turned
about each of the root's three turns by a quarter, a half and three quarters; once the root is found, from the
model's own pose there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from ecorche.base.names import listed, suggestion
from ecorche.base.recordings import MarkerRecording
from ecorche.biomech.model import MusculoskeletalModel
from ecorche.errors import MotionError

Floats = npt.NDArray[np.float64]

STEPS = 100
"""At most, in one frame."""
SETTLED = 1e-9
"""Marker movement [m], root mean square, below which a frame is solved."""
FAR = 0.1
"""Error of the first frame [m], root mean square, from which other starts are tried."""
LEAST_SEEN = 3
"""Markers that a frame must have."""
LYING = 0.5
"""Share of the height of the model's markers below which a body seems to lie."""
LARGEST_RATIO = 20.0
"""Between the sizes of marker set and model, from which the unit must be wrong."""


@dataclass(frozen=True, eq=False)
class MarkerFit:
    """Which measured markers are held against which of a model's.

    Attributes:
        model: The model.
        names: Of the markers.
        numbers: Among the model's markers, (markers,).
        weights: (markers,), not negative.
    """

    model: MusculoskeletalModel
    names: tuple[str, ...]
    numbers: npt.NDArray[np.int64]
    weights: Floats

    def error(self, q: Floats, measured: Floats) -> Floats:
        """From measured to model [m], (markers, 3); NaN where a marker was not seen."""
        return np.asarray(self.model.marker_positions(q)[self.numbers] - measured)

    def cost(self, q: Floats, measured: Floats) -> float:
        """Weighted sum of squares [m²] over markers that are seen."""
        return float(np.nansum(self.weights[:, None] * self.error(q, measured) ** 2))

    def solve(self, start: Floats, measured: Floats) -> Floats:
        """The best pose for measured markers [m], (markers, 3), from a pose nearby."""
        return _solve(self, start, measured)


@dataclass(frozen=True, eq=False)
class MarkerMotion:
    """Coordinates over time, and how well they fit the markers.

    Attributes:
        times: [s], (frames,).
        names: Of the coordinates.
        q: [rad or m], (frames, coordinates).
        markers: Names of the markers that were used.
        errors: Distance of each [m], (frames, markers); NaN where it was not seen.
        rms: Root mean square of a frame's errors [m], (frames,).
        worst: The largest of a frame [m], (frames,).
        worst_marker: Which it is.
        notes: Markers that are not used or not seen, coordinates that nothing moves, a body that lies.
    """

    times: Floats
    names: tuple[str, ...]
    q: Floats
    markers: tuple[str, ...]
    errors: Floats
    rms: Floats
    worst: Floats
    worst_marker: tuple[str, ...]
    notes: tuple[str, ...] = field(default=())

    def of(self, coordinate: str) -> Floats:
        """One coordinate over time [rad or m], (frames,)."""
        if coordinate not in self.names:
            raise MotionError(
                f"there is no coordinate {coordinate!r}", remedy=suggestion(coordinate, self.names)
            )
        return np.asarray(self.q[:, self.names.index(coordinate)])


def inverse_kinematics(
    model: MusculoskeletalModel,
    markers: MarkerRecording,
    *,
    weights: Mapping[str, float] | None = None,
    start: npt.ArrayLike | None = None,
) -> MarkerMotion:
    """Coordinates of every frame of a recording.

    Args:
        model: With markers named as in the recording.
        markers: Measured, in the model's ground frame.
        weights: By marker; 1 where none is given, 0 leaves a marker out.
        start: A pose near the first frame, (coordinates,); the model's own otherwise.
    """
    fit, notes = marker_fit(model, markers, weights)
    measured = markers.positions[:, [markers.names.index(name) for name in fit.names]]
    _require_seen(fit, measured, markers)
    require_size(fit, measured, markers.source)
    q = np.empty((len(measured), len(model.coordinates)))
    pose = _first_pose(fit, measured[0], None if start is None else np.asarray(start, np.float64))
    for frame, seen in enumerate(measured):
        q[frame] = pose = fit.solve(pose, seen)
    errors = np.array([np.linalg.norm(fit.error(a, b), axis=1) for a, b in zip(q, measured, strict=True)])
    counted = np.where(fit.weights > 0.0, errors, np.nan)
    worst = np.nanargmax(counted, axis=1)
    still = _unmoved(fit, q[len(q) // 2])
    if still:
        notes.append(f"No marker moves {listed(still, 8)}: they stay.")
    notes += _gaps(fit, measured)
    notes += _lying(fit, measured)
    return MarkerMotion(
        markers.times,
        tuple(coordinate.name for coordinate in model.coordinates),
        q,
        fit.names,
        errors,
        np.sqrt(np.nanmean(counted**2, axis=1)),
        np.nanmax(counted, axis=1),
        tuple(fit.names[k] for k in worst.tolist()),
        tuple(notes),
    )


def marker_fit(
    model: MusculoskeletalModel, markers: MarkerRecording, weights: Mapping[str, float] | None = None
) -> tuple[MarkerFit, list[str]]:
    """The markers that model and recording share, and notes on the others."""
    known = [marker.name for marker in model.markers]
    given = dict(weights or {})
    for name, weight in given.items():
        if name not in known:
            raise MotionError(
                f"the model has no marker {name!r} to give a weight",
                where=model.name,
                remedy=suggestion(name, known),
            )
        if not (np.isfinite(weight) and weight >= 0.0):
            raise MotionError(
                f"marker {name!r} has a weight of {weight!r}", where=model.name, remedy="Give 0 or more"
            )
    shared = [name for name in markers.names if name in known and given.get(name, 1.0) > 0.0]
    if len(shared) < LEAST_SEEN:
        example = next((name for name in markers.names if name not in known), "")
        raise MotionError(
            f"only {len(shared)} of {len(markers.names)} markers are on the model {model.name!r}",
            where=markers.source,
            remedy=f"Rename them as the model does. {example!r}: {suggestion(example, known)}",
        )
    notes = []
    strange = [name for name in markers.names if name not in known]
    if strange:
        hints = [f"{name!r} ({suggestion(name, known, at_most=3)})" for name in strange[:4]]
        more = f" and {len(strange) - 4} more" if len(strange) > 4 else ""
        notes.append(f"Not on the model, and not used: {', '.join(hints)}{more}.")
    numbers = np.array([known.index(name) for name in shared], np.int64)
    return MarkerFit(model, tuple(shared), numbers, np.array([given.get(n, 1.0) for n in shared])), notes


def require_size(fit: MarkerFit, measured: Floats, where: str) -> None:
    """Refuse markers whose spread is many times the model's: their unit is wrong."""
    model = fit.model.marker_positions(fit.model.defaults())[fit.numbers]
    mine = float(np.linalg.norm(np.ptp(model, axis=0)))
    theirs = np.nanmedian(np.linalg.norm(np.nanmax(measured, axis=1) - np.nanmin(measured, axis=1), axis=1))
    if mine > 0.0 and not 1.0 / LARGEST_RATIO < theirs / mine < LARGEST_RATIO:
        raise MotionError(
            f"the markers span {theirs:.4g} m, those of the model {mine:.4g} m",
            where=where,
            remedy="Mend the unit in its header: millimetres taken for metres are 1000 times too large",
        )


def _require_seen(fit: MarkerFit, measured: Floats, markers: MarkerRecording) -> None:
    if len(measured) == 0:
        raise MotionError("there are no frames", where=markers.source, remedy="Choose another recording")
    seen = (~np.isnan(measured).any(axis=2)).sum(axis=1)
    if seen.min() < LEAST_SEEN:
        frame = int(np.argmin(seen))
        raise MotionError(
            f"frame {frame} at {markers.times[frame]:g} s has {seen[frame]} of {len(fit.names)} markers",
            where=markers.source,
            remedy="Fill its gaps, or cut the recording there",
        )


def _first_pose(fit: MarkerFit, measured: Floats, start: Floats | None) -> Floats:
    """The first frame, from several sides where the first try ends far off."""
    if start is not None:
        return fit.solve(start, measured)
    seen = ~np.isnan(measured).any(axis=1)
    enough = FAR**2 * float(fit.weights[seen].sum())
    best = settled(fit, fit.model.defaults(), measured)
    least = fit.cost(best, measured)
    names = [coordinate.name for coordinate in fit.model.coordinates]
    turns = [
        names.index(name) for name in fit.model.root if fit.model.coordinates[names.index(name)].unit == "rad"
    ]
    for k in turns:
        for turn in (0.5 * np.pi, np.pi, -0.5 * np.pi):
            coordinates = [fit.model.coordinates[number] for number in turns]
            free = all(c.low < best[number] < c.high for c, number in zip(coordinates, turns, strict=True))
            if least <= enough and free:  # a root at its limit may go on from the other one
                return best
            turned = fit.model.defaults()
            turned[k] += turn
            tried = settled(fit, turned, measured)
            if fit.cost(tried, measured) < least:
                best, least = tried, fit.cost(tried, measured)
    return best


def settled(fit: MarkerFit, start: Floats, measured: Floats) -> Floats:
    """A frame solved from a pose, and once more from the model's own pose at the root found: the better one.

    On a long way limbs can wind themselves up; from the root found the way is short. A joint that ends at its
    limit, as a straight elbow, may hold a whole limb the wrong way round: then it is tried bent half-way too.
    """
    coordinates = fit.model.coordinates
    first = fit.solve(start, measured)
    fresh = fit.model.defaults()
    for k, coordinate in enumerate(coordinates):
        if coordinate.name in fit.model.root:
            fresh[k] = first[k]
    best = min((first, fit.solve(fresh, measured)), key=lambda pose: fit.cost(pose, measured))
    stuck = [
        k
        for k, c in enumerate(coordinates)
        if c.name not in fit.model.root
        and not c.locked
        and not c.low < best[k] < c.high
        and np.isfinite([c.low, c.high]).all()
    ]
    if not stuck:
        return best
    for k in stuck:
        fresh[k] = 0.5 * (coordinates[k].low + coordinates[k].high)
    return min((best, fit.solve(fresh, measured)), key=lambda pose: fit.cost(pose, measured))


def _gaps(fit: MarkerFit, measured: Floats) -> list[str]:
    """Which markers are not seen, always or for how much of the time."""
    missing = np.isnan(measured).any(axis=2).mean(axis=0)
    never = [name for name, share in zip(fit.names, missing, strict=True) if share == 1.0]
    some = {name: share for name, share in zip(fit.names, missing, strict=True) if 0.0 < share < 1.0}
    told = []
    if never:
        told.append(f"Never seen: {listed(never, 8)}. The others say where their bodies are.")
    if some:
        most = sorted(some, key=lambda name: -some[name])
        each = ", ".join(f"{name!r} in {100.0 * some[name]:.0f} %" for name in most[:4])
        more = f" and {len(most) - 4} more" if len(most) > 4 else ""
        told.append(f"Not seen in some frames, where the others count alone: {each}{more}.")
    return told


def _lying(fit: MarkerFit, measured: Floats) -> list[str]:
    """Whether a body that stands by itself lies in the recording; mostly the recording has other axes."""
    gravity = np.abs(np.asarray(fit.model.gravity))
    if not gravity.any() or not fit.model.root:
        return []
    up = int(gravity.argmax())
    model = np.ptp(fit.model.marker_positions(fit.model.defaults())[fit.numbers], axis=0)
    seen = np.nanmedian(np.nanmax(measured, axis=1) - np.nanmin(measured, axis=1), axis=0)
    if model.argmax() != up or seen[up] > LYING * model[up] or seen.max() < 2.0 * seen[up]:
        return []
    return [
        f"The markers reach {seen[up]:.2f} m along gravity, the model's {model[up]:.2f} m: if the body does"
        " not lie, the recording has another axis up."
    ]


def _unmoved(fit: MarkerFit, q: Floats) -> list[str]:
    size = np.abs(fit.model.marker_jacobian(q)[fit.numbers]).max(axis=(0, 1))
    coordinates = fit.model.coordinates
    return [c.name for c, most in zip(coordinates, size, strict=True) if most < 1e-9 and not c.locked]


def _solve(fit: MarkerFit, start: Floats, measured: Floats) -> Floats:
    """Levenberg and Marquardt's method within bounds."""
    model = fit.model
    low = np.array([c.default if c.locked else c.low for c in model.coordinates])
    high = np.array([c.default if c.locked else c.high for c in model.coordinates])
    seen = np.flatnonzero(~np.isnan(measured).any(axis=1))
    roots = np.sqrt(fit.weights[seen])[:, None]
    numbers, wanted = fit.numbers[seen], measured[seen]
    q = np.clip(start, low, high)

    def residual(pose: Floats) -> Floats:
        return np.asarray((roots * (model.marker_positions(pose)[numbers] - wanted)).ravel())

    now = residual(q)
    cost, damping = float(now @ now), 1e-6
    for _ in range(STEPS):
        slope = (roots[:, :, None] * model.marker_jacobian(q)[numbers]).reshape(len(now), -1)
        pull, bend = now @ slope, slope.T @ slope
        held = ((q <= low) & (pull >= 0.0)) | ((q >= high) & (pull <= 0.0)) | (low == high)
        free = np.flatnonzero(~held & (np.diag(bend) > 0.0))
        if len(free) == 0:
            break
        size = np.diag(bend)[free]
        step, better = np.zeros_like(q), False
        while damping < 1e8:
            step[free] = -np.linalg.solve(bend[np.ix_(free, free)] + np.diag(damping * size), pull[free])
            tried = np.clip(q + step, low, high)
            after = residual(tried)
            if float(after @ after) < cost:
                better = True
                break
            damping *= 8.0
        if not better:
            break  # no step makes it less: rounding is reached
        moved = slope @ (tried - q)
        q, now, cost, damping = tried, after, float(after @ after), max(damping / 8.0, 1e-12)
        if moved @ moved < SETTLED**2 * len(now):
            break
    return q
