"""Tell fingers and toes apart by where they stand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ecorche.base.rotations import normalise
from ecorche.skeleton.naming.conventions import finger_joint, toe_joint
from ecorche.skeleton.naming.figure import Figure, Floats


@dataclass(frozen=True)
class Digits:
    """Canonical names (with ``*`` for the side) of finger or toe joints, and the leaves at their tips."""

    names: dict[int, str]
    leaves: tuple[int, ...]


def fingers(figure: Figure, wrist: int) -> Digits:
    """The joints below a wrist, as fingers.

    Chains are put in the order of a fan; the thumb is the end of the fan that stands farther
    apart. One chain alone stands for all fingers and is the middle one.
    """
    chains = _chains(figure, wrist)
    ordered = _fan(figure, wrist, chains)
    names: dict[int, str] = {}
    leaves: list[int] = []
    for ray, chain in zip(_rays(len(ordered)), ordered, strict=True):
        start = 0 if ray == 1 or _has_metacarpal(figure, wrist, chain) else 1
        for place, joint in enumerate(chain, start=start):
            name = finger_joint(ray, place)
            if name is not None:
                names[joint] = name
            elif joint == chain[-1]:
                leaves.append(joint)
    return Digits(names, tuple(leaves))


def toes(figure: Figure, ankle: int, forward: Floats, outward: Floats, leg: float) -> Digits:
    """The joints below an ankle: five toes, or one ball of the foot with a leaf beyond."""
    ahead = [c for c in figure.children[ankle] if _ahead(figure, ankle, c, forward) > 0.02 * leg]
    names: dict[int, str] = {}
    leaves: list[int] = []
    if len(ahead) == 5:
        ahead.sort(key=lambda c: float(figure.points[c] @ outward))
        for ray, first in enumerate(ahead, start=1):
            for place, joint in enumerate(_longest_chain(figure, first)):
                name = toe_joint(ray, place)
                if name is not None:
                    names[joint] = name
    elif ahead:
        ball = max(ahead, key=lambda c: (_ahead(figure, ankle, c, forward), tuple(figure.points[c])))
        names[ball] = "*_metatarsophalangeal_2"
        if len(figure.children[ball]) == 1 and not figure.children[figure.children[ball][0]]:
            leaves.append(figure.children[ball][0])
    return Digits(names, tuple(leaves))


def _ahead(figure: Figure, ankle: int, joint: int, forward: Floats) -> float:
    return float((figure.points[joint] - figure.points[ankle]) @ forward)


def _rays(count: int) -> tuple[int, ...]:
    return (3,) if count == 1 else tuple(range(1, count + 1))


def _has_metacarpal(figure: Figure, wrist: int, chain: Sequence[int]) -> bool:
    """True where a chain begins in the palm: its first bone is longer than the way to it."""
    return len(chain) > 1 and figure.distance(wrist, chain[0]) < figure.distance(chain[0], chain[1])


def _longest_chain(figure: Figure, joint: int) -> list[int]:
    end = figure.farthest(joint, figure.ends(joint))
    return [joint, *figure.path(joint, end)]


def _chains(figure: Figure, wrist: int) -> list[list[int]]:
    """At most five chains below a wrist, the longest first; a shared beginning goes to the longer."""
    only = figure.children[wrist]
    if len(only) == 1 and len(figure.children[only[0]]) >= 3:
        wrist = only[0]  # a palm joint that carries all fingers
    taken: set[int] = {wrist}
    chains: list[list[int]] = []
    ends = [j for j in figure.ends(wrist) if j != wrist]
    ends.sort(key=lambda j: (-figure.arc([wrist, *figure.path(wrist, j)]), *figure.points[j]))
    for end in ends:
        chain = [j for j in figure.path(wrist, end) if j not in taken]
        taken.update(chain)
        chains.append(chain)
    if sum(len(c) > 1 for c in chains) >= 3:
        chains = [c for c in chains if len(c) > 1]  # what else hangs on such a hand is no finger
    return chains[:5]


def _fan(figure: Figure, wrist: int, chains: Sequence[list[int]]) -> list[list[int]]:
    """Chains from thumb to little finger."""
    if len(chains) < 2:
        return list(chains)
    tips = figure.points[[c[-1] for c in chains]] - figure.points[wrist]
    if len(chains) == 2:
        return [chains[i] for i in np.argsort(np.linalg.norm(tips, axis=1), kind="stable")]
    ways = normalise(tips)
    spread = ways - ways.mean(axis=0)
    axis = np.linalg.svd(spread)[2][0]
    order = np.argsort(spread @ axis, kind="stable")
    first, last = ways[order[0]] @ ways[order[1]], ways[order[-1]] @ ways[order[-2]]
    if last < first:  # a smaller cosine is a wider gap
        order = order[::-1]
    return [chains[i] for i in order]
