"""Find the three joints of a leg or an arm on a chain that may hold twist joints and more.

Every triple of joints on the chain is judged by proportions of the human body (Drillis and
Contini's segment lengths: thigh and shin 0.245 and 0.246 of stature, upper arm and forearm 0.186
and 0.146, half the shoulders' breadth 0.129) with a generous spread, and by straightness: whatever
stands between two joints of a limb must lie within the bone. The best triple wins; rigs of
children, giants and cartoons depart from the proportions, but their other triples do more so.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import log

import numpy as np

from ecorche.base.rotations import normalise
from ecorche.skeleton.naming.figure import UP, Figure, Floats

LONGEST_CHAIN = 24
"""Chains with more joints are tails, hair or ropes, not limbs."""


@dataclass(frozen=True)
class Limb:
    """A leg or arm: its joints along ``chain``, and how badly they fit (0 is perfect)."""

    chain: tuple[int, ...]  # from just under the trunk to the tip
    upper: int  # hip or shoulder
    middle: int  # knee or elbow
    lower: int  # ankle or wrist
    cost: float

    def between(self) -> list[int]:
        """Joints within the limb's two bones: twist joints."""
        named = (self.upper, self.middle, self.lower)
        first, last = self.chain.index(self.upper), self.chain.index(self.lower)
        return [j for j in self.chain[first:last] if j not in named]

    def before(self) -> list[int]:
        """Joints between the trunk and the limb's first joint."""
        return list(self.chain[: self.chain.index(self.upper)])


def fit_leg(figure: Figure, chain: Sequence[int]) -> Limb | None:
    """The hip, knee and ankle of a chain that goes down to the ground."""
    points = figure.points
    deepest = max((float(points[a, 1] - points[b, 1]) for a, b in combinations(chain, 2)), default=0.0)
    if deepest <= 0.0:
        return None

    def cost(hip: int, knee: int, ankle: int) -> float | None:
        thigh, shin = points[hip] - points[knee], points[knee] - points[ankle]
        lengths = float(np.linalg.norm(thigh)), float(np.linalg.norm(shin))
        if min(lengths) <= 0.0 or thigh @ UP < 0.5 * lengths[0] or shin @ UP < 0.5 * lengths[1]:
            return None
        drop = float(points[hip, 1] - points[ankle, 1])
        return (log(lengths[0] / lengths[1]) / 0.25) ** 2 + 4.0 * log(deepest / drop)

    return _best(figure, chain, cost)


def fit_arm(figure: Figure, chain: Sequence[int], middle: Floats, side: Floats, leg: float) -> Limb | None:
    """The shoulder, elbow and wrist of a chain.

    ``middle`` is a point of the body's midplane, ``side`` the unit vector out of it towards this
    arm, ``leg`` the leg's length [m].
    """
    points = figure.points

    def cost(shoulder: int, elbow: int, wrist: int) -> float | None:
        upper, fore = figure.distance(shoulder, elbow), figure.distance(elbow, wrist)
        breadth = float((points[shoulder] - middle) @ side)
        if min(upper, fore, breadth) <= 0.02 * leg:
            return None
        return (
            (log(breadth / (0.24 * leg)) / 0.4) ** 2
            + (log(upper / (0.38 * leg)) / 0.35) ** 2
            + (log(fore / (0.33 * leg)) / 0.35) ** 2
            + ((log(upper / fore) - 0.1) / 0.25) ** 2
            - 3.0 * min(_branches(figure, wrist), 2)  # fingers leave from the wrist
        )

    return _best(figure, chain, cost)


def _branches(figure: Figure, joint: int) -> int:
    """How many more ways than one lead on from a joint; joints within the bone below are no way."""
    ways: list[Floats] = []
    for child in figure.children[joint]:
        way = normalise(figure.points[child] - figure.points[joint])
        if all(way @ other < 0.99 for other in ways):
            ways.append(way)
    return max(len(ways) - 1, 0)


def _best(figure: Figure, chain: Sequence[int], cost: Callable[[int, int, int], float | None]) -> Limb | None:
    if not 3 <= len(chain) <= LONGEST_CHAIN:
        return None
    best: Limb | None = None
    for i, j, k in combinations(range(len(chain)), 3):
        judged = cost(chain[i], chain[j], chain[k])
        if judged is None:
            continue
        for start, end in ((i, j), (j, k)):
            detour = figure.arc(chain[start : end + 1]) / figure.distance(chain[start], chain[end])
            judged += 40.0 * log(max(detour, 1.0))
        if best is None or judged < best.cost - 1e-9:
            best = Limb(tuple(chain), chain[i], chain[j], chain[k], judged)
    return best
