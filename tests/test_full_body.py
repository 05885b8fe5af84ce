"""MuJoCo models: muscles as MuJoCo has them, scaled to a subject, and a full body that walks."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from benchmarks.full_body import is_finger, scaled_full_body, shares, walked

from bent_limbs import bend
from conftest import Figure
from ecorche.base.recordings import MarkerRecording
from ecorche.biomech.carried_markers import carried_markers
from ecorche.biomech.model_motion import body_mapping, model_motion
from ecorche.biomech.mujoco_model import MujocoModel
from ecorche.biomech.mujoco_scaling import scale_mujoco_to_subject
from ecorche.errors import EcorcheError, ReadError
from ecorche.io.marker_places import read_marker_places
from ecorche.skeleton.retarget import retarget
from osim_models import opensim_package
from rigged_people import person

ARM = """
<mujoco><compiler angle="radian"/><option gravity="0 0 -9.81"/>
  <worldbody><body name="upper"><freejoint/><inertial mass="2" pos="0 0 -0.1" diaginertia="0.03 0.02 0.01"/>
      <site name="o" pos="0.05 0 -0.02"/><site name="A" pos="0.03 0.04 0"/><site name="B" pos="0 0.03 -0.25"/>
      <body name="fore" pos="0 0 -0.3"><joint name="elbow" axis="0 -1 0" range="-0.5 2"/>
        <geom type="capsule" fromto="0 0 0 0 0 -0.25" size="0.02" mass="1.5"/>
        <site name="i" pos="0.02 0 -0.05"/><site name="C" pos="0.02 0.03 -0.05"/>
        <site name="D" pos="0.01 0 -0.24"/>
        <body name="cap" pos="0.03 0 0"><joint name="slide" type="slide" axis="1 0 0" range="-0.1 0.1"/>
          <geom size="0.01" mass="0.1"/></body>
      </body></body></worldbody>
  <equality><joint joint1="slide" joint2="elbow" polycoef="0.01 0.02 -0.005 0 0"/></equality>
  <tendon><spatial name="t"><site site="o"/><site site="i"/></spatial></tendon>
  <actuator><general name="flexor" tendon="t" gear="2" gaintype="muscle" biastype="muscle" dyntype="muscle"
    dynprm="0.01 0.04" lengthrange="0.3 0.7" gainprm="0.9 1.3 -1 200 0.4 1.7 8 1.3 1.4"
    biasprm="0.8 1.4 300 200 0.5 1.6 8 1.1 1.2"/></actuator>
</mujoco>
"""


def test_muscles_pull_as_mujoco_says(tmp_path: Path) -> None:
    """Drawn activations, lengths and speeds: the force that MuJoCo's actuator has, to rounding."""
    import mujoco

    compiled = mujoco.MjModel.from_xml_string(ARM)
    model, state = MujocoModel(compiled), mujoco.MjData(compiled)
    assert model.muscles[0].tendon_slack_length < 0.0  # which no Hill muscle could have
    rng = np.random.default_rng(3)
    for _ in range(200):
        state.qpos[7:], state.qvel[:] = rng.uniform(-3.0, 3.0, 2), 4.0 * rng.normal(size=8)
        state.act[:] = rng.uniform()
        mujoco.mj_forward(compiled, state)
        can = model.muscle_state(state.ten_length, state.ten_velocity)
        pull = state.act * can.active + can.passive
        np.testing.assert_allclose(pull, -2.0 * state.actuator_force, rtol=1e-12, atol=1e-9)


def _seen(path: Path, larger: float) -> MarkerRecording:
    """The four markers as on an arm that is larger, bent and turned."""
    model = MujocoModel(path)
    q = model.defaults() + np.array([0.3, 0.1, 0.2, 0.4, 0.1, 0.2, 0.7])
    names = ("A", "B", "C", "D")
    places = dict(zip([m.name for m in model.markers], model.marker_positions(q), strict=True))
    return MarkerRecording(names, np.zeros(1), larger * np.array([[places[name] for name in names]]))


def test_an_arm_twice_measured_is_the_larger_arm(tmp_path: Path) -> None:
    """All of it 1.2 times: lengths, slides and polynomials so, masses by the cube; ratios stay."""
    path, out = tmp_path / "arm.xml", tmp_path / "sub" / "large.xml"
    out.parent.mkdir()
    path.write_text(ARM)
    made = scale_mujoco_to_subject(path, _seen(path, 1.2), out)
    assert [one.factor for one in made.scales] == pytest.approx([1.2] * 3)
    assert made.mass == pytest.approx(1.2**3 * made.mass_before, rel=1e-5)
    assert made.rms < 1e-6 < made.rms_before
    small, large = MujocoModel(path), MujocoModel(out)
    q = large.defaults()
    q[6] = 0.9
    np.testing.assert_allclose(large.muscle_lengths(q), 1.2 * small.muscle_lengths(q), rtol=1e-5)
    np.testing.assert_allclose(
        large.body_transforms(q)[:, :3, 3], 1.2 * small.body_transforms(q)[:, :3, 3], atol=1e-5
    )
    np.testing.assert_allclose(
        large.moment_arms(q), 1.2 * small.moment_arms(q) * [0, 0, 0, 1, 1, 1, 1], atol=1e-5
    )
    one, other = small.muscles[0], large.muscles[0]
    ratio = one.tendon_slack_length / one.optimal_fibre_length
    assert other.tendon_slack_length / other.optimal_fibre_length == pytest.approx(ratio, rel=1e-4)
    assert other.max_force == pytest.approx(one.max_force, rel=1e-5)
    assert sum(body.mass for body in large.bodies) == pytest.approx(made.mass)
    weighed = scale_mujoco_to_subject(path, _seen(path, 1.2), out, mass=10.0)
    assert weighed.mass == pytest.approx(10.0, rel=1e-5)


