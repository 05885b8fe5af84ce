"""A pose written and read again is the same pose, on any rig and however deep it is bent."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from ecorche.errors import EcorcheError, MotionError, WriteError
from ecorche.io.formats import read_character
from ecorche.io.keyframes_write import pose_from_text, pose_text, read_pose, write_pose
from ecorche.skeleton.skeleton import Skeleton


@pytest.fixture(
    scope="module", params=["human/male_muscular_mixamo.glb", "human/male_slim_cmu_mb.glb", "horse"]
)
def skeleton(request: pytest.FixtureRequest, data: Path) -> Skeleton:
    name = "mesh2motion/horse-animations.glb" if request.param == "horse" else request.param
    return read_character(data / name).skeleton


def test_a_pose_comes_back(skeleton: Skeleton, tmp_path: Path) -> None:
    random = np.random.default_rng(8)
    local = skeleton.bind_local.copy()
    inverse = skeleton.bind_inverse[:, :3, :3]
    for joint in range(1, skeleton.joint_count):
        turn = Rotation.from_rotvec(random.normal(scale=0.9, size=3)).as_matrix()
        local[joint, :3, :3] = (
            local[joint, :3, :3] @ inverse[joint] @ turn @ skeleton.bind_world[joint, :3, :3]
        )
    path = tmp_path / "deep.pose"
    assert write_pose(path, skeleton, local) == ()
    np.testing.assert_allclose(read_pose(path, skeleton), local, atol=1e-7 * np.abs(local).max())


def test_bind_comes_back_bit_for_bit(skeleton: Skeleton, tmp_path: Path) -> None:
    path = tmp_path / "bind.pose"
    write_pose(path, skeleton, skeleton.bind_local)
    np.testing.assert_array_equal(read_pose(path, skeleton), skeleton.bind_local)


def test_the_body_may_have_moved_and_what_cannot_be_said_is_told(data: Path, tmp_path: Path) -> None:
    skeleton = read_character(data / "human/male_muscular_mixamo.glb").skeleton
    local = skeleton.bind_local.copy()
    local[0, :3, 3] += (0.1, -0.2, 0.3)
    path = tmp_path / "moved.pose"
    assert write_pose(path, skeleton, local) == ()
    np.testing.assert_allclose(read_pose(path, skeleton), local, atol=1e-9)
    local[5, :3, :3] *= 1.5
    local[7, :3, 3] += 0.1
    lines = write_pose(path, skeleton, local)
    assert lines == (
        f"stretched or sheared joints stand as at bind: {skeleton.names[5]!r}",
        f"joints out of their place stand as at bind: {skeleton.names[7]!r}",
    )


def test_human_joints_go_by_names_that_suit_other_rigs(data: Path, tmp_path: Path) -> None:
    """A pose of one rig is loaded on another, bound alike, whose joints have other names."""
    mixamo, cmu = (
        read_character(data / f"human/male_muscular_{rig}.glb").skeleton for rig in ("mixamo", "cmu_mb")
    )
    local = mixamo.bind_local.copy()
    knee = mixamo.index("mixamorig:LeftLeg")
    local[knee, :3, :3] = local[knee, :3, :3] @ Rotation.from_euler("x", 40, degrees=True).as_matrix()
    text, _ = pose_text(mixamo, local)
    assert "l_knee" in text
    path = tmp_path / "knee.pose"
    path.write_text(text)
    posed = read_pose(path, cmu)
    np.testing.assert_array_equal(pose_from_text(text, "knee.pose", cmu), posed)
    assert (np.abs(posed - cmu.bind_local).max(axis=(1, 2)) > 1e-6).sum() == 1


def test_bad_files_and_places_are_told(data: Path, tmp_path: Path) -> None:
    skeleton = read_character(data / "human/male_slim_cmu_mb.glb").skeleton
    with pytest.raises(WriteError, match=r"ends in \.pose"):
        write_pose(tmp_path / "pose.txt", skeleton, skeleton.bind_local)
    with pytest.raises(EcorcheError, match="nowhere"):
        write_pose(tmp_path / "nowhere" / "a.pose", skeleton, skeleton.bind_local)
    with pytest.raises(MotionError, match="not one of"):
        write_pose(tmp_path / "a.pose", skeleton, skeleton.bind_local[:3])
    assert list(tmp_path.iterdir()) == []
    standing = tmp_path / "standing.pose"
    standing.write_text("zero standing\nat 0\n l_knee 10 0 0\n")
    with pytest.raises(MotionError, match="Load it as a motion"):
        read_pose(standing, skeleton)
