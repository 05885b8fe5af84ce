"""Timing by turns: every contender once a round, so that all see the same machine."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Timing:
    """Milliseconds of repeated runs."""

    median: float
    fastest: float
    slowest: float

    def times(self, factor: float) -> Timing:
        """The same with all figures multiplied, for work measured at a fraction of its size."""
        return Timing(factor * self.median, factor * self.fastest, factor * self.slowest)


def timing(milliseconds: list[float]) -> Timing:
    """Median and range; the slowest tenth, where something else used the machine, is left out."""
    kept = np.sort(milliseconds)[: max(1, -(-9 * len(milliseconds) // 10))]
    return Timing(float(np.median(milliseconds)), float(kept[0]), float(kept[-1]))


def by_turns(
    contenders: Mapping[str, Callable[[], object]], rounds: int, *, settled: bool = False
) -> dict[str, Timing]:
    """Run all contenders in turn, ``rounds`` times after two to warm up.

    ``settled`` runs each once more before it is timed, for what is done frame after frame: caches then hold
    what its own last frame left there, not what another contender did.
    """
    taken: dict[str, list[float]] = {name: [] for name in contenders}
    for turn in range(rounds + 2):
        for name, run in contenders.items():
            if settled:
                run()
            start = time.perf_counter()
            run()
            if turn >= 2:
                taken[name].append(1e3 * (time.perf_counter() - start))
    return {name: timing(values) for name, values in taken.items()}


@dataclass(frozen=True)
class Fastest:
    """Seconds of the quickest of some runs, by the clock and of all processors together."""

    clock: float
    processor: float


def fastest_by_turns(contenders: Mapping[str, Callable[[], object]], rounds: int) -> dict[str, Fastest]:
    """The quickest of ``rounds`` runs after one to warm up: what a machine can do that others use too."""
    best = {name: Fastest(np.inf, np.inf) for name in contenders}
    for turn in range(rounds + 1):
        for name, run in contenders.items():
            clock, processor = time.perf_counter(), time.process_time()
            run()
            took = time.perf_counter() - clock, time.process_time() - processor
            if turn:
                best[name] = Fastest(min(best[name].clock, took[0]), min(best[name].processor, took[1]))
    return best
