"""Poses told and changed joint by joint: what is set is told, limits are those of `enforce_limits`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from scipy.spatial.transform import Rotation

from ecorche.body.joint_limits import joint_limits
from ecorche.errors import SkeletonError
from ecorche.io.formats import read_character
from ecorche.skeleton.enforce_limits import broken_limits, enforce_limits
from ecorche.skeleton.joints import BallAndSocket, Knee, Revolute, Swing
from ecorche.skeleton.motion import Motion, held
from ecorche.skeleton.pose_joints import PosableJoints
from ecorche.skeleton.reach import same_twist
from ecorche.skeleton.skeleton import Skeleton, world_from_local
from ecorche.skeleton.spherical_polygon import SphericalPolygon
from ecorche.skeleton.turns import turns_from_xyzw, xyzw_from_turns

Floats = npt.NDArray[np.float64]
ELBOW, SHOULDER, KNEE = "mixamorig:LeftForeArm", "mixamorig:LeftArm", "mixamorig:RightLeg"


def joints_of(skeleton: Skeleton) -> PosableJoints:
    limits = joint_limits(skeleton, None, None)
    return PosableJoints(skeleton, limits.names, limits.models)


@pytest.fixture(scope="module")
def man(data: Path) -> PosableJoints:
    return joints_of(read_character(data / "human/male_muscular_mixamo.glb").skeleton)


@pytest.fixture(scope="module")
def horse(data: Path) -> PosableJoints:
    return joints_of(read_character(data / "mesh2motion/horse-animations.glb").skeleton)


def drawn(joints: PosableJoints, seed: int, size: float = 0.4) -> Floats:
    """A pose with every joint turned at random."""
    local = joints.skeleton.bind_local.copy()
    turns = Rotation.from_rotvec(np.random.default_rng(seed).normal(scale=size, size=(len(local), 3)))
    local[:, :3, :3] = local[:, :3, :3] @ turns.as_matrix()
    return local


def told(joints: PosableJoints, local: Floats, joint: str) -> dict[str, float]:
    return dict(joints.tell(local)[joints.number(joint)].parameters)


def test_turns_are_the_euler_angles_of_another_library() -> None:
    degrees = np.random.default_rng(3).uniform([-180, -180, -89], [180, 180, 89], size=(200, 3))
    expected = Rotation.from_euler("XZY", degrees[:, [0, 2, 1]], degrees=True)
    np.testing.assert_allclose(
        Rotation.from_quat(xyzw_from_turns(degrees)).as_matrix(), expected.as_matrix(), atol=1e-12
    )
    np.testing.assert_allclose(turns_from_xyzw(xyzw_from_turns(degrees)), degrees, atol=1e-8)
    for locked in ([30.0, 20.0, 90.0], [-50.0, 10.0, -90.0]):
        again = xyzw_from_turns(turns_from_xyzw(xyzw_from_turns(locked)))
        assert Rotation.from_quat(again).approx_equal(Rotation.from_quat(xyzw_from_turns(locked)), 1e-7)


def test_a_pose_is_told_and_set_back_joint_by_joint(man: PosableJoints, horse: PosableJoints) -> None:
    """The angles about the body's axes say everything: set joint by joint on bind, they give the pose."""
    for joints, tolerance in ((man, 1e-9), (horse, 2e-5)):  # the horse's own matrices are sheared by 1e-6
        pose = drawn(joints, 1)
        built = joints.skeleton.bind_local
        for row in joints.tell(pose):
            built = joints.with_turns(built, row.joint, row.turns, limits=False).local
        world = [world_from_local(joints.skeleton.parents, local) for local in (pose, built)]
        np.testing.assert_allclose(world[0], world[1], atol=tolerance)


def test_one_joint_is_told_as_all_are(man: PosableJoints) -> None:
    pose = drawn(man, 9)
    assert man.tell_one(pose, SHOULDER) == man.tell(pose)[man.number(SHOULDER)]


def test_the_default_pose_has_no_turn(man: PosableJoints) -> None:
    pose = man.default_pose()
    for row in man.tell(pose):
        np.testing.assert_allclose(row.turns, 0.0, atol=1e-9)
        assert row.beyond_degrees == pytest.approx(0.0, abs=1e-9)
    heads = world_from_local(man.skeleton.parents, pose)[:, :3, 3]
    arm = heads[man.number("mixamorig:LeftHand")] - heads[man.number(SHOULDER)]
    np.testing.assert_allclose(arm / np.linalg.norm(arm), [0, -1, 0], atol=1e-6)


def test_own_angles_are_set_and_the_others_stay(man: PosableJoints) -> None:
    pose = man.skeleton.bind_local
    before = told(man, pose, SHOULDER)
    posed = man.with_parameters(pose, SHOULDER, {"twist": -20.0})
    assert posed.held_degrees == 0.0
    after = told(man, posed.local, SHOULDER)
    assert after["twist"] == pytest.approx(-20.0, abs=1e-9)
    for name in ("swing_x", "swing_y"):
        assert after[name] == pytest.approx(before[name], abs=1e-9)
    # nothing but that joint's matrix, and of it nothing but its rotation
    joint = man.number(SHOULDER)
    others = [j for j in range(man.skeleton.joint_count) if j != joint]
    np.testing.assert_array_equal(posed.local[others], pose[others])
    np.testing.assert_array_equal(posed.local[joint, :, 3], pose[joint, :, 3])


