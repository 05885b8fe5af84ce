"""How a muscle swells where its line shortens, and tenses with activation, about the middle of its section.

Isotonic and isometric contraction of text 002 (4.4.4 to 4.5.6) in one formula: the vertex X of a local frame
goes to ``X' = c + diag(s_x, s_y, 1)(X − c)``, where c is the centroid of its section at bind in local
coordinates and ``s = √e (1 + α(σ − 1))``. It replaces (4.11), which moves the mesh at bind and divides by
zero.

* e, initial over current length, is known a segment. A monotone C1 cubic (Fritsch–Butland slopes) over the
  line's length at bind goes through its values at the middles of the segments and level into 1 at both
  attachments, where flesh is bone's. Monotone, because an overshooting cubic can fall below zero.
* σ, the full isometric contraction along x and y, is given a node and interpolated the same way.
* α is the muscle's activation.

Volume: ``"thesis"`` is this formula. ``"exact"`` multiplies s by ``1 + κ g``, with g = 1 along the belly and
0 at the attachments, and one κ a muscle that gives the mesh its volume of bind. Vertices are linear in κ, so
the volume is a cubic in it, whose four numbers one pass over the triangles finds; its root next to 0 follows
by Newton's rule.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from numba import njit

from ecorche.base.rotations import inverse_xyzw, rotate_xyzw
from ecorche.base.smooth_step import smooth_step
from ecorche.muscles.lines.mapping import Mapping

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int32]

VolumeRule = Literal["exact", "thesis"]

SHORTEST = 0.1
"""A segment swells no further than it would at this share of its length at bind."""
RISE = 0.2
"""Share of a line's length over which g rises from an attachment."""
STRONGEST = 0.9
"""κ stays within −this and 1 / (1 − this) − 1: a belly from a tenth to ten times as broad."""
SECTIONS = 4
"""Sections a segment whose centroids are measured."""


def knots(nodes: Floats) -> Floats:
    """Where along a line (n, 3) its elongation is given, ends and middles of segments, (n + 1,) [m]."""
    reached = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(nodes, axis=0), axis=1))])
    return np.concatenate([[0.0], 0.5 * (reached[1:] + reached[:-1]), reached[-1:]])


def cubic_basis(at: Floats, where: Floats) -> tuple[Ints, Floats]:
    """The knot before each place (V,) and how values and slopes of it and the next count there, (V, 4).

    Args:
        at: Knots, ascending, (K,).
        where: Places, (V,).
    """
    k = np.clip(np.searchsorted(at, where, "right") - 1, 0, len(at) - 2)
    step = at[k + 1] - at[k]
    u = np.clip((where - at[k]) / np.where(step > 0.0, step, 1.0), 0.0, 1.0)
    rising = u * u * (3.0 - 2.0 * u)
    weights = np.stack([1.0 - rising, step * u * (1.0 - u) ** 2, rising, -step * u * u * (1.0 - u)], axis=1)
    return k.astype(np.int32), weights


@njit(cache=True)  # type: ignore[untyped-decorator]
def monotone_slope(before: float, after: float, step_before: float, step_after: float) -> float:
    """Of a monotone cubic at a knot between two chords of these slopes and lengths (Fritsch and Butland)."""
    if not before * after > 0.0:
        return 0.0
    w, v = 2.0 * step_after + step_before, step_after + 2.0 * step_before
    return (w + v) / (w / before + v / after)


@njit(cache=True)  # type: ignore[untyped-decorator]
def elongation_knots(
    starts: Ints, initial: Floats, lengths: Floats, at: Floats, values: Floats, slopes: Floats
) -> None:
    """Values and slopes of e = initial / current at the knots of all lines.

    The knots of line l begin at ``starts[l] + l``; arrays of segments begin at ``starts[l] − l``.
    """
    for line in range(len(starts) - 1):
        segment, knot, count = starts[line] - line, starts[line] + line, starts[line + 1] - starts[line]
        for k in range(count - 1):
            first = initial[segment + k]
            values[knot + 1 + k] = first / max(lengths[segment + k], SHORTEST * first) if first > 0.0 else 1.0
        values[knot] = values[knot + count] = 1.0
        slopes[knot] = slopes[knot + count] = 0.0
        for k in range(knot + 1, knot + count):
            left, right = at[k] - at[k - 1], at[k + 1] - at[k]
            if left > 0.0 and right > 0.0:
                before, after = (values[k] - values[k - 1]) / left, (values[k + 1] - values[k]) / right
                slopes[k] = monotone_slope(before, after, left, right)
            else:
                slopes[k] = 0.0


