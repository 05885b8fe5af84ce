"""The ellipse of a muscle's section: fitted to its bump, most to the top, and kept within the limb.

Text 001, "Construction of 3D Muscle Models": five numbers an ellipse, by any fitting; points near the
terminal triangle weigh most. Here: the direct fit of Fitzgibbon, Pilu and Fisher (1999), which always gives
an ellipse, in the numerically stable form of Halíř and Flusser (1998), with weights. Flat arcs tell little
of what lies below, so its size is bounded afterwards: it is shrunk or grown towards the bump's top, which
leaves it touching the skin there, until it lies within the section, reaches no further in than the
section's middle, and is at least as wide as a share of the bump.
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
OUTSIDE = 0.01
"""An ellipse may leave the section by this share of its mean radius: a curve and its polygon differ."""
DRAWN_IN = np.linspace(0.0, 0.24, 7)
"""How far an ellipse may be drawn in from the skin, shares of the way to the section's middle."""
FACTORS = np.linspace(0.05, 1.0, 39)
"""By what an ellipse may be shrunk."""
ENOUGH = 0.8
"""What is left of an ellipse that is not to be drawn in further."""


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
    return _within(fit, cut.flat, top, inward, depth)


def _reach(ellipse: Ellipse, direction: Floats) -> float:
    """How far an ellipse reaches from its centre in a direction [m]."""
    along = ellipse.axes() @ direction
    return float(np.hypot(ellipse.half_axes[0] * along[0], ellipse.half_axes[1] * along[1]))


def _touching(ellipse: Ellipse, top: Floats, inward: Floats) -> Ellipse:
    """Moved so that it reaches as far out as the top."""
    centre = top + _reach(ellipse, inward) * inward
    return Ellipse(centre, ellipse.half_axes, ellipse.angle)


def _within(ellipse: Ellipse, curve: Floats, top: Floats, inward: Floats, depth: float) -> Ellipse:
    """Drawn in a little, or shrunk towards the skin, until it leaves a closed curve by at most `OUTSIDE`.

    It is drawn in as little as leaves it `ENOUGH` of its size, for a corner of the skin is no measure of what
    lies below; else by what leaves it largest.
    """
    middle = curve.mean(axis=0)
    around = curve - middle
    radii = np.linalg.norm(around, axis=1)
    angles = np.arctan2(around[:, 1], around[:, 0])
    shape = ellipse.points() - top
    shifts, factors = DRAWN_IN[:, None, None, None] * depth * inward, FACTORS[:, None, None]
    tried = top + shifts + factors * shape - middle
    limit = np.interp(np.arctan2(tried[..., 1], tried[..., 0]), angles, radii, period=2.0 * np.pi)
    inside = (np.linalg.norm(tried, axis=-1) <= limit + OUTSIDE * radii.mean()).all(axis=-1)
    best = np.where(inside, FACTORS, FACTORS[0]).max(axis=1)
    chosen = int(np.argmax(best >= ENOUGH)) if (best >= ENOUGH).any() else int(np.argmax(best))
    shrunk = ellipse.towards(top, float(best[chosen]))
    return Ellipse(shrunk.centre + DRAWN_IN[chosen] * depth * inward, shrunk.half_axes, shrunk.angle)
