"""A body's type, coupling and springs said anew: a whole rig, checked, and a line of what was done."""

from __future__ import annotations

from pathlib import Path

import pytest

from ecorche.body.choose_body import coupled, fattened, sprung, typed
from ecorche.errors import EcorcheError
from rigged_people import person, rigged


@pytest.fixture(scope="module")
def man(data: Path) -> Path:
    return data / "human" / "male_slim_cmu_mb.glb"


def test_a_body_type_tells_what_was_gained(man: Path) -> None:
    heavy = typed(rigged(man), person(man), fat=1.0)
    assert (heavy.rig.spec.body_type.bulk, heavy.rig.spec.body_type.fat) == (1.0, 1.0)
    assert heavy.lines[0] == "bulk 1, fat 1"
    assert "litres by muscle" in heavy.lines[1]
    back = typed(heavy.rig, person(man), fat=0.0)
    assert back.rig.spec == rigged(man).spec
    assert back.lines == ("bulk 1, fat 0",)
    with pytest.raises(EcorcheError, match="bulk"):
        typed(rigged(man), person(man), bulk=-1.0)


def test_a_coupling_tells_its_regions(man: Path) -> None:
    made = coupled(rigged(man), person(man), {"everywhere": "fascia", "regions": {"hands": "plain"}})
    assert made.rig.spec.coupling.everywhere == "fascia"
    assert made.lines == ("the skin is over a fascia", "hands: skinning alone")
    with pytest.raises(EcorcheError, match="hnads"):
        coupled(rigged(man), person(man), {"regions": {"hnads": "plain"}})


def test_springs_and_fat_keep_what_nothing_is_said_of(man: Path) -> None:
    live = sprung(sprung(rigged(man), {"muscularity": 0.5}).rig, {"realtime": True})
    assert live.rig.spec.springs.realtime
    assert live.rig.spec.springs.muscularity == 0.5
    assert live.lines == ("springs: realtime true",)
    moon = fattened(rigged(man), {"gravity": 1.6})
    assert moon.rig.spec.fat.gravity == 1.6
    assert moon.lines == ("fat: gravity 1.6",)
    with pytest.raises(EcorcheError, match="intensity"):
        sprung(rigged(man), {"intensity": 3.0})
    with pytest.raises(EcorcheError, match="weight"):
        fattened(rigged(man), {"weight": 3.0})
