"""Bumps over a shoulder or hip: how far the skin swells over the straight taper from trunk to limb.

Our own measure, for what text 001 leaves open: over a joint the skin is round whether a muscle lies there or
not, so a section's own variation tells nothing. As on limbs (`bumps`), the body without the muscle is the
straight taper between the first section and the thinnest near the last, at every direction from the bones;
distances are from the bones themselves, round the joint's corner.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from ecorche.muscles.extraction.bump import Bump, Cut
from ecorche.muscles.extraction.profiles import bumps_of_height, smoothed

Floats = npt.NDArray[np.float64]

DIRECTIONS = np.radians(np.arange(-110.0, 111.0, 5.0))
"""Directions from the bones at which sections are compared, from outwards [rad]."""
ENDS = 2
"""So many sections at each end, averaged, are the ends of the taper."""
THINNEST_FROM_END = 0.5
"""Within this share of the sections from the last, the thinnest is where the taper ends."""
GRAIN = 4.0
"""Waves shorter than this many directions or sections are the mesh's facets."""


def cap_bumps(
    cuts: Sequence[Cut], from_bones: Sequence[Floats], least: float, first: int = 0
) -> tuple[list[Cut], list[Bump]]:
    """The sections from the trunk to where the limb is thinnest, and their bumps.

    Args:
        cuts: Sections across a shoulder or hip in order, x outwards.
        from_bones: How far each one's points are from the bones [m], (P,) each.
        least: Least prominence [m].
        first: Number of the first section.
    """
    if len(cuts) < 2 * ENDS + 1:
        return [], []
    rows = np.stack([_by_direction(c, h) for c, h in zip(cuts, from_bones, strict=True)])
    late = max(int((1.0 - THINNEST_FROM_END) * len(cuts)), ENDS + 1)
    girth = np.array([np.nanmean(row) if np.isfinite(row).any() else np.inf for row in rows])
    last = late + int(np.argmin(girth[late:])) if late < len(cuts) else len(cuts) - 1
    kept, rows = cuts[: last + 1], rows[: last + 1]
    if len(kept) < 2 * ENDS + 1:
        return [], []
    ranks = np.array([c.rank for c in kept], float)
    heights = _over_taper(rows, ranks)
    bumps: list[Bump] = []
    for number, (cut, height) in enumerate(zip(kept, heights, strict=True)):
        known = np.isfinite(height)
        if int(known.sum()) < 4:
            continue
        at_points = np.interp(_angles(cut), DIRECTIONS[known], height[known], left=0.0, right=0.0)
        bumps += bumps_of_height(
            np.maximum(at_points, 0.0), first + number, least, cut.closed, len(cut.points)
        )
    return [replace(c) for c in kept], bumps


def _over_taper(rows: Floats, ranks: Floats) -> Floats:
    """How far rows stand over the line from the first known to the last known at each direction, (C, D)."""
    heights = np.full(rows.shape, np.nan)
    for column in range(rows.shape[1]):
        known = np.flatnonzero(np.isfinite(rows[:, column]))
        if len(known) < max(2 * ENDS + 1, len(rows) // 2):
            continue
        line = smoothed(rows[known, column], GRAIN, False)
        start, end = line[:ENDS].mean(), line[-ENDS:].mean()
        low, high = ranks[known[:ENDS]].mean(), ranks[known[-ENDS:]].mean()
        share = np.clip((ranks[known] - low) / max(high - low, 1e-12), 0.0, 1.0)
        heights[known, column] = line - (start + share * (end - start))
    for row in heights:
        known = np.isfinite(row)
        if int(known.sum()) >= 4:
            row[known] = smoothed(row[known], GRAIN, False)
    return heights


def _angles(cut: Cut) -> Floats:
    angles: Floats = np.arctan2(cut.flat[:, 1], cut.flat[:, 0])
    return angles


def _by_direction(cut: Cut, distance: Floats) -> Floats:
    """A section's distances from the bones at `DIRECTIONS`, NaN where it has none, (D,)."""
    angle = _angles(cut)
    order = np.argsort(angle, kind="stable")
    found: Floats = np.interp(DIRECTIONS, angle[order], distance[order], left=np.nan, right=np.nan)
    return found
