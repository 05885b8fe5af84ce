"""From markers, ground forces and EMG to what muscles do, and from there onto a character."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from conftest import Figure
from ecorche.biomech.mujoco_model import MujocoModel
from ecorche.biomech.read_model import read_model
from ecorche.biomech.solve import solve_muscles
from ecorche.cli.main import app
from ecorche.cli.solve import FILES
from ecorche.errors import EcorcheError
from ecorche.io.opensim_storage import read_storage, read_table, write_table
from osim_models import ARM_FILE, opensim_package

ARM = """
<mujoco>
  <option gravity="0 0 -9.81"/>
  <worldbody>
    <body name="upper"><geom size="0.02" mass="1"/>
      <site name="o" pos="0.05 0 0"/><site name="back" pos="-0.05 0 0"/>
      <body name="fore" pos="0 0 -0.3"><joint name="elbow" axis="0 -1 0"/>
        <geom type="capsule" fromto="0 0 0 0 0 -0.25" size="0.02" mass="1.5"/>
        <site name="i" pos="0.02 0 -0.05"/><site name="behind" pos="-0.02 0 0.02"/>
      </body>
    </body>
  </worldbody>
  <tendon>
    <spatial name="flexor"><site site="o"/><site site="i"/></spatial>
    <spatial name="extensor"><site site="back"/><site site="behind"/></spatial>
  </tendon>
  <actuator>
    <muscle name="flexor" tendon="flexor" force="800" range="0.5 1.6" lengthrange="0.25 0.36"/>
    <muscle name="extensor" tendon="extensor" force="800" range="0.5 1.6" lengthrange="0.25 0.36"/>
  </actuator>
