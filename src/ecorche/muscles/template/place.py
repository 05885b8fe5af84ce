"""Put the template on a character's skeleton: every attachment at its place in the bind pose."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ecorche.muscles.template.muscle import DIGITS, TemplateMuscle
from ecorche.muscles.template.segments import Segment, segments
from ecorche.skeleton.naming.recognise import Naming
from ecorche.skeleton.skeleton import Skeleton

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class PlacedMuscle:
    """A muscle of the template on one skeleton, at bind.

    Attributes:
        template: What it is.
        joints: The joint each path point moves with, shape (points,).
        positions: Path points at bind, origin first [m], shape (points, 3).
        virtual: Whether a point is on a virtual scapula, which `scapula` turns, shape (points,).
        outward: Unit S_d hint at bind, shape (3,); not yet perpendicular to the path.
        half_width: b_C [m].
    """

    template: TemplateMuscle
    joints: npt.NDArray[np.int32]
    positions: Floats
    virtual: npt.NDArray[np.bool_]
    outward: Floats
    half_width: float


@dataclass(frozen=True)
class LeftOut:
    """A muscle this skeleton cannot have, and why."""

    name: str
    reason: str


@dataclass(frozen=True, eq=False)
class Placement:
    """The muscles a skeleton has, those it cannot have, and what a person should know."""

    muscles: tuple[PlacedMuscle, ...]
    left_out: tuple[LeftOut, ...]
    notes: tuple[str, ...]


def place(template: Iterable[TemplateMuscle], skeleton: Skeleton, naming: Naming) -> Placement:
    """Place every muscle the skeleton has the body parts for.

    A tendon that ends on a finger or toe the rig does not have ends at its last point before it.
    """
    parts = segments(skeleton, naming)
    placed: list[PlacedMuscle] = []
    left_out: list[LeftOut] = []
    notes: list[str] = []
    for muscle in template:
        path = list(muscle.path)
        while len(path) > 2 and path[-1].segment not in parts and path[-1].segment[2:].startswith(DIGITS):
            notes.append(f"{muscle.name!r} ends early: the rig has no joint {path[-1].segment!r}")
            path.pop()
        needed = dict.fromkeys((*(p.segment for p in path), muscle.limb))
        missing = [name for name in needed if name not in parts]
        if missing:
            left_out.append(LeftOut(muscle.name, f"the rig lacks {', '.join(missing)}"))
            continue
        on = [parts[p.segment] for p in path]
        if len({part.joint for part in on}) == 1:
            joint = skeleton.names[on[0].joint]
            left_out.append(LeftOut(muscle.name, f"all of it would move with one joint, {joint!r}"))
            continue
        limb = parts[muscle.limb]
        placed.append(
            PlacedMuscle(
                muscle,
                np.array([part.joint for part in on], np.int32),
                np.array([part.point(p.at) for part, p in zip(on, path, strict=True)]),
                np.array([_is_virtual_scapula(part) for part in on]),
                limb.direction(muscle.outward),
                muscle.thickness * float(np.linalg.norm(limb.frame[:3, 1])),
            )
        )
    return Placement(tuple(placed), tuple(left_out), tuple(notes))


def _is_virtual_scapula(part: Segment) -> bool:
    return part.stand_in and part.name.endswith("acromioclavicular")
