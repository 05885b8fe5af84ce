"""The shape of a muscle found in the skin: ellipses that grow out of its origin and close at its insertion.

Text 001, "Construction of 3D Muscle Models" and "Muscle Deformation". An ellipse is kept as the symmetric
stretch ``S = R diag(a, b) Rᵀ`` that makes it of the unit circle: unlike angle and half-axes, S has no jump
where a circle is passed or the longer half-axis changes. Its three numbers, and the centre's two, are
monotone cubics between rings (Fritsch and Butland), C1 all the way; from the first and last ring they go on
as Hermite curves to the ends, where the ellipse is a point on the root curve. Slopes are shortened where a
Bézier control stretch would be flatter than a tenth of its ring: so every section is an ellipse, and none is
thinner than nothing.

With a new length L each section dilates by ``1 + κ w``. The text leaves its factor k to another paper; here
``w = d(2 − d)`` with d the section's area as a share of the largest: zero at both ends, level at the belly,
so tendons stay as they are. The volume ``π L ∫ det S (1 + κ w)² du`` is quadratic in κ, and κ is solved as a
change from bind, ``κ² m₂ + 2 κ m₁ + m₀ (1 − L₀/L) = 0``: exactly zero at bind. A belly is never thinner than
a twentieth, and no length counts as less than a twentieth; beyond that the volume is not kept. Tension comes
after: T outwards, 1/T sideways.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from numba import njit

from ecorche.base.checks import require_finite
from ecorche.errors import EcorcheError
from ecorche.muscles.lofted import Rings

Floats = npt.NDArray[np.float64]

THINNEST = -0.95
"""The least κ: a belly keeps a twentieth of its half-axes."""
MOST_SHORTENED = 20.0
"""The greatest ``L₀ / L`` that counts."""
END_SLOPE = 0.5
"""How steeply a muscle leaves its ends, of the cone to its first ring; less is a thinner tendon."""
_FLATTEST = 0.1
_NODES, _NODE_WEIGHTS = np.polynomial.legendre.leggauss(16)  # exact up to the degree 31; det S w² has 30


@dataclass(frozen=True, eq=False)
class Loft:
    """The shape of one muscle at bind, as cubics between its rings.

    Attributes:
        knots: Shares of the root curve where cubics meet, from 0 to 1, shape (P + 1,).
        cubics: Coefficients of ``(u − knot)⁰ … ³`` of S_oo, S_os, S_ss and the centre's out and side [m],
            shape (P, 4, 5).
        largest: The greatest ``det S`` [m²].
        moments: ``m₀, m₁, m₂``: integrals of ``det S w^k`` over u [m²], shape (3,).
    """

    knots: Floats
    cubics: Floats
    largest: float
    moments: Floats

    def at(self, u: npt.ArrayLike) -> tuple[Floats, Floats]:
        """Stretches S (..., 2, 2) and centres (..., 2) [m] along (out, side) at shares u (...)."""
        u = np.asarray(u, np.float64)
        values = _values(self.knots, self.cubics, u)
        stretch = np.stack([values[..., [0, 1]], values[..., [1, 2]]], axis=-2)
        return stretch, values[..., 3:]

    def bulging(self, u: npt.ArrayLike) -> Floats:
        """w at shares u: 0 at the ends, 1 where the section is largest."""
        values = _values(self.knots, self.cubics, np.asarray(u, np.float64))
        return _profile(_area(values) / self.largest)

    def dilation(self, relative_length: npt.ArrayLike) -> Floats:
        """κ for lengths relative to that at bind, of any shape."""
        relative = np.asarray(relative_length, np.float64)
        found = [swelling(*self.moments, 1.0 / value) for value in relative.ravel()]
        return np.array(found, np.float64).reshape(relative.shape)

    def volume(self, length: npt.ArrayLike, dilation: npt.ArrayLike = 0.0) -> Floats:
        """Of the straightened muscle of a length [m], dilated by κ [m³]."""
        kappa = np.asarray(dilation, np.float64)
        m0, m1, m2 = self.moments
        return np.asarray(np.pi * np.asarray(length, np.float64) * (m0 + kappa * (2.0 * m1 + kappa * m2)))


def loft(rings: Rings, where: str = "rings") -> Loft:
    """The shape that its rings give a muscle; rings that give none are refused."""
    u, stretch, centre = _checked(rings, where)
    knots = np.concatenate([[0.0], u, [1.0]])
    steps = np.diff(knots)
    values = np.zeros((len(knots), 5))
    values[1:-1, :3] = stretch[:, [0, 0, 1], [0, 1, 1]]
    values[1:-1, 3:] = centre
    secants = np.diff(values, axis=0) / steps[:, None]
    slopes = np.zeros_like(values)
    slopes[1:-1] = _monotone(secants, steps)
    slopes[[0, -1]] = secants[[0, -1]] * ([END_SLOPE] * 3 + [1.0] * 2)
    for ring in range(1, len(knots) - 1):
        slopes[ring, :3] *= _upright_share(stretch[ring - 1], slopes[ring, :3], steps[ring - 1 : ring + 1])
    over = 1.0 / steps[:, None]
    cubics = np.stack(
        [
            values[:-1],
            slopes[:-1],
            (3.0 * secants - 2.0 * slopes[:-1] - slopes[1:]) * over,
            (slopes[:-1] + slopes[1:] - 2.0 * secants) * over**2,
        ],
        axis=1,
    )
    fine = _area(_values(knots, cubics, np.linspace(0.0, 1.0, 1025)))
    largest = float(max(fine.max(), np.linalg.det(stretch).max()))
    places = knots[:-1, None] + 0.5 * steps[:, None] * (_NODES + 1.0)
    weights = 0.5 * steps[:, None] * _NODE_WEIGHTS
    area = _area(_values(knots, cubics, places))
    w = _profile(area / largest)
    moments = np.array([(weights * area * w**k).sum() for k in range(3)])
    return Loft(knots, cubics, largest, moments)


@njit(cache=True)  # type: ignore[untyped-decorator]
def swelling(m0: float, m1: float, m2: float, shortening: float) -> float:
    """κ that keeps the volume, for ``L₀ / L``; see the head of this file."""
    missing = m0 * (1.0 - min(shortening, MOST_SHORTENED))
    square = m1 * m1 - m2 * missing
    if not square > 0.0:
        return THINNEST
    kappa: float = max(-missing / (m1 + np.sqrt(square)), THINNEST)
    return kappa


def _values(knots: Floats, cubics: Floats, u: Floats) -> Floats:
    piece = np.clip(np.searchsorted(knots, u, side="right") - 1, 0, len(cubics) - 1)
    x = (u - knots[piece])[..., None]
    c = cubics[piece]
    values: Floats = c[..., 0, :] + x * (c[..., 1, :] + x * (c[..., 2, :] + x * c[..., 3, :]))
    return values


def _area(values: Floats) -> Floats:
    area: Floats = values[..., 0] * values[..., 2] - values[..., 1] ** 2
    return area


def _profile(share: Floats) -> Floats:
    return share * (2.0 - share)


def _monotone(secants: Floats, steps: Floats) -> Floats:
    """Slopes at the inner knots, between those of the lines on both sides, zero at peaks; (R, columns)."""
    before, after = secants[:-1], secants[1:]
    h0, h1 = steps[:-1, None], steps[1:, None]
    product = before * after
    denominator = (2.0 * h1 + h0) * after + (h1 + 2.0 * h0) * before
    safe = np.where(denominator == 0.0, 1.0, denominator)
    slopes: Floats = np.where(product > 0.0, 3.0 * (h0 + h1) * product / safe, 0.0)
    return slopes


def _upright_share(stretch: Floats, slope: Floats, steps: Floats) -> float:
    """How much of a slope leaves both Bézier controls beside a ring at least a tenth of it."""
    root = np.linalg.inv(np.linalg.cholesky(stretch))
    change = root @ slope[[0, 1, 1, 2]].reshape(2, 2) @ root.T
    low, high = np.linalg.eigvalsh(change)
    # S + m h₁/3 after the ring, S − m h₀/3 before it
    deepest = max(-low * steps[1] / 3.0, high * steps[0] / 3.0)
    return 1.0 if deepest <= 1.0 - _FLATTEST else (1.0 - _FLATTEST) / deepest


def _checked(rings: Rings, where: str) -> tuple[Floats, Floats, Floats]:
    u = np.asarray(rings.u, np.float64)
    centre, axes = np.asarray(rings.centre, np.float64), np.asarray(rings.half_axes, np.float64)
    angle = np.asarray(rings.angle, np.float64)
    count = len(u)
    if count == 0 or centre.shape != (count, 2) or axes.shape != (count, 2) or angle.shape != (count,):
        raise EcorcheError(
            f"{count} rings have centres of shape {centre.shape}, half-axes of {axes.shape} and angles of"
            f" {angle.shape}",
            where=where,
            remedy="Give at least one ring, and for each a place, a centre, two half-axes and an angle",
        )
    for value, what in (
        (u, "the place"),
        (centre, "the centre"),
        (axes, "a half-axis"),
        (angle, "the angle"),
    ):
        require_finite(value, f"{what} of ring", where, EcorcheError)
    if not ((u > 0.0).all() and (u < 1.0).all() and (np.diff(u) > 0.0).all()):
        raise EcorcheError(
            "the places of its rings do not rise from the origin, 0, to the insertion, 1",
            where=where,
            remedy="Order the rings, and leave both ends to the origin and the insertion",
        )
    if not (axes > 0.0).all():
        raise EcorcheError(
            f"ring {int(np.argmin(axes.min(axis=1)))} has a half-axis of {axes.min():g} m",
            where=where,
            remedy="Give positive half-axes, or leave the ring out",
        )
    cosine, sine = np.cos(angle), np.sin(angle)
    turn = np.stack([np.stack([cosine, -sine], axis=-1), np.stack([sine, cosine], axis=-1)], axis=-2)
    stretch: Floats = (turn * axes[:, None, :]) @ np.swapaxes(turn, -1, -2)
    return u, stretch, centre
