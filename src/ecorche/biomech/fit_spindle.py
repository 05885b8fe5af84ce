"""One sigmoid spindle fitted to the markers over it: the four-term cost and its exact derivatives.

A. Murai and others, 2016, section 3.2, equations (4) to (10): markers' distances, constancy of the volume,
tendon radius at both ends and the seam at the belly. The published optimiser, interior reflective Newton, is
SciPy's ``least_squares(method="trf")``.

Changed here:

* As printed the terms are in m² but for the volume's, in m⁶: in metres its weight does nothing. It is
  ``((V − V̄)/V̄)² r_ref²``, with r_ref the mean radius that the markers show, so weights mean the same for a
  mouse and a horse.
* ε within [0, 1) and r ≥ 0 are bounds on linear functions of length and tension, which a box on their
  coefficients cannot say. The unknowns are therefore the values at three corners of a triangle that encloses
  every length and tension seen (and `MARGIN` more): a value within the triangle is their weighted mean with
  weights of 0 or more, so bounds on the corners hold all over it. α, β and γ follow from the corners. As half
  of the triangle is never seen, this would allow ε, which flat muscles keep near 1, next to no slope: its
  corners are free, it is drawn back into [0, 1) by residuals of its own, and what little is left outside is
  brought in at the end by less slope.
* The text takes the polar axis from a bone; a section that lies aslant to it could not be fitted. Four axes
  are tried with the undeformed spindle, and from the best of them its turn is one more unknown, constant over
  the motion.
* A marker further than `Cost.outlier` from the surface counts by its distance and no longer by its square: a
  few that lie on something else would lead the whole muscle astray. The text counts all by their squares, as
  an infinite outlier distance does too.
* A marker that always lies a little further out or in than the spindle says that fat or the muscle's own
  shape is so there, not how the muscle deforms. Such lasting distances count only `Cost.lasting` times as
  much as those that come and go; as printed they count as much, and drown them.
* A length or a tension that hardly varies says nothing about its α or β; these are 0 then, and it is told.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.optimize import least_squares
from scipy.sparse import coo_array

from ecorche.muscles.sigmoid_spindle import half_square_gradient, halves_of, radius_gradient
from ecorche.muscles.spindle import Floats

Ints = npt.NDArray[np.int64]

TURNS: Floats = np.radians([0.0, 45.0, 90.0, 135.0])
"""Polar axes that are tried, from the one given."""
TRIED_FRAMES = 40
"""Frames, evenly over the motion, on which they are tried."""
MARGIN = 0.1
"""How far past the range seen the bounds still hold, as a share of it."""
LEAST_LENGTH, LEAST_TENSION = 0.01, 1e-6
"""A length that varies by a smaller share of itself, or a tension [N], says nothing about α or β."""
MOST_STEPS = 100
LOWEST: Floats = np.array([-2.0, 0.5, 0.0, 0.0])
HIGHEST: Floats = np.array([30.0, 40.0, 3.0, 2.0])
"""Bounds of k₁ … k₄; of k₃ and k₄ as multiples of the largest radius that the markers show."""
ECCENTRICITIES = (0.0, 0.98)
"""Bounds of ε in every frame."""
DRAWN_BACK = 10.0
"""How hard ε is drawn back between its bounds: residual per unit."""


@dataclass(frozen=True)
class Cost:
    """How the four terms are weighed, as in the text, and what they ask for.

    Attributes:
        volume: Weight a_v of the volume's constancy. tendon: a_t. seam: a_s.
        tendon_radius: w, the radius asked for at both ends [m].
        outlier: Distance from which a marker counts less than by its square [m].
        lasting: How much a marker's mean distance over the motion counts against what changes, 1 as much.
    """

    volume: float = 1.0
    tendon: float = 100.0
    seam: float = 100.0
    tendon_radius: float = 0.01
    outlier: float = 0.002
    lasting: float = 0.3


@dataclass(frozen=True, eq=False)
class OverSpindle:
    """What is known of one spindle: its length and tension over F frames, and N markers over it.

    Attributes:
        name: Of the spindle.
        lengths: Of its path [m], (F,).
        tensions: That it bears [N], (F,).
        frame: Of each position of a marker, (N,).
        marker: Which marker it is, (N,).
        along: Share of the path's length, (N,).
        theta: Angle from the polar axis [rad], (N,).
        distance: From the path to the muscle's surface [m], (N,): to the marker, less the fat.
    """

    name: str
    lengths: Floats
    tensions: Floats
    frame: Ints
    marker: Ints
    along: Floats
    theta: Floats
    distance: Floats


@dataclass(frozen=True, eq=False)
class SpindleFit:
    """What was found for one spindle.

    Attributes:
        name: Of the spindle.
        coefficients: α, β and γ of the nine quantities, (9, 3).
        undeformed: The nine quantities of the best spindle that does not deform, (9,).
        turn: The polar axis that fitted best, from the one given [rad].
        undeformed_turn: The same of the undeformed one [rad].
        before: Mean distance of markers from the undeformed spindle [m], that of each marker over the motion
            taken out: what changes. after: From the deforming one.
        bare_before: The same with nothing taken out [m]. bare_after: Likewise.
        volume: Standard deviation of the volume, as a share of its mean.
        seam: Largest step of the radius at the belly over the frames [m].
        steps: That the optimiser took.
        notes: What a person should know.
    """

    name: str
    coefficients: Floats
    undeformed: Floats
    turn: float
    undeformed_turn: float
    before: float
    after: float
    bare_before: float
    bare_after: float
    volume: float
    seam: float
    steps: int
    notes: tuple[str, ...]


class Corners(NamedTuple):
    """The triangle of lengths and tensions whose corners carry the unknowns.

    Attributes:
        weights: Of the corners in each frame, none negative, (F, C): 3 corners, fewer where one says nothing.
        terms: α, β and γ of unknowns at the corners, (C, 3).
    """

    weights: Floats
    terms: Floats


def corners(lengths: Floats, tensions: Floats) -> tuple[Corners, tuple[str, ...]]:
    """The triangle about lengths [m] and tensions [N], (F,), and what could not be told apart."""
    ones = np.ones(len(lengths))
    weights, terms, notes = [ones], [np.array([0.0, 0.0, 1.0])], []
    mean = float(lengths.mean())
    for column, what, values, least in (
        (0, "length", lengths, LEAST_LENGTH * mean),
        (1, "tension", tensions, LEAST_TENSION),
    ):
        low, high = float(values.min()), float(values.max())
        if high - low < least:
            notes.append(f"its {what} hardly varies: how it changes the shape is not known")
            continue
        edge = MARGIN * (high - low)
        low, reach = low - edge, 2.0 * (high - low + 2.0 * edge)
        weight = (values - low) / reach
        line = np.zeros(3)
        line[column], line[2] = 1.0 / reach, -low / reach
        weights[0], terms[0] = weights[0] - weight, terms[0] - line
        weights.append(weight)
        terms.append(line)
    return Corners(np.stack(weights, axis=1), np.stack(terms)), tuple(notes)


class Residuals:
    """The four terms as residuals of unknowns, and their Jacobian; all are divided by r_ref.

    Unknowns are the nine quantities at C corners, (9, C), row by row, and last the turn of the polar axis.

    Args:
        over: The markers. weights: Of the corners in each frame, (F, C). cost: How the terms are weighed.
        turn: About where the polar axis is looked for [rad]. frames: Those that count; None for all.
    """

    def __init__(
        self, over: OverSpindle, weights: Floats, cost: Cost, turn: float, frames: Ints | None = None
    ):
        keep = np.ones(len(over.frame), np.bool_) if frames is None else np.isin(over.frame, frames)
        self.frames = np.arange(len(over.lengths)) if frames is None else frames
        self.weights = weights[self.frames]
        self.lengths = over.lengths[self.frames]
        self.row = np.searchsorted(self.frames, over.frame[keep])
        self.half, self.x = halves_of(over.along[keep])
        self.theta, self.distance, self.turn = over.theta[keep], over.distance[keep], turn
        self.reference = max(float(over.distance.mean()), 1e-4)
        self.largest = max(float(over.distance.max()), 1e-4)
        self.cost = cost
        self._places = np.arange(len(self.row))
        order, self._group, counts = np.unique(over.marker[keep], return_inverse=True, return_counts=True)
        self._mean = coo_array(
            (1.0 / counts[self._group], (self._group, self._places)), (len(order), len(self.row))
        ).tocsr()
        self._kept: tuple[bytes, Floats, Floats] | None = None

    def loss(self, squares: Floats) -> Floats:
        """What squared residuals (rows,) count, with first and second derivatives, (3, rows)."""
        found = np.stack([squares, np.ones_like(squares), np.zeros_like(squares)])
        edge = (self.cost.outlier / self.reference) ** 2
        if np.isfinite(edge):
            near = squares[: len(self.row)]
            root = np.sqrt(1.0 + near / edge)
            found[:, : len(near)] = 2.0 * edge * (root - 1.0), 1.0 / root, -0.5 / (edge * root**3)
        return found

    def spread(self, quantities: Floats, turn: float) -> Floats:
        """Unknowns of nine quantities (9,) that are the same at all corners, and a turn."""
        return np.append(np.repeat(quantities, self.weights.shape[1]), turn)

    @property
    def scale(self) -> Floats:
        """Of the unknowns."""
        return self.spread(np.array([*np.tile([1.0, 2.0, self.reference, self.reference], 2), 0.2]), 0.5)

    @property
    def bounds(self) -> tuple[Floats, Floats]:
        """Of the unknowns."""
        unit = np.array([1.0, 1.0, self.largest, self.largest])
        low, high = (np.append(np.tile(edge * unit, 2), 0.0) for edge in (LOWEST, HIGHEST))
        low[8], high[8] = ECCENTRICITIES if self.weights.shape[1] == 1 else (-2.0, 3.0)
        return self.spread(low, self.turn - np.pi / 2), self.spread(high, self.turn + np.pi / 2)

    def start(self) -> Floats:
        """A plain spindle to begin with."""
        thin = min(self.cost.tendon_radius, 0.5 * self.reference)
        return self.spread(np.array([*np.tile([3.0, 8.0, self.reference, thin], 2), 0.5]), self.turn)

    def values(self, unknowns: Floats) -> Floats:
        """The residuals, (rows,)."""
        return self._both(unknowns)[0]

    def jacobian(self, unknowns: Floats) -> Floats:
        """Their derivatives, (rows, unknowns)."""
        return self._both(unknowns)[1]

    def quantities(self, unknowns: Floats) -> Floats:
        """The nine quantities in each frame, (F, 9); ε as it is, out of bounds too."""
        return np.asarray(self.weights @ unknowns[:-1].reshape(9, -1).T)

    def errors(self, unknowns: Floats) -> Floats:
        """Signed distance of the spindle's surface from each marker [m], (N,)."""
        return self._radii(self.quantities(unknowns), float(unknowns[-1]))[0] - self.distance

    def changing(self, errors: Floats) -> Floats:
        """Errors (N,) less each marker's mean over the motion."""
        return np.asarray(errors - np.asarray(self._mean @ errors)[self._group])

    def _radii(self, quantities: Floats, turn: float) -> tuple[Floats, Floats, Floats]:
        """Radii at the markers, their slopes by k₁ … k₄ and ε, and by the turn."""
        own, theta = quantities[self.row], self.theta - turn
        k = own[:, :8].reshape(-1, 2, 4)[self._places, self.half]
        eccentricity = np.clip(own[:, 8], *ECCENTRICITIES)
        radius, by = radius_gradient(k, eccentricity, self.x, theta)
        by[:, 4] *= own[:, 8] == eccentricity
        square = eccentricity**2
        by_turn = radius * square * np.cos(theta) * np.sin(theta) / (1.0 - square * np.cos(theta) ** 2)
        return radius, by, by_turn

    def _both(self, unknowns: Floats) -> tuple[Floats, Floats]:
        # SciPy asks for both at the same place, one after the other
        key = unknowns.tobytes()
        if self._kept is None or self._kept[0] != key:
            self._kept = (key, *self._terms(unknowns))
        return self._kept[1], self._kept[2]

    def _terms(self, unknowns: Floats) -> tuple[Floats, Floats]:
        q = self.quantities(unknowns)
        radius, by, by_turn = self._radii(q, float(unknowns[-1]))
        by_markers = np.zeros((len(radius), 9))
        by_markers[self._places[:, None], 4 * self.half[:, None] + np.arange(4)] = by[:, :4]
        by_markers[:, 8] = by[:, 4]
        every = np.arange(len(q))
        ends = [self._ends(q, half) for half in range(2)]
        weight = np.sqrt(self.cost.tendon) / self.reference
        parts = [(weight * (r0 - self.cost.tendon_radius), weight * d0, every) for r0, d0, _, _ in ends]
        weight = np.sqrt(self.cost.seam) / self.reference
        parts.append((weight * (ends[0][2] - ends[1][2]), weight * (ends[0][3] - ends[1][3]), every))
        outside = q[:, 8] - np.clip(q[:, 8], *ECCENTRICITIES)
        slope = np.zeros_like(q)
        slope[:, 8] = DRAWN_BACK * (outside != 0.0)
        parts.append((DRAWN_BACK * outside, slope, every))
        error = (radius - self.distance) / self.reference
        by_error = np.column_stack([self._by_unknowns(by_markers, self.row), by_turn]) / self.reference
        if self.cost.lasting != 1.0:
            part = 1.0 - self.cost.lasting
            error = error - part * np.asarray(self._mean @ error)[self._group]
            by_error = by_error - part * np.asarray(self._mean @ by_error)[self._group]
        values = [value for value, _, _ in parts]
        slopes = [self._by_unknowns(slope, row) for _, slope, row in parts]
        value, slope = self._volume(q)
        rest = np.concatenate([*slopes, slope])
        still = np.column_stack([rest, np.zeros(len(rest))])  # only markers see the turn
        return np.concatenate([error, *values, value]), np.concatenate([by_error, still])

    def _by_unknowns(self, slope: Floats, row: Ints) -> Floats:
        return (slope[:, :, None] * self.weights[row][:, None, :]).reshape(len(slope), -1)

    def _ends(self, q: Floats, half: int) -> tuple[Floats, Floats, Floats, Floats]:
        """R at x = 0 and its slope by the nine quantities, and the same at x = 1."""
        k, found = q[:, 4 * half : 4 * half + 4], []
        round_, along_axis = np.zeros(len(q)), np.zeros(len(q))
        for x in (0.0, 1.0):
            radius, by = radius_gradient(k, round_, np.full(len(q), x), along_axis)
            slope = np.zeros((len(q), 9))
            slope[:, 4 * half : 4 * half + 4] = by[:, :4]
            found += [radius, slope]
        return found[0], found[1], found[2], found[3]

    def _volume(self, q: Floats) -> tuple[Floats, Floats]:
        """``sqrt(a_v) (V/V̄ − 1)`` a frame and its slope by the unknowns."""
        one, by_one = half_square_gradient(q[:, :4])
        other, by_other = half_square_gradient(q[:, 4:8])
        eccentricity = np.clip(q[:, 8], *ECCENTRICITIES)
        flat = np.sqrt(1.0 - eccentricity**2)
        volume = self.lengths * flat * (one + other)
        slope = np.concatenate(
            [
                (self.lengths * flat)[:, None] * np.concatenate([by_one, by_other], axis=1),
                (-volume * eccentricity / flat**2 * (q[:, 8] == eccentricity))[:, None],
            ],
            axis=1,
        )
        mean = float(volume.mean())
        by = self._by_unknowns(slope, np.arange(len(q)))
        weight = np.sqrt(self.cost.volume)
        change = by / mean - (volume / mean**2)[:, None] * by.mean(axis=0)
        return weight * (volume / mean - 1.0), weight * change


