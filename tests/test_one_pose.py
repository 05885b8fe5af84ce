"""The joints of one pose, compiled: the same as many poses at once, and exactly nothing at bind."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ecorche.base.rotations import xyzw_from_rotation_vector
from ecorche.base.transforms import compose
from ecorche.io.formats import read_character
from ecorche.skeleton.kinematics import difference_from_bind
from ecorche.skeleton.skeleton import world_from_local


def test_one_pose_is_one_of_many_and_bind_is_exact(data: Path) -> None:
    skeleton = read_character(data / "human" / "male_dressed_mixamo.glb").skeleton
    rng, count = np.random.default_rng(0), skeleton.joint_count
    turn = xyzw_from_rotation_vector(rng.normal(size=(5, count, 3)))
    local = skeleton.bind_local @ compose(0.1 * rng.normal(size=(5, count, 3)), turn)
    together = difference_from_bind(skeleton, local)
    for pose, difference in zip(local, together, strict=True):
        one = difference_from_bind(skeleton, pose)
        np.testing.assert_allclose(one, difference, rtol=0.0, atol=1e-12)
        moved = world_from_local(skeleton.parents, pose) @ skeleton.bind_inverse
        np.testing.assert_allclose(np.eye(4) + one, moved, rtol=0.0, atol=1e-11)
        # a view with gaps, and numbers that may not be changed
        spread = np.repeat(pose, 2, axis=0)[::2]
        spread.flags.writeable = False
        np.testing.assert_array_equal(difference_from_bind(skeleton, spread), one)
    np.testing.assert_array_equal(difference_from_bind(skeleton, skeleton.bind_local), 0.0)
    near = difference_from_bind(skeleton, skeleton.bind_local + 1e-12)
    assert 0.0 < np.abs(near).max() < 1e-9