def along_nodes(nodes: Floats, given: Floats, where: Floats) -> Floats:
    """Numbers given a node of a line, (n, d), monotone and C1 between them, at places ``where`` (V,) [m]."""
    at = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(nodes, axis=0), axis=1))])
    slopes = np.zeros(given.shape)
    for k in range(1, len(at) - 1):
        left, right = at[k] - at[k - 1], at[k + 1] - at[k]
        if left > 0.0 and right > 0.0:
            before, after = (given[k] - given[k - 1]) / left, (given[k + 1] - given[k]) / right
            slopes[k] = [monotone_slope(a, b, left, right) for a, b in zip(before, after, strict=True)]
    knot, basis = cubic_basis(at, where)
    numbers = given[knot], slopes[knot], given[knot + 1], slopes[knot + 1]
    return np.asarray(sum(basis[:, i, None] * number for i, number in enumerate(numbers)))


def belly_rise(length: float, where: Floats) -> Floats:
    """g at places ``where`` (V,) [m] of a line of this length: 0 at its ends, 1 past `RISE` from both."""
    share = where / length
    return smooth_step(share / RISE) * smooth_step((1.0 - share) / RISE)


def section_centroids(
    points: Floats, triangles: npt.NDArray[np.integer], mapping: Mapping, at: Floats
) -> Floats:
    """Middle of the section's outline in local x and y, at vertices of one line's region, (V, 2) [m].

    Sections are where the place along the line is level on the mesh. Text 002 samples their outline evenly;
    here it is weighted by its length, which asks nothing of the mesh. Between sections the middles are
    interpolated linearly, past the last ones kept.

    Args:
        points: Vertices [m], (V, 3).
        triangles: Of the line's region, (T, 3).
        mapping: Of the vertices to the line.
        at: Heights of the line's nodes [m], (n,).
    """
    local = rotate_xyzw(inverse_xyzw(mapping.turn), points - mapping.place)[:, :2]
    between = [np.linspace(a, b, SECTIONS, endpoint=False) for a, b in pairwise(at)]
    levels = np.unique(np.concatenate(between))
    middles, length = _middles(mapping.along[triangles], local[triangles], levels[1:])
    kept = length > 0.0
    if not kept.any():
        return np.zeros((len(points), 2))
    return np.stack([np.interp(mapping.along, levels[1:][kept], middles[kept, k]) for k in range(2)], axis=1)


@njit(cache=True, error_model="numpy")  # type: ignore[untyped-decorator]
def _middles(height: Floats, corner: Floats, levels: Floats) -> tuple[Floats, Floats]:
    """Middle (L, 2) and length (L,) [m] of the outline at levels of corners (T, 3, 2) of heights (T, 3)."""
    middles, lengths, ends = np.zeros((len(levels), 2)), np.zeros(len(levels)), np.empty((2, 2))
    for at, level in enumerate(levels):
        for t in range(len(height)):
            a, b, c = height[t, 0] >= level, height[t, 1] >= level, height[t, 2] >= level
            if a == b == c:
                continue
            alone = 2 if a == b else 1 if a == c else 0
            # where the two sides that meet in the corner alone on its side are cut
            for step in range(2):
                other = (alone + step + 1) % 3
                share = (level - height[t, alone]) / (height[t, other] - height[t, alone])
                for k in range(2):
                    ends[step, k] = corner[t, alone, k] + share * (corner[t, other, k] - corner[t, alone, k])
            length = np.sqrt((ends[0, 0] - ends[1, 0]) ** 2 + (ends[0, 1] - ends[1, 1]) ** 2)
            lengths[at] += length
            for k in range(2):
                middles[at, k] += 0.5 * length * (ends[0, k] + ends[1, k])
        if lengths[at] > 0.0:
            middles[at] /= lengths[at]
    return middles, lengths


@njit(cache=True)  # type: ignore[untyped-decorator]
def volume_root(volume: Any, wanted: float) -> tuple[float, bool]:
    """κ with ``volume[0] + volume[1] κ + volume[2] κ² + volume[3] κ³ = wanted`` next to 0, and whether it is.

    Exactly 0 where ``volume[0]`` is what is wanted to the last bit. Where no κ in reach gives the volume,
    the one that comes nearest on the way there.
    """
    kappa, rest = 0.0, 0.0
    for _ in range(50):
        rest = volume[0] - wanted + kappa * (volume[1] + kappa * (volume[2] + kappa * volume[3]))
        slope = volume[1] + kappa * (2.0 * volume[2] + 3.0 * kappa * volume[3])
        if rest == 0.0 or not slope > 0.0:
            break
        new = min(max(kappa - rest / slope, -STRONGEST), 1.0 / (1.0 - STRONGEST) - 1.0)
        if abs(new - kappa) <= 1e-15:
            break
        kappa = new
    return kappa, abs(rest) <= 1e-9 * wanted


def isometric_profile(starts: Sequence[int] | Ints, height: float = 1.3, width: float = 0.9) -> Floats:
    """σ of x and y at every node of packed lines, (N, 2): 1 at the ends, as given in the middle."""
    begin = np.asarray(starts, np.int64)
    owner = np.repeat(np.arange(len(begin) - 1), np.diff(begin))
    share = (np.arange(begin[-1]) - begin[owner]) / np.maximum(np.diff(begin)[owner] - 1, 1)
    return np.asarray(1.0 + np.sin(np.pi * share)[:, None] ** 2 * (np.array([height, width]) - 1.0))
