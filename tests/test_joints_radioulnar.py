"""Pronation shared along the forearm."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import hypothesis.strategies as st
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from scipy.spatial.transform import Rotation

from ecorche.base.rotations import inverse_xyzw, multiply_xyzw, rotation_vector_from_xyzw, swing_twist_xyzw
from ecorche.body.perform import perform
from ecorche.errors import SkeletonError
from ecorche.io.formats import read_character, read_motion
from ecorche.skeleton.enforce_limits import joint_rotations, rotations_since_default
from ecorche.skeleton.motion import Motion, bind_pose
from ecorche.skeleton.naming.recognise import recognise
from ecorche.skeleton.radioulnar import FOREARM, forearm_turn, share_pronation
from ecorche.skeleton.skeleton import Skeleton
from rigs import skeleton_at

Floats = npt.NDArray[np.float64]

calm = settings(max_examples=40)

NAMES = ("humanoid_root", "r_shoulder", "r_elbow", "r_radioulnar", None, None, "r_radiocarpal", None)
JOINTS = ["root", "arm", "forearm", "radius", "twist_a", "twist_b", "hand", "fingers"]
PARENTS = [-1, 0, 1, 2, 2, 4, 2, 6]
# arms out sideways, palms down; twist joints a quarter and three quarters along
PLACES = [
    (0, 1, 0),
    (-0.2, 1.4, 0),
    (-0.5, 1.4, 0),
    (-0.5, 1.4, 0),
    (-0.56, 1.4, 0),
    (-0.68, 1.4, 0),
    (-0.74, 1.4, 0),
    (-0.84, 1.4, 0),
]


def arm() -> Skeleton:
    return skeleton_at(JOINTS, PARENTS, PLACES)


def moving(seed: int = 0) -> Motion:
    """Shoulder, elbow and wrist turned at random, smoothly; twist in elbow and wrist."""
    rng = np.random.default_rng(seed)
    skeleton = arm()
    local = np.tile(skeleton.bind_local, (30, 1, 1, 1))
    t = np.linspace(0.0, 1.0, 30)[:, None]
    for joint, size in ((1, 1.0), (2, 1.0), (6, 0.5)):
        turn = Rotation.from_rotvec(t * rng.uniform(-size, size, 3)).as_matrix()
        local[:, joint, :3, :3] = turn
    return Motion("arm", skeleton, np.arange(30) / 30.0, local)


def twist_about_forearm(q: Floats) -> Floats:
    return np.asarray(rotation_vector_from_xyzw(swing_twist_xyzw(q, FOREARM)[1]) @ FOREARM)


@calm
@given(st.integers(0, 10**6))
def test_bend_turn_and_swing_make_the_same_hand(seed: int) -> None:
    elbow, wrist = Rotation.random(2, random_state=seed).as_quat()
    parted = forearm_turn(elbow, wrist)
    whole = multiply_xyzw(multiply_xyzw(parted.bend_xyzw, parted.radioulnar_xyzw), parted.swing_xyzw)
    difference = multiply_xyzw(whole, inverse_xyzw(multiply_xyzw(elbow, wrist)))
    np.testing.assert_allclose(rotation_vector_from_xyzw(difference), 0.0, atol=1e-7)
    # the ulna has no twist left: bending first and tilting then never turns it about itself
    assert abs(forearm_turn(parted.bend_xyzw).turn) < 1e-9
    np.testing.assert_allclose(twist_about_forearm(parted.swing_xyzw), 0.0, atol=1e-9)


def test_pronation_alone_is_found_wherever_it_is_put() -> None:
    for elbow_share in (0.0, 0.3, 1.0):
        turn = np.radians(70.0)
        elbow = Rotation.from_rotvec(elbow_share * turn * FOREARM).as_quat()
        wrist = Rotation.from_rotvec((1.0 - elbow_share) * turn * FOREARM).as_quat()
        np.testing.assert_allclose(forearm_turn(elbow, wrist).turn, turn)


def test_the_hand_stays_and_the_turn_is_shared() -> None:
    motion = moving()
    shared = share_pronation(motion, NAMES, ["twist_a", "twist_b"])
    before, after = motion.world(), shared.world()
    for joint in ("hand", "fingers", "arm", "root"):
        number = JOINTS.index(joint)
        np.testing.assert_allclose(after[:, number], before[:, number], atol=1e-12)
    since = rotations_since_default(shared, NAMES)
    forearm = JOINTS.index("forearm")
    turns = {
        name: twist_about_forearm(
            multiply_xyzw(inverse_xyzw(since[:, forearm]), since[:, JOINTS.index(name)])
        )
        for name in ("twist_a", "twist_b", "radius")
    }
    whole = turns["radius"]
    assert np.abs(whole).max() > 0.3
    np.testing.assert_allclose(turns["twist_a"], 0.25 * whole, atol=1e-9)
    np.testing.assert_allclose(turns["twist_b"], 0.75 * whole, atol=1e-9)
    rotations = joint_rotations(shared, NAMES)
    np.testing.assert_allclose(forearm_turn(rotations["r_elbow"]).turn, 0.0, atol=1e-9)
    # the hand is turned against the ulna by all of it, and swings against the radius without twist
    parted = forearm_turn(rotations["r_elbow"], rotations["r_radiocarpal"])
    np.testing.assert_allclose(parted.turn, whole, atol=1e-9)
    # twist joints stay on the forearm
    axis = after[:, JOINTS.index("hand"), :3, 3] - after[:, forearm, :3, 3]
    offset = after[:, JOINTS.index("twist_b"), :3, 3] - after[:, forearm, :3, 3]
    np.testing.assert_allclose(offset, 0.75 * axis, atol=1e-12)
    # a second time there is nothing to do
    np.testing.assert_allclose(
        share_pronation(shared, NAMES, ["twist_a", "twist_b"]).local, shared.local, atol=1e-12
    )


def test_a_radioulnar_joint_above_the_wrist_works_as_well() -> None:
    skeleton = skeleton_at(JOINTS, [-1, 0, 1, 2, 2, 4, 3, 6], PLACES)
    motion = moving(3)
    by_name = [motion.skeleton.names.index(n) for n in skeleton.names]
    motion = Motion("arm", skeleton, motion.times, motion.local[:, by_name])
    names = tuple(NAMES[JOINTS.index(n)] for n in skeleton.names)
    shared = share_pronation(motion, names)
    hand = skeleton.names.index("hand")
    np.testing.assert_allclose(shared.world()[:, hand], motion.world()[:, hand], atol=1e-12)
    rotations = joint_rotations(shared, names)
    # against the radius, its parent, the hand has no twist
    np.testing.assert_allclose(twist_about_forearm(rotations["r_radiocarpal"]), 0.0, atol=1e-9)
    assert np.abs(twist_about_forearm(rotations["r_radioulnar"])).max() > 0.05


def test_at_bind_nothing_moves() -> None:
    still = share_pronation(bind_pose(arm()), NAMES, ["twist_a"])
    np.testing.assert_allclose(still.local[0], arm().bind_local, atol=1e-15)


def test_a_forearm_without_such_joints_is_refused(data: Path) -> None:
    motion = read_motion(data / "cmu/02_01.bvh")
    names = recognise(motion.skeleton).canonical
    with pytest.raises(
        SkeletonError, match=r"no forearm of motion '02_01' has a radioulnar or twist joint\. Name"
    ):
        share_pronation(motion, names)
    with pytest.raises(SkeletonError, match="there is no joint 'LeftForeArmTwist'"):
        share_pronation(motion, names, ["LeftForeArmTwist"])


def test_a_rig_with_a_radius_gets_the_forearms_turn_when_a_motion_is_put_on_it(data: Path) -> None:
    """A mapped radioulnar joint turns with the hand, and the hand stays where retargeting put it."""
    man = read_character(data / "human" / "male_average_cmu_mb.glb")
    bones = man.skeleton
    elbow, hand = bones.index("LeftForeArm"), bones.index("LeftHand")
    radius = Skeleton(
        (*bones.names, "LeftRadius"),
        np.append(bones.parents, np.int32(elbow)).astype(np.int32),
        np.concatenate([bones.bind_local, np.eye(4)[None]]),
        np.concatenate([bones.rest_local, np.eye(4)[None]]),
        np.concatenate([bones.tails, bones.tails[elbow][None]]),
    )
    walk = read_motion(data / "cmu" / "02_01.bvh")
    plain = perform(man, walk).take.motion
    coupled = perform(replace(man, skeleton=radius), walk, mapping={"LeftRadius": "l_radioulnar"}).take.motion
    assert plain is not None
    assert coupled is not None
    np.testing.assert_allclose(coupled.world()[:, hand], plain.world()[:, hand], atol=1e-9)
    turned = np.abs(coupled.local[:, -1, :3, :3] - np.eye(3)).max(axis=(1, 2))
    assert turned.max() > 0.2
