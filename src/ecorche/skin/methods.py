"""The skinning methods by name. A new one is one file and one line here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np
import numpy.typing as npt

from ecorche.errors import MeshError
from ecorche.skeleton.skeleton import Skeleton
from ecorche.skin.weights import SkinWeights

Points = npt.NDArray[np.float32]


class Skinning(Protocol):
    """One mesh bound to its skeleton by some method, ready to be applied frame after frame."""

    def apply(
        self,
        difference: npt.NDArray[np.float64],
        points: Points | None = None,
        out: Points | None = None,
    ) -> Points:
        """Skinned positions [m] (vertices, 3) for joints ``M − I`` (joints, 4, 4) away from bind."""
        ...


def _linear(points: Points, weights: SkinWeights, skeleton: Skeleton) -> Skinning:  # noqa: ARG001
    from ecorche.skin.linear import LinearSkinning

    return LinearSkinning(points, weights)


def _dual_quaternion(points: Points, weights: SkinWeights, skeleton: Skeleton) -> Skinning:  # noqa: ARG001
    from ecorche.skin.dual_quaternion import DualQuaternionSkinning

    return DualQuaternionSkinning(points, weights)


def _contour(points: Points, weights: SkinWeights, skeleton: Skeleton) -> Skinning:
    from ecorche.skin.contour import ContourSkinning

    return ContourSkinning(points, weights, skeleton)


SKINNING: dict[str, Callable[[Points, SkinWeights, Skeleton], Skinning]] = {
    "linear": _linear,
    "dual_quaternion": _dual_quaternion,
    "contour": _contour,
}
"""Name to maker."""


def make_skinning(method: str, points: Points, weights: SkinWeights, skeleton: Skeleton) -> Skinning:
    """The named skinning method for one mesh: bind points [m] (vertices, 3) and their weights."""
    if method not in SKINNING:
        raise MeshError(
            f"there is no skinning method {method!r}",
            remedy=f"Choose one of {', '.join(SKINNING)}",
        )
    return SKINNING[method](points, weights, skeleton)
