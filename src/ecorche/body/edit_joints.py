"""Joint models of a rig, edited: type, anatomical frame, canonical offset, limits, sides and copies.

Every edit gives a whole rig, checked, and says what it did. A joint without a model of its own in the rig is
edited from what it has: the human default of its H-Anim name, if it is known by one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from ecorche.base.rotations import (
    inverse_xyzw,
    multiply_xyzw,
    normalise,
    rotate_xyzw,
    rotation_vector_from_xyzw,
    shortest_arc_xyzw,
)
from ecorche.body.character import Character
from ecorche.body.edited_rig import Edited, joint_called
from ecorche.body.joint_limits import JointLimits, joint_limits
from ecorche.document.files import Rig, frozen
from ecorche.document.problems import told_as_document_error
from ecorche.document.spec import SkeletonSpec
from ecorche.errors import SkeletonError
from ecorche.skeleton.edit_limits import (
    added_corner,
    direction_of_swing,
    moved_corner,
    removed_corner,
    with_angles,
    with_twist_key,
    without_twist_key,
)
from ecorche.skeleton.joint_types import changed_type, new_joint
from ecorche.skeleton.joint_values import joint_from_values, values_from_joint
from ecorche.skeleton.joints import Joint, Quaternion
from ecorche.skeleton.naming.recognise import recognise
from ecorche.skeleton.naming.vocabulary import mirrored as mirrored_name
from ecorche.skeleton.pose_joints import PosableJoints
from ecorche.skeleton.turns import turns_from_xyzw

Floats = npt.NDArray[np.float64]
Axis = Literal["x", "y", "z", "-x", "-y", "-z"]
Segment = Literal["parent", "child"]

_AXES: Mapping[str, tuple[int, float]] = {
    f"{sign}{axis}": (number, -1.0 if sign else 1.0)
    for sign in ("", "-")
    for number, axis in enumerate("xyz")
}
SAME_PLACE = 0.02
"""Joints are on two sides of one plane within this part of the body's height."""


class Model(NamedTuple):
    """The model of a joint and where it is from: the rig file, or human joints known by name."""

    joint: Joint
    origin: Literal["rig", "human"]


def posable_joints(character: Character, rig: Rig | None) -> PosableJoints:
    """The joints of a character with the models that its rig and its names give them."""
    limits = _limits(character, rig)
    return PosableJoints(character.skeleton, limits.names, limits.models)


def model_of(rig: Rig, character: Character, joint: str) -> Model | None:
    """The model a joint has, and where it is from; None where it has none."""
    number = joint_called(character, joint)
    limits = _limits(character, rig)
    name = limits.names[number]
    if name is None or name not in limits.models:
        return None
    return Model(limits.models[name], "rig" if joint in rig.spec.skeleton.joints else "human")


def with_model(rig: Rig, character: Character, joint: str, model: Joint | Mapping[str, object]) -> Edited:
    """The rig with a joint's model set, as a joint or as the plain values of the rig file."""
    joint_called(character, joint)
    made = model if isinstance(model, Joint) else _from_values(rig, joint, model)
    return _set(rig, joint, made, f"{joint!r} is a {_called(made)} joint")


def with_type(rig: Rig, character: Character, joint: str, model: str) -> Edited:
    """The rig with a joint of another type: frame and limits are kept as far as the other can hold them.

    A joint without a model gets a new one, along its bone.
    """
    number = joint_called(character, joint)
    _, bone = posable_joints(character, rig).segments(number)
    found = model_of(rig, character, joint)
    with _told(rig, joint):
        if found is None:
            made = new_joint(model, bone)
            return _set(rig, joint, made, f"{joint!r} is a {_called(made)} joint, 45° either way")
        made = changed_type(found.joint, model, bone)
    was = _called(found.joint)
    if made.model == found.joint.model:
        return Edited(rig, (f"{joint!r} is a {was} joint already",))
    return _set(rig, joint, made, f"{joint!r} is a {_called(made)} joint now; it was a {was} joint")


