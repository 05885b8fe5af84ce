"""Flesh that another method than linear blending carries: what such a method is to the muscles in it.

Skin may be skinned so that a twisted limb keeps its girth. Muscles below it that were blended linearly would
collapse, and skin that keeps its distance to them with them. So flesh is bound to the joints by the method of
the skin round it, once; and in a frame its points go from where they are at bind, with the thickness of the
frame, to where that method takes them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Singles = npt.NDArray[np.float32]
Shares = Sequence[tuple[Ints, Floats]]
"""Of each muscle in turn: the joints (n,) round it, and how much they move its points, (..., n)."""


class Carrier(Protocol):
    """Places of the flesh bound to the joints."""

    def apply(self, difference: Floats, points: Singles) -> Singles:
        """Where points at bind [m] (P, 3) are for ``M − I`` of the joints (joints, 4, 4)."""
        ...


Binding = Callable[[Floats, Shares], Carrier]
"""Binds the points of muscles at bind [m] (P, 3) by the shares of the flesh there."""


def carried(carrier: Carrier, difference: Floats, points: Floats) -> Floats:
    """Points at bind [m] (..., 3) where the flesh takes them; at bind they come back bit for bit."""
    given = np.ascontiguousarray(points, np.float32).reshape(-1, 3)
    return np.asarray(points + (carrier.apply(difference, given) - given).reshape(points.shape))
