"""What all messages have in common: requests with their replies, events, and arrays that travel as bytes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy.typing as npt
from pydantic import BaseModel, ConfigDict


class Message(BaseModel):
    """Plain values; a field too many is refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Reply(Message):
    """What a request is answered with.

    Attributes:
        arrays: Arrays that go with it as bytes: their names, and kind and shape in words.
    """

    arrays: ClassVar[Mapping[str, str]] = {}


class Done(Reply):
    """It was done.

    Attributes:
        lines: What was done, a sentence each.
    """

    lines: tuple[str, ...] = ()


Replied = type[Reply]
"""A class of replies; requests have a field named ``type``, within which Python's own has no name."""


class Request(Message):
    """What a page asks.

    Subclasses have a field ``type`` of one value, ``"area.verb"``.

    Attributes:
        reply: What it is answered with.
    """

    reply: ClassVar[Replied] = Done

    @classmethod
    def named(cls) -> str:
        """Its ``type``."""
        return str(cls.model_fields["type"].default)


class Edit(Request):
    """A change of the rig.

    Attributes:
        gesture: Edits of one gesture, such as a drag, are one step to undo; None is a step of its own.
    """

    gesture: str | None = None


class Event(Message):
    """What the server tells without being asked.

    Subclasses have a field ``event`` of one value.
    """

    @classmethod
    def named(cls) -> str:
        """Its ``event``."""
        return str(cls.model_fields["event"].default)


@dataclass(frozen=True, eq=False)
class WithArrays:
    """A reply and the arrays that go with it.

    Attributes:
        reply: The reply.
        arrays: Named as its class says.
    """

    reply: Reply
    arrays: Mapping[str, npt.NDArray[Any]] = field(default_factory=dict)
