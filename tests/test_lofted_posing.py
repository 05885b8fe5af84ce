"""Muscles found in the skin as joints: exact at bind, no shear, smooth in time, skin not dragged along."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import trimesh

from conftest import Figure
from ecorche.base.rotations import matrix_from_xyzw, normalise, xyzw_from_axis_angle
from ecorche.base.transforms import compose
from ecorche.body.character import Character
from ecorche.errors import EcorcheError
from ecorche.muscles.activation import bulge_from_activation
from ecorche.muscles.loft_frames import bind_axes
from ecorche.muscles.loft_mesh import loft_surfaces
from ecorche.muscles.loft_plan import FOLLOW, STEEPEST, following, giving
from ecorche.muscles.lofted import LoftedMuscle, Wrap
from ecorche.muscles.lofted_posing import Lofts
from ecorche.muscles.muscle_joints import JointedMuscles
from ecorche.muscles.wrapping import ANGLE, SHARE
from ecorche.skeleton.kinematics import difference_from_bind
from ecorche.skeleton.skeleton import Skeleton
from lofted_arms import Arm, branch, person, random_poses

Floats = npt.NDArray[np.float64]


@pytest.fixture(scope="module")
def man(data: Path) -> Character:
    return person(data / "human" / "male_muscular_cmu_mb.glb")


@pytest.fixture(scope="module")
def arm(man: Character) -> Arm:
    return Arm(man.skeleton)


@pytest.fixture(scope="module")
def lofts(man: Character, arm: Arm) -> Lofts:
    return Lofts([*arm.muscles, *Arm(man.skeleton, "l").muscles], man.skeleton)


def test_bind_is_exact_and_rigid(lofts: Lofts, man: Character) -> None:
    as_joints: JointedMuscles = lofts
    joints, count = as_joints.joints, man.skeleton.joint_count
    assert len(set(joints.names) | set(man.skeleton.names)) == len(joints.names) + count
    assert joints.bind_world.shape == (12, 4, 4)
    turn = joints.bind_world[:, :3, :3]
    np.testing.assert_allclose(np.swapaxes(turn, 1, 2) @ turn, np.tile(np.eye(3), (12, 1, 1)), atol=1e-14)
    np.testing.assert_allclose(np.linalg.det(turn), 1.0, atol=1e-14)
    assert not lofts.difference(np.zeros((count, 4, 4)), np.ones(4)).any()
    # y faces outwards
    assert (joints.bind_world[:3, :3, 1] @ lofts.muscles[0].outward > 0.9).all()
    # three over the stretch of the rings, on the limb they lie on
    assert (joints.muscles == np.repeat(np.arange(4), 3)).all()
    assert set(joints.parents) == {lofts.muscles[0].joints[0], lofts.muscles[2].joints[0]}


def test_every_limb_that_carries_a_muscle_has_joints_of_its_own(man: Character, arm: Arm) -> None:
    """Each goes with its limb, and a little way from there to the one curve they share."""
    lofts = Lofts([arm.biceps], man.skeleton, joints_per_muscle=2, carriers=[(arm.shoulder, arm.elbow)])
    joints = lofts.joints
    assert list(joints.parents) == [arm.shoulder] * 2 + [arm.elbow] * 2
    assert len(set(joints.names)) == 4
    np.testing.assert_array_equal(joints.bind_world[:2], joints.bind_world[2:])
    np.testing.assert_array_equal(lofts.joint_places[:2], lofts.joint_places[2:])
    difference = _twisted_forearm(man, arm)
    posed = (np.eye(4) + lofts.difference(difference, np.ones(1))) @ joints.bind_world
    rigid = (np.eye(4) + difference[joints.parents]) @ joints.bind_world
    assert (np.sum(posed[:2, :3, 1] * posed[2:, :3, 1], axis=-1) < np.cos(np.radians(40.0))).all()
    assert (np.sum(posed[:, :3, :3] * rigid[:, :3, :3], axis=-2) > np.cos(np.radians(20.0))).all()
    share = following(lofts.joint_places, arm.biceps.crossing)
    assert (np.diff(share[:2]) < 0.0).all()
    assert share.max() <= FOLLOW
    assert not following(arm.biceps.crossing, arm.biceps.crossing)
    middle = lofts.posed(difference).curves.at(lofts.joint_places[:2])[0][0]
    still = lofts.curves.bind.at(lofts.joint_places[:2])[0][0]
    went = np.linalg.norm(posed[:2, :3, 3] - rigid[:2, :3, 3], axis=-1)
    assert (went <= share[:2] * np.linalg.norm(middle - still, axis=-1) + 2e-3).all()


def test_a_gain_shows_more_of_the_swelling_and_none_shows_nothing(man: Character, arm: Arm) -> None:
    difference = np.zeros((man.skeleton.joint_count, 4, 4))
    bulge = np.array([1.3])
    for gain in (0.0, 1.0, 2.0):
        one = Lofts([arm.biceps], man.skeleton, gains=[gain])
        scale = np.linalg.norm(
            (np.eye(4) + one.difference(difference, bulge))[:, :3, :3] @ one.joints.bind_world[:, :3, :3],
            axis=-2,
        )
        np.testing.assert_allclose(scale, np.tile([1.0, 1.3**gain, 1.3**-gain], (3, 1)), atol=1e-12)


def test_muscle_joints_stand_in_the_middle_of_their_sections(lofts: Lofts) -> None:
    shape, muscle = lofts.shapes[0], lofts.muscles[0]
    first, last = muscle.rings.u[[0, -1]]
    u = first + (last - first) * np.array([1.0, 3.0, 5.0]) / 6.0
    axes, centre = bind_axes(muscle, u), shape.at(u)[1]
    middle = axes.points + centre[:, :1] * axes.out + centre[:, 1:] * axes.side
    np.testing.assert_allclose(lofts.joints.bind_world[:3, :3, 3], middle, atol=1e-15)
    np.testing.assert_allclose(lofts.joints.bind_world[:3, :3, 0], axes.along, atol=1e-15)
    np.testing.assert_allclose(lofts.joints.bind_world[:3, :3, 2], axes.side, atol=1e-15)


def test_moving_the_whole_body_moves_the_joints_with_it(lofts: Lofts, man: Character) -> None:
    rigid = compose([0.3, -1.0, 2.0], normalise(np.array([0.3, -0.5, 0.2, 0.7]))) - np.eye(4)
    difference = np.tile(rigid, (man.skeleton.joint_count, 1, 1))
    np.testing.assert_allclose(
        lofts.difference(difference, np.ones(4)), np.tile(rigid, (12, 1, 1)), atol=1e-13
    )


def test_a_thousand_poses_are_finite_and_never_sheared(lofts: Lofts, man: Character) -> None:
    bulge = np.array([1.3, 1.0, 1.15, 1.05])
    for pose in random_poses(man.skeleton, 1000, 0.7):
        world = (np.eye(4) + lofts.difference(pose, bulge)) @ lofts.joints.bind_world
        assert np.isfinite(world).all()
        columns = world[:, :3, :3]
        gram = np.swapaxes(columns, 1, 2) @ columns
        assert np.abs(gram[:, [0, 0, 1], [1, 2, 2]]).max() < 1e-13
        np.testing.assert_allclose(gram[:, 0, 0], 1.0, atol=1e-13)  # never dilated along the muscle
        # tension: T outwards and 1/T sideways, on top of what the length asks for
        ratio = np.sqrt(gram[:, 1, 1] / gram[:, 2, 2])
        np.testing.assert_allclose(ratio, np.repeat(bulge, 3) ** 2, rtol=1e-12)
        assert np.linalg.det(columns).min() > 0.0


def test_the_belly_dilates_as_its_volume_asks(lofts: Lofts, arm: Arm, man: Character) -> None:
    for degrees in (-40.0, 30.0, 90.0):
        posed = lofts.posed(arm.bent(degrees))
        np.testing.assert_allclose(posed.volumes(), lofts.posed(arm.bent(0.0)).volumes(), rtol=1e-12)
        moved = lofts.difference(arm.bent(degrees), np.ones(4)) + np.eye(4)
        sizes = np.linalg.norm((moved @ lofts.joints.bind_world)[:, :3, :3], axis=1)
        np.testing.assert_allclose(sizes[:, 1], sizes[:, 2], rtol=1e-12)
        length, at_bind = posed.curves.lengths, lofts.curves.bind.lengths
        for number, muscle in enumerate(lofts.muscles[:2]):
            first, last = muscle.rings.u[[0, -1]]
            u = first + (last - first) * np.array([1.0, 3.0, 5.0]) / 6.0
            relative = length[number] / at_bind[number]
            share = (u + (relative - 1.0) * giving(u, muscle.crossing)) / relative
            wanted = 1.0 + posed.dilation[number] * lofts.shapes[number].bulging(share)
            np.testing.assert_allclose(sizes[3 * number : 3 * number + 3, 1], wanted, rtol=1e-12)
    assert posed.dilation[0] > 0.1  # a bent arm's biceps swells
    assert posed.dilation[1] < -0.05


def test_meshes_of_bent_arms_keep_their_volume(lofts: Lofts, arm: Arm, figure: Figure) -> None:
    surfaces = loft_surfaces(lofts, rings=96, sides=48)

    def volumes(degrees: float) -> Floats:
        points = surfaces.points(lofts.posed(arm.bent(degrees)))
        parts = np.split(surfaces.triangles, surfaces.triangle_starts[1:-1])
        return np.array([trimesh.Trimesh(points, part, process=False).volume for part in parts])

    at_bind = volumes(0.0)
    worst = max(np.abs(volumes(d) / at_bind - 1.0).max() for d in np.linspace(-46.0, 100.0, 8))
    figure("volume of the meshes of a bent arm's muscles", 100.0 * worst, 1.0, "%")
    assert worst < 0.01


def test_nothing_jumps_as_an_arm_bends_through_first_contact(lofts: Lofts, arm: Arm) -> None:
    """The biceps leaves the elbow's cylinder, the triceps meets its sphere."""
    degrees = np.linspace(-arm.bent_at_bind, 100.0, 1600)
    poses = arm.bent(degrees)
    rows = lofts.curves.moved(poses).rows[:, :2]
    for muscle in range(2):
        assert 0 < (rows[:, muscle, SHARE] > 0.0).sum() < len(degrees)
        assert set(np.unique(rows[:, muscle, SHARE])) == {0.0, 1.0}
    moved = np.array([lofts.difference(pose, np.ones(4)) for pose in poses])
    steps = np.diff(moved, axis=0)
    turn = np.radians(degrees[1] - degrees[0])
    assert np.abs(steps).max() < 3.0 * turn
    # of the length the speed is continuous too; of a line's direction it is not, where the line meets a joint
    lengths = lofts.curves.moved(poses).lengths[:, :2]
    assert np.abs(np.diff(lengths, n=2, axis=0)).max() < 0.2 * turn**2
    assert np.abs(np.diff(steps, axis=0)).max() < 0.5 * turn
    assert np.diff(rows[:, :, ANGLE], axis=0).max() < 1.01 * turn


