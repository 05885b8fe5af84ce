"""The order of relaxation, and circles told line by line."""

from __future__ import annotations

import pytest

from ecorche.errors import EcorcheError
from ecorche.muscles.lines.order import Bends, relaxation_order

NAMES = ["brachialis", "biceps long", "biceps short", "deltoid"]


def test_carriers_come_first_and_what_is_independent_goes_together() -> None:
    order = relaxation_order(NAMES, [0, 1, 1, 2], [Bends(0, 1, "belly"), Bends(2, 3, "head")])
    assert order == [[0], [1], [2]]
    assert relaxation_order(NAMES, [0, 1, 2, 3], [Bends(3, 0, "cap")]) == [[1, 2, 3], [0]]
    assert relaxation_order([], [], []) == []


def test_a_circle_is_refused_and_the_loop_is_named() -> None:
    bends = [Bends(0, 1, "belly"), Bends(1, 3, "head"), Bends(3, 0, "cap")]
    with pytest.raises(EcorcheError) as told:
        relaxation_order(NAMES, [0, 1, 2, 3], bends)
    for part in (
        "'brachialis' bends 'biceps long' by field 'belly'",
        "'biceps long' bends 'deltoid' by field 'head'",
        "'deltoid' bends 'brachialis' by field 'cap'",
        "Bind one of these fields to a joint",
    ):
        assert part in str(told.value)


def test_a_circle_through_a_shared_node_says_so_and_a_line_cannot_bend_itself() -> None:
    with pytest.raises(EcorcheError, match=r"'biceps long' \(one with 'biceps short'\)"):
        relaxation_order(NAMES, [0, 1, 1, 2], [Bends(0, 1, "belly"), Bends(2, 0, "head")])
    with pytest.raises(EcorcheError, match="'deltoid' bends 'deltoid' by field 'cap'"):
        relaxation_order(NAMES, [0, 1, 2, 3], [Bends(3, 3, "cap")])
