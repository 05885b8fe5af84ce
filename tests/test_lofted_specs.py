"""Muscles found in the skin, in the rig file: refused where they cannot be, and kept to rounding."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from altered_people import scaled
from characters import tube
from ecorche.body.lofted_specs import lofted_muscles_of, lofted_specs
from ecorche.body.rebind import rebind
from ecorche.body.rig import check_rig, create_rig
from ecorche.document.files import Rig, read_rig
from ecorche.io.formats import read_character
from ecorche.muscles.lofted import LoftedMuscle, Rings, Wrap
from tube_document import FIXTURE, refusal

BULGE, BRANCH = "bulge, left", "branch, left"


def _bulge(document: dict[str, Any]) -> Any:
    return document["muscles"]["lofted"][BULGE]


@pytest.mark.parametrize(
    ("change", "parts"),
    [
        (
            lambda d: _bulge(d)["rings"].reverse(),
            ["rings[1].u", "the rings 0 and 1 lie at 0.6 and 0.25", "Order them by u"],
        ),
        (lambda d: _bulge(d).update(rings=[]), ["rings"]),
        (lambda d: _bulge(d)["rings"][0].update(half_axes=[0.0, 0.1]), ["half_axes[0]"]),
        (lambda d: _bulge(d)["rings"][0].update(u=0.0), ["rings[0].u"]),
        (lambda d: _bulge(d)["wrap"].update(radius=-1.0), ["wrap.radius"]),
        (lambda d: _bulge(d)["wrap"].update(axis=[0.0, 0.0, 0.0]), ["the direction has no length"]),
        (lambda d: _bulge(d)["wrap"].update(shape="cone"), ["wrap.shape"]),
        (lambda d: _bulge(d)["path"][1].update(joint="lower"), ["both ends move with one joint"]),
        (lambda d: _bulge(d)["path"].append(_bulge(d)["path"][0]), ["path"]),
        (
            lambda d: _bulge(d).update(joins=BULGE),
            ["there is no other muscle 'bulge, left' to branch from", "joins", "'branch, left'"],
        ),
        (lambda d: _bulge(d).update(joins="branch, lefd"), ["Did you mean 'branch, left'?"]),
        (lambda d: _bulge(d)["influence"].update(painted="nowhere"), ["there is no map 'nowhere'"]),
        (
            lambda d: d["muscles"]["lofted"].update({"flexor, left": _bulge(d)}),
            ["two muscles are called 'flexor, left'", "Rename one"],
        ),
        (lambda d: _bulge(d).update(crosing=0.5), ["unknown field 'crosing'", "Did you mean 'crossing'?"]),
    ],
)
def test_what_cannot_be_is_refused_with_its_field(
    change: Callable[[dict[str, Any]], object], parts: list[str]
) -> None:
    message = refusal(change)
    for part in parts:
        assert part in message


@pytest.fixture
def rig(tmp_path: Path) -> Rig:
    """The tube's rig with the fixture's muscles that were found in the skin."""
    made = create_rig(tube(), tmp_path / "tube.glb", tmp_path / "tube.ecorche", muscles=False)
    kept = read_rig(FIXTURE)
    document = made.spec.model_copy(
        update={
            "muscles": kept.spec.muscles.model_copy(
                update={"named": {}, "gains": {}, "lines": {}, "fields": {}}
            ),
            "maps": kept.spec.maps,
        }
    )
    return replace(made, spec=document, maps=kept.maps)


def test_muscles_come_back_from_their_spec(rig: Rig) -> None:
    skeleton = tube().skeleton
    muscles = lofted_muscles_of(rig, skeleton)
    again = lofted_specs(muscles, skeleton)
    assert list(again) == [BULGE, BRANCH]
    for name, spec in rig.spec.muscles.lofted.items():
        for field, value in spec.model_dump(exclude={"path", "rings", "wrap"}).items():
            assert getattr(again[name], field) == getattr(spec, field), (field, value)
        for mine, theirs in zip(again[name].rings, spec.rings, strict=True):
            assert mine.angle == pytest.approx(theirs.angle, abs=1e-12)
            assert (mine.u, mine.centre, mine.half_axes) == (theirs.u, theirs.centre, theirs.half_axes)
        assert [p.at for p in again[name].path] == [pytest.approx(p.at, abs=1e-12) for p in spec.path]
        mine_wrap, wrap = again[name].wrap, spec.wrap
        assert wrap is not None
        assert mine_wrap is not None
        assert mine_wrap.centre == pytest.approx(wrap.centre, abs=1e-12)
    assert muscles[1].joins == BULGE


def test_unknown_joints_are_told_by_check(rig: Rig) -> None:
    muscles = rig.spec.muscles
    bulge = muscles.lofted[BULGE]
    assert bulge.wrap is not None
    for update, field in (
        ({"wrap": bulge.wrap.model_copy(update={"joint": "uper"})}, "wrap.joint"),
        ({"influence": bulge.influence.model_copy(update={"joints": ("uper",)})}, "influence.joints[0]"),
    ):
        spec = rig.spec.model_copy(
            update={"muscles": muscles.with_muscle(BULGE, bulge.model_copy(update=update))}
        )
        (problem,) = check_rig(replace(rig, spec=spec), tube())
        assert field in problem
        assert "Did you mean 'upper'?" in problem


def test_a_rebind_carries_them_along(rig: Rig, tmp_path: Path) -> None:
    same, report = rebind(rig, tube(), tmp_path / "tube.glb", tmp_path / "tube.ecorche")
    assert same.spec.muscles.lofted == rig.spec.muscles.lofted
    assert report.muscles == 2


def test_on_a_giant_they_are_as_much_larger(data: Path, tmp_path: Path) -> None:
    path = data / "human" / "male_average_cmu_mb.glb"
    man = read_character(path)
    names = man.skeleton.names
    arm, fore = names.index("LeftArm"), names.index("LeftForeArm")
    heads = man.skeleton.bind_world[:, :3, 3]
    line = heads[fore] - heads[arm]
    found = LoftedMuscle(
        name="upper arm front, left",
        muscle="",
        group="upper arm",
        joints=(int(man.skeleton.parents[arm]), fore),
        ends=np.stack([heads[arm], heads[fore] + 0.1 * line]),
        outward=np.array([0.0, 0.0, 1.0]),
        rings=Rings(np.array([0.5]), np.array([[0.01, 0.0]]), np.array([[0.02, 0.03]]), np.zeros(1)),
        wrap=Wrap("sphere", fore, heads[fore], np.array([1.0, 0.0, 0.0]), 0.02),
        reach=(arm,),
    )
    rig = create_rig(man, path, tmp_path / "man.ecorche", muscles=False)
    muscles = rig.spec.muscles.model_copy(update={"lofted": lofted_specs([found], man.skeleton)})
    rig = replace(rig, spec=rig.spec.model_copy(update={"muscles": muscles}))
    giant = scaled(man, 2.0)
    (grown,) = lofted_muscles_of(rebind(rig, giant, path, tmp_path / "giant.ecorche")[0], giant.skeleton)
    assert np.allclose(grown.ends, 2.0 * found.ends, atol=1e-4)
    assert np.allclose(grown.rings.half_axes, 2.0 * found.rings.half_axes, rtol=1e-3)
    assert np.allclose(grown.rings.centre, 2.0 * found.rings.centre, rtol=1e-3)
    assert grown.wrap is not None
    assert np.allclose(grown.wrap.centre, 2.0 * heads[fore], atol=1e-4)
    assert grown.wrap.radius == pytest.approx(0.04, rel=1e-3)