def test_joints_keep_their_place_along_the_limb(man: Character, arm: Arm) -> None:
    """Straight up to the crossing they stay where they are, however short the muscle gets."""
    u = np.linspace(0.0, 1.0, 1001)
    for crossing in (0.0, 0.2, 0.5, 0.85, 1.0):
        h = giving(u, crossing)
        slope = np.diff(h) / np.diff(u)
        assert h[0] == pytest.approx(0.0, abs=1e-15)
        assert h[-1] == pytest.approx(1.0, abs=1e-12)
        assert slope.min() > -1e-12
        assert slope.max() < STEEPEST + 1e-9
        for relative in (0.5, 0.8, 1.5):
            assert (np.diff(u + (relative - 1.0) * h) > 0.0).all()
    assert giving(0.5, 0.5) == pytest.approx(0.5)
    # a straight muscle drawn shorter along itself: the joints of its first third do not move
    straight = replace(arm.biceps, wrap=None, crossing=0.8)
    chord = normalise(straight.ends[1] - straight.ends[0])
    lofts = Lofts([straight], man.skeleton, joints_per_muscle=6)
    difference = np.zeros((man.skeleton.joint_count, 4, 4))
    difference[arm.elbow, :3, 3] = -0.08 * chord
    shifts = (np.eye(4) + lofts.difference(difference, np.ones(1))) @ lofts.joints.bind_world
    moved = (shifts - lofts.joints.bind_world)[:, :3, 3] @ chord
    assert np.abs(moved[:2]).max() < 1e-15
    # those behind go along with the fibres by as much as they follow the curve
    assert (moved <= 1e-15).all()
    assert moved.min() > -0.08 * FOLLOW
    wanted = -0.08 * giving(lofts.joint_places, 0.8) * following(lofts.joint_places, 0.8)
    np.testing.assert_allclose(moved, wanted, atol=2e-3)