def with_frame(rig: Rig, character: Character, joint: str, frame_xyzw: npt.ArrayLike) -> Edited:
    """The rig with another anatomical frame of a joint, from its axes to the world's in the default pose.

    Polygon and ranges are told in the frame, so they turn along.
    """
    model = _required(rig, character, joint)
    with _told(rig, joint):
        made = replace(model, anatomical_frame_xyzw=_quaternion(frame_xyzw))
    angle = _angle(model.anatomical_frame_xyzw, made.anatomical_frame_xyzw)
    return _set(rig, joint, made, f"the anatomical frame of {joint!r} was turned by {angle:.1f}°")


def with_frame_in_pose(
    rig: Rig, character: Character, joint: str, local: Floats, world_xyzw: npt.ArrayLike
) -> Edited:
    """The rig with a joint's anatomical frame as it lies in the world in a pose (joints, 4, 4)."""
    number = joint_called(character, joint)
    base = posable_joints(character, rig).bases(local)[number]
    return with_frame(rig, character, joint, multiply_xyzw(inverse_xyzw(base), normalise(world_xyzw)))


def aligned(rig: Rig, character: Character, joint: str, axis: Axis, segment: Segment) -> Edited:
    """The rig with one axis of a joint's frame along its parent's or its child's segment.

    The frame is turned by the smallest angle. The child's segment is taken in the canonical pose.
    """
    number = joint_called(character, joint)
    model = _required(rig, character, joint)
    above, below = posable_joints(character, rig).segments(number)
    wanted = above if segment == "parent" else rotate_xyzw(model.canonical_offset_xyzw, below)
    if not wanted.any():
        raise SkeletonError(
            f"it has no {segment} segment to align with",
            where=joint,
            remedy="Two joints are in one place there: choose the other segment",
        )
    column, sign = _AXES[axis]
    now = rotate_xyzw(model.anatomical_frame_xyzw, sign * np.eye(3)[column])
    turned = multiply_xyzw(shortest_arc_xyzw(now, wanted), model.anatomical_frame_xyzw)
    edited = with_frame(rig, character, joint, turned)
    angle = _angle(model.anatomical_frame_xyzw, turned)
    line = f"{axis} of {joint!r} lies along its {segment}'s segment, turned by {angle:.1f}°"
    return Edited(edited.rig, (line,))


def with_offset(
    rig: Rig, character: Character, joint: str, offset_xyzw: npt.ArrayLike, *, carry_frame: bool = True
) -> Edited:
    """The rig with another canonical offset: what takes the default pose to the canonical pose.

    Args:
        rig: The rig.
        character: Its character.
        joint: The joint.
        offset_xyzw: The joint's rotation in the canonical pose.
        carry_frame: Whether the anatomical frame is turned along, so that it keeps to the limb.
    """
    model = _required(rig, character, joint)
    offset = normalise(np.asarray(offset_xyzw, np.float64))
    frame: npt.ArrayLike = model.anatomical_frame_xyzw
    if carry_frame:
        frame = multiply_xyzw(multiply_xyzw(offset, inverse_xyzw(model.canonical_offset_xyzw)), frame)
    with _told(rig, joint):
        made = replace(
            model, canonical_offset_xyzw=_quaternion(offset), anatomical_frame_xyzw=_quaternion(frame)
        )
    turns = ", ".join(f"{t:.1f}°" for t in turns_from_xyzw(offset))
    return _set(rig, joint, made, f"the canonical pose of {joint!r} is {turns} about left, up and forward")


def with_offset_of_pose(rig: Rig, character: Character, joint: str, local: Floats) -> Edited:
    """The rig with a joint's canonical pose taken from a pose (joints, 4, 4); the frame is turned along."""
    number = joint_called(character, joint)
    rotation = posable_joints(character, rig).rotations(local)[number]
    return with_offset(rig, character, joint, rotation)


def with_corner_moved(
    rig: Rig, character: Character, joint: str, corner: int, direction: npt.ArrayLike
) -> Edited:
    """The rig with one corner of a joint's polygon in another direction, in the anatomical frame."""
    with _told(rig, joint):
        made = moved_corner(_required(rig, character, joint), corner, direction)
    return _set(rig, joint, made, f"corner {corner} of {joint!r} was moved")


def with_corner_swung(
    rig: Rig, character: Character, joint: str, corner: int, swing: npt.ArrayLike
) -> Edited:
    """The rig with one corner of a joint's polygon at a swing about x and y [degrees]."""
    with _told(rig, joint):
        direction = direction_of_swing(swing)
    return with_corner_moved(rig, character, joint, corner, direction)


