"""Finished results of musculoskeletal models on characters: motions, coordinates from tables, activations."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from typer.testing import CliRunner

from bent_limbs import bend
from ecorche.biomech.coordinate_tables import some_poses_from_columns
from ecorche.biomech.model_motion import body_mapping, model_motion, model_skeleton
from ecorche.biomech.mujoco_model import MujocoModel
from ecorche.biomech.read_model import read_model
from ecorche.cli.main import app
from ecorche.errors import MotionError, ReadError
from ecorche.io.opensim_storage import read_table, write_storage
from ecorche.skeleton.naming import recognise
from ecorche.skeleton.retarget import retarget
from osim_models import opensim_package
from rigged_people import person

Floats = npt.NDArray[np.float64]

MAN = Path("human", "male_average_cmu_mb.glb")
ARM = Path("arm26", "arm26.osim")
SOLVED = Path("arm26", "reference", "ComputedMuscleControl", "Results")
LEG = """
<mujoco>
  <worldbody>
    <body name="pelvis" pos="0 0 1"><freejoint name="root"/><geom size="0.1"/>
      <body name="femur_r" pos="0 -0.1 0"><joint name="hip" axis="0 -1 0"/><geom size="0.1"/>
        <body name="tibia_r" pos="0 0 -0.4"><joint name="knee" axis="0 1 0"/><geom size="0.1"/></body>
      </body>
    </body>
  </worldbody>
