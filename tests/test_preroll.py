"""What comes before a motion and between its frames; and a bake with a history that is interrupted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ecorche.body.bake import FRAMES_A_CHUNK, bake, take_key
from ecorche.body.character import Character
from ecorche.body.fat_motion import FatMotion
from ecorche.body.perform import perform
from ecorche.body.preroll import with_preroll, with_samples
from ecorche.body.take import Take
from ecorche.errors import MotionError
from ecorche.io.formats import WriteOptions, write_take
from ecorche.io.pc2 import read_frames
from ecorche.skeleton.motion import Motion
from soft_ball import ball, hopping, soft_rig, turned


@pytest.fixture(scope="module")
def character() -> Character:
    return ball()


def walking(character: Character) -> Motion:
    """It turns as it travels along x at 1.5 m/s, from the first frame on."""
    motion = turned(character, 1.0 + 0.8 * np.sin(np.arange(40) / 6.0), rate=24.0)
    motion.local[:, 0, 0, 3] = 4.0 + 1.5 * motion.times
    return motion


def test_before_a_motion_it_comes_from_bind_and_at_the_motions_speed(character: Character) -> None:
    motion = walking(character)
    longer, count = with_preroll(motion, 1.5)
    assert count == 36
    np.testing.assert_allclose(longer.times[:count], motion.times[0] - np.arange(36, 0, -1) / 24.0)
    np.testing.assert_array_equal(longer.local[count:], motion.local)
    # bind but for where it is
    np.testing.assert_allclose(longer.local[0, 1], character.skeleton.bind_local[1], atol=1e-12)
    np.testing.assert_allclose(longer.local[0, 0, :3, :3], np.eye(3), atol=1e-12)
    travel = np.diff(longer.local[:, 0, 0, 3]) * 24.0
    np.testing.assert_allclose(travel, 1.5, atol=1e-9)
    angle = np.unwrap(np.arctan2(longer.local[:, 1, 1, 0], longer.local[:, 1, 0, 0]))
    speed = np.diff(angle) * 24.0
    # no jerk where the motion begins, and none before
    assert np.abs(np.diff(speed))[count - 3 : count + 2].max() < 1.2
    assert np.abs(np.diff(speed)).max() < 1.2
    assert with_preroll(motion, 0.0) == (motion, 0)
    with pytest.raises(MotionError, match="cannot come before"):
        with_preroll(motion, -1.0)


def test_moments_between_frames_are_on_the_way(character: Character) -> None:
    motion = walking(character)
    fine = with_samples(motion, 4)
    assert fine.frame_count == 4 * 39 + 1
    np.testing.assert_array_equal(fine.local[::4], motion.local)
    np.testing.assert_array_equal(fine.times[::4], motion.times)
    np.testing.assert_allclose(np.diff(fine.times), 1.0 / 96.0)
    assert with_samples(motion, 1) is motion
    with pytest.raises(MotionError, match="none"):
        with_samples(motion, 0)


def test_files_know_that_samples_lie_between_frames(tmp_path: Path, character: Character) -> None:
    from pxr import Usd

    take = perform(character, walking(character), samples=4, frames=(2, 5)).take
    assert len(take.frames or ()) == 13
    write_take(tmp_path / "walk.usdc", take, WriteOptions(usd_as="points"))
    stage = Usd.Stage.Open(str(tmp_path / "walk.usdc"))
    assert stage.GetTimeCodesPerSecond() == 24.0
    assert (stage.GetStartTimeCode(), stage.GetEndTimeCode()) == (2.0, 5.0)
    (points,) = [p.GetAttribute("points") for p in stage.Traverse() if p.GetTypeName() == "Mesh"]
    np.testing.assert_allclose(points.GetTimeSamples(), np.arange(13) / 4.0 + 2.0, atol=1e-6)
    written = write_take(tmp_path / "walk.pc2", take)
    assert any("24 frames a second" in note for note in written.notes)
    np.testing.assert_allclose(read_frames(tmp_path / "walk.pc2", 24.0).times, np.arange(13) / 96.0)


class Stopped(Exception):
    """Somebody pulled the plug."""


def stop_at(done: int) -> Any:
    def told(stage: str, now: int, _total: int) -> None:
        if stage == "bake" and now >= done:
            raise Stopped

    return told


def hop(character: Character) -> Take:
    rig, motion = soft_rig(character), hopping(character, 2.0)
    return perform(character, motion, rig=rig, dynamics="fat", preroll=0.3, samples=2).take


@pytest.mark.parametrize("damage", ["none", "lost", "cut"])
def test_a_bake_with_a_history_goes_on_as_if_it_had_not_stopped(
    tmp_path: Path, character: Character, damage: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, target = tmp_path / "whole.npz", tmp_path / "hop.npz"
    bake(whole, hop(character), write_take)
    with pytest.raises(Stopped):
        bake(target, hop(character), write_take, stop_at(3 * FRAMES_A_CHUNK))
    assert not target.exists()
    folder = tmp_path / ".hop.npz.baking"
    assert json.loads((folder / "state.json").read_text())["done"] == 3 * FRAMES_A_CHUNK
    (history,) = folder.glob("history-*.bin")
    if damage == "lost":
        history.unlink()
    elif damage == "cut":
        history.write_bytes(history.read_bytes()[:-100])
    passed: list[int] = []
    go_on = FatMotion._pass_on

    def counted(motion: FatMotion, number: int) -> None:
        passed.append(number)
        go_on(motion, number)

    monkeypatch.setattr(FatMotion, "_pass_on", counted)
    bake(target, hop(character), write_take)
    assert target.read_bytes() == whole.read_bytes()
    frames = 2 * 60 + 1
    before = 2 * 9  # of the preroll, to know the first frame
    if damage == "none":
        assert len(passed) == before + frames - 3 * FRAMES_A_CHUNK
    else:
        assert len(passed) == before + frames - 1
    assert not folder.exists()


def test_a_bake_goes_on_with_what_was_said_before_alone(character: Character) -> None:
    motion = hopping(character, 0.2)

    def key(maps: dict[str, Any] | None = None, **said: Any) -> str:
        rig = soft_rig(character, maps, **said)
        return take_key(perform(character, motion, rig=rig, dynamics="fat").take)

    same = key()
    assert key() == same
    upper = soft_rig(character).maps["upper"].astype(np.float64)
    others = [
        key(nodes=8),
        key(young=3_001.0),
        key(sag=0.1),
        key({"upper": 0.99 * upper}),
        key({"new": upper}),
    ]
    assert len({same, *others}) == 6
