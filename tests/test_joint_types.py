"""A joint made another type keeps its frame, and as much of its limits as the other can hold."""

from __future__ import annotations

import numpy as np
import pytest

from ecorche.base.rotations import rotate_xyzw
from ecorche.errors import SkeletonError
from ecorche.skeleton.human_limits import human_joint, human_joint_names
from ecorche.skeleton.joint_types import MODELS, changed_type, new_joint
from ecorche.skeleton.joint_values import joint_from_values, values_from_joint
from ecorche.skeleton.joints import BallAndSocket, Knee, Revolute, Swing

DOWN = (0.0, -1.0, 0.0)


def test_every_human_joint_can_be_of_every_type_and_stays_one() -> None:
    for name in human_joint_names():
        joint = human_joint(name)
        for model in MODELS:
            made = changed_type(joint, model, DOWN)
            assert made.model == model
            assert joint_from_values(values_from_joint(made)).model == model
            assert made.canonical_offset_xyzw == joint.canonical_offset_xyzw
            # the pose in which nothing is turned stays allowed, where it was and the type can say so
            bound = made.clamp((0.0, 0.0, 0.0, 1.0))[1]
            if not joint.clamp((0.0, 0.0, 0.0, 1.0))[1].beyond and made.model in ("swing", "ball_and_socket"):
                assert not bound.swing > 0.0, (name, model)


def test_a_knee_is_a_hinge_about_the_same_axis_and_back() -> None:
    knee = human_joint("r_knee")
    assert isinstance(knee, Knee)
    hinge = changed_type(knee, "revolute", DOWN)
    assert isinstance(hinge, Revolute)
    assert (hinge.low, hinge.high, hinge.play) == (knee.flexion_low, knee.flexion_high, knee.play)
    np.testing.assert_allclose(hinge.rotation([[0.7]]), knee.rotation([[0.7, 0.0]]), atol=1e-12)
    again = changed_type(hinge, "knee", DOWN)
    assert isinstance(again, Knee)
    np.testing.assert_allclose(again.rotation([[0.7, 0.3]]), knee.rotation([[0.7, 0.3]]), atol=1e-12)
    assert (again.flexion_low, again.flexion_high) == (knee.flexion_low, knee.flexion_high)


def test_polygons_are_kept_and_bending_is_read_from_them() -> None:
    hip = human_joint("l_hip")
    assert isinstance(hip, BallAndSocket)
    swing = changed_type(hip, "swing", DOWN)
    assert isinstance(swing, Swing)
    np.testing.assert_array_equal(swing.polygon.corners, hip.polygon.corners)
    knee = changed_type(hip, "knee", DOWN)
    assert isinstance(knee, Knee)
    assert np.degrees([knee.flexion_low, knee.flexion_high]) == pytest.approx([-30.0, 140.0], abs=1.0)
    assert knee.anatomical_frame_xyzw == hip.anatomical_frame_xyzw
    ball = changed_type(human_joint("r_knee"), "ball_and_socket", DOWN)
    assert isinstance(ball, BallAndSocket)
    bent = human_joint("r_knee")
    for degrees, allowed in ((-9.5, True), (80.0, True), (159.0, True), (-12.0, False), (162.0, False)):
        excess = ball.clamp(bent.rotation(np.radians([degrees, 0.0])))[1]
        assert bool(excess.swing == 0.0) == allowed, degrees


def test_a_hinge_along_its_limb_is_a_twist() -> None:
    forearm = human_joint("r_radioulnar")
    assert isinstance(forearm, Revolute)
    ball = changed_type(forearm, "ball_and_socket", DOWN)
    assert isinstance(ball, BallAndSocket)
    assert ball.twist.limits([0.0, 0.0]) == pytest.approx((forearm.low, forearm.high))
    np.testing.assert_allclose(ball.rotation([0.0, 0.0, 0.4]), forearm.rotation([0.4]), atol=1e-12)


@pytest.mark.parametrize("limb", [DOWN, (1.0, 0.0, 0.0), (0.3, 0.4, -0.8), (0.0, 0.0, 0.0)])
@pytest.mark.parametrize("model", MODELS)
def test_a_new_joint_bends_both_ways(model: str, limb: tuple[float, float, float]) -> None:
    joint = new_joint(model, limb)
    assert joint.model == model
    assert not joint.clamp((0.0, 0.0, 0.0, 1.0))[1].beyond
    if model != "revolute" and any(limb):
        z = rotate_xyzw(joint.anatomical_frame_xyzw, np.array([0.0, 0.0, 1.0]))
        np.testing.assert_allclose(z, np.array(limb) / np.linalg.norm(limb), atol=1e-12)


def test_an_unknown_type_is_refused() -> None:
    with pytest.raises(SkeletonError, match="no joint model 'hinge'"):
        changed_type(human_joint("r_knee"), "hinge", DOWN)
