"""Weighted medians of values over the neighbours of every place of a skin; for compiled loops.

In order, each value stands in the middle of its weight, and the median is what stands, or lies between two,
in the middle of the whole. Nothing is sorted, whose branches a processor cannot foresee: where a value stands
is the weight of all that are smaller, added up for sixteen at once.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit, prange

from ecorche.base.lanes import WIDTH, broadcast, load, store, where_less

Singles = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int32]

MOST = 96
"""Neighbours that are looked at, at most: a fan of hundreds is cut, the farthest first."""
_ENOUGH = np.float32(0.05)
"""Which share of its neighbours must be sure for a place to be believed fully, by weight."""
_CHUNK = 128
"""Places a thread takes at once."""
_NUMBERS = np.arange(MOST, dtype=np.float32).reshape(-1, WIDTH)


@njit(parallel=True, cache=True)  # type: ignore[untyped-decorator]
def medians(
    starts: Ints,
    members: Ints,
    weights: Singles,
    values: Singles,
    sure: Singles,
    outlier: float,
    found: Singles,
    told: Singles,
) -> None:
    """Medians; where an outlier is given, what is believed of the values. ``told``: how much told them."""
    for chunk in prange(-(-len(found) // _CHUNK)):
        given, weight = np.zeros(MOST, np.float32), np.zeros(MOST, np.float32)
        stands = np.empty(MOST, np.float32)
        for place in range(_CHUNK * chunk, min(len(found), _CHUNK * (chunk + 1))):
            own = values[place]
            if outlier >= 0.0 and sure[place] >= 1.0:
                farthest = np.float32(0.0)
                for entry in range(starts[place], starts[place + 1]):
                    if sure[members[entry]] > 0.0:
                        farthest = max(farthest, abs(values[members[entry]] - own))
                if farthest <= outlier:
                    found[place], told[place] = own, np.float32(1.0)
                    continue
            count, whole, all_sure = 0, np.float32(0.0), np.float32(0.0)
            for entry in range(starts[place], starts[place + 1]):
                certain = sure[members[entry]]
                all_sure += weights[entry]
                # what is not sure is overwritten by the next
                given[count], weight[count] = values[members[entry]], weights[entry] * certain
                whole += weight[count]
                count += certain > 0.0
            if count == 0:
                continue
            median = _median(given, weight, stands, count, np.float32(0.5) * whole)
            found[place], told[place] = median, whole / all_sure
            if outlier >= 0.0:
                astray = _smooth_step((abs(own - median) - outlier) / max(outlier, np.float32(1e-12)))
                median += sure[place] * (np.float32(1.0) - astray) * (own - median)
                # where hardly anything is sure it is as at bind
                found[place] = _smooth_step(told[place] / _ENOUGH) * median


@njit(inline="always")  # type: ignore[untyped-decorator]
def _median(given: Singles, weight: Singles, stands: Singles, count: int, half: float) -> Any:
    """What stands at half of the weights of so many values."""
    nothing = broadcast(np.float32(0.0))
    for group in range(-(-count // WIDTH)):
        mine, number, sums = load(given, group), load(_NUMBERS, group), nothing
        for other in range(count):
            theirs, heavy = broadcast(given[other]), broadcast(weight[other])
            # of equal ones the first given is the smaller
            before = where_less(broadcast(np.float32(other)), number, heavy, nothing)
            sums = sums + where_less(theirs, mine, heavy, where_less(mine, theirs, nothing, before))
        store(stands, group, sums + np.float32(0.5) * load(weight, group))
    below, above = np.float32(-np.inf), np.float32(np.inf)
    lower, upper = np.float32(0.0), np.float32(0.0)
    for one in range(count):
        if stands[one] < half:
            if stands[one] >= below:
                below, lower = stands[one], given[one]
        elif stands[one] < above:
            above, upper = stands[one], given[one]
    if below == -np.inf:
        return upper
    if above == np.inf:
        return lower
    return lower + (half - below) / max(above - below, np.float32(1e-30)) * (upper - lower)


@njit(forceinline=True)  # type: ignore[untyped-decorator]
def _smooth_step(x: Any) -> Any:
    x = min(max(x, np.float32(0.0)), np.float32(1.0))
    return x * x * (np.float32(3.0) - np.float32(2.0) * x)
