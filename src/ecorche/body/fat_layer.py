"""Where a body puts on fat: how much thicker the layer over each place of the skin is on a heavier person.

People put it on at the belly, the flanks, hips, buttocks and thighs, the breast, upper arms and under the
chin, and hardly at hands, feet, shins and face. The amounts are our estimate in proportion to skinfolds and
girths of heavy people: of one unit of fat an adult of 1.75 m gains some 15 litres.
On a creature whose joints we do not know it is even over what is thick, and little where the body is thin.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ecorche.base.ray_tree import RayTree
from ecorche.base.rotations import normalise
from ecorche.base.smooth_step import smooth_step
from ecorche.skeleton.naming.recognise import Naming
from ecorche.skeleton.skeleton import Skeleton
from ecorche.skin.weights import SkinWeights

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

# what the skin of a joint is part of
_PARTS = ("trunk", "neck", "head", "thigh", "calf", "foot", "upper_arm", "forearm", "hand")
_ENDS = {
    "thigh": ("hip", "knee"),
    "calf": ("knee", "talocrural"),
    "upper_arm": ("shoulder", "elbow"),
    "forearm": ("elbow", "radiocarpal"),
}
_FIRST = {
    **{start: part for part, (start, _) in _ENDS.items()},
    "talocrural": "foot",
    "radiocarpal": "hand",
    "radioulnar": "forearm",
    "skullbase": "head",
}
# thickness of a unit along limbs [m], of an adult: at shares of the way from joint to joint
_ALONG = {
    "thigh": ((-0.1, 0.014), (0.1, 0.015), (0.3, 0.013), (0.6, 0.010), (0.85, 0.006), (1.0, 0.004)),
    "calf": ((0.0, 0.004), (0.25, 0.006), (0.5, 0.005), (0.8, 0.0025), (1.0, 0.0015)),
    "upper_arm": ((-0.1, 0.006), (0.2, 0.008), (0.5, 0.010), (0.8, 0.0065), (1.0, 0.004)),
    "forearm": ((0.0, 0.004), (0.25, 0.005), (0.6, 0.003), (1.0, 0.0012)),
}
_AT_THE_BACK = {"thigh": 1.0, "calf": 1.0, "upper_arm": 1.5, "forearm": 1.0}
"""Times as much behind as in front; the upper arm's is on its back."""
_HAND, _FOOT, _HEAD, _NECK = 0.0005, 0.0, 0.0, 0.004
_JOWL, _UNDER_CHIN = 0.005, 0.006
_CREATURE = 0.013
"""Of a creature as large as a person, where it is thick [m]."""


@dataclass(frozen=True, eq=False)
class _Trunk:
    """Middle of the hips, and up, left and front, each of which is as long as from hips to shoulders."""

    hips: Floats
    up: Floats
    left: Floats
    front: Floats
    length: float


def fat_layer(
    points: npt.ArrayLike,
    triangles: npt.ArrayLike,
    normals: npt.NDArray[np.float32],
    weights: SkinWeights,
    skeleton: Skeleton,
    naming: Naming,
    size: float,
) -> tuple[Floats, bool]:
    """How thick a unit of fat is at each vertex [m], (vertices,), and whether it is as on a person.

    Args:
        points, normals: Of the skin at bind [m] and unit, (vertices, 3).
        triangles: Outwards, (triangles, 3).
        weights: Of the skin.
        skeleton, naming: What it hangs on.
        size: How many times the size of a person the body is.
    """
    at = np.asarray(points, np.float64)
    trunk = _trunk(skeleton, naming)
    if trunk is None:
        return size * _even(at, triangles, normals), False
    share = _shares(weights, skeleton, naming)
    thickness = {
        "trunk": _on_trunk(at, trunk),
        "neck": _on_neck(at, skeleton, naming, trunk),
        "head": _on_head(at, skeleton, naming, trunk),
        "hand": np.full(len(at), _HAND),
        "foot": np.full(len(at), _FOOT),
        **{limb: _on_limb(limb, at, skeleton, naming, trunk) for limb in _ENDS},
    }
    return size * sum(
        (share[:, n] * thickness[part] for n, part in enumerate(_PARTS)), np.zeros(len(at))
    ), True


def _trunk(skeleton: Skeleton, naming: Naming) -> _Trunk | None:
    """None where hips or shoulders are not known."""
    heads = skeleton.bind_world[:, :3, 3]
    joints = [naming.joint(f"{side}_{name}") for name in ("hip", "shoulder") for side in "lr"]
    if any(joint is None for joint in joints):
        return None
    hip_left, hip_right, arm_left, arm_right = heads[[j for j in joints if j is not None]]
    hips, shoulders = 0.5 * (hip_left + hip_right), 0.5 * (arm_left + arm_right)
    length = float(np.linalg.norm(shoulders - hips))
    if length == 0.0:
        return None
    up = (shoulders - hips) / length
    left = hip_left - hip_right + arm_left - arm_right
    left = normalise(left - (left @ up) * up)
    return _Trunk(hips, up, left, np.cross(left, up), length)