def test_a_belly_twists_with_the_limb_it_lies_on(lofts: Lofts, arm: Arm, man: Character) -> None:
    """The forearm turned about itself does not turn the biceps."""
    difference = _twisted_forearm(man, arm)
    u = np.array([0.2, 0.4, 0.8])
    posed, still = lofts.posed(difference).axes(0, u), lofts.posed(np.zeros_like(difference)).axes(0, u)
    angles = np.degrees(np.arccos(np.clip(np.sum(posed.out * still.out, axis=1), -1.0, 1.0)))
    assert (angles < 8.0).all()
    # the upper arm, with all below it, does
    axis = normalise(arm.centre - man.skeleton.bind_world[arm.shoulder, :3, 3])
    turn = matrix_from_xyzw(xyzw_from_axis_angle(axis, np.radians(60.0)))
    difference[:, :3, :3] = turn - np.eye(3)
    difference[:, :3, 3] = arm.centre - turn @ arm.centre
    posed = lofts.posed(difference).axes(0, u)
    np.testing.assert_allclose(posed.out, still.out @ turn.T, atol=1e-12)


def _twisted_forearm(man: Character, arm: Arm) -> Floats:
    """``M − I`` of all joints with the forearm turned about itself by 60 degrees."""
    axis = normalise(man.skeleton.bind_world[arm.wrist, :3, 3] - arm.centre)
    turn = matrix_from_xyzw(xyzw_from_axis_angle(axis, np.radians(60.0)))
    difference = np.zeros((man.skeleton.joint_count, 4, 4))
    difference[arm.elbow, :3, :3] = turn - np.eye(3)
    difference[arm.elbow, :3, 3] = arm.centre - turn @ arm.centre
    return difference


