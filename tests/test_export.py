"""`ecorche export`: what it writes plays, and what it cannot do it says."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from ecorche.body.take import Take
from ecorche.cli.main import app
from ecorche.io.formats import read_character, write_take
from ecorche.io.keyframes import read_keyframes
from ecorche.skeleton.resample import resample
from ecorche.skeleton.retarget import retarget
from rigged_people import person
from test_usd_players import usdskel_points

CURL = Path(__file__).parent.parent / "examples" / "curl.pose"


def run(*arguments: object) -> tuple[int, str]:
    done = CliRunner().invoke(app, ["export", *map(str, arguments)])
    return done.exit_code, done.output


@pytest.fixture(scope="module")
def rig(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("rig")
    (folder / "man.glb").write_bytes((data / "human" / "male_average_cmu_mb.glb").read_bytes())
    done = CliRunner().invoke(app, ["rig", str(folder / "man.glb")])
    assert done.exit_code == 0, done.output
    return folder / "man.ecorche"


def test_a_clip_is_written_with_its_muscle_joints_and_its_error_told(rig: Path, tmp_path: Path) -> None:
    code, said = run(rig, "--as", "joints", "-m", CURL, "--rate", 5, "-o", tmp_path / "man.glb")
    assert code == 0, said
    assert "4 influences:" in said
    assert "8 influences:" in said
    back, own = read_character(tmp_path / "man.glb"), read_character(rig.with_name("man.glb"))
    assert back.skeleton.names[: own.skeleton.joint_count] == own.skeleton.names
    assert back.skeleton.joint_count > own.skeleton.joint_count + 100
    motion, mesh = back.motions[0], back.meshes[0]
    assert motion.frame_count > 5
    assert mesh.weights is not None
    assert np.diff(mesh.weights.starts).max() <= 4
    moved = np.abs(motion.local - back.skeleton.bind_local).max(axis=(0, 2, 3))[own.skeleton.joint_count :]
    assert (moved > 1e-4).sum() > 20


def test_every_clip_of_the_character_is_written_and_one_where_it_is_asked_for(
    rig: Path, tmp_path: Path
) -> None:
    man = read_character(rig.with_name("man.glb"))
    curl = resample(retarget(read_keyframes(CURL, man.skeleton), man.skeleton).motion, rate=2)
    clips = (curl, replace(curl, name="back", local=curl.local[::-1]))
    write_take(tmp_path / "man.glb", Take(replace(man, motions=clips)))
    for file in rig.parent.glob("man.ecorche*"):
        (tmp_path / file.name).write_bytes(file.read_bytes())
    own = tmp_path / "man.ecorche"
    code, said = run(own, "-o", tmp_path / "all.glb", "--influences", 6)
    assert code == 0, said
    assert f"2 clips, {2 * curl.frame_count} frames" in said
    told = [line.split(" influences:")[0] for line in said.splitlines() if " influences:" in line]
    assert told == ["6", "4", "8", "all"]
    assert [m.name for m in read_character(tmp_path / "all.glb").motions] == [c.name for c in clips]
    code, said = run(own, "-o", tmp_path / "one.usdc", "--clip", "back", "--frames", "0-1", "-q")
    assert code == 0, said
    back = read_character(tmp_path / "one.usdc").motions
    assert [(m.name, m.frame_count) for m in back] == [("back", 2)]
    code, said = run(own, "-o", tmp_path / "no.glb", "--frames", "0-1")
    assert code == 2
    assert "--clip" in said


def test_usd_and_gltf_show_the_same(rig: Path, tmp_path: Path) -> None:
    for suffix in ("glb", "usdc"):
        code, said = run(
            rig, "-m", CURL, "--rate", 5, "--frames", "2-5", "--influences", 8, "-o", tmp_path / f"m.{suffix}"
        )
        assert code == 0, said
    assert "half precision" in said
    from ecorche.body.compile import compile_body
    from ecorche.body.live_frames import LiveFrames

    back = read_character(tmp_path / "m.glb")
    frames = LiveFrames(compile_body(back), back.motions[0])
    theirs = usdskel_points(tmp_path / "m.usdc")[back.meshes[0].name]
    assert len(theirs) == len(frames) == 4
    for number, points in enumerate(theirs):
        assert np.abs(frames[number].points[0] - points).max() < 1e-4


def test_the_error_is_plotted(rig: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    code, said = run(rig, "-o", tmp_path / "m.glb", "--error-plot", tmp_path / "e.png", "-q")
    assert code == 0, said
    assert said == ""
    assert (tmp_path / "e.png").read_bytes().startswith(b"\x89PNG")
    assert not json.loads(_json_of(tmp_path / "m.glb")).get("animations")


def _json_of(path: Path) -> bytes:
    content = path.read_bytes()
    return content[20 : 20 + int.from_bytes(content[12:16], "little")]


def test_the_same_command_writes_the_same_bytes(rig: Path, tmp_path: Path) -> None:
    for name in ("a.glb", "b.glb"):
        code, said = run(rig, "-m", CURL, "--frames", "0-1", "-o", tmp_path / name, "-q")
        assert code == 0, said
    assert (tmp_path / "a.glb").read_bytes() == (tmp_path / "b.glb").read_bytes()


def test_what_cannot_be_is_said(data: Path, rig: Path, tmp_path: Path) -> None:
    for arguments, words in (
        ((rig, "-o", tmp_path / "m.obj"), "dilate"),
        ((data / "human" / "male_average_cmu_mb.glb", "-o", tmp_path / "m.glb"), "without muscles"),
        ((rig, "-o", tmp_path / "no" / "m.glb"), "no"),
        ((rig, "-o", tmp_path / "m.glb", "--error-plot", tmp_path / "e.txt"), ".png"),
        ((rig, "-o", tmp_path / "m.glb", "--drivers", rig), "is a file"),
        ((rig, "-o", tmp_path / "m.glb", "--frames", "0-1"), "no motion"),
        ((rig, "-o", tmp_path / "m.glb", "--activation", "1"), "no motion"),
    ):
        code, said = run(*arguments)
        assert code == 2, said
        assert words in said
    assert person(data / "human" / "male_average_cmu_mb.glb").motions == ()
    assert list(tmp_path.iterdir()) == []


def test_a_coupling_that_joints_do_not_show_and_what_was_measured_are_told(rig: Path, tmp_path: Path) -> None:
    content = json.loads(rig.read_text())
    content["coupling"] = {"regions": {"hands": "plain"}}
    coupled = rig.with_name("coupled.ecorche")
    coupled.write_text(json.dumps(content))
    code, said = run(coupled, "-o", tmp_path / "m.glb")
    assert code == 0, said
    assert "the rig's coupling (plain) is no part of joints" in said
    assert "measured over 48 drawn poses:" in said
    code, said = run(rig, "-m", CURL, "--frames", "0-1", "-o", tmp_path / "m.glb")
    assert code == 0, said
    assert "no part of joints" not in said
    assert "measured over 2 frames of 1 clip:" in said


def test_muscles_on_lines_are_refused_as_what_they_are(rig: Path, tmp_path: Path) -> None:
    done = CliRunner().invoke(
        app,
        [
            "rig",
            str(rig.with_name("man.glb")),
            "--as-lines",
            "admissible",
            "-o",
            str(tmp_path / "lines.ecorche"),
        ],
    )
    assert done.exit_code == 0, done.output
    code, said = run(tmp_path / "lines.ecorche", "-o", tmp_path / "m.glb")
    assert code == 2
    assert "muscles are meshes on action lines" in said
    assert not (tmp_path / "m.glb").exists()
