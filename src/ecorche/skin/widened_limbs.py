"""Limbs that come out until they hold their volume, though their skin is laid flat where they fold.

What comes out in a fold (`keep_volume`) is laid flat again (`fold_planes`), so limbs come out several times.
Only their own skin is looked at, which is a small part of the whole.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from ecorche.skin.fold_planes import FoldPlanes
from ecorche.skin.keep_volume import KeptVolume
from ecorche.skin.limb_segments import LimbSegment
from ecorche.skin.two_rings import TwoRings

Floats = npt.NDArray[np.float64]
Points = npt.NDArray[np.float32]
Singles = npt.NDArray[np.float32]

_TIMES = 3
"""How often limbs come out."""


class WidenedLimbs:
    """The limbs of one skin.

    Args:
        points: The skin at bind [m], (vertices, 3).
        segments: Of its limbs, with all vertices of each place; see `limb_segments`.
        folds: Where it folds.
        rings: Its neighbours.
        share: How much of what is found is shown, 0 to 1, (vertices,).

    Attributes:
        segments: The same.
    """

    def __init__(
        self,
        points: Points,
        segments: Iterable[LimbSegment],
        folds: FoldPlanes,
        rings: TwoRings,
        share: Singles,
    ) -> None:
        self.segments = tuple(segments)
        own = np.unique(np.concatenate([np.zeros(0, np.int64), *(s.vertices for s in self.segments)]))
        renumbered = [replace(s, vertices=np.searchsorted(own, s.vertices)) for s in self.segments]
        self._volume, self._folds = KeptVolume(points[own], renumbered), folds.going_with(own)
        self._vertices, self._places, self._share = own, rings.place[own], share[own]
        self._speakers = np.searchsorted(own, rings.speakers()[self._places])

    def widened(self, correction: Singles, points: Points, normals: Points, moved: Floats) -> Singles:
        """A correction along the normals [m] (places,) with which limbs hold their volume.

        Args:
            correction: What it is without them.
            points, normals: Of the skin in the pose, (vertices, 3).
            moved: ``M − I`` of the joints, (joints, 4, 4).
        """
        at, up = (values.take(self._vertices, axis=0) for values in (points, normals))
        out = correction[self._places]
        for _ in range(_TIMES):
            lifted = at + out[:, None] * up
            self._folds.lay(lifted, moved)
            wider = self._volume.correction(lifted, up)
            out = out + (self._share * wider)[self._speakers]
        found = correction.copy()
        found[self._places] = out
        return found
