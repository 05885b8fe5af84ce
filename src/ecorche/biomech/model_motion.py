"""The motion of a musculoskeletal model as that of a skeleton, so that it moves any character.

Every body is a joint where its frame stands, which models put at the joint above it; names of bodies are
recognised as those of other rigs are (`skeleton.naming`). The skeleton's bind pose is the model's own. Models
whose gravity points along another axis are turned upright.

A forearm with the hand in one body, or a shank with the foot, ends nowhere: nothing would say which way it
points, and how far an elbow is bent. It gets a joint more where its centre of mass is, called as OpenSim
calls a hand or a talus.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ecorche.base.transforms import inverse
from ecorche.biomech.model import MusculoskeletalModel, checked_pose, upright_from
from ecorche.errors import MotionError
from ecorche.skeleton.motion import Motion
from ecorche.skeleton.naming import recognise
from ecorche.skeleton.naming.conventions import conventions
from ecorche.skeleton.retarget.figure import figure_of
from ecorche.skeleton.skeleton import Skeleton

Floats = npt.NDArray[np.float64]

_LEAST_LENGTH = 0.01
"""A centre of mass nearer to its joint [m] says no direction."""


def model_skeleton(model: MusculoskeletalModel) -> Skeleton:
    """The bodies of a model as joints, in its default pose; ends of limbs after them."""
    order, above = _order(model)
    ends = _ends(model, order, above)
    parents = [*above, *(end.body for end in ends)]
    local = _local(model, model.defaults(), order, above, ends)
    tails = np.full((len(parents), 3), np.nan)
    for joint in range(len(order)):
        below = [k for k, parent in enumerate(parents) if parent == joint]
        if len(below) == 1:
            tails[joint] = local[below[0], :3, 3]
    names = (*(model.bodies[b].name for b in order), *(end.name for end in ends))
    return Skeleton(names, np.array(parents, np.int32), local, local, tails)


def model_motion(
    model: MusculoskeletalModel, times: npt.ArrayLike, coordinates: npt.ArrayLike, name: str = ""
) -> Motion:
    """A model's poses over time as a motion of its skeleton.

    Args:
        model: The model.
        times: [s], (frames,), rising.
        coordinates: [rad or m], (frames, coordinates).
        name: Of the motion.
    """
    when, values = np.asarray(times, np.float64), np.asarray(coordinates, np.float64)
    if values.shape != (len(when), len(model.coordinates)):
        raise MotionError(
            f"poses of shape {values.shape} for {len(when)} times and {len(model.coordinates)} coordinates",
            where=model.name,
            remedy="Give a row a time and a column a coordinate",
        )
    order, parents = _order(model)
    ends = _ends(model, order, parents)
    local = np.array([_local(model, checked_pose(model, q), order, parents, ends) for q in values])
    return Motion(name or model.name, model_skeleton(model), when, local)


def body_mapping(skeleton: Skeleton) -> dict[str, str] | None:
    """Canonical names of a model's bodies, for models of a part of a human, by OpenSim's names; else None."""
    if figure_of(skeleton, recognise(skeleton)) is not None:
        return None
    meant = {name: _meant(name) for name in skeleton.names}
    named = {name: "vl5" if target == "@trunk" else target for name, target in meant.items() if target}
    return {name: target for name, target in named.items() if not target.startswith("@")} or None


def _order(model: MusculoskeletalModel) -> tuple[list[int], list[int]]:
    """Bodies so that parents come before children, and each one's parent among them; −1 for none."""
    names: list[str | None] = [body.name for body in model.bodies]
    order: list[int] = []
    waiting = list(range(len(names)))
    while waiting:
        ready = [b for b in waiting if model.bodies[b].parent not in {names[w] for w in waiting}]
        if not ready:
            raise MotionError(
                f"bodies hang on each other in a circle: {names[waiting[0]]!r} is among them",
                where=model.name,
                remedy="Break the loop with a constraint",
            )
        order += ready
        waiting = [b for b in waiting if b not in ready]
    place = {names[b]: row for row, b in enumerate(order)}
    return order, [place.get(model.bodies[b].parent, -1) for b in order]


def _meant(body: str) -> str | None:
    """What a body of that name is among OpenSim's."""
    (opensim,) = (known for known in conventions() if known.name == "opensim")
    return opensim.target(body)


class _End(NamedTuple):
    """Where a limb points that ends in a body: the body's row, a name, and the place in its frame [m]."""

    body: int
    name: str
    place: Floats


def _ends(model: MusculoskeletalModel, order: list[int], parents: list[int]) -> list[_End]:
    """Ends of forearms and shanks that nothing hangs on."""
    found = []
    for row, number in enumerate(order):
        body, place = model.bodies[number], np.asarray(model.bodies[number].centre_of_mass, np.float64)
        side, _, what = (_meant(body.name) or "").partition("_")
        end = {"elbow": "hand", "knee": "talus"}.get(what)
        if end is not None and row not in parents and np.linalg.norm(place) > _LEAST_LENGTH:
            found.append(_End(row, f"{end}_{side}", place))
    return found


def _local(
    model: MusculoskeletalModel, q: Floats, order: list[int], parents: list[int], ends: list[_End]
) -> Floats:
    """``parent_from_joint`` of bodies and ends in a pose, (joints, 4, 4), upright."""
    upright = np.eye(4)
    upright[:3, :3] = upright_from(model)
    world = upright @ model.body_transforms(q)[order]
    above = np.array([np.eye(4) if parent < 0 else world[parent] for parent in parents])
    tips = np.tile(np.eye(4), (len(ends), 1, 1))
    for tip, end in zip(tips, ends, strict=True):
        tip[:3, 3] = end.place
    return np.concatenate([inverse(above) @ world, tips])
