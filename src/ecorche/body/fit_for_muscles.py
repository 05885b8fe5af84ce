"""Whether a character can be given muscles: of a person's size, and its skin where its bones are.

Muscles would be placed on anything that has named joints; on a body in centimetres, or on arms that hang
while their bones are stretched out, they would be nonsense that no later message explains.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ecorche.body.character import Character
from ecorche.errors import MeshError, SkeletonError
from ecorche.skeleton.naming.recognise import Naming
from ecorche.skeleton.skeleton import Skeleton
from ecorche.skin.weights import SkinWeights

Floats = npt.NDArray[np.float64]

# of an adult between joints [m]: limbs first, which rigs agree on; then across the body
_LIMBS = {
    ("shoulder", "elbow"): 0.28,
    ("elbow", "radiocarpal"): 0.26,
    ("hip", "knee"): 0.42,
    ("knee", "talocrural"): 0.42,
}
_ACROSS = {("l_shoulder", "r_shoulder"): 0.36, ("l_hip", "r_hip"): 0.18}

MOST_TIMES = 20.0
"""Giants and elves are within this many times a person's size; a file in another unit is not."""
FURTHEST = 0.25
"""How far the middle of a limb's skin may lie from its bone, in bone lengths: it is 0.05 on people, and
this much where a limb is turned by 30 degrees against its bone."""
FEWEST = 8
"""Vertices of a joint that say where its skin is."""
_UNITS = {0.01: "centimetres", 0.0254: "inches", 0.001: "millimetres"}


@dataclass(frozen=True, eq=False)
class _Limb:
    joint: int
    start: Floats
    end: Floats

    @property
    def length(self) -> float:
        return float(np.linalg.norm(self.end - self.start))


def require_fit_for_muscles(
    character: Character, points: npt.NDArray[np.floating], weights: SkinWeights, naming: Naming
) -> None:
    """Refuse a character of the wrong unit, or whose skin does not lie round its bones.

    Args:
        character: The character.
        points: Its body's skin at bind [m], shape (vertices, 3).
        weights: That skin's weights.
        naming: What its joints are.
    """
    require_size(character, naming)
    _require_skin_on_bones(character, points, weights, naming)


def times_a_person(skeleton: Skeleton, naming: Naming) -> float:
    """How many times the size of a person a body is, going by its limbs; 1 where it has none we know."""
    heads = skeleton.bind_world[:, :3, 3]

    def sizes(pairs: dict[tuple[str, str], float]) -> list[float]:
        ends = [(naming.joint(a), naming.joint(b), usual) for (a, b), usual in pairs.items()]
        return [
            float(np.linalg.norm(heads[a] - heads[b])) / usual
            for a, b, usual in ends
            if a is not None and b is not None
        ]

    limbs = {(f"{s}_{near}", f"{s}_{far}"): usual for (near, far), usual in _LIMBS.items() for s in "lr"}
    return float(np.median(sizes(limbs) or sizes(_ACROSS) or [1.0]))


def require_size(character: Character, naming: Naming) -> None:
    """Refuse a character of the wrong unit, going by its limbs."""
    times = times_a_person(character.skeleton, naming)
    if 1.0 / MOST_TIMES <= times <= MOST_TIMES:
        return
    if times > 1.0:
        factor = min(_UNITS, key=lambda unit: abs(np.log(unit * times)))
        guess = f"Its numbers seem to be {_UNITS[factor]}"
    else:
        factor = min((100.0, 1000.0), key=lambda unit: abs(np.log(unit * times)))
        guess = f"Its numbers seem to have been divided by {factor:g}"
    says = f", as the file says {character.metres_per_unit:g} m a unit"
    raise SkeletonError(
        f"the body is {1.75 * times:,.3g} m tall, going by its limbs{says}",
        where=character.source or character.name,
        remedy=f"{guess}: export it in metres, or scale it by {factor:g}",
    )


def _require_skin_on_bones(
    character: Character, points: npt.NDArray[np.floating], weights: SkinWeights, naming: Naming
) -> None:
    skeleton = character.skeleton
    heads, tails = skeleton.bind_world[:, :3, 3], skeleton.tail_positions()
    named = [joint for joint, name in enumerate(naming.canonical) if name is not None]
    if not named:
        return  # nobody knows where the skin of an unknown creature's joints should be
    size = float(np.linalg.norm(np.ptp(heads[named], axis=0)))
    limbs = {
        start: _Limb(start, heads[start], heads[end])
        for near, far in _LIMBS
        for side in "lr"
        if (start := naming.joint(f"{side}_{near}")) is not None
        and (end := naming.joint(f"{side}_{far}")) is not None
    }
    strongest = _strongest_joints(weights)
    off: dict[str, float] = {}
    asked = 0
    for joint in named:
        own = points[strongest == joint].astype(np.float64)
        if len(own) < FEWEST:
            continue
        asked += 1
        bone = limbs.get(joint) or _Limb(joint, heads[joint], tails[joint])
        allowed = FURTHEST * (bone.length if joint in limbs else size)
        distance = float(np.linalg.norm(_from_bone(own, bone).mean(axis=0)))
        if distance > allowed:
            off[skeleton.names[joint]] = distance
    if not off:
        return
    where = f"{character.source or character.name}, mesh {character.body().name!r}"
    worst = max(off, key=lambda name: off[name])
    told = f"the skin of joint {worst!r} lies {off[worst]:.2g} m from its bone"
    if 2 * len(off) > asked:
        raise MeshError(
            f"the skin is far from the skeleton: {told}",
            where=where,
            remedy="Put mesh and skeleton in one place, apply their transforms, and bind again",
        )
    others = f", and so for {len(off) - 1} more" if len(off) > 1 else ""
    raise MeshError(
        f"the mesh is not in the bind pose: {told}{others}",
        where=where,
        remedy="Bind the skeleton in the pose the mesh was modelled in, and export again",
    )


def _strongest_joints(weights: SkinWeights) -> npt.NDArray[np.int64]:
    """The joint that moves each vertex most, shape (vertices,)."""
    joints, table = weights.padded()
    return np.asarray(joints[np.arange(len(joints)), table.argmax(axis=1)], np.int64)


def _from_bone(points: Floats, bone: _Limb) -> Floats:
    """From the nearest place of a bone to each point [m], shape (points, 3)."""
    along = bone.end - bone.start
    share = np.clip((points - bone.start) @ along / max(float(along @ along), 1e-30), 0.0, 1.0)
    return np.asarray(points - bone.start - share[:, None] * along)
