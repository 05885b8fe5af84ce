"""Put a motion made for one skeleton on another, across rest poses, proportions and joint counts.

Two modes for human figures:

- ``"directions"``: every limb points where the source's points (`align`, `turns`), and the lowest sole
  is as high above the floor, scaled by leg length, as the source's: on it, when the source's is.
- ``"planted"``: the soles are where the source's are, scaled by leg length, and the legs bend to reach
  them (`feet`); the rest of the body as above. Feet are flat when the source's are.

A part of a figure, such as a bust, takes the motion of the joints it has, and gives a whole one theirs
(`part`). Other creatures are matched by equal joint names (`by_name`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from ecorche.base.names import suggestion
from ecorche.errors import MotionError
from ecorche.skeleton.motion import Motion
from ecorche.skeleton.naming import Naming, recognise
from ecorche.skeleton.retarget.by_name import retarget_by_name
from ecorche.skeleton.retarget.figure import figure_of
from ecorche.skeleton.retarget.human import retarget_human
from ecorche.skeleton.retarget.part import part_of, retarget_part
from ecorche.skeleton.retarget.report import RetargetReport
from ecorche.skeleton.skeleton import Skeleton

MODES = ("directions", "planted")


@dataclass(frozen=True, eq=False)
class Retargeted:
    """A motion on its new skeleton, and what was done to it."""

    motion: Motion
    report: RetargetReport


def retarget(
    motion: Motion,
    target: Skeleton,
    *,
    mode: str = "directions",
    mapping: Mapping[str, str] | None = None,
    source_mapping: Mapping[str, str] | None = None,
    source_naming: Naming | None = None,
    target_naming: Naming | None = None,
) -> Retargeted:
    """The motion on another skeleton, and a report of what matched and how well.

    Args:
        motion: A motion on a skeleton of its own.
        target: The skeleton to move.
        mode: ``"directions"`` keeps limb directions, ``"planted"`` keeps the feet in place.
        mapping: Target joint names to H-Anim names, where they are not recognised.
        source_mapping: The same for the motion's skeleton.
        source_naming, target_naming: What is what, where it is already known.

    A motion made for the same skeleton (same names, tree and bind pose) passes bit for bit.
    """
    if mode not in MODES:
        raise MotionError(f"there is no retargeting mode {mode!r}", remedy=suggestion(mode, MODES))
    if _same(motion.skeleton, target):
        names = tuple((name, name) for name in target.names)
        moved = Motion(motion.name, target, motion.times, motion.local, motion.morph_weights)
        return Retargeted(moved, RetargetReport("unchanged", matched=names))
    source_naming = source_naming or recognise(motion.skeleton, source_mapping)
    target_naming = target_naming or recognise(target, mapping)
    source, figure = figure_of(motion.skeleton, source_naming), figure_of(target, target_naming)
    if source is not None and figure is None and not _cut_from(motion.skeleton, target):
        part = part_of(target, target_naming)
        if part is not None and not source.joints.keys().isdisjoint(part[0].joints):
            return Retargeted(*retarget_part(motion, source, part[0], mode, part[1]))
    if source is None and figure is not None:
        part = part_of(motion.skeleton, source_naming)
        if part is not None and not figure.joints.keys().isdisjoint(part[0].joints):
            # what has no pelvis moves from its root on
            piece = replace(part[0], pelvis=int(np.argmin(motion.skeleton.parents)))
            return Retargeted(*retarget_part(motion, piece, figure, mode, part[1], whole="character"))
    if source is None or figure is None:
        lacking = [w for w, f in (("the motion's", source), ("the character's", figure)) if f is None]
        why = f"a human's hips, knees and ankles were not found in {' and '.join(lacking)} skeleton"
        return Retargeted(*retarget_by_name(motion, target, why))
    return Retargeted(*retarget_human(motion, source, figure, mode))


def _cut_from(whole: Skeleton, part: Skeleton) -> bool:
    """Whether a skeleton is some joints of another as they are, so that their matrices fit."""
    number = {name: j for j, name in enumerate(whole.names)}
    if not set(part.names) <= number.keys():
        return False
    same = [number[name] for name in part.names]
    return np.array_equal(part.bind_local, whole.bind_local[same])


def _same(a: Skeleton, b: Skeleton) -> bool:
    return a is b or (
        a.names == b.names
        and np.array_equal(a.parents, b.parents)
        and np.array_equal(a.bind_local, b.bind_local)
    )
