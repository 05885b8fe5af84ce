"""Arms raised and in a deep squat, muscles of shoulder and trunk stay near the skin that they move."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks.muscles_outside import worst

from conftest import Figure

FAR, MOST = 0.0215, 0.0095
"""How far outside the posed skin one point of a muscle may be, and 95 of 100 of its points [m]. Told as they
are, not as they should be: the skin of armpit and shoulder collapses where muscles do not."""


@pytest.mark.parametrize("motion", ["raise", "squat"])
@pytest.mark.parametrize("person", ["muscular man", "slim man"])
def test_muscles_follow_the_flesh_they_lie_in(data: Path, person: str, motion: str, figure: Figure) -> None:
    rows = list(worst(data, person, motion))
    assert len(rows) > 100
    far, most = max(rows, key=lambda row: row[1]), max(rows, key=lambda row: row[2])
    figure(f"worst point outside the posed skin, {person}, {motion}", far[1], FAR, "m")
    figure(f"95 of 100 points outside the posed skin, {person}, {motion}", most[2], MOST, "m")
    assert far[1] < FAR, far
    assert most[2] < MOST, most
