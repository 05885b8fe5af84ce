"""`ecorche identify`: muscles of a model from markers, of a rig from skins, used again, and refused."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from typer.testing import CliRunner

from conftest import ROOT
from ecorche.biomech.fit_memory import FitMemory
from ecorche.biomech.fit_spindle import SpindleFit
from ecorche.biomech.model_tracks import model_tracks
from ecorche.biomech.mujoco_model import MujocoModel
from ecorche.biomech.spindle_cost import Cost, OverSpindle
from ecorche.body.perform import perform
from ecorche.cli.main import app
from ecorche.cli.subject import read_rig_and_character, subject_motion
from ecorche.document.identified_spec import read_identified
from ecorche.io.opensim_storage import read_table, write_table
from ecorche.muscles.sigmoid_spindle import SigmoidSpindles

Floats = npt.NDArray[np.float64]

ARM = """
<mujoco>
  <worldbody>
    <body name="upper"><geom size="0.02"/>
      <site name="o" pos="0.06 0 0"/><site name="back" pos="-0.06 0 0"/><site name="deep" pos="0 0 0.1"/>
      <site name="below" pos="0 0 -0.15"/>
      <body name="fore" pos="0 0 -0.3"><joint name="elbow" axis="0 -1 0"/>
        <geom type="capsule" fromto="0 0 0 0 0 -0.25" size="0.02"/>
        <site name="i" pos="0.05 0 -0.05"/><site name="behind" pos="-0.05 0 0.02"/>
      </body>
    </body>
  </worldbody>
  <tendon>
    <spatial name="flexor"><site site="o"/><site site="i"/></spatial>
    <spatial name="extensor"><site site="back"/><site site="behind"/></spatial>
    <spatial name="through"><site site="deep"/><site site="below"/></spatial>
  </tendon>
  <actuator>
    <muscle name="flexor" tendon="flexor" force="300" range="0.5 1.6" lengthrange="0.25 0.36"/>
    <muscle name="extensor" tendon="extensor" force="300" range="0.5 1.6" lengthrange="0.25 0.36"/>
    <muscle name="through" tendon="through" force="1" range="0.5 1.6" lengthrange="0.25 0.5"/>
  </actuator>
