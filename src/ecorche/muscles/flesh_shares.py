"""How much each joint moves the flesh round rings of points, laid out for compiled loops.

The four points side by side in a ring go through a loop together (`quads`): the flesh round one ring is moved
by the same few joints, only their shares differ from side to side.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from ecorche.base.quads import WIDTH, fours, quad, read_quad
from ecorche.muscles.triples import dot, plus, read, read_vector

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Naturals = npt.NDArray[np.uint32]


class FleshShares(NamedTuple):
    """Shares of the joints round the rings of M muscles, R each, whose A sides make G fours.

    Attributes:
        starts: Borders of the joints of each ring, (M R + 1,).
        joints: Which joints move the flesh round the rings, (N,).
        shares: By how much, at the sides by fours, (N G, 4).
        named: Which points of a muscle the fours of its rings are, (R G, 4).
    """

    starts: Ints
    joints: Ints
    shares: Floats
    named: Naturals


def flesh_shares(rings: int, sides: int, muscles: Iterable[tuple[Ints, Floats]]) -> FleshShares:
    """From the joints (n,) round each muscle and their shares, (rings, sides, n), many of which are zero."""
    counts, joints, by_side = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)], [np.zeros((0, sides))]
    for own, shares in muscles:
        ring, joint = _held(shares)
        counts.append(np.bincount(ring, minlength=rings))
        joints.append(own[joint])
        by_side.append(shares[ring, :, joint])
    named = np.arange(rings)[:, None, None] * sides + fours(np.arange(sides))
    grouped = fours(np.concatenate(by_side).T)  # (G, N, 4)
    return FleshShares(
        starts=np.concatenate([[0], np.cumsum(np.concatenate(counts))]),
        joints=np.concatenate(joints),
        shares=np.ascontiguousarray(np.moveaxis(grouped, 1, 0)).reshape(-1, WIDTH),
        named=np.ascontiguousarray(named.reshape(-1, WIDTH), np.uint32),
    )


def flesh_vectors(sides: int, muscles: Iterable[tuple[Floats, Floats]]) -> Floats:
    """Vectors that go with `flesh_shares`, each a row of fours for x, y and z, (3 N G, 4).

    Args:
        sides: Of a ring.
        muscles: Shares as there, and a vector for each, (rings, sides, n, 3).
    """
    by_side = [np.zeros((0, sides, 3))]
    for shares, vectors in muscles:
        ring, joint = _held(shares)
        by_side.append(vectors[ring, :, joint])
    grouped = fours(np.moveaxis(np.concatenate(by_side), 1, 0))  # (G, N, 3, 4)
    return np.ascontiguousarray(np.moveaxis(grouped, 1, 0)).reshape(-1, WIDTH)


def _held(shares: Floats) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Which rings (N,) are moved by which joints (N,), of shares (rings, sides, n)."""
    ring, joint = np.nonzero((shares != 0.0).any(axis=1))
    return ring, joint


@njit(inline="always")  # type: ignore[untyped-decorator]
def bow_of(
    flesh: FleshShares, vectors: Floats, moved: Floats, ring: int, group: int, groups: int, step: Any
) -> Any:
    """A step of four points, less what the joints make of vectors of their own (`flesh_vectors`)."""
    for k in range(flesh.starts[ring], flesh.starts[ring + 1]):
        joint, c = flesh.joints[k], read_vector(vectors, 3 * (k * groups + group))
        way = dot(read(moved, joint, 0), c), dot(read(moved, joint, 4), c), dot(read(moved, joint, 8), c)
        step = (step[0] - way[0], step[1] - way[1], step[2] - way[2])
    return step


@njit(inline="always")  # type: ignore[untyped-decorator]
def step_of(flesh: FleshShares, moved: Floats, ring: int, group: int, groups: int, a: Any, one: float) -> Any:
    """How far the flesh takes four points of a ring, or changes four vectors; in kernels.

    Args:
        flesh: What moves it.
        moved: ``M − I`` of the joints, (joints, 16).
        ring: Of all rings.
        group: Which four of its sides, of ``groups``.
        groups: How many fours its sides make.
        a: The points or vectors, three quads.
        one: 1 for points, 0 for vectors.
    """
    step = (quad(0.0), quad(0.0), quad(0.0))
    for k in range(flesh.starts[ring], flesh.starts[ring + 1]):
        joint = flesh.joints[k]
        way = (
            dot(read(moved, joint, 0), a) + one * moved[joint, 3],
            dot(read(moved, joint, 4), a) + one * moved[joint, 7],
            dot(read(moved, joint, 8), a) + one * moved[joint, 11],
        )
        step = plus(step, read_quad(flesh.shares, k * groups + group), way)
    return step
