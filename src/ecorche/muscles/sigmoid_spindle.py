"""The sigmoid spindle: a muscle's shape from its length and its tension, by 27 numbers that can be measured.

A. Murai, Q. Y. Hong, K. Yamane and J. K. Hodgins, "Dynamic skin deformation simulation using musculoskeletal
model and soft tissue dynamics", 2016, section 3.2. A muscle is two halves along its path, x = 0 at origin or
insertion and x = 1 in the middle of the path. The section at x is an ellipse with half-axes R along the polar
axis θ = 0 and ``R sqrt(1 − ε²)`` across, ``R(x) = k₃/(1 + exp(k₁ − k₂x)) + k₄``. Each of k₁ … k₄ of both
halves and the one ε of the muscle is ``αL + βτ + γ`` of length L [m] and tension τ [N]: nine quantities of
three numbers, 27 in all.

Changed here:

* The printed radius ``R sqrt(1 − ε² sin²θ)`` is an ellipse only in the eccentric anomaly. In the polar angle
  it is ``r = R sqrt((1 − ε²)/(1 − ε² cos²θ))``, which is also what the printed volume (8) belongs to.
* The integral of (8) has a closed form, with ``u = k₂x − k₁``: ``∫R² dx = [k₄²x + 2k₃k₄ softplus(u)/k₂ +
  k₃²(softplus(u) − logistic(u))/k₂]``.
* Nothing in the text keeps ε within [0, 1) and r from falling below zero at lengths and tensions that were
  never seen. They are held there, and the muscle is marked in ``held``.

As in the text the halves meet at the belly because they were fitted to (`seam` says how well), in value and
not in slope.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import expit

from ecorche.errors import EcorcheError
from ecorche.muscles.spindle import Bools, Floats, refuse_where

QUANTITIES = (
    "k1 origin", "k2 origin", "k3 origin", "k4 origin",
    "k1 insertion", "k2 insertion", "k3 insertion", "k4 insertion",
    "eccentricity",
)  # fmt: skip
"""Rows of the coefficients; k3 and k4 are in metres, the others are plain numbers."""
TERMS = ("length", "tension", "constant")
"""Columns of the coefficients: α [1/m], β [1/N] and γ, times metres for k3 and k4."""
PARAMETERS = len(QUANTITIES) * len(TERMS)
LARGEST_ECCENTRICITY = 0.99
"""Where ε is held: a section seven times as wide as thick."""
FLAT = 1e-3
"""Where |k₂| is less, the closed forms lose digits and a series about the middle takes over."""

METRES: Floats = np.array([0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0, 1.0, 0.0])
"""The power of a length that each quantity is."""


@dataclass(frozen=True, eq=False)
class SigmoidSpindles:
    """Shapes of M spindles as functions of length and tension; constant over time.

    Attributes:
        coefficients: α, β and γ (columns, `TERMS`) of nine quantities (rows, `QUANTITIES`), shape (M, 9, 3).
        muscle: The muscle that each spindle is of, shape (M,): thin ones side by side share a flat muscle.
        share: Its share in that muscle's tension, shape (M,); those of a muscle add up to 1.
    """

    coefficients: Floats
    muscle: npt.NDArray[np.int64]
    share: Floats

    def __post_init__(self) -> None:
        count = len(self.coefficients)
        for name, shape in (("coefficients", (count, 9, 3)), ("muscle", (count,)), ("share", (count,))):
            value = getattr(self, name)
            if value.shape != shape:
                raise EcorcheError(
                    f"the sigmoid spindles' {name} has shape {value.shape}", remedy=f"Give shape {shape}"
                )
        refuse_where(
            np.asarray(~np.isfinite(self.coefficients).all(axis=(1, 2))),
            "a coefficient is not a finite number",
            "Identify it anew, or write finite numbers",
        )
        refuse_where(
            ~(self.share > 0.0), "its share in the muscle's tension is not positive", "Give a share above 0"
        )
        whole = np.bincount(self.muscle, self.share) if count else np.ones(0)
        refuse_where(
            (np.abs(whole - 1.0) > 1e-9)[self.muscle],
            "the shares of its muscle's spindles do not add up to 1",
            "Divide them by their sum",
        )

    def __len__(self) -> int:
        return len(self.coefficients)

    def states(self, lengths: npt.ArrayLike, tensions: npt.ArrayLike) -> SigmoidStates:
        """The shapes at lengths of the spindles' paths [m], (…, M), and tensions of their muscles [N].

        Args:
            lengths: Shape (…, M), any number of frames at once.
            tensions: Of the muscle as a whole, as the spindles number them, shape (…, muscles).
        """
        length, tension = np.asarray(lengths, np.float64), np.asarray(tensions, np.float64)
        muscles = int(self.muscle.max()) + 1 if len(self) else 0
        if length.shape[-1:] != (len(self),) or tension.shape != (*length.shape[:-1], muscles):
            raise EcorcheError(
                f"lengths {length.shape} and tensions {tension.shape} do not fit {len(self)} spindles of"
                f" {muscles} muscles",
                remedy=f"Give shapes (…, {len(self)}) and (…, {muscles})",
            )
        refuse_where(
            ~(np.isfinite(length) & (length > 0.0)),
            "its length is not a positive number",
            "Origin and insertion must not coincide in any frame; lengths are in metres",
        )
        refuse_where(
            ~np.isfinite(tension), "its tension is not a finite number", "Give newtons, 0 for a slack muscle"
        )
        own = tension[..., self.muscle] * self.share
        values = quantities(self.coefficients, length, own)
        return SigmoidStates(self, length, values)

    def scaled(self, size: npt.ArrayLike, strength: npt.ArrayLike | None = None) -> SigmoidSpindles:
        """The same muscles of a body of like build whose segments are ``size`` times as long.

        Radii grow with the size, and a muscle that is longer by the size has the same shape. Tensions grow
        with ``strength``, by default with the size's square as areas do.

        Args:
            size: One number, or one for each spindle, (M,).
            strength: The same.
        """
        by = np.broadcast_to(np.asarray(size, np.float64), (len(self),))
        force = (
            by * by if strength is None else np.broadcast_to(np.asarray(strength, np.float64), (len(self),))
        )
        for what, value in (("size", by), ("strength", force)):
            refuse_where(
                ~np.asarray(np.isfinite(value) & (value > 0.0)),
                f"its {what} is not a positive number",
                "Give 1 for a body of the same size",
            )
        terms = np.stack([1.0 / by, 1.0 / force, np.ones(len(self))], axis=1)
        made = self.coefficients * terms[:, None, :] * (by[:, None] ** METRES)[:, :, None]
        return SigmoidSpindles(made, self.muscle, self.share)


@dataclass(frozen=True, eq=False)
class SigmoidStates:
    """Shapes of M spindles in one or more frames; leading axes "…" are frames.

    Attributes:
        spindles: Whose they are.
        lengths: Of their paths [m], shape (…, M).
        values: The nine quantities as the coefficients give them, shape (…, M, 9).
    """

    spindles: SigmoidSpindles
    lengths: Floats
    values: Floats

    @property
    def halves(self) -> Floats:
        """k₁ … k₄ of the origin's and the insertion's half, shape (…, M, 2, 4)."""
        return self.values[..., :8].reshape(*self.values.shape[:-1], 2, 4)

    @property
    def eccentricity(self) -> Floats:
        """ε, held within 0 and `LARGEST_ECCENTRICITY`, shape (…, M)."""
        return np.clip(self.values[..., 8], 0.0, LARGEST_ECCENTRICITY)

    @property
    def held(self) -> Bools:
        """Where ε or a radius had to be held, shape (…, M)."""
        ends = sigmoid(self.halves[..., None, :], np.array([0.0, 1.0]))  # monotone between them
        thin = (ends < 0.0).any(axis=(-2, -1))
        return np.asarray(thin | (self.values[..., 8] != self.eccentricity))

    def radius(self, along: npt.ArrayLike, theta: npt.ArrayLike) -> Floats:
        """Distance from path to surface [m], shape (…, M, K).

        Args:
            along: Shares of the path's length, 0 at the origin and 1 at the insertion, (K,) or (…, M, K).
            theta: Angles from the polar axis [rad], likewise.
        """
        half, x = halves_of(np.asarray(along, np.float64))
        major = np.where(
            half == 0,
            sigmoid(self.halves[..., None, 0, :], x),
            sigmoid(self.halves[..., None, 1, :], x),
        )
        result: Floats = np.maximum(major, 0.0) * polar_ellipse(self.eccentricity[..., None], theta)
        return result

    def volumes(self) -> Floats:
        """Of each spindle [m³], shape (…, M), by the closed form."""
        squares = sum(_positive_square(self.halves[..., half, :]) for half in range(2))
        result: Floats = 0.5 * np.pi * self.lengths * np.sqrt(1.0 - self.eccentricity**2) * squares
        return result

    def muscle_volumes(self) -> Floats:
        """Of each muscle, all its spindles together [m³], shape (…, muscles)."""
        count = int(self.spindles.muscle.max()) + 1 if len(self.spindles) else 0
        member = (self.spindles.muscle[:, None] == np.arange(count)).astype(np.float64)
        return np.asarray(self.volumes() @ member)

    @property
    def seam(self) -> Floats:
        """How far the radii of the two halves differ where they meet at the belly [m], shape (…, M)."""
        ends = np.maximum(sigmoid(self.halves, np.array(1.0)), 0.0)
        return np.asarray(np.abs(ends[..., 0] - ends[..., 1]))


def quantities(coefficients: Any, lengths: Any, tensions: Any) -> Any:
    """The nine quantities (…, M, 9) of coefficients (M, 9, 3) at lengths [m] and tensions [N] (…, M)."""
    alpha, beta, gamma = (coefficients[..., term] for term in range(3))
    return alpha * np.asarray(lengths)[..., None] + beta * np.asarray(tensions)[..., None] + gamma


def halves_of(along: Floats) -> tuple[npt.NDArray[np.int64], Floats]:
    """The half (0 origin's, 1 insertion's) and x within it of shares of the path's length, held in 0 … 1."""
    t = np.clip(along, 0.0, 1.0)
    half = (t > 0.5).astype(np.int64)
    return half, 2.0 * np.where(half == 0, t, 1.0 - t)


