"""How far a limb may turn about itself, depending on where it points.

Two height fields over the swing plane, as in thesis 3.3.9. The inverse-distance weights printed
there are 0/0 at a key and jump where several keys are equally near; here the limits are linear over
a Delaunay triangulation of the keys: exact at a key, continuous everywhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from ecorche.errors import SkeletonError
from ecorche.skeleton.limits import require_range

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class TwistField:
    """Lowest and highest twist at some swings; in between, interpolated.

    Outside the keys' convex hull the limits are those of the nearest point of the hull, so a
    single key means the same limits everywhere. Keys on one line are joined along that line.

    Attributes:
        swings: Swing vectors (s_x, s_y) of the keys [rad], shape (keys, 2).
        low: Lowest twist at each key [rad], shape (keys,).
        high: Highest twist at each key [rad], shape (keys,).
    """

    swings: Floats
    low: Floats
    high: Floats

    def __post_init__(self) -> None:
        swings = np.array(self.swings, np.float64)
        low, high = np.array(self.low, np.float64), np.array(self.high, np.float64)
        count = len(swings)
        if count == 0 or swings.shape != (count, 2) or low.shape != (count,) or high.shape != (count,):
            raise SkeletonError(
                f"the twist keys have shapes {swings.shape}, {low.shape} and {high.shape}",
                remedy="Give each key as swing x, swing y, lowest twist, highest twist",
            )
        if not np.isfinite(swings).all():
            raise SkeletonError(
                "a twist key has a swing that is not a finite number", remedy="Give it in degrees"
            )
        for key in range(count):
            require_range(low[key], high[key], f"the twist of key {key}")
        for key in range(1, count):
            gaps = np.linalg.norm(swings[:key] - swings[key], axis=1)
            if gaps.min() < 1e-6:
                raise SkeletonError(
                    f"twist keys {int(np.argmin(gaps))} and {key} are at the same swing",
                    remedy="Remove one of them",
                )
        for name, values in (("swings", swings), ("low", low), ("high", high)):
            object.__setattr__(self, name, values)

    def limits(self, swings: npt.ArrayLike) -> tuple[Floats, Floats]:
        """Lowest and highest twist [rad], each (...), at swing vectors (..., 2) [rad]."""
        swings = np.asarray(swings, np.float64)
        flat = swings.reshape(-1, 2)
        weights = self._weights_on_border(flat)
        depth = np.full(len(flat), -1e-12)
        for triangle in self._triangles:
            barycentric = _barycentric(flat, self.swings[triangle])
            least = barycentric.min(axis=1)
            deeper = least > depth
            depth = np.where(deeper, least, depth)
            weights[deeper] = 0.0
            weights[np.ix_(deeper, triangle)] = barycentric[deeper]
        shape = swings.shape[:-1]
        low, high = (weights * self.low).sum(axis=1), (weights * self.high).sum(axis=1)
        return low.reshape(shape), high.reshape(shape)

    @cached_property
    def _triangles(self) -> npt.NDArray[np.int32]:
        """Key numbers of the triangles, shape (triangles, 3); none where the keys lie on a line."""
        spread = self.swings - self.swings.mean(axis=0)
        if len(self.swings) < 3 or np.linalg.matrix_rank(spread, tol=1e-6) < 2:
            return np.empty((0, 3), np.int32)
        from scipy.spatial import Delaunay

        return np.asarray(Delaunay(self.swings).simplices, np.int32)

    @cached_property
    def _border(self) -> list[tuple[int, int]]:
        """The hull's sides as pairs of keys; for keys on a line, its pieces."""
        if len(self._triangles) == 0:
            spread = self.swings - self.swings[0]
            along = spread @ spread[np.argmax(np.linalg.norm(spread, axis=1))]
            order = [int(k) for k in np.argsort(along)]
            return list(pairwise(order)) or [(0, 0)]
        seen: dict[tuple[int, int], int] = {}
        for a, b, c in self._triangles.tolist():
            for side in ((a, b), (b, c), (c, a)):
                key = (min(side), max(side))
                seen[key] = seen.get(key, 0) + 1
        return [side for side, uses in seen.items() if uses == 1]

    def _weights_on_border(self, swings: Floats) -> Floats:
        """Weights of the keys (points, keys) at the border point nearest to each swing."""
        weights = np.zeros((len(swings), len(self.swings)))
        nearest = np.full(len(swings), np.inf)
        for a, b in self._border:
            start, side = self.swings[a], self.swings[b] - self.swings[a]
            length = float(side @ side)
            t = np.clip((swings - start) @ side / length, 0.0, 1.0) if length > 0.0 else np.zeros(len(swings))
            distance = np.linalg.norm(swings - start - t[:, None] * side, axis=1)
            closer = distance < nearest
            nearest = np.where(closer, distance, nearest)
            weights[closer] = 0.0
            weights[closer, a] = 1.0 - t[closer]
            weights[closer, b] += t[closer]
        return weights


def _barycentric(points: Floats, corners: Floats) -> Floats:
    """Barycentric coordinates (points, 3) in one triangle (3, 2)."""
    sides = np.stack([corners[1] - corners[0], corners[2] - corners[0]], axis=1)
    area = float(np.linalg.det(sides))
    if area == 0.0:  # a sliver of Qhull's: it holds no point that its neighbours do not
        return np.full((len(points), 3), -1.0)
    offset = points - corners[0]
    b = (offset[:, 0] * sides[1, 1] - offset[:, 1] * sides[0, 1]) / area
    c = (offset[:, 1] * sides[0, 0] - offset[:, 0] * sides[1, 0]) / area
    return np.stack([1.0 - b - c, b, c], axis=1)
