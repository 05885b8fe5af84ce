"""What a person reads who typed a name that is not there, and how things are counted."""

from __future__ import annotations

from ecorche.base.names import suggestion
from ecorche.cli.options import counted

MUSCLES = ["deltoid, middle, right", "biceps brachii, long head, right", "biceps brachii, short head, right"]


def test_the_nearest_name_else_those_with_the_word_in_them_else_all() -> None:
    assert suggestion("deltoid, midle, right", MUSCLES) == "Did you mean 'deltoid, middle, right'?"
    assert suggestion("Biceps", MUSCLES) == f"Known: {MUSCLES[1]!r}, {MUSCLES[2]!r}"
    assert suggestion("xyz", MUSCLES, at_most=1) == f"Known: {MUSCLES[0]!r} and 2 more"
    assert suggestion("", MUSCLES, at_most=1) == f"Known: {MUSCLES[0]!r} and 2 more"


def test_counts_are_english() -> None:
    assert [counted(n, "vertex") for n in (0, 1, 2)] == ["0 vertices", "1 vertex", "2 vertices"]
    assert counted(1200, "frame") == "1,200 frames"
