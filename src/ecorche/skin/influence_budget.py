"""At most so many influences a vertex: those that together move the skin most nearly as all of them do.

Engines read four or eight influences a vertex; skin that follows muscles has more, and a creature's own skin
may have ten. Dropping the weakest and sharing their weight out, as exporters do, leaves centimetres where
limbs are many and none is weak. Here influences and weights are chosen together, by least squares over sample
poses: where the vertex goes in all of them, seen from each influence, is one long vector, and weights that
are no less than 0 and sum to 1 are sought whose mean of few such vectors is nearest to the mean of all. From
the strongest influences, and from those that help most, taken in one after the other, single ones are
exchanged for others as long as that helps; the better of both stays. At bind all influences agree, so any
weights are exact there.

Where a vertex follows no more limbs than the budget has influences, each limb keeps its weight, together with
the muscle joints that hang on it: so muscle joints that go with their limbs leave plain skinning as it is.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit

from ecorche.errors import MeshError
from ecorche.skin.weights import SkinWeights, weights_from_entries

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

_SAME = 1e-13
"""Share of the largest that is added to squares, so that influences which move alike share evenly."""
_RIGID = 1e6
"""How much more the square error counts that limbs alone would make, where each is to keep its weight."""
_BETTER = 1.0 - 1e-6
"""An exchange must make the square error this much smaller."""


def limited(
    weights: SkinWeights,
    most: int,
    limbs: npt.NDArray[np.integer],
    points: npt.NDArray[np.floating],
    poses: npt.NDArray[np.floating],
) -> SkinWeights:
    """The same weights with at most so many influences a vertex; what is within the budget stays.

    Args:
        weights: The weights.
        most: At most so many influences, one or more.
        limbs: The limb of every joint, (joints,): its own number, of a muscle joint that of its parent.
        points: The skin at bind [m], (vertices, 3).
        poses: ``M − I`` of all joints in sample poses, (poses, joints, 4, 4).
    """
    if most < 1:
        raise MeshError(f"{most} influences a vertex were asked for", remedy="Give one or more")
    many = np.flatnonzero(np.diff(weights.starts) > most)
    if not len(many):
        return weights
    joints, table = weights.padded()
    kept = table.astype(np.float64)
    part = np.ascontiguousarray(kept[many])
    _choose(
        np.ascontiguousarray(joints[many], np.int64),
        part,
        np.ascontiguousarray(limbs, np.int64),
        points[many].astype(np.float64),
        np.ascontiguousarray(poses[:, :, :3], np.float64),
        most,
    )
    kept[many] = part
    vertex = np.repeat(np.arange(weights.vertex_count), kept.shape[1])
    return weights_from_entries(
        vertex,
        joints.reshape(-1),
        kept.reshape(-1),
        weights.vertex_count,
        poses.shape[1],
        "limited weights",
    )


@njit(cache=True)  # type: ignore[untyped-decorator]
def _choose(joints: Ints, weights: Floats, limbs: Ints, points: Floats, poses: Floats, most: int) -> None:
    """Leave at most ``most`` of each vertex' influences (vertices, slots), in place."""
    for v in range(len(joints)):
        _choose_for(joints[v], weights[v], limbs, points[v], poses, most)


@njit(cache=True)  # type: ignore[untyped-decorator]
def _choose_for(joints: Ints, weights: Floats, limbs: Ints, point: Floats, poses: Floats, most: int) -> None:
    """The same for one vertex: slots (slots,), point (3,)."""
    own = np.flatnonzero(weights > 0.0)
    square = _products(joints[own], weights[own], point, poses)
    limb = limbs[joints[own]]
    if len(np.unique(limb)) <= most:
        square += _RIGID * _products(limb, weights[own], point, poses)
    largest = np.max(square)
    for n in range(len(own)):
        square[n, n] += _SAME * largest + 1e-30
    strongest = np.argsort(-weights[own])[:most]
    chosen, left = _exchanged(square, strongest)
    helping, less = _exchanged(square, _taken_in(square, most))
    if less < left:
        chosen = helping
    shares = _nearest(square, chosen)[1]
    weights[:] = 0.0
    for k in range(most):
        weights[own[chosen[k]]] = shares[k]