def sigmoid(k: Any, x: Any) -> Any:
    """R [m] of k (…, 4) at x (…), along the polar axis."""
    return k[..., 2] * _logistic(k[..., 1] * x - k[..., 0]) + k[..., 3]


def polar_ellipse(eccentricity: Any, theta: Any) -> Any:
    """Radius of an ellipse of major half-axis 1 at polar angles θ from that axis [rad]."""
    square = eccentricity * eccentricity
    return np.sqrt((1.0 - square) / (1.0 - square * np.cos(theta) ** 2))


def radius_gradient(k: Floats, eccentricity: Floats, x: Floats, theta: Floats) -> tuple[Floats, Floats]:
    """Radius r [m], (N,), and its derivatives by k₁ … k₄ and ε, (N, 5), at N places.

    Args:
        k: Of the half each place lies in, (N, 4).
        eccentricity: (N,). x: Within the half, (N,). theta: [rad], (N,).
    """
    s = expit(k[:, 1] * x - k[:, 0])
    major = k[:, 2] * s + k[:, 3]
    shape = polar_ellipse(eccentricity, theta)
    slope = k[:, 2] * s * (1.0 - s) * shape
    square, cosine = eccentricity**2, np.cos(theta) ** 2
    by_eccentricity = eccentricity * (cosine / (1.0 - square * cosine) - 1.0 / (1.0 - square))
    radius: Floats = major * shape
    return radius, np.stack([-slope, slope * x, s * shape, shape, radius * by_eccentricity], axis=1)


