"""Messages as they travel: text, or one binary message where arrays go with them.

A binary message is: length of the header (uint32, little-endian), the header as JSON, zeros up to a multiple
of eight, then the arrays, little-endian, each from a multiple of eight on. The header has ``arrays``: name,
type, shape and first byte of each, counted from the end of the header's padding.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from pydantic import ValidationError

from ecorche.errors import EcorcheError
from ecorche.studio.incoming import parsed
from ecorche.studio.messages import REQUESTS
from ecorche.studio.messages.base import Event, Reply, Request, WithArrays

ALIGNED = 8
LONGEST_TOLD = 300
"""Characters that are said again of a message that is wrong."""
KINDS = ("float32", "float64", "uint32", "int32", "uint8")
"""Types of arrays that a page has views for."""


class Refused(EcorcheError):
    """A message that is none of ours."""


class Numbered(Exception):
    """What is wrong with the request of a number."""

    def __init__(self, number: int, error: EcorcheError) -> None:
        super().__init__(str(error))
        self.number, self.error = number, error


def request_of(text: str | bytes) -> tuple[int, Request]:
    """The number and the request in a text message."""
    told = parsed(text)
    number = told.pop("id", None)
    if not isinstance(number, int) or isinstance(number, bool):
        raise Refused("the message has no number", remedy="Reload the page")
    asked = told.get("type")
    kind = REQUESTS.get(asked) if isinstance(asked, str) else None
    if kind is None:
        error = Refused(f"there is no request {str(asked)[:60]!r}", remedy="Reload the page")
        raise Numbered(number, error)
    try:
        return number, kind.model_validate_json(json.dumps(told))
    except ValidationError as problem:
        first = problem.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        what = str(first["msg"]).removeprefix("Value error, ")[:LONGEST_TOLD]
        raise Numbered(number, Refused(what, where=f"{kind.named()}, {where[:LONGEST_TOLD]}")) from None


def packed_reply(number: int, reply: Reply | WithArrays) -> str | bytes:
    """The answer to a request."""
    if isinstance(reply, WithArrays):
        return _binary({"id": number, "ok": reply.reply.model_dump(mode="json")}, reply.arrays)
    return json.dumps({"id": number, "ok": reply.model_dump(mode="json")})


def packed_error(number: int | None, error: EcorcheError) -> str:
    """What was wrong with a request."""
    return json.dumps({"id": number, "error": error_told(error)})


def error_told(error: EcorcheError) -> dict[str, str | None]:
    """An error as pages read it."""
    return {"what": error.what, "where": error.where, "remedy": error.remedy}


def packed_event(event: Event) -> str:
    """An event."""
    return json.dumps(event.model_dump(mode="json"))


def _binary(header: dict[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> bytes:
    entries, parts, end = [], [], 0
    for name, array in arrays.items():
        if array.dtype.name not in KINDS:
            raise TypeError(f"array {name!r} is {array.dtype}: pages read {', '.join(KINDS)}")
        data = np.ascontiguousarray(array, array.dtype.newbyteorder("<")).tobytes()
        entries.append({"name": name, "dtype": array.dtype.name, "shape": array.shape, "offset": end})
        padding = bytes(-len(data) % ALIGNED)
        parts += [data, padding]
        end += len(data) + len(padding)
    text = json.dumps({**header, "arrays": entries}).encode()
    head = len(text).to_bytes(4, "little") + text
    return b"".join([head, bytes(-len(head) % ALIGNED), *parts])
