"""Which deforming bone hangs on which, also where control bones stand between them, as Rigify's do."""

from collections.abc import Iterator
from typing import Any

NEAR = 1e-3
"""Bones stand at one place whose heads are no farther apart than this part of their length."""
ALONG = 0.9999
"""And whose directions have this cosine at least."""


def joint_parents(bones: list[Any], everyone: list[Any]) -> list[int]:
    """Number of the joint that each deforming bone hangs on, -1 at a root.

    It is the nearest bone above that deforms, or that stands where a deforming bone does: the upper arm of a
    control rig hangs on a copy of the shoulder, and the bone that deforms the shoulder hangs beside it. Where
    that leads nowhere, control bones that stand where the bone itself does are asked in its place.

    Args:
        bones: Those that deform.
        everyone: All bones of the armature.
    """
    number = {bone.name: n for n, bone in enumerate(bones)}
    controls = [bone for bone in everyone if bone.name not in number]
    parents = [-1 if bone.parent is None else number.get(bone.parent.name, -1) for bone in bones]
    for n, bone in enumerate(bones):
        if parents[n] < 0:
            starts = (bone, *(other for other in controls if _at_one_place(bone, other)))
            above = (found for start in starts for found in _joints_above(start, bones, number))
            parents[n] = next((found for found in above if n not in _chain(found, parents)), -1)
    return parents


def _joints_above(bone: Any, bones: list[Any], number: dict[str, int]) -> Iterator[int]:
    """Numbers of the joints that the bones above a bone are or stand for, the nearest first."""
    while (bone := bone.parent) is not None:
        if bone.name in number:
            yield number[bone.name]
        else:
            yield from (n for n, joint in enumerate(bones) if _at_one_place(joint, bone))


def _chain(joint: int, parents: list[int]) -> Iterator[int]:
    """A joint and all that it hangs on so far."""
    while joint >= 0:
        yield joint
        joint = parents[joint]


def _at_one_place(one: Any, other: Any) -> bool:
    if (one.head_local - other.head_local).length > NEAR * one.length:
        return False
    first, second = (bone.tail_local - bone.head_local for bone in (one, other))
    return bool(first.normalized().dot(second.normalized()) >= ALONG)
