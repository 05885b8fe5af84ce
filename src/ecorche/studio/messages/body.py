"""Messages about a body as a whole: its type, how its skin is bound, how its flesh swings."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from ecorche.studio.messages.base import Edit, Replied, Reply, Request

Kind = Literal["plain", "muscles", "height_field", "fascia"]
Part = Annotated[float, Field(ge=0.0, le=1.0)]


class BodyTold(Reply):
    """What the rig says about the whole body.

    Attributes:
        bulk: How thick muscles are, as modelled 1.
        fat: How fat it is, as modelled 0.
        coupling: How the skin follows what lies beneath.
        regions: The same by region or joint, where it is another.
        intensity: How much of a height field or fascia is shown; None where it is painted.
        stiffness: How strongly it is smoothed; None where it is painted.
        slide: How freely skin slides along itself; None where it is painted.
        contact: Whether skin gives way to skin.
        realtime: Whether springs are made for real time.
        muscularity: Of springs: how thick muscles are.
        swing: Of springs: how much of their motion is shown.
        has_lines: Whether there are muscles that are meshes, which may oscillate.
        skinning: The skinning method the rig names; None for the file's own.
    """

    bulk: float
    fat: float
    coupling: Kind
    regions: tuple[tuple[str, Kind], ...]
    intensity: float | None
    stiffness: float | None
    slide: float | None
    contact: bool
    realtime: bool
    muscularity: float
    swing: float
    has_lines: bool
    skinning: str | None


class BodyGet(Request):
    """What the rig says about the whole body."""

    reply: ClassVar[Replied] = BodyTold
    type: Literal["body.get"] = "body.get"


class BodyType(Edit):
    """More or less muscular, leaner or heavier; None keeps what it says."""

    type: Literal["body.type"] = "body.type"
    bulk: Annotated[float, Field(ge=0.3, le=3.0)] | None = None
    fat: Annotated[float, Field(ge=-1.0, le=3.0)] | None = None


class BodyCouple(Edit):
    """How the skin follows what lies beneath; None keeps what it says."""

    type: Literal["body.couple"] = "body.couple"
    everywhere: Kind | None = None
    intensity: Part | None = None
    stiffness: Part | None = None
    slide: Part | None = None
    contact: bool | None = None


class BodySprings(Edit):
    """How muscles and skin jiggle as springs; None keeps what it says."""

    type: Literal["body.springs"] = "body.springs"
    realtime: bool | None = None
    muscularity: Annotated[float, Field(ge=0.2, le=1.0)] | None = None
    intensity: Part | None = None


REQUESTS = (BodyGet, BodyType, BodyCouple, BodySprings)
EVENTS = ()