</mujoco>
"""


@pytest.fixture(scope="module")
def opensim(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with opensim_package(tmp_path_factory.mktemp("opensim")) as package:
        yield package


def _run(*arguments: object) -> tuple[int, str]:
    result = CliRunner().invoke(app, [str(a) for a in arguments])
    return result.exit_code, (result.output + str(result.exception or "")).replace("\n", " ")


def test_an_arm_held_out_is_held_by_its_flexor_alone(tmp_path: Path) -> None:
    (tmp_path / "arm.xml").write_text(ARM)
    model = MujocoModel(tmp_path / "arm.xml")
    times, q = np.arange(30) / 60.0, np.full((30, 1), np.radians(60.0))
    solved = solve_muscles(model, times, q, cost="tension", cutoff=None)
    # 1.5 kg, 12.5 cm away from the elbow, 60 degrees from hanging
    held = 1.5 * 9.81 * 0.125 * np.sin(np.radians(60.0))
    assert np.abs(solved.moments.moments[10, 0]) == pytest.approx(held, rel=0.02)
    arms = model.moment_arms(q[0])[:, 0]
    flexor, extensor = solved.tensions.force[10]
    assert flexor * arms[0] == pytest.approx(solved.moments.moments[10, 0], rel=0.01)
    assert extensor == pytest.approx(0.0, abs=1e-6)
    assert not solved.tensions.short
    # by activation, at their lengths, they do the same work
    active = solve_muscles(model, times, q, cutoff=None)
    torque = active.tensions.force[10] @ arms + active.tensions.reserve[10, 0]
    assert torque == pytest.approx(active.moments.moments[10, 0], rel=1e-6)
    np.testing.assert_allclose(active.lengths[10], model.muscle_lengths(q[0]))


def test_results_hold_no_marker_errors_of_an_earlier_run(tmp_path: Path) -> None:
    (tmp_path / "arm.xml").write_text(ARM)
    times = np.arange(30) / 60.0
    write_table(tmp_path / "held.sto", "Coordinates", times, {"elbow": np.full(30, 1.0)})
    solved = tmp_path / "solved"
    solved.mkdir()
    write_table(solved / "marker_errors.sto", "Marker errors", times, {"marker_error_RMS": np.ones(30)})
    code, told = _run("solve", tmp_path / "arm.xml", "--coordinates", tmp_path / "held.sto", "-o", solved)
    assert code == 0, told
    assert {path.name for path in solved.iterdir()} == set(FILES)
    own = solved / "coordinates.sto"
    before = own.read_bytes()
    code, told = _run("solve", tmp_path / "arm.xml", "--coordinates", own, "-o", solved)
    assert code == 2
    assert "coordinates.sto: would be written over, and is read" in told
    assert own.read_bytes() == before


def test_a_model_without_muscles_is_refused(tmp_path: Path) -> None:
    bare = ARM[: ARM.index("  <actuator>")] + "</mujoco>"
    (tmp_path / "bare.xml").write_text(bare)
    with pytest.raises(EcorcheError, match="has no muscles to solve for"):
        solve_muscles(MujocoModel(tmp_path / "bare.xml"), np.arange(9) / 60.0, np.zeros((9, 1)))


def test_a_walk_from_markers_forces_and_emg_to_a_characters_skin(
    opensim: Any, data: Path, tmp_path: Path, figure: Figure
) -> None:
    walk, folder, table = data / "walk", tmp_path / "solved", tmp_path / "emg.csv"
    model = walk / "subject_walk_scaled.osim"
    table.write_text("channel,muscle,side\nsoleus,soleus,right\ngastrocnemius,gasmed,right\n")
    asked = ["solve", model, "--markers", walk / "markers_walk.trc", "--forces", walk / "grf_walk.xml"]
    asked += ["--start", 0.8, "--end", 1.0, "-o", folder]
    code, told = _run(*asked)
    assert code == 0, told
    assert "mm rms from the model's" in told
    # joints without muscles are told in one line, all of them
    (bare,) = re.findall(r"no muscle crosses ([^:]+): reserves", told)
    assert "lumbar_extension (" in bare
    assert bare.count(" N·m)") == 13
    times, plain = read_storage(folder / "activations.sto")
    assert len(plain) == 80
    assert times[0] == pytest.approx(0.8)
    assert all((values >= 0.0).all() and (values <= 1.0).all() for values in plain.values())
    # the moments that were asked for are made: what is left is at joints without muscles
    moments, forces = read_table(folder / "moments.sto"), read_table(folder / "forces.sto")
    coordinates = read_table(folder / "coordinates.sto")
    assert not coordinates.degrees
    read = read_model(model)
    frame = 10
    q = np.array([coordinates.column(c.name)[frame] for c in read.coordinates])
    made = np.array([forces.column(m.name)[frame] for m in read.muscles]) @ read.moment_arms(q)
    knee = [c.name for c in read.coordinates].index("knee_angle_r")
    wanted = float(moments.column("knee_angle_r_moment")[frame])
    figure("knee moment that muscles make, walk", abs(made[knee] / wanted - 1.0) * 100.0, 5.0, "%")
    assert made[knee] == pytest.approx(wanted, rel=0.05, abs=0.5)
    # measured activity draws its muscle towards it
    with_emg = ["--emg", walk / "electromyography.sto", "--emg-table", table, "--emg-weight", 5.0]
    code, told = _run(*asked[:-1], tmp_path / "emg", *with_emg)
    assert code == 0, told
    assert "soleus, gastrocnemius: is an envelope already" in told  # alike in one line
    measured = read_table(walk / "electromyography.sto")
    target = np.interp(times, measured.times, measured.column("soleus") / measured.column("soleus").max())
    drawn = read_storage(tmp_path / "emg" / "activations.sto")[1]["soleus_r"]
    assert np.abs(drawn - target).mean() < np.abs(plain["soleus_r"] - target).mean()
    # and its neighbours to the time courses it shows
    courses = [*with_emg, "--emg-delay", 0.04, "--emg-synergies", "1,2"]
    code, told = _run(*asked[:-1], tmp_path / "synergies", *courses)
    assert code == 0, told
    also = read_storage(tmp_path / "synergies" / "activations.sto")[1]
    assert np.abs(also["gaslat_r"] - plain["gaslat_r"]).max() > 0.01
    assert also["gaslat_l"] == pytest.approx(plain["gaslat_l"], abs=1e-9)  # the other leg has no EMG
    code, told = _run(*asked[:-1], tmp_path / "synergies", *with_emg, "--emg-synergies", "3")
    assert code != 0
    assert "2 channels on a limb have no 3 courses" in told
    # and onto a person
    rig, baked = tmp_path / "man.ecorche", tmp_path / "walk.npz"
    assert _run("rig", data / "human" / "male_average_cmu_mb.glb", "-o", rig)[0] == 0
    results = ["--coordinates", folder / "coordinates.sto", "--activations", folder / "activations.sto"]
    code, told = _run("bake", rig, "--model", model, *results, "--rate", 30, "-o", baked)
    assert code == 0, told
    assert "54 of 160 muscles show 80 of the model: 52 by name, 2 by place" in told


def test_a_recording_far_from_a_model_that_stands_fast_is_refused(
    opensim: Any, data: Path, tmp_path: Path
) -> None:
    markers = data / "arm26" / "reference" / "InverseKinematics" / "arm26_elbow_flex.trc"
    code, told = _run("solve", data / ARM_FILE, "--markers", markers, "--end", 0.1, "-o", tmp_path / "solved")
    assert code == 2
    assert "its markers are 800 mm rms from the model's in its best pose, more than 200 mm" in told
    assert "The model is fixed to the ground" in told
    assert not (tmp_path / "solved").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "how the body moves is said nowhere"),
        (["--markers", "m.trc", "--coordinates", "c.mot"], "how the body moves is said twice"),
        (["--markers", "m.trc", "--emg", "e.sto"], "a recording and its table belong together"),
        (["--markers", "m.trc", "--emg-synergies", "3"], "there is no --emg for it"),
        (["--markers", "m.trc", "--plate", "1=fore"], "there is no --forces for it"),
        (["--coordinates", "c.mot", "--weight", "R.Heel=5"], "there is no --markers for it"),
        (["--markers", "m.trc", "--cost", "tension", "--power", "3"], "--cost tension has no activations"),
        (["--markers", "m.xlsx"], "is no file of markers"),
        (["--markers", "m.trc", "--forces", "f.txt"], "holds no ground forces"),
        (["--markers", "m.trc", "--forces", "f.mot"], "does not say which of its columns push which body"),
        (["--markers", "m.trc", "--weight", "R.Heel"], "'R.Heel' is no name and number"),
        (["--markers", "m.trc", "--up", "w"], "no axis 'w' points up"),
    ],
)
def test_what_is_half_said_is_refused(data: Path, tmp_path: Path, arguments: list[str], message: str) -> None:
    (tmp_path / "arm.xml").write_text(ARM)
    real = {"m.trc": data / "walk" / "markers_walk.trc"}
    given = [real.get(text, text) for text in arguments]
    code, told = _run("solve", tmp_path / "arm.xml", *given, "-o", tmp_path / "out")
    assert code != 0
    assert message in told
    assert not (tmp_path / "out").exists()
