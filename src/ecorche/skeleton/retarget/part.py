"""Retargeting to or from a part of a human figure: a bust, an arm, what has no pair of legs to stand on.

What it has turns in the world as in the motion, from its root on, with the same corrections as on a whole
figure; so a bust leans and looks where the person does. It does not travel: how far is said by legs, which it
lacks, and a part is set up where it is wanted. A whole figure that takes the motion of a part, as of a model
of one arm, stays in its place too, and the rest of it as it is at bind.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from ecorche.base.rotations import xyzw_from_matrix
from ecorche.skeleton.motion import Motion
from ecorche.skeleton.naming import Naming
from ecorche.skeleton.retarget.align import corrections
from ecorche.skeleton.retarget.figure import Figure, body_axes, figure_in
from ecorche.skeleton.retarget.human import upright_turn
from ecorche.skeleton.retarget.limbs import direction_errors
from ecorche.skeleton.retarget.report import RetargetReport, listed
from ecorche.skeleton.retarget.turns import body_turns, local_of, performed
from ecorche.skeleton.retarget.twists import twist_shares, with_shared_twists
from ecorche.skeleton.skeleton import Skeleton

Floats = npt.NDArray[np.float64]


def part_of(skeleton: Skeleton, naming: Naming) -> tuple[Figure, tuple[str, ...]] | None:
    """The part of a human figure in a skeleton and notes on it, or None where no joint is known.

    Its size stands for the length of its legs.
    """
    if all(name is None for name in naming.canonical):
        return None
    heads = skeleton.bind_world[:, :3, 3]
    size = float(np.linalg.norm(np.ptp(heads, axis=0)))
    # no pelvis of its own: one that has a name is found by it
    part = figure_in(skeleton, naming, -1, np.eye(3), size if size > 0.0 else 1.0)
    pelvic = [part.joint(name) for name in ("humanoid_root", "sacroiliac")]
    middle = [j for j in (*pelvic, *part.trunk, *part.neck, part.joint("skullbase")) if j is not None]
    up = heads[middle[-1]] - heads[middle[0]] if middle else np.zeros(3)
    up = up if up.any() else np.array([0.0, 1.0, 0.0])
    left = _left(part, middle, up)
    axes = None if left is None else body_axes(up, left)
    if axes is None:
        return part, ("nothing says where the part's front is: it is taken to face +z",)
    return replace(part, axes=axes), ()


def _left(part: Figure, middle: list[int], up: Floats) -> Floats | None:
    """A direction to the left at bind, by both shoulders or by one and the middle of the body; None without.

    One shoulder lies before or behind the spine: it only tells which of the world's axes is meant.
    """
    for name in ("shoulder", "sternoclavicular", "hip"):
        left, right = part.joint(f"l_{name}"), part.joint(f"r_{name}")
        if left is not None and right is not None:
            return np.asarray(part.heads[left] - part.heads[right])
    for side, sign in (("l", 1.0), ("r", -1.0)):
        outer = part.joint(f"{side}_shoulder")
        collar = part.joint(f"{side}_sternoclavicular")
        inner = middle[-1] if middle else collar
        if outer is not None and inner is not None:
            across = sign * (part.heads[outer] - part.heads[inner])
            across[np.argmax(np.abs(up))] = 0.0
            axis = int(np.argmax(np.abs(across)))
            return np.asarray(np.sign(across[axis]) * np.eye(3)[axis])
    return None


def retarget_part(
    motion: Motion,
    source: Figure,
    target: Figure,
    mode: str,
    notes: tuple[str, ...] = (),
    *,
    whole: Literal["motion", "character"] = "motion",
) -> tuple[Motion, RetargetReport]:
    """The motion of a human figure on a part of one, or the other way round, and what was done to it."""
    upright, told = upright_turn(source)
    moved = performed(motion, upright)
    body = xyzw_from_matrix(source.axes @ target.axes.T)
    fixed = corrections(source, target, None, flat_feet=False)
    turns, leader = body_turns(source, moved, target, fixed, body)
    shares = twist_shares(target, leader)
    turns = with_shared_twists(target, turns, shares)
    skeleton = target.skeleton
    root = int(np.argmin(skeleton.parents))
    local = local_of(skeleton, turns, root, np.tile(target.heads[root], (len(turns), 1)))
    result = Motion(motion.name, skeleton, motion.times, local, motion.morph_weights)
    led, twisting = set(leader.values()), {share.joint for share in shares}
    left = tuple(name for i, name in enumerate(source.skeleton.names) if i not in led)
    if whole == "motion":
        told += (
            "the character is a part of a body, without two whole legs: it stays in its place and takes the"
            f" motion of the joints it has; left out is that of {listed(left)}",
        )
    else:
        told += ("the motion is that of a part of a body: the rest of the character stays as it is",)
    told += notes
    if mode == "planted":
        told += ("no feet are planted",)
    return result, RetargetReport(
        "directions",
        matched=tuple((source.skeleton.names[i], skeleton.names[j]) for j, i in leader.items()),
        unmatched_source=left,
        unmatched_target=tuple(
            n for j, n in enumerate(skeleton.names) if j not in leader and j not in twisting
        ),
        shared_twist=tuple(skeleton.names[j] for j in sorted(twisting)),
        direction_error=direction_errors(source, moved.positions, target, result.world()[..., :3, 3]),
        notes=told,
    )
