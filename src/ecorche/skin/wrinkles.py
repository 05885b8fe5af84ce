"""Folds that come at joints when they bend: at the elbow, knee, wrist, waist and neck.

The thesis (5.5) leaves them out and says how: they lie at fixed places and deepen with the joint's angle.
Here grooves run across the limb at the joint and a width before and behind it, on whichever side the limb
bends to, and fade out round it. A groove is ``depth · f(angle) · cos²`` deep; f rises smoothly from nothing
at bind to one at the angle at which folds are full. They are off unless asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ecorche.base.rotations import normalise
from ecorche.base.smooth_step import smooth_step
from ecorche.errors import SkeletonError
from ecorche.skeleton.skeleton import Skeleton
from ecorche.skin.weights import SkinWeights

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

_REACH = 1.5
"""How many widths from the joint grooves end."""


@dataclass(frozen=True)
class Folds:
    """The folds at one joint.

    Attributes:
        joint: Its number.
        depth: Of a full groove [m].
        width: From groove to groove [m].
        full: Bend at which they are full [rad].
    """

    joint: int
    depth: float = 0.002
    width: float = 0.012
    full: float = np.pi / 2


@dataclass(frozen=True, eq=False, repr=False)
class _Prepared:
    folds: Folds
    parent: int
    child: Floats  # direction of the bone behind the joint at bind, unit
    before: Floats  # and of the one before it
    vertices: Ints
    outwards: Floats  # from the limb's axis, unit
    grooves: Floats


class FlexionWrinkles:
    """Folds on one skin.

    Args:
        points: At bind [m], (vertices, 3).
        weights: Of the skin.
        skeleton: It hangs on.
        folds: At which joints.
    """

    def __init__(
        self, points: npt.ArrayLike, weights: SkinWeights, skeleton: Skeleton, folds: Sequence[Folds]
    ) -> None:
        self._count = weights.vertex_count
        at = np.asarray(points, np.float64)
        heads, tips = skeleton.bind_world[:, :3, 3], skeleton.tail_positions()
        vertex = np.repeat(np.arange(self._count), np.diff(weights.starts))
        self._prepared = []
        for fold in folds:
            joint, parent = fold.joint, int(skeleton.parents[fold.joint])
            if parent < 0:
                raise SkeletonError(
                    f"joint {skeleton.names[joint]!r} has none above it, so it does not bend",
                    remedy="Let folds be at a joint between two bones",
                )
            child = normalise(tips[joint] - heads[joint])
            before = normalise(heads[joint] - heads[parent])
            axis = normalise(child + before)
            near_by = np.isin(weights.joints, _of_the_limb(skeleton, joint))
            own = np.bincount(vertex, weights.weights * near_by, self._count)
            along = (at - heads[joint]) @ axis
            near = np.flatnonzero((own > 0.5) & (np.abs(along) < _REACH * fold.width))
            across = at[near] - heads[joint] - along[near, None] * axis
            bands = np.cos(np.pi * along[near] / fold.width) ** 2
            fade = smooth_step(1.0 - np.abs(along[near]) / (_REACH * fold.width))
            both = smooth_step((own[near] - 0.5) / 0.4)
            self._prepared.append(
                _Prepared(fold, parent, child, before, near, normalise(across), bands * fade * both)
            )

    def depths(self, difference: Floats) -> Floats:
        """How deep the grooves are at each vertex [m], (vertices,), for ``M − I`` of the joints."""
        depth = np.zeros(self._count)
        for one in self._prepared:
            above = difference[one.parent, :3, :3]
            # the bone behind the joint, as the one before it sees it: at bind nothing has moved, exactly
            moved = (difference[one.folds.joint, :3, :3] - above) @ one.child
            bent = one.child + np.linalg.solve(np.eye(3) + above, moved)
            turned = normalise(bent) - normalise(one.child)
            angle = 2.0 * np.arcsin(min(0.5 * float(np.linalg.norm(turned)), 1.0))
            side = turned - (turned @ one.before) * one.before
            length = float(np.linalg.norm(side))
            if length == 0.0:
                continue
            facing = np.maximum(one.outwards @ (side / length), 0.0) ** 2
            share = float(smooth_step(angle / one.folds.full))
            depth[one.vertices] += one.folds.depth * share * facing * one.grooves
        return depth


def _of_the_limb(skeleton: Skeleton, joint: int) -> list[int]:
    """Joints whose skin folds at a joint: those before and behind it, and twist joints beside it."""
    parent = int(skeleton.parents[joint])
    twists = [beside for beside in skeleton.children[parent] if not skeleton.children[beside]]
    return [j for j in (int(skeleton.parents[parent]), parent, joint) if j >= 0] + [
        *skeleton.children[joint],
        *twists,
    ]
