"""How much each joint moves the flesh round rings of points, laid out for compiled loops.

The four points side by side in a ring go through a loop together (`quads`): the flesh round one ring is moved
by the same few joints, only their shares differ from side to side.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from ecorche.base.quads import WIDTH, fours, quad, read_quad
from ecorche.muscles.triples import dot, plus, read

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


def flesh_shares(shares: Floats) -> FleshShares:
    """From shares of all joints, (M, R, A, joints), of which most are zero."""
    muscles, rings, sides, _ = shares.shape
    muscle, ring, joint = np.nonzero((shares != 0.0).any(axis=2))
    by_side = fours(np.moveaxis(shares[muscle, ring, :, joint], 1, 0))  # (G, N, 4)
    named = np.arange(rings)[:, None, None] * sides + fours(np.arange(sides))
    return FleshShares(
        starts=np.searchsorted(muscle * rings + ring, np.arange(muscles * rings + 1)),
        joints=np.ascontiguousarray(joint),
        shares=np.ascontiguousarray(np.moveaxis(by_side, 1, 0)).reshape(-1, WIDTH),
        named=np.ascontiguousarray(named.reshape(-1, WIDTH), np.uint32),
    )


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
