"""The ellipse of a muscle's section: fitted to its bump, most to the top, and kept within the limb.

Text 001, "Construction of 3D Muscle Models": five numbers an ellipse, by any fitting; points near the
terminal triangle weigh most. Here: the direct fit of Fitzgibbon, Pilu and Fisher (1999), which always gives
an ellipse, in the numerically stable form of Halíř and Flusser (1998), with weights. Flat arcs tell little
of what lies below, so its size is bounded afterwards: it is shrunk or grown towards the bump's top, which
leaves it touching the skin there, until it reaches no further in than the section's middle and is at least
as wide as a share of the bump; and then made narrower, thinner or drawn in, by as little as keeps it within
the section.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ecorche.muscles.extraction.bump import Bump, Cut

Floats = npt.NDArray[np.float64]

LEAST_WIDTH = 0.5
"""Half-axes reach at least this share of half the bump's chord sideways, and half of that inwards."""
ROUNDEST, FLATTEST = 1.0, 3.0
"""Long half-axis over short one."""
SLACK = 0.03
"""An ellipse may leave the section by this share of its half-axes: a curve and its polygon differ."""
DRAWN_IN = np.linspace(0.0, 0.5, 6)
"""How far an ellipse may be drawn in from the skin, shares of its reach."""
THINNED = np.linspace(1.0, 0.3, 8)
"""By what an ellipse may be thinned."""
STRAIGHT_OUT = 0.1
"""Skin this near to the line outwards, a share of the half-width, lies over the top."""
NARROWEST = 0.05
"""Of its width is always left."""


@dataclass(frozen=True)
class Ellipse:
    """An ellipse in a plane.

    Attributes:
        centre: In (x, y) [m], shape (2,).
        half_axes: Both half-axes [m], shape (2,), the longer first.
        angle: Of the first half-axis, from x towards y [rad].
    """

    centre: Floats
    half_axes: Floats
    angle: float

    def points(self, count: int = 32) -> Floats:
        """Points round it, (count, 2)."""
        turn = 2.0 * np.pi * np.arange(count) / count
        local = np.column_stack([np.cos(turn), np.sin(turn)]) * self.half_axes
        return self.centre + local @ self.axes()

    def axes(self) -> Floats:
        """Rows: unit vectors along both half-axes, (2, 2)."""
        c, s = np.cos(self.angle), np.sin(self.angle)
        return np.array([[c, s], [-s, c]])

    def towards(self, point: Floats, factor: float) -> Ellipse:
        """Scaled by a factor about a point."""
        return Ellipse(point + factor * (self.centre - point), factor * self.half_axes, self.angle)


def fitted_ellipse(points: npt.ArrayLike, weights: npt.ArrayLike) -> Ellipse | None:
    """The ellipse that fits points (n, 2) with weights (n,) best; None where they lie on a line."""
    places, pull = np.asarray(points, np.float64), np.asarray(weights, np.float64)
    middle = pull @ places / pull.sum()
    scale = float(np.sqrt(pull @ np.sum((places - middle) ** 2, axis=1) / pull.sum()))
    if len(places) < 5 or scale <= 0.0:
        return None
    x, y = ((places - middle) / scale).T
    squares, lines = np.column_stack([x * x, x * y, y * y]), np.column_stack([x, y, np.ones_like(x)])
    s1, s2, s3 = (
        a.T @ (pull[:, None] * b) for a, b in ((squares, squares), (squares, lines), (lines, lines))
    )
    if np.linalg.cond(s3) > 1e12:
        return None
    down = -np.linalg.solve(s3, s2.T)
    reduced = s1 + s2 @ down
    reduced = np.stack([reduced[2] / 2.0, -reduced[1], reduced[0] / 2.0])
    _, vectors = np.linalg.eig(reduced)
    vectors = vectors.real
    found = 4.0 * vectors[0] * vectors[2] - vectors[1] ** 2
    if not (found > 1e-14).any():
        return None
    quadratic = vectors[:, int(np.argmax(found))]
    return _from_conic(np.concatenate([quadratic, down @ quadratic]), middle, scale)


def _from_conic(conic: Floats, middle: Floats, scale: float) -> Ellipse | None:
    """The ellipse ``a x² + b xy + c y² + d x + e y + f = 0``, scaled and moved back."""
    a, b, c, d, e, f = conic
    form = np.array([[a, b / 2.0], [b / 2.0, c]])
    centre = np.linalg.solve(form, [-d / 2.0, -e / 2.0])
    level = centre @ form @ centre - f
    values, axes = np.linalg.eigh(form)
    inverse = level / values
    if not (np.isfinite(inverse).all() and (inverse > 0.0).all()):
        return None
    long = int(np.argmax(inverse))
    half = np.sqrt(np.array([inverse[long], inverse[1 - long]]))
    angle = float(np.arctan2(axes[1, long], axes[0, long])) % np.pi
    return Ellipse(middle + scale * centre, scale * half, angle)


