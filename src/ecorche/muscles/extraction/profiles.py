"""Bumps of a profile curve: how it departs from the smooth curve it would be without them.

Text 001, "Identification of Potential Muscles": on neck, chest and abdomen the variation of the profile
curves tells the muscles; it does not say against what. Here: how far the curve lies outside the ellipse that
fits it, since a trunk is wider than deep and its flanks are no muscles (on a neck, which is round but for its
muscles, outside the circle), less the same smoothed along the
curve by Whittaker and Henderson's method, which takes out waves shorter than a stated length. What stands out
over both is a bump; the valleys between bumps are their borders; its prominence is how far its top stands
over the higher of both valleys.

The text fits an ellipse to a bump with weights that fall from its top. Of an open arc on a nearly flat chest
any large ellipse fits, so here its long axis is the chord between the valleys, and only depth and height are
fitted; the depth is bounded by the room over the bone.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.linalg import solveh_banded

from ecorche.muscles.extraction.bump import Bump, Cut
from ecorche.muscles.extraction.ellipses import Ellipse, fitted_ellipse, within

Floats = npt.NDArray[np.float64]

GRAIN = 0.12
"""Waves shorter than this share of the base's length are the mesh's facets, not the body's."""
WIDEST = 2.5
"""How much wider than deep the ellipse of an arc may be; a short arc fits a very flat one too."""
WIDEST_BUMP = 0.6
"""A bump reaches at most this share of the base's wave length to either side: 12 cm on a man's chest."""
FOOT = 0.25
"""A bump ends where it is only this share of its prominence high, if that is before its valley."""
SECOND_DIFFERENCE = (1.0, -2.0, 1.0)
LEAST_WEIGHT = 0.02
"""Weight of the points at a bump's border."""


def relief(cut: Cut, longest: float, round_: bool = False) -> Floats:
    """How far each point of a section stands out over its base [m], (P,); hollows are negative.

    Args:
        cut: A section with evenly spaced points, the body on its left.
        longest: Waves longer than this belong to the base [m].
        round_: Whether the body would be round there without muscles, and not oval.
    """
    length = _length(cut)
    count = len(cut.flat)
    smooth = smoothed(cut.flat, GRAIN * longest * count / length, cut.closed)
    away = _from_circle(smooth) if round_ else _from_ellipse(smooth, cut.closed)
    return away - smoothed(away, longest * count / length, cut.closed)


def profile_bumps(cut: Cut, number: int, longest: float, least: float, round_: bool = False) -> list[Bump]:
    """The bumps of a section that stand out by at least ``least`` [m], in order along it.

    Args:
        cut: A section with evenly spaced points.
        number: Its number.
        longest: Waves longer than this belong to the base [m].
        least: Least prominence [m].
        round_: Whether the body would be round there without muscles, and not oval.
    """
    widest = max(int(WIDEST_BUMP * longest * len(cut.flat) / _length(cut)), 2)
    return bumps_of_height(relief(cut, longest, round_), number, least, cut.closed, widest)


def bumps_of_height(height: Floats, number: int, least: float, closed: bool, widest: int) -> list[Bump]:
    """The hills of a height (P,) along section ``number`` as bumps, those at least ``least`` high [m].

    A bump reaches at most ``widest`` points to either side of its top.
    """
    found = []
    for low, top, high, prominence in _hills(height, least, closed):
        ground = height[top % len(height)] - (1.0 - FOOT) * prominence
        first, last = top - 1, top + 1  # without the level ground between a bump and a far valley
        while first > low and height[first % len(height)] > ground:
            first -= 1
        while last < high and height[last % len(height)] > ground:
            last += 1
        first, last = max(first, top - widest), min(last, top + widest)
        rounds = first // len(height) * len(height) if closed else 0
        first, top, last = first - rounds, top - rounds, last - rounds
        own = height[np.arange(first, last + 1) % len(height)]
        floor = own[-1] + (own[0] - own[-1]) * np.linspace(1.0, 0.0, len(own))
        weights = np.clip((own - floor) / max(float((own - floor)[top - first]), 1e-12), LEAST_WEIGHT, 1.0)
        weights[top - first] = 1.0
        found.append(Bump(number, first, last, top, prominence, weights))
    return found


