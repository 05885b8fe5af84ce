"""Musculoskeletal models: the same arm by two packages, derivatives, followers, and what is refused."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from biomech_models import GRAVITY, arm_mjcf, write_arm_osim
from conftest import skip_or_fail
from ecorche.biomech.model import ExternalForce, MusculoskeletalModel
from ecorche.biomech.mujoco_model import MujocoModel
from ecorche.biomech.opensim_model import OpensimModel
from ecorche.errors import EcorcheError, MissingPackageError, MotionError, ReadError
from ecorche.io.osim import muscle_lengths, read_osim
from osim_models import ARM_FILE, WALKER_FILE, opensim_package

Floats = npt.NDArray[np.float64]


@pytest.fixture(scope="module")
def opensim(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with opensim_package(tmp_path_factory.mktemp("opensim")) as package:
        yield package


@pytest.fixture(scope="module")
def mujoco() -> Any:
    try:
        import mujoco as package
    except ImportError:
        skip_or_fail("the package mujoco is not installed")
    return package


@pytest.fixture(scope="module")
def arms(
    opensim: Any, mujoco: Any, tmp_path_factory: pytest.TempPathFactory
) -> tuple[MujocoModel, OpensimModel]:
    path = tmp_path_factory.mktemp("arm") / "arm.osim"
    write_arm_osim(opensim, path)
    return MujocoModel(mujoco.MjModel.from_xml_string(arm_mjcf())), OpensimModel(path)


@pytest.fixture(scope="module")
def walker(opensim: Any, data: Path) -> OpensimModel:
    return OpensimModel(data / WALKER_FILE)


FLOATING = """<mujoco><compiler angle="radian"/><worldbody><body name="trunk" pos="0 0 1" quat="0.8 0.6 0 0">
  <freejoint name="root"/><inertial mass="3" pos="0.01 0.02 0.03" diaginertia="0.03 0.02 0.04"/>
  <site name="top" pos="0.1 0.2 0.3"/>
  <body name="limb" pos="0.2 0 0"><joint name="hip" type="ball"/>
    <inertial mass="1" pos="0 0 -0.2" diaginertia="0.01 0.012 0.003"/><site name="tip" pos="0 0.1 -0.4"/>
    <body name="foot" pos="0 0 -0.4"><joint name="ankle" axis="0 1 0"/><joint name="toe" axis="1 0 0"/>
      <inertial mass="0.5" pos="0.05 0 0" diaginertia="0.001 0.002 0.002"/>
      <site name="end" pos="0.1 0 0"/></body>
  </body></body></worldbody>
  <equality><joint joint1="toe" joint2="ankle" polycoef="0.1 0.5 0.2 -0.1 0"/></equality></mujoco>"""


@pytest.fixture(scope="module")
def floating(mujoco: Any) -> MujocoModel:
    """A body that floats, with a ball joint and a joint that follows another."""
    return MujocoModel(mujoco.MjModel.from_xml_string(FLOATING))


def derivative(function: Any, q: Floats, step: float = 1e-6) -> Floats:
    """Central difference, the coordinates last."""
    steps = np.eye(len(q)) * step
    return np.stack([(function(q + h) - function(q - h)) / (2.0 * step) for h in steps], axis=-1)


def same(one: Floats, other: Floats) -> None:
    np.testing.assert_allclose(one, other, rtol=0.0, atol=1e-9)


def random_pose(model: MusculoskeletalModel, seed: int) -> Floats:
    shift = np.random.default_rng(seed).uniform(0.02, 0.4, len(model.coordinates))
    return np.asarray(model.defaults() + shift)


def test_both_packages_say_the_same_of_one_arm(arms: tuple[MujocoModel, OpensimModel]) -> None:
    """Lengths, moment arms, markers, bodies and moments of a moving arm: to rounding."""
    one, other = arms
    for model in arms:
        assert isinstance(model, MusculoskeletalModel)
    assert [replace(c, default=0.0) for c in one.coordinates] == [
        replace(c, default=0.0) for c in other.coordinates
    ]
    assert [c.name for c in one.coordinates] == ["shoulder", "elbow"]  # the slide follows
    assert [(c.low, c.high, c.unit) for c in one.coordinates] == [(-2.0, 2.0, "rad"), (0.0, 2.5, "rad")]
    assert one.bodies == other.bodies
    assert {m.name: m for m in one.markers} == {m.name: m for m in other.markers}
    assert [p.rest_length for p in one.passive_paths] == [p.rest_length for p in other.passive_paths] == [0.1]
    assert [p.kind for p in one.passive_paths] == ["tendon"]
    assert [p.kind for p in other.passive_paths] == ["ligament"]
    order = [[m.name for m in one.markers].index(m.name) for m in other.markers]
    push = ExternalForce(
        "fore", np.array([3.0, 40.0, -7.0]), np.array([0.1, -0.4, 0.05]), np.array([0.5, 1.0, -2.0])
    )
    rng = np.random.default_rng(3)
    for seed in range(5):
        q = random_pose(one, seed)
        qd, qdd = rng.normal(size=(2, 2)) * [[3.0], [20.0]]
        same(one.muscle_lengths(q), other.muscle_lengths(q))
        same(one.moment_arms(q), other.moment_arms(q))
        same(one.passive_lengths(q), other.passive_lengths(q))
        same(one.passive_moment_arms(q), other.passive_moment_arms(q))
        same(one.marker_positions(q)[order], other.marker_positions(q))
        same(one.marker_jacobian(q)[order], other.marker_jacobian(q))
        same(one.body_transforms(q), other.body_transforms(q))
        mine = one.inverse_dynamics(q, qd, qdd, [push])
        np.testing.assert_allclose(mine, other.inverse_dynamics(q, qd, qdd, [push]), rtol=1e-7, atol=1e-7)
        for a, b in (
            (one.muscle_paths(q), other.muscle_paths(q)),
            (one.passive_path_points(q), other.passive_path_points(q)),
        ):
            assert list(a) == list(b)
            for name in a:
                assert a[name].bodies == b[name].bodies
                same(a[name].points, b[name].points)


def test_muscle_of_mujoco_has_the_lengths_of_its_range(arms: tuple[MujocoModel, OpensimModel]) -> None:
    """0.2 to 0.4 m is 0.5 to 1.5 fibre lengths: a fibre of 0.2 m, a tendon of 0.1 m."""
    (muscle,) = arms[0].muscles
    np.testing.assert_allclose(
        [muscle.max_force, muscle.optimal_fibre_length, muscle.tendon_slack_length, muscle.max_velocity],
        [800.0, 0.2, 0.1, 1.5],
    )
    (theirs,) = arms[1].muscles
    assert (theirs.max_force, theirs.optimal_fibre_length, theirs.tendon_slack_length) == (800.0, 0.2, 0.1)
    assert theirs.pennation == pytest.approx(0.1)


@pytest.mark.parametrize("which", ["floating", "walker", "mujoco arm", "opensim arm"])
def test_jacobians_are_derivatives(which: str, request: pytest.FixtureRequest) -> None:
    if which.endswith("arm"):
        model = request.getfixturevalue("arms")[which.startswith("opensim")]
    else:
        model = request.getfixturevalue(which)
    q = random_pose(model, 1)
    np.testing.assert_allclose(model.marker_jacobian(q), derivative(model.marker_positions, q), atol=2e-9)
    if which.endswith("arm"):
        np.testing.assert_allclose(model.moment_arms(q), -derivative(model.muscle_lengths, q), atol=1e-9)
        np.testing.assert_allclose(
            model.passive_moment_arms(q), -derivative(model.passive_lengths, q), atol=1e-9
        )


def test_moment_arms_are_opensims(walker: OpensimModel, data: Path) -> None:
    """All muscles about all coordinates; but for one muscle whose path OpenSim does not draw tight."""
    for model in (walker, OpensimModel(data / ARM_FILE)):
        for seed in range(2):
            q = random_pose(model, seed)
            arms = model.moment_arms(q)
            known = model._m.getCoordinateSet()
            for row, one in zip(arms, model._muscle_components, strict=True):
                theirs = [one.computeMomentArm(model._s, known.get(c.name)) for c in model.coordinates]
                if one.getName().startswith(
                    "gaslat"
                ):  # theirs has an arm about the pelvis, which it does not cross
                    np.testing.assert_allclose(row, theirs, atol=5e-4)
                    assert abs(row[:6]).max() < 1e-12
                else:
                    np.testing.assert_allclose(row, theirs, rtol=0.0, atol=1e-10)


def test_lengths_are_those_of_our_own_reader(opensim: Any, data: Path) -> None:
    model, ours = OpensimModel(data / ARM_FILE), read_osim(data / ARM_FILE)
    q = model.defaults() + 0.3
    named = dict(zip([c.name for c in model.coordinates], q.tolist(), strict=True))
    lengths = muscle_lengths(ours, named)
    np.testing.assert_allclose(model.muscle_lengths(q), [lengths[m.name] for m in model.muscles], atol=1e-4)


def test_a_body_that_floats_obeys_newton(floating: MujocoModel) -> None:
    """At rest in a lift that accelerates: the root carries all mass times gravity and acceleration."""
    assert floating.root == tuple(f"root_{k}" for k in ("tx", "ty", "tz", "rx", "ry", "rz"))
    q, still = random_pose(floating, 2), np.zeros(len(floating.coordinates))
    lift = still.copy()
    lift[:3] = 0.4, -1.0, 2.0
    np.testing.assert_allclose(
        floating.inverse_dynamics(q, still, lift)[:3], 4.5 * np.array([0.4, -1.0, 2.0 + 9.81]), atol=1e-9
    )


def test_moments_do_the_work_that_changes_energy(floating: MujocoModel, mujoco: Any) -> None:
    """Power of the coordinates is the rate of energy, kinetic and potential, ball and follower included."""

    def energy(q: Floats, qd: Floats) -> float:
        m, d = floating._m, floating._d
        d.qpos[:] = floating._joints.qpos(q)
        d.qvel[:] = floating._joints.speeds(q) @ qd
        mujoco.mj_fwdPosition(m, d)
        mujoco.mj_fwdVelocity(m, d)
        mujoco.mj_energyPos(m, d)
        mujoco.mj_energyVel(m, d)
        floating._posed = None
        return float(d.energy.sum())

    rng = np.random.default_rng(5)
    q, qd, qdd = random_pose(floating, 4), *rng.normal(size=(2, len(floating.coordinates)))
    h = 1e-5
    ends = [energy(q + s * qd + 0.5 * s * s * qdd, qd + s * qdd) for s in (h, -h)]
    assert floating.inverse_dynamics(q, qd, qdd) @ qd == pytest.approx(
        (ends[0] - ends[1]) / (2 * h), rel=1e-7
    )


def test_an_external_force_works_through_its_point(floating: MujocoModel) -> None:
    q, still = random_pose(floating, 6), np.zeros(len(floating.coordinates))
    names = [marker.name for marker in floating.markers]
    force = np.array([10.0, -20.0, 30.0])
    for name, body in (("tip", "limb"), ("end", "foot")):
        k = names.index(name)
        push = ExternalForce(body, force, floating.marker_positions(q)[k], np.zeros(3))
        gained = floating.inverse_dynamics(q, still, still) - floating.inverse_dynamics(
            q, still, still, [push]
        )
        np.testing.assert_allclose(gained, force @ floating.marker_jacobian(q)[k], atol=1e-9)


def test_a_person_of_416_muscles_stands_on_its_weight(mujoco: Any) -> None:
    try:
        import myo_sim
    except ImportError:
        skip_or_fail("the package myo-sim is not installed")
    heard: list[str] = []
    mujoco.set_mju_user_warning(heard.append)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = MujocoModel(myo_sim.load_model("myofullbody"))
    mujoco.set_mju_user_warning(None)
    assert (len(model.muscles), len(model.passive_paths)) == (416, 8)
    q = random_pose(model, 0)
    still = np.zeros_like(q)
    up = model.inverse_dynamics(q, still, still)[2]
    assert up == pytest.approx(9.81 * sum(body.mass for body in model.bodies))
    np.testing.assert_allclose(model.moment_arms(q), -derivative(model.muscle_lengths, q), atol=1e-7)
    for name, path in model.muscle_paths(q).items():
        if len(path.points) == 2:  # a straight one is as long as its points are apart
            k = [muscle.name for muscle in model.muscles].index(name)
            apart = np.linalg.norm(path.points[1] - path.points[0])
            assert model.muscle_lengths(q)[k] == pytest.approx(float(apart), abs=1e-12)


def test_markers_may_be_placed_by_the_caller(mujoco: Any) -> None:
    model = mujoco.MjModel.from_xml_string(arm_mjcf())
    placed = MujocoModel(model, {"wrist": ("fore", (0.0, -0.2, 0.0)), "belly": ("upper", (0.1, 0.0, 0.0))})
    assert [m.name for m in placed.markers] == ["elbow", "cap", "wrist", "belly"]
    np.testing.assert_allclose(placed.marker_positions(placed.defaults())[2], [0.0, -0.5, 0.0], atol=1e-12)
    with pytest.raises(EcorcheError, match=r"marker 'belly': there is no body 'uper'. Did you mean 'upper'"):
        MujocoModel(model, {"belly": ("uper", (0.1, 0.0, 0.0))})


def test_poses_with_gaps_are_refused(arms: tuple[MujocoModel, OpensimModel]) -> None:
    for model in arms:
        with pytest.raises(MotionError, match=r"the pose has no number for 'elbow'. Fill the gap first"):
            model.muscle_lengths(np.array([0.1, np.nan]))
        with pytest.raises(MotionError, match=r"a pose of shape \(3,\) for 2 coordinates"):
            model.marker_positions(np.zeros(3))
        with pytest.raises(MotionError, match=r"the speed has no number for 'shoulder'"):
            model.inverse_dynamics(np.zeros(2), np.array([np.inf, 0.0]), np.zeros(2))


def test_models_without_masses_have_no_moments(opensim: Any, mujoco: Any, tmp_path: Path) -> None:
    path = tmp_path / "arm.osim"
    write_arm_osim(opensim, path, masses=1e-9)
    light = MujocoModel(mujoco.MjModel.from_xml_string(arm_mjcf(masses=1e-9)))
    for model in (light, OpensimModel(path)):
        with pytest.raises(EcorcheError, match=r"no body of the model has a mass.*Give its bodies masses"):
            model.inverse_dynamics(np.zeros(2), np.zeros(2), np.zeros(2))


def test_what_a_force_acts_on_must_be_a_body(arms: tuple[MujocoModel, OpensimModel]) -> None:
    push = ExternalForce("form", np.zeros(3), np.zeros(3), np.zeros(3))
    for model in arms:
        with pytest.raises(EcorcheError, match=r"there is no body 'form'. Did you mean 'fore'"):
            model.inverse_dynamics(np.zeros(2), np.zeros(2), np.zeros(2), [push])


def test_ties_that_no_coordinate_follows_are_refused(mujoco: Any) -> None:
    tied = mujoco.MjModel.from_xml_string(arm_mjcf(extra='<weld name="glue" body1="fore" body2="cap"/>'))
    with pytest.raises(ReadError, match=r"equality 'glue' is a weld.*or make it inactive"):
        MujocoModel(tied)
    twice = mujoco.MjModel.from_xml_string(
        arm_mjcf(extra='<joint name="again" joint1="slide" joint2="shoulder"/>')
    )
    with pytest.raises(ReadError, match=r"two equalities lead the joint of 'again'"):
        MujocoModel(twice)
    circle = mujoco.MjModel.from_xml_string(arm_mjcf(extra='<joint joint1="elbow" joint2="slide"/>'))
    with pytest.raises(ReadError, match=r"in a circle"):
        MujocoModel(circle)


def test_bad_files_are_refused(
    opensim: Any, mujoco: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ReadError, match=r"no.osim"):
        OpensimModel(tmp_path / "no.osim")
    for model, suffix, who in ((OpensimModel, "osim", "OpenSim"), (MujocoModel, "xml", "MuJoCo")):
        broken = tmp_path / f"broken.{suffix}"
        broken.write_text("<nothing")
        with pytest.raises(ReadError, match=f"{who} does not accept it"):
            model(broken)
    monkeypatch.setitem(__import__("sys").modules, "mujoco", None)
    with pytest.raises(MissingPackageError, match=r'pip install "ecorche\[mujoco\]"'):
        MujocoModel(tmp_path / "broken.xml")
    monkeypatch.setitem(__import__("sys").modules, "opensim", None)
    with pytest.raises(MissingPackageError, match=r'pip install "ecorche\[opensim\]"'):
        OpensimModel(tmp_path / "broken.osim")


def test_a_joint_whose_speeds_are_no_rates_is_refused(opensim: Any, tmp_path: Path) -> None:
    model = opensim.Model()
    body = opensim.Body("ball", 1.0, opensim.Vec3(0), opensim.Inertia(1.0))
    model.addBody(body)
    model.addJoint(opensim.BallJoint("socket", model.getGround(), body))
    model.finalizeConnections()
    model.printToXML(str(tmp_path / "ball.osim"))
    with pytest.raises(ReadError, match=r"Replace ball and free joints by custom joints"):
        OpensimModel(tmp_path / "ball.osim")


def test_gravity_is_what_the_files_say(arms: tuple[MujocoModel, OpensimModel]) -> None:
    """The upper arm hanging, the forearm level: a moment of its mass and the cap's about the shoulder."""
    q = np.array([0.0, np.pi / 2])
    slide = 0.02 - 0.03 * q[1] + 0.01 * q[1] ** 2
    expected = GRAVITY * (2.0 * 0.01 + 1.3 * 0.12 + 0.4 * (0.05 + slide))
    for model in arms:
        assert model.inverse_dynamics(q, np.zeros(2), np.zeros(2))[0] == pytest.approx(expected, rel=1e-9)
