"""The flesh round muscles bound to the joints by the method the skin over it is skinned by.

What moves a place of the flesh is the mean over the skin near it, evened: many joints, most of them hardly.
The strongest are kept. Muscle joints, where a skin has them, move flesh as they move skin (`hybrid`): what
they take they take from the joint they hang on.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ecorche.muscles.flesh_carrier import Binding, Carrier, Shares
from ecorche.skeleton.skeleton import Skeleton
from ecorche.skin.hybrid import HybridSkinning
from ecorche.skin.hybrid_weights import MuscleWeights
from ecorche.skin.methods import make_skinning
from ecorche.skin.weights import SkinWeights, weights_from_entries

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

STRONGEST = 8
"""So many joints of the skeleton move a place at most."""
SLIGHT = 1e-3
"""Smaller shares are left out."""
NONE: Ints = np.zeros(0, np.int64)


def flesh_binding(method: str, skeleton: Skeleton, parents: Ints = NONE) -> Binding | None:
    """What binds flesh to the joints by a skinning method; None for the linear one, which muscles know.

    Args:
        method: See `methods`.
        skeleton: The character's.
        parents: The joint of the skeleton each muscle joint hangs on, (K,).
    """
    if method == "linear":
        return None
    limbs = np.concatenate([np.arange(skeleton.joint_count), parents])

    def binding(places: Floats, shares: Shares) -> Carrier:
        points, count = places.astype(np.float32), skeleton.joint_count
        place, joint, share = _entries(shares)
        muscle = joint >= count
        weights = _strongest(place, limbs[joint], share, len(places), count)
        if not muscle.any():
            return make_skinning(method, points, weights, skeleton)
        taken = MuscleWeights(place[muscle], joint[muscle] - count, share[muscle], from_parent=True)
        return HybridSkinning(points, weights, taken, parents, skeleton, method)

    return binding


def _entries(shares: Shares) -> tuple[Ints, Ints, Floats]:
    """Place, joint and share of all that are more than nothing, each (entries,)."""
    found: list[tuple[Ints, Ints, Floats]] = []
    first = 0
    for joints, own in shares:
        table = own.reshape(-1, len(joints))
        place, column = np.nonzero(table > 0.0)
        found.append((first + place, joints[column], table[place, column]))
        first += len(table)
    place, joint, share = (np.concatenate(values) for values in zip(*found, strict=True))
    return place, joint, share


def _strongest(place: Ints, joint: Ints, share: Floats, count: int, joint_count: int) -> SkinWeights:
    """Weights of the joints that matter most at each place."""
    key, entry = np.unique(place * joint_count + joint, return_inverse=True)
    place, joint, total = key // joint_count, key % joint_count, np.bincount(entry, share)
    order = np.lexsort((joint, -total, place))
    place, joint, total = place[order], joint[order], total[order]
    rank = np.arange(len(place)) - np.searchsorted(place, place)
    kept = (rank < STRONGEST) & ((total > SLIGHT) | (rank == 0))
    return weights_from_entries(place[kept], joint[kept], total[kept], count, joint_count, "flesh")