</mujoco>
"""


@pytest.fixture(scope="module")
def opensim(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with opensim_package(tmp_path_factory.mktemp("opensim")) as package:
        yield package


@pytest.fixture(scope="module")
def leg(tmp_path_factory: pytest.TempPathFactory) -> MujocoModel:
    path = tmp_path_factory.mktemp("leg") / "leg.xml"
    path.write_text(LEG)
    return MujocoModel(path)


def test_bodies_are_joints_where_the_model_has_them_turned_upright(leg: MujocoModel) -> None:
    skeleton = model_skeleton(leg)
    assert skeleton.names == ("pelvis", "femur_r", "tibia_r")
    assert skeleton.parents.tolist() == [-1, 0, 1]
    # MuJoCo's z is up, and here y is; what was to the right of x stays so
    there = np.array([[0.0, 1.0, 0.0], [0.0, 1.0, 0.1], [0.0, 0.6, 0.1]])
    np.testing.assert_allclose(skeleton.bind_world[:, :3, 3], there, atol=1e-12)
    poses = np.tile(leg.defaults(), (3, 1))
    names = [coordinate.name for coordinate in leg.coordinates]
    poses[:, names.index("knee")] = [0.0, 0.5, 1.0]
    motion = model_motion(leg, [0.0, 0.1, 0.2], poses)
    shins = motion.world()[:, 2, :3, :3] @ [0.0, 0.0, -1.0]
    np.testing.assert_allclose(np.arccos(shins @ shins[0]), [0.0, 0.5, 1.0], atol=1e-7)
    with pytest.raises(MotionError, match="poses of shape"):
        model_motion(leg, [0.0], poses)


def test_an_opensim_body_is_recognised_and_walks(opensim: Any, data: Path) -> None:
    model = read_model(data / "walk" / "subject_walk_scaled.osim")
    table = read_table(data / "walk" / "coordinates.sto")
    poses, notes = some_poses_from_columns(model, table.columns, degrees=table.degrees, where="walk")
    assert any("mtp_angle_r" in note for note in notes)
    motion = model_motion(model, table.times[::90], poses[::90], "walk")
    naming = recognise(motion.skeleton)
    assert naming.convention == "opensim"
    assert body_mapping(motion.skeleton) is None
    moved = retarget(motion, person(data / MAN).skeleton)
    assert max(moved.report.direction_error.values()) < 5.0  # degrees
    # the right knee bends as the model's does
    ours, theirs = (
        bend(one, *joints)
        for one, joints in (
            (moved.motion, ("RightUpLeg", "RightLeg", "RightFoot")),
            (motion, ("femur_r", "tibia_r", "talus_r")),
        )
    )
    assert np.ptp(theirs) > 0.5
    np.testing.assert_allclose(ours, theirs, atol=np.radians(4.0))


def test_a_model_of_one_arm_moves_that_arm_alone(opensim: Any, data: Path) -> None:
    model = read_model(data / ARM)
    elbow = [coordinate.name for coordinate in model.coordinates].index("r_elbow_flex")
    poses = np.tile(model.defaults(), (2, 1))
    poses[1, elbow] += 1.2
    motion = model_motion(model, [0.0, 1.0], poses)
    mapping = body_mapping(motion.skeleton)
    named = {"base": "vl5", "r_humerus": "r_shoulder", "r_ulna_radius_hand": "r_elbow"}
    assert mapping == named | {"hand_r": "r_radiocarpal"}  # the hand is in one body with the forearm
    character = person(data / MAN)
    moved = retarget(motion, character.skeleton, source_mapping=mapping)
    assert "part of a body" in " ".join(moved.report.notes)
    world = moved.motion.world()
    still = [k for k, name in enumerate(character.skeleton.names) if "Right" not in name and name[0] != "R"]
    np.testing.assert_allclose(world[1, still], world[0, still], atol=1e-9)
    forearm = world[:, character.skeleton.index("RightForeArm"), :3, :3]
    turn = forearm[1] @ forearm[0].T
    assert np.arccos((np.trace(turn) - 1.0) / 2.0) == pytest.approx(1.2, abs=1e-6)
    # the elbow is bent as the model's is, though the character stands with bent arms at bind
    bent = bend(moved.motion, "RightArm", "RightForeArm", "RightHand")
    np.testing.assert_allclose(bent, bend(motion, "r_humerus", "r_ulna_radius_hand", "hand_r"), atol=1e-6)


def test_tables_of_coordinates_in_both_styles_of_names_and_both_units(leg: MujocoModel) -> None:
    names = [coordinate.name for coordinate in leg.coordinates]
    shift = next(c.name for c in leg.coordinates if c.unit == "m")
    rows = {"hip": np.array([0.0, 90.0]), "knee": np.array([10.0, 20.0]), shift: np.array([0.5, 0.6])}
    short, notes = some_poses_from_columns(leg, rows, degrees=True, where="t")
    assert short[:, names.index("hip")] == pytest.approx([0.0, np.pi / 2])
    assert short[:, names.index(shift)] == pytest.approx([0.5, 0.6])  # never degrees
    assert "stay at the model's own values" in notes[0]
    paths = {f"/jointset/j/{name}/value": values for name, values in rows.items()}
    paths |= {f"/jointset/j/{name}/speed": values for name, values in rows.items()}
    long, _ = some_poses_from_columns(leg, paths, degrees=True, where="t")
    np.testing.assert_array_equal(long, short)
    _, told = some_poses_from_columns(leg, rows, degrees=False, where="t")
    assert told[-1] == "'hip' turns by 90 radians: are they degrees?"
    rows[shift] *= 1000.0
    _, told = some_poses_from_columns(leg, rows, degrees=True, where="t")
    assert told[-1] == f"{shift!r} is 600 m from the origin: are they millimetres?"


def test_tables_of_other_models_and_with_gaps_are_refused(leg: MujocoModel) -> None:
    with pytest.raises(MotionError, match="of 8 coordinates of the model it has 0; its columns are 'elbow'"):
        some_poses_from_columns(leg, {"elbow": np.zeros(2)}, degrees=False, where="t")
    rows = {name: np.zeros(3) for name in ("hip", "knee", leg.coordinates[0].name)}
    rows["knee"][1] = np.nan
    with pytest.raises(MotionError, match="coordinate 'knee' has no number in row 2"):
        some_poses_from_columns(leg, rows, degrees=False, where="t")


def test_files_that_are_no_models_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "body.fbx"
    file.write_text("")
    with pytest.raises(ReadError, match=r"\.fbx is no musculoskeletal model we know"):
        read_model(file)


def _run(*arguments: object) -> tuple[int, str]:
    result = CliRunner().invoke(app, [str(a) for a in arguments])
    return result.exit_code, result.output + str(result.exception or "")


def test_bake_puts_published_results_on_a_character(opensim: Any, data: Path, tmp_path: Path) -> None:
    rig, baked = tmp_path / "man.ecorche", tmp_path / "arm.npz"
    assert _run("rig", data / MAN, "-o", rig)[0] == 0
    solved = ["--model", data / ARM, "--coordinates", data / SOLVED / "arm26_Kinematics_q.sto"]
    active = ["--activations", data / SOLVED / "arm26_states.sto"]
    code, told = _run("bake", rig, *solved, *active, "--rate", 10, "-o", baked)
    assert code == 0, told
    assert "6 of 160 muscles show 6 of the model: 6 by name" in told
    assert "sought by name alone: a model of a part of a body does not say which way" in told
    code, told = _run("bake", rig, *solved, "--activation", "rest", "--rate", 10, "-o", tmp_path / "rest.npz")
    assert code == 0, told
    with np.load(baked) as tense, np.load(tmp_path / "rest.npz") as rest:
        name = next(key for key in tense.files if tense[key].ndim == 3 and tense[key].shape[1] == 13380)
        apart = np.linalg.norm(tense[name][-1] - rest[name][-1], axis=1)
    # tension alone: the biceps of the right arm, and of it millimetres
    assert 5e-4 < apart.max() < 0.02
    skeleton = person(data / MAN).skeleton
    elbow = skeleton.bind_world[skeleton.index("RightForeArm"), :3, 3]
    bind = person(data / MAN).meshes[0].mesh.points
    assert np.linalg.norm(bind[apart.argmax()] - elbow) < 0.3


def test_activations_as_opensims_tools_write_them(opensim: Any, data: Path, tmp_path: Path) -> None:
    """Reserves beside muscles are set aside, misspelt muscles and other times are not."""
    rig, out = tmp_path / "man.ecorche", ["--frames", "0-3", "-o", tmp_path / "arm.npz"]
    assert _run("rig", data / MAN, "-o", rig)[0] == 0
    solved = ["--model", data / ARM, "--coordinates", data / SOLVED / "arm26_Kinematics_q.sto"]
    code, told = _run("bake", rig, *solved, "--activations", data / SOLVED / "arm26_controls.sto", *out)
    assert code == 0, told
    assert "left out of arm26_controls.sto: 'r_shoulder_elev_reserve', 'r_elbow" in told.replace("\n", " ")
    assert "6 of 160 muscles show 6 of the model: 6 by name" in told
    muscles = ["TRIlong", "TRIlat", "TRImed", "BIClong", "BICshort", "BRA"]
    times = np.linspace(0.0, 1.0, 5)

    def written(names: list[str], times: Any) -> list[object]:
        write_storage(tmp_path / "a.sto", "a", times, {name: np.full(5, 0.5) for name in names})
        return ["bake", rig, *solved, "--activations", tmp_path / "a.sto", *out]

    code, told = _run(*written([*muscles[:-1], "BAR"], times))
    assert code == 0, told  # nothing like a muscle
    code, told = _run(*written(["TRIlnog", *muscles[1:]], times))
    assert code == 2
    assert "the model has no muscle 'TRIlnog'. Did you mean 'TRIlong'?" in told.replace("\n", " ")
    code, told = _run(*written(muscles, times + 60.0))
    assert code == 2
    assert "its activations run from 60 to 61 s, the motion from 0.03 to 0.99 s" in told.replace("\n", " ")
    (tmp_path / "a.csv").write_text("time,BRA\n5,0.5\n")  # one number, at whatever time
    code, told = _run("bake", rig, *solved, "--activations", tmp_path / "a.csv", *out)
    assert code == 0, told
    code, told = _run(*written(muscles, 0.5 * times))
    assert code == 0, told
    assert "the first and last of a.sto are held" in told.replace("\n", " ")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--coordinates", "c.mot"], "--coordinates: whose they are is not said"),
        (["--activations", "a.sto"], "--activations: whose they are is not said"),
        (["--muscle-map", "m.csv"], "--muscle-map: whose they are is not said"),
        (["--model", "m.osim"], "--model: how the model moves is not said"),
        (
            ["--model", "m.osim", "--coordinates", "c.mot", "--motion", "w.bvh"],
            "--motion: the model's results say that already",
        ),
    ],
)
def test_what_is_half_said_is_refused(data: Path, tmp_path: Path, arguments: list[str], message: str) -> None:
    code, told = _run("bake", data / MAN, *arguments, "-o", tmp_path / "x.npz")
    assert code != 0
    assert message in told.replace("\n", " ")
