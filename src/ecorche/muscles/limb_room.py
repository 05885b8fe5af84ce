"""How thick a limb is where a muscle lies on it: from the skin's distance to the bone.

Our own measure. From the bone's axis through a muscle's belly to the skin is the room; from the same axis to
the outermost of the limb's unfitted muscles is what they fill. With the ratio of both a whole cross-section
grows or shrinks about its bone, deep muscles along with those over them, so a strong limb has thick muscles
and a slim one thin ones. Muscles that do not lie between a bone and the skin (on the trunk) are not measured.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ecorche.base.signed_pieces import SignedPieces
from ecorche.base.smooth_step import smooth_step
from ecorche.muscles.muscle import Muscle
from ecorche.skeleton.skeleton import Skeleton

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

FACING = 0.75, 0.9
"""Cosine between S_d and the way from the bone: below, a muscle does not lie between bone and skin."""
CENTRAL = 5.0, 3.5
"""How many times as far as the nearest skin the skin over a muscle is from the bone: 3.4 over a calf,
5 and more where the trunk's muscles lie round its cavity."""
TUBE = 0.5
"""How far beside the way from bone to skin other muscles count, as a share of the muscle's own distance."""
MARCH = 40


@dataclass(frozen=True, eq=False)
class LimbRoom:
    """What was measured at each muscle's belly, (M,) each.

    Attributes:
        share: How far the muscle lies between a bone and the skin, 0 to 1: there is no sharp border to that.
        from_bone: Distance of the belly's centre from the bone's axis [m].
        skin: Distance of the skin from the bone's axis, the same way [m].
        filled: How far from the bone's axis the limb's muscles reach, the same way [m].
    """

    share: Floats
    from_bone: Floats
    skin: Floats
    filled: Floats


def limb_room(
    muscles: Sequence[Muscle],
    skeleton: Skeleton,
    skin: SignedPieces,
    centres: Floats,
    outward: Floats,
    half_axes: Floats,
    surfaces: Floats,
) -> LimbRoom:
    """Measure the room of muscles.

    Args:
        muscles: The muscles.
        skeleton: The joints they ride on.
        skin: The skin.
        centres: Their bellies' centres [m], shape (M, 3).
        outward: S_d there, shape (M, 3).
        half_axes: Half-axes there along S_d and across it before they are fitted [m], shape (2, M).
        surfaces: Points of their surfaces before they are fitted [m], shape (M, points, 3).
    """
    bone, on_bone = _nearest_bones(muscles, skeleton, centres)
    away = centres - on_bone
    from_bone = np.linalg.norm(away, axis=1)
    way = away / np.maximum(from_bone, 1e-9)[:, None]
    cosine = np.sum(way * outward, axis=1)
    to_skin, reached = _marched(skin, centres, way)
    own = np.hypot(half_axes[0] * cosine, half_axes[1] * np.sqrt(np.maximum(1.0 - cosine**2, 0.0)))
    filled = from_bone + own
    for number in np.unique(bone):
        rows = np.flatnonzero(bone == number)
        points = surfaces[rows].reshape(-1, 3)
        along = points @ way[rows].T - np.sum(on_bone[rows] * way[rows], axis=1)
        away_squared = np.sum((points[:, None] - on_bone[rows]) ** 2, axis=-1)
        beside = (away_squared - along**2) / np.maximum(TUBE * from_bone[rows], 1e-9) ** 2
        counts = along * np.maximum(
            1.0 - beside**2, 0.0
        )  # fades, as small causes must not have great effects
        filled[rows] = np.maximum(filled[rows], counts.max(axis=0))
    room = from_bone + to_skin
    central = _between(*CENTRAL, room / np.maximum(skin.depth(on_bone)[0], 1e-9))
    return LimbRoom(_between(*FACING, cosine) * central * reached, from_bone, room, filled)


def _between(none: float, all_: float, value: Floats) -> Floats:
    """How far values have come from where they are worth nothing to where they are worth all, 0 to 1."""
    return smooth_step((value - none) / (all_ - none))


def _nearest_bones(
    muscles: Sequence[Muscle], skeleton: Skeleton, centres: Floats
) -> tuple[npt.NDArray[np.int64], Floats]:
    """The bone nearest to each belly of those the muscle concerns, (M,), and the nearest place on it [m]."""
    heads, tails = skeleton.bind_world[:, :3, 3], skeleton.tail_positions()
    parents = set(skeleton.parents)  # a joint at the end of a chain tells little of its bone
    nearest, places = [], []
    for muscle, centre in zip(muscles, centres, strict=True):
        concerned = {*muscle.joints, *muscle.reach.joints}
        joints = np.array(sorted(concerned & parents or concerned))
        start, bone = heads[joints], tails[joints] - heads[joints]
        square = np.sum(bone**2, axis=1)
        share = np.clip(np.sum((centre - start) * bone, axis=1) / np.maximum(square, 1e-12), 0.0, 1.0)
        place = start + share[:, None] * bone
        first = int(np.linalg.norm(centre - place, axis=1).argmin())
        nearest.append(int(joints[first]))
        places.append(place[first])
    return np.array(nearest), np.array(places)


def _marched(skin: SignedPieces, start: Floats, way: Floats) -> tuple[Floats, Bools]:
    """How far the skin is along each way [m], (M,), and whether it was reached.

    A step as long as the depth never passes the skin.
    """
    gone = np.zeros(len(start))
    depth = np.full(len(start), np.inf)
    for _ in range(MARCH):
        open_ = depth > 1e-5
        if not open_.any():
            break
        depth[open_] = skin.depth(start[open_] + gone[open_, None] * way[open_])[0]
        gone[open_] += np.maximum(depth[open_], 0.0)
    return gone, depth <= 1e-3