def with_corner_added(
    rig: Rig, character: Character, joint: str, side: int, direction: npt.ArrayLike | None = None
) -> Edited:
    """The rig with one more corner on a side of a joint's polygon; None puts it in the middle."""
    with _told(rig, joint):
        made = added_corner(_required(rig, character, joint), side, direction)
    return _set(rig, joint, made, f"{joint!r} has one more corner, between {side} and what was next")


def with_corner_removed(rig: Rig, character: Character, joint: str, corner: int) -> Edited:
    """The rig with one corner of a joint's polygon less."""
    with _told(rig, joint):
        made = removed_corner(_required(rig, character, joint), corner)
    return _set(rig, joint, made, f"corner {corner} of {joint!r} was removed")


def with_limit_angles(rig: Rig, character: Character, joint: str, angles: Mapping[str, object]) -> Edited:
    """The rig with other ranges and angles of a joint [degrees], see `edit_limits.with_angles`."""
    with _told(rig, joint):
        made = with_angles(_required(rig, character, joint), angles)
    return _set(rig, joint, made, f"{joint!r}: {', '.join(_limit_told(n, v) for n, v in angles.items())}")


def with_twist(rig: Rig, character: Character, joint: str, key: int | None, values: npt.ArrayLike) -> Edited:
    """The rig with a key of a joint's twist at other values, see `edit_limits.with_twist_key`."""
    with _told(rig, joint):
        made = with_twist_key(_required(rig, character, joint), key, values)
    what = "has one more key of twist" if key is None else f"has key {key} of its twist changed"
    return _set(rig, joint, made, f"{joint!r} {what}")


def without_twist(rig: Rig, character: Character, joint: str, key: int) -> Edited:
    """The rig with one key of a joint's twist less."""
    with _told(rig, joint):
        made = without_twist_key(_required(rig, character, joint), key)
    return _set(rig, joint, made, f"{joint!r} has key {key} of its twist no more")


def pasted(
    rig: Rig,
    character: Character,
    joint: str,
    model: Joint | Mapping[str, object],
    *,
    limits_only: bool = False,
    mirror: bool = False,
) -> Edited:
    """The rig with a joint's model copied from another.

    Args:
        rig: The rig.
        character: Its character.
        joint: The joint it is for.
        model: The copied model, of this rig or of any other.
        limits_only: Keep the joint's own frame and offset, if it has a model.
        mirror: Take the copy's mirror image.
    """
    joint_called(character, joint)
    made = model if isinstance(model, Joint) else _from_values(rig, joint, model)
    made = made.mirrored() if mirror else made
    own = model_of(rig, character, joint)
    if limits_only and own is not None:
        made = replace(
            made,
            anatomical_frame_xyzw=own.joint.anatomical_frame_xyzw,
            canonical_offset_xyzw=own.joint.canonical_offset_xyzw,
        )
    what = "limits were" if limits_only else "joint model was"
    return _set(rig, joint, made, f"a {_called(made)} {what} pasted to {joint!r}")


def mirrored(rig: Rig, character: Character, joint: str) -> Edited:
    """The rig with a joint's model mirrored to the other side."""
    model = _required(rig, character, joint)
    other = partner(character, rig, joint)
    if other is None:
        raise SkeletonError(
            "there is no such joint on the other side",
            where=joint,
            remedy="Copy its model and paste it, mirrored, to the joint you mean",
        )
    return _set(rig, other, model.mirrored(), f"the model of {joint!r} was mirrored to {other!r}")


def reset(rig: Rig, character: Character, joint: str) -> Edited:
    """The rig without a joint's own model: it has a human's again, if it is known by name, else none."""
    joint_called(character, joint)
    spec = rig.spec.skeleton
    if joint not in spec.joints:
        return Edited(rig, (f"{joint!r} has no model of its own in the rig",))
    left = {name: of.model_dump() for name, of in spec.joints.items() if name != joint}
    edited = _with_joints(rig, left)
    now = model_of(edited, character, joint)
    told = (
        "it has none now" if now is None else f"it is the human default again, a {_called(now.joint)} joint"
    )
    return Edited(edited, (f"the model of {joint!r} was deleted; {told}",))