def bump_ellipse(cut: Cut, bump: Bump) -> Ellipse:
    """The ellipse of a bump of a closed section, bounded as said above."""
    count = len(cut.flat)
    own = cut.flat[np.arange(bump.first, bump.last + 1) % count]
    top = cut.flat[bump.top % count]
    middle = cut.flat.mean(axis=0)
    inward = middle - top
    depth = float(np.linalg.norm(inward))
    inward = inward / max(depth, 1e-12)
    chord = float(np.linalg.norm(own[-1] - own[0]))
    fit = fitted_ellipse(own, bump.weights)
    wide, deep = LEAST_WIDTH * 0.5 * chord, LEAST_WIDTH * 0.25 * chord
    if fit is None or (fit.centre - top) @ inward <= 0.0:  # flat or hollow: half as deep as wide
        half = np.array([max(wide, 1e-4), max(0.5 * wide, 1e-4)])
        angle = float(np.arctan2(inward[0], -inward[1])) % np.pi
        fit = Ellipse(top + half[1] * inward, half, angle)
    long, short = fit.half_axes
    short = float(np.clip(short, long / FLATTEST, long / ROUNDEST))
    fit = Ellipse(fit.centre, np.array([long, short]), fit.angle)
    across = np.array([-inward[1], inward[0]])
    fit = fit.towards(top, max(1.0, wide / _reach(fit, across), deep / _reach(fit, inward)))
    fit = _touching(fit, top, inward)
    fit = fit.towards(top, min(1.0, 0.5 * depth / _reach(fit, inward)))
    return within(fit, cut.flat, -inward)


def _reach(ellipse: Ellipse, direction: Floats) -> float:
    """How far an ellipse reaches from its centre in a direction [m]."""
    along = ellipse.axes() @ direction
    return float(np.hypot(ellipse.half_axes[0] * along[0], ellipse.half_axes[1] * along[1]))


def _touching(ellipse: Ellipse, top: Floats, inward: Floats) -> Ellipse:
    """Moved so that it reaches as far out as the top."""
    centre = top + _reach(ellipse, inward) * inward
    return Ellipse(centre, ellipse.half_axes, ellipse.angle)


def within(ellipse: Ellipse, curve: Floats, outward: Floats) -> Ellipse:
    """The ellipse made narrower, thinner or drawn in until no point of a section's curve (P, 2) lies in it.

    Of all ways to draw it in and to thin it the one is taken that, made only as narrow as it then must be,
    leaves it largest; what is drawn in counts as lost, since the skin over it no longer rests on it.

    Args:
        ellipse: Its centre lies within the section.
        curve: Close points of the section [m].
        outward: Unit vector from its centre to the skin, shape (2,).
    """
    basis = np.stack([[-outward[1], outward[0]], outward])
    arms = ellipse.half_axes[:, None] * ellipse.axes() @ basis.T
    form = arms.T @ arms
    x, y = basis @ (curve - ellipse.centre).T / (1.0 - SLACK)
    reach = float(np.sqrt(form[1, 1]))
    ahead = y[(np.abs(x) < STRAIGHT_OUT * np.sqrt(form[0, 0])) & (y > -2.0 * reach)]
    # the skin over its centre; where there is none, that under it: behind both lies the limb's other side
    over = ahead[ahead > 0.0].min() if (ahead > 0.0).any() else ahead.max(initial=-np.inf)
    too_far = max(reach - float(over), 0.0) if len(ahead) else 0.0  # out of the skin with its very top
    drawn = too_far + DRAWN_IN * reach
    thin = THINNED[:, None, None]
    # thinned about its top, then drawn in: told by what the curve looks like from there
    x, y = x[None, None], (y - reach * (1.0 - thin) + drawn[:, None]) / thin
    inverse = np.linalg.inv(form)
    a, b, c = inverse[0, 0] * x * x, inverse[0, 1] * x * y, inverse[1, 1] * y * y
    # narrowed by w, a point lies on it where a/w² + 2b/w + c = 1
    inside = a + 2.0 * b + c < 1.0
    root = np.sqrt(np.maximum(b * b - a * (c - 1.0), 0.0))
    width = np.where(inside, a / np.maximum(root - b, 1e-30), 1.0).min(axis=-1)
    left = width * THINNED[:, None] * (1.0 - DRAWN_IN)
    best, at = np.unravel_index(int(np.argmax(left)), left.shape)
    factor = np.array([max(float(width[best, at]), NARROWEST), THINNED[best]])
    moved = reach * (1.0 - factor[1]) - drawn[at]
    return ellipse_of(ellipse.centre + moved * outward, basis.T @ (factor[:, None] * form * factor) @ basis)


def ellipse_of(centre: Floats, form: Floats) -> Ellipse:
    """The ellipse of a centre (2,) and ``Σ a² e eᵀ`` of its half-axes a along e, (2, 2)."""
    values, vectors = np.linalg.eigh(form)
    half = np.sqrt(np.maximum(values[::-1], 1e-12))
    return Ellipse(centre, half, float(np.arctan2(vectors[1, 1], vectors[0, 1])) % np.pi)
