"""The folds that a rig asks for, on its character: at places of the human body, or at joints by name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ecorche.base.names import suggestion
from ecorche.body.character import Character
from ecorche.body.fit_for_muscles import times_a_person
from ecorche.body.place_muscles import bind_points
from ecorche.body.spelled_joints import spot
from ecorche.document.files import Rig
from ecorche.errors import DocumentError
from ecorche.skeleton.naming.recognise import Naming, recognise
from ecorche.skeleton.skeleton import Skeleton
from ecorche.skin.wrinkles import FlexionWrinkles, Folds

_SHORTEST = 1e-3
"""Of a person: a bone before the joint that is shorter tells no direction [m]."""


@dataclass(frozen=True)
class _Place:
    """Folds of an adult.

    Attributes:
        joints: Canonical names; of each tuple the first that the character has.
        depth, width: Of a groove, and from groove to groove [m].
        full: Bend at which they are full [degrees].
    """

    joints: tuple[tuple[str, ...], ...]
    depth: float
    width: float
    full: float


def _both(name: str) -> tuple[tuple[str, ...], ...]:
    return (f"l_{name}",), (f"r_{name}",)


PLACES = {
    "elbow": _Place(_both("elbow"), 0.0025, 0.014, 110.0),
    "knee": _Place(_both("knee"), 0.003, 0.02, 110.0),
    "wrist": _Place(_both("radiocarpal"), 0.001, 0.008, 60.0),
    "waist": _Place((("vl3", "vl4", "vl2", "vl5", "vl1", "vt12", "vt11", "vt10"),), 0.006, 0.05, 35.0),
    "neck": _Place((("vc4", "vc3", "vc5", "vc2", "vc6", "vc7", "skullbase"),), 0.002, 0.018, 40.0),
}
"""Where a person's skin folds, by the name that a rig file has for it."""
_ASKED = 60
"""So many of the nearest triangles tell how fine the skin is at a joint."""
_ELSEWHERE = _Place((), 0.002, 0.012, 90.0)


def compile_wrinkles(character: Character, rig: Rig) -> FlexionWrinkles | None:
    """The folds of the body's skin that a rig asks for; None where it asks for none.

    In a frame a vertex moves by ``depths`` against its normal. A place that the character has no joint for,
    and a joint it does not have, are refused.
    """
    folds = folds_of(rig, character.skeleton)
    if not folds:
        return None
    body = character.body(rig.spec.body)
    assert body.weights is not None  # a rig's body is skinned
    return FlexionWrinkles(bind_points(character, body), body.weights, character.skeleton, folds)


def folds_of(rig: Rig, skeleton: Skeleton) -> tuple[Folds, ...]:
    """The folds that a rig asks for, at joints of its character; those without depth are left out."""
    if not rig.spec.wrinkles:
        return ()
    naming = recognise(skeleton, rig.spec.skeleton.mapping or None)
    size = times_a_person(skeleton, naming)
    found = []
    for name, said in rig.spec.wrinkles.items():
        usual = PLACES.get(name, _ELSEWHERE)
        depth = size * usual.depth if said.depth is None else said.depth
        width = size * usual.width if said.width is None else said.width
        full = float(np.radians(usual.full if said.full is None else said.full))
        if depth > width:
            raise DocumentError(
                f"grooves of {1e3 * depth:,.1f} mm are deeper than the {1e3 * width:,.1f} mm"
                " from one to the next",
                where=spot(rig, ("wrinkles", name)),
                remedy="Write both in metres, the depth a fifth of the width or so",
            )
        joints = _joints(rig, name, skeleton, naming, size)
        found += [Folds(joint, depth, width, full) for joint in joints if depth > 0.0]
    return tuple(found)


def too_coarse_for(character: Character, rig: Rig) -> tuple[str, ...]:
    """That the skin is too coarse for folds that a rig asks for, a sentence a joint."""
    folds = folds_of(rig, character.skeleton)
    if not folds:
        return ()
    body = character.body(rig.spec.body)
    points, corners = bind_points(character, body), body.mesh.triangles()
    sides = points[corners] - points[np.roll(corners, 1, axis=1)]
    length, middle = np.linalg.norm(sides, axis=2).mean(axis=1), points[corners].mean(axis=1)
    told = []
    for fold in folds:
        away = np.linalg.norm(middle - character.skeleton.bind_world[fold.joint, :3, 3], axis=1)
        nearest = np.argsort(away, kind="stable")[:_ASKED]
        edge = float(np.median(length[nearest]))
        if edge > 0.5 * fold.width:
            told.append(
                f"folds {1e3 * fold.width:.1f} mm apart at {character.skeleton.names[fold.joint]!r} do not"
                f" show as they are: the skin's edges there are {1e3 * edge:.1f} mm long,"
                " more than half of that"
            )
    return tuple(told)


def _joints(rig: Rig, name: str, skeleton: Skeleton, naming: Naming, size: float) -> list[int]:
    """The joints that a place of the body, or a joint's name, means."""
    where = spot(rig, ("wrinkles", name))
    if name in PLACES:
        asked = PLACES[name].joints
        named = (_first(names, skeleton, naming, size) for names in asked)
        joints = [joint for joint in named if joint is not None]
        if not joints:
            tried = ", ".join(names[0] for names in asked)
            raise DocumentError(
                f"the character has no {name} ({tried})",
                where=where,
                remedy="Name a joint of the character instead, or name its joints in skeleton.mapping",
            )
        return joints
    if name not in skeleton.names:
        raise DocumentError(
            f"there is no joint {name!r}",
            where=where,
            remedy=f"{suggestion(name, (*PLACES, *skeleton.names))} Places of the body: {', '.join(PLACES)}",
        )
    joint = skeleton.index(name)
    if not _bends(skeleton, joint, size):
        raise DocumentError(
            f"joint {name!r} has no bone before it, so it does not bend",
            where=where,
            remedy="Let folds be at a joint between two bones",
        )
    return [joint]


def _first(names: Sequence[str], skeleton: Skeleton, naming: Naming, size: float) -> int | None:
    """The first of these joints that the character has and that bends."""
    known = (naming.joint(name) for name in names)
    return next((j for j in known if j is not None and _bends(skeleton, j, size)), None)


def _bends(skeleton: Skeleton, joint: int, size: float) -> bool:
    parent, heads = int(skeleton.parents[joint]), skeleton.bind_world[:, :3, 3]
    return parent >= 0 and float(np.linalg.norm(heads[joint] - heads[parent])) > _SHORTEST * size
