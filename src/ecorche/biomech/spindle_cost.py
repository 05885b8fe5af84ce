"""What a sigmoid spindle costs over its markers: the four terms, and their exact derivatives.

A. Murai and others, 2016, section 3.2, equations (4) to (10): markers' distances, constancy of the volume,
tendon radius at both ends and the seam at the belly.

Changed here:

* As printed the terms are in m² but for the volume's, in m⁶: in metres its weight does nothing. It is
  ``((V − V̄)/V̄)² r_ref²``, with r_ref the mean radius that the markers show, so weights mean the same for a
  mouse and a horse. With the text's weight of 1 it then costs more than it is worth: of 1, 0.1 and 0.01 the
  last two foretell what was kept back of a motion equally well, and better than the first.
* ε within [0, 1) and r ≥ 0 are bounds on linear functions of length and tension, which a box on their
  coefficients cannot say. The unknowns are therefore the values at three corners of a triangle that encloses
  every length and tension seen (and `MARGIN` more): a value within the triangle is their weighted mean with
  weights of 0 or more, so bounds on the corners hold all over it. α, β and γ follow from the corners. As half
  of the triangle is never seen, this would allow ε, which flat muscles keep near 1, next to no slope: its
  corners are free, and it is drawn back into [0, 1) by residuals of its own.
* A marker further than `Cost.outlier` from the surface counts by its distance and no longer by its square: a
  few that lie on something else would lead the whole muscle astray. The text counts all by their squares, as
  an infinite outlier distance does too.
* A marker that always lies a little further out or in than the spindle says that fat or the muscle's own
  shape is so there, not how the muscle deforms. Such lasting distances count only `Cost.lasting` times as
  much as those that come and go; as printed they count as much, and drown them. What lasts is told by frames
  at rest where there are some, as the skin of the text's table 2 lies over muscles as at rest; else by each
  marker's mean over the motion.
* A length or a tension that hardly varies says nothing about its α or β; these are 0 then, and it is told.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.sparse import coo_array, csr_array
from scipy.special import expit

from ecorche.biomech.bounded_newton import Normal
from ecorche.muscles.sigmoid_spindle import half_square_gradient, halves_of
from ecorche.muscles.spindle import Floats

Ints = npt.NDArray[np.int64]

MARGIN = 0.1
"""How far past the range seen the bounds still hold, as a share of it."""
LEAST_LENGTH, LEAST_TENSION = 0.01, 1e-6
"""A length that varies by a smaller share of itself, or a tension [N], says nothing about α or β."""
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
        lasting: How much a marker's distance at rest, or its mean, counts against what changes, 1 as much.
    """

    volume: float = 0.1
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
        rest: How many of the frames, the last ones, are of the body at rest. Their markers tell only what
            lasts.
    """

    name: str
    lengths: Floats
    tensions: Floats
    frame: Ints
    marker: Ints
    along: Floats
    theta: Floats
    distance: Floats
    rest: int = 0

    @property
    def moving(self) -> npt.NDArray[np.bool_]:
        """Which positions are of frames that are not at rest, (N,)."""
        return np.asarray(self.frame < len(self.lengths) - self.rest)


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


class _Half:
    """Markers over one half of the spindle, in the order of their positions."""

    def __init__(self, half: int, own: Ints, row: Ints, x: Floats, weights: Floats) -> None:
        count = weights.shape[1]
        self.half, self.own, self.row, self.x = half, own, row[own], x[own]
        self.weights = weights[self.row]
        quantities = np.array([*range(4 * half, 4 * half + 4), 8])
        # unknowns that these markers see: five quantities at all corners, and the turn
        self.columns = np.append((quantities[:, None] * count + np.arange(count)).ravel(), 9 * count)


class Residuals:
    """The four terms as residuals of unknowns, and their derivatives; all are divided by r_ref.

    Unknowns are the nine quantities at C corners, (9, C), row by row, and last the turn of the polar axis.

    Args:
        over: The markers. weights: Of the corners in each frame, (F, C). cost: How the terms are weighed.
        turn: About where the polar axis is looked for [rad].
        frames: Those that count, ascending; None for all. Those at rest always do.
    """

    def __init__(
        self, over: OverSpindle, weights: Floats, cost: Cost, turn: float, frames: Ints | None = None
    ):
        every = np.arange(len(over.lengths))
        if frames is None:
            self.frames, keep = every, np.ones(len(over.frame), np.bool_)
        else:
            self.frames = np.union1d(frames, every[len(every) - over.rest :])
            keep = np.isin(over.frame, self.frames)
        self.weights = weights[self.frames]
        self.lengths = over.lengths[self.frames]
        self.distance, self.turn, self.cost = over.distance[keep], turn, cost
        self.reference = max(float(over.distance.mean()), 1e-4)
        self.largest = max(float(over.distance.max()), 1e-4)
        self.counts = over.moving[keep]
        row = np.searchsorted(self.frames, over.frame[keep])
        half, x = halves_of(over.along[keep])
        self._halves = [_Half(h, np.flatnonzero(half == h), row, x, self.weights) for h in (0, 1)]
        self._twice = np.cos(2.0 * over.theta[keep]), np.sin(2.0 * over.theta[keep])
        order, self._group = np.unique(over.marker[keep], return_inverse=True)
        # what lasts of a marker: the mean of its positions at rest, of all where there are none
        resting = np.bincount(self._group[~self.counts], minlength=len(order)) > 0
        tells = ~self.counts | ~resting[self._group]
        share = tells / np.maximum(np.bincount(self._group, tells), 1.0)[self._group]
        self._lasting = [_sums(share, self._group, len(order), one.own) for one in self._halves]
        self._moving = [
            _sums(self.counts.astype(np.float64), self._group, len(order), one.own) for one in self._halves
        ]

    @property
    def _unit(self) -> Floats:
        """By how much the nine quantities change about."""
        return np.array([*np.tile([1.0, 2.0, self.reference, self.reference], 2), 0.2])

    def loss(self, squares: Floats) -> Floats:
        """What squared residuals of markers (N,) count, with first and second derivatives, (3, N)."""
        edge = (self.cost.outlier / self.reference) ** 2
        if not np.isfinite(edge):
            return np.stack([squares, np.ones_like(squares), np.zeros_like(squares)])
        root = np.sqrt(1.0 + squares / edge)
        return np.stack([2.0 * edge * (root - 1.0), 1.0 / root, -0.5 / (edge * root**3)])

    def spread(self, quantities: Floats, turn: float) -> Floats:
        """Unknowns of nine quantities (9,) that are the same at all corners, and a turn."""
        return np.append(np.repeat(quantities, self.weights.shape[1]), turn)

    @property
    def scale(self) -> Floats:
        """Of the unknowns."""
        return self.spread(self._unit, 0.5)

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

    def quantities(self, unknowns: Floats) -> Floats:
        """The nine quantities in each frame, (F, 9); ε as it is, out of bounds too."""
        return np.asarray(self.weights @ unknowns[:-1].reshape(9, -1).T)

    def errors(self, unknowns: Floats) -> Floats:
        """Signed distance of the spindle's surface from each marker [m], (N,)."""
        radius, _ = self._radii(self.quantities(unknowns), float(unknowns[-1]), slopes=False)
        return np.asarray(radius - self.distance)

    def changing(self, errors: Floats, part: float = 1.0) -> Floats:
        """Errors (N,) less so much of what lasts of each marker's; none at rest."""
        lasts = sum(sums @ errors[one.own] for sums, one in zip(self._lasting, self._halves, strict=True))
        return np.asarray((errors - part * np.asarray(lasts)[self._group]) * self.counts)

    def value(self, unknowns: Floats) -> float:
        """Half of what all residuals count."""
        markers, others = self.residuals(unknowns)
        return 0.5 * (float(self.loss(markers**2)[0].sum()) + float(others @ others))

    def residuals(self, unknowns: Floats) -> tuple[Floats, Floats]:
        """Those of markers, (N,), and all others, a row a frame and term."""
        error = self.changing(self.errors(unknowns) / self.reference, 1.0 - self.cost.lasting)
        return error, self._frame_terms(self.quantities(unknowns), slopes=False)[0]

    def normal(self, unknowns: Floats) -> Normal:
        """The cost with its gradient and Gauss and Newton's curvature."""
        q = self.quantities(unknowns)
        radius, slopes = self._radii(q, float(unknowns[-1]), slopes=True)
        part = 1.0 - self.cost.lasting
        error = self.changing((radius - self.distance) / self.reference, part)
        squares = error**2
        counted, first, second = self.loss(squares)
        pull, weight = first * error, (first + 2.0 * second * squares) * self.counts
        count, groups = len(unknowns), int(self._group.max(initial=-1)) + 1
        gradient, curvature = np.zeros(count), np.zeros((count, count))
        lasts, weighed = np.zeros((groups, count)), np.zeros((groups, count))
        for one, lasting, moving, slope in zip(
            self._halves, self._lasting, self._moving, slopes, strict=True
        ):
            rows = np.empty((len(one.own), len(one.columns)))
            rows[:, :-1] = (slope[:, :5, None] * one.weights[:, None, :]).reshape(rows[:, :-1].shape)
            rows[:, -1] = slope[:, 5]
            rows /= self.reference
            weighted = weight[one.own, None] * rows
            gradient[one.columns] += pull[one.own] @ rows
            curvature[np.ix_(one.columns, one.columns)] += weighted.T @ rows
            if part != 0.0:
                lasts[:, one.columns] += part * np.asarray(lasting @ rows)
                weighed[:, one.columns] += np.asarray(moving @ weighted)
        if part != 0.0:
            # each row less part of what lasts of its marker's: what that makes of sums over the rows
            both = weighed.T @ lasts
            whole = np.bincount(self._group, weight, groups)
            curvature += lasts.T @ (whole[:, None] * lasts) - both - both.T
            gradient -= np.bincount(self._group, pull, groups) @ lasts
        others, rows = self._frame_terms(q, slopes=True)
        gradient[:-1] += others @ rows
        curvature[:-1, :-1] += rows.T @ rows
        return Normal(0.5 * (float(counted.sum()) + float(others @ others)), gradient, curvature)

    def _radii(self, q: Floats, turn: float, *, slopes: bool) -> tuple[Floats, list[Floats]]:
        """Radii at the markers [m], (N,), and of each half's by k₁ … k₄, ε and the turn, (own, 6)."""
        radius, found = np.empty(len(self.distance)), []
        cosine, sine = self._twice
        level, across = np.cos(2.0 * turn), np.sin(2.0 * turn)
        squared = 0.5 * (1.0 + cosine * level + sine * across)  # cos²(θ − turn)
        mixed = 0.5 * (sine * level - cosine * across)  # cos(θ − turn) sin(θ − turn)
        for one in self._halves:
            own = q[one.row]
            k1, k2, k3, k4 = own[:, 4 * one.half : 4 * one.half + 4].T
            eccentricity = np.clip(own[:, 8], *ECCENTRICITIES)
            square, cos2 = eccentricity**2, squared[one.own]
            below = 1.0 - square * cos2
            shape = np.sqrt((1.0 - square) / below)
            s = expit(k2 * one.x - k1)
            radius[one.own] = here = (k3 * s + k4) * shape
            if not slopes:
                continue
            made = np.empty((len(own), 6))
            slope = k3 * s * (1.0 - s) * shape
            made[:, 0], made[:, 1] = -slope, slope * one.x
            made[:, 2], made[:, 3] = s * shape, shape
            inside = own[:, 8] == eccentricity
            made[:, 4] = here * eccentricity * (cos2 / below - 1.0 / (1.0 - square)) * inside
            made[:, 5] = here * square * mixed[one.own] / below
            found.append(made)
        return radius, found

    def _frame_terms(self, q: Floats, *, slopes: bool) -> tuple[Floats, Floats]:
        """Residuals of tendons, seam, ε and volume, (5 F,), and their slopes by all unknowns but the turn."""
        count, cost = len(q), self.cost
        tendon, seam = np.sqrt(cost.tendon) / self.reference, np.sqrt(cost.seam) / self.reference
        values, by = np.zeros((5, count)), np.zeros((5, count, 9))
        for half in (0, 1):
            k, own = q[:, 4 * half : 4 * half + 4], slice(4 * half, 4 * half + 4)
            sign = (seam, -seam)[half]
            for x, term, weight in ((0.0, half, tendon), (1.0, 2, sign)):
                s = expit(k[:, 1] * x - k[:, 0])
                slope = k[:, 2] * s * (1.0 - s)
                values[term] += weight * (k[:, 2] * s + k[:, 3])
                by[term, :, own] = weight * np.stack([-slope, slope * x, s, np.ones(count)], axis=1)
            values[half] -= tendon * cost.tendon_radius
        outside = q[:, 8] - np.clip(q[:, 8], *ECCENTRICITIES)
        values[3], by[3, :, 8] = DRAWN_BACK * outside, DRAWN_BACK * (outside != 0.0)
        volume, by_volume = self.volumes(q)
        mean = float(volume.mean())
        values[4] = np.sqrt(cost.volume) * (volume / mean - 1.0)
        if not slopes:
            return values.ravel(), np.zeros((0, 0))
        by[4] = np.sqrt(cost.volume) / mean * by_volume
        rows = (by[..., None] * self.weights[:, None, :]).reshape(5, count, -1)
        rows[4] -= (volume / mean)[:, None] * rows[4].mean(axis=0)
        return values.ravel(), rows.reshape(5 * count, -1)

    def volumes(self, q: Floats) -> tuple[Floats, Floats]:
        """Volumes but for a constant factor, (F,), and their slopes by the nine quantities, (F, 9)."""
        one, by_one = half_square_gradient(q[:, :4])
        other, by_other = half_square_gradient(q[:, 4:8])
        eccentricity = np.clip(q[:, 8], *ECCENTRICITIES)
        flat = np.sqrt(1.0 - eccentricity**2)
        volume = self.lengths * flat * (one + other)
        by_eccentricity = -volume * eccentricity / flat**2 * (q[:, 8] == eccentricity)
        along = (self.lengths * flat)[:, None]
        return volume, np.concatenate([along * by_one, along * by_other, by_eccentricity[:, None]], axis=1)

    def seam(self, q: Floats) -> float:
        """Largest step of the radius at the belly over the frames [m]."""
        one, other = (
            q[:, 4 * h + 2] * expit(q[:, 4 * h + 1] - q[:, 4 * h]) + q[:, 4 * h + 3] for h in (0, 1)
        )
        return float(np.abs(one - other).max())


def _sums(values: Floats, group: Ints, groups: int, own: Ints) -> csr_array:
    """The matrix that sums some rows, times values (N,), a group, (groups, own)."""
    return coo_array((values[own], (group[own], np.arange(len(own)))), (groups, len(own))).tocsr()
