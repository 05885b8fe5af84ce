"""Bumps of a profile curve: how it departs from the smooth curve it would be without them.

Text 001, "Identification of Potential Muscles": on neck, chest and abdomen the variation of the profile
curves tells the muscles; it does not say against what. Here: against the curve smoothed by Whittaker and
Henderson's method of order three, which takes out waves shorter than a stated length and leaves lines, parabolas and
(within a thousandth) wide circles as they are, up to the ends of an open curve. What stands out over that
base is a bump; the valleys between bumps are their borders; its prominence is how far its top stands over the
higher of both valleys, each measured from the base.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.linalg import solveh_banded

from ecorche.muscles.extraction.bump import Bump, Cut

Floats = npt.NDArray[np.float64]

GRAIN = 0.12
"""Waves shorter than this share of the base's length are the mesh's facets, not the body's."""
LEAST_WEIGHT = 0.02
"""Weight of the points at a bump's border."""


@dataclass(frozen=True, eq=False)
class Relief:
    """A profile curve against its base.

    Attributes:
        height: How far each point stands out over the base [m], (P,); hollows are negative.
        smooth: The curve without the mesh's facets, unrolled [m], (P, 2).
        base: The base, unrolled [m], (P, 2).
        outward: Unit vectors away from the body, unrolled, (P, 2).
    """

    height: Floats
    smooth: Floats
    base: Floats
    outward: Floats


def relief(cut: Cut, longest: float) -> Relief:
    """How a section departs from its base.

    Args:
        cut: A section with evenly spaced points, the body on its left.
        longest: Waves longer than this belong to the base [m].
    """
    step = _spacing(cut)
    smooth = smoothed(cut.flat, GRAIN * longest / step, 2, cut.closed)
    base = smoothed(cut.flat, longest / step, 3, cut.closed)
    along = _tangents(base, cut.closed)
    outward = np.stack([along[:, 1], -along[:, 0]], axis=1)
    return Relief(np.sum((smooth - base) * outward, axis=1), smooth, base, outward)


def profile_bumps(cut: Cut, number: int, longest: float, least: float) -> list[Bump]:
    """The bumps of a section that stand out by at least ``least`` [m], in order along it.

    Args:
        cut: A section with evenly spaced points.
        number: Its number.
        longest: Waves longer than this belong to the base [m].
        least: Least prominence [m].
    """
    height = relief(cut, longest).height
    found = []
    for first, top, last, prominence in _hills(height, least, cut.closed):
        own = height[np.arange(first, last + 1) % len(height)]
        floor = own[-1] + (own[0] - own[-1]) * np.linspace(1.0, 0.0, len(own))
        weights = np.clip((own - floor) / max(float((own - floor)[top - first]), 1e-12), LEAST_WEIGHT, 1.0)
        weights[top - first] = 1.0
        found.append(Bump(number, first, last, top, prominence, weights))
    return found


def smoothed(points: Floats, wavelength: float, order: int, closed: bool) -> Floats:
    """Points with waves shorter than ``wavelength`` (in steps) taken out, after Whittaker and Henderson.

    Waves of that very length are halved. Polynomials of degree below ``order`` stay as they are.
    """
    count = len(points)
    if count <= order or wavelength <= 2.0:
        return np.array(points, np.float64)
    stiffness = (2.0 * np.sin(np.pi / wavelength)) ** (-2 * order)
    if closed:
        turns = 2.0 * np.pi * np.arange(count // 2 + 1) / count
        gain = 1.0 / (1.0 + stiffness * (2.0 - 2.0 * np.cos(turns)) ** order)
        round_: Floats = np.fft.irfft(np.fft.rfft(points, axis=0) * gain[:, None], count, axis=0)
        return round_
    kernel = np.array([1.0])
    for _ in range(order):
        kernel = np.convolve(kernel, [-1.0, 1.0])
    bands = np.zeros((order + 1, count))
    for row in range(count - order):  # D'D, its upper bands only
        for i in range(order + 1):
            for j in range(i, order + 1):
                bands[order - (j - i), row + j] += kernel[i] * kernel[j]
    bands *= stiffness
    bands[order] += 1.0
    solved: Floats = solveh_banded(bands, np.asarray(points, np.float64))
    return solved


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


def _spacing(cut: Cut) -> float:
    steps = np.linalg.norm(np.diff(cut.flat, axis=0), axis=1)
    return max(float(np.median(steps)), 1e-9)


def _tangents(curve: Floats, closed: bool) -> Floats:
    """Unit vectors along a curve, (P, 2)."""
    around = np.vstack([curve[-1:], curve, curve[:1]])
    along = 0.5 * (around[2:] - around[:-2]) if closed else np.gradient(curve, axis=0)
    unit: Floats = along / np.maximum(np.linalg.norm(along, axis=1), 1e-12)[:, None]
    return unit