def profile_ellipse(cut: Cut, bump: Bump, deepest: float) -> Ellipse:
    """The ellipse of a bump in its section, unrolled.

    The first half-axis lies along the chord between the bump's valleys; the second points outwards and is
    fitted, weighted by the bump's weights, between a tenth of the first and ``deepest`` [m]. It reaches out
    as far as the bump's top, and is then kept within the section.
    """
    arc = cut.flat[np.arange(bump.first, bump.last + 1) % len(cut.flat)]
    chord = arc[-1] - arc[0]
    length = float(np.linalg.norm(chord))
    along = chord / max(length, 1e-12)
    outward = np.array([along[1], -along[0]])
    middle = 0.5 * (arc[0] + arc[-1])
    half = max(0.5 * length, 1e-6)
    x, y = (arc - middle) @ along / half, (arc - middle) @ outward
    rise = np.sqrt(np.clip(1.0 - x**2, 0.0, 1.0))
    shares = bump.weights / bump.weights.sum()
    mean_rise, mean_height = shares @ rise, shares @ y
    spread = shares @ (rise - mean_rise) ** 2
    depth = float(shares @ ((rise - mean_rise) * (y - mean_height)) / max(spread, 1e-12))
    depth = float(np.clip(depth, 0.1 * half, max(min(deepest, half), 0.1 * half)))
    centre = middle + (y[bump.top - bump.first] - depth) * outward
    ellipse = Ellipse(centre, np.array([half, depth]), float(np.arctan2(along[1], along[0])))
    return within(ellipse, cut.flat, outward)


def smoothed(values: Floats, wavelength: float, closed: bool, weights: Floats | None = None) -> Floats:
    """Values along a curve with waves shorter than ``wavelength`` (in steps) taken out, (P, …).

    Whittaker and Henderson's method of order two: waves of that very length are halved, straight lines stay
    as they are up to the ends of an open curve. ``weights`` (P,) says how much each point counts, 1 without.
    """
    count = len(values)
    if count < 4 or wavelength <= 2.0:
        return np.array(values, np.float64)
    counted = np.ones(count) if weights is None else weights
    round_ = int(3.0 * wavelength) if closed else 0  # a closed curve goes on at both ends
    line = np.arange(-round_, count + round_) % count
    bands = np.zeros((3, len(line)))
    for i, one in enumerate(SECOND_DIFFERENCE):  # D'D of the differences D, its upper bands only
        for j, other in enumerate(SECOND_DIFFERENCE[i:], i):
            bands[2 - (j - i), j : len(line) - 2 + j] += one * other
    bands *= (2.0 * np.sin(np.pi / wavelength)) ** -4
    bands[2] += counted[line]
    pull = counted[line].reshape(-1, *(1,) * (values.ndim - 1))
    solved: Floats = solveh_banded(bands, pull * values[line])
    return solved[round_ : round_ + count]


def _from_ellipse(curve: Floats, closed: bool) -> Floats:
    """How far a curve's points lie outside the ellipse that fits it [m], (P,).

    Where it would be more than `WIDEST` times as wide as deep: from a closed curve's middle, outside an arc's
    chord.
    """
    fit = fitted_ellipse(curve, np.ones(len(curve)))
    if fit is None or fit.half_axes[0] > WIDEST * fit.half_axes[1]:
        return _from_middle(curve) if closed else _from_chord(curve)
    local = (curve - fit.centre) @ fit.axes().T
    # to first order: what the ellipse's equation is off, over its slope
    equation = np.linalg.norm(local / fit.half_axes, axis=1)
    slope = np.linalg.norm(local / fit.half_axes**2, axis=1) / np.maximum(equation, 1e-12)
    outside: Floats = (equation - 1.0) / np.maximum(slope, 1e-12)
    return -outside if _hollow(curve, fit.centre) else outside


