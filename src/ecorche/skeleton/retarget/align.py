"""How the target must turn at bind to stand as the source does at bind.

Two characters at bind stand in different poses: arms out or half down, legs together or apart. Each
joint of the target gets a correction C, a world rotation that brings it from its own bind pose to the
source's. A joint that turned by Δ since bind in the source then turns by Δ·C in the target, and a
limb that C aims along the source's limb points exactly where the source's does, always.

Corrections go down the limbs: a forearm takes its upper arm's correction first and then only the
smallest turn that aims it, so that hands and feet are not twisted by the way round.
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
    xyzw_from_matrix,
)
from ecorche.skeleton.retarget.figure import Figure
from ecorche.skeleton.retarget.soles import Sole

Floats = npt.NDArray[np.float64]

_FINGER_JOINTS = ("metacarpophalangeal", "carpal_proximal_interphalangeal", "carpal_distal_interphalangeal")
FINGERS = (
    ("carpometacarpal_1", "metacarpophalangeal_1", "carpal_interphalangeal_1"),
    *(tuple(f"{joint}_{ray}" for joint in _FINGER_JOINTS) for ray in (2, 3, 4, 5)),
)
"""Joints of each finger from the palm out, without their side."""


def corrections(
    source: Figure,
    target: Figure,
    soles: tuple[tuple[Sole, Sole], tuple[Sole, Sole]] | None,
    *,
    flat_feet: bool,
) -> dict[str, Floats]:
    """The correction C (xyzw) of every canonical joint that both figures have.

    ``soles`` are the source's and the target's; None where a figure has no feet. With ``flat_feet`` a foot is
    aligned by its sole; without, it is then tilted to point from ankle to toes exactly as the source's does.
    """
    body = xyzw_from_matrix(source.axes @ target.axes.T)
    found = {name: body for name in target.joints if name in source.joints}
    for number, side in enumerate("lr"):
        _aim_chain(source, target, found, body, [f"{side}_{n}" for n in ("shoulder", "elbow", "radiocarpal")])
        _align_hand(source, target, found, side)
        _aim_chain(source, target, found, body, [f"{side}_{n}" for n in ("hip", "knee", "talocrural")])
        if soles is not None:
            _align_foot(source, target, found, soles[0][number], soles[1][number], side, flat_feet)
    return found


def _between(figure: Figure, start: str, end: str) -> Floats | None:
    """The vector from one canonical joint to another at bind [m]; None where it has no length."""
    a, b = figure.joint(start), figure.joint(end)
    if a is None or b is None:
        return None
    vector = figure.heads[b] - figure.heads[a]
    return vector if np.linalg.norm(vector) > 1e-3 * figure.leg_length else None


def _aimed(correction: Floats, of_target: Floats, of_source: Floats) -> Floats:
    """A correction turned a little further so that it takes one direction to the other."""
    now = normalise(rotate_xyzw(correction, of_target))
    return multiply_xyzw(shortest_arc_xyzw(now, normalise(of_source)), correction)


def _aim_chain(
    source: Figure, target: Figure, found: dict[str, Floats], start: Floats, chain: Sequence[str]
) -> None:
    """Aim each joint of a limb at the next; the last one only takes over what came before."""
    correction = start
    for name, following in zip(chain, [*chain[1:], None], strict=True):
        if following is not None:
            theirs, ours = _between(source, name, following), _between(target, name, following)
            if theirs is not None and ours is not None:
                correction = _aimed(correction, ours, theirs)
        if name in found:
            found[name] = correction


def _align_hand(source: Figure, target: Figure, found: dict[str, Floats], side: str) -> None:
    wrist = f"{side}_radiocarpal"
    if wrist not in found:
        return
    knuckles = [f"{side}_metacarpophalangeal_{ray}" for ray in (2, 3, 4, 5)]
    shared = [k for k in knuckles if _both(source, target, wrist, k)]
    correction = found[wrist]
    directions = [_palm(figure, wrist, shared) for figure in (source, target)]
    if directions[0] is not None and directions[1] is not None:
        correction = _aimed(correction, directions[1], directions[0])
        correction = _rolled(source, target, correction, directions[0], side, shared)
    found[wrist] = correction
    for name in found:
        if name.startswith(f"{side}_") and "carp" in name and name != wrist:
            found[name] = correction
    for finger in FINGERS:
        # a finger known by two joints in both is aimed; a mitten's single joint only turns along
        joints = [f"{side}_{n}" for n in finger]
        if sum(n in found for n in joints) >= 2:
            _aim_chain(source, target, found, correction, [n for n in joints if n in found])


def _both(source: Figure, target: Figure, start: str, end: str) -> bool:
    return _between(source, start, end) is not None and _between(target, start, end) is not None


def _palm(figure: Figure, wrist: str, knuckles: list[str]) -> Floats | None:
    """From the wrist to the middle of the shared knuckles, else along the hand's bone."""
    start = figure.heads[figure.joints[wrist]]
    if knuckles:
        end = np.mean([figure.heads[figure.joints[k]] for k in knuckles], axis=0)
    else:
        end = figure.tips[figure.joints[wrist]]
    along: Floats = end - start
    return along if np.linalg.norm(along) > 1e-3 * figure.leg_length else None


