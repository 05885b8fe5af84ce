"""Path points of muscles that move as the flesh they lie in: by the weights of the skin over them.

Told of a point of the template is how much it follows the skin; the rest follows the bones it was placed on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from ecorche.base.closest_point import TriangleSurface
from ecorche.muscles.muscle import Muscle
from ecorche.muscles.node_shares import Shares
from ecorche.skin.weights import SkinWeights

LEAST = 0.02
"""A joint with a smaller share of a point is left out: it would move it by no more than skin is thick."""


def following_skin(
    muscles: Sequence[Muscle],
    in_skin: Mapping[str, Sequence[float]],
    points: npt.ArrayLike,
    triangles: npt.ArrayLike,
    weights: SkinWeights,
) -> tuple[Muscle, ...]:
    """The muscles with path points that move as the skin over them at bind.

    Args:
        muscles: The muscles at bind, on bones.
        in_skin: By name of muscles how much each path point follows the nearest skin, 0 to 1.
        points: The skin's vertices [m], shape (vertices, 3).
        triangles: Its triangles, shape (triangles, 3).
        weights: Its weights.
    """
    chosen = [muscle for muscle in muscles if muscle.name in in_skin]
    if not chosen:
        return tuple(muscles)
    corners = np.asarray(triangles, np.int64).reshape(-1, 3)
    found = TriangleSurface(points, corners).closest(np.concatenate([m.positions for m in chosen]))
    of_skin = iter(
        [
            _of_skin(weights, corners[triangle], barycentric)
            for triangle, barycentric in zip(found.triangles, found.barycentric, strict=True)
        ]
    )
    following = {
        muscle.name: tuple(
            _but_own(joint, _mixed(own or ((joint, 1.0),), next(of_skin), part))
            for joint, own, part in zip(muscle.joints, muscle.all_shares, in_skin[muscle.name], strict=True)
        )
        for muscle in chosen
    }
    return tuple(replace(m, shares=following.get(m.name, ())) for m in muscles)


def _of_skin(
    weights: SkinWeights, corners: npt.NDArray[np.int64], barycentric: npt.NDArray[np.float64]
) -> list[tuple[int, float]]:
    """Joints of a place on a triangle and their shares, corner after corner."""
    found: list[tuple[int, float]] = []
    for vertex, part in zip(corners.tolist(), barycentric.tolist(), strict=True):
        own = slice(int(weights.starts[vertex]), int(weights.starts[vertex + 1]))
        joints, shares = weights.joints[own].tolist(), weights.weights[own].tolist()
        found += [(joint, part * share) for joint, share in zip(joints, shares, strict=True)]
    return found


def _mixed(own: Shares, of_skin: Sequence[tuple[int, float]], part: float) -> Shares:
    """Both kinds of shares together, the skin's by ``part``, the larger first."""
    shares: dict[int, float] = {}
    for pairs, of_it in ((of_skin, part), (own, 1.0 - part)):
        for joint, share in pairs:
            shares[joint] = shares.get(joint, 0.0) + of_it * share
    kept = sorted((-share, joint) for joint, share in shares.items() if share >= LEAST)
    whole = -sum(share for share, _ in kept)
    return tuple((joint, -share / whole) for share, joint in kept)


def _but_own(joint: int, shares: Shares) -> Shares:
    """Shares, none where the point's own joint has all."""
    return () if len(shares) == 1 and shares[0][0] == joint else shares
