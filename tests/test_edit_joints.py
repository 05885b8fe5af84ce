"""Joint models edited in a rig: a whole rig every time, a line that says what was done, and refusals."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ecorche.base.rotations import rotate_xyzw
from ecorche.body.character import Character
from ecorche.body.edit_joints import (
    aligned,
    mirrored,
    model_of,
    partner,
    pasted,
    posable_joints,
    reset,
    with_corner_added,
    with_corner_moved,
    with_corner_removed,
    with_corner_swung,
    with_frame,
    with_frame_in_pose,
    with_limit_angles,
    with_model,
    with_offset,
    with_offset_of_pose,
    with_twist,
    with_type,
    without_twist,
)
from ecorche.body.rig import check_rig, create_rig
from ecorche.document.files import Rig, read_rig, write_rig
from ecorche.errors import EcorcheError, SkeletonError
from ecorche.io.formats import read_character
from ecorche.skeleton.human_limits import human_joint
from ecorche.skeleton.joint_values import values_from_joint
from ecorche.skeleton.joints import BallAndSocket, Joint, Knee
from ecorche.skeleton.limit_drawing import limit_drawing

ARM, OTHER_ARM, ELBOW = "mixamorig:LeftArm", "mixamorig:RightArm", "mixamorig:LeftForeArm"
HEAD, HIPS = "mixamorig:Head", "mixamorig:Hips"


@pytest.fixture(scope="module")
def man(data: Path) -> Character:
    return read_character(data / "human/male_muscular_mixamo.glb")


@pytest.fixture(scope="module")
def rig(man: Character) -> Rig:
    return create_rig(man, "man.glb", "man.ecorche", muscles=False)


@pytest.fixture(scope="module")
def horse(data: Path) -> tuple[Character, Rig]:
    character = read_character(data / "mesh2motion/horse-animations.glb")
    return character, create_rig(character, "horse.glb", "horse.ecorche", muscles=False)


def model(rig: Rig, character: Character, joint: str) -> Joint:
    found = model_of(rig, character, joint)
    assert found is not None
    return found.joint


def test_a_joint_has_the_human_default_until_it_is_edited_and_again_when_that_goes(
    man: Character, rig: Rig, tmp_path: Path
) -> None:
    found = model_of(rig, man, ARM)
    assert found is not None
    assert (found.origin, found.joint) == ("human", human_joint("l_shoulder"))
    edited = with_type(rig, man, ARM, "swing")
    assert edited.lines == (f"{ARM!r} is a swing joint now; it was a ball-and-socket joint",)
    assert check_rig(edited.rig, man) == []
    now = model_of(edited.rig, man, ARM)
    assert now is not None
    assert (now.origin, now.joint.model) == ("rig", "swing")
    assert rig.spec.skeleton.joints == {}  # what was given is untouched
    write_rig(tmp_path / "man.ecorche", edited.rig)
    again = read_rig(tmp_path / "man.ecorche")
    assert values_from_joint(model(again, man, ARM)) == values_from_joint(now.joint)
    back = reset(edited.rig, man, ARM)
    assert back.rig.spec == rig.spec
    assert "human default again, a ball-and-socket joint" in back.lines[0]
    assert reset(rig, man, ARM).rig is rig


def test_corners_are_moved_added_and_removed(man: Character, rig: Rig) -> None:
    before = model(rig, man, ARM)
    assert isinstance(before, BallAndSocket)
    corners = before.polygon.corners
    inwards = corners[2] + 0.1 * (np.array([0.0, 0.0, 1.0]) - corners[2])
    moved = with_corner_moved(rig, man, ARM, 2, inwards)
    after = model(moved.rig, man, ARM)
    assert isinstance(after, BallAndSocket)
    changed = np.abs(after.polygon.corners - corners).max(axis=1) > 1e-9
    assert np.flatnonzero(changed).tolist() == [2]
    np.testing.assert_allclose(after.polygon.corners[2], inwards / np.linalg.norm(inwards), atol=1e-12)
    added = with_corner_added(rig, man, ARM, len(corners) - 1)
    more = model(added.rig, man, ARM)
    assert isinstance(more, BallAndSocket)
    assert len(more.polygon.corners) == len(corners) + 1
    less = model(with_corner_removed(added.rig, man, ARM, len(corners)).rig, man, ARM)
    assert isinstance(less, BallAndSocket)
    np.testing.assert_allclose(less.polygon.corners, corners, atol=1e-12)
    assert check_rig(moved.rig, man) == check_rig(added.rig, man) == []


def test_a_polygon_that_crosses_itself_is_refused_with_the_joint_named(man: Character, rig: Rig) -> None:
    shoulder = model(rig, man, ARM)
    assert isinstance(shoulder, BallAndSocket)
    count = len(shoulder.polygon.corners)
    across = shoulder.polygon.corners[count // 2] * 0.999
    with pytest.raises(SkeletonError, match=r"LeftArm.*the spherical polygon"):
        with_corner_moved(rig, man, ARM, 0, across + 0.3 * (across - shoulder.polygon.corners[0]))
    with pytest.raises(SkeletonError, match=r"LeftArm.*a swing of 196° is a half-turn or more"):
        with_corner_swung(rig, man, ARM, 3, (179.0, 80.0))
    with pytest.raises(SkeletonError, match="no corner 99"):
        with_corner_removed(rig, man, ARM, 99)
    with pytest.raises(SkeletonError, match="a knee joint has no polygon"):
        with_corner_moved(rig, man, ELBOW, 0, (0, 0, 1))


def test_ranges_and_keys_of_twist(man: Character, rig: Rig) -> None:
    edited = with_limit_angles(rig, man, ELBOW, {"flexion": (0.0, 120.0), "play": 5.0})
    assert edited.lines == (f"{ELBOW!r}: flexion from 0° to 120°, play 5°",)
    elbow = model(edited.rig, man, ELBOW)
    assert isinstance(elbow, Knee)
    assert np.degrees(elbow.flexion_high) == pytest.approx(120.0)
    joints = posable_joints(man, edited.rig)
    posed = joints.with_parameters(man.skeleton.bind_local, ELBOW, {"flexion": 140.0})
    assert posed.held_degrees == pytest.approx(20.0, abs=1e-9)
    with pytest.raises(SkeletonError, match=r"no limit 'flexon'.*flexion"):
        with_limit_angles(rig, man, ELBOW, {"flexon": (0.0, 120.0)})
    with pytest.raises(SkeletonError, match="goes from 90° to 10°"):
        with_limit_angles(rig, man, ELBOW, {"flexion": (90.0, 10.0)})
    with pytest.raises(SkeletonError, match="the angle"):
        with_limit_angles(with_type(rig, man, ELBOW, "revolute").rig, man, ELBOW, {"range": (0.0, np.nan)})
    shoulder = model(rig, man, ARM)
    assert isinstance(shoulder, BallAndSocket)
    keys = len(shoulder.twist.low)
    more = with_twist(rig, man, ARM, None, (11.0, -7.0, -20.0, 30.0))
    key = with_twist(more.rig, man, ARM, keys, (11.0, -7.0, -25.0, 35.0))
    ball = model(key.rig, man, ARM)
    assert isinstance(ball, BallAndSocket)
    low, high = ball.twist.limits(np.radians([11.0, -7.0]))
    assert np.degrees([low, high]) == pytest.approx([-25.0, 35.0])
    less = model(without_twist(key.rig, man, ARM, keys).rig, man, ARM)
    assert isinstance(less, BallAndSocket)
    assert len(less.twist.low) == keys
    with pytest.raises(SkeletonError, match="same swing"):
        with_twist(more.rig, man, ARM, None, (11.0, -7.0, -20.0, 30.0))


def test_frames_are_set_and_aligned(man: Character, rig: Rig) -> None:
    """After aligning, the axis lies along the bone that is seen in the canonical pose."""
    skewed = with_frame(rig, man, ARM, np.array([0.1, 0.2, 0.3, 0.9])).rig
    joints = posable_joints(man, skewed)
    above, below = joints.segments(joints.number(ARM))
    for axis, segment, column, sign in (("z", "child", 2, 1), ("-x", "child", 0, -1), ("y", "parent", 1, 1)):
        edited = aligned(skewed, man, ARM, axis, segment)  # type: ignore[arg-type]
        frame = model(edited.rig, man, ARM)
        seen = rotate_xyzw(frame.anatomical_frame_xyzw, sign * np.eye(3)[column])
        wanted = above if segment == "parent" else rotate_xyzw(frame.canonical_offset_xyzw, below)
        np.testing.assert_allclose(seen, wanted, atol=1e-9)
        assert f"{axis} of {ARM!r} lies along its {segment}'s segment" in edited.lines[0]
    # a gizmo's rotation in a turned body is the drawn one
    pose = posable_joints(man, rig).with_turns(man.skeleton.bind_local, HIPS, (5, 60, 5)).local
    wanted_xyzw = np.array([0.3, -0.2, 0.5, 0.7]) / np.linalg.norm([0.3, -0.2, 0.5, 0.7])
    turned = with_frame_in_pose(rig, man, ARM, pose, wanted_xyzw).rig
    drawn = limit_drawing(posable_joints(man, turned), pose, ARM)
    assert drawn is not None
    assert abs(drawn.frame_xyzw @ wanted_xyzw) == pytest.approx(1.0, abs=1e-9)


def test_the_canonical_pose_is_set_and_taken_from_a_pose(man: Character, rig: Rig) -> None:
    joints = posable_joints(man, rig)
    pose = joints.with_turns(man.skeleton.bind_local, ARM, (0.0, 0.0, 70.0)).local
    taken = with_offset_of_pose(rig, man, ARM, pose).rig
    row = posable_joints(man, taken).tell(pose)[joints.number(ARM)]
    np.testing.assert_allclose(list(row.parameters.values()), 0.0, atol=1e-9)
    np.testing.assert_allclose(row.turns, (0.0, 0.0, 70.0), atol=1e-9)
    before = model(rig, man, ARM)
    kept = model(with_offset(rig, man, ARM, (0, 0, 0, 1), carry_frame=False).rig, man, ARM)
    assert kept.anatomical_frame_xyzw == before.anatomical_frame_xyzw
    assert kept.canonical_offset_xyzw == (0, 0, 0, 1)


def test_copies_and_mirror_images(man: Character, rig: Rig) -> None:
    edited = with_limit_angles(rig, man, ELBOW, {"flexion": (5.0, 100.0), "twist": (-20.0, 40.0)}).rig
    over = mirrored(edited, man, ELBOW)
    other = "mixamorig:RightForeArm"
    assert over.lines == (f"the model of {ELBOW!r} was mirrored to {other!r}",)
    here, there = model(over.rig, man, ELBOW), model(over.rig, man, other)
    assert values_from_joint(there) == values_from_joint(here.mirrored())
    assert isinstance(there, Knee)
    assert np.degrees([there.twist_low, there.twist_high]) == pytest.approx([-40.0, 20.0])
    copied = pasted(rig, man, OTHER_ARM, values_from_joint(model(rig, man, ARM)), mirror=True)
    np.testing.assert_allclose(
        model(copied.rig, man, OTHER_ARM).anatomical_frame_xyzw,
        human_joint("r_shoulder").anatomical_frame_xyzw,
        atol=1e-12,
    )
    only = pasted(rig, man, ELBOW, human_joint("l_knee"), limits_only=True)
    elbow = model(only.rig, man, ELBOW)
    assert isinstance(elbow, Knee)
    assert np.degrees(elbow.flexion_high) == pytest.approx(160.0)
    assert elbow.anatomical_frame_xyzw == model(rig, man, ELBOW).anatomical_frame_xyzw
    with pytest.raises(SkeletonError, match="no such joint on the other side"):
        mirrored(rig, man, HEAD)


def test_a_creature_gets_joints_of_its_own(horse: tuple[Character, Rig]) -> None:
    """No joint of a horse is known by name: models are made along its bones, and mirrored by place."""
    character, rig = horse
    names = character.skeleton.names
    pairs = {name: partner(character, rig, name) for name in names}
    assert sum(other is not None for other in pairs.values()) > 20
    for name, other in pairs.items():
        assert other is None or pairs[other] == name
    leg = next(n for n in names if pairs[n] is not None and "leg" in n.lower() and n.lower().endswith("l"))
    assert model_of(rig, character, leg) is None
    with pytest.raises(SkeletonError, match=r"no joint model.*Choose its type"):
        with_limit_angles(rig, character, leg, {"play": 1.0})
    made = with_type(rig, character, leg, "ball_and_socket")
    over = mirrored(made.rig, character, leg)
    assert check_rig(over.rig, character) == []
    joints = posable_joints(character, over.rig)
    pose = character.skeleton.bind_local
    for name in (leg, str(pairs[leg])):
        drawing = limit_drawing(joints, pose, name)
        assert drawing is not None
        assert drawing.inside
        stopped = joints.with_parameters(pose, name, {"swing_x": 60.0})
        assert stopped.held_degrees == pytest.approx(15.0, abs=0.5)
    assert model_of(reset(over.rig, character, leg).rig, character, leg) is None


def test_bad_models_are_told(man: Character, rig: Rig) -> None:
    with pytest.raises(SkeletonError, match="no field 'limts'"):
        with_model(rig, man, ARM, {"model": "revolute", "limts": {}})
    with pytest.raises(EcorcheError, match="no joint 'Arm'"):
        with_type(rig, man, "Arm", "swing")
    with pytest.raises(SkeletonError, match="anatomical_frame"):
        with_frame(rig, man, ARM, (0.0, 0.0, 0.0, 0.0))
    made = with_model(rig, man, ELBOW, human_joint("l_knee"))
    assert made.lines == (f"{ELBOW!r} is a knee joint",)
