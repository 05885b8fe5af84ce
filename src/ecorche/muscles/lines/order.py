"""In which order elastic lines are relaxed: one that carries a field before those the field bends.

Lines that share a moving node are one bundle and are relaxed together. Where fields go round in a circle no
order exists (the thesis, section 4.5.3, asks for none such); the circle is then told line by line.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from ecorche.errors import EcorcheError


class Bends(NamedTuple):
    """One line bends another: the field ``field``, carried by line ``carrier``, acts on line ``bent``."""

    carrier: int
    bent: int
    field: str


def relaxation_order(names: Sequence[str], bundles: Sequence[int], bends: Sequence[Bends]) -> list[list[int]]:
    """Bundles in levels: those of one level depend on earlier levels only, and so may be relaxed at once.

    Args:
        names: Of the lines.
        bundles: The bundle of each line, 0 and up without a gap.
        bends: Which line bends which.
    """
    count = max(bundles, default=-1) + 1
    before: list[dict[int, Bends]] = [{} for _ in range(count)]
    for bend in bends:
        before[bundles[bend.bent]].setdefault(bundles[bend.carrier], bend)
    levels: list[list[int]] = []
    waiting = set(range(count))
    while waiting:
        ready = sorted(bundle for bundle in waiting if waiting.isdisjoint(before[bundle]))
        if not ready:
            raise EcorcheError(
                f"lines bend each other in a circle: {_circle(names, before, waiting)}",
                remedy="Bind one of these fields to a joint, or take the line it bends off its list",
            )
        levels.append(ready)
        waiting.difference_update(ready)
    return levels


def _circle(names: Sequence[str], before: Sequence[dict[int, Bends]], waiting: set[int]) -> str:
    """A circle among the waiting bundles, in words: each of them has a waiting one before it."""
    bundle, met = min(waiting), list[int]()
    while bundle not in met:
        met.append(bundle)
        bundle = min(waiting.intersection(before[bundle]))
    circle = [*met[met.index(bundle) :], bundle]
    steps = [before[later][earlier] for later, earlier in pairwise(circle)][::-1]
    told = []
    for step, following in zip(steps, [*steps[1:], steps[0]], strict=True):
        shares = "" if step.bent == following.carrier else f" (one with '{names[following.carrier]}')"
        told.append(f"'{names[step.carrier]}' bends '{names[step.bent]}'{shares} by field '{step.field}'")
    return ", ".join(told)