def fit_spindle(over: OverSpindle, cost: Cost) -> SpindleFit:
    """The 27 numbers of one spindle that bring it nearest to its markers."""
    count = len(over.lengths)
    alone = np.ones((count, 1))
    some = np.unique(np.linspace(0, count - 1, min(count, TRIED_FRAMES)).round().astype(np.int64))
    seen = np.unique(over.frame)
    if len(seen) and not np.isin(some, seen).any():
        some = seen[:TRIED_FRAMES]
    tried = [_solved(Residuals(over, alone, cost, float(turn), some)) for turn in TURNS]
    best = tried[int(np.argmin([one.cost for one in tried]))].unknowns
    plain_residuals = Residuals(over, alone, cost, float(best[-1]))
    plain = _solved(plain_residuals, best)
    triangle, notes = corners(over.lengths, over.tensions)
    moving = Residuals(over, triangle.weights, cost, float(plain.unknowns[-1]))
    found = _solved(moving, moving.spread(plain.unknowns[:-1], float(plain.unknowns[-1])))
    unknowns = _within(found.unknowns, triangle.weights)
    quantities = moving.quantities(unknowns)
    squares = half_square_gradient(quantities[:, :4])[0] + half_square_gradient(quantities[:, 4:8])[0]
    volume = over.lengths * np.sqrt(1.0 - quantities[:, 8] ** 2) * squares
    ends = [moving._ends(quantities, half)[2] for half in range(2)]
    still, moved = plain_residuals.errors(plain.unknowns), moving.errors(unknowns)
    if found.steps >= MOST_STEPS:
        notes = (*notes, f"the search stopped after {MOST_STEPS} steps before it had settled")
    return SpindleFit(
        name=over.name,
        coefficients=unknowns[:-1].reshape(9, -1) @ triangle.terms,
        undeformed=plain.unknowns[:-1],
        turn=_half_turn(float(found.unknowns[-1])),
        undeformed_turn=_half_turn(float(plain.unknowns[-1])),
        before=float(np.abs(moving.changing(still)).mean()),
        after=float(np.abs(moving.changing(moved)).mean()),
        bare_before=float(np.abs(still).mean()),
        bare_after=float(np.abs(moved).mean()),
        volume=float(volume.std() / volume.mean()),
        seam=float(np.abs(ends[0] - ends[1]).max()),
        steps=plain.steps + found.steps,
        notes=notes,
    )


