"""Motions brought within limits: nothing else changes, on any rig, facing anywhere."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from scipy.spatial.transform import Rotation

from ecorche.base.rotations import matrix_from_xyzw, xyzw_from_axis_angle
from ecorche.errors import SkeletonError
from ecorche.io.formats import read_character, read_motion
from ecorche.skeleton.enforce_limits import enforce_limits, joint_rotations
from ecorche.skeleton.human_limits import human_joint, human_joints
from ecorche.skeleton.motion import Motion, bind_pose
from ecorche.skeleton.naming.recognise import recognise
from ecorche.skeleton.skeleton import Skeleton, local_from_world

Floats = npt.NDArray[np.float64]
Names = tuple[str | None, ...]


@pytest.fixture(scope="module")
def man(data: Path) -> tuple[Skeleton, Names]:
    skeleton = read_character(data / "human/male_muscular_mixamo.glb").skeleton
    return skeleton, recognise(skeleton).canonical


def turning(
    skeleton: Skeleton, names: Names, joint: str, axis: tuple[float, float, float], degrees: Floats
) -> Motion:
    """The bind pose with one joint turned about a world axis, more and more."""
    number = names.index(joint)
    world = np.tile(skeleton.bind_world, (len(degrees), 1, 1, 1))
    turn = matrix_from_xyzw(xyzw_from_axis_angle(np.array(axis), np.radians(degrees)))
    centre = skeleton.bind_world[number, :3, 3]
    below = [number]
    for j, parent in enumerate(skeleton.parents):
        if parent in below:
            below.append(j)
    for j in below:
        world[:, j, :3, :3] = turn @ skeleton.bind_world[j, :3, :3]
        world[:, j, :3, 3] = (turn @ (skeleton.bind_world[j, :3, 3] - centre)) + centre
    return Motion(
        "turning", skeleton, np.arange(len(degrees)) / 10.0, local_from_world(skeleton.parents, world)
    )


def test_a_motion_within_limits_comes_back_bit_for_bit(man: tuple[Skeleton, Names]) -> None:
    skeleton, names = man
    motion = turning(skeleton, names, "l_knee", (1.0, 0.0, 0.0), np.linspace(0.0, 100.0, 11))
    kept, report = enforce_limits(motion, names)
    assert report.rows == ()
    assert report.judged > 45
    assert report.lines() == [f"all {report.judged} joints with limits stay within them"]
    np.testing.assert_array_equal(kept.local, motion.local)
    bind, report = enforce_limits(bind_pose(skeleton), names)
    assert report.rows == ()
    np.testing.assert_array_equal(bind.local[0], skeleton.bind_local)


def test_a_knee_bent_forward_is_brought_back_and_told(man: tuple[Skeleton, Names]) -> None:
    skeleton, names = man
    degrees = np.array([0.0, -30.0, -90.0, -60.0])
    motion = turning(skeleton, names, "l_knee", (1.0, 0.0, 0.0), degrees)
    kept, report = enforce_limits(motion, names)
    (row,) = report.rows
    assert (row.canonical, row.frames, row.worst_time) == ("l_knee", 3, 0.2)
    flexion = np.degrees(human_joint("l_knee").parameters(joint_rotations(motion, names)["l_knee"])[2, 0])
    assert flexion < -80.0
    assert abs(row.worst_degrees - (-10.0 - flexion)) < 2.0
    assert report.lines()[0].startswith(f"{row.joint} (l_knee): clamped in 3 of 4 frames, by at most ")
    after = human_joint("l_knee").parameters(joint_rotations(kept, names)["l_knee"])
    np.testing.assert_allclose(np.degrees(after[1:, 0]), -10.0, atol=1e-6)
    # the first frame, and every other joint, keep their bits; the knee keeps its place and lengths
    knee = names.index("l_knee")
    np.testing.assert_array_equal(kept.local[0], motion.local[0])
    others = [j for j in range(skeleton.joint_count) if j != knee]
    np.testing.assert_array_equal(kept.local[:, others], motion.local[:, others])
    np.testing.assert_array_equal(kept.local[:, knee, :, 3], motion.local[:, knee, :, 3])
    np.testing.assert_allclose(kept.world()[:, knee, :3, 3], motion.world()[:, knee, :3, 3], atol=1e-12)
    # and once more nothing is left to do
    again, report = enforce_limits(kept, names)
    assert report.rows == ()
    np.testing.assert_array_equal(again.local, kept.local)


def test_the_rigs_own_axes_do_not_matter(man: tuple[Skeleton, Names]) -> None:
    skeleton, names = man
    motion = wild(skeleton)
    own = np.tile(np.eye(4), (skeleton.joint_count, 1, 1))
    own[:, :3, :3] = Rotation.random(skeleton.joint_count, random_state=1).as_matrix()
    other = replace(
        skeleton,
        bind_local=local_from_world(skeleton.parents, skeleton.bind_world @ own),
        tails=skeleton.tails * np.nan,
    )
    plain = replace(skeleton, tails=skeleton.tails * np.nan)
    here, report = enforce_limits(replace(motion, skeleton=plain), names)
    there, other_report = enforce_limits(
        replace(motion, skeleton=other, local=local_from_world(skeleton.parents, motion.world() @ own)), names
    )
    assert len(report.rows) > 20
    np.testing.assert_allclose(there.world(), here.world() @ own, atol=1e-6)
    assert [r.canonical for r in other_report.rows] == [r.canonical for r in report.rows]


def test_facing_elsewhere_does_not_matter(man: tuple[Skeleton, Names]) -> None:
    skeleton, names = man
    motion = wild(skeleton)
    turn = np.eye(4)
    turn[:3, :3] = Rotation.from_rotvec([0.0, 2.3, 0.0]).as_matrix()
    turn[:3, 3] = 1.0, -2.0, 0.5
    other = replace(skeleton, bind_local=local_from_world(skeleton.parents, turn @ skeleton.bind_world))
    here, _ = enforce_limits(motion, names)
    there, _ = enforce_limits(
        replace(motion, skeleton=other, local=local_from_world(skeleton.parents, turn @ motion.world())),
        names,
    )
    np.testing.assert_allclose(there.world(), turn @ here.world(), atol=1e-6)


def test_the_mirrored_motion_is_clamped_to_the_mirror_image(man: tuple[Skeleton, Names]) -> None:
    skeleton, names = man
    motion = wild(skeleton)
    mirror = np.diag([-1.0, 1.0, 1.0, 1.0])
    swap = {"l": "r", "r": "l"}
    other_names = tuple(n if n is None or n[1] != "_" else swap[n[0]] + n[1:] for n in names)
    other = replace(
        skeleton,
        bind_local=mirror @ skeleton.bind_local @ mirror,
        rest_local=mirror @ skeleton.rest_local @ mirror,
        tails=skeleton.tails * (-1.0, 1.0, 1.0),
    )
    here, _ = enforce_limits(motion, names)
    there, _ = enforce_limits(
        replace(motion, skeleton=other, local=mirror @ motion.local @ mirror), other_names
    )
    np.testing.assert_allclose(there.world(), mirror @ here.world() @ mirror, atol=1e-6)


def wild(skeleton: Skeleton) -> Motion:
    """Every joint turned at random by up to 60°: most joints are beyond some limit."""
    rng = np.random.default_rng(5)
    count = skeleton.joint_count
    turns = np.tile(np.eye(4), (6, count, 1, 1))
    vectors = rng.uniform(-0.6, 0.6, (6 * count, 3))
    turns[..., :3, :3] = Rotation.from_rotvec(vectors).as_matrix().reshape(6, count, 3, 3)
    return Motion("wild", skeleton, np.arange(6) / 24.0, skeleton.bind_local @ turns)


def test_wild_motion_ends_within_every_limit(man: tuple[Skeleton, Names]) -> None:
    skeleton, names = man
    kept, report = enforce_limits(wild(skeleton), names)
    assert len(report.rows) > 20
    joints = human_joints(n for n in names if n)
    for name, rotation in joint_rotations(kept, names).items():
        if name in joints:
            excess = joints[name].clamp(rotation)[1]
            assert not excess.beyond.any(), name
    root = names.index("humanoid_root")
    np.testing.assert_array_equal(kept.local[:, root], wild(skeleton).local[:, root])


def test_helper_joints_in_between_keep_their_motion(man: tuple[Skeleton, Names]) -> None:
    """A nameless joint above the shin adds its turn to the knee's, and is itself not touched."""
    skeleton, names = man
    motion = turning(skeleton, names, "l_talocrural", (1.0, 0.0, 0.0), np.array([-70.0, 0.0]))
    shin = names.index("l_knee")
    nameless = tuple(None if j == shin else n for j, n in enumerate(names))
    kept, report = enforce_limits(motion, nameless)
    assert "l_talocrural" in [row.canonical for row in report.rows]
    np.testing.assert_array_equal(kept.local[:, shin], motion.local[:, shin])
    assert skeleton.names[shin] in report.free


