"""The limbs whose directions retargeting keeps, and how well it kept them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ecorche.base.rotations import normalise
from ecorche.skeleton.retarget.figure import Figure

Floats = npt.NDArray[np.float64]

_SIDED = (
    ("upper arm", "shoulder", "elbow"),
    ("forearm", "elbow", "radiocarpal"),
    ("thigh", "hip", "knee"),
    ("shank", "knee", "talocrural"),
    ("foot", "talocrural", "metatarsophalangeal_2"),
)


def limbs_of(figure: Figure) -> dict[str, tuple[int, int]]:
    """Limbs by name, each as the joint it starts and the joint it ends at."""
    found: dict[str, tuple[int | None, int | None]] = {
        f"{word} {limb}": (figure.joint(f"{side}_{start}"), figure.joint(f"{side}_{end}"))
        for side, word in (("l", "left"), ("r", "right"))
        for limb, start, end in _SIDED
    }
    found["spine"] = (figure.trunk[0] if figure.trunk else None, figure.neck_base())
    found["neck"] = (figure.neck[0] if figure.neck else None, figure.joint("skullbase"))
    return {name: (a, b) for name, (a, b) in found.items() if a is not None and b is not None}


def direction_errors(
    source: Figure, source_positions: Floats, target: Figure, target_positions: Floats
) -> dict[str, float]:
    """The worst angle over time between the same limb of two figures [deg], by limb.

    Positions are (frames, joints, 3). Limbs without length, which have no direction, are left out.
    """
    errors: dict[str, float] = {}
    ours = limbs_of(target)
    for limb, (start, end) in limbs_of(source).items():
        if limb not in ours:
            continue
        a = source_positions[:, end] - source_positions[:, start]
        b = target_positions[:, ours[limb][1]] - target_positions[:, ours[limb][0]]
        if min(np.linalg.norm(a, axis=-1).min(), np.linalg.norm(b, axis=-1).min()) < 1e-6:
            continue
        a, b = normalise(a), normalise(b)
        sine, cosine = np.linalg.norm(np.cross(a, b), axis=-1), np.sum(a * b, axis=-1)
        errors[limb] = float(np.degrees(np.arctan2(sine, cosine)).max())
    return errors