def with_limits_kept(rig: Rig, kept: bool) -> Edited:
    """The rig with motion kept within the limits of its joints, or left as it is."""
    skeleton = rig.spec.skeleton.model_copy(update={"limits": "enforce" if kept else "off"})
    line = (
        "motion is kept within the joints' limits" if kept else "motion is left as it is, beyond limits too"
    )
    return Edited(replace(rig, spec=rig.spec.model_copy(update={"skeleton": skeleton})), (line,))


def partner(character: Character, rig: Rig | None, joint: str) -> str | None:
    """The same joint on the other side: by its H-Anim name, else by its place at bind; None in the middle."""
    skeleton, number = character.skeleton, joint_called(character, joint)
    canonical = recognise(skeleton, _mapping(rig)).canonical
    name = canonical[number]
    if name is not None:
        other = mirrored_name(name)
        return skeleton.names[canonical.index(other)] if other != name and other in canonical else None
    heads, tips = skeleton.bind_world[:, :3, 3], skeleton.tail_positions()
    size = SAME_PLACE * float(np.ptp(heads, axis=0).max())
    flip = np.array([-1.0, 1.0, 1.0])
    # a bone reaches to the other side where both its ends are mirrored
    apart = np.linalg.norm(heads - heads[number] * flip, axis=1)
    apart += np.linalg.norm(tips - tips[number] * flip, axis=1)
    nearest = int(np.argmin(apart))
    return skeleton.names[nearest] if nearest != number and apart[nearest] < size else None


def _required(rig: Rig, character: Character, joint: str) -> Joint:
    found = model_of(rig, character, joint)
    if found is None:
        raise SkeletonError("it has no joint model", where=joint, remedy="Choose its type first")
    return found.joint


def _set(rig: Rig, joint: str, model: Joint, line: str) -> Edited:
    spec = rig.spec.skeleton
    values = frozen(values_from_joint(model))
    others = {name: of.model_dump() for name, of in spec.joints.items()}
    return Edited(_with_joints(rig, {**others, joint: values}), (line,))


def _with_joints(rig: Rig, joints: Mapping[str, object]) -> Rig:
    values = rig.spec.skeleton.model_dump() | {"joints": joints}
    with told_as_document_error(rig.source):
        skeleton = SkeletonSpec.model_validate(values)
    return replace(rig, spec=rig.spec.model_copy(update={"skeleton": skeleton}))


def _from_values(rig: Rig, joint: str, values: Mapping[str, object]) -> Joint:
    with _told(rig, joint):
        return joint_from_values(values)


def _limits(character: Character, rig: Rig | None) -> JointLimits:
    return joint_limits(character.skeleton, rig, _mapping(rig))


def _mapping(rig: Rig | None) -> Mapping[str, str] | None:
    return None if rig is None else rig.spec.skeleton.mapping or None


@contextmanager
def _told(rig: Rig, joint: str) -> Iterator[None]:
    """Tell with the joint's name what a model cannot be."""
    try:
        yield
    except SkeletonError as error:
        where = f"{rig.source}, joint {joint!r}" if rig.source else f"joint {joint!r}"
        raise SkeletonError(error.what, where=where, remedy=error.remedy) from error


def _called(model: Joint) -> str:
    return model.model.replace("_", "-")


def _limit_told(name: str, value: object) -> str:
    if isinstance(value, list | tuple) and len(value) == 2:
        return f"{name} from {value[0]:g}° to {value[1]:g}°"
    return f"{name} {value:g}°" if isinstance(value, int | float) else f"{name} {value}"


def _angle(a: npt.ArrayLike, b: npt.ArrayLike) -> float:
    """From one rotation to another [degrees]."""
    return float(np.degrees(np.linalg.norm(rotation_vector_from_xyzw(multiply_xyzw(b, inverse_xyzw(a))))))


def _quaternion(q: npt.ArrayLike) -> Quaternion:
    values = np.asarray(q, np.float64)
    if values.shape != (4,):
        raise SkeletonError(f"a rotation has shape {values.shape}", remedy="Give x, y, z and w")
    unit = normalise(values)
    return (float(unit[0]), float(unit[1]), float(unit[2]), float(unit[3]))