def radius_jacobian(
    coefficients: Floats, lengths: Floats, tensions: Floats, along: Floats, theta: Floats
) -> tuple[Floats, Floats]:
    """Radius [m], (N,), and its derivatives by all 27 coefficients of one spindle, (N, 9, 3).

    Args:
        coefficients: Of the spindle, (9, 3).
        lengths: Of its path at each place's frame [m], (N,). tensions: [N], (N,).
        along: Shares of the path's length, (N,). theta: [rad], (N,).
    """
    values = quantities(coefficients[None], lengths, tensions)
    half, x = halves_of(along)
    rows = np.arange(len(half))
    own = values[:, :8].reshape(-1, 2, 4)[rows, half]
    radius, by = radius_gradient(own, values[:, 8], x, theta)
    by_value = np.zeros((len(half), 9))
    by_value[rows[:, None], 4 * half[:, None] + np.arange(4)] = by[:, :4]
    by_value[:, 8] = by[:, 4]
    terms = np.stack([lengths, tensions, np.ones(len(half))], axis=1)
    return radius, by_value[:, :, None] * terms[:, None, :]


def half_square(k: Any) -> Any:
    """∫R² dx over a half, [m²], of k (…, 4): its volume is this times ``π sqrt(1 − ε²)`` times its length."""
    first, second = _moments(k[..., 0], k[..., 1])
    return k[..., 3] ** 2 + 2.0 * k[..., 2] * k[..., 3] * first + k[..., 2] ** 2 * second


def half_square_gradient(k: Floats) -> tuple[Floats, Floats]:
    """∫R² dx over a half [m²], (…), and its derivatives by k₁ … k₄, (…, 4)."""
    k1, k2, k3, k4 = np.moveaxis(k, -1, 0)
    first, second = _moments(k1, k2)
    flat = np.abs(k2) < FLAT
    safe = np.where(flat, 1.0, k2)
    low, high = expit(-k1), expit(k2 - k1)
    rise, slope_low, slope_high = high - low, low * (1.0 - low), high * (1.0 - high)
    first_1, first_2 = -rise / safe, (high - first) / safe
    # of the square: ∫s² is ∫s − (s(1) − s(0))/k₂
    second_1 = first_1 + (slope_high - slope_low) / safe
    second_2 = first_2 - (slope_high - rise / safe) / safe
    # where the sigmoid is all but straight, by its slopes in the middle
    m = expit(0.5 * k2 - k1)
    d1 = m * (1.0 - m)
    d2 = d1 * (1.0 - 2.0 * m)
    first_1, first_2 = np.where(flat, -d1, first_1), np.where(flat, 0.5 * d1 + k2 * d2 / 12.0, first_2)
    twice = 2.0 * m * d1  # slope and bend of the square
    bend = 2.0 * d1 * d1 + 2.0 * m * d2
    second_1 = np.where(flat, -twice, second_1)
    second_2 = np.where(flat, 0.5 * twice + k2 * bend / 12.0, second_2)
    square = k4**2 + 2.0 * k3 * k4 * first + k3**2 * second
    gradient = np.stack(
        [
            2.0 * k3 * k4 * first_1 + k3**2 * second_1,
            2.0 * k3 * k4 * first_2 + k3**2 * second_2,
            2.0 * k4 * first + 2.0 * k3 * second,
            2.0 * k4 + 2.0 * k3 * first,
        ],
        axis=-1,
    )
    return square, gradient


