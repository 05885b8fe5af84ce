"""Messages about a page's motion: what is loaded, which moment is shown, what swings, activation curves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from ecorche.studio.messages.base import Message, Replied, Reply, Request

Time = Annotated[float, Field(allow_inf_nan=False)]
Swinging = Literal["off", "oscillation", "fat", "springs"]


class MotionShown(Message):
    """A motion that is loaded.

    Attributes:
        name: Of the motion.
        source: The file it is from; None for a clip of the character.
        begins: Time of the first frame [s].
        ends: Of the last [s].
        frames: How many there are.
        rate: Frames a second.
    """

    name: str
    source: str | None
    begins: float
    ends: float
    frames: int
    rate: float


class MotionTold(Reply):
    """What this page plays.

    Attributes:
        motion: What is loaded; None for nothing.
        shown: Whether it is shown, in place of the pose.
        time: Which moment [s].
        clips: Motions that the character has.
        files: Motions in the folder of the rig.
        dynamics: What swings.
        computed: Of what swings: frames that there are, from the first on.
        possible: Of what swings: frames that there will be.
        share: How much of that work is done, 0 to 1.
        curves: Times [s] and activations of keys, by muscle or group.
        undo: What undoing curves would take back; None for nothing.
        redo: What it would do again; None for nothing.
        lines: What was found or done, a sentence each.
    """

    motion: MotionShown | None
    shown: bool
    time: float
    clips: tuple[str, ...]
    files: tuple[str, ...]
    dynamics: Swinging
    computed: int
    possible: int
    share: float
    curves: Mapping[str, tuple[tuple[float, float], ...]]
    undo: str | None
    redo: str | None
    lines: tuple[str, ...]


class MotionGet(Request):
    """What this page plays."""

    reply: ClassVar[Replied] = MotionTold
    type: Literal["motion.get"] = "motion.get"


class MotionLoad(Request):
    """Load a motion.

    Attributes:
        file: A file in the rig's folder; None for a clip of the character.
        clip: Which clip, where there are several; None is the first.
        feet: ``directions`` keeps limb directions, ``planted`` keeps the feet in place.
        rate: Frames per second to resample to; None keeps the motion's own.
        limits: Whether joints are kept within their limits; None is what the rig says.
    """

    reply: ClassVar[Replied] = MotionTold
    type: Literal["motion.load"] = "motion.load"
    file: str | None = None
    clip: str | None = None
    feet: Literal["directions", "planted"] = "directions"
    rate: Annotated[float, Field(gt=0.0, le=1000.0)] | None = None
    limits: bool | None = None


class MotionGive(Request):
    """Load a motion from a file of the person's own, which travels with the message.

    Attributes:
        name: Of the file; its suffix says what it is.
        content: Its bytes in base64.
    """

    reply: ClassVar[Replied] = MotionTold
    type: Literal["motion.give"] = "motion.give"
    name: Annotated[str, Field(max_length=255)]
    content: Annotated[str, Field(max_length=12_000_000)]


class MotionDrop(Request):
    """Forget the motion; the pose is shown again. Curves stay."""

    reply: ClassVar[Replied] = MotionTold
    type: Literal["motion.drop"] = "motion.drop"


class SoughtTold(Reply):
    """A moment that was sought.

    Attributes:
        time: Where that is [s].
        waits: Whether what swings is not computed that far, and is left out.
    """

    time: float
    waits: bool


class MotionSeek(Request):
    """Show a moment of the motion.

    Attributes:
        time: Which [s]; beyond its ends it is the first or the last.
    """

    reply: ClassVar[Replied] = SoughtTold
    type: Literal["motion.seek"] = "motion.seek"
    time: Time


class MotionPoseFromHere(Request):
    """Make the moment that is shown the page's pose, and show that."""

    reply: ClassVar[Replied] = MotionTold
    type: Literal["motion.pose_from_here"] = "motion.pose_from_here"


class MotionSwing(Request):
    """Choose what swings after the bones."""

    reply: ClassVar[Replied] = MotionTold
    type: Literal["motion.swing"] = "motion.swing"
    dynamics: Swinging


class AheadTold(Reply):
    """How far what swings is computed.

    Attributes:
        computed: Frames that there are, from the first on.
        possible: Frames that there will be.
        share: How much of the work is done, 0 to 1.
        lines: What is unusual, a sentence each.
    """

    computed: int
    possible: int
    share: float
    lines: tuple[str, ...]


class MotionAhead(Request):
    """Compute a little of what swings.

    Attributes:
        seconds: About how long [s].
    """

    reply: ClassVar[Replied] = AheadTold
    type: Literal["motion.ahead"] = "motion.ahead"
    seconds: Annotated[float, Field(ge=0.0, le=1.0)] = 0.1