def _shares(weights: SkinWeights, skeleton: Skeleton, naming: Naming) -> Floats:
    """How much each vertex is of each part, (vertices, parts)."""
    of_joint = np.zeros(skeleton.joint_count, np.int64)
    for joint, (name, parent) in enumerate(zip(naming.canonical, skeleton.parents, strict=True)):
        bare = "" if name is None else name[2:] if name[1:2] == "_" else name
        if bare in _FIRST:
            of_joint[joint] = _PARTS.index(_FIRST[bare])
        elif bare.startswith("vc"):
            of_joint[joint] = _PARTS.index("neck")
        elif parent >= 0 and not bare.startswith(("vl", "vt", "sterno", "acromio", "sacro", "humanoid")):
            of_joint[joint] = of_joint[parent]  # fingers, toes, twist joints: as what they hang on
    vertex = np.repeat(np.arange(weights.vertex_count), np.diff(weights.starts))
    table = np.zeros((weights.vertex_count, len(_PARTS)))
    np.add.at(table, (vertex, of_joint[weights.joints]), weights.weights)
    return table


def _bump(value: Floats, middle: float, width: float) -> Floats:
    return np.asarray(np.exp(-(((value - middle) / width) ** 2)))


def _on_trunk(at: Floats, trunk: _Trunk) -> Floats:
    """Of a unit [m], by height from hips (0) to shoulders (1) and by the side."""
    away = at - trunk.hips
    height = away @ trunk.up / trunk.length
    aside, ahead = away @ trunk.left, away @ trunk.front
    round_it = np.maximum(np.hypot(aside, ahead), 1e-9)
    front, back = np.maximum(ahead / round_it, 0.0), np.maximum(-ahead / round_it, 0.0)
    side = (aside / round_it) ** 2
    return np.asarray(
        0.004
        + 0.006 * smooth_step((1.0 - height) / 0.3)
        + 0.024 * _bump(height, 0.22, 0.32) * front
        + 0.012 * _bump(height, 0.28, 0.28) * side
        + 0.006 * _bump(height, 0.0, 0.2) * side
        + 0.008 * _bump(height, 0.7, 0.14) * front**2
        - 0.003 * _bump(height, 0.5, 0.35) * back
        + 0.012 * _bump(height, -0.08, 0.2) * back
    )


def _on_limb(limb: str, at: Floats, skeleton: Skeleton, naming: Naming, trunk: _Trunk) -> Floats:
    """Of a unit [m], along the nearer of the two limbs of this kind."""
    first, last = _ENDS[limb]
    share, best = np.zeros(len(at)), np.full(len(at), np.inf)
    behind = np.zeros(len(at))
    for side in "lr":
        joints = naming.joint(f"{side}_{first}"), naming.joint(f"{side}_{last}")
        if joints[0] is None or joints[1] is None:
            continue
        start, end = skeleton.bind_world[[joints[0], joints[1]], :3, 3]
        bone = end - start
        along = (at - start) @ bone / max(float(bone @ bone), 1e-18)
        across = at - start - along[:, None] * bone
        far = np.linalg.norm(at - start - np.clip(along, 0.0, 1.0)[:, None] * bone, axis=1)
        nearer = far < best
        best[nearer], share[nearer] = far[nearer], along[nearer]
        behind[nearer] = (0.5 - 0.5 * normalise(across) @ trunk.front)[nearer]
    places, thickness = zip(*_ALONG[limb], strict=True)
    more = _AT_THE_BACK[limb]
    level = 2.0 / (1.0 + more)
    return np.asarray(np.interp(share, places, thickness) * level * (1.0 + (more - 1.0) * behind))


def _on_neck(at: Floats, skeleton: Skeleton, naming: Naming, trunk: _Trunk) -> Floats:
    """Of a unit [m]: more in front, below the chin."""
    skull = naming.joint("skullbase")
    if skull is None:
        return np.full(len(at), _NECK)
    away = at - skeleton.bind_world[skull, :3, 3]
    front = smooth_step(0.5 + 2.0 * (away @ trunk.front) / (0.4 * trunk.length))
    return np.asarray(_NECK + (_UNDER_CHIN - _NECK) * front)


def _on_head(at: Floats, skeleton: Skeleton, naming: Naming, trunk: _Trunk) -> Floats:
    """Of a unit [m]: nothing on the skull, some at cheeks and jaw; lips and nose keep their shape."""
    skull = naming.joint("skullbase")
    if skull is None:
        return np.full(len(at), _HEAD)
    away = (at - skeleton.bind_world[skull, :3, 3]) / trunk.length
    height, aside, ahead = (away @ axis for axis in (trunk.up, trunk.left, trunk.front))
    low = smooth_step((0.14 - height) / 0.14)
    cheek = smooth_step((np.abs(aside) / np.maximum(np.hypot(aside, ahead), 1e-9) - 0.3) / 0.4)
    before_ears = smooth_step(ahead / 0.06)
    return np.asarray(_HEAD + (_JOWL - _HEAD) * low * cheek * before_ears)


def _even(at: Floats, triangles: npt.ArrayLike, normals: npt.NDArray[np.float32]) -> Floats:
    """Of a unit [m], on a body we know nothing of: by how thick it is, from a part of its largest on."""
    far = np.full(len(at), float(np.ptp(at, axis=0).max()), np.float32)
    start = (at - 1e-4 * far[:, None] * normals).astype(np.float32)
    through = RayTree(at, triangles).cast(start, -normals, far).distances.astype(np.float64)
    through[~np.isfinite(through)] = 0.0
    thick = float(np.percentile(through, 90))
    return np.asarray(_CREATURE * smooth_step((through / max(thick, 1e-12) - 0.15) / 0.6))
