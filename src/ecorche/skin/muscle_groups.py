"""The order in which sliding visits vertices: eight at a time that lie over the same muscles.

As in `layout` some vertices, here eight, are the lanes of one group. A group treats every muscle that any of
them lies over, at all stations between its first and its last vertex there; a vertex that does not lie over
it has weight zero, which is work for nothing. A skin lies over far more sets of muscles than of joints, most
of them on a handful of vertices. So the vertices are put in a row, those over one set of muscles together,
beside a set that has most of the same, along the strongest muscle and back again; and the row is cut into
groups where that costs least: a group may have lanes to spare where another vertex would bring muscles of its
own. The best cuts are found by dynamic programming.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from numba import njit

from ecorche.base.lanes import EIGHT
from ecorche.skin.influence import Influences

Ints = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]

GROUP, ROW, STATION = 12.0, 38.0, 3.5
"""What a group costs, each muscle in it, each station of that: nanoseconds, of which the ratios count."""


@dataclass(frozen=True, eq=False)
class MuscleGroups:
    """Vertices in groups of eight, and the muscles each group lies over.

    Attributes:
        vertices: Vertex of each lane, rising within a group, shape (groups, 8), int32; a group that is not
            full repeats its highest vertex.
        starts: Borders of each group's rows, shape (groups + 1,).
        muscles: Muscle of each row, rising within a group, shape (rows,), int32.
        entries: Entry of the influences in each lane, −1 where the vertex does not lie over the row's
            muscle, shape (rows, 8).
    """

    vertices: npt.NDArray[np.int32]
    starts: Ints
    muscles: npt.NDArray[np.int32]
    entries: Ints


def group_by_muscles(influences: Influences, muscle_count: int) -> MuscleGroups:
    """Group the vertices that lie over muscles."""
    counts = np.diff(influences.starts)
    moved = np.flatnonzero(counts)
    if len(moved) == 0:
        nothing = np.zeros((0, EIGHT), np.int64)
        return MuscleGroups(
            nothing.astype(np.int32), np.zeros(1, np.int64), np.zeros(0, np.int32), nothing.copy()
        )
    rows = np.repeat(np.arange(len(moved)), counts[moved])
    sets = _bit_sets(rows, influences.muscles.astype(np.int64), len(moved), muscle_count)
    _, example, which = np.unique(sets, axis=0, return_index=True, return_inverse=True)
    place = _places_in_row(
        [
            frozenset(influences.muscles[influences.starts[v] : influences.starts[v + 1]].tolist())
            for v in moved[example]
        ]
    )[which.reshape(-1)]
    along = influences.t[_strongest(influences, counts[moved])]
    order = moved[np.lexsort((np.where(place % 2, -along, along), place))]
    ends = _best_cuts(order, influences.starts, influences.muscles, influences.place, muscle_count)
    sizes = np.diff(ends, prepend=0)
    groups = np.full((len(ends), EIGHT), -1, np.int64)
    groups[np.arange(EIGHT) < sizes[:, None]] = order
    # a group that is not full has its highest vertex again
    groups = np.sort(np.where(groups < 0, groups.max(axis=1, keepdims=True), groups), axis=1)
    # neighbours in the file stay neighbours in memory
    groups = groups[np.argsort(groups[:, 0], kind="stable")]
    return _with_rows(groups, influences, muscle_count)


def _places_in_row(sets: list[frozenset[int]]) -> Ints:
    """Where in a row each set of muscles belongs, beside one that keeps most of its muscles."""
    with_muscle: dict[int, set[int]] = {}
    for number, muscles in enumerate(sets):
        for muscle in muscles:
            with_muscle.setdefault(muscle, set()).add(number)
    left = dict.fromkeys(range(len(sets)))  # in their order, for when no set shares a muscle
    places, number, near = np.empty(len(sets), np.int64), 0, set[int]()
    for place in range(len(sets)):
        number = _likest(sets[number], sets, near) if near else next(iter(left))
        places[number] = place
        del left[number]
        for muscle in sets[number]:
            with_muscle[muscle].discard(number)
        near = set[int]().union(*(with_muscle[muscle] for muscle in sets[number]))
    return places


def _likest(here: frozenset[int], sets: list[frozenset[int]], near: set[int]) -> int:
    """Which of some sets lacks least of this one, and adds least to it."""
    return min(near, key=lambda n: (len(here - sets[n]), len(sets[n] - here), n))


def _strongest(influences: Influences, counts: npt.NDArray[np.integer]) -> Ints:
    """The entry of each vertex's strongest muscle."""
    rows = np.repeat(np.arange(len(counts)), counts)
    order = np.lexsort((-influences.weights, rows))
    return np.asarray(order[np.cumsum(counts) - counts])


def _bit_sets(rows: Ints, muscles: Ints, count: int, muscle_count: int) -> Words:
    """Sets of muscles as bits, shape (vertices, words)."""
    sets = np.zeros((count, -(-muscle_count // 64)), np.uint64)
    np.bitwise_or.at(
        sets, (rows, muscles // 64), np.left_shift(np.uint64(1), (muscles % 64).astype(np.uint64))
    )
    return sets


@njit(cache=True)  # type: ignore[untyped-decorator]
def _best_cuts(
    order: Ints,
    starts: npt.NDArray[np.int32],
    muscles: npt.NDArray[np.int32],
    place: npt.NDArray[np.float32],
    muscle_count: int,
) -> Ints:
    """Where the groups end in the row of vertices, so that all of them together cost least."""
    count = len(order)
    least, begin = np.full(count + 1, np.inf), np.zeros(count + 1, np.int64)
    least[0] = 0.0
    seen = np.full(muscle_count, -1, np.int64)  # the last beginning for which the next two were set
    low, high = np.zeros(muscle_count, np.int64), np.zeros(muscle_count, np.int64)
    for first in range(count):
        cost = least[first] + GROUP
        for last in range(first, min(first + EIGHT, count)):
            for entry in range(starts[order[last]], starts[order[last] + 1]):
                m = muscles[entry]
                below = int(np.floor(place[entry]))
                above = max(int(np.ceil(place[entry])), below + 1)
                if seen[m] != first:
                    seen[m], low[m], high[m] = first, below, above
                    cost += ROW + STATION * (above - below + 1)
                else:
                    wider = max(high[m], above) - min(low[m], below) - (high[m] - low[m])
                    low[m], high[m] = min(low[m], below), max(high[m], above)
                    cost += STATION * wider
            if cost < least[last + 1]:
                least[last + 1], begin[last + 1] = cost, first
    ends = np.empty(count, np.int64)
    groups, end = 0, count
    while end > 0:
        ends[groups] = end
        groups, end = groups + 1, begin[end]
    return ends[:groups][::-1]


def _with_rows(groups: Ints, influences: Influences, muscle_count: int) -> MuscleGroups:
    """The groups with the union of their vertices' muscles as rows."""
    flat = groups.reshape(-1)
    counts = np.diff(influences.starts)[flat]
    lane = np.repeat(np.arange(len(flat)), counts)
    within = np.arange(len(lane)) - np.repeat(np.cumsum(counts) - counts, counts)
    entry = influences.starts[flat][lane] + within
    keys = (lane // EIGHT) * muscle_count + influences.muscles[entry]
    rows, row = np.unique(keys, return_inverse=True)
    entries = np.full((len(rows), EIGHT), -1, np.int64)
    entries[row.reshape(-1), lane % EIGHT] = entry
    starts = np.searchsorted(rows // muscle_count, np.arange(len(groups) + 1))
    return MuscleGroups(groups.astype(np.int32), starts, (rows % muscle_count).astype(np.int32), entries)
