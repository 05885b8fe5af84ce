"""Joints that a limb folds at: elbows and knees of people, and what is like them on any creature.

On a person names tell. On a dog or a horse the shape does: a joint in the middle of an unbranched chain, with
a bone before it and a bone behind that are both clearly longer than the limb is thick there, as at elbow,
carpus, stifle and hock, with skin all round, and with another like it on the body's other side. Necks and
backs are thicker than their bones are long, shoulders have skin on one side, tails have none beside them.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ecorche.base.rotations import normalise
from ecorche.skeleton.naming.recognise import Naming
from ecorche.skeleton.skeleton import Skeleton
from ecorche.skin.limb_segments import limb_joints
from ecorche.skin.weights import SkinWeights

Floats = npt.NDArray[np.float64]

SLENDER = 2.5
"""How many times as long as the limb's radius both bones are, at least."""
_NEAR = 0.25
"""Skin so near to a joint along the limb tells its radius, as a share of the shorter bone."""
_OWN = 0.5
"""From which share of weight on the two bones skin is theirs."""
_FEWEST = 6
"""Vertices that tell a radius."""
_WIDEST_GAP = np.radians(120.0)
"""Between two vertices round a joint there is no more [rad], or its skin is not all round."""
_ALIKE = 0.2
"""By which share bones of the two sides differ in length, at most."""


def hinges(points: npt.ArrayLike, weights: SkinWeights, skeleton: Skeleton, naming: Naming) -> list[int]:
    """Joints that limbs fold at.

    Args:
        points: The skin at bind [m], (vertices, 3).
        weights: Of the skin.
        skeleton: It hangs on.
        naming: What its joints are called, if that is known.
    """
    if any(naming.canonical):
        found = (naming.joint(f"{side}_{name}") for name in ("elbow", "knee") for side in "lr")
        return [joint for joint in found if joint is not None]
    at = np.asarray(points, np.float64)
    return [joint for joint in range(skeleton.joint_count) if _folds(at, weights, skeleton, joint)]


def _folds(points: Floats, weights: SkinWeights, skeleton: Skeleton, joint: int) -> bool:
    above = int(skeleton.parents[joint])
    if above < 0 or skeleton.parents[above] < 0:
        return False
    if any(len(_going_on(skeleton, one)) > 1 for one in (above, joint)) or not skeleton.children[joint]:
        return False
    before, behind = _bones(skeleton, joint)
    shorter = float(min(np.linalg.norm(before), np.linalg.norm(behind)))
    if shorter <= 0.0 or not any(_are_alike(skeleton, joint, k) for k in range(skeleton.joint_count)):
        return False
    return shorter > SLENDER * _radius(points, weights, skeleton, joint)


def _radius(points: Floats, weights: SkinWeights, skeleton: Skeleton, joint: int) -> float:
    """Of the limb at a joint [m]: how far its skin is from its axis; infinite where that is not all round."""
    own = sorted(set().union(*limb_joints(skeleton, joint)))
    vertex = np.repeat(np.arange(len(points)), np.diff(weights.starts))
    share = np.bincount(vertex, weights.weights * np.isin(weights.joints, own), len(points))
    before, behind = _bones(skeleton, joint)
    shorter = min(np.linalg.norm(before), np.linalg.norm(behind))
    axis = normalise(normalise(before) + normalise(behind))
    away = points - skeleton.bind_world[joint, :3, 3]
    along = away @ axis
    near = (share > _OWN) & (np.abs(along) < _NEAR * shorter) & (np.linalg.norm(away, axis=1) < shorter)
    if near.sum() < _FEWEST:
        return float("inf")
    out = away[near] - along[near, None] * axis
    aside = normalise(np.cross(axis, np.eye(3)[np.abs(axis).argmin()]))
    round_it = np.sort(np.arctan2(out @ np.cross(axis, aside), out @ aside))
    gaps = np.diff(np.append(round_it, round_it[0] + 2.0 * np.pi))
    return float("inf") if gaps.max() > _WIDEST_GAP else float(np.median(np.linalg.norm(out, axis=1)))


def _bones(skeleton: Skeleton, joint: int) -> tuple[Floats, Floats]:
    """From the joint above to a joint, and from it to its tip, at bind [m], (3,), (3,)."""
    heads = skeleton.bind_world[:, :3, 3]
    return heads[joint] - heads[skeleton.parents[joint]], skeleton.tail_positions()[joint] - heads[joint]


def _are_alike(skeleton: Skeleton, one: int, other: int) -> bool:
    """Whether two joints are the same of two limbs: as far down, with as many below and bones as long."""
    if one == other or skeleton.parents[other] < 0:
        return False
    up, down = (_chain(skeleton, joint) for joint in (one, other))
    if one in down or other in up or len(up) != len(down):
        return False
    if _shape(skeleton, one) != _shape(skeleton, other):
        return False
    sizes = np.linalg.norm([_bones(skeleton, one), _bones(skeleton, other)], axis=2)
    return bool((np.abs(sizes[0] - sizes[1]) <= _ALIKE * sizes.max(axis=0)).all())


def _chain(skeleton: Skeleton, joint: int) -> list[int]:
    """A joint and all above it."""
    found = [joint]
    while skeleton.parents[found[-1]] >= 0:
        found.append(int(skeleton.parents[found[-1]]))
    return found


def _shape(skeleton: Skeleton, joint: int) -> tuple[object, ...]:
    """How a skeleton branches below a joint."""
    return tuple(sorted((_shape(skeleton, child) for child in skeleton.children[joint]), key=repr))


def _going_on(skeleton: Skeleton, joint: int) -> list[int]:
    """Children that have children: helpers at a bone's side have none."""
    return [child for child in skeleton.children[joint] if skeleton.children[child]]
