"""Rings of points round muscles found in the skin, carried by their flesh: all muscles in one compiled call.

A section dilated by κ, and the flesh's ``M − I`` at a point of it, are both linear: so a frame is told by
where the flesh takes the points of bind, and by what they change by as κ grows by one. That holds for any
method that carries a place by the weights it has there (`flesh_carrier`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from numba import njit, prange

from ecorche.base.quads import WIDTH, fours, quad, write_rows
from ecorche.base.threads import threads_for
from ecorche.muscles.flesh_carrier import Carrier
from ecorche.muscles.flesh_shares import FleshShares, bow_of, flesh_shares, flesh_vectors, step_of
from ecorche.muscles.loft import Loft
from ecorche.muscles.posed_lofts import section_points
from ecorche.muscles.ring_volume import volume_within
from ecorche.muscles.triples import read_vector

if TYPE_CHECKING:
    from ecorche.muscles.lofted_posing import Lofts

Floats = npt.NDArray[np.float64]


def dilated(shape: Loft, u: Floats, kappa: float) -> tuple[Floats, Floats]:
    """Stretches (K, 2, 2) and centres (K, 2) [m] of sections at bind, dilated by κ away from the skin."""
    stretch, centre = shape.at(u)
    more = kappa * shape.bulging(u)
    centre[:, 0] -= more * np.linalg.norm(stretch[:, 0], axis=-1)
    return stretch * (1.0 + more)[:, None, None], centre


class LoftRings:
    """Rings round all muscles, ready to be posed frame after frame.

    Args:
        lofts: The muscles, in their flesh.
        u: Where the rings stand along each muscle, share of its length, (M, K).
        sides: Points of a ring, evenly round it from out to side.

    Attributes:
        volumes: What the closed surfaces through the rings hold at bind [m³], (M,).
    """

    def __init__(self, lofts: Lofts, u: Floats, sides: int) -> None:
        count, rings = u.shape
        angle = 2.0 * np.pi * np.arange(sides) / sides
        shares, vectors, still = [], [], np.empty((count, rings, sides, 6))
        for muscle, (flesh, shape, place) in enumerate(zip(lofts.flesh, lofts.shapes, u, strict=True)):
            axes, (own, inset) = lofts.axes_at_bind(muscle, place), flesh.at(place, angle)
            at_rest, whole = (section_points(axes, *dilated(shape, place, k), angle) for k in (0.0, 1.0))
            steps = flesh.held_in(place, angle, whole - at_rest)
            still[muscle] = np.concatenate([at_rest + inset, steps], axis=-1)
            shares.append((flesh.joints, own))
            bows = flesh.bows_at(place, angle)
            if bows is not None:
                vectors.append((own, bows.reshape(*own.shape, 3)))
        self._bound: tuple[Carrier, npt.NDArray[np.float32], Floats] | None = None
        self._flesh, self._shape = flesh_shares(rings, sides, shares), (count, rings, sides, WIDTH)
        # flesh of one body has bows or has none
        self._bows = flesh_vectors(sides, vectors)
        by_side = fours(np.moveaxis(still, 2, 0))  # (G, M, K, 6, 4)
        self._still = np.ascontiguousarray(np.moveaxis(by_side, 0, 2)).reshape(-1, WIDTH)
        self.volumes = volume_within(still[..., :3])
        binding = lofts.flesh[0].binding if count else None
        if binding is not None:
            points, more = (np.ascontiguousarray(still[..., k : k + 3]).reshape(-1, 3) for k in (0, 3))
            both = np.concatenate([points, points + more]).astype(np.float32)
            carrier = binding(np.concatenate([points, points]), [*shares, *shares])
            self._bound = carrier, both, np.stack([points, more]).reshape(2, *self._shape[:-1], 3)

    def carried(self, difference: Floats) -> tuple[Floats, Floats]:
        """Points [m] without dilation, and what they change by as κ grows by one, (M, K, sides, 4).

        The last column is zero. ``difference`` is ``M − I`` of all joints, those of muscles last,
        C-contiguous (joints, 4, 4).
        """
        count, rings, sides, width = self._shape
        if self._bound is not None:
            carrier, both, still = self._bound
            steps = (carrier.apply(difference, both) - both).reshape(still.shape)
            steps[1] -= steps[0]
            posed = np.zeros((2, *self._shape))
            np.add(still, steps, out=posed[..., :3])
            return posed[0], posed[1]
        at_rest, by_dilation = (np.empty((count, rings * sides, width)) for _ in range(2))
        with threads_for(len(self._flesh.shares) // 16):
            moved = difference.reshape(-1, 16)
            _carry(self._flesh, self._bows, self._still, moved, rings, at_rest, by_dilation)
        return at_rest.reshape(self._shape), by_dilation.reshape(self._shape)


@njit(parallel=True, cache=True)  # type: ignore[untyped-decorator]
def _carry(
    flesh: FleshShares,
    bows: Floats,
    still: Floats,
    moved: Floats,
    rings: int,
    at_rest: Floats,
    by_dilation: Floats,
) -> None:
    """See `LoftRings.carried`."""
    for muscle in prange(len(at_rest)):
        groups, none = len(flesh.named) // rings, quad(0.0)
        points, vectors = at_rest[muscle], by_dilation[muscle]
        for place in range(len(flesh.named)):
            ring, group = muscle * rings + place // groups, place % groups
            at = 6 * (muscle * len(flesh.named) + place)
            p, v = read_vector(still, at), read_vector(still, at + 3)
            step = step_of(flesh, moved, ring, group, groups, p, 1.0)
            if len(bows) > 0:
                step = bow_of(flesh, bows, moved, ring, group, groups, step)
            there = (p[0] + step[0], p[1] + step[1], p[2] + step[2], none)
            write_rows(points, flesh.named, place, WIDTH, 0, there)
            step = step_of(flesh, moved, ring, group, groups, v, 0.0)
            there = (v[0] + step[0], v[1] + step[1], v[2] + step[2], none)
            write_rows(vectors, flesh.named, place, WIDTH, 0, there)
