"""What arrives from a page, before anybody believes it: bounded in size and number."""

from __future__ import annotations

import json
import math
import time
from collections import deque
from collections.abc import Callable
from typing import Any, NoReturn

from ecorche.errors import EcorcheError

LARGEST_MESSAGE = 1 << 22
"""Bytes of one message; files come as uploads."""
MOST_WAITING = 256
"""Requests of one page that wait for their answer."""
MOST_A_SECOND = 1000
"""Messages of one page in a second."""


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


class Pace:
    """How fast one page may ask.

    Args:
        clock: Seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._times: deque[float] = deque()
        self.waiting = 0

    def arrived(self) -> None:
        """One more message came; refused where they are too many."""
        now = self._clock()
        while self._times and now - self._times[0] >= 1.0:
            self._times.popleft()
        if len(self._times) >= MOST_A_SECOND:
            raise _refused(f"is more than the {MOST_A_SECOND} in a second", "Wait a moment")
        self._times.append(now)
        if self.waiting >= MOST_WAITING:
            raise _refused(f"comes before {MOST_WAITING} others are answered", "Wait for their answers")


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name[:20]} is no number")


def _finite(text: str) -> float:
    number = float(text)
    return number if math.isfinite(number) else _no_number(text)


def _refused(what: str, remedy: str) -> EcorcheError:
    return EcorcheError(f"a message {what}", where="the page", remedy=remedy)
