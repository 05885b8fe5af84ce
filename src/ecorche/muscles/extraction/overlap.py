"""Which of two muscles stays that two groups of cutting surfaces have found in the same skin.

Text 001 lets groups of surfaces overlap, and says that the dominating one handles a muscle; it leaves open
which that is. Here: the one whose sections cross the muscle most squarely where it stands out most, over the
longest way. For each track that is the sum over its
sections of prominence, times the way to the next, times the cosine between that way and the section's normal.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from scipy.spatial import cKDTree

from ecorche.muscles.extraction.bump import Bump, Cut

Floats = npt.NDArray[np.float64]

SAME = 0.5
"""Two tracks are of one muscle if this share of the smaller one's skin is the other's too."""
NEAR = 1.0
"""Skin counts as another track's within this many distances between sections."""


def dominated(tracks: Sequence[Sequence[int]], bumps: Sequence[Bump], cuts: Sequence[Cut]) -> dict[int, int]:
    """The tracks that another region's track dominates, each with the track that does.

    Args:
        tracks: Numbers of the bumps of each, by rising rank of their sections.
        bumps: All bumps.
        cuts: All sections.
    """
    skins = [_skin(track, bumps, cuts) for track in tracks]
    tops = [np.stack([_top(bumps[b], cuts) for b in track]) for track in tracks]
    steps = [
        float(np.median(np.linalg.norm(np.diff(t, axis=0), axis=1))) if len(t) > 1 else 0.0 for t in tops
    ]
    regions = [cuts[bumps[track[0]].cut].region for track in tracks]
    trees = [cKDTree(skin) for skin in skins]
    score = [_strength(track, top, bumps, cuts) for track, top in zip(tracks, tops, strict=True)]
    gone: dict[int, int] = {}
    for winner in sorted(range(len(tracks)), key=lambda t: (-score[t], t)):
        if winner in gone:
            continue
        for other in range(len(tracks)):
            if other == winner or other in gone or score[other] > score[winner]:
                continue
            if regions[other] == regions[winner]:
                continue
            few, many = sorted((winner, other), key=lambda t: len(skins[t]))
            reach = NEAR * max(steps[winner], steps[other])
            away, _ = trees[many].query(skins[few], distance_upper_bound=reach)
            if float(np.mean(np.isfinite(away))) >= SAME:
                gone[other] = winner
    return gone


def _top(bump: Bump, cuts: Sequence[Cut]) -> Floats:
    points = cuts[bump.cut].points
    top: Floats = points[bump.top % len(points)]
    return top


def _skin(track: Sequence[int], bumps: Sequence[Bump], cuts: Sequence[Cut]) -> Floats:
    """All points of a track's bumps [m], (n, 3)."""
    stretches = []
    for number in track:
        bump = bumps[number]
        points = cuts[bump.cut].points
        stretches.append(points[np.arange(bump.first, bump.last + 1) % len(points)])
    return np.concatenate(stretches)


def _strength(track: Sequence[int], tops: Floats, bumps: Sequence[Bump], cuts: Sequence[Cut]) -> float:
    """How well a track's sections show it [m²]."""
    ways = np.diff(tops, axis=0)
    normals = np.stack([cuts[bumps[b].cut].normal(bumps[b].top) for b in track[:-1]])
    prominence = np.array([bumps[b].prominence for b in track[:-1]])
    return float(np.sum(prominence * np.abs(np.sum(ways * normals, axis=1))))
