"""From a character's bind pose to the H-Anim default pose, in which joint limits are told.

A character is bound in any pose: arms out, legs apart, facing anywhere. The default pose stands upright,
facing +Z, arms at the sides, palms inward, toes forward. What takes one to the other is found from joint
positions alone, so that any rig's own axes do not matter:

1. The whole body turns about the vertical until the line from right to left hip (else shoulder) is along +X.
2. Thighs, shanks, arms, hands and fingers then turn down the chain, each by the *smallest* rotation that
   makes it hang straight down. A bind pose with palms facing down and arms out thus ends with palms inward.
3. Feet turn so that they point forward but keep their slope: a bound foot stands flat, and how steeply the
   line from ankle to toes falls says where the rig's joints lie, not how the ankle is bent.
4. Everything else, spine, neck, head, collar bones, thumbs, toes, keeps its place on what it hangs from.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ecorche.base.rotations import (
    multiply_xyzw,
    normalise,
    rotate_xyzw,
    shortest_arc_xyzw,
    xyzw_from_axis_angle,
)
from ecorche.errors import SkeletonError
from ecorche.skeleton.skeleton import Skeleton

Floats = npt.NDArray[np.float64]

_FINGERS = (2, 3, 4, 5)

_HANGING: dict[str, tuple[str, ...]] = {
    "hip": ("knee",),
    "knee": ("talocrural",),
    "shoulder": ("elbow",),
    "elbow": ("radiocarpal",),
    "radioulnar": ("radiocarpal",),
    "radiocarpal": (
        "metacarpophalangeal_3",
        "carpometacarpal_3",
        "carpometacarpal_2",
        *(f"metacarpophalangeal_{n}" for n in (4, 2, 5)),
    ),
    **{f"metacarpophalangeal_{n}": (f"carpal_proximal_interphalangeal_{n}",) for n in _FINGERS},
    **{f"carpal_proximal_interphalangeal_{n}": (f"carpal_distal_interphalangeal_{n}",) for n in _FINGERS},
    **{f"carpal_distal_interphalangeal_{n}": () for n in _FINGERS},
}
"""Joints whose segment hangs straight down, and the joints that may mark its other end."""

_FOOT_ENDS = (
    *(f"metatarsophalangeal_{n}" for n in (2, 3, 1, 4, 5)),
    *(f"tarsometatarsal_{n}" for n in (2, 3, 1, 4, 5)),
)


def require_names(skeleton: Skeleton, canonical_names: Sequence[str | None]) -> None:
    """Refuse canonical names that are not one a joint, or that are given twice."""
    if len(canonical_names) != skeleton.joint_count:
        raise SkeletonError(
            f"{len(canonical_names)} canonical names are given for {skeleton.joint_count} joints",
            remedy="Give one a joint, None where a joint has none",
        )
    seen: dict[str, int] = {}
    for joint, name in enumerate(canonical_names):
        if name is not None and name in seen:
            raise SkeletonError(
                f"joints {skeleton.names[seen[name]]!r} and {skeleton.names[joint]!r} are both {name!r}",
                remedy="Correct the mapping",
            )
        if name is not None:
            seen[name] = joint


def default_from_bind(skeleton: Skeleton, canonical_names: Sequence[str | None]) -> Floats:
    """World rotations xyzw (joints, 4) that turn each joint's bone from bind to the default pose."""
    require_names(skeleton, canonical_names)
    joint_of = {name: joint for joint, name in enumerate(canonical_names) if name is not None}
    heads, tips = skeleton.bind_world[:, :3, 3], skeleton.tail_positions()
    turned = np.empty((skeleton.joint_count, 4))
    upright = _upright(heads, joint_of)
    for joint, parent in enumerate(skeleton.parents):
        above = upright if parent < 0 else turned[parent]
        turned[joint] = above
        side, _, base = (canonical_names[joint] or "").partition("_")
        if side not in ("l", "r"):
            continue
        is_foot = base == "talocrural"
        ends = _FOOT_ENDS if is_foot else _HANGING.get(base)
        if ends is None:
            continue
        end = next((joint_of[f"{side}_{e}"] for e in ends if f"{side}_{e}" in joint_of), None)
        bone = normalise((tips[joint] if end is None else heads[end]) - heads[joint])
        if not bone.any():
            continue
        wanted = _forward(bone) if is_foot else np.array([0.0, -1.0, 0.0])
        turned[joint] = multiply_xyzw(shortest_arc_xyzw(rotate_xyzw(above, bone), wanted), above)
    return turned


def _upright(heads: Floats, joint_of: dict[str, int]) -> Floats:
    """The turn about +Y that makes the character face +Z."""
    for base in ("hip", "shoulder"):
        left, right = joint_of.get(f"l_{base}"), joint_of.get(f"r_{base}")
        if left is not None and right is not None:
            across = heads[left] - heads[right]
            if np.hypot(across[0], across[2]) > 1e-9:
                return xyzw_from_axis_angle(np.array([0.0, 1.0, 0.0]), np.arctan2(across[2], across[0]))
    return np.array([0.0, 0.0, 0.0, 1.0])


def _forward(bone: Floats) -> Floats:
    """The direction of the same slope that points forward."""
    return np.array([0.0, bone[1], np.hypot(bone[0], bone[2])])
