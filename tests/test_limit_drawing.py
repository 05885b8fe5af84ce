"""What is drawn of limits agrees with the limits: its points are just inside, and just outside beyond."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from ecorche.base.rotations import inverse_xyzw, normalise, rotate_xyzw
from ecorche.body.joint_limits import joint_limits
from ecorche.io.formats import read_character
from ecorche.skeleton.joints import Swing
from ecorche.skeleton.limit_drawing import LimitDrawing, limit_drawing, parameter_ranges, polygon_of
from ecorche.skeleton.pose_joints import PosableJoints
from ecorche.skeleton.reach import elliptic_polygon
from ecorche.skeleton.skeleton import world_from_local

Floats = npt.NDArray[np.float64]
ARM, ELBOW, KNEE = "mixamorig:LeftArm", "mixamorig:LeftForeArm", "mixamorig:RightLeg"
FINGER, CHEST = "mixamorig:RightHandIndex2", "mixamorig:Spine2"


@pytest.fixture(scope="module")
def man(data: Path) -> PosableJoints:
    skeleton = read_character(data / "human/male_muscular_mixamo.glb").skeleton
    limits = joint_limits(skeleton, None, None)
    return PosableJoints(skeleton, limits.names, limits.models)


@pytest.fixture(scope="module")
def pose(man: PosableJoints) -> Floats:
    """The chest turned, so that nothing is by chance where it would be in an upright body."""
    turned = man.with_turns(man.skeleton.bind_local, CHEST, (10.0, 25.0, 5.0), limits=False).local
    return man.with_turns(turned, "mixamorig:Hips", (0.0, 40.0, 10.0), limits=False).local


def drawing_of(man: PosableJoints, pose: Floats, joint: str) -> LimitDrawing:
    found = limit_drawing(man, pose, joint)
    assert found is not None
    return found


@pytest.mark.parametrize("joint", [ARM, ELBOW, KNEE, FINGER, "mixamorig:LeftUpLeg"])
def test_the_limb_is_drawn_along_its_bone(man: PosableJoints, pose: Floats, joint: str) -> None:
    found = drawing_of(man, pose, joint)
    number = man.number(joint)
    world = world_from_local(man.skeleton.parents, pose)
    tip = man.skeleton.bind_inverse[number] @ np.append(man.skeleton.tail_positions()[number], 1.0)
    bone = (world[number] @ tip)[:3] - world[number, :3, 3]
    np.testing.assert_allclose(found.centre, world[number, :3, 3], atol=1e-12)
    np.testing.assert_allclose(found.limb, bone / np.linalg.norm(bone), atol=1e-5)
    assert 0.2 * np.linalg.norm(bone) < found.radius < np.linalg.norm(bone)
    np.testing.assert_allclose(found.frame.T @ found.frame, np.eye(3), atol=1e-12)


def test_the_border_of_the_polygon_is_where_the_limb_stops(man: PosableJoints, pose: Floats) -> None:
    """An arm swung to any point of the border is held by nothing; a little further out, by that little."""
    found = drawing_of(man, pose, ARM)
    assert found.border is not None
    assert found.corners is not None
    np.testing.assert_allclose(np.linalg.norm(found.border - found.centre, axis=1), found.radius, rtol=1e-9)
    np.testing.assert_array_equal(found.border[0], found.border[-1])
    assert np.linalg.norm(np.diff(found.border, axis=0), axis=1).max() < found.radius * np.radians(2.6)
    model = man.models["l_shoulder"]
    directions = rotate_xyzw(inverse_xyzw(found.frame_xyzw), normalise(found.border - found.centre))
    polygon = polygon_of(model)
    assert polygon is not None
    assert polygon.contains(directions).all()
    across = 1e-3 * np.cross(directions[:-1], np.diff(directions, axis=0)) / np.radians(2.5)
    sides = [polygon.contains(normalise(directions[:-1] + way * across)) for way in (0.1, -0.1)]
    assert (sides[0] != sides[1]).mean() > 0.98
    for corner in found.corners:
        assert np.linalg.norm(found.border - corner, axis=1).min() < 1e-12
    assert found.inside
    lifted = man.with_parameters(pose, ARM, {"swing_x": -150.0}, limits=False).local
    assert not drawing_of(man, lifted, ARM).inside
    stopped = man.with_parameters(pose, ARM, {"swing_x": -150.0})
    again = drawing_of(man, stopped.local, ARM)
    assert again.inside
    tip = again.centre + again.radius * again.limb
    assert again.border is not None
    assert np.linalg.norm(again.border - tip, axis=1).min() < again.radius * np.radians(1.3)


def test_arcs_hold_what_the_angles_say(man: PosableJoints, pose: Floats) -> None:
    found = drawing_of(man, pose, KNEE)
    assert found.bend is not None
    assert found.twist is not None
    assert found.bend.angle == "flexion"
    assert found.bend.degrees[:2] == pytest.approx((-10.0, 160.0))
    for degrees, place in ((-10.0, found.bend.points[0]), (160.0, found.bend.points[-1])):
        bent = man.with_parameters(pose, KNEE, {"flexion": degrees}).local
        now = drawing_of(man, bent, KNEE).bend
        assert now is not None
        assert not now.beyond
        np.testing.assert_allclose(now.needle, place, atol=1e-9)
    over = drawing_of(man, man.with_parameters(pose, KNEE, {"flexion": 170.0}, limits=False).local, KNEE)
    assert over.bend is not None
    assert over.bend.beyond
    # the twist's range narrows as the knee is stretched
    straight = drawing_of(man, man.with_parameters(pose, KNEE, {"flexion": -10.0}).local, KNEE)
    deep = man.with_parameters(pose, KNEE, {"flexion": 60.0})
    wide = drawing_of(man, deep.local, KNEE)
    assert straight.twist is not None
    assert wide.twist is not None
    assert straight.twist.degrees[:2] == pytest.approx((-10.0, 10.0))
    assert wide.twist.degrees[:2] == pytest.approx((-40.0, 50.0))
    np.testing.assert_allclose(
        np.linalg.norm(wide.twist.points - wide.twist.centre, axis=1),
        np.linalg.norm(wide.twist.needle - wide.twist.centre),
    )


def test_a_finger_bends_along_its_arc(man: PosableJoints, pose: Floats) -> None:
    found = drawing_of(man, pose, FINGER)
    assert found.bend is not None
    assert found.border is None
    assert found.twist is None
    # its hinge is tilted a little in this rig, and the arc is the hinge's
    tip = found.centre + found.radius * found.limb
    assert np.linalg.norm(found.bend.needle - tip) < 0.05 * found.radius
    for degrees, place in ((-10.0, found.bend.points[0]), (110.0, found.bend.points[-1])):
        now = drawing_of(man, man.with_parameters(pose, FINGER, {"angle": degrees}).local, FINGER).bend
        assert now is not None
        np.testing.assert_allclose(now.needle, place, atol=1e-9)


def test_ranges_of_the_angles(man: PosableJoints) -> None:
    swing = Swing(polygon=elliptic_polygon(40, 20, 30, 10), play=0.1)
    joints = replace(man, models={**man.models, "l_shoulder": swing})
    ranges = parameter_ranges(swing, joints.rotations(man.skeleton.bind_local)[joints.number(ARM)])
    assert list(ranges) == ["swing_x", "swing_y"]
    assert ranges["swing_x"] == pytest.approx((-20.0, 40.0), abs=1e-6)
    assert ranges["swing_y"] == pytest.approx((-10.0, 30.0), abs=1e-6)
    assert limit_drawing(man, man.skeleton.bind_local, "mixamorig:Hips") is None
