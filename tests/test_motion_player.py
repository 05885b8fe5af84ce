"""A body in a motion for a person who looks: any moment, edited keys, an edited rig, and what swings."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from ecorche.body.body_type import with_type
from ecorche.body.compile import compile_body
from ecorche.body.dynamic_frames import DynamicFrames
from ecorche.body.motion_player import MotionPlayer
from ecorche.body.perform import perform
from ecorche.errors import EcorcheError, MotionError
from ecorche.io.activation import read_activation, write_activation
from ecorche.io.formats import read_character, read_motion
from ecorche.muscles.keyed_activation import KeyedActivation
from ecorche.muscles.keyed_curves import KeyedCurves
from ecorche.skeleton.motion import Motion
from ecorche.skeleton.resample import resample
from rigged_people import BICEPS, edited, person, rigged

Floats = npt.NDArray[np.float64]


@pytest.fixture(scope="module")
def man(data: Path) -> Path:
    return data / "human" / "male_muscular_cmu_mb.glb"


@pytest.fixture(scope="module")
def walking(man: Path, data: Path) -> MotionPlayer:
    motion = read_motion(data / "cmu" / "02_01.bvh")
    moved = perform(person(man), motion, rig=rigged(man), muscles=False, rate=30, frames=(1, 40)).take.motion
    assert moved is not None
    return MotionPlayer(compile_body(person(man), rig=rigged(man)), moved)


def test_frames_are_those_of_a_bake(walking: MotionPlayer, man: Path, data: Path) -> None:
    motion = read_motion(data / "cmu" / "02_01.bvh")
    take = perform(person(man), motion, rig=rigged(man), rate=30, frames=(1, 40)).take
    plain = perform(person(man), motion, rig=rigged(man), rate=30, frames=(1, 40), muscles=False).take
    assert take.frames is not None
    assert plain.frames is not None
    whole = replace(walking)  # what looks around in time sees the whole motion in a bake
    whole.__dict__["source_activation"] = take.frames.activation  # type: ignore[attr-defined]
    for index in (0, 17, 39):
        time = float(walking.motion.times[index])
        shown, without = whole.at(time), whole.plain_at(time)
        for ours, baked in ((shown, take.frames[index]), (without, plain.frames[index])):
            assert ours.time == baked.time
            for one, other in zip(ours.points, baked.points, strict=True):
                np.testing.assert_array_equal(one, other)
        assert any((a != b).any() for a, b in zip(shown.points, without.points, strict=True))


def test_between_frames_it_goes_as_resampled(walking: MotionPlayer) -> None:
    first, last = walking.motion.times[[5, 6]]
    time = 0.25 * first + 0.75 * last
    pose = walking.pose_at(time)
    np.testing.assert_array_equal(pose.local, resample(walking.motion, times=[time]).local[0])
    assert walking.activation is not None
    expected = 0.25 * walking.activation[5] + 0.75 * walking.activation[6]
    assert pose.activation is not None
    np.testing.assert_allclose(pose.activation, expected, atol=1e-12)
    assert walking.frame_at(time) == 5
    assert walking.frame_at(walking.begins - 1.0) == 0
    assert walking.frame_at(walking.ends + 1.0) == len(walking) - 1
    for beyond, at in ((walking.begins - 9.0, walking.begins), (walking.ends + 9.0, walking.ends)):
        np.testing.assert_array_equal(walking.at(beyond).points[0], walking.at(at).points[0])


def test_an_edited_key_moves_the_skin_at_once(walking: MotionPlayer, tmp_path: Path) -> None:
    time = float(walking.motion.times[20])
    row = walking.body.muscle_names.index(BICEPS)
    curves = KeyedCurves().with_curve(BICEPS, ([walking.begins], [0.0]))
    slack = walking.with_curves(curves)
    tense = slack.with_curves(curves.with_key(BICEPS, time, 1.0))
    for player, active in ((slack, 0.0), (tense, 1.0)):
        found, source = player.activation_at(time), walking.activation_at(time)
        assert found is not None
        assert source is not None
        assert found[row] == active
        np.testing.assert_array_equal(np.delete(found, row), np.delete(source, row))
    moved = np.linalg.norm(tense.at(time).points[0] - slack.at(time).points[0], axis=1)
    assert 0.001 < moved.max() < 0.03
    np.testing.assert_array_equal(tense.plain_at(time).points[0], slack.plain_at(time).points[0])
    # the command line's file says the same
    write_activation(tmp_path / "curves.csv", tense.curves.curves)
    read = KeyedCurves(read_activation(tmp_path / "curves.csv"))
    assert walking.body.activation is not None
    command = KeyedActivation(walking.muscles, dict(read.curves), walking.body.activation)
    np.testing.assert_array_equal(command.over(walking.motion), tense.activation)


def test_curves_of_unknown_muscles_are_refused(walking: MotionPlayer) -> None:
    with pytest.raises(EcorcheError, match="no muscle or group 'bicpes'"):
        walking.with_curves(KeyedCurves({"bicpes": (np.zeros(1), np.zeros(1))}))


def test_an_edited_rig_goes_on_in_the_same_motion(walking: MotionPlayer, man: Path) -> None:
    thick = compile_body(person(man), rig=edited(rigged(man), BICEPS, scale=1.5))
    curves = KeyedCurves().with_curve(BICEPS, ([walking.begins], [1.0]))
    before = walking.with_curves(curves)
    after = before.with_body(thick)
    assert after.motion is before.motion
    assert after.source_activation is before.source_activation  # an edited shape asks no motion again
    time = walking.motion.times[12]
    assert (after.at(time).points[0] != before.at(time).points[0]).any()
    fresh = MotionPlayer(thick, walking.motion, curves)
    np.testing.assert_array_equal(after.at(time).points[0], fresh.at(time).points[0])
    # one that acts on joints otherwise is asked again
    lazy = compile_body(person(man), rig=edited(rigged(man), BICEPS, actions=()))
    assert walking.source_activation is not None
    idle = walking.with_body(lazy).source_activation
    assert idle is not None
    row = walking.body.muscle_names.index(BICEPS)
    assert walking.source_activation[:, row].any()
    assert not idle[:, row].any()


def test_a_body_of_another_type_plays_the_same_motion(walking: MotionPlayer, man: Path) -> None:
    heavy = compile_body(person(man), rig=with_type(rigged(man), fat=1.0))
    time = walking.motion.times[3]
    moved = walking.with_body(heavy).at(time).points[0] - walking.at(time).points[0]
    assert 0.01 < np.linalg.norm(moved, axis=1).max() < 0.2


def test_clips_of_another_creature_play_without_muscles(data: Path) -> None:
    horse = read_character(data / "mesh2motion" / "horse-animations.glb")
    assert len(horse.motions) > 5
    player = MotionPlayer(compile_body(horse), horse.motions[3])
    middle = 0.5 * (player.begins + player.ends)
    for shown, plain in zip(player.at(middle).points, player.plain_at(middle).points, strict=True):
        np.testing.assert_array_equal(shown, plain)
    assert player.activation_at(middle) is None
    with pytest.raises(MotionError, match="another skeleton"):
        MotionPlayer(compile_body(read_character(data / "mesh2motion" / "human-male.glb")), horse.motions[3])


def test_fat_is_computed_ahead_and_as_baked(walking: MotionPlayer, man: Path) -> None:
    short = replace(walking, motion=walking.motion.part(0, 5))
    frames = DynamicFrames(short, "fat", rigged(man), preroll=0.1)
    assert frames.at(short.begins) is None
    assert (frames.computed, frames.share) == (0, 0.0)
    assert frames.advance(0.0) == 0  # the body gets into its pose first
    shares = [frames.share]
    while not frames.is_done:
        frames.advance(0.0)
        shares.append(frames.share)
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    baked = perform(
        person(man), short.motion, rig=rigged(man), dynamics="fat", preroll=0.1, activation=Held(short)
    ).take.frames
    assert baked is not None
    for index in (0, 5):
        frame = frames.frame(index)
        assert frame is not None
        assert frame.time == short.motion.times[index]
        np.testing.assert_array_equal(frame.points[0], baked[index].points[0])
    still = short.at(short.ends)
    assert (frames.at(short.ends).points[0] != still.points[0]).any()  # type: ignore[union-attr]


class Held:
    """The activation of a player, and before its first frame that of the first."""

    def __init__(self, player: MotionPlayer) -> None:
        self.player = player

    def over(self, motion: Motion) -> Floats:
        active = self.player.activation
        assert active is not None
        before = motion.frame_count - len(active)
        return np.concatenate([np.repeat(active[:1], before, axis=0), active])


def test_what_cannot_swing_or_be_kept_is_told(walking: MotionPlayer, man: Path) -> None:
    with pytest.raises(EcorcheError, match="no muscles that could swing"):
        DynamicFrames(walking, "oscillation", rigged(man)).advance(0.0)
    with pytest.raises(EcorcheError, match="no dynamics 'jelly'"):
        DynamicFrames(walking, "jelly")
    few = DynamicFrames(walking, "fat", rigged(man), most_bytes=12 * 13380 * 3)
    assert few.possible == 3
    assert "3 of 40 frames" in few.notes[0]
