"""Messages about joints: how one stands, posing it, its model and limits, poses in files, limits broken."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from ecorche.document.joint_spec import JointSpec
from ecorche.studio.messages.base import Done, Edit, Message, Replied, Reply, Request

Vector = tuple[float, float, float]
Quaternion = tuple[float, float, float, float]
Model = Literal["revolute", "knee", "swing", "ball_and_socket"]
PoseName = Annotated[str, Field(pattern=r"^[^/\\:.\x00-\x1f][^/\\:\x00-\x1f]{0,99}$")]
"""A pose file beside the rig, without its suffix."""


class AngleTold(Message):
    """One of a joint's own angles [degrees].

    Attributes:
        name: As its model calls it.
        degrees: What it is now.
        low, high: Its range at the joint's other angles.
    """

    name: str
    degrees: float
    low: float
    high: float


class ArcTold(Message):
    """The range of an angle as an arc in the world [m].

    Attributes:
        angle: Its name.
        low, high, now: In degrees.
        centre: Of the arc.
        points: From the lowest to the highest angle.
        zero, needle: Where the angle is zero, and where it is now.
        beyond: Whether it is beyond its range.
    """

    angle: str
    low: float
    high: float
    now: float
    centre: Vector
    points: tuple[Vector, ...]
    zero: Vector
    needle: Vector
    beyond: bool


class LimitsTold(Message):
    """What to draw of a joint's limits in the world [m].

    Attributes:
        centre: The joint.
        radius: Of the sphere of directions.
        frame: The anatomical frame, xyzw.
        canonical, limb: Where the limb points in the canonical pose and now, unit directions.
        inside: Whether it may point there.
        corners: Of the polygon on the sphere; none for hinges.
        border: Its sides, closed.
        bend, twist: Arcs of the angles that have one.
    """

    centre: Vector
    radius: float
    frame: Quaternion
    canonical: Vector
    limb: Vector
    inside: bool
    corners: tuple[Vector, ...]
    border: tuple[Vector, ...]
    bend: ArcTold | None
    twist: ArcTold | None


class JointNow(Message):
    """How a joint stands in what the page shows.

    Attributes:
        joint: Its name.
        canonical: Its H-Anim name; None where it has none.
        partner: The joint on the other side; None in the middle.
        origin: Whether its model is the rig's own or a human's; None without a model.
        values: The model as the rig file holds it.
        offset: The canonical offset as turns about left, up and forward [degrees].
        swings: Corners of the polygon as swings about x and y [degrees].
        angles: Its own angles.
        turns: Its rotation as turns about left, up and forward, from the standing pose [degrees].
        beyond: How far it is beyond its limits [degrees].
        limits: What to draw of them; None without a model.
    """

    joint: str
    canonical: str | None
    partner: str | None
    origin: Literal["rig", "human"] | None
    values: JointSpec | None
    offset: Vector | None
    swings: tuple[tuple[float, float], ...]
    angles: tuple[AngleTold, ...]
    turns: Vector
    beyond: float
    limits: LimitsTold | None


class JointTurned(Reply):
    """How the joint stands now.

    Attributes:
        now: The joint.
        held: By how far it was held back at its limits [degrees]; zero where it was not.
        lines: What was done, a sentence each.
    """

    now: JointNow
    held: float = 0.0
    lines: tuple[str, ...] = ()


class JointGet(Request):
    """How a joint stands."""

    reply: ClassVar[Replied] = JointTurned
    type: Literal["joint.get"] = "joint.get"
    joint: str


class JointPose(Request):
    """Turn a joint, by one of the three; the limb stops at its limits, if they are kept.

    Attributes:
        joint: Its name.
        angles: Some of its own angles [degrees].
        turns: About left, up and forward, from the standing pose [degrees].
        turn: About axes of the world, xyzw, from where it was when the gesture began.
        limits: Whether they are kept.
        gesture: All turns of one gesture begin at the same pose.
    """

    reply: ClassVar[Replied] = JointTurned
    type: Literal["joint.pose"] = "joint.pose"
    joint: str
    angles: Mapping[str, float] | None = None
    turns: Vector | None = None
    turn: Quaternion | None = None
    limits: bool = True
    gesture: str | None = None


class JointRest(Request):
    """One joint, or all below it too, back to bind."""

    reply: ClassVar[Replied] = JointTurned
    type: Literal["joint.rest"] = "joint.rest"
    joint: str
    below: bool = False


class PoseStand(Request):
    """All joints to the standing pose, from which turns are counted."""

    type: Literal["pose.stand"] = "pose.stand"


class PoseWithin(Request):
    """All joints within their limits."""

    type: Literal["pose.within"] = "pose.within"


class JointEdit(Edit):
    """A change of a joint's model.

    Attributes:
        joint: Its name.
        preview: Tell what it would be, and leave the rig as it is.
    """

    reply: ClassVar[Replied] = JointTurned
    joint: str
    preview: bool = False


class JointType(JointEdit):
    """Another type; frame and limits are kept as far as it can hold them."""

    type: Literal["joint.type"] = "joint.type"
    model: Model


class JointFrame(JointEdit):
    """Another anatomical frame, as it lies in the world in what is shown, xyzw."""

    type: Literal["joint.frame"] = "joint.frame"
    frame: Quaternion


class JointAlign(JointEdit):
    """An axis of the frame along a segment."""

    type: Literal["joint.align"] = "joint.align"
    axis: Literal["x", "y", "z", "-x", "-y", "-z"]
    segment: Literal["parent", "child"]


class JointOffset(JointEdit):
    """Another canonical pose.

    Attributes:
        turns: About left, up and forward [degrees]; None takes what is shown.
        carry: Whether the frame turns along.
    """

    type: Literal["joint.offset"] = "joint.offset"
    turns: Vector | None = None
    carry: bool = True


class JointCorner(JointEdit):
    """A corner of the polygon elsewhere.

    Attributes:
        corner: Its number.
        to: Towards a point of the world [m]; or
        swing: about x and y [degrees].
    """

    type: Literal["joint.corner"] = "joint.corner"
    corner: int
    to: Vector | None = None
    swing: tuple[float, float] | None = None


class JointAddCorner(JointEdit):
    """One more corner, in the middle of the side that begins at a corner."""

    type: Literal["joint.add_corner"] = "joint.add_corner"
    side: int


class JointRemoveCorner(JointEdit):
    """One corner less."""

    type: Literal["joint.remove_corner"] = "joint.remove_corner"
    corner: int


class JointRanges(JointEdit):
    """Other ranges and angles of the limits [degrees]: two numbers for a range, one for an angle."""

    type: Literal["joint.ranges"] = "joint.ranges"
    values: Mapping[str, tuple[float, float] | float]


class JointTwistKey(JointEdit):
    """A key of the twist: swing x, swing y, lowest and highest twist [degrees].

    Attributes:
        key: Its number; None for one more.
        values: None takes it away.
    """

    type: Literal["joint.twist_key"] = "joint.twist_key"
    key: int | None
    values: Quaternion | None


class JointPaste(JointEdit):
    """A model copied from a joint.

    Attributes:
        model: The copy.
        limits_only: Keep the joint's own frame and offset.
        mirror: Take the mirror image.
    """

    type: Literal["joint.paste"] = "joint.paste"
    model: JointSpec
    limits_only: bool = False
    mirror: bool = False


class JointMirror(JointEdit):
    """The joint's model to the joint on the other side."""

    type: Literal["joint.mirror"] = "joint.mirror"