class CurveTold(Reply):
    """How active a muscle is through the motion.

    Attributes:
        name: Of the muscle or group.
        keyed: Whether it has a curve; else its keys are what they would be.
        times: Of the keys [s].
        values: Of the keys, 0 to 1.
        by: The group or muscle whose curve it follows, where it has none of its own.
    """

    arrays: ClassVar[Mapping[str, str]] = {
        "times": "float32 (samples,) [s]",
        "activation": "float32 (samples,): as it is",
        "source": "float32 (samples,): as it would be without curves",
    }

    name: str
    keyed: bool
    times: tuple[float, ...]
    values: tuple[float, ...]
    by: str | None


class CurveGet(Request):
    """How active a muscle or a group is.

    Attributes:
        name: Of the muscle or group.
        samples: How many moments to tell, evenly over the motion.
    """

    reply: ClassVar[Replied] = CurveTold
    type: Literal["motion.curve"] = "motion.curve"
    name: str
    samples: Annotated[int, Field(ge=2, le=4096)] = 400


class CurveEdit(Request):
    """A change of this page's activation curves.

    Attributes:
        gesture: Changes of one gesture are one step to undo; None is a step of its own.
    """

    reply: ClassVar[Replied] = MotionTold
    gesture: str | None = None
    name: str


class CurveKey(CurveEdit):
    """Give a muscle or group a curve: as few keys as follow its activation."""

    type: Literal["motion.key"] = "motion.key"


class CurveFree(CurveEdit):
    """Take its curve from a muscle or group."""

    type: Literal["motion.free"] = "motion.free"


class KeyAdd(CurveEdit):
    """Add a key; a muscle without a curve gets one first.

    Attributes:
        time: When [s].
        value: Activation, 0 to 1.
    """

    type: Literal["motion.add_key"] = "motion.add_key"
    time: Time
    value: Annotated[float, Field(ge=0.0, le=1.0)]


class KeyMove(CurveEdit):
    """Move a key; it stays between its neighbours.

    Attributes:
        key: Which.
        time: Where to [s].
        value: Activation, 0 to 1.
    """

    type: Literal["motion.move_key"] = "motion.move_key"
    key: int
    time: Time
    value: Time


class KeyDelete(CurveEdit):
    """Delete a key.

    Attributes:
        key: Which.
    """

    type: Literal["motion.delete_key"] = "motion.delete_key"
    key: int


class CurveTense(CurveEdit):
    """At least so active for a while, eased in and out.

    Attributes:
        begin: From when [s].
        end: To when [s].
        level: Activation, 0 to 1.
        ease: Over how long [s].
    """

    type: Literal["motion.tense"] = "motion.tense"
    begin: Time
    end: Time
    level: Annotated[float, Field(ge=0.0, le=1.0)]
    ease: Annotated[float, Field(gt=0.0, le=10.0)] = 0.15


class CurveScale(CurveEdit):
    """More or less of the same.

    Attributes:
        gain: So many times.
        seconds: And so much later [s]; earlier below 0.
    """

    type: Literal["motion.scale"] = "motion.scale"
    gain: Annotated[float, Field(ge=0.0, le=100.0)] = 1.0
    seconds: Time = 0.0


class CurvesUndo(Request):
    """Take back the last change of curves, or do it again.

    Attributes:
        redo: Whether to do it again.
    """

    reply: ClassVar[Replied] = MotionTold
    type: Literal["motion.undo"] = "motion.undo"
    redo: bool = False


class CurvesSet(Request):
    """Put curves in place of those there are: a page that was cut off has kept its own.

    Attributes:
        curves: Times [s] and activations of keys, by muscle or group.
    """

    reply: ClassVar[Replied] = MotionTold
    type: Literal["motion.set_curves"] = "motion.set_curves"
    curves: Mapping[str, tuple[tuple[float, float], ...]]


class CurvesOpen(Request):
    """Take curves from a file in the rig's folder, in place of those there are.

    Attributes:
        file: Its name: .csv, or .sto of OpenSim.
    """

    reply: ClassVar[Replied] = MotionTold
    type: Literal["motion.open_curves"] = "motion.open_curves"
    file: str


class CurvesSave(Request):
    """Write the curves to a file in the rig's folder, as `ecorche activation` does.

    Attributes:
        file: Its name: .csv, or .sto for OpenSim.
    """

    reply: ClassVar[Replied] = MotionTold
    type: Literal["motion.save_curves"] = "motion.save_curves"
    file: str


REQUESTS = (
    MotionGet, MotionLoad, MotionGive, MotionDrop, MotionSeek, MotionPoseFromHere, MotionSwing, MotionAhead,
    CurveGet, CurveKey, CurveFree, KeyAdd, KeyMove, KeyDelete, CurveTense, CurveScale, CurvesUndo, CurvesSet,
    CurvesOpen, CurvesSave,
)  # fmt: skip
EVENTS = ()
