"""What arrives from a page, before anybody believes it: bounded in size, and JSON."""

from __future__ import annotations

import json
import math
from typing import Any, NoReturn

from ecorche.errors import EcorcheError

LARGEST_MESSAGE = 1 << 24
"""Bytes of one message; a motion or a mesh may come in one, files come as uploads."""


def parsed(message: str | bytes) -> dict[str, Any]:
    """The table that a message is; anything else is refused in one sentence."""
    if isinstance(message, bytes):
        raise _refused("is made of bytes", "Send text")
    if len(message) > LARGEST_MESSAGE or len(message.encode("utf-8", "replace")) > LARGEST_MESSAGE:
        raise _refused(f"is larger than {LARGEST_MESSAGE >> 20} MB", "Send less at a time")
    try:
        found = json.loads(message, parse_constant=_no_number, parse_float=_finite)
    except RecursionError:
        raise _refused("is too deep", "Reload the page") from None
    except ValueError as error:
        raise _refused(f"is not JSON ({error})", "Reload the page") from None
    if not isinstance(found, dict):
        raise _refused("is not a table", "Reload the page")
    return found


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name[:20]} is no number")


def _finite(text: str) -> float:
    number = float(text)
    return number if math.isfinite(number) else _no_number(text)


def _refused(what: str, remedy: str) -> EcorcheError:
    return EcorcheError(f"a message {what}", where="the page", remedy=remedy)
