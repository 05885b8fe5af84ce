"""Answers about joints: posing them, and editing their models."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ecorche.base.rotations import (
    inverse_xyzw,
    normalise,
    rotate_xyzw,
    rotation_vector_from_xyzw,
    shortest_arc_xyzw,
)
from ecorche.body import edit_joints
from ecorche.body.edited_rig import Edited
from ecorche.document.files import Rig, frozen
from ecorche.errors import SkeletonError
from ecorche.skeleton.enforce_limits import broken_limits
from ecorche.skeleton.joint_values import values_from_joint
from ecorche.skeleton.joints import Z_AXIS, Joint
from ecorche.skeleton.limit_drawing import Arc, LimitDrawing, limit_drawing, parameter_ranges, polygon_of
from ecorche.skeleton.motion import Motion, held
from ecorche.skeleton.pose_joints import PosableJoints, Posed
from ecorche.skeleton.turns import turns_from_xyzw, xyzw_from_turns
from ecorche.studio.answers.table import Answers, answering
from ecorche.studio.messages import joints as asked_of
from ecorche.studio.messages.base import Done
from ecorche.studio.played import PlayedMotion
from ecorche.studio.session import Session

ANSWERS: Answers = {}
Floats = npt.NDArray[np.float64]


@dataclass(eq=False)
class Kept:
    """What posing keeps for a page: joints of one revision, and where a gesture began."""

    revision: int = -1
    joints: PosableJoints | None = None
    gesture: str | None = None
    began: Floats | None = None


def kept_for(session: Session) -> Kept:
    """What posing keeps for this page."""
    found = session.kept.setdefault("joints", Kept())
    assert isinstance(found, Kept)
    return found


def joints_of(session: Session) -> PosableJoints:
    """The joints of the page's character with the models they have now."""
    kept, document = kept_for(session), session.document
    if kept.joints is None or kept.revision != document.revision:
        kept.joints = edit_joints.posable_joints(document.body.character, document.rig)
        kept.revision = document.revision
    return kept.joints


def pose_of(session: Session) -> Floats:
    """The pose that the page shows, of its own or of a motion, (joints, 4, 4)."""
    if session.moment is None:
        return session.local
    moment = session.moment()
    local: Floats = moment.live.motion.local[moment.index]
    return local


def take(session: Session, local: Floats) -> None:
    """Show a pose; a motion that was shown is left where it is."""
    session.local = np.array(local)
    session.moment = None


def now(session: Session, joint: str, rig: Rig | None = None) -> asked_of.JointNow:
    """How a joint stands in what is shown, with the models of another rig where one is given."""
    character = session.document.body.character
    joints = joints_of(session) if rig is None else edit_joints.posable_joints(character, rig)
    rig = session.document.rig if rig is None else rig
    local = pose_of(session)
    told = joints.tell_one(local, joint)
    found = edit_joints.model_of(rig, character, joint)
    number = joints.number(joint)
    model = joints.model(number)
    ranges = {} if model is None else parameter_ranges(model, joints.rotations(local)[number])
    drawn = limit_drawing(joints, local, joint)
    return asked_of.JointNow(
        joint=joint,
        canonical=_canonical(told.canonical),
        partner=edit_joints.partner(character, rig, joint),
        origin=None if found is None else found.origin,
        values=None if found is None else frozen(values_from_joint(found.joint)),
        offset=None if found is None else _three(turns_from_xyzw(found.joint.canonical_offset_xyzw)),
        swings=() if found is None else _swings(found.joint),
        angles=tuple(
            asked_of.AngleTold(name=name, degrees=degrees, low=ranges[name][0], high=ranges[name][1])
            for name, degrees in told.parameters.items()
        ),
        turns=told.turns,
        beyond=told.beyond_degrees,
        limits=None if drawn is None else _limits(drawn),
    )


@answering(ANSWERS, asked_of.JointGet)
def get(session: Session, asked: asked_of.JointGet) -> asked_of.JointTurned:
    """How a joint stands."""
    return asked_of.JointTurned(now=now(session, asked.joint))


@answering(ANSWERS, asked_of.JointPose)
def pose(session: Session, asked: asked_of.JointPose) -> asked_of.JointTurned:
    """Turn a joint."""
    joints, kept = joints_of(session), kept_for(session)
    if asked.gesture is None or asked.gesture != kept.gesture or kept.began is None:
        kept.gesture, kept.began = asked.gesture, np.array(pose_of(session))
    posed = _posed(joints, kept.began, asked)
    take(session, posed.local)
    lines = () if posed.held_degrees < 0.05 else (_held(asked.joint, posed.held_degrees),)
    return asked_of.JointTurned(now=now(session, asked.joint), held=posed.held_degrees, lines=lines)


