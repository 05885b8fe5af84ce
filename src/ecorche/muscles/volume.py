"""A spindle that changes length keeps its volume by its belly; one that tenses keeps it by its section.

J. Ramos and C. Larboulette, 2013, section 3.2. Isotonic: tendons keep their thickness, the belly's is found
anew. Isometric: half-axes times T along S_d and divided by T along S. Changed here: the default is the
volume of the shape itself instead of two cones. With the slope at the belly and the other controls kept, the
integral of the squared thickness is quadratic in the belly's thickness, so it has as short a closed form.

Both are solved for the *change* d of the belly's thickness, ``a d² + g d + q₀(1 − L₀/L) = 0``, where q₀ is
the quadratic's value at bind and g > 0 its slope there: at bind the change is exactly zero, without a case of
its own, and nothing cancels. A belly cannot become thinner than leaves every control value at zero or more.
Where that is not thin enough the belly is held there, the volume grows, and the muscle is marked in ``held``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from ecorche.errors import EcorcheError
from ecorche.muscles.spindle import Bools, Floats, Spindles, curve, refuse_where

VolumeRule = Literal["exact", "two_cone"]

# integrals over 0 … 1 of the products of the cubic Bernstein polynomials
PRODUCTS: Floats = (
    np.outer([1, 3, 3, 1], [1, 3, 3, 1])
    / np.array([[1, 6, 15, 20], [6, 15, 20, 15], [15, 20, 15, 6], [20, 15, 6, 1]])
    / 7.0
)

# the control values that move with the belly's thickness: its own and, as the slope is kept, its neighbours'
MOVING: Floats = np.array([[0.0, 0.0, 1.0, 1.0], [1.0, 1.0, 0.0, 0.0]])


@dataclass(frozen=True, eq=False)
class SpindleStates:
    """Shapes of M muscles in one or more frames; leading axes "…" are frames.

    Attributes:
        spindles: The shapes at bind.
        lengths: Length of the path [m], shape (…, M).
        bulge: T, shape (…, M).
        thickness: Control values of the half-axis along S before the bulge [m], shape (…, M, 2, 4).
        held: Muscles too long to keep their volume: the belly is as thin as it can be. Shape (…, M).
    """

    spindles: Spindles
    lengths: Floats
    bulge: Floats
    thickness: Floats
    held: Bools

    def half_axes(self, t: npt.ArrayLike) -> tuple[Floats, Floats]:
        """Half-axes of the sections along S_d and along S [m], each (…, M, K), at t (K,) or (…, M, K)."""
        thickness = curve(self.thickness, self.spindles.belly).at(t)
        out: Floats = thickness * (self.spindles.scale * self.bulge)[..., None]
        side: Floats = thickness / self.bulge[..., None]
        return out, side

    def volumes(self) -> Floats:
        """Volume of each muscle [m³], shape (…, M); the bulge does not change it."""
        return exact_volume(self.thickness, self.spindles.belly, self.spindles.scale, self.lengths)


def contract(
    spindles: Spindles,
    lengths: npt.ArrayLike,
    *,
    bulge: npt.ArrayLike = 1.0,
    volume: VolumeRule = "exact",
) -> SpindleStates:
    """The muscles' shapes at new lengths and under tension, with their volumes kept.

    Args:
        spindles: Shapes of M muscles at bind.
        lengths: Lengths of their paths [m], shape (…, M): any number of frames at once.
        bulge: T, the ratio by which sections widen along S_d and narrow along S; broadcast to ``lengths``.
        volume: ``"exact"`` keeps the volume of the shape, ``"two_cone"`` that of two cones, as published.
    """
    rule = belly_rule(spindles, volume)
    length = np.asarray(lengths, np.float64)
    if length.ndim == 0 or length.shape[-1] != len(spindles):
        raise EcorcheError(
            f"lengths of shape {length.shape} do not fit {len(spindles)} muscles",
            remedy=f"Give shape (…, {len(spindles)})",
        )
    refuse_where(
        ~(np.isfinite(length) & (length > 0.0)),
        "its length is not a positive number",
        "Origin and insertion must not coincide in any frame; lengths are in metres",
    )
    try:
        tension = np.broadcast_to(np.asarray(bulge, np.float64), length.shape).copy()
    except ValueError:
        raise EcorcheError(
            f"bulges of shape {np.shape(bulge)} do not fit lengths of shape {length.shape}",
            remedy="Give one number for all, one for each muscle, or one for each muscle and frame",
        ) from None
    refuse_where(
        ~(np.isfinite(tension) & (tension > 0.0)),
        "its bulge is not a positive number",
        "Give 1 for a muscle at rest and more for one under tension, such as 1.3",
    )
    change, held = _belly_change(rule, spindles.bind_length / length)
    thickness: Floats = spindles.thickness + change[..., None, None] * MOVING
    return SpindleStates(spindles, length, tension, thickness, held)


def exact_volume(thickness: Floats, belly: Floats, scale: Floats, lengths: Floats) -> Floats:
    """Volume of the spindle itself [m³], shape (…, M), of control values (…, M, 2, 4) and lengths (…, M)."""
    result: Floats = np.pi * scale * lengths * _exact_quadratic(thickness, belly).constant
    return result


def two_cone_volume(thickness: Floats, belly: Floats, scale: Floats, lengths: Floats) -> Floats:
    """Volume of the two elliptic cones from the belly to both ends [m³], the published approximation."""
    result: Floats = np.pi * scale * lengths * _two_cone_quadratic(thickness, belly).constant
    return result


class _Quadratic(NamedTuple):
    """Mean squared thickness [m²] as ``constant + gradient d + square d²`` of the belly's change d [m]."""

    square: float
    gradient: Floats
    constant: Floats