def test_limits_can_be_given(man: tuple[Skeleton, Names]) -> None:
    skeleton, names = man
    motion = turning(skeleton, names, "l_knee", (1.0, 0.0, 0.0), np.linspace(0.0, 100.0, 11))
    stiff = replace(human_joint("l_knee"), flexion_high=0.5)  # type: ignore[call-arg]
    kept, report = enforce_limits(motion, names, {"l_knee": stiff})
    assert report.judged == 1
    assert [row.canonical for row in report.rows] == ["l_knee"]
    flexion = stiff.parameters(joint_rotations(kept, names)["l_knee"])[:, 0]
    assert flexion.max() <= 0.5 + 1e-9


def test_names_that_do_not_fit_are_refused(man: tuple[Skeleton, Names]) -> None:
    skeleton, names = man
    with pytest.raises(SkeletonError, match=f"1 canonical names are given for {skeleton.joint_count} joints"):
        enforce_limits(bind_pose(skeleton), names[:1])


@pytest.mark.parametrize(("file", "worst"), [("02_01", 3.0), ("13_13", 10.0), ("13_39", 5.0)])
def test_what_people_really_did_is_hardly_touched(data: Path, file: str, worst: float) -> None:
    """A walk and two jumps: large joints within limits but for ankles at landing, by a few degrees."""
    motion = read_motion(data / f"cmu/{file}.bvh")
    names = recognise(motion.skeleton).canonical
    kept, report = enforce_limits(motion, names)
    assert report.judged == 28
    for row in report.rows:
        assert row.canonical[2:] in ("talocrural", "carpometacarpal_2")
        assert row.worst_degrees < worst
        assert row.frames < 0.06 * motion.frame_count
    assert enforce_limits(kept, names)[1].rows == ()
