"""Loops: a clip goes on for ever without a jerk, straight ahead, and is otherwise the clip."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from characters import tube
from crowds import CLIPS, crowd
from ecorche.base import rotations, transforms
from ecorche.io.formats import read_character
from ecorche.skeleton.motion import Motion, bind_pose
from ecorche.skeleton.motion_loop import BLEND, MotionLoop, even_clip, motion_loop
from ecorche.skeleton.skeleton import Skeleton

Floats = npt.NDArray[np.float64]


def _joints(loop: MotionLoop, turns: int) -> Floats:
    """Joints over some turns of a loop where it goes [m], (frames, joints, 3)."""
    world = loop.motion.world()[:-1, :, :3, 3]
    once = world + np.linspace(0.0, loop.speed * loop.length, len(world) + 1)[:-1, None, None] * (0, 0, 1)
    return np.concatenate(
        [once + turn * loop.speed * loop.length * np.array([0, 0, 1]) for turn in range(turns)]
    )


def _swinging(period: float, seconds: float, rate: float = 60.0) -> Motion:
    """A tube that bends to and fro, and walks and turns as it does."""
    skeleton = tube().skeleton
    times = np.arange(round(seconds * rate) + 1) / rate
    local = np.tile(skeleton.bind_local, (len(times), 1, 1, 1))
    angle = 0.6 * np.sin(2.0 * np.pi * times / period)
    bend = rotations.xyzw_from_axis_angle([0.0, 0.0, 1.0], angle)
    local[:, -1] = skeleton.bind_local[-1] @ transforms.compose(np.zeros(3), bend)
    turn = 0.4 * times
    way = np.stack([np.cumsum(np.sin(turn)), 0.0 * turn, np.cumsum(np.cos(turn))], axis=1) / rate
    heading = rotations.xyzw_from_axis_angle([0.0, 1.0, 0.0], turn)
    local[:, 0] = transforms.compose(way, heading) @ skeleton.bind_local[0]
    return Motion("swinging", skeleton, times, local)


@pytest.mark.parametrize("clip", range(4), ids=CLIPS)
def test_the_seam_of_a_loop_is_as_smooth_as_the_rest(data: Path, clip: int) -> None:
    loop = crowd(data).clips[clip].loop
    assert np.array_equal(loop.motion.local[0], loop.motion.local[-1])
    joints, once = _joints(loop, 2), loop.motion.frame_count - 1
    speed = np.linalg.norm(np.diff(joints, axis=0), axis=-1).max(axis=1) * loop.motion.rate
    seam = slice(once - round(BLEND * loop.motion.rate) - 1, once + 2)
    assert speed[seam].max() < 1.1 * np.delete(speed, np.arange(once * 2 - 1)[seam]).max()
    assert loop.gap < 0.08


def test_a_walk_goes_straight_ahead_at_its_own_speed(data: Path) -> None:
    walk, run, jump = (crowd(data).clips[number].loop for number in (0, 1, 3))
    assert 1.1 < walk.speed < 1.4
    assert 2.5 < run.speed < 3.1
    assert jump.speed == 0.0
    assert 1.8 < walk.length < 2.6  # two double steps
    middle = walk.motion.world()[:, :, :3, 3].mean(axis=1)
    assert np.abs(middle[:, 0]).max() < 0.05
    assert np.abs(middle[:, 2]).max() < 0.15
    left, right = (walk.motion.skeleton.names.index(n) for n in ("LeftShoulder", "RightShoulder"))
    across = np.diff(walk.motion.world()[..., :3, 3][:, [right, left]], axis=1)[:, 0]
    assert (across[:, 0] > 0.9 * np.linalg.norm(across[:, ::2], axis=1)).all()  # it faces +Z: left is +X


def test_the_period_is_found_and_what_turns_becomes_straight() -> None:
    loop = motion_loop(_swinging(0.8, 2.7))
    assert loop.length == pytest.approx(1.6, abs=0.02)
    assert loop.gap < 0.01
    assert loop.speed == pytest.approx(1.0, rel=0.01)
    world = loop.motion.world()
    assert np.abs(world[:, 0, :3, 2] - (0.0, 0.0, 1.0)).max() < 0.25  # its front stays ahead


def test_outside_the_seam_a_loop_is_the_clip(data: Path) -> None:
    clip = even_clip(_swinging(0.8, 2.7))
    loop = motion_loop(clip)
    now, share, _ = loop.share
    whole = share == 0.0
    assert whole.sum() > 0.6 * len(whole)
    assert np.array_equal(loop.motion.local[whole, 1], clip.local[now[whole], 1])
    values = np.arange(clip.frame_count, dtype=float)[:, None]
    carried = loop.carried(values)[:, 0]
    assert np.array_equal(carried[whole], now[whole])
    assert carried[-1] == pytest.approx(carried[0])


def test_a_clip_that_is_a_loop_already_stays_whole(data: Path) -> None:
    """As games have them: a horse that walks, trots and runs on the spot."""
    horse = read_character(data / "mesh2motion" / "horse-animations.glb")
    for motion in horse.motions:
        if motion.name in ("Walk", "Trot", "Run", "Idle"):
            loop = motion_loop(even_clip(replace(motion, morph_weights={})))
            # the run does not end where it began, so a little of it may be left out
            assert loop.frames[0] <= (2 if motion.name == "Run" else 0), motion.name
            assert loop.frames[1] == motion.frame_count - 1
            assert loop.speed == 0.0


def test_a_joint_that_holds_the_scene_changes_nothing() -> None:
    clip = even_clip(_swinging(0.8, 2.7))
    skeleton = clip.skeleton
    bind = np.concatenate([np.eye(4)[None], skeleton.bind_local])
    held = Skeleton(
        ("scene", *skeleton.names),
        np.concatenate([[-1], np.where(skeleton.parents < 0, 0, skeleton.parents + 1)]).astype(np.int32),
        bind,
        bind,
        np.concatenate([np.full((1, 3), np.nan), skeleton.tails]),
    )
    still = np.tile(np.eye(4), (clip.frame_count, 1, 1, 1))
    other = Motion("held", held, clip.times, np.concatenate([still, clip.local], axis=1))
    one, two = motion_loop(clip), motion_loop(other)
    assert two.frames == one.frames
    assert two.speed == pytest.approx(one.speed)
    assert np.abs(two.motion.world()[:, 1:] - one.motion.world()).max() < 1e-9


def test_a_pose_is_a_loop_that_holds_it() -> None:
    skeleton = tube().skeleton
    loop = motion_loop(even_clip(bind_pose(skeleton)))
    assert loop.speed == 0.0
    assert np.ptp(loop.motion.local, axis=0).max() == 0.0
    uneven = replace(_swinging(0.8, 2.7), times=np.cumsum(np.linspace(0.01, 0.02, 163)))
    times = even_clip(uneven).times
    assert times[0] == 0.0
    assert np.ptp(np.diff(times)) < 1e-12