def _posed(joints: PosableJoints, began: Floats, asked: asked_of.JointPose) -> Posed:
    given = [way for way in (asked.angles, asked.turns, asked.turn) if way is not None]
    if len(given) != 1:
        raise SkeletonError(
            "it is to be turned in no way, or in several", where=asked.joint, remedy="Give one of them"
        )
    if asked.angles is not None:
        return joints.with_parameters(began, asked.joint, asked.angles, limits=asked.limits)
    if asked.turns is not None:
        return joints.with_turns(began, asked.joint, asked.turns, limits=asked.limits)
    return joints.turned(began, asked.joint, normalise(asked.turn or ()), limits=asked.limits)


def _held(joint: str, degrees: float) -> str:
    return f"{joint!r} stopped at its limit, {degrees:.1f}° short of what was asked"


@answering(ANSWERS, asked_of.JointRest)
def rest(session: Session, asked: asked_of.JointRest) -> asked_of.JointTurned:
    """A joint, or all below it too, back to bind."""
    joints = joints_of(session)
    skeleton, number = joints.skeleton, joints.number(asked.joint)
    local, back = np.array(pose_of(session)), {number}
    for joint, parent in enumerate(skeleton.parents.tolist()):
        if asked.below and parent in back:
            back.add(joint)
    for joint in back:
        local[joint] = skeleton.bind_local[joint]
    take(session, local)
    return asked_of.JointTurned(now=now(session, asked.joint))


@answering(ANSWERS, asked_of.PoseStand)
def stand(session: Session, _: asked_of.PoseStand) -> Done:
    """All joints to the standing pose."""
    take(session, joints_of(session).default_pose())
    return Done()


@answering(ANSWERS, asked_of.PoseWithin)
def within(session: Session, _: asked_of.PoseWithin) -> Done:
    """All joints within their limits."""
    joints, local = joints_of(session), pose_of(session)
    beyond = [row.joint for row in joints.tell(local) if row.beyond_degrees > 0.0]
    posed = joints.within_limits(local)
    take(session, posed.local)
    if not beyond:
        return Done(lines=("all joints are within their limits already",))
    turned = f"{beyond[0]!r} was" if len(beyond) == 1 else f"{len(beyond)} joints were"
    return Done(lines=(f"{turned} turned back, by at most {posed.held_degrees:.1f}°",))


@answering(ANSWERS, asked_of.LimitsCheck)
def check(session: Session, _: asked_of.LimitsCheck) -> asked_of.LimitsBroken:
    """Where the motion that is loaded, or the pose, breaks limits."""
    joints, motion = joints_of(session), loaded(session)
    judged = held(joints.skeleton, session.local) if motion is None else motion
    rows = broken_limits(judged, joints.canonical_names, joints.models)
    return asked_of.LimitsBroken(
        motion=None if motion is None else motion.name,
        judged=sum(joints.model(joint) is not None for joint in range(joints.skeleton.joint_count)),
        rows=tuple(
            asked_of.BrokenTold(joint=r.joint, spans=r.spans, worst=r.worst_degrees, at=r.worst_time)
            for r in rows
        ),
    )


def loaded(session: Session) -> Motion | None:
    """The motion that the page has loaded, as it is put on the character."""
    played = session.kept.get("motion")
    player = played.player if isinstance(played, PlayedMotion) else None
    return None if player is None else player.motion


@answering(ANSWERS, asked_of.LimitsKeep)
def keep(session: Session, asked: asked_of.LimitsKeep) -> Done:
    """Whether motion is kept within the limits."""
    edited = edit_joints.with_limits_kept(session.document.rig, asked.kept)
    label = "keep motion within limits" if asked.kept else "leave motion as it is"
    return Done(lines=session.document.edit(edited, label, areas=("joints",), gesture=asked.gesture))


Editing = Callable[[Session, Any], Edited]


def _edits(kind: type[asked_of.JointEdit], label: str) -> Callable[[Editing], Editing]:
    """Enter a function that gives an edited rig as what answers edits of a kind."""

    def enter(edit: Editing) -> Editing:
        def answer(session: Session, asked: asked_of.JointEdit) -> asked_of.JointTurned:
            edited = edit(session, asked)
            if asked.preview:
                return asked_of.JointTurned(now=now(session, asked.joint, edited.rig), lines=edited.lines)
            lines = session.document.edit(
                edited,
                f"{label} of {asked.joint}",
                areas=("joints",),
                names=(asked.joint,),
                gesture=asked.gesture,
            )
            return asked_of.JointTurned(now=now(session, asked.joint), lines=lines)

        answering(ANSWERS, kind)(answer)
        return edit

    return enter


def _here(session: Session, asked: asked_of.JointEdit) -> tuple[Any, Any, str]:
    return session.document.rig, session.document.body.character, asked.joint


@_edits(asked_of.JointType, "type")
def _type(session: Session, asked: asked_of.JointType) -> Edited:
    return edit_joints.with_type(*_here(session, asked), asked.model)


@_edits(asked_of.JointFrame, "frame")
def _frame(session: Session, asked: asked_of.JointFrame) -> Edited:
    return edit_joints.with_frame_in_pose(*_here(session, asked), pose_of(session), asked.frame)


