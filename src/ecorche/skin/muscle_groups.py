"""The order in which sliding visits vertices: sixteen at a time that lie over the same muscles.

As in `layout` sixteen vertices are the lanes of one group, and a group treats every muscle that any of them
lies over; a vertex that does not lie over it has weight zero there, which is work for nothing. A skin lies
over far more sets of muscles than of joints, most of them on fewer than sixteen vertices. So after the whole
groups of one set, what is left over is gathered greedily: a group begins with the first vertex left and
takes, of those that follow, the ones that bring the fewest muscles it does not have.

Vertices over one set of muscles go along the strongest of them, so that a group spans few stations of a
bent muscle.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from numba import njit

from ecorche.base.lanes import WIDTH
from ecorche.skin.influence import Influences

Ints = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]

WINDOW = 1024
"""Of so many vertices left over, in order, a group chooses its next."""


@dataclass(frozen=True, eq=False)
class MuscleGroups:
    """Vertices in groups of sixteen, and the muscles each group lies over.

    Attributes:
        vertices: Vertex of each lane, rising within a group, shape (groups, 16), int32; the last group
            repeats its last vertex to fill up.
        starts: Borders of each group's rows, shape (groups + 1,).
        muscles: Muscle of each row, rising within a group, shape (rows,), int32.
        entries: Entry of the influences in each lane, −1 where the vertex does not lie over the row's
            muscle, shape (rows, 16).
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
        nothing = np.zeros((0, WIDTH), np.int64)
        return MuscleGroups(
            nothing.astype(np.int32), np.zeros(1, np.int64), np.zeros(0, np.int32), nothing.copy()
        )
    rows = np.repeat(np.arange(len(moved)), counts[moved])
    sets = _bit_sets(rows, influences.muscles.astype(np.int64), len(moved), muscle_count)
    rank = np.unique(sets, axis=0, return_inverse=True)[1].reshape(-1)
    t = influences.t[_strongest(influences, counts[moved])]
    order = np.lexsort((t, rank))
    sizes = np.bincount(rank)
    within = np.arange(len(order)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    whole = within < np.repeat(sizes // WIDTH * WIDTH, sizes)
    gathered = _gathered(sets[order[~whole]], WINDOW)
    lanes = np.concatenate([order[whole], order[~whole][gathered]])
    lanes = np.concatenate([lanes, np.repeat(lanes[-1:], -len(lanes) % WIDTH)])
    groups = np.sort(moved[lanes].reshape(-1, WIDTH), axis=1)
    # neighbours in the file stay neighbours in memory
    groups = groups[np.argsort(groups[:, 0], kind="stable")]
    return _with_rows(groups, influences, muscle_count)


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
def _popcount(word: np.uint64) -> int:
    count = 0
    while word != np.uint64(0):
        word &= word - np.uint64(1)
        count += 1
    return count


@njit(cache=True)  # type: ignore[untyped-decorator]
def _gathered(sets: Words, window: int) -> Ints:
    """An order of the sets in which each sixteen share as many bits as a greedy choice finds."""
    count, words = sets.shape
    order = np.empty(count, np.int64)
    choice = np.empty(window, np.int64)  # the vertices to choose from, in order
    union = np.zeros(words, np.uint64)
    size, following = 0, 0
    for done in range(count):
        while size < window and following < count:
            choice[size] = following
            size += 1
            following += 1
        best = 0
        if done % WIDTH == 0:
            union[:] = np.uint64(0)
        else:
            fewest, most = 1 << 30, -1
            for k in range(size):
                new, shared = 0, 0
                for word in range(words):
                    mine = sets[choice[k], word]
                    new += _popcount(mine & ~union[word])
                    shared += _popcount(mine & union[word])
                if new < fewest or (new == fewest and shared > most):
                    best, fewest, most = k, new, shared
        order[done] = choice[best]
        union |= sets[choice[best]]
        size -= 1
        for k in range(best, size):
            choice[k] = choice[k + 1]
    return order


def _with_rows(groups: Ints, influences: Influences, muscle_count: int) -> MuscleGroups:
    """The groups with the union of their vertices' muscles as rows."""
    flat = groups.reshape(-1)
    counts = np.diff(influences.starts)[flat]
    lane = np.repeat(np.arange(len(flat)), counts)
    within = np.arange(len(lane)) - np.repeat(np.cumsum(counts) - counts, counts)
    entry = influences.starts[flat][lane] + within
    keys = (lane // WIDTH) * muscle_count + influences.muscles[entry]
    rows, row = np.unique(keys, return_inverse=True)
    entries = np.full((len(rows), WIDTH), -1, np.int64)
    entries[row.reshape(-1), lane % WIDTH] = entry
    starts = np.searchsorted(rows // muscle_count, np.arange(len(groups) + 1))
    return MuscleGroups(groups.astype(np.int32), starts, (rows % muscle_count).astype(np.int32), entries)