def test_inertias_that_cannot_be_are_told_and_left_out() -> None:
    import mujoco

    heavy = ARM.replace(
        '<geom size="0.01" mass="0.1"/>', '<inertial mass="0.001" pos="0 0 0" diaginertia="1 1 1"/>'
    )
    model = MujocoModel(mujoco.MjModel.from_xml_string(heavy))
    assert any("inertias that their masses cannot have, such as 'cap'" in note for note in model.notes)
    turns = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 100.0])
    moments = [model.inverse_dynamics(model.defaults(), 0.0 * turns, k * turns)[6] for k in (0, 1)]
    assert abs(moments[1] - moments[0]) < 10.0  # 100 more with that inertia


def test_places_of_markers_are_read_or_refused(tmp_path: Path) -> None:
    table, arm = tmp_path / "places.csv", tmp_path / "arm.xml"
    arm.write_text(ARM)
    table.write_text("marker,body,x,y,z\nelbow,upper,0,0.03,-0.3\n")
    assert read_marker_places(table) == {"elbow": ("upper", (0.0, 0.03, -0.3))}
    old = tmp_path / "set.xml"
    old.write_text(
        "<OpenSimDocument><MarkerSet><objects><Marker name='w'><socket_parent_frame>/bodyset/fore"
        "</socket_parent_frame><location>0 1 2</location></Marker></objects></MarkerSet></OpenSimDocument>"
    )
    assert read_marker_places(old) == {"w": ("fore", (0.0, 1.0, 2.0))}
    for text, said in (
        ("a,b\n", "has no columns marker, body, x, y, z"),
        ("marker,body,x,y,z\n", "holds no markers"),
        ("marker,body,x,y,z\nelbow,upper,0,here,0\n", "the place of marker 'elbow' is '0 here 0'"),
        ("marker,body,x,y,z\nelbow,upper,0,0\n", "the place of marker 'elbow' is '0 0'"),
        ("marker,body,x,y,z\na,upper,0,0,0\na,upper,0,0,0\n", "marker 'a' is there twice"),
        ("marker,body,x,y,z\nelbow\n", "no name or no body"),
    ):
        table.write_text(text)
        with pytest.raises(ReadError, match=said):
            read_marker_places(table)
    with pytest.raises(EcorcheError, match=r"there is no body 'thigh'"):
        MujocoModel(arm, {"knee": ("thigh", (0.0, 0.0, 0.0))})


def test_markers_go_to_the_same_body_of_another_size() -> None:
    import mujoco

    small = MujocoModel(mujoco.MjModel.from_xml_string(ARM))
    large = MujocoModel(mujoco.MjModel.from_xml_string(ARM.replace('pos="0 0 -0.3"', 'pos="0 0 -0.36"')))
    places, notes = carried_markers(small, large)
    np.testing.assert_allclose(places["B"][1], 1.2 * np.array([0.0, 0.03, -0.25]))
    assert "upper 1.20" in notes[0]
    turned = MujocoModel(mujoco.MjModel.from_xml_string(ARM.replace('pos="0 0 -0.3"', 'pos="0.3 0 0"')))
    with pytest.raises(EcorcheError, match="frames are not the same"):
        carried_markers(small, turned)


def test_a_full_body_walks_by_its_muscles(data: Path, tmp_path: Path, figure: Figure) -> None:
    """416 muscles over a push-off: markers, root, and every torque but of fingers made within bounds."""
    with opensim_package(tmp_path):
        path, made = scaled_full_body(data, tmp_path)
    assert made.rms < 0.5 * made.rms_before
    full = walked(data, MujocoModel(path), 0.78, 0.98)
    figure("markers of a full body over a walk, rms", float(full.motion.rms.mean()), 0.010, "m")
    assert full.motion.rms.mean() < 0.010
    large = {name: share for name, share in shares(full).items() if not is_finger(name)}
    assert len(full.model.muscles) == 416
    assert len(large) == 31
    figure("reserves of a full body in a walk", max(large.values()), 0.05, "of the largest torque")
    assert max(large.values()) < 0.05
    active = full.solved.tensions.activation
    assert active.min() >= 0.0
    assert active.max() <= 1.0
    names = [muscle.name for muscle in full.model.muscles]
    assert active[:, names.index("soleus_r")].max() > 0.4  # it pushes off
    assert active[:, names.index("tibant_r")].max() < 0.1
    # on a character elbows and knees are bent as the model's are, whatever its bind pose
    motion = model_motion(full.model, full.motion.times, full.motion.q)
    skeleton = person(data / "human" / "male_muscular_cmu_mb.glb").skeleton
    moved = retarget(motion, skeleton, source_mapping=body_mapping(motion.skeleton)).motion
    for theirs, ours in (
        (("humerus_r", "ulna_r", "lunate_r"), ("RightArm", "RightForeArm", "RightHand")),
        (("femur_l", "tibia_l", "talus_l"), ("LeftUpLeg", "LeftLeg", "LeftFoot")),
    ):
        np.testing.assert_allclose(bend(moved, *ours), bend(motion, *theirs), atol=np.radians(5.0))
