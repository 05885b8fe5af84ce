"""Who of a crowd does what, where: drawn by a seed, the same for the same seed.

Every member gets a clip, a phase in it, a pace, a body type and a place in a formation of lanes that run
along +Z. Where members travel, a lane has one clip and its fastest in front, so that nobody ever runs into
the one before; where they stay in place, clips are mixed and headings vary. Lanes and rows are as far apart
as the skin reaches in the whole of a loop, so that nobody touches anybody, in whatever phase.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ecorche.errors import EcorcheError

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

PACES = 0.85, 1.15
"""Slowest and fastest pace: how many times as fast as the clip."""
GAP = 0.25
"""Room between neighbours at least [m]."""
JITTER = 0.2
"""Members stand up to so far [m] from their row, and lanes from where they would be."""
TURNED = np.radians(15.0)
"""Those who stay in place face up to so far from straight ahead [rad]."""
WIDER = 1.4
"""A formation is about so many times as wide as it is deep."""


@dataclass(frozen=True)
class Reach:
    """How far the skin reaches in a loop, about the point that goes straight ahead [m], margin included.

    Attributes:
        left, right: Towards +X and −X.
        ahead, behind: Towards +Z and −Z.
    """

    left: float
    right: float
    ahead: float
    behind: float

    def turned(self, angle: float) -> Reach:
        """Reach of one that may face up to so far [rad] to either side: at least what it then has."""
        across, along = max(self.left, self.right), max(self.ahead, self.behind)
        wider, longer = np.sin(angle) * along, np.sin(angle) * across
        return Reach(self.left + wider, self.right + wider, self.ahead + longer, self.behind + longer)


@dataclass(frozen=True, eq=False)
class Cast:
    """The members of a crowd, an entry each.

    Attributes:
        clip: Which clip, (n,).
        body_type: Which body type, (n,).
        phase: Where in its loop a member begins, 0 to 1, (n,).
        pace: How many times as fast as the clip, (n,).
        place: Where it begins, x and z [m], (n, 2).
        heading: Angle from +Z towards +X [rad], (n,).
    """

    clip: Ints
    body_type: Ints
    phase: Floats
    pace: Floats
    place: Floats
    heading: Floats

    def __len__(self) -> int:
        return len(self.clip)


def drawn_cast(
    reaches: Sequence[Reach], types: int, count: int, *, seed: int = 0, travelling: bool = True
) -> Cast:
    """A crowd of so many.

    Args:
        reaches: Of each clip.
        types: How many body types there are.
        count: How many members.
        seed: Of all that is drawn.
        travelling: Whether members travel as their clips do; else they stay where they are.
    """
    if count < 1:
        raise EcorcheError(f"a crowd of {count} is none", where="count", remedy="Give 1 or more")
    if seed < 0:
        raise EcorcheError(f"the seed {seed} is below zero", where="seed", remedy="Give 0 or more")
    rng = np.random.default_rng(seed)
    widths = [reach.left + reach.right + GAP + 2.0 * JITTER for reach in reaches]
    depths = [reach.ahead + reach.behind + GAP + 2.0 * JITTER for reach in reaches]
    lanes = round(np.sqrt(count * WIDER * np.mean(depths) / np.mean(widths)))
    lanes = min(max(1, lanes), count)
    lane = np.sort(np.arange(count) % lanes)
    pace = rng.permutation(np.linspace(*PACES, count)) if count > 1 else np.ones(1)
    if travelling:
        of_lane = _dealt(rng, lanes, len(reaches))
        clip = of_lane[lane]
        order = np.lexsort((-pace, lane))  # the fastest of a lane in front
        pace, heading = pace[order], np.zeros(count)
        place = _in_lanes(rng, lane, [[reaches[c]] for c in of_lane])
    else:
        clip = _dealt(rng, count, len(reaches))
        heading = rng.uniform(-TURNED, TURNED, count)
        turned = [reach.turned(TURNED) for reach in reaches]
        place = _in_lanes(rng, lane, [[turned[c] for c in clip[lane == n]] for n in range(lanes)])
    phase = np.empty(count)
    for number in range(len(reaches)):
        same = np.flatnonzero(clip == number)
        phase[same] = (rng.permutation(len(same)) + rng.random(len(same))) / max(len(same), 1)
    return Cast(clip, _dealt(rng, count, types), phase, pace, place, heading)


def _dealt(rng: np.random.Generator, count: int, kinds: int) -> Ints:
    """Each kind as often as the others, but for one, in a drawn order."""
    return rng.permutation(np.arange(count, dtype=np.int64) % kinds)


def _in_lanes(rng: np.random.Generator, lane: Ints, reaches: Sequence[Sequence[Reach]]) -> Floats:
    """Places x and z of members sorted by lane, the first of a lane in front, (n, 2).

    A lane's reaches are those of its members, or one for all of them.
    """
    place = np.empty((len(lane), 2))
    x = 0.0
    for number, own in enumerate(reaches):
        members = np.flatnonzero(lane == number)
        x += max(reach.right for reach in own) + JITTER
        ahead, behind = max(r.ahead for r in own), max(r.behind for r in own)
        depth = ahead + behind + GAP + 2.0 * JITTER
        rows = depth * (0.5 * (len(members) - 1) - np.arange(len(members)))
        place[members, 0] = x
        place[members, 1] = rows + depth * rng.uniform(-0.25, 0.25)
        x += max(reach.left for reach in own) + JITTER + GAP
    place += rng.uniform(-JITTER, JITTER, place.shape)
    return np.asarray(place - 0.5 * (place.min(axis=0) + place.max(axis=0)))