def even_shares(counts: npt.ArrayLike) -> tuple[npt.NDArray[np.int64], Floats]:
    """Muscle and share of spindles side by side: ``counts[m]`` of muscle m, each bearing as much."""
    number = np.asarray(counts, np.int64)
    refuse_where(
        np.asarray(number < 1), "it has no spindle", "Give it 1, or several side by side if it is flat"
    )
    muscle = np.repeat(np.arange(len(number)), number)
    return muscle, 1.0 / number[muscle]


def side_by_side(first: npt.ArrayLike, last: npt.ArrayLike, count: int) -> Floats:
    """Paths of thin spindles side by side between the two borders of a flat muscle.

    Args:
        first: The path along one border [m], (…, nodes, 3).
        last: The path along the other, as many nodes.
        count: How many.

    Returns:
        Paths [m], shape (count, …, nodes, 3), each in the middle of its strip.
    """
    one, other = np.asarray(first, np.float64), np.asarray(last, np.float64)
    if one.shape != other.shape or one.shape[-1:] != (3,):
        raise EcorcheError(
            f"the borders of the flat muscle have shapes {one.shape} and {other.shape}",
            remedy="Give both as many frames and nodes, (…, nodes, 3)",
        )
    if count < 1:
        raise EcorcheError(f"a flat muscle cannot be {count} spindles", remedy="Give 1 or more")
    share = ((np.arange(count) + 0.5) / count).reshape(-1, *(1,) * one.ndim)
    result: Floats = one + share * (other - one)
    return result


def _positive_square(k: Floats) -> Floats:
    """∫max(R, 0)² dx over a half [m²]: where R falls below zero there is no muscle."""
    low, high = sigmoid(k, np.array(0.0)), sigmoid(k, np.array(1.0))
    whole: Floats = half_square(k)
    cut = (low < 0.0) | (high < 0.0)
    if not cut.any():
        return whole
    k1, k2, k3, k4 = np.moveaxis(k, -1, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        zero = (k1 + np.log(-k4 / (k3 + k4))) / k2  # where R is zero, if it is anywhere
    begin = np.where(low < 0.0, zero, 0.0)
    end = np.where(high < 0.0, zero, 1.0)
    none = (low < 0.0) & (high < 0.0)
    begin, end = np.where(none | ~cut, 0.0, begin), np.where(none | ~cut, 1.0, end)
    width = end - begin
    part = np.stack([k1 - k2 * begin, k2 * width, k3, k4], axis=-1)  # the same half, x from begin to end
    return np.where(none, 0.0, np.where(cut, width * half_square(part), whole))


def _moments(k1: Any, k2: Any) -> tuple[Any, Any]:
    """∫s dx and ∫s² dx over 0 … 1 of the logistic ``s(k₂x − k₁)``."""
    flat = np.abs(np.real(k2)) < FLAT
    safe = np.where(flat, 1.0, k2)
    first = (_softplus(k2 - k1) - _softplus(-k1)) / safe
    second = first - (_logistic(k2 - k1) - _logistic(-k1)) / safe
    m = _logistic(0.5 * k2 - k1)
    d1 = m * (1.0 - m)
    d2 = d1 * (1.0 - 2.0 * m)
    first = np.where(flat, m + k2 * k2 * d2 / 24.0, first)
    second = np.where(flat, m * m + k2 * k2 * (2.0 * d1 * d1 + 2.0 * m * d2) / 24.0, second)
    return first, second


def _logistic(u: Any) -> Any:
    """1 / (1 + exp(−u)), of complex numbers too, for derivatives by a complex step."""
    if np.iscomplexobj(u):
        return 1.0 / (1.0 + np.exp(-u))
    return expit(u)


def _softplus(u: Any) -> Any:
    """log(1 + exp(u)) without overflow."""
    if np.iscomplexobj(u):
        return np.log(1.0 + np.exp(u))
    return np.maximum(u, 0.0) + np.log1p(np.exp(-np.abs(u)))
