"""Bumps of neighbouring sections linked into muscles, all sections of a region at once.

Text 001 links bumps along the limb and leaves open how. Here a muscle is a path through the sections; all
paths together are the cheapest cover of the bumps (every bump in one path), found as one assignment of
bumps to their successors: linking costs what the two differ, ending costs a fixed amount. A bump may be
missing in one section. A path has one belly: where it sinks far below two tops before and behind, it is two.
Paths that begin or end beside another are its branches. Then what is slight or short is dropped.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ecorche.muscles.extraction.bump import Bump, Cut

Floats = npt.NDArray[np.float64]

REACH = 0.6
"""Tops of linked bumps lie at most this far apart across the limb, in mean radii of the section."""
GAP = 0.3
"""What a missing bump costs, in the same unit."""
UNLIKE = 0.3
"""What linking costs where one bump is e times as prominent as the other."""
ENDING = 0.75
"""What a path that ends and another that begins cost together."""
WAIST = 0.5
"""A path whose bumps stand out by less than this share of the lower of both its tops is two paths there."""
PROMINENT = 0.07
"""A muscle stands out by this share of the section's mean radius somewhere: halfway from what the slim man's
thigh has (0.057), which is none, to the muscular man's triceps (0.082)."""
LONG = 0.15
"""A muscle is as long as this share of its region."""
FEWEST_BUMPS = 4
"""Of a muscle."""


@dataclass(frozen=True, eq=False)
class Track:
    """Bumps that are one muscle.

    Attributes:
        region: Number of the region.
        bumps: Numbers of its bumps, by rising rank of their sections.
        prominence: The largest of its bumps [m].
        joins: Number of the track it branches from; −1 for none.
    """

    region: int
    bumps: tuple[int, ...]
    prominence: float
    joins: int = -1


@dataclass(frozen=True, eq=False)
class Linked:
    """The tracks of one region.

    Attributes:
        tracks: Those kept.
        slight, short: How many were dropped because they stand out too little, or are too short.
    """

    tracks: tuple[Track, ...]
    slight: int
    short: int


def linked(
    cuts: Sequence[Cut], bumps: Sequence[Bump], *, prominent: float = PROMINENT, long: float = LONG
) -> Linked:
    """Link the bumps of one region; numbers of bumps in the result count within ``bumps``.

    Args:
        cuts: The sections that ``Bump.cut`` counts, of this and other regions.
        bumps: The bumps of the region.
        prominent: The least prominence of a muscle, share of the section's mean radius.
        long: The least length of a muscle, share of the region.
    """
    from scipy.optimize import linear_sum_assignment

    if not bumps:
        return Linked((), 0, 0)
    count = len(bumps)
    ranks = np.array([cuts[b.cut].rank for b in bumps])
    tops = np.stack([cuts[b.cut].points[b.top % len(cuts[b.cut].points)] for b in bumps])
    sizes = np.array([_radius(cuts[b.cut]) for b in bumps])
    standing = np.maximum([b.prominence for b in bumps], 1e-9)
    axes = np.stack([cuts[b.cut].normal(b.top) for b in bumps])

    cost = np.full((count, 2 * count), 1e6)
    step = ranks[None, :] - ranks[:, None]
    rows, columns = np.nonzero((step == 1) | (step == 2))
    way = tops[columns] - tops[rows]
    axis = axes[rows] + axes[columns]
    axis /= np.maximum(np.linalg.norm(axis, axis=1), 1e-12)[:, None]
    way = way - np.sum(way * axis, axis=1)[:, None] * axis
    apart = np.linalg.norm(way, axis=1) / (0.5 * (sizes[rows] + sizes[columns]))
    unlike = UNLIKE * np.abs(np.log(standing[columns] / standing[rows]))
    price = apart + unlike + GAP * (step[rows, columns] - 1)
    pieces = np.array([cuts[b.cut].piece for b in bumps])
    near = (apart <= REACH) & (pieces[rows] == pieces[columns])
    cost[rows[near], columns[near]] = price[near]
    cost[np.arange(count), count + np.arange(count)] = ENDING
    cost[:, count:][~np.eye(count, dtype=bool)] = 1e6
    chosen = dict(zip(*(a.tolist() for a in linear_sum_assignment(cost)), strict=True))

    follows = {a: b for a, b in chosen.items() if b < count}
    heads = sorted(set(range(count)) - set(follows.values()), key=lambda n: (ranks[n], n))
    paths = []
    for head in heads:
        path = [head]
        while path[-1] in follows:
            path.append(follows[path[-1]])
        paths += _bellies(path, standing)
    levels = max(int(np.ptp([c.rank for c in cuts if c.region == cuts[bumps[0].cut].region])), 1)
    kept, slight, short = [], 0, 0
    for path in paths:
        if float((standing[path] / sizes[path]).max()) < prominent:
            slight += 1
        elif len(path) < FEWEST_BUMPS or ranks[path[-1]] - ranks[path[0]] < long * levels:
            short += 1
        else:
            kept.append(path)
    tracks = [
        Track(
            cuts[bumps[0].cut].region,
            tuple(path),
            float(standing[path].max()),
            _trunk(n, kept, cuts, bumps, ranks),
        )
        for n, path in enumerate(kept)
    ]
    return Linked(tuple(tracks), slight, short)


def _bellies(path: Sequence[int], standing: Floats) -> list[list[int]]:
    """A path parted at its waists: at the lowest between two tops, as long as there is one."""
    line = standing[path]
    if len(line) < 2 * FEWEST_BUMPS:
        return [list(path)]
    ends = np.concatenate([line[:1], line, line[-1:]])
    even = np.median(np.stack([ends[:-2], ends[1:-1], ends[2:]]), axis=0)  # one odd section is no waist
    lower = np.minimum(np.maximum.accumulate(even), np.maximum.accumulate(even[::-1])[::-1])
    waist = int(np.argmin(even / lower))
    if even[waist] >= WAIST * lower[waist]:
        return [list(path)]
    return _bellies(path[:waist], standing) + _bellies(path[waist:], standing)


def _radius(cut: Cut) -> float:
    """Of a closed section its mean radius; of an open one its length over π, as of half a circle."""
    if cut.closed:
        return max(float(np.linalg.norm(cut.flat - cut.flat.mean(axis=0), axis=1).mean()), 1e-9)
    return max(float(np.linalg.norm(np.diff(cut.flat, axis=0), axis=1).sum()) / np.pi, 1e-9)


def _trunk(
    own: int,
    paths: Sequence[Sequence[int]],
    cuts: Sequence[Cut],
    bumps: Sequence[Bump],
    ranks: npt.NDArray[np.int64],
) -> int:
    """The path that another begins or ends against: one whose bump goes on where the other's was."""
    levels = [cuts[b.cut].rank for b in bumps]
    for end, way in ((paths[own][0], -1), (paths[own][-1], 1)):
        cut = cuts[bumps[end].cut]
        top = cut.points[bumps[end].top % len(cut.points)]
        for other, path in enumerate(paths):
            if other == own or len(path) <= len(paths[own]):
                continue
            for n in path:
                if levels[n] - ranks[end] != way:
                    continue
                there = cuts[bumps[n].cut]
                size = len(there.points)
                stretch = there.points[np.arange(bumps[n].first, bumps[n].last + 1) % size]
                step = np.linalg.norm(np.diff(there.points, axis=0), axis=1).mean()
                near = np.linalg.norm((stretch - top) @ there.frame[:2].T, axis=1).min()
                if near <= step:
                    return other
    return -1