def _within(unknowns: Floats, weights: Floats) -> Floats:
    """The unknowns with ε's slopes made smaller about its mean, until it is in bounds in every frame."""
    made = unknowns.copy()
    rows = made[:-1].reshape(9, -1)
    values = weights @ rows[8]
    middle = float(np.clip(values.mean(), ECCENTRICITIES[0] + 1e-3, ECCENTRICITIES[1] - 1e-3))
    low, high = float((values - values.mean()).min()), float((values - values.mean()).max())
    share = min(
        1.0,
        (ECCENTRICITIES[1] - middle) / max(high, 1e-12),
        (ECCENTRICITIES[0] - middle) / min(low, -1e-12),
    )
    rows[8] = middle + share * (rows[8] - values.mean())
    return made


def _half_turn(turn: float) -> float:
    """The same axis of an ellipse, from −90° up to 90° [rad]."""
    return (turn + np.pi / 2) % np.pi - np.pi / 2


class _Solved(NamedTuple):
    """Where a search ended, its cost and its steps."""

    unknowns: Floats
    cost: float
    steps: int


def _solved(residuals: Residuals, start: Floats | None = None) -> _Solved:
    """The least squares within the bounds."""
    low, high = residuals.bounds
    inside = 1e-3 * (high - low)  # the search begins off the walls
    found = least_squares(
        residuals.values,
        np.clip(residuals.start() if start is None else start, low + inside, high - inside),
        residuals.jacobian,
        bounds=(low, high),
        method="trf",
        loss=residuals.loss,  # type: ignore[arg-type]  # its stubs want a protocol of another argument's name
        x_scale=residuals.scale,
        ftol=1e-5,
        xtol=1e-6,
        gtol=1e-9,
        max_nfev=MOST_STEPS,
    )
    return _Solved(found.x, float(found.cost), int(found.nfev))
