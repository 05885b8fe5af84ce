"""The joint editor of the studio, in a real browser: limbs that stop, corners dragged, poses in files."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from ecorche.body.rig import create_rig
from ecorche.document.files import write_rig
from ecorche.io.formats import read_character
from studio_pages import served, visited


@pytest.fixture(scope="module")
def folder(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("studio")
    shutil.copy(data / "human/male_muscular_mixamo.glb", made / "man.glb")
    character = read_character(made / "man.glb")
    rig = create_rig(character, made / "man.glb", made / "man.ecorche", muscles=False)
    write_rig(made / "man.ecorche", rig)
    (made / "over.pose").write_text("at 0\n l_elbow 0 0 0\nat 1\n l_elbow -140 0 0\nat 2\n l_elbow 0 0 0\n")
    return made


def test_joints_are_posed_and_their_limits_edited(folder: Path) -> None:
    joint, elbow = "mixamorig:LeftArm", "mixamorig:LeftForeArm"
    out = os.environ.get("ECORCHE_PICTURES")
    with served(folder / "man.ecorche") as server:
        given = {"joint": joint, "elbow": elbow, "out": None if out is None else str(Path(out) / "joints")}
        seen = visited("joints", server, folder, given)
    # the slider ends beyond the limit, and the elbow stops at it
    assert seen["asked"] > seen["flexion"]["high"] + 20
    assert seen["flexion"]["degrees"] == pytest.approx(seen["flexion"]["high"], abs=1e-6)
    short = seen["asked"] - seen["flexion"]["high"]
    assert seen["held"] == f"Stopped at its limit, {short:.1f}° short"
    assert seen["moved"] > 0.1
    assert seen["beyond"] == pytest.approx(short, abs=1e-6)
    # the pose came back from its file
    assert (folder / "bent.pose").is_file()
    assert seen["between"] < 60.0
    assert seen["loaded"] == pytest.approx(seen["flexion"]["high"], abs=1e-5)
    # one corner was moved, by some degrees, and undo put it back
    moved = [corner for corner, degrees in enumerate(seen["corners"]) if degrees > 1e-6]
    assert moved == [seen["corner"]]
    assert 2.0 < seen["corners"][seen["corner"]] < 60.0
    assert seen["chosen"] == f"Corner {seen['corner']}"
    assert seen["undone"] < 1e-9
    assert "LeftArm" in seen["refused"]
    # the ring about the forward axis turned the forearm
    assert max(map(abs, seen["ring"])) > 5.0
    # the motion's worst moment
    assert seen["worst"] == pytest.approx(1.0, abs=1e-6)
    assert seen["row"].startswith(elbow)
    assert seen["origin"] == ["human", "own"]
    assert (seen["model"], seen["again"]) == ("swing", "ball_and_socket")
    assert seen["judged"].startswith("This pose is within all limits of")