</mujoco>
"""
NAMES = ("flexor", "extensor", "through")
RATE = 50.0
FRAMES = (0, 18, 30, 42)
"""Of the curl, whose skins are given."""


def _swells() -> Floats:
    made = np.zeros((9, 3))
    made[:8, 2] = np.tile([3.0, 8.0, 0.02, 0.005], 2)
    made[[2, 6], 0], made[[2, 6], 1], made[8, 2] = -0.04, 3e-5, 0.3
    return made


def _record(folder: Path, name: str, speed: float, *, scale: float = 1.0, hole: bool = False) -> None:
    """A motion of the arm that begins with half a second of rest: coordinates, forces and markers."""
    model = MujocoModel(folder / "arm.xml")
    t = np.arange(90) / RATE
    moving = np.clip((t - 0.5) / 0.1, 0.0, 1.0)
    q = (0.5 + moving * 0.4 * np.sin(speed * 4.0 * t))[:, None]
    pulls = {
        "flexor": moving * 150.0 * (1.0 + np.sin(speed * 7.0 * t)),
        "extensor": moving * 120.0 * (1.0 + np.cos(speed * 5.0 * t)),
        "through": 0.0 * t,
    }
    rng, tracks = np.random.default_rng(7), model_tracks(model, q, pulls).tracks
    spindle, places = SigmoidSpindles(_swells()[None], np.zeros(1, np.int64), np.ones(1)), []
    for track in tracks[:2]:
        along, theta = rng.uniform(0.1, 0.9, 30), rng.uniform(-1.5, 1.5, 30)
        radius = spindle.states(track.length[:, None], track.tension[:, None]).radius(along, theta)[:, 0]
        places.append(track.path.places(along, theta, radius))
    positions = scale * np.concatenate(places, axis=1)
    positions += np.random.default_rng(int(10 * speed)).normal(0.0, 2e-4, positions.shape)
    write_table(folder / f"{name}_coordinates.sto", "Coordinates", t, {"elbow": q[:, 0]})
    write_table(folder / f"{name}_forces.sto", "Tendon forces", t, pulls)
    rows = []
    for f, frame in enumerate(positions):
        numbers = [
            "" if hole and 40 <= f < 60 and k % 3 == 0 else f"{v:.6f}" for k, p in enumerate(frame) for v in p
        ]
        rows.append("\t".join([str(f + 1), f"{t[f]:.4f}", *numbers]))
    count = positions.shape[1]
    head = [
        "PathFileType\t4\t(X/Y/Z)\tm.trc",
        "DataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits\tOrigDataRate\tOrigDataStartFrame\tOrigNumFrames",
        f"{RATE}\t{RATE}\t{len(t)}\t{count}\tm\t{RATE}\t1\t{len(t)}",
        "Frame#\tTime\t" + "\t\t\t".join(f"m{k}" for k in range(count)) + "\t\t",
        "\t\t" + "\t".join(f"{axis}{k + 1}" for k in range(count) for axis in "XYZ"),
        "",
    ]
    (folder / f"{name}.trc").write_text("\n".join([*head, *rows]) + "\n")


def _run(*arguments: object) -> tuple[int, str]:
    done = CliRunner().invoke(app, [str(a) for a in arguments])
    return done.exit_code, " ".join((done.output + str(done.exception or "")).split())


def _given(folder: Path, name: str) -> list[object]:
    return [
        folder / "arm.xml", "--markers", folder / f"{name}.trc", "--coordinates",
        folder / f"{name}_coordinates.sto", "--forces", folder / f"{name}_forces.sto", "--workers", 0,
    ]  # fmt: skip


@pytest.fixture(scope="module")
def arm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("mujoco")
    folder = tmp_path_factory.mktemp("arm")
    (folder / "arm.xml").write_text(ARM)
    _record(folder, "sway", 1.0, hole=True)
    _record(folder, "other", 1.7)
    code, said = _run(
        "identify", *_given(folder, "sway"), "--rest", "0-0.4", "-o", folder / "arm.json", "--report",
        folder / "arm.html",
    )  # fmt: skip
    assert code == 0, said
    (folder / "said.txt").write_text(said)
    return folder


def test_a_model_s_muscles_are_identified_and_what_is_left_out_is_told(arm: Path) -> None:
    found, said = read_identified(arm / "arm.json"), (arm / "said.txt").read_text()
    assert list(found.spindles) == ["flexor", "extensor"]
    assert "runs through the centre of joint 'upper' in frame 0" in found.left_out["through"]
    assert "not identified, 1: its path runs through the centre of joint 'upper' (through)" in said
    assert "20 markers have gaps, 400 positions in all: these do not count" in said
    assert all(one.after < 0.6 * one.before for one in found.spindles.values())
    page = (arm / "arm.html").read_text()
    assert page.count("data:image/png") >= 3
    assert "through" in page
    assert not list(arm.glob(".arm*"))  # nothing is left of the work


def test_identified_muscles_serve_another_motion_and_a_larger_body(arm: Path, tmp_path: Path) -> None:
    code, said = _run("identify", *_given(arm, "other"), "--rest", "0-0.4", "--apply", arm / "arm.json")
    assert code == 0, said
    falls = float(said.split("the mean falls by ")[1].split(" %")[0])
    assert falls > 30.0
    code, said = _run(
        "identify", *_given(arm, "other"), "--apply", arm / "arm.json", "--size", 1.2, "-o",
        tmp_path / "large.json",
    )  # fmt: skip
    assert code == 0, said
    assert "shorter or longer here than they were seen" in said
    large, own = (read_identified(f).spindles["flexor"] for f in (tmp_path / "large.json", arm / "arm.json"))
    assert large.lengths[1] == pytest.approx(1.2 * own.lengths[1])


def test_shapes_that_do_harm_are_told_quiet_or_not(arm: Path, tmp_path: Path) -> None:
    """Muscles that are slack where they pulled: worse than spindles that do not deform."""
    table = read_table(arm / "other_forces.sto")
    slack = {name: 300.0 - pull for name, pull in table.columns.items()}
    write_table(tmp_path / "slack.sto", "Forces", table.times, slack)
    given = _given(arm, "other")
    given[given.index("--forces") + 1] = tmp_path / "slack.sto"
    given += ["--rest", "0-0.4", "--apply", arm / "arm.json"]
    code, said = _run("identify", *given, "--report", tmp_path / "other.html")
    assert code == 0, said
    assert "do more harm than good" in said
    assert re.search(r"the mean rises by \d+\.\d %", said)
    assert "The mean rises by" in (tmp_path / "other.html").read_text()
    assert "do more harm than good" in _run("identify", *given, "--quiet")[1]
    assert "harm" not in (arm / "said.txt").read_text()


def test_bad_input_is_refused_in_words(arm: Path, tmp_path: Path) -> None:
    given, out = _given(arm, "sway"), ["-o", tmp_path / "out.json"]
    _record(arm, "millimetres", 1.0, scale=1000.0)
    table = read_table(arm / "sway_coordinates.sto")
    write_table(arm / "late.sto", "Coordinates", table.times + 60.0, table.columns)
    forces = dict(read_table(arm / "sway_forces.sto").columns)
    write_table(arm / "few.sto", "Forces", table.times, {"flexor": forces["flexor"]})
    gap = forces["flexor"].copy()
    gap[7] = np.nan
    write_table(arm / "gap.sto", "Forces", table.times, forces | {"flexor": gap})
    pushing = {name: -pull for name, pull in forces.items()}
    write_table(arm / "pushing.sto", "Forces", table.times, pushing)

    def changed(option: str, value: object) -> list[object]:
        place = given.index(option) + 1
        return [*given[:place], value, *given[place + 1 :]]

    for arguments, message in (
        (changed("--markers", arm / "millimetres.trc"), "they are in millimetres"),
        (changed("--coordinates", arm / "late.sto"), "have no frame in common"),
        (changed("--forces", arm / "few.sto"), "the tension of 'extensor' is not told (2 of 3 muscles)"),
        (changed("--forces", arm / "gap.sto"), "the tension of 'flexor' has no number in row 8"),
        ([*given, "--up", "z"], "flexor: too few markers lie on it"),
        ([*given, "--start", 50], "no frame is left"),
        ([*given, "--rest", "later"], "'later' is no span of time"),
        ([*given, "--activations", arm / "gap.sto"], "how hard muscles pull is said twice"),
        ([*given, "--fat", 500], "none of the 3 muscles could be identified"),
        ([*given, "--skin", "3=x.obj"], "--skin: a model has no use for it"),
        (changed("--forces", arm / "pushing.sto"), "'flexor' pushes, by"),
        ([*given, "--clip", "walk"], "--clip: a model has no use for it"),
        ([*given, "--size", 2], "Give --apply"),
    ):
        code, said = _run("identify", *arguments, *out)
        assert code == 2, said
        assert message in said
    shutil.copy(arm / "sway_coordinates.sto", tmp_path / "own.json")  # an input by that name
    read = changed("--coordinates", tmp_path / "own.json")
    for asked, message in (
        ([*read, "-o", tmp_path / "own.json"], "own.json: would be written over, and is read"),
        ([*given, "-o", tmp_path / "own.trc"], "'.trc' is not .json. Name it .json"),
    ):
        code, said = _run("identify", *asked)
        assert code == 2
        assert message in said
    (tmp_path / "own.json").unlink()
    code, said = _run("identify", *given)
    assert code == 2
    assert "where to write the muscles is not said" in said
    assert not list(tmp_path.iterdir())


def test_interrupted_work_goes_on_where_it_was(
    arm: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from ecorche.biomech import fit_spindle, identification

    fitted: list[str] = []
    fit = fit_spindle.fit_spindle

    def once(over: OverSpindle, cost: Cost) -> SpindleFit:
        if len(fitted) == 1:
            fitted.append("interrupt")
            raise KeyboardInterrupt
        fitted.append(over.name)
        return fit(over, cost)

    monkeypatch.setattr(identification, "fit_spindle", once)
    command = ["identify", *_given(arm, "sway"), "--rest", "0-0.4", "-o", tmp_path / "arm.json"]
    assert _run(*command)[0] == 130
    assert not (tmp_path / "arm.json").exists()
    assert _run(*command)[0] == 0
    assert fitted == ["flexor", "interrupt", "extensor"]
    assert (tmp_path / "arm.json").read_bytes() == (arm / "arm.json").read_bytes()
    assert [file.name for file in tmp_path.iterdir()] == ["arm.json"]


def test_a_damaged_fit_is_found_anew(tmp_path: Path) -> None:
    numbers = np.zeros(3)
    whole = np.zeros(3, np.int64)
    over = OverSpindle("m", numbers, numbers, whole, whole, numbers, numbers, numbers)
    fit = SpindleFit(
        "m", np.ones((9, 3)) / 3.0, np.ones(9), turn=0.1, undeformed_turn=0.1, before=0.2, after=0.1,
        bare_before=0.2, bare_after=0.1, volume=0.0, seam=0.0, steps=3, notes=("so",),
    )  # fmt: skip
    memory = FitMemory(tmp_path / "kept")
    memory.keep(over, Cost(), fit)
    again = memory.find(over, Cost())
    assert again is not None
    np.testing.assert_array_equal(again.coefficients, fit.coefficients)
    assert again.notes == ("so",)
    assert memory.find(over, Cost(volume=2.0)) is None
    for file in memory.folder.iterdir():
        file.write_text("{")
    assert memory.find(over, Cost()) is None
    memory.forget()
    assert not list(tmp_path.iterdir())


@pytest.fixture(scope="module")
def sculpted(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A man with the muscles of one upper arm, and skins of four frames of a curl."""
    folder = tmp_path_factory.mktemp("sculpted")
    shutil.copy(data / "human" / "male_muscular_cmu_mb.glb", folder / "man.glb")
    code, said = _run("rig", folder / "man.glb", "-o", folder / "man.ecorche")
    assert code == 0, said
    told = json.loads((folder / "man.ecorche").read_text())
    named = told["muscles"]["named"]
    kept = [
        name for name in named if name.startswith(("biceps brachii", "triceps")) and name.endswith("right")
    ]
    told["muscles"]["named"] = {name: named[name] for name in kept}
    (folder / "man.ecorche").write_text(json.dumps(told))
    rig, character = read_rig_and_character(folder / "man.ecorche")
    motion = subject_motion(character, ROOT / "examples" / "curl.pose", None)
    take = perform(character, motion, rig=rig).take
    assert take.frames is not None
    for frame in FRAMES:
        points = take.frames[frame].points[0]
        lines = [f"v {x:.6f} {y:.6f} {z:.6f}" for x, y, z in points]
        (folder / f"{frame}.obj").write_text("\n".join([*lines, "f 1 2 3", ""]))
    return folder


