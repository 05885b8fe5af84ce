"""What ligaments, passive tendons, springs and limits do to joints, and that muscles need not do it again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from biomech_models import arm_mjcf, write_arm_osim
from ecorche.biomech.mujoco_model import MujocoModel
from ecorche.biomech.opensim_model import OpensimModel
from ecorche.biomech.solve import solve_muscles
from osim_models import opensim_package

Floats = npt.NDArray[np.float64]
POSES = [np.array([0.2, 0.3]), np.array([-0.4, 1.1]), np.array([0.5, 2.0])]
SPEED = np.array([0.7, -1.3])


@pytest.fixture(scope="module")
def opensim(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with opensim_package(tmp_path_factory.mktemp("opensim")) as package:
        yield package


def _sprung(stiffness: float = 300.0) -> MujocoModel:
    mujoco = pytest.importorskip("mujoco")
    text = arm_mjcf().replace('springlength="0.1"', f'springlength="0.1" stiffness="{stiffness}" damping="9"')
    return MujocoModel(mujoco.MjModel.from_xml_string(text))


def test_a_passive_tendon_of_mujoco_pulls_by_its_stiffness() -> None:
    model, arm = _sprung(), MujocoModel(pytest.importorskip("mujoco").MjModel.from_xml_string(arm_mjcf()))
    for q in POSES:
        arms, length = model.passive_moment_arms(q), model.passive_lengths(q)
        pull = 300.0 * (length - 0.1) + 9.0 * -(arms @ SPEED)
        np.testing.assert_allclose(model.passive_moments(q, SPEED), pull @ arms, atol=1e-9)
        np.testing.assert_allclose(arm.passive_moments(q, SPEED), 0.0, atol=1e-12)
        # what is off in inverse dynamics is off again
        np.testing.assert_allclose(
            model.inverse_dynamics(q, SPEED, SPEED), arm.inverse_dynamics(q, SPEED, SPEED), atol=1e-9
        )


def test_springs_of_joints_count_and_dampers_that_quiet_a_simulation_do_not() -> None:
    mujoco = pytest.importorskip("mujoco")
    text = arm_mjcf().replace(
        'joint name="elbow"', 'joint name="elbow" stiffness="7" springref="0.3" damping="3"'
    )
    model = MujocoModel(mujoco.MjModel.from_xml_string(text))
    assert any("Dampers of joints" in note for note in model.notes)
    elbow = [coordinate.name for coordinate in model.coordinates].index("elbow")
    for q in POSES:
        wanted = np.zeros(len(q))
        wanted[elbow] = 7.0 * (0.3 - q[elbow])
        np.testing.assert_allclose(model.passive_moments(q, SPEED), wanted, atol=1e-9)


def test_a_ligament_and_a_limit_of_opensim_pull_by_their_curves(opensim: Any, tmp_path: Path) -> None:
    path = tmp_path / "arm.osim"
    write_arm_osim(opensim, path)
    made = opensim.Model(str(path))
    forces = made.getForceSet()
    bands = [opensim.Ligament.safeDownCast(forces.get(k)) for k in range(forces.getSize())]
    (band,) = [one for one in bands if one is not None]
    band.set_pcsa_force(400.0)
    made.addForce(opensim.CoordinateLimitForce("elbow", 60.0, 20.0, 10.0, 20.0, 0.0, 10.0))
    made.finalizeConnections()
    made.printToXML(str(path))
    model = OpensimModel(path)
    curve = band.get_force_length_curve()
    pulled = 0.0
    for q in POSES:
        stretch = model.passive_lengths(q)[0] / 0.1
        pull = 400.0 * curve.calcValue(opensim.Vector(1, float(stretch))) if stretch > 1.0 else 0.0
        expected = pull * model.passive_moment_arms(q)[0]
        # 20 N·m a degree beyond 60°, reached over 10° of transition
        beyond = float(np.degrees(q[1])) - 60.0
        rest = model.passive_moments(q, np.zeros(2)) - expected
        assert rest[0] == pytest.approx(0.0, abs=1e-9)
        assert (rest[1] < -1.0) == (beyond > 2.0)
        if beyond > 10.0:
            assert rest[1] == pytest.approx(-20.0 * beyond, rel=0.2)
        pulled = max(pulled, pull)
    assert pulled > 0.0


def _added(opensim: Any, folder: Path, add: Callable[[Any], None]) -> tuple[OpensimModel, OpensimModel]:
    """The arm as it is, and with forces added."""
    bare, more = folder / "bare.osim", folder / "more.osim"
    write_arm_osim(opensim, bare)
    made = opensim.Model(str(bare))
    add(made)
    made.finalizeConnections()
    made.printToXML(str(more))
    return OpensimModel(bare), OpensimModel(more)


def _by_them(bare: OpensimModel, more: OpensimModel, q: Floats, qd: Floats) -> Floats:
    """What the added forces do."""
    return more.passive_moments(q, qd) - bare.passive_moments(q, qd)


def test_cartilage_between_bones_turns_a_joint_back_as_stiff_as_it_is(opensim: Any, tmp_path: Path) -> None:
    """A bushing whose frames meet in the elbow: its stiffness about z and its damping are all there is."""

    def add(made: Any) -> None:
        joint, none = made.getJointSet().get("fore_joint"), opensim.Vec3(0)
        stiff, damped = opensim.Vec3(5.0, 7.0, 12.0), opensim.Vec3(0.1, 0.2, 0.4)
        frames = joint.getParentFrame(), joint.getChildFrame()
        made.addForce(opensim.BushingForce("disc", *frames, opensim.Vec3(1e4), stiff, none, damped))

    bare, more = _added(opensim, tmp_path, add)
    assert not any("left out" in note for note in more.notes)
    for q in POSES:
        made = [0.0, -12.0 * q[1] - 0.4 * SPEED[1]]
        np.testing.assert_allclose(_by_them(bare, more, q, SPEED), made, atol=1e-8)


def test_springs_between_bones_do_what_their_energy_falls_by(opensim: Any, tmp_path: Path) -> None:
    """From the ground to a cap that follows the elbow, on a joint, and by a formula."""
    on_ground, on_cap = np.array([0.1, -0.2, 0.02]), np.array([0.01, 0.02, 0.03])

    def add(made: Any) -> None:
        ends = (
            made.getGround(),
            opensim.Vec3(*on_ground),
            made.getBodySet().get("cap"),
            opensim.Vec3(*on_cap),
        )
        made.addForce(opensim.PointToPointSpring(*ends, 150.0, 0.05))
        joint = opensim.SpringGeneralizedForce("elbow")
        joint.setStiffness(3.0)
        joint.setRestLength(0.4)
        made.addForce(joint)
        made.addForce(opensim.ExpressionBasedCoordinateForce("shoulder", "-2*q^3"))

    bare, more = _added(opensim, tmp_path, add)
    cap = [body.name for body in more.bodies].index("cap")

    def energy(q: Floats) -> float:
        frame = more.body_transforms(q)[cap]
        away = float(np.linalg.norm(frame[:3, :3] @ on_cap + frame[:3, 3] - on_ground))
        return float(75.0 * (away - 0.05) ** 2 + 1.5 * (q[1] - 0.4) ** 2 + 0.5 * q[0] ** 4)

    for q in POSES:
        steps = 1e-5 * np.eye(2)
        falls = [(energy(q - step) - energy(q + step)) / 2e-5 for step in steps]
        assert np.abs(falls).max() > 0.1
        np.testing.assert_allclose(_by_them(bare, more, q, np.zeros(2)), falls, atol=1e-6)
        # a spring has no memory of speed
        np.testing.assert_allclose(_by_them(bare, more, q, SPEED), falls, atol=1e-6)


def test_contacts_are_left_out_and_told(opensim: Any, tmp_path: Path) -> None:
    """A millimetre decides how hard surfaces press, and markers do not tell that."""

    def add(made: Any) -> None:
        surfaces = (
            opensim.ContactHalfSpace(opensim.Vec3(0), opensim.Vec3(0), made.getGround(), "floor"),
            opensim.ContactSphere(0.05, opensim.Vec3(0), made.getBodySet().get("fore"), "hand"),
        )
        for surface in surfaces:
            made.addContactGeometry(surface)
        contact = opensim.HuntCrossleyForce()
        contact.addGeometry("floor")
        contact.addGeometry("hand")
        contact.setStiffness(1e6)
        made.addForce(contact)

    bare, more = _added(opensim, tmp_path, add)
    assert any("HuntCrossleyForce, which a millimetre of a bone's place decides" in n for n in more.notes)
    for q in POSES:
        np.testing.assert_allclose(_by_them(bare, more, q, SPEED), 0.0, atol=1e-9)


def test_muscles_make_what_passive_tendons_do_not() -> None:
    """And a note says how much these do."""
    times = np.linspace(0.0, 0.1, 11)
    q = np.tile([0.2, 0.5], (11, 1))
    free, held = (solve_muscles(_sprung(k), times, q, cutoff=None, cost="tension") for k in (0.0, 5000.0))
    model = _sprung(5000.0)
    given = model.passive_moments(q[5], np.zeros(2))
    assert np.abs(given).max() > 0.01
    made = [one.tensions.force[5] @ model.moment_arms(q[5]) + one.tensions.reserve[5] for one in (free, held)]
    np.testing.assert_allclose(made[0] - made[1], given, atol=1e-6)
    assert any("ligaments, cartilage, springs and limits do up to" in note for note in held.notes)
    assert not any("ligaments" in note for note in free.notes)
