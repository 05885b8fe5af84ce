"""Values on a skin, filtered over the vertices round each: a weighted median, and smoothing.

Thesis, 5.5.2: a median over the first and second neighbours, weighted by one over the way along the edges,
throws out single values that do not fit; smoothing then takes away what is rough. Vertices at the same place,
as on both sides of a texture seam, count as one.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import numpy as np
import numpy.typing as npt
from numba import njit, prange
from scipy import sparse

from ecorche.base.mesh import coincident_groups
from ecorche.skin.ring_medians import MOST, medians

Floats = npt.NDArray[np.float64]
Singles = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int32]
Number = TypeVar("Number", bound=np.generic)

_OWN = 0.5
"""How far a vertex counts as being from itself, as a share of the way to its nearest neighbour."""
_FARTHEST = 5.0
"""How far a value is spread by smoothing, in edges by the square root of its rounds."""


@dataclass(frozen=True, eq=False, repr=False)
class TwoRings:
    """The neighbours of every vertex, ready to filter values frame after frame.

    Attributes:
        place: The place of each vertex, (vertices,); those at one point share one.
        starts, members, weights: First and second neighbours of each place and itself, in rows, and one over
            the way to them [1/m], (places + 1,), (entries,), (entries,).
        near_starts, near, near_weights: The first alone, with weights that sum to one a row.
        square_edge: Mean square of the edges by these weights [m²], (places,).
    """

    place: Ints
    starts: Ints
    members: Ints
    weights: Singles
    near_starts: Ints
    near: Ints
    near_weights: Singles
    square_edge: Singles

    @property
    def place_count(self) -> int:
        """How many places there are."""
        return len(self.starts) - 1

    def speakers(self) -> Ints:
        """The first vertex at every place, (places,)."""
        return self._first

    @cached_property
    def _first(self) -> Ints:
        first = np.zeros(self.place_count, np.int32)
        first[self.place[::-1]] = np.arange(len(self.place), dtype=np.int32)[::-1]
        return first

    def of_places(self, values: npt.NDArray[Number]) -> npt.NDArray[Number]:
        """Values of vertices (vertices, …) as those of places (places, …); the same array without seams."""
        return values if len(self._first) == len(self.place) else values[self._first]

    def around(self, some: npt.NDArray[np.bool_], edges: int) -> npt.NDArray[np.bool_]:
        """Which places (places,) are some, or at most so many edges away from one of them."""
        found = np.zeros(self.place_count, np.bool_)
        found[_within(self.near_starts, self.near, some.astype(np.float32), edges)] = True
        return found

    def apart(self, some: npt.NDArray[np.bool_], edges: int) -> Ints:
        """As few of some places (places,) as stand so many edges round every one of them, in order."""
        return np.asarray(_apart(self.near_starts, self.near, some, edges))

    def part(self, kept: npt.NDArray[np.bool_]) -> TwoRings:
        """The places that are kept (places,), as if there were no others; each is one vertex of the part."""
        number, row_sizes = np.cumsum(kept) - 1, [np.diff(self.starts), np.diff(self.near_starts)]
        rows = [np.repeat(np.arange(self.place_count), sizes) for sizes in row_sizes]
        stay = [kept[row] & kept[m] for row, m in zip(rows, (self.members, self.near), strict=True)]
        left = [np.bincount(r[s], minlength=self.place_count) for r, s in zip(rows, stay, strict=True)]
        starts = [np.concatenate([[0], np.cumsum(count[kept])]).astype(np.int32) for count in left]
        total = np.bincount(rows[1], self.near_weights * stay[1], self.place_count)
        weights = self.near_weights.astype(np.float64)
        fewer = (left[1] < row_sizes[1]) & (total > 0.0)
        weights /= np.where(fewer, total, 1.0)[rows[1]]
        return TwoRings(
            np.arange(len(starts[0]) - 1, dtype=np.int32),
            starts[0],
            number[self.members[stay[0]]].astype(np.int32),
            self.weights[stay[0]],
            starts[1],
            number[self.near[stay[1]]].astype(np.int32),
            weights[stay[1]].astype(np.float32),
            self.square_edge[kept],
        )

    def median(self, values: Singles, sure: npt.ArrayLike) -> tuple[Singles, npt.NDArray[np.bool_]]:
        """Medians of values (places,), and where there was one to tell, (places,).

        A value of little weight changes it little: in order, each stands in the middle of its weight, and the
        median is what stands, or lies between two, in the middle of the whole.

        Args:
            values: Of the places.
            sure: How sure each is, 0 to 1, (places,).
        """
        found, told = np.zeros_like(values), np.zeros(len(values), np.float32)
        certain, nothing = np.asarray(sure, np.float32), np.float32(-1.0)
        medians(self.starts, self.members, self.weights, values, certain, nothing, found, told)
        return found, told > 0.0

    def believed(self, values: Singles, sure: npt.ArrayLike, outlier: float) -> Singles:
        """Values (places,), or medians in their place the less sure they are and the farther from them.

        A value that is sure and not as far as an outlier from the median stays; at twice as far it is the
        median. All goes over into all smoothly; 0 where nothing is sure round a place.
        """
        found, told = np.zeros_like(values), np.zeros(len(values), np.float32)
        certain = np.asarray(sure, np.float32)
        medians(self.starts, self.members, self.weights, values, certain, np.float32(outlier), found, told)
        return found

    def smoothed(
        self, values: Singles, strength: float | Singles, rounds: int, farthest: float = _FARTHEST
    ) -> Singles:
        """Values (places,) drawn some times towards the mean of their neighbours.

        Args:
            values: Of each place.
            strength: 0 to 1, one for all or of each place.
            rounds: How often.
            farthest: How far a value comes, in edges by the square root of the rounds: 3 leaves a
                ten-thousandth out.
        """
        share = np.ascontiguousarray(np.broadcast_to(np.float32(strength), values.shape))
        now, then = values.astype(np.float32), np.zeros(len(values), np.float32)
        # a value spreads as exp(−edges² / rounds): what would come farther is less than rounding
        edges = min(rounds, int(np.ceil(farthest * np.sqrt(rounds))))
        if edges == rounds and 2 * np.count_nonzero(now) > len(now):
            # most places have a value: all are smoothed sooner than those found that any comes to
            where = np.arange(len(now), dtype=np.int32)
        else:
            where = _within(self.near_starts, self.near, now, edges)
        _smooth(self.near_starts, self.near, self.near_weights, share, where, rounds, now, then)
        return now if rounds % 2 == 0 else then


def two_rings(points: npt.ArrayLike, triangles: npt.ArrayLike) -> TwoRings:
    """The neighbours of vertices at points [m], (vertices, 3), by the edges of triangles (triangles, 3)."""
    at, faces = np.asarray(points, np.float64), np.asarray(triangles, np.int64)
    place = coincident_groups(np.asarray(points, np.float32)).astype(np.int32)
    count = int(place.max(initial=-1)) + 1
    where = np.zeros((count, 3))
    where[place] = at
    ends = place[np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]])].astype(np.int64)
    ends = np.unique(np.sort(ends[ends[:, 0] != ends[:, 1]], axis=1), axis=0)
    ends = np.concatenate([ends, ends[:, ::-1]])
    length = np.linalg.norm(where[ends[:, 0]] - where[ends[:, 1]], axis=1)
    first = sparse.csr_matrix((np.maximum(length, 1e-9), (ends[:, 0], ends[:, 1])), (count, count))
    first.sort_indices()
    starts, members, ways = _nearest_first(first.indptr, first.indices, first.data)
    near = first.copy()
    near.data = 1.0 / near.data
    total = np.asarray(near.sum(axis=1)).ravel()
    near.data /= np.repeat(np.where(total > 0.0, total, 1.0), np.diff(near.indptr))
    return TwoRings(
        place,
        starts,
        members,
        (1.0 / ways).astype(np.float32),
        near.indptr.astype(np.int32),
        near.indices.astype(np.int32),
        near.data.astype(np.float32),
        np.asarray(near.multiply(first.power(2)).sum(axis=1), np.float32).ravel(),
    )


def _nearest_first(starts: Ints, near: Ints, lengths: Floats) -> tuple[Ints, Ints, Floats]:
    """As `_reached`, nearest first and at most `MOST` of each place."""
    ends, members, ways = _reached(starts, near, lengths)
    row = np.repeat(np.arange(len(ends) - 1), np.diff(ends))
    order = np.lexsort((members, ways, row))
    kept = order[np.arange(len(order)) - ends[row] < MOST]
    sizes = np.minimum(np.diff(ends), MOST)
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32), members[kept], ways[kept]


@njit(cache=True)  # type: ignore[untyped-decorator]
def _reached(starts: Ints, near: Ints, lengths: Floats) -> tuple[Ints, Ints, Floats]:
    """First and second neighbours of each place and itself, in rows, and the way to them [m]."""
    count = len(starts) - 1
    way, ends = np.full(count, np.inf), np.zeros(count + 1, np.int32)
    row, members, ways = np.empty(count, np.int32), np.empty(0, np.int32), np.empty(0)
    for collecting in range(2):
        if collecting:
            members, ways = np.empty(ends[-1], np.int32), np.empty(ends[-1])
        for place in range(count):
            row[0], many, nearest = place, 1, np.inf
            way[place] = 0.0
            for entry in range(starts[place], starts[place + 1]):
                way[near[entry]], row[many] = lengths[entry], near[entry]
                nearest = min(nearest, lengths[entry])
                many += 1
            for entry in range(starts[place], starts[place + 1]):
                for on in range(starts[near[entry]], starts[near[entry] + 1]):
                    if way[near[on]] == np.inf:
                        row[many] = near[on]
                        many += 1
                    way[near[on]] = min(way[near[on]], lengths[entry] + lengths[on])
            way[place] = _OWN * (nearest if nearest < np.inf else 1.0)
            ends[place + 1] = ends[place] + many
            for entry in range(many):
                if collecting:
                    members[ends[place] + entry], ways[ends[place] + entry] = row[entry], way[row[entry]]
                way[row[entry]] = np.inf
    return ends, members, ways


@njit(cache=True)  # type: ignore[untyped-decorator]
def _within(starts: Ints, near: Ints, values: Singles, edges: int) -> Ints:
    """Places that are at most so many edges from one with a value that is not 0."""
    found, many = np.empty(len(values), np.int32), 0
    seen = np.zeros(len(values), np.bool_)
    for place in range(len(values)):
        if values[place] != 0.0:
            seen[place], found[many] = True, place
            many += 1
    first = 0
    for _ in range(edges):
        last = many
        if last == len(values):
            break
        for row in range(first, last):
            for entry in range(starts[found[row]], starts[found[row] + 1]):
                if not seen[near[entry]]:
                    seen[near[entry]], found[many] = True, near[entry]
                    many += 1
        first = last
    # in their own order, in which neighbours are near in memory too
    return np.flatnonzero(seen).astype(np.int32)


@njit(cache=True)  # type: ignore[untyped-decorator]
def _apart(starts: Ints, near: Ints, some: npt.NDArray[np.bool_], edges: int) -> Ints:
    """The first of some, the next that is more than so many edges from it, and so on."""
    count = len(some)
    chosen, covered = np.empty(count, np.int32), np.zeros(count, np.bool_)
    round_it, seen, many = np.empty(count, np.int32), np.full(count, np.int32(-1)), 0
    for place in range(count):
        if not some[place] or covered[place]:
            continue
        chosen[many], round_it[0], seen[place], covered[place] = place, place, place, True
        many += 1
        first, last = 0, 1
        for _ in range(edges):
            ends = last
            for row in range(first, last):
                for entry in range(starts[round_it[row]], starts[round_it[row] + 1]):
                    beside = near[entry]
                    if seen[beside] != place:
                        seen[beside], round_it[ends], covered[beside] = place, beside, True
                        ends += 1
            first, last = last, ends
    return chosen[:many]


@njit(parallel=True, cache=True)  # type: ignore[untyped-decorator]
def _smooth(
    starts: Ints,
    near: Ints,
    weights: Singles,
    strength: Singles,
    where: Ints,
    rounds: int,
    now: Singles,
    then: Singles,
) -> None:
    """Rounds of smoothing at some places, from one array into the other and back."""
    for turn in range(rounds):
        before, after = (now, then) if turn % 2 == 0 else (then, now)
        for row in prange(len(where)):
            place = where[row]
            mean = np.float32(0.0)
            for entry in range(starts[place], starts[place + 1]):
                mean += weights[entry] * before[near[entry]]
            if starts[place + 1] == starts[place]:
                mean = before[place]
            after[place] = before[place] + strength[place] * (mean - before[place])