def mirrored(muscle: LoftedMuscle) -> LoftedMuscle:
    """Seen in the mirror x → −x: axes of rotation turn round, side is on the other side."""
    flip = np.array([-1.0, 1.0, 1.0])
    rings = replace(
        muscle.rings, centre=muscle.rings.centre * np.array([1.0, -1.0]), angle=-muscle.rings.angle
    )
    wrap = muscle.wrap
    if wrap is not None:
        wrap = Wrap(wrap.shape, wrap.joint, wrap.centre * flip, -wrap.axis * flip, wrap.radius)
    return replace(muscle, ends=muscle.ends * flip, outward=muscle.outward * flip, rings=rings, wrap=wrap)


def test_a_mirrored_pose_gives_the_mirrored_muscles(man: Character, arm: Arm) -> None:
    flip = np.diag([-1.0, 1.0, 1.0, 1.0])
    lofts, other = (Lofts(m, man.skeleton) for m in (arm.muscles, [mirrored(m) for m in arm.muscles]))
    for pose in random_poses(man.skeleton, 20, 0.5, seed=3):
        here = lofts.difference(pose, np.array([1.2, 1.0]))
        there = other.difference(flip @ pose @ flip, np.array([1.2, 1.0]))
        np.testing.assert_allclose(there, flip @ here @ flip, atol=1e-12)


def test_a_branch_is_posed_like_any_muscle(man: Character, arm: Arm) -> None:
    lofts = Lofts([arm.biceps, branch(arm.biceps)], man.skeleton)
    surfaces = loft_surfaces(lofts)
    for degrees in (-40.0, 0.0, 90.0):
        points = surfaces.points(lofts.posed(arm.bent(degrees), [1.2, 1.0]))
        for part in np.split(surfaces.triangles, surfaces.triangle_starts[1:-1]):
            mesh = trimesh.Trimesh(points, part, process=False)
            assert mesh.is_watertight
            assert mesh.volume > 0.0