def _of_rig(folder: Path) -> list[object]:
    skins = [part for frame in FRAMES for part in ("--skin", f"{frame}={folder / f'{frame}.obj'}")]
    return [folder / "man.ecorche", "--motion", ROOT / "examples" / "curl.pose", *skins, "--workers", 0]


def test_a_rig_s_muscles_are_identified_from_a_few_sculpted_skins(sculpted: Path) -> None:
    code, said = _run("identify", *_of_rig(sculpted), "-o", sculpted / "man.json")
    assert code == 0, said
    found = read_identified(sculpted / "man.json")
    assert found.frames == len(FRAMES)
    assert "biceps_brachii_long_head_right" in found.spindles
    assert float(said.split("the mean falls by ")[1].split(" %")[0]) > 3.0


def test_skins_that_do_not_fit_are_refused(sculpted: Path, tmp_path: Path) -> None:
    rig = [sculpted / "man.ecorche", "--motion", ROOT / "examples" / "curl.pose", "-o", tmp_path / "out.json"]
    points, faces = np.zeros((2, 4, 3), np.float32), np.array([[0, 1, 2]], np.int32)
    np.savez(tmp_path / "two.npz", points=points, times=np.arange(2.0), faces=faces)
    for arguments, message in (
        ([], "the skins are said nowhere"),
        (["--skin", "raised.obj"], "'raised.obj' is no frame and file"),
        (["--skin", f"5000={sculpted / '0.obj'}"], "frame 5000 is not one of the motion"),
        (["--skins", tmp_path / "two.npz"], "it has 2 frames and the motion"),
        (["--markers", "x.trc"], "--markers: a rig has no use for it"),
        (["--start", 1.0], "--start: a rig has no use for it"),
    ):
        code, said = _run("identify", *rig, *arguments)
        assert code == 2, said
        assert message in said
