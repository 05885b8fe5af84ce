"""Skin weights extended by muscle joints: skin that is muscular follows its muscles, the rest its limbs.

Text 001, "Skin Deformation": hybrid skinning is linear skinning with more joints. Muscle joints have the
numbers after the skeleton's. What they take of a vertex is taken from the skeleton's joints: from the very
joint each hangs on (`from_parent`), so that muscles that do nothing leave skinning as it is; or from all of
them alike, where the muscle's own path leads the skin.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ecorche.skin.weights import SkinWeights, weights_from_entries

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

MOST_TAKEN = 1.0
"""The most that muscle joints take of a vertex."""
_LEAST = 1e-5
"""Weights up to this are left out: with muscles that move 1 cm, a ten-thousandth of a millimetre."""


@dataclass(frozen=True, eq=False, repr=False)
class MuscleWeights:
    """How much of each vertex muscle joints take: a list of entries, each (entries,).

    Attributes:
        vertices: Vertex.
        joints: Muscle joint, counted from 0.
        weights: Weight, above 0.
        from_parent: Whether a muscle joint takes its weight from the joint it hangs on, and never more than
            that has; else from all joints of the vertex alike.
    """

    vertices: Ints
    joints: Ints
    weights: Floats
    from_parent: bool

    def __repr__(self) -> str:
        return f"MuscleWeights({len(self.vertices)} entries)"

    def totals(self, vertex_count: int) -> Floats:
        """What muscle joints take of each vertex, shape (vertices,)."""
        return np.asarray(np.bincount(self.vertices, self.weights, minlength=vertex_count))


def hybrid_weights(
    weights: SkinWeights, muscles: MuscleWeights, parents: Ints, joint_count: int
) -> SkinWeights:
    """Skin weights over the skeleton's joints and the muscle joints after them.

    Args:
        weights: The skin weights on the skeleton alone.
        muscles: What the muscle joints take.
        parents: The joint of the skeleton each muscle joint hangs on, (K,).
        joint_count: How many joints the skeleton has.
    """
    count = weights.vertex_count
    vertex = np.repeat(np.arange(count), np.diff(weights.starts))
    own = weights.weights.astype(np.float64)
    if muscles.from_parent:
        place = vertex * joint_count + weights.joints
        wanted_at = muscles.vertices * joint_count + parents[muscles.joints]
        at = np.minimum(np.searchsorted(place, wanted_at), max(len(place) - 1, 0))
        has = place[at] == wanted_at if len(place) else np.zeros(len(wanted_at), np.bool_)
        taken = np.where(has, muscles.weights, 0.0)
        wanted = np.bincount(at, taken, minlength=len(own))
        share = np.minimum(1.0, MOST_TAKEN * own / np.maximum(wanted, 1e-30))
        taken, left = taken * share[at], own - wanted * share
    else:
        total = muscles.totals(count)
        share = np.minimum(1.0, MOST_TAKEN / np.maximum(total, 1e-30))
        taken, left = muscles.weights * share[muscles.vertices], own * (1.0 - total * share)[vertex]
    kept, strong = left > _LEAST, taken > _LEAST
    return weights_from_entries(
        np.concatenate([vertex[kept], muscles.vertices[strong]]),
        np.concatenate([weights.joints[kept], joint_count + muscles.joints[strong]]),
        np.concatenate([left[kept], taken[strong]]),
        count,
        joint_count + len(parents),
        "muscle weights",
    )
