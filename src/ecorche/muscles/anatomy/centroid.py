"""The centroid curve of a muscle between its attachments, of one line or of several side by side.

Text 002, 4.1.8: the action line is the curve of the section's centroids (Jensen and Davy). Sections here are
level sets of a harmonic field over the surface, 0 where the muscle begins and 1 where it ends: they follow a
bent, branched or fan-shaped muscle, and the field has no other peak, so no part of the muscle is passed over.
Levels are quantiles of the surface's area over the field, so they are close where the muscle is long.

Several lines share the sections: line k's centroid weighs the section's outline by the square of its own
share, a harmonic field that is 1 at the line's seeds and 0 at the others'.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from numba import njit

from ecorche.base.contours import Contour, contours
from ecorche.muscles.anatomy.surface_fields import SurfaceFields

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

LEVELS = 48
"""Sections taken of a muscle."""
CRUMB = 0.02
"""Loops of a section shorter than this share of all its outline are left out."""


@dataclass(frozen=True, eq=False)
class Sections:
    """A muscle cut across, from origin to insertion.

    Attributes:
        field: The harmonic field at the vertices, shape (vertices,).
        loops: The outline of each section, one or several curves.
        area: Area of each section [m²], shape (sections,).
        outline: Length of each section's outline [m], shape (sections,).
        centre: Centroid of each section's area [m], shape (sections, 3).
    """

    field: Floats
    loops: tuple[tuple[Contour, ...], ...]
    area: Floats
    outline: Floats
    centre: Floats

    @property
    def flatness(self) -> Floats:
        """Width over thickness of sections, shape (sections,), told by outline and area: 1 where round.

        A flat section of width w and thickness t, rolled up or not, has the outline 2 (w + t), the area w t.
        """
        half = 0.5 * self.outline
        root = np.sqrt(np.maximum(half**2 - 4.0 * self.area, 0.0))
        return np.asarray((half + root) / np.maximum(half - root, 1e-12))


def sweep(fields: SurfaceFields, origin: Ints, insertion: Ints) -> Sections:
    """Cut a muscle across between two sets of its vertices."""
    held = np.concatenate([origin, insertion])
    ends = np.concatenate([np.zeros(len(origin)), np.ones(len(insertion))])
    field = fields.harmonic(held, ends[:, None])[:, 0]
    levels = _levels(field, fields.area)
    cut = contours(fields.points, fields.triangles, field, levels)
    kept, area, outline, centre = [], [], [], []
    for loops in cut.levels:
        if not loops:
            continue
        lengths = np.array([loop.length() for loop in loops])
        large = tuple(loop for loop, size in zip(loops, lengths, strict=True) if size > CRUMB * lengths.sum())
        measures = [_area(loop) for loop in large]
        total = sum(size for size, _ in measures)
        kept.append(large)
        area.append(total)
        outline.append(float(lengths.sum()))
        if total > 0.0:
            centre.append(sum(size * middle for size, middle in measures) / total)
        else:
            centre.append(np.mean([_along(loop, np.ones(len(loop.points)))[1] for loop in large], axis=0))
    return Sections(field, tuple(kept), np.array(area), np.array(outline), np.array(centre).reshape(-1, 3))


def centroid_curve(sections: Sections, share: Floats | None = None) -> Floats:
    """The centroids of all sections, or of one line's share of them (vertices,) [m], shape (sections, 3)."""
    if share is None:
        return sections.centre
    curve = np.empty((len(sections.loops), 3))
    for row, loops in enumerate(sections.loops):
        parts = [_along(loop, loop.read(share) ** 2) for loop in loops]
        total = sum(size for size, _ in parts)
        if total > 0.0:
            curve[row] = sum(size * middle for size, middle in parts) / total
        else:
            curve[row] = sections.centre[row]
    return curve


def _levels(field: Floats, area: Floats) -> Floats:
    """Values of the field below which equal shares of the surface between both ends lie."""
    inside = (field > 0.0) & (field < 1.0)
    if not inside.any():
        return np.array([0.5])
    order = np.argsort(field[inside], kind="stable")
    values, weight = field[inside][order], area[inside][order] + 1e-30
    reached = (np.cumsum(weight) - 0.5 * weight) / weight.sum()
    levels = np.interp((np.arange(LEVELS) + 0.5) / LEVELS, reached, values)
    return np.unique(np.clip(levels, 1e-6, 1.0 - 1e-6))


def _area(loop: Contour) -> tuple[float, Floats]:
    """Area [m²] and centroid [m] (3,) of what a curve goes round, as a fan about its middle."""
    _, middle = _along(loop, np.ones(len(loop.points)))
    centre = np.empty(3)
    return float(_fan(loop.points, middle, centre)), centre


def _along(loop: Contour, weight: Floats) -> tuple[float, Floats]:
    """The weighted length of a curve and its weighted middle [m], (3,)."""
    middle = np.empty(3)
    return float(_weighted(loop.points, weight, loop.closed, middle)), middle


@njit(cache=True)  # type: ignore[untyped-decorator]
def _weighted(points: Floats, weight: Floats, closed: bool, middle: Floats) -> float:
    total = 0.0
    middle[:] = 0.0
    for here in range(len(points) if closed else len(points) - 1):
        there = (here + 1) % len(points)
        step = points[there] - points[here]
        heavy = 0.5 * (weight[here] + weight[there]) * np.sqrt(np.sum(step * step))
        total += heavy
        middle += heavy * 0.5 * (points[here] + points[there])
    if total > 0.0:
        middle /= total
    else:
        for axis in range(3):
            middle[axis] = points[:, axis].mean()
    return total


@njit(cache=True)  # type: ignore[untyped-decorator]
def _fan(points: Floats, middle: Floats, centre: Floats) -> float:
    """The vector area of the fan has the size; triangles that face the other way take away."""
    count = len(points)
    across = np.empty((count, 3))
    whole = np.zeros(3)
    for here in range(count):
        across[here] = 0.5 * np.cross(points[here] - middle, points[(here + 1) % count] - middle)
        whole += across[here]
    size = np.sqrt(np.sum(whole * whole))
    centre[:] = middle
    if size < 1e-16:
        return 0.0
    for here in range(count):
        signed = np.sum(across[here] * whole) / (size * size)
        centre += signed * ((points[here] + points[(here + 1) % count] - 2.0 * middle) / 3.0)
    return float(size)
