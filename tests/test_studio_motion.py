"""The studio's motion: loaded, scrubbed, played, curves by keys, side by side, what swings; and the body."""

from __future__ import annotations

import base64
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ecorche.body.perform import perform
from ecorche.body.rig import create_rig
from ecorche.document.files import read_rig, write_rig
from ecorche.errors import EcorcheError
from ecorche.io.activation import read_activation
from ecorche.io.formats import read_character, read_motion
from ecorche.studio.answers import ANSWERS
from ecorche.studio.messages.base import WithArrays
from ecorche.studio.opening import opened
from ecorche.studio.session import Session
from ecorche.studio.wire import request_of
from rigged_people import BICEPS, person
from studio_pages import for_the_handbook, served, visited

Asked = Callable[..., Any]


@pytest.fixture(scope="module")
def folder(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A man's rig with a walk beside it."""
    made = tmp_path_factory.mktemp("studio")
    shutil.copy(data / "human" / "male_muscular_cmu_mb.glb", made / "man.glb")
    shutil.copy(data / "cmu" / "02_01.bvh", made / "walk.bvh")
    write_rig(
        made / "man.ecorche",
        create_rig(person(made / "man.glb"), made / "man.glb", made / "man.ecorche"),
    )
    return made


@pytest.fixture
def page(folder: Path) -> Asked:
    """Asks as a page does; arrays of an answer stand beside its fields."""
    session = Session(opened(folder / "man.ecorche"), lambda event: None)

    def ask(kind: str, **fields: Any) -> Any:
        _, request = request_of(json.dumps({"id": 1, "type": kind, **fields}))
        answer = ANSWERS[kind](session, request)
        if isinstance(answer, WithArrays):
            return {**answer.reply.model_dump(), **answer.arrays}
        return answer.model_dump()

    ask.session = session  # type: ignore[attr-defined]
    return ask


def points(page: Asked, **fields: Any) -> Any:
    return page("view.frame", muscles=False, **fields)["points"]


def test_what_is_shown_is_what_is_baked(page: Asked, folder: Path) -> None:
    told = page("motion.load", file="walk.bvh", rate=30)
    assert (told["motion"]["frames"], told["motion"]["rate"]) == (86, pytest.approx(30.0))
    assert "31 joints matched" in told["lines"][0]
    frame = 40
    baked = perform(
        person(folder / "man.glb"),
        read_motion(folder / "walk.bvh"),
        rig=read_rig(folder / "man.ecorche"),
        rate=30,
    ).take.frames
    assert baked is not None
    page("motion.seek", time=float(baked.times[frame]))
    np.testing.assert_array_equal(points(page), np.concatenate(baked[frame].points))
    both = page("view.frame", muscles=True, plain=True)
    assert (both["plain"] != both["points"]).any()
    assert both["time"] == baked.times[frame]
    # beyond the ends it is the last
    assert page("motion.seek", time=99.0)["time"] == told["motion"]["ends"]


def test_an_edited_rig_plays_on_and_a_pose_takes_over(page: Asked) -> None:
    page("motion.load", file="walk.bvh")
    page("motion.seek", time=1.0)
    before = points(page)
    page("body.type", fat=1.0)
    after = page("view.frame", muscles=False)
    assert after["time"] == 1.0
    assert 0.01 < np.abs(after["points"] - before).max() < 0.2
    page("document.undo")
    np.testing.assert_array_equal(points(page), before)
    page("motion.pose_from_here")
    assert not page("motion.get")["shown"]
    np.testing.assert_allclose(points(page), before, atol=0.004)  # muscles are worked by the pose alone
    page("motion.seek", time=1.0)
    page("view.rest")  # a pose that changes is what is meant
    assert not page("motion.get")["shown"]
    assert page("view.frame", muscles=False)["time"] == 0.0
    page("motion.seek", time=1.0)
    np.testing.assert_array_equal(points(page), before)
    page("motion.drop")
    assert page("motion.get")["motion"] is None


def test_curves_are_edited_undone_and_saved_as_the_command_reads_them(page: Asked, folder: Path) -> None:
    page("motion.load", file="walk.bvh", rate=30)
    page("motion.seek", time=1.0)
    rest = page("motion.curve", name=BICEPS, samples=50)
    assert (rest["keyed"], rest["by"]) == (False, None)
    np.testing.assert_allclose(rest["activation"], rest["source"])
    slack = points(page)
    page("motion.add_key", name=BICEPS, time=1.0, value=0.2)
    number = [time for time, _ in page("motion.get")["curves"][BICEPS]].index(1.0)
    for value in (0.5, 0.8, 1.0):
        told = page("motion.move_key", name=BICEPS, key=number, time=1.0, value=value, gesture="drag")
    assert told["curves"][BICEPS][number] == (1.0, 1.0)
    assert 0.001 < np.abs(points(page) - slack).max() < 0.03
    curve = page("motion.curve", name=BICEPS, samples=87)
    assert curve["keyed"]
    assert curve["activation"].max() > 0.98
    assert curve["source"].max() < 0.3
    # a drag is one step
    assert page("motion.undo")["curves"][BICEPS][number] == (1.0, 0.2)
    assert page("motion.undo")["curves"] == {}
    np.testing.assert_array_equal(points(page), slack)
    page("motion.undo", redo=True)
    page("motion.undo", redo=True)
    page("motion.tense", name="elbow flexors", begin=0.5, end=0.8, level=0.9)
    assert page("motion.curve", name=BICEPS.replace("right", "left"))["by"] == "elbow flexors"
    page("motion.save_curves", file="edited.csv")
    saved = read_activation(folder / "edited.csv")
    assert set(saved) == {BICEPS, "elbow flexors"}
    page("motion.free", name=BICEPS)
    assert set(page("motion.open_curves", file="edited.csv")["curves"]) == set(saved)
    # a muscle that an undo or edit takes away leaves its curve waiting
    page("motion.scale", name=BICEPS, gain=0.5)
    session: Session = page.session  # type: ignore[attr-defined]
    from ecorche.body.edit_muscles import removed

    session.document.edit(removed(session.document.rig, [BICEPS]), "remove", areas=("muscles",))
    assert points(page).shape == slack.shape
    page("document.undo")
    assert BICEPS in page("motion.get")["curves"]


def test_what_swings_is_computed_ahead_and_begins_anew_after_an_edit(page: Asked) -> None:
    page("motion.load", file="walk.bvh", rate=24)
    page("motion.swing", dynamics="fat")
    still = points(page)
    assert page("motion.seek", time=0.1)["waits"]
    for _ in range(200):
        told = page("motion.ahead", seconds=0.2)
        if told["computed"] > 3:
            break
    assert 3 < told["computed"] <= told["possible"] == 69
    assert not page("motion.seek", time=0.1)["waits"]
    swung = points(page)
    assert swung.shape == still.shape
    page("motion.swing", dynamics="off")
    assert 1e-5 < np.abs(points(page) - swung).max() < 0.05
    page("motion.swing", dynamics="fat")
    assert page("motion.get")["computed"] == 0
    page("motion.swing", dynamics="oscillation")
    with pytest.raises(EcorcheError, match="no muscles that could swing"):
        page("motion.ahead")
    assert page("motion.get")["dynamics"] == "off"


def test_a_file_of_ones_own_and_what_is_wrong_with_one(page: Asked, folder: Path) -> None:
    text = base64.b64encode((folder / "walk.bvh").read_bytes()).decode()
    assert page("motion.give", name="<b>mine</b>.bvh", content=text)["motion"]["source"] == "b>.bvh"
    for fields, said in (
        ({"name": "a.bvh", "content": base64.b64encode(b"no motion").decode()}, "a.bvh"),
        ({"name": "a.exe", "content": text}, "no kind of motion"),
        ({"name": "a.bvh", "content": "!!!"}, "did not arrive whole"),
    ):
        with pytest.raises(EcorcheError, match=said):
            page("motion.give", **fields)
    assert page("motion.get")["motion"]["frames"] == 344  # the one before plays on


@pytest.mark.parametrize(
    ("kind", "fields", "said"),
    [
        ("motion.load", {"file": "../walk.bvh"}, "no file of the rig's folder"),
        ("motion.load", {"file": "/etc/passwd"}, "no file of the rig's folder"),
        ("motion.load", {"file": "gone.bvh"}, "no file 'gone.bvh' beside the rig"),
        ("motion.load", {}, "no motion of its own"),
        ("motion.save_curves", {"file": "../a.csv"}, "no file of the rig's folder"),
        ("motion.seek", {"time": 0.0}, "no motion is loaded"),
        ("motion.curve", {"name": BICEPS}, "no motion is loaded"),
        ("motion.undo", {}, "nothing to undo"),
        ("body.couple", {"intensity": 3.0}, "less than or equal to 1"),
    ],
)
def test_what_cannot_be_is_refused_with_a_remedy(
    page: Asked, kind: str, fields: dict[str, Any], said: str
) -> None:
    from ecorche.studio.wire import Numbered

    with pytest.raises((EcorcheError, Numbered), match=said):
        page(kind, **fields)


def test_a_creature_plays_its_own_clips(data: Path, tmp_path: Path) -> None:
    shutil.copy(data / "mesh2motion" / "horse-animations.glb", tmp_path / "horse.glb")
    session = Session(opened(tmp_path / "horse.glb"), lambda event: None)
    clips = [motion.name for motion in read_character(tmp_path / "horse.glb").motions]
    _, request = request_of(json.dumps({"id": 1, "type": "motion.load", "clip": clips[2]}))
    told = ANSWERS["motion.load"](session, request).model_dump()  # type: ignore[union-attr]
    assert told["motion"]["name"] == clips[2]
    assert told["clips"] == tuple(clips)


def test_in_a_real_browser(folder: Path, tmp_path: Path) -> None:
    for file in (*folder.glob("man.*"), folder / "walk.bvh"):
        shutil.copy(file, tmp_path)
    with served(tmp_path / "man.ecorche") as server:
        told = visited(
            "motion", server, tmp_path, {"out": str(tmp_path), "file": "walk.bvh", "muscle": BICEPS}
        )
    for_the_handbook(tmp_path / "keyed.png", "motion")
    motion = told["loaded"]["motion"]
    assert (motion["source"], motion["frames"]) == ("walk.bvh", 344)
    assert told["scrubbed"] == pytest.approx(0.5 * motion["ends"], abs=0.02)
    assert told["frames"] >= 3
    assert motion["begins"] <= told["played"] <= motion["ends"]
    assert told["played"] != told["scrubbed"]
    assert told["beside"]
    assert told["source"] == "as the rig says"
    assert told["drawn"][1] > 0.95
    assert told["drawn"][1] > told["keys"][told["number"]][1] + 0.3
    assert 0.001 < told["moved"] < 0.03
    assert told["undone"] == told["keys"][told["number"]]
    assert told["ahead"]["dynamics"] == "fat"
    assert told["heavy"]["fat"] == 1.0
    assert 0.01 < told["grown"] < 0.2
    assert list(read_activation(tmp_path / "curves.csv")) == [BICEPS]