def test_an_elbow_stops_at_its_limit_and_says_by_how_much(man: PosableJoints) -> None:
    posed = man.with_parameters(man.skeleton.bind_local, ELBOW, {"flexion": 200.0})
    assert posed.held_degrees == pytest.approx(50.0, abs=1e-9)
    assert told(man, posed.local, ELBOW)["flexion"] == pytest.approx(150.0, abs=1e-9)
    free = man.with_parameters(man.skeleton.bind_local, ELBOW, {"flexion": 170.0}, limits=False)
    assert free.held_degrees == 0.0
    row = man.tell(free.local)[man.number(ELBOW)]
    assert row.parameters["flexion"] == pytest.approx(170.0, abs=1e-9)
    assert row.beyond_degrees == pytest.approx(20.0, abs=1e-9)


def test_limits_are_those_of_motions(man: PosableJoints) -> None:
    """Set with limits, and set without and then brought within limits as a motion is: the same pose."""
    start = man.within_limits(drawn(man, 4)).local
    for joint, turn in (
        (SHOULDER, (0.0, 0.7, 0.3, 0.6)),
        (KNEE, (-0.8, 0.1, 0.2, 0.5)),
        (ELBOW, (0, 1, 0, 0.3)),
    ):
        unit = np.array(turn) / np.linalg.norm(turn)
        stopped = man.turned(start, joint, unit)
        free = man.turned(start, joint, unit, limits=False)
        kept, report = enforce_limits(held(man.skeleton, free.local), man.canonical_names, man.models)
        np.testing.assert_allclose(stopped.local, kept.local[0], atol=1e-9)
        (row,) = report.rows
        assert row.joint == joint
        assert stopped.held_degrees == pytest.approx(row.worst_degrees, abs=1e-7)
        assert stopped.held_degrees > 1.0


def test_a_gizmo_turns_about_the_axes_of_the_world(man: PosableJoints) -> None:
    start = drawn(man, 6)
    turn = Rotation.from_rotvec([0.2, -0.5, 0.1])
    posed = man.turned(start, ELBOW, turn.as_quat(), limits=False).local
    before, after = (world_from_local(man.skeleton.parents, p) for p in (start, posed))
    joint = man.number(ELBOW)
    np.testing.assert_allclose(after[joint, :3, :3], turn.as_matrix() @ before[joint, :3, :3], atol=1e-9)
    np.testing.assert_allclose(after[joint, :3, 3], before[joint, :3, 3], atol=1e-12)


@pytest.mark.parametrize(
    "model",
    [
        Revolute(low=-0.2, high=2.0, play=0.5),
        Knee(flexion_low=-0.2, flexion_high=2.4, twist_low=-0.5, twist_high=0.5, play=0.4),
    ],
)
def test_a_limb_bound_askew_does_not_jump(man: PosableJoints, model: Revolute | Knee) -> None:
    """Its own angles set to what they are leave the joint where it is, tilt and all."""
    joints = replace(man, models={**man.models, "l_elbow": model})
    pose = man.skeleton.bind_local
    posed = joints.with_parameters(pose, ELBOW, told(joints, pose, ELBOW), limits=False)
    np.testing.assert_allclose(posed.local, pose, atol=1e-12)


def test_every_model_keeps_its_rest() -> None:
    rotations = Rotation.from_rotvec(np.random.default_rng(2).normal(scale=0.8, size=(50, 3))).as_quat()
    triangle = [[0.6, 0.0, 0.8], [-0.5, 0.5, 0.7], [-0.5, -0.5, 0.7]]
    polygon = SphericalPolygon(np.array(triangle))
    for model in (
        Revolute(low=-1, high=1),
        Knee(flexion_low=-1, flexion_high=1, twist_low=-1, twist_high=1),
        Swing(polygon=polygon),
        BallAndSocket(polygon=polygon, twist=same_twist(-30, 30)),
    ):
        angles = model.parameters(rotations)
        same = Rotation.from_quat(model.turned_to(rotations, angles))
        assert (same * Rotation.from_quat(rotations).inv()).magnitude().max() < 1e-9
        other = model.turned_to(rotations, angles * 0.5 + 0.1)
        np.testing.assert_allclose(model.parameters(other), angles * 0.5 + 0.1, atol=1e-9)


def test_bad_requests_are_told(man: PosableJoints) -> None:
    pose = man.skeleton.bind_local
    with pytest.raises(SkeletonError, match=r"no angle 'flexoin'.*flexion"):
        man.with_parameters(pose, ELBOW, {"flexoin": 3.0})
    with pytest.raises(SkeletonError, match="Hips: it has no joint model"):
        man.with_parameters(pose, "mixamorig:Hips", {"angle": 3.0})
    with pytest.raises(SkeletonError, match="no joint 'Elbow'"):
        man.with_turns(pose, "Elbow", (0, 0, 0))
    with pytest.raises(SkeletonError, match="no quaternion"):
        man.with_rotation(pose, ELBOW, (0.0, 0.0, 0.0, np.nan))


def test_broken_limits_are_told_with_their_times(man: PosableJoints) -> None:
    flexions = np.array([20.0, 170.0, 180.0, 100.0, 100.0, 160.0, 20.0])
    pose = man.within_limits(man.skeleton.bind_local).local
    local = [man.with_parameters(pose, ELBOW, {"flexion": f}, limits=False).local for f in flexions]
    motion = Motion("bent", man.skeleton, np.arange(7) / 10.0, np.array(local))
    (row,) = broken_limits(motion, man.canonical_names, man.models)
    assert (row.joint, row.canonical) == (ELBOW, "l_elbow")
    assert row.spans == ((0.1, 0.2), (0.5, 0.5))
    assert row.worst_degrees == pytest.approx(30.0, abs=1e-6)
    assert row.worst_time == 0.2
    within, _ = enforce_limits(motion, man.canonical_names, man.models)
    assert broken_limits(within, man.canonical_names, man.models) == ()
