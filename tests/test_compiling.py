"""The search for garbage rests while Numba compiles, and only then."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from typing import Any

import pytest
from numba import njit
from numba.core.errors import TypingError
from numba.extending import intrinsic

import ecorche.base.compiling  # noqa: F401  what is tested


@pytest.fixture
def searching() -> Iterator[list[bool]]:
    """Whether garbage was searched for while functions were compiled."""
    yield []
    gc.enable()


def _compiled(seen: list[bool]) -> Any:
    @intrinsic  # type: ignore[untyped-decorator]
    def look(typing_context: Any, number: Any) -> Any:
        seen.append(gc.isenabled())
        return number(number), lambda context, builder, signature, args: args[0]

    inner = njit(lambda number: look(number))
    return njit(lambda number: inner(number) + look(number))


def test_it_rests_while_a_function_and_what_it_calls_are_compiled(searching: list[bool]) -> None:
    assert _compiled(searching)(1.0) == 2.0
    assert searching
    assert not any(searching)
    assert gc.isenabled()


def test_it_goes_on_after_what_cannot_be_compiled() -> None:
    with pytest.raises(TypingError):
        njit(lambda number: number.nothing)(1.0)
    assert gc.isenabled()


def test_who_has_switched_it_off_finds_it_off(searching: list[bool]) -> None:
    gc.disable()
    _compiled(searching)(1.0)
    assert not gc.isenabled()
