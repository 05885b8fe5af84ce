"""A membrane over the muscles, under fat and skin: it lies on them and bridges the gaps between.

Skin that kept its distance to the muscles alone would be drawn into every gap between two of them. The fascia
is a membrane that is pulled inwards and held up by muscles and bones. Its depth f below the skin makes

    ∫ |∇f|² + (f − D)² / ℓ²     least, with f at most the depth of what lies beneath,

an obstacle problem. Away from what holds it up it comes down to the depth D over the way ℓ, and a gap
narrower than about 2 ℓ is bridged. Where nothing is known to lie beneath nothing holds it.
The skin's correction is the difference of two such membranes, at bind and posed, and as smooth as they are.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit, prange

from ecorche.skin.two_rings import TwoRings

Singles = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int32]


class Fascia:
    """The membrane under one skin.

    Args:
        rings: The skin's neighbours.
        span: ℓ [m], half the width of the gaps it bridges.
        deepest: D [m].
        rounds: Of relaxation. As many as a span has edges, squared and doubled, and it is at rest.
    """

    def __init__(self, rings: TwoRings, *, span: float, deepest: float, rounds: int) -> None:
        self._rings, self._deepest, self._rounds = rings, np.float32(deepest), rounds
        # the mean of the neighbours differs by a quarter of Δf times the mean square of the edges
        self._pull = (rings.square_edge / (4.0 * span**2)).astype(np.float32)

    def depths(self, beneath: Singles, start: Singles | None = None) -> Singles:
        """Depth of the membrane below the skin [m], (places,).

        Args:
            beneath: Depth of muscles and bones [m], infinite where nothing is known, (places,).
            start: Where the search begins; the result hardly depends on it.
        """
        limit = np.minimum(beneath, self._deepest).astype(np.float32)
        now = limit.copy() if start is None else np.minimum(start, limit)
        then, rings = np.empty_like(now), self._rings
        for _ in range(self._rounds):
            _relax(
                rings.near_starts, rings.near, rings.near_weights, self._pull, self._deepest, limit, now, then
            )
            now, then = then, now
        return now


@njit(parallel=True, cache=True)  # type: ignore[untyped-decorator]
def _relax(
    starts: Ints,
    near: Ints,
    weights: Singles,
    pull: Singles,
    deepest: float,
    limit: Singles,
    now: Singles,
    then: Singles,
) -> None:
    """One round of Jacobi's method, never below what holds the membrane up."""
    for place in prange(len(now)):
        mean = np.float32(0.0)
        for entry in range(starts[place], starts[place + 1]):
            mean += weights[entry] * now[near[entry]]
        if starts[place + 1] == starts[place]:
            mean = now[place]
        drawn = (mean + pull[place] * deepest) / (np.float32(1.0) + pull[place])
        then[place] = min(np.float32(0.5) * (drawn + now[place]), limit[place])