def _exact_quadratic(thickness: Floats, belly: Floats) -> _Quadratic:
    shares = np.stack([belly, 1.0 - belly], axis=-1)
    weighted = np.einsum("...i,ij->...j", thickness, PRODUCTS)
    return _Quadratic(
        square=13.0 / 35.0,  # both halves move by a cubic whose square has this mean
        gradient=2.0 * (shares * (weighted * MOVING).sum(axis=-1)).sum(axis=-1),
        constant=(shares * (weighted * thickness).sum(axis=-1)).sum(axis=-1),
    )


def _two_cone_quadratic(thickness: Floats, belly: Floats) -> _Quadratic:
    centre, begin, end = thickness[..., 0, 3], thickness[..., 0, 0], thickness[..., 1, 3]
    linear = belly * begin + (1.0 - belly) * end
    ends = belly * begin**2 + (1.0 - belly) * end**2
    return _Quadratic(
        square=1.0 / 3.0,
        gradient=(2.0 * centre + linear) / 3.0,
        constant=(centre**2 + centre * linear + ends) / 3.0,
    )


class BellyRule(NamedTuple):
    """What the change of the belly follows from: the quadratic at bind, and the change that is held [m]."""

    square: float
    gradient: Floats
    constant: Floats
    thinnest: Floats


def belly_rule(spindles: Spindles, volume: VolumeRule) -> BellyRule:
    """How the bellies of M spindles keep their volume; each field (M,)."""
    if volume not in ("exact", "two_cone"):
        raise EcorcheError(
            f"there is no volume rule {volume!r}", remedy="Choose one of 'exact' and 'two_cone'"
        )
    quadratic = _exact_quadratic if volume == "exact" else _two_cone_quadratic
    # the change (≤ 0) at which the first control value that moves with the belly is zero
    moving = np.where(MOVING > 0.0, spindles.thickness, np.inf)
    return BellyRule(*quadratic(spindles.thickness, spindles.belly), -moving.min(axis=(-2, -1)))


def _belly_change(rule: BellyRule, shortening: Floats) -> tuple[Floats, Bools]:
    """The change of the belly's thickness [m] and where it had to be held; ``shortening`` is L₀/L."""
    a, g, q, thinnest = rule
    excess = q * (1.0 - shortening)
    root = np.sqrt(np.maximum(g * g - 4.0 * a * excess, 0.0))
    change = -2.0 * excess / (g + root)
    held = excess + thinnest * (g + a * thinnest) > 0.0
    return np.where(held, thinnest, np.maximum(change, thinnest)), held
