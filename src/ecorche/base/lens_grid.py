"""A grid of even steps that is drawn out at some places, so that small forms are told as finely as large.

Surfaces over such a grid are as even as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Lens:
    """A place where a grid is finer: within ``inner`` it is enlarged, beyond ``outer`` it is as it was.

    Between them steps towards the centre are longer by ``(outer − inner) / (outer − power × inner)``.

    Attributes:
        centre: Its middle [m].
        inner: Up to this distance [m] steps are shorter by ``power``.
        outer: From this distance [m] on they are as they were; larger than ``power`` times ``inner``.
        power: How many times as fine the grid is.
    """

    centre: tuple[float, float, float]
    inner: float
    outer: float
    power: float

    def enlarged(self, points: Floats) -> Floats:
        """From the body's space to the grid's, (..., 3)."""
        return self._mapped(points, (0.0, self.inner, self.outer), (0.0, self.power * self.inner, self.outer))

    def reduced(self, points: Floats) -> Floats:
        """From the grid's space to the body's, (..., 3)."""
        return self._mapped(points, (0.0, self.power * self.inner, self.outer), (0.0, self.inner, self.outer))

    def _mapped(self, points: Floats, before: tuple[float, ...], after: tuple[float, ...]) -> Floats:
        offset = points - np.array(self.centre)
        away = np.linalg.norm(offset, axis=-1)
        # beyond the outer radius nothing moves, to the bit
        share = np.where(away < self.outer, np.interp(away, before, after) / np.maximum(away, 1e-12), 1.0)
        share = np.where(away < before[1], after[1] / before[1], share)
        places: Floats = np.array(self.centre) + share[..., None] * offset
        return places


@dataclass(frozen=True, eq=False)
class LensGrid:
    """Nodes of a grid, drawn out by lenses, the first of which is looked through last.

    Attributes:
        start: The first node in the grid's space [m], (3,).
        step: From node to node in the grid's space [m].
        count: How many nodes there are along each axis, (3,).
        lenses: Where it is finer.
    """

    start: Floats
    step: float
    count: Ints
    lenses: tuple[Lens, ...]

    def placed(self, nodes: npt.ArrayLike) -> Floats:
        """Where nodes, or places between them, are [m], both (n, 3)."""
        places: Floats = self.start + self.step * np.asarray(nodes, np.float64)
        for lens in self.lenses:
            places = lens.reduced(places)
        return places

    def nodes(self) -> Floats:
        """Where all nodes are [m], the last axis fastest, (nodes, 3)."""
        return self.placed(np.indices(tuple(self.count)).reshape(3, -1).T)


def grid_round(points: Floats, step: float, margin: float, lenses: Sequence[Lens], *, half: bool) -> LensGrid:
    """The grid that holds points [m] (n, 3) and a margin [m] round them.

    With ``half`` only what lies to the left, x > 0: the plane x = 0 runs through the middle of its second
    layer of cells, so that the surfaces of both halves meet there.
    """
    around = np.concatenate([points - margin, points + margin])
    for lens in reversed(lenses):
        around = lens.enlarged(around)
    start, end = around.min(axis=0) - step, around.max(axis=0) + step
    if half:
        start[0] = -1.5 * step
    count = np.ceil((end - start) / step).astype(np.int64) + 1
    return LensGrid(start, step, count, tuple(lenses))
