"""Resampling: exact on frames, straight between them, honest outside."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation, Slerp

from ecorche.base.rotations import normalise
from ecorche.base.transforms import compose
from ecorche.errors import MotionError
from ecorche.io.bvh import read_motion
from ecorche.skeleton.motion import Motion, bind_pose
from ecorche.skeleton.resample import resample
from ecorche.skeleton.skeleton import Skeleton


def random_motion(frames: int = 6, *, shear: float = 0.0) -> Motion:
    random = np.random.default_rng(3)
    bind = np.tile(np.eye(4), (2, 1, 1))
    skeleton = Skeleton(("a", "b"), np.array([-1, 0], np.int32), bind, bind, np.full((2, 3), np.nan))
    local = compose(
        random.normal(size=(frames, 2, 3)),
        normalise(random.normal(size=(frames, 2, 4))),
        random.uniform(0.5, 2.0, (frames, 2, 3)),
    )
    local[..., 0, 1] += shear
    return Motion(
        "m",
        skeleton,
        np.cumsum(random.uniform(0.1, 1.0, frames)),
        local,
        {"face/smile": random.random(frames)},
    )


def test_the_same_times_give_the_same_bits() -> None:
    motion = random_motion(shear=0.3)
    again = resample(motion, times=motion.times)
    assert (again.local == motion.local).all()
    assert (again.times == motion.times).all()
    assert (again.morph_weights["face/smile"] == motion.morph_weights["face/smile"]).all()


def test_a_quarter_of_the_rate_keeps_every_fourth_frame_bit_for_bit(data: Path) -> None:
    motion = read_motion(data / "cmu" / "02_01.bvh")
    slow = resample(motion, rate=30.0)
    assert slow.frame_count == 86
    assert (slow.local == motion.local[::4]).all()


def test_twice_the_rate_and_back_is_the_motion(data: Path) -> None:
    motion = read_motion(data / "cmu" / "02_03.bvh")
    fast = resample(motion, rate=240.0)
    assert (fast.local[::2] == motion.local).all()
    assert (resample(fast, rate=120.0).local == motion.local).all()


def test_between_frames_scipy_agrees() -> None:
    motion = random_motion()
    times = np.linspace(motion.times[0], motion.times[-1], 57)
    ours = resample(motion, times=times)
    for joint in range(2):
        scale = np.linalg.norm(motion.local[:, joint, :3, :3], axis=1)
        turn = Rotation.from_matrix(motion.local[:, joint, :3, :3] / scale[:, None, :])
        wide = np.stack([np.interp(times, motion.times, scale[:, i]) for i in range(3)], axis=-1)
        expected = Slerp(motion.times, turn)(times).as_matrix() * wide[:, None, :]
        np.testing.assert_allclose(ours.local[:, joint, :3, :3], expected, atol=1e-12)
        for axis in range(3):
            line = np.interp(times, motion.times, motion.local[:, joint, axis, 3])
            np.testing.assert_allclose(ours.local[:, joint, axis, 3], line, atol=1e-12)
    smile = np.interp(times, motion.times, motion.morph_weights["face/smile"])
    assert (ours.morph_weights["face/smile"] == smile).all()


def test_shear_survives_continuously() -> None:
    motion = random_motion(shear=0.4)
    near = resample(motion, times=motion.times[:-1] + 1e-5)
    np.testing.assert_allclose(near.local, motion.local[:-1], atol=1e-3)


def test_what_is_not_known_is_refused() -> None:
    motion = random_motion()
    with pytest.raises(MotionError, match=r"outside it: it runs from"):
        resample(motion, times=[motion.times[-1] + 0.1])
    with pytest.raises(MotionError, match="not above zero"):
        resample(motion, rate=0.0)
    with pytest.raises(MotionError, match="either a rate or times"):
        resample(motion)
    with pytest.raises(MotionError, match="either a rate or times"):
        resample(motion, rate=24.0, times=[0.0])


def test_a_single_frame_stays_one() -> None:
    pose = bind_pose(random_motion().skeleton)
    assert (resample(pose, rate=24.0).local == pose.local).all()