def _hollow(curve: Floats, centre: Floats) -> bool:
    """Whether a curve bends away from the body, so that its centre lies outside."""
    around, along = curve - centre, np.gradient(curve, axis=0)
    return bool(np.median(around[:, 0] * along[:, 1] - around[:, 1] * along[:, 0]) < 0.0)


def _from_circle(curve: Floats) -> Floats:
    """How far a curve's points lie outside the circle that fits it [m], (P,)."""
    middle = curve.mean(axis=0)
    places = curve - middle
    lines = np.column_stack([2.0 * places, np.ones(len(places))])
    *centre, rest = np.linalg.lstsq(lines, np.sum(places**2, axis=1), rcond=None)[0]
    radius = float(np.sqrt(max(rest + np.dot(centre, centre), 0.0)))
    outside: Floats = np.linalg.norm(places - centre, axis=1) - radius
    return -outside if _hollow(places, np.array(centre)) else outside


def _from_middle(curve: Floats) -> Floats:
    distance: Floats = np.linalg.norm(curve - curve.mean(axis=0), axis=1)
    return distance


def _from_chord(curve: Floats) -> Floats:
    chord = curve[-1] - curve[0]
    outward = np.array([chord[1], -chord[0]]) / max(float(np.linalg.norm(chord)), 1e-12)
    beside: Floats = (curve - curve[0]) @ outward
    return beside


def _hills(height: Floats, least: float, closed: bool) -> list[tuple[int, int, int, float]]:
    """Hills (first, top, last, prominence) of a height along a curve, whose valleys are their borders.

    Valleys that separate hills by less than ``least`` are filled: the hills beside them are one. An end of
    an open curve is a valley only if the height falls towards it; of a hill that rises up to the end, nobody
    knows how it goes on.
    """
    count = len(height)
    start = int(height.argmin()) if closed else 0
    line = np.append(np.roll(height, -start), height[start]) if closed else height
    turning = _turning_points(line)
    # take out the shallowest valley or lowest hill between neighbours, until all differences are large enough
    while len(turning) > 2:
        steps = np.abs(np.diff(line[turning]))
        small = int(steps.argmin())
        if steps[small] >= least:
            break
        if len(turning) == 3:
            del turning[1]
        elif small == 0:
            del turning[slice(1, 3) if closed else slice(0, 1)]
        elif small == len(steps) - 1:
            del turning[slice(-3, -1) if closed else slice(-1, None)]
        else:
            del turning[small : small + 2]
    hills = []
    for before, here, after in zip(turning, turning[1:], turning[2:], strict=False):
        over = float(line[here] - max(line[before], line[after]))
        if over >= least:
            hills.append((start + before, start + here, start + after, over))
    return [_counted_round(hill, count) if closed else hill for hill in hills]


def _counted_round(hill: tuple[int, int, int, float], count: int) -> tuple[int, int, int, float]:
    """The hill with its first point within the first round."""
    rounds = (hill[0] // count) * count
    return hill[0] - rounds, hill[1] - rounds, hill[2] - rounds, hill[3]


def _turning_points(line: Floats) -> list[int]:
    """Ends, tops and bottoms of a line in order; of a level stretch its first point."""
    rises = np.sign(np.diff(line))
    moving = np.flatnonzero(rises)
    if len(moving) == 0:
        return [0, len(line) - 1]
    turns = np.flatnonzero(np.diff(rises[moving])) + 1
    return [0, *(int(moving[t]) for t in turns), len(line) - 1]


def _length(cut: Cut) -> float:
    """Along a section, unrolled [m]."""
    points = np.vstack([cut.flat, cut.flat[:1]]) if cut.closed else cut.flat
    return max(float(np.linalg.norm(np.diff(points, axis=0), axis=1).sum()), 1e-9)
