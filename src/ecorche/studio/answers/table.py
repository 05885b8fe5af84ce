"""Which function answers which request: an area makes one table of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from ecorche.studio.messages.base import Reply, Request, WithArrays
from ecorche.studio.session import Session

Answer = Callable[[Session, Any], Reply | WithArrays]
Answers = dict[type[Request], Answer]
Function = TypeVar("Function", bound=Answer)


def answering(table: Answers, kind: type[Request]) -> Callable[[Function], Function]:
    """Enter a function in a table as what answers requests of a kind."""

    def enter(function: Function) -> Function:
        assert kind not in table, f"{kind.__name__} is answered already"
        table[kind] = function
        return function

    return enter
