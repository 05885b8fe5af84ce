"""The muscle builder as a person uses it, by pointer and keys, in a real browser."""

from __future__ import annotations

import base64
import shutil
from pathlib import Path
from typing import Any

import pytest

from conftest import ROOT
from ecorche.document.files import write_rig
from rigged_people import rigged
from studio_pages import served, visited


@pytest.fixture(scope="module")
def told(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """What happened while somebody worked on a biceps."""
    folder = tmp_path_factory.mktemp("studio")
    source = data / "human" / "male_average_cmu_mb.glb"
    shutil.copy(source, folder / "man.glb")
    write_rig(folder / "man.ecorche", rigged(source))
    pose = base64.b64encode((ROOT / "examples" / "curl.pose").read_bytes()).decode()
    with served(folder / "man.ecorche") as server:
        given = {"out": str(folder / "view"), "pose": pose}
        return visited("muscle_builder", server, folder, given)


def test_a_click_chooses_the_muscle_that_is_seen(told: Any) -> None:
    assert told["selected"] == "deltoid, anterior, right"


def test_activation_by_hand_tenses_the_skin(told: Any) -> None:
    assert told["shortened"] < 0.9
    assert 0.001 < told["tensed"] < 0.03


def test_an_insertion_is_dragged_and_the_skin_follows(told: Any) -> None:
    assert 0.005 < told["insertion"] < 0.2
    assert told["skin"] > 0.0005
    assert told["undo"] == "move the insertion of biceps brachii, long head, right"


def test_the_muscle_is_shown_alone(told: Any) -> None:
    assert 0.0 < told["alone"] < 0.05


def test_a_drag_is_one_step_to_undo_and_redo(told: Any) -> None:
    assert told["nothing"] is None
    assert told["back"] == 0.0
    assert told["again"] == 0.0


def test_a_curve_is_dragged_with_its_constraints(told: Any) -> None:
    (before, partner), (after, other) = told["beside"]
    assert after < before - 0.002
    assert other == pytest.approx(partner + before - after, abs=1e-6)  # its belly is in the middle
    assert told["belly"] == 0.0
    assert told["thickness"] == "thickness of biceps brachii, long head, right"
    assert told["raised"] == pytest.approx(0.0005)


def test_influence_is_shown_on_the_skin(told: Any) -> None:
    assert told["coloured"] > 10


def test_mirrored_copied_renamed_and_removed(told: Any) -> None:
    assert told["mirrored"] == pytest.approx(told["here"])
    assert told["listed"] == 1
    assert told["broken"] is False


def test_two_clicks_draw_a_muscle(told: Any) -> None:
    assert told["drawn"] == ["LeftArm", "LeftForeArm"]


def test_everything_is_undone(told: Any) -> None:
    assert told["steps"] == 8
    assert told["first"] == 0.0