def test_odd_poses_are_finite(lofts: Lofts, man: Character, arm: Arm) -> None:
    """A muscle folded onto itself until both ends meet, and limbs torn metres away."""
    difference = np.zeros((man.skeleton.joint_count, 4, 4))
    difference[arm.elbow, :3, 3] = arm.biceps.ends[0] - arm.biceps.ends[1]
    assert np.isfinite(lofts.difference(difference, np.ones(4))).all()
    difference[arm.elbow, :3, 3] = [5.0, -3.0, 2.0]
    assert np.isfinite(lofts.difference(difference, np.ones(4))).all()
    stretched = man.skeleton.bind_local @ compose(np.zeros(3), [0.0, 0.0, 0.0, 1.0], [1.2, 0.8, 1.1])
    assert np.isfinite(lofts.difference(difference_from_bind(man.skeleton, stretched), np.ones(4))).all()


def test_what_cannot_be_posed_is_refused(lofts: Lofts, man: Character, arm: Arm) -> None:
    still: Floats = np.zeros((man.skeleton.joint_count, 4, 4))
    gone = still.copy()
    gone[arm.elbow, :3, :3] = -np.eye(3)
    for difference, bulge, message in (
        (still[:3], np.ones(4), "do not fit"),
        (still, np.ones(3), "do not fit"),
        (still, np.array([1.0, 0.0, 1.0, 1.0]), "not a positive number"),
        (gone, np.ones(4), "scaled to nothing"),
        (np.full_like(still, np.nan), np.ones(4), "not a number"),
    ):
        with pytest.raises(EcorcheError, match=message):
            lofts.difference(difference, bulge)
    with pytest.raises(EcorcheError, match="scaled to nothing"):
        lofts.posed(gone)
    for difference, activation, message in (
        (still[:3], np.ones(4), "do not fit"),
        (still, np.ones(3), "do not fit"),
        (still, np.array([0.0, 1.5, 0.0, 0.0]), "activation"),
        (still, np.array([0.0, np.nan, 0.0, 0.0]), "activation"),
        (gone, np.ones(4), "scaled to nothing"),
    ):
        with pytest.raises(EcorcheError, match=message):
            lofts.extended(difference, activation)


def test_all_joints_in_one_call_are_those_of_skeleton_and_muscles(lofts: Lofts, man: Character) -> None:
    largest = [muscle.largest_bulge for muscle in lofts.muscles]
    for moved in random_poses(man.skeleton, 20, 0.4):
        active = np.linspace(0.1, 1.0, len(largest))
        apart = lofts.difference(moved, bulge_from_activation(active, largest))
        assert lofts.extended(moved, active).tobytes() == np.concatenate([moved, apart]).tobytes()
        at_rest = np.concatenate([moved, lofts.difference(moved, np.ones(len(largest)))])
        assert lofts.extended(moved, None).tobytes() == at_rest.tobytes()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"joins": "bicep"}, "no other muscle"),
        ({"joins": "biceps, r"}, "no other muscle"),
        ({"crossing": 1.5}, "not on the muscle"),
        ({"outward": np.zeros(3)}, "no length or points along"),
    ],
)
def test_muscles_that_cannot_be_are_refused(
    man: Character, arm: Arm, changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(EcorcheError, match=message) as caught:
        Lofts([replace(arm.biceps, **changes)], man.skeleton)
    assert "biceps, r" in str(caught.value)


def test_two_muscles_of_one_name_and_no_joints_are_refused(man: Character, arm: Arm) -> None:
    with pytest.raises(EcorcheError, match="two muscles have this name"):
        Lofts([arm.biceps, arm.biceps], man.skeleton)
    with pytest.raises(EcorcheError, match="0 joints a muscle"):
        Lofts([arm.biceps], man.skeleton, joints_per_muscle=0)


def test_no_muscles_are_no_joints(man: Character) -> None:
    none = Lofts([], man.skeleton)
    assert none.difference(np.zeros((man.skeleton.joint_count, 4, 4)), np.zeros(0)).shape == (0, 4, 4)
    assert loft_surfaces(none).points(none.posed(np.zeros((man.skeleton.joint_count, 4, 4)))).shape == (0, 3)


def test_a_name_that_a_joint_has_already_is_not_given_twice(man: Character, arm: Arm) -> None:
    skeleton = man.skeleton
    names = ("biceps, r, 2", *skeleton.names[1:])
    taken = Skeleton(names, skeleton.parents, skeleton.bind_local, skeleton.rest_local, skeleton.tails)
    joints = Lofts([arm.biceps], taken).joints
    assert len({*joints.names, *names}) == len(joints.names) + len(names)