class JointReset(JointEdit):
    """No model of its own any more: a human's, where it is known by name."""

    type: Literal["joint.reset"] = "joint.reset"


class LimitsKeep(Edit):
    """Whether motion is kept within the limits, in bakes too."""

    type: Literal["limits.keep"] = "limits.keep"
    kept: bool


class BrokenTold(Message):
    """A joint that a motion takes beyond its limits.

    Attributes:
        joint: Its name.
        spans: First and last time of each stretch [s].
        worst: By how far at worst [degrees].
        at: When [s].
    """

    joint: str
    spans: tuple[tuple[float, float], ...]
    worst: float
    at: float


class LimitsBroken(Reply):
    """Where limits are broken, the worst joint first.

    Attributes:
        motion: The motion's name; None where a pose was judged.
        judged: How many joints have limits.
        rows: The joints beyond them.
    """

    motion: str | None
    judged: int
    rows: tuple[BrokenTold, ...]


class LimitsCheck(Request):
    """Where the motion that is loaded, or the pose where none is, breaks limits."""

    reply: ClassVar[Replied] = LimitsBroken
    type: Literal["limits.check"] = "limits.check"


class PosesTold(Reply):
    """Pose files beside the rig, without their suffix; None where the rig has no folder yet."""

    names: tuple[str, ...] | None


class PoseList(Request):
    """Pose files beside the rig."""

    reply: ClassVar[Replied] = PosesTold
    type: Literal["pose.list"] = "pose.list"


class PoseSave(Request):
    """Write what is shown to a pose file beside the rig.

    Attributes:
        name: Of the file, without its suffix.
        replace: Whether one of that name may be overwritten.
    """

    type: Literal["pose.save"] = "pose.save"
    name: PoseName
    replace: bool = False


class PoseLoad(Request):
    """Take the pose of a file beside the rig."""

    type: Literal["pose.load"] = "pose.load"
    name: PoseName


class PoseText(Reply):
    """A pose as the text of a pose file.

    Attributes:
        text: Of the file.
        lines: What it does not say, a sentence each.
    """

    text: str
    lines: tuple[str, ...]


class PoseWrite(Request):
    """What is shown as the text of a pose file, to keep it elsewhere."""

    reply: ClassVar[Replied] = PoseText
    type: Literal["pose.write"] = "pose.write"


class PoseRead(Request):
    """Take the pose in the text of a pose file from elsewhere."""

    type: Literal["pose.read"] = "pose.read"
    name: str
    text: Annotated[str, Field(max_length=4_000_000)]


REQUESTS = (
    JointGet,
    JointPose,
    JointRest,
    PoseStand,
    PoseWithin,
    JointType,
    JointFrame,
    JointAlign,
    JointOffset,
    JointCorner,
    JointAddCorner,
    JointRemoveCorner,
    JointRanges,
    JointTwistKey,
    JointPaste,
    JointMirror,
    JointReset,
    LimitsKeep,
    LimitsCheck,
    PoseList,
    PoseSave,
    PoseLoad,
    PoseWrite,
    PoseRead,
)
EVENTS = ()
__all__ = ["EVENTS", "REQUESTS", "Done"]
