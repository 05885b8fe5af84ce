"""Activation curves edited key by key: each edit gives other curves and leaves these."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ecorche.errors import EcorcheError
from ecorche.io.activation import read_activation, write_activation
from ecorche.muscles.keyed_curves import LEAST_APART, KeyedCurves

START = KeyedCurves({"biceps": (np.array([0.0, 0.5, 1.0]), np.array([0.0, 0.8, 0.2]))})


def keys(curves: KeyedCurves, name: str = "biceps") -> list[tuple[float, float]]:
    return list(zip(*(array.tolist() for array in curves.of(name)), strict=True))


def test_keys_are_added_moved_and_deleted() -> None:
    more = START.with_key("biceps", 0.25, 0.4)
    assert keys(more) == [(0.0, 0.0), (0.25, 0.4), (0.5, 0.8), (1.0, 0.2)]
    moved = more.with_key_moved("biceps", 1, 0.3, 0.6)
    assert keys(moved)[1] == (0.3, 0.6)
    assert keys(moved.without_key("biceps", 2)) == [(0.0, 0.0), (0.3, 0.6), (1.0, 0.2)]
    # each is a value of its own
    assert keys(START) == [(0.0, 0.0), (0.5, 0.8), (1.0, 0.2)]
    with pytest.raises(ValueError, match="read-only"):
        START.of("biceps")[1][0] = 1.0


def test_a_key_on_a_key_takes_its_value() -> None:
    assert keys(START.with_key("biceps", 0.5, 0.1)) == [(0.0, 0.0), (0.5, 0.1), (1.0, 0.2)]


def test_a_key_that_is_drawn_too_far_stays_between_its_neighbours() -> None:
    late = START.with_key_moved("biceps", 1, 7.0, 1.7)
    assert keys(late)[1] == (1.0 - LEAST_APART, 1.0)
    early = START.with_key_moved("biceps", 1, -7.0, -0.3)
    assert keys(early)[1] == (LEAST_APART, 0.0)
    # the first and the last may go beyond
    assert keys(START.with_key_moved("biceps", 2, 9.0, 0.2))[2] == (9.0, 0.2)
    assert keys(START.with_key_moved("biceps", 0, -9.0, 0.2))[0] == (-9.0, 0.2)


def test_curves_are_eased_scaled_and_shifted() -> None:
    held = START.tensed("biceps", 0.6, 0.8, 1.0, ease=0.1)
    np.testing.assert_allclose(held.sampled("biceps", [0.6, 0.7, 0.8]), 1.0)
    np.testing.assert_allclose(held.sampled("biceps", [0.0, 0.5, 1.0]), [0.0, 0.8, 0.2], atol=0.02)
    assert keys(START.scaled("biceps", 2.0)) == [(0.0, 0.0), (0.5, 1.0), (1.0, 0.4)]
    assert keys(START.shifted("biceps", 0.25)) == [(0.25, 0.0), (0.75, 0.8), (1.25, 0.2)]


def test_they_come_and_go_and_are_the_command_lines_file(tmp_path: Path) -> None:
    both = START.with_curve("soleus, left", ([0.2], [0.7]))
    write_activation(tmp_path / "curves.csv", both.curves)
    again = KeyedCurves(read_activation(tmp_path / "curves.csv"))
    assert [keys(again, name) for name in again.curves] == [keys(both, name) for name in both.curves]
    assert list(both.without_curve("biceps").curves) == ["soleus, left"]
    assert "biceps" in both
    assert len(both) == 2


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (lambda c: c.with_key("bicpes", 0.0, 0.0), "no curve 'bicpes'"),
        (lambda c: c.with_key("biceps", 0.2, 1.2), "activation 1.2 is not between 0 and 1"),
        (lambda c: c.with_key("biceps", float("nan"), 0.2), "time nan is no number"),
        (lambda c: c.with_key_moved("biceps", 3, 0.0, 0.0), "no key 3"),
        (lambda c: c.with_key_moved("biceps", 1, 0.0, float("inf")), "activation inf is no number"),
        (lambda c: c.without_key("biceps", -1), "no key -1"),
        (lambda c: c.with_curve(" ", ([0.0], [0.0])), "needs a name"),
        (lambda c: c.with_curve("soleus", ([0.0, 0.0], [0.0, 1.0])), "times do not rise"),
        (lambda c: c.with_curve("a", ([0.0], [0.5])).without_key("a", 0), "a curve needs a key"),
        (lambda c: c.scaled("biceps", -1.0), "a gain of -1"),
    ],
)
def test_what_cannot_be_is_refused(edit: object, said: str) -> None:
    with pytest.raises(EcorcheError, match=said):
        edit(START)  # type: ignore[operator]
