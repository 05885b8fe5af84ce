"""What muscles found in the skin do to joints: moment arms, and work when a joint turns their way."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from ecorche.base.rotations import matrix_from_xyzw, xyzw_from_axis_angle
from ecorche.body.character import Character
from ecorche.muscles.activation import JointDriven
from ecorche.muscles.lofted_actions import actions_of, length_gradients
from ecorche.muscles.root_curves import root_curves
from ecorche.skeleton.naming import recognise
from lofted_arms import Arm, person


@pytest.fixture(scope="module")
def man(data: Path) -> Character:
    return person(data / "human" / "male_muscular_cmu_mb.glb")


@pytest.fixture(scope="module")
def arm(man: Character) -> Arm:
    return Arm(man.skeleton)


def test_gradients_are_those_of_finite_differences(man: Character, arm: Arm) -> None:
    """Wraps that hang above and below the joint, and a muscle upside down."""
    skeleton = man.skeleton
    assert arm.biceps.wrap is not None
    assert arm.triceps.wrap is not None
    on_elbow = replace(arm.triceps, name="b", wrap=replace(arm.triceps.wrap, joint=arm.elbow))
    back = replace(arm.biceps, name="c", joints=(arm.elbow, arm.shoulder), ends=arm.biceps.ends[::-1])
    assert back.wrap is not None
    back = replace(back, wrap=replace(arm.biceps.wrap, axis=-arm.biceps.wrap.axis, radius=0.035))
    curves = root_curves([arm.biceps, arm.triceps, on_elbow, back], skeleton.joint_count)
    gradient = length_gradients(curves, skeleton)
    h = 1e-5
    for joint in (arm.shoulder, arm.elbow, int(skeleton.parents[arm.shoulder])):
        below = {joint}
        for child, parent in enumerate(skeleton.parents):
            if int(parent) in below:
                below.add(child)
        centre = skeleton.bind_world[joint, :3, 3]
        for k in range(3):
            lengths = []
            for angle in (h, -h):
                turn = matrix_from_xyzw(xyzw_from_axis_angle(np.eye(3)[k], angle))
                difference = np.zeros((skeleton.joint_count, 4, 4))
                for moved in below:
                    difference[moved, :3, :3] = turn - np.eye(3)
                    difference[moved, :3, 3] = centre - turn @ centre
                lengths.append(curves.moved(difference).lengths)
            np.testing.assert_allclose(
                (lengths[0] - lengths[1]) / (2.0 * h), gradient[:, joint, k], atol=1e-7
            )
    assert np.abs(gradient[:, arm.elbow]).max() > 0.02
    assert np.abs(gradient[:, arm.shoulder]).max() < 1e-12


def test_a_biceps_bends_the_elbow_and_a_triceps_straightens_it(man: Character, arm: Arm) -> None:
    bend, straighten = actions_of(arm.biceps, man.skeleton), actions_of(arm.triceps, man.skeleton)
    assert [a.joint for a in (*bend, *straighten)] == [man.skeleton.names[arm.elbow]] * 2
    assert bend[0].axis @ arm.hinge > 0.99
    assert straighten[0].axis @ arm.hinge < -0.99
    assert bend[0].weight == straighten[0].weight == 1.0
    # an elbow stops where it is straight
    assert straighten[0].degrees[1] == pytest.approx(arm.bent_at_bind, abs=5.0)
    driven = JointDriven(man.skeleton, recognise(man.skeleton), [bend, straighten])
    assert driven.notes == ()
    poses = arm.bent(np.array([-arm.bent_at_bind, 0.0, 50.0, 100.0]))
    activation = driven.at(poses)
    assert (activation[1] == 0.0).all()
    assert activation[3, 0] > 0.95
    assert 0.2 < activation[2, 0] < 0.8
    assert (activation[2:, 1] == 0.0).all()
    assert activation[0, 1] > 0.9
    assert activation[0, 0] == 0.0


def test_a_muscle_over_two_joints_acts_on_both_strongest_first(man: Character, arm: Arm) -> None:
    girdle = int(man.skeleton.parents[arm.shoulder])
    longer = replace(arm.biceps, joints=(girdle, arm.elbow))
    actions = actions_of(longer, man.skeleton)
    assert {a.joint for a in actions} <= {man.skeleton.names[j] for j in (arm.shoulder, arm.elbow)}
    assert actions[0].weight == 1.0
    assert all(a.weight >= b.weight for a, b in pairwise(actions))


def test_a_muscle_whose_line_runs_through_the_joint_acts_by_where_its_flesh_lies(
    man: Character, arm: Arm
) -> None:
    top = man.skeleton.bind_world[arm.shoulder, :3, 3]
    through = np.array([0.7 * arm.centre + 0.3 * top, 1.3 * arm.centre - 0.3 * top])
    straight = replace(arm.biceps, wrap=None, ends=through)
    (action,) = actions_of(straight, man.skeleton)
    # outward is the front of the arm: it bends
    assert action.axis @ arm.hinge > 0.9
    (other,) = actions_of(replace(straight, outward=-straight.outward), man.skeleton)
    assert other.axis @ arm.hinge < -0.9


def test_a_muscle_that_crosses_no_joint_does_nothing(man: Character, arm: Arm) -> None:
    assert actions_of(replace(arm.biceps, joints=(arm.elbow, arm.elbow)), man.skeleton) == ()
