"""Skin weights extended by muscle joints: skin that is muscular follows its muscles, the rest its limbs.

Text 001, "Skin Deformation": hybrid skinning is linear skinning with more joints. Muscle joints have the
numbers after the skeleton's. What they take of a vertex is taken from the skeleton's joints: from the very
joint each hangs on (`from_parent`), so that muscles that do nothing leave skinning as it is; or from all of
them alike, where the muscle's own path leads the skin.

Engines read four or eight influences a vertex. `limited` brings weights there by *folding*: an influence
gives its weight to another of the same limb, that is to the joint itself or to a muscle joint that hangs on
it, so that limbs keep their weights and only what the muscles do is coarser. Of all foldings the one is taken
that changes the skin least over sample poses, again and again until few enough are left. Where a vertex
follows more limbs than the budget has influences, the weakest limbs are dropped and the rest brought to one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from numba import njit

from ecorche.errors import MeshError
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


def limited(
    weights: SkinWeights,
    most: int,
    limbs: npt.NDArray[np.integer],
    points: npt.NDArray[np.floating],
    poses: Floats,
) -> SkinWeights:
    """The same weights with at most so many influences a vertex.

    Args:
        weights: The weights.
        most: At most so many influences, one or more.
        limbs: The limb of every joint, (joints,): its own number, of a muscle joint that of its parent.
        points: The skin at bind [m], (vertices, 3).
        poses: ``M − I`` of all joints in sample poses, (poses, joints, 4, 4).
    """
    if most < 1:
        raise MeshError(f"{most} influences a vertex were asked for", remedy="Give one or more")
    counts = np.diff(weights.starts)
    many = np.flatnonzero(counts > most)
    if not len(many):
        return weights
    joints, table = weights.padded()
    kept = table.astype(np.float64)
    part_joints, part = np.ascontiguousarray(joints[many], np.int64), np.ascontiguousarray(kept[many])
    _fold(
        part_joints,
        part,
        np.ascontiguousarray(limbs, np.int64),
        points[many].astype(np.float64),
        np.ascontiguousarray(poses[:, :, :3], np.float64),
        most,
    )
    kept[many] = part
    vertex = np.repeat(np.arange(weights.vertex_count), kept.shape[1])
    return weights_from_entries(
        vertex, joints.reshape(-1), kept.reshape(-1), weights.vertex_count, len(limbs), "limited weights"
    )


@njit(cache=True)  # type: ignore[untyped-decorator]
def _fold(joints: Ints, weights: Floats, limbs: Ints, points: Floats, poses: Floats, most: int) -> None:
    """Fold the influences (vertices, slots) of each vertex until at most ``most`` are left, in place."""
    slots = joints.shape[1]
    frames = len(poses)
    for v in range(len(joints)):
        w = weights[v]
        x = np.zeros((slots, 3 * frames))  # where each influence would carry the vertex, from bind
        goal = np.zeros(3 * frames)
        for s in range(slots):
            if w[s] > 0.0:
                for f in range(frames):
                    m = poses[f, joints[v, s]]
                    for i in range(3):
                        at = m[i, 0] * points[v, 0] + m[i, 1] * points[v, 1] + m[i, 2] * points[v, 2]
                        x[s, 3 * f + i] = at + m[i, 3]
                goal += w[s] * x[s]
        error = np.zeros(3 * frames)  # how far the skin is by now from where all influences had it
        left = 0
        for s in range(slots):
            if w[s] > 0.0:
                left += 1
        while left > most:
            best, giver, taker = np.inf, -1, -1
            for s in range(slots):
                if w[s] > 0.0:
                    for other in range(slots):
                        if other != s and w[other] > 0.0 and limbs[joints[v, s]] == limbs[joints[v, other]]:
                            size = 0.0
                            for i in range(3 * frames):
                                size += (error[i] + w[s] * (x[other, i] - x[s, i])) ** 2
                            if size < best:
                                best, giver, taker = size, s, other
            if giver < 0:
                break
            error += w[giver] * (x[taker] - x[giver])
            w[taker] += w[giver]
            w[giver] = 0.0
            left -= 1
        while left > most:
            # more limbs than influences: the weakest goes
            giver = -1
            for s in range(slots):
                if w[s] > 0.0 and (giver < 0 or w[s] < w[giver]):
                    giver = s
            w[giver] = 0.0
            left -= 1
        w /= np.sum(w)
