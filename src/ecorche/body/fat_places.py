"""Where a human body has fat that moves: breasts, belly, buttocks, thighs, upper arms, by its joints.

Breasts, belly and buttocks are round: the place is all skin within reach of the point of that part of the
trunk that stands out most, to the front or to the back. Thighs and upper arms lie along a bone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ecorche.base.rotations import normalise
from ecorche.base.smooth_step import smooth_step
from ecorche.document.fat_spec import Place
from ecorche.skeleton.naming.recognise import Naming
from ecorche.skeleton.skeleton import Skeleton
from ecorche.skin.weights import SkinWeights

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Usual:
    """Fat of an adult at a place.

    Attributes:
        tissue: By name.
        thickness: Where no muscles tell it [m].
        least: Where it is thinner it does not move [m].
        deepest: It is not thicker [m].
    """

    tissue: str
    thickness: float
    least: float
    deepest: float


VOXEL = 0.01
"""Edge of a voxel of an adult's fat [m]."""
USUAL = {
    "breasts": Usual("breast", 0.045, 0.018, 0.07),
    "belly": Usual("belly", 0.03, 0.015, 0.06),
    "buttocks": Usual("belly", 0.035, 0.015, 0.05),
    "thighs": Usual("fat", 0.02, 0.015, 0.035),
    "upper_arms": Usual("belly", 0.018, 0.013, 0.03),
}
ELSEWHERE = Usual("fat", 0.025, 0.012, 0.06)
"""Of a region that is painted and nowhere in particular."""
AUTOMATIC: tuple[Place, ...] = ("breasts", "belly", "buttocks")
"""What moves where a rig does not say."""


@dataclass(frozen=True)
class _Round:
    """Part of the trunk.

    Attributes:
        heights: Where its middle is, from the hips (0) to the shoulders (1).
        aside: How far to the side of the middle it is, in heights of the trunk; of one in the middle, up to.
        ahead: 1 in front, -1 behind.
        reach: Of an adult [m].
        limbs: Skin that follows these joints and those below them is not of it.
        sided: Whether there is one on each side.
    """

    heights: tuple[float, float]
    aside: tuple[float, float]
    ahead: float
    reach: float
    limbs: tuple[str, ...]
    sided: bool = True


_ROUND = {
    "breasts": _Round((0.5, 0.85), (0.06, 0.32), 1.0, 0.115, ("shoulder", "skullbase")),
    "belly": _Round((0.05, 0.42), (0.0, 0.08), 1.0, 0.15, ("shoulder", "hip"), sided=False),
    "buttocks": _Round((-0.2, 0.2), (0.08, 0.32), -1.0, 0.115, ("shoulder", "knee")),
}
_ALONG = {"thighs": ("hip", "knee", 0.08, 0.75), "upper_arms": ("shoulder", "elbow", 0.25, 0.85)}
_FADING = 0.35
"""Of its reach, over how much a round place fades out."""


def place_shares(
    place: str,
    points: Floats,
    normals: Floats,
    weights: SkinWeights,
    skeleton: Skeleton,
    naming: Naming,
    size: float,
) -> dict[str, Floats]:
    """How far each vertex belongs to a place, 0 to 1, (vertices,): by "left" and "right", or by "".

    Nothing where the character has not the joints that tell.

    Args:
        place: One of `USUAL`.
        points, normals: Of the skin at bind [m] and unit, (vertices, 3).
        weights: Of the skin.
        skeleton, naming: What it hangs on.
        size: How many times the size of a person the body is.
    """
    if place in _ROUND:
        limbs = _shares_below(weights, skeleton, naming, _ROUND[place].limbs)
        return dict(_round(_ROUND[place], points, normals, limbs, skeleton, naming, size))
    found, (first, last, begin, end) = {}, _ALONG[place]
    for side in ("left", "right"):
        joints = naming.joint(f"{side[0]}_{first}"), naming.joint(f"{side[0]}_{last}")
        if joints[0] is None or joints[1] is None:
            continue
        start, stop = skeleton.bind_world[[joints[0], joints[1]], :3, 3]
        bone = stop - start
        along = (points - start) @ bone / max(float(bone @ bone), 1e-18)
        ends = smooth_step((along - begin) / 0.15) * smooth_step((end - along) / 0.15)
        limb = _shares_below(weights, skeleton, naming, (first,), (side[0],))
        found[side] = np.asarray(ends * smooth_step(limb / 0.8))
    return found


def _round(
    part: _Round,
    points: Floats,
    normals: Floats,
    limbs: Floats,
    skeleton: Skeleton,
    naming: Naming,
    size: float,
) -> Iterator[tuple[str, Floats]]:
    heads = skeleton.bind_world[:, :3, 3]
    joints = [naming.joint(f"{side}_{name}") for name in ("hip", "shoulder") for side in "lr"]
    if any(joint is None for joint in joints):
        return
    hip_left, hip_right, arm_left, arm_right = heads[[j for j in joints if j is not None]]
    hips, trunk = 0.5 * (hip_left + hip_right), 0.5 * (arm_left + arm_right - hip_left - hip_right)
    length = float(np.linalg.norm(trunk))
    up = trunk / max(length, 1e-12)
    left = hip_left - hip_right + arm_left - arm_right
    left = normalise(left - (left @ up) * up)
    front = part.ahead * np.cross(left, up)
    height, aside = (points - hips) @ up / length, (points - hips) @ left / length
    facing = normals @ front
    for side, sign in (("left", 1.0), ("right", -1.0)) if part.sided else (("", 0.0),):
        away = sign * aside if part.sided else np.abs(aside)
        middle = (height > part.heights[0]) & (height < part.heights[1]) & (limbs < 0.5) & (facing > 0.3)
        middle &= (away > part.aside[0]) & (away < part.aside[1])
        if not middle.any():
            continue
        tip = points[np.argmax(np.where(middle, points @ front, -np.inf))]
        near = (part.reach * size - np.linalg.norm(points - tip, axis=1)) / (_FADING * part.reach * size)
        yield (
            side,
            np.asarray(
                smooth_step(near) * smooth_step((facing + 0.5) / 0.5) * smooth_step((0.8 - limbs) / 0.6)
            ),
        )


def _shares_below(
    weights: SkinWeights,
    skeleton: Skeleton,
    naming: Naming,
    joints: tuple[str, ...],
    sides: tuple[str, ...] = ("l", "r"),
) -> Floats:
    """How much each vertex follows joints and all below them, (vertices,)."""
    starts = {naming.joint(name) for j in joints for name in (j, *(f"{s}_{j}" for s in sides))} - {None}
    below = np.zeros(skeleton.joint_count, np.bool_)
    for joint, parent in enumerate(skeleton.parents.tolist()):
        below[joint] = joint in starts or (parent >= 0 and below[parent])
    vertex = np.repeat(np.arange(weights.vertex_count), np.diff(weights.starts))
    total = np.bincount(vertex, below[weights.joints] * weights.weights, weights.vertex_count)
    return np.asarray(total, np.float64)
