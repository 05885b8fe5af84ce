"""Where the muscles of a musculoskeletal model run on a character, at its bind pose.

A model is of another size and stands otherwise. Its bodies are joints (`model_motion.model_skeleton`), and
each point of a path is taken from its body to the joint that stands for that body, as muscles are taken from
one character to another (`muscles.transfer`): between humans by segments measured on both, else bone by bone.
A body that is no joint of the character, a knee cap, goes along with the one it hangs on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ecorche.biomech.model import MusculoskeletalModel, upright_from
from ecorche.biomech.model_motion import body_mapping, model_skeleton
from ecorche.errors import SkeletonError
from ecorche.muscles.transfer import Carrier, Figure, carriers_between
from ecorche.skeleton.naming import recognise
from ecorche.skeleton.skeleton import Skeleton

Floats = npt.NDArray[np.float64]

SPECIFIC_TENSION = 3.0e5
"""What a square metre of muscle pulls with [N/m²]."""


@dataclass(frozen=True, eq=False)
class PlacedPath:
    """A muscle of a model on a character.

    Attributes:
        name: Of the muscle.
        points: Where it runs at the character's bind [m], origin first, (P, 3).
        joints: The character's joint that each point moves with, (P,).
        radius: Of a cord of its volume along its path [m]; the volume is F_max times the optimal length of
            its fibres over 30 N/cm².
    """

    name: str
    points: Floats
    joints: tuple[int, ...]
    radius: float


def paths_on_character(
    model: MusculoskeletalModel, skeleton: Skeleton, mapping: Mapping[str, str] | None = None
) -> tuple[PlacedPath | None, ...]:
    """The muscles of a model, in its order, on a character's bind pose; None where no joint is for a body.

    Args:
        model: Of a body that the character is like: joints are paired by what they are, else by name.
        skeleton: The character's joints.
        mapping: Canonical names of the character's joints, where they are not recognised.

    Raises:
        SkeletonError: Fewer than two bodies are joints of the character, or they are one limb alone.
    """
    bodies = model_skeleton(model)
    if body_mapping(bodies) is not None:
        raise SkeletonError(
            "a model of a part of a body does not say which way that body faces",
            where=model.name,
            remedy="Name its muscles as the rig does, or give them by hand",
        )
    source = Figure(bodies, recognise(bodies))
    carriers = _carriers(source, Figure(skeleton, recognise(skeleton, mapping)))
    turn, pose = upright_from(model), model.defaults()
    paths = model.muscle_paths(pose)
    found: list[PlacedPath | None] = []
    for muscle in model.muscles:
        path = paths[muscle.name]
        on = [carriers.get(name) for name in path.bodies]
        if None in on:
            found.append(None)
            continue
        known = [carrier for carrier in on if carrier is not None]
        points = path.points @ turn.T
        there = np.array([carrier.point(p) for carrier, p in zip(known, points, strict=True)])
        size = float(np.mean([carrier.size for carrier in known]))
        volume = size**3 * muscle.max_force * muscle.optimal_fibre_length / SPECIFIC_TENSION
        length = float(np.linalg.norm(np.diff(there, axis=0), axis=1).sum())
        radius = float(np.sqrt(volume / (np.pi * max(length, 1e-9))))
        found.append(PlacedPath(muscle.name, there, tuple(carrier.joint for carrier in known), radius))
    return tuple(found)


def _carriers(source: Figure, target: Figure) -> dict[str, Carrier]:
    """By name of body; one that is no joint of the target has that of the body it hangs on."""
    given = carriers_between(source, target)
    known = set(target.naming.canonical) - {None}
    found: dict[str, Carrier] = {}
    for body, name in enumerate(source.skeleton.names):
        own = source.naming.canonical[body] in known or name in target.skeleton.names
        parent = int(source.skeleton.parents[body])
        above = found.get(source.skeleton.names[parent]) if parent >= 0 else None
        if own and body in given:
            found[name] = given[body]
        elif above is not None:
            found[name] = above
    return found