def _rolled(
    source: Figure, target: Figure, correction: Floats, along: Floats, side: str, knuckles: list[str]
) -> Floats:
    """Turn a hand about its length so that its knuckles lie in the same row as the source's.

    Where only a thumb tells the side, whose place varies from rig to rig, it must differ by more
    than 60 degrees to count: palms down against palms forward, not a thumb drawn lower.
    """
    axis = normalise(along)
    if len(knuckles) >= 2:
        theirs, ours = (
            f.heads[f.joints[knuckles[0]]] - f.heads[f.joints[knuckles[-1]]] for f in (source, target)
        )
        least = 0.0
    else:
        thumbs = [_thumb(f, side) for f in (source, target)]
        if thumbs[0] is None or thumbs[1] is None:
            return correction
        theirs, ours = thumbs[0], thumbs[1]
        least = np.radians(60.0)
    ours = rotate_xyzw(correction, ours)
    flat = [v - axis * (v @ axis) for v in (theirs, ours)]
    for across, whole in zip(flat, (theirs, ours), strict=True):
        if np.linalg.norm(across) < 0.3 * np.linalg.norm(whole):
            return correction  # it points along the hand and says nothing about its roll
    angle = np.arctan2(np.cross(flat[1], flat[0]) @ axis, flat[1] @ flat[0])
    return correction if abs(angle) <= least else multiply_xyzw(xyzw_from_axis_angle(axis, angle), correction)


def _thumb(figure: Figure, side: str) -> Floats | None:
    wrist = figure.heads[figure.joints[f"{side}_radiocarpal"]]
    for name in ("metacarpophalangeal_1", "carpometacarpal_1"):
        joint = figure.joint(f"{side}_{name}")
        if joint is not None:
            return np.asarray(figure.tips[joint] - wrist)
    return None


def _align_foot(
    source: Figure,
    target: Figure,
    found: dict[str, Floats],
    theirs: Sole,
    ours: Sole,
    side: str,
    flat_feet: bool,
) -> None:
    flat = xyzw_from_matrix(theirs.axes @ ours.axes.T)
    for name in found:
        if name.startswith(f"{side}_") and ("tars" in name or "cune" in name or "calc" in name):
            found[name] = flat
    found[f"{side}_talocrural"] = (
        flat if flat_feet else _aimed(flat, foot_vector(target, ours), foot_vector(source, theirs))
    )


def foot_vector(figure: Figure, sole: Sole) -> Floats:
    """From ankle to toe joint at bind [m], or to the foot's tip where there is no toe joint."""
    end = figure.heads[sole.toe] if sole.toe != sole.ankle else figure.tips[sole.ankle]
    return np.asarray(end - figure.heads[sole.ankle])