@_edits(asked_of.JointAlign, "frame")
def _align(session: Session, asked: asked_of.JointAlign) -> Edited:
    return edit_joints.aligned(*_here(session, asked), asked.axis, asked.segment)


@_edits(asked_of.JointOffset, "canonical pose")
def _offset(session: Session, asked: asked_of.JointOffset) -> Edited:
    here = _here(session, asked)
    if asked.turns is None:
        joints = joints_of(session)
        rotation = joints.rotations(pose_of(session))[joints.number(asked.joint)]
        return edit_joints.with_offset(*here, rotation, carry_frame=asked.carry)
    return edit_joints.with_offset(*here, xyzw_from_turns(asked.turns), carry_frame=asked.carry)


@_edits(asked_of.JointCorner, "corner")
def _corner(session: Session, asked: asked_of.JointCorner) -> Edited:
    here = _here(session, asked)
    if asked.swing is not None:
        return edit_joints.with_corner_swung(*here, asked.corner, asked.swing)
    drawn = limit_drawing(joints_of(session), pose_of(session), asked.joint)
    if drawn is None or asked.to is None:
        raise SkeletonError("it is not told where to", where=asked.joint, remedy="Give a point")
    direction = rotate_xyzw(inverse_xyzw(drawn.frame_xyzw), np.asarray(asked.to) - drawn.centre)
    return edit_joints.with_corner_moved(*here, asked.corner, direction)


@_edits(asked_of.JointAddCorner, "corners")
def _add_corner(session: Session, asked: asked_of.JointAddCorner) -> Edited:
    return edit_joints.with_corner_added(*_here(session, asked), asked.side)


@_edits(asked_of.JointRemoveCorner, "corners")
def _remove_corner(session: Session, asked: asked_of.JointRemoveCorner) -> Edited:
    return edit_joints.with_corner_removed(*_here(session, asked), asked.corner)


@_edits(asked_of.JointRanges, "limits")
def _ranges(session: Session, asked: asked_of.JointRanges) -> Edited:
    return edit_joints.with_limit_angles(*_here(session, asked), asked.values)


@_edits(asked_of.JointTwistKey, "twist")
def _twist_key(session: Session, asked: asked_of.JointTwistKey) -> Edited:
    here = _here(session, asked)
    if asked.values is not None:
        return edit_joints.with_twist(*here, asked.key, asked.values)
    if asked.key is None:
        raise SkeletonError("no key was named", where=asked.joint, remedy="Choose one")
    return edit_joints.without_twist(*here, asked.key)


@_edits(asked_of.JointPaste, "pasted model")
def _paste(session: Session, asked: asked_of.JointPaste) -> Edited:
    values = asked.model.model_dump()
    here = _here(session, asked)
    return edit_joints.pasted(*here, values, limits_only=asked.limits_only, mirror=asked.mirror)


@_edits(asked_of.JointMirror, "mirror image")
def _mirror(session: Session, asked: asked_of.JointMirror) -> Edited:
    return edit_joints.mirrored(*_here(session, asked))


@_edits(asked_of.JointReset, "default")
def _reset(session: Session, asked: asked_of.JointReset) -> Edited:
    return edit_joints.reset(*_here(session, asked))


def _limits(drawn: LimitDrawing) -> asked_of.LimitsTold:
    return asked_of.LimitsTold(
        centre=_three(drawn.centre),
        radius=drawn.radius,
        frame=(*_three(drawn.frame_xyzw[:3]), float(drawn.frame_xyzw[3])),
        canonical=_three(drawn.canonical),
        limb=_three(drawn.limb),
        inside=drawn.inside,
        corners=() if drawn.corners is None else _rows(drawn.corners),
        border=() if drawn.border is None else _rows(drawn.border),
        bend=None if drawn.bend is None else _arc(drawn.bend),
        twist=None if drawn.twist is None else _arc(drawn.twist),
    )


def _arc(arc: Arc) -> asked_of.ArcTold:
    low, high, at = arc.degrees
    return asked_of.ArcTold(
        angle=arc.angle,
        low=low,
        high=high,
        now=at,
        centre=_three(arc.centre),
        points=_rows(arc.points),
        zero=_three(arc.zero),
        needle=_three(arc.needle),
        beyond=arc.beyond,
    )


def _swings(model: Joint) -> tuple[tuple[float, float], ...]:
    """Corners of a polygon as swings about x and y [degrees]."""
    polygon = polygon_of(model)
    if polygon is None:
        return ()
    swings = np.degrees(rotation_vector_from_xyzw(shortest_arc_xyzw(Z_AXIS, polygon.corners)))
    return tuple((float(x), float(y)) for x, y, _ in swings)


def _canonical(name: str | None) -> str | None:
    # a joint that only the rig limits goes by a name made of its own
    return None if name is None or name.startswith("own ") else name


def _three(values: npt.ArrayLike) -> tuple[float, float, float]:
    x, y, z = np.asarray(values, np.float64).tolist()
    return (x, y, z)


def _rows(values: Floats) -> tuple[tuple[float, float, float], ...]:
    return tuple(_three(row) for row in values)
