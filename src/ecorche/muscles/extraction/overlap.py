"""Whose the skin is in which two groups of cutting surfaces have found a muscle.

Text 001 lets groups of surfaces overlap, and says that the dominating one handles a muscle; it leaves open
which that is. Here: the one whose sections cross the muscle most squarely where it stands out most, over the
longest way. For each track that is the sum over its
sections of prominence, times the way to the next, times the cosine between that way and the section's normal.
The other keeps what is left to it: on a neck the upper half of a sternomastoid, whose lower end shows in the
same sections as the trapezius.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from operator import itemgetter

import numpy as np
import numpy.typing as npt
from scipy.spatial import cKDTree

from ecorche.muscles.extraction.bump import Bump, Cut
from ecorche.muscles.extraction.linking import FEWEST_BUMPS

Floats = npt.NDArray[np.float64]

SAME = 0.5
"""A bump is another track's if this share of its skin is that one's too."""
NEAR = 1.0
"""Skin counts as another track's within this many distances between sections."""


def parted(
    tracks: Sequence[Sequence[int]], bumps: Sequence[Bump], cuts: Sequence[Cut], sides: Sequence[int] = ()
) -> tuple[list[tuple[int, ...]], dict[int, int]]:
    """What each track keeps where skin is another region's too, and which track took most of what it lost.

    Args:
        tracks: Numbers of the bumps of each, by rising rank of their sections.
        bumps: All bumps.
        cuts: All sections.
        sides: 1 for a track on the left of the trunk, −1 on its right, else 0; muscles come in pairs, so a
            left one is never a right one's, though both reach the middle.

    Returns:
        The bumps that each keeps, the longest stretch of its own; empty where that is no muscle. And for each
        that lost bumps the one that has them.
    """
    tops = [np.stack([_top(bumps[b], cuts) for b in track]) for track in tracks]
    steps = [
        float(np.median(np.linalg.norm(np.diff(t, axis=0), axis=1))) if len(t) > 1 else 0.0 for t in tops
    ]
    regions = [cuts[bumps[track[0]].cut].region for track in tracks]
    score = [_strength(track, top, bumps, cuts) for track, top in zip(tracks, tops, strict=True)]
    kept = [tuple(track) for track in tracks]
    lost: dict[int, int] = {}
    for winner in sorted(range(len(tracks)), key=lambda t: (-score[t], t)):
        if not kept[winner]:
            continue
        tree = cKDTree(np.concatenate([_skin(bumps[b], cuts) for b in kept[winner]]))
        for other in range(len(tracks)):
            if other == winner or regions[other] == regions[winner] or not kept[other]:
                continue
            if (score[other], -other) > (score[winner], -winner):
                continue
            if sides and sides[other] * sides[winner] < 0:
                continue
            reach = NEAR * max(steps[winner], steps[other])
            free = [not _shared(bumps[b], cuts, tree, reach) for b in kept[other]]
            if not all(free):
                kept[other] = _muscle_left(kept[other], free, bumps, cuts)
                lost[other] = winner
    return kept, lost


def _shared(bump: Bump, cuts: Sequence[Cut], tree: cKDTree, reach: float) -> bool:
    """Whether most of a bump's skin is also the skin in the tree."""
    away, _ = tree.query(_skin(bump, cuts), distance_upper_bound=reach)
    return float(np.mean(np.isfinite(away))) >= SAME


def _muscle_left(
    track: Sequence[int], free: Sequence[bool], bumps: Sequence[Bump], cuts: Sequence[Cut]
) -> tuple[int, ...]:
    """The longest stretch of a track's bumps that are free; none where that is shorter than wide, a rim."""
    runs = [[b for b, _ in run] for own, run in groupby(zip(track, free, strict=True), itemgetter(1)) if own]
    longest = max(runs, key=len, default=[])
    if len(longest) < FEWEST_BUMPS:
        return ()
    skins = [_skin(bumps[b], cuts) for b in longest]
    width = float(np.median([np.linalg.norm(s[-1] - s[0]) for s in skins]))
    length = float(np.linalg.norm(_top(bumps[longest[-1]], cuts) - _top(bumps[longest[0]], cuts)))
    return tuple(longest) if length >= width else ()


def _top(bump: Bump, cuts: Sequence[Cut]) -> Floats:
    points = cuts[bump.cut].points
    top: Floats = points[bump.top % len(points)]
    return top


def _skin(bump: Bump, cuts: Sequence[Cut]) -> Floats:
    """All points of a bump [m], (n, 3)."""
    points = cuts[bump.cut].points
    skin: Floats = points[np.arange(bump.first, bump.last + 1) % len(points)]
    return skin


def _strength(track: Sequence[int], tops: Floats, bumps: Sequence[Bump], cuts: Sequence[Cut]) -> float:
    """How well a track's sections show it [m²]."""
    ways = np.diff(tops, axis=0)
    normals = np.stack([cuts[bumps[b].cut].normal(bumps[b].top) for b in track[:-1]])
    prominence = np.array([bumps[b].prominence for b in track[:-1]])
    return float(np.sum(prominence * np.abs(np.sum(ways * normals, axis=1))))