@njit(cache=True)  # type: ignore[untyped-decorator]
def _taken_in(square: Floats, most: int) -> Ints:
    """So many influences, one after the other taken in as it helps most."""
    chosen = np.full(most, -1, np.int64)
    free = np.ones(len(square), np.bool_)
    for k in range(most):
        taken, _ = _best_at(square, chosen[: k + 1], k, free, np.inf)
        chosen[k] = taken
        free[taken] = False
    return chosen


@njit(cache=True)  # type: ignore[untyped-decorator]
def _exchanged(square: Floats, chosen: Ints) -> tuple[Ints, float]:
    """The chosen influences after single ones were exchanged as long as that helps, and the square error."""
    free = np.ones(len(square), np.bool_)
    free[chosen] = False
    best = _nearest(square, chosen)[0]
    for _ in range(len(square)):
        given, taken = -1, -1
        for k in range(len(chosen)):
            other, now = _best_at(square, chosen, k, free, _BETTER * best)
            if other >= 0:
                given, taken, best = k, other, now
        if given < 0:
            break
        free[chosen[given]], free[taken] = True, False
        chosen[given] = taken
    return chosen, best


@njit(cache=True)  # type: ignore[untyped-decorator]
def _products(joints: Ints, weights: Floats, point: Floats, poses: Floats) -> Floats:
    """Products (n, n) of the vectors from where all influences carry a vertex to where each does."""
    count, frames = len(joints), len(poses)
    away = np.empty((count, 3 * frames))
    goal = np.zeros(3 * frames)
    total = np.sum(weights)
    for n in range(count):
        for f in range(frames):
            m = poses[f, joints[n]]
            for i in range(3):
                at = m[i, 0] * point[0] + m[i, 1] * point[1] + m[i, 2] * point[2] + m[i, 3]
                away[n, 3 * f + i] = at
                goal[3 * f + i] += weights[n] / total * at
    square = np.zeros((count, count))
    for n in range(count):
        away[n] -= goal
        for m in range(n + 1):
            for i in range(3 * frames):
                square[n, m] += away[n, i] * away[m, i]
            square[m, n] = square[n, m]
    return square


@njit(cache=True)  # type: ignore[untyped-decorator]
def _best_at(
    square: Floats, chosen: Ints, place: int, free: npt.NDArray[np.bool_], limit: float
) -> tuple[int, float]:
    """Which free influence at a place of the chosen ones leaves the least square error below a limit."""
    was, taken, best = chosen[place], -1, limit
    for n in range(len(free)):
        if free[n]:
            chosen[place] = n
            size = _nearest(square, chosen)[0]
            if size < best:
                taken, best = n, size
    chosen[place] = was
    return taken, best


@njit(cache=True)  # type: ignore[untyped-decorator]
def _nearest(square: Floats, chosen: Ints) -> tuple[float, Floats]:
    """The square length of the shortest mean of some vectors, and their shares (chosen,) in it.

    ``square`` (n, n) holds the vectors' products. Without bounds the shares solve ``square · y = 1``, brought
    to a sum of 1; while one is below 0, the lowest is left out.
    """
    size = len(chosen)
    active = np.ones(size, np.bool_)
    shares = np.zeros(size)
    factor = np.empty((size, size))
    solved = np.empty(size)
    while True:
        left = np.flatnonzero(active)
        k = len(left)
        for i in range(k):  # Cholesky
            for j in range(i + 1):
                rest = square[chosen[left[i]], chosen[left[j]]]
                for m in range(j):
                    rest -= factor[i, m] * factor[j, m]
                factor[i, j] = np.sqrt(max(rest, 1e-300)) if i == j else rest / factor[j, j]
        for i in range(k):
            rest = 1.0
            for m in range(i):
                rest -= factor[i, m] * solved[m]
            solved[i] = rest / factor[i, i]
        for i in range(k - 1, -1, -1):
            rest = solved[i]
            for m in range(i + 1, k):
                rest -= factor[m, i] * solved[m]
            solved[i] = rest / factor[i, i]
        total, lowest = 0.0, 0
        for i in range(k):
            total += solved[i]
            if solved[i] < solved[lowest]:
                lowest = i
        if solved[lowest] >= 0.0 or k == 1:
            shares[:] = 0.0
            for i in range(k):
                shares[left[i]] = solved[i] / total
            return 1.0 / total, shares
        active[left[lowest]] = False
