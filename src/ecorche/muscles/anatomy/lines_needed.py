"""How many action lines a muscle needs, and the seeds that keep them apart.

Text 002, 4.4: one line for a fusiform muscle, several for flat ones and those with several heads or tendons.
Here the shape decides: a section (its middle half) `FLAT` times as wide as thick or more wants a line for
every `STRIP` thicknesses; and holds of an end that lie apart, side by side and not one behind the other,
want a line each, as fingers' tendons do. The larger number counts, up to `MOST`.

Seeds: where holds are as many as lines, the holds; else equal strips of the widest of three sections, with
the other two sections cut the same way round.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ecorche.muscles.anatomy.attachments import Ends
from ecorche.muscles.anatomy.centroid import Sections
from ecorche.muscles.anatomy.holds import Hold
from ecorche.muscles.anatomy.surface_fields import SurfaceFields

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

FLAT = 3.5
"""Width over thickness from which on a muscle is flat."""
STRIP = 3.0
"""Thicknesses that one line's strip is wide."""
MOST = 5
"""Lines of one muscle, or of each half of one that crosses the sagittal plane."""
APART = 1.2
"""Holds of an end are separate if they lie further apart, across the muscle, than so many root areas of its
section there."""


def lines_needed(sections: Sections, ends: Ends) -> int:
    """The number of lines for a muscle."""
    return max(by_shape(sections), *(len(groups) for groups in _branches(sections, ends)))


def by_shape(sections: Sections) -> int:
    """The number of lines that the flatness of the sections asks for."""
    count = len(sections.loops)
    middle = slice(count // 4, max(count // 4 + 1, 3 * count // 4))
    flatness = float(np.median(sections.flatness[middle]))
    return int(np.clip(round(flatness / STRIP), 2, MOST)) if flatness > FLAT else 1


def _branches(sections: Sections, ends: Ends) -> tuple[list[list[Hold]], list[list[Hold]]]:
    """The separate holds of origin and insertion."""
    count = len(sections.centre)
    tenth = max(1, count // 10)
    stretch = max(1, count // 4)
    first, last = (
        sections.centre[stretch] - sections.centre[0],
        sections.centre[-1] - sections.centre[-stretch],
    )
    root = np.sqrt(sections.area)
    return (
        separate_holds(ends.origin, first, APART * float(root[:tenth].mean())),
        separate_holds(ends.insertion, last, APART * float(root[-tenth:].mean())),
    )


def separate_holds(holds: Sequence[Hold], along: Floats, apart: float) -> list[list[Hold]]:
    """Holds of one end grouped by what a line each can serve, at most `MOST`: the nearest are joined.

    Args:
        holds: The holds.
        along: Direction of the muscle there, shape (3,): only distances across it count.
        apart: Distance from which on holds are separate [m].
    """
    axis = along / max(float(np.linalg.norm(along)), 1e-12)
    groups = [[hold] for hold in holds]
    while len(groups) > 1:
        places = np.array([np.mean([hold.place for hold in group], axis=0) for group in groups])
        places = places - (places @ axis)[:, None] * axis
        gap = np.linalg.norm(places[:, None] - places[None], axis=-1)
        np.fill_diagonal(gap, np.inf)
        one, other = sorted(int(k) for k in np.unravel_index(int(gap.argmin()), gap.shape))
        if gap[one, other] > apart and len(groups) <= MOST:
            break
        groups[one] += groups.pop(other)
    return groups


def line_shares(fields: SurfaceFields, sections: Sections, ends: Ends, count: int) -> Floats:
    """How much of each vertex belongs to each line, shape (vertices, lines); rows add up to 1."""
    if count == 1:
        return np.ones((len(fields.points), 1))
    seeds: list[list[Ints]] = [[] for _ in range(count)]
    branched = max(_branches(sections, ends), key=len)
    if len(branched) == count:
        for line, group in enumerate(branched):
            seeds[line] += [hold.vertices for hold in group]
    else:
        for line, strip in enumerate(_strips(sections, count)):
            seeds[line] += strip
    vertices = np.concatenate([vertex for line in seeds for vertex in line])
    owner = np.concatenate([np.full(len(v), line) for line, parts in enumerate(seeds) for v in parts])
    shares = np.clip(fields.harmonic(vertices, np.eye(count)[owner]), 0.0, 1.0)
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))


def _strips(sections: Sections, count: int) -> list[list[Ints]]:
    """Vertices in the middle of each strip of three sections, strip by strip from one edge to the other."""
    rows = [len(sections.loops) * share // 100 for share in (30, 50, 70)]
    widest = rows[int(np.argmax(sections.outline[rows]))]
    across = _width_axis(sections, widest)
    strips: list[list[Ints]] = [[] for _ in range(count)]
    for row in rows:
        axis = _width_axis(sections, row)
        axis *= np.sign(axis @ across) or 1.0
        if sections.flatness[row] < 0.5 * FLAT and row != widest:
            continue
        points = np.concatenate([loop.points for loop in sections.loops[row]])
        near = np.concatenate(
            [np.where(loop.share < 0.5, loop.below, loop.above) for loop in sections.loops[row]]
        )
        place = points @ axis
        low, high = float(place.min()), float(place.max())
        strip = (place - low) / max(high - low, 1e-12) * count
        for line in range(count):
            # the inner two thirds of a strip, so that neighbours' seeds do not touch
            chosen = np.abs(strip - line - 0.5) < 1.0 / 3.0
            if not chosen.any():
                chosen = np.abs(strip - line - 0.5) == np.abs(strip - line - 0.5).min()
            strips[line].append(np.unique(near[chosen]))
    return strips


def _width_axis(sections: Sections, row: int) -> Floats:
    """The direction in which a section is widest, unit, shape (3,)."""
    points = np.concatenate([loop.points for loop in sections.loops[row]])
    return np.asarray(np.linalg.eigh(np.cov((points - points.mean(axis=0)).T))[1][:, -1])
