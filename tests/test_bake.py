"""A bake streams, resumes, and leaves a whole file or none."""

from __future__ import annotations

import weakref
from pathlib import Path

import numpy as np
import pytest

from characters import bending, tube
from ecorche.body.bake import FRAMES_A_CHUNK, bake
from ecorche.body.frames import Frame, Frames
from ecorche.body.perform import perform
from ecorche.body.take import Take
from ecorche.errors import WriteError
from ecorche.io.formats import write_take


class Interrupting:
    """Frames that count how often each is computed, and stop once at a chosen one."""

    def __init__(self, frames: Frames, stop_at: int | None) -> None:
        self.frames, self.stop_at, self.computed = frames, stop_at, [0] * len(frames)
        self.times = frames.times

    def __len__(self) -> int:
        return len(self.frames)

    def __getitem__(self, index: int) -> Frame:
        if index == self.stop_at:
            raise KeyboardInterrupt
        self.computed[index] += 1
        return self.frames[index]


@pytest.fixture
def take() -> Take:
    character = tube()
    return perform(character, bending(character, frames=3 * FRAMES_A_CHUNK)).take


def test_an_interrupted_bake_leaves_no_file_and_resumes(tmp_path: Path, take: Take) -> None:
    assert take.frames is not None
    target, whole = tmp_path / "bend.npz", tmp_path / "whole.npz"
    write_take(whole, take)

    first = Interrupting(take.frames, stop_at=FRAMES_A_CHUNK + 3)
    with pytest.raises(KeyboardInterrupt):
        bake(target, Take(take.character, take.motion, first), write_take)
    assert not target.exists()
    assert [p.name for p in tmp_path.iterdir() if "bend" in p.name] == [".bend.npz.baking"]

    second = Interrupting(take.frames, stop_at=None)
    bake(target, Take(take.character, take.motion, second), write_take)
    assert target.read_bytes() == whole.read_bytes()
    # the first frame is always computed, to know that the rest is still the same bake
    assert second.computed[1:FRAMES_A_CHUNK] == [0] * (FRAMES_A_CHUNK - 1)
    assert second.computed[FRAMES_A_CHUNK:] == [1] * (2 * FRAMES_A_CHUNK)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["bend.npz", "whole.npz"]


def test_another_motion_does_not_resume_the_old_bake(tmp_path: Path, take: Take) -> None:
    assert take.frames is not None
    target = tmp_path / "bend.npz"
    with pytest.raises(KeyboardInterrupt):
        bake(target, Take(take.character, take.motion, Interrupting(take.frames, 20)), write_take)
    other = perform(take.character, bending(take.character, frames=3 * FRAMES_A_CHUNK, angle=-1.0)).take
    bake(target, other, write_take)
    with np.load(target) as baked:
        np.testing.assert_array_equal(baked["points"][20], other.frames[20].points[0])  # type: ignore[index]


def test_a_second_bake_to_the_same_file_waits_outside(tmp_path: Path, take: Take) -> None:
    target = tmp_path / "bend.npz"

    def bake_again(path: Path, _take: Take) -> None:
        with pytest.raises(WriteError, match="another bake is writing this file"):
            bake(path, take, write_take)

    bake(target, take, bake_again)
    bake(target, take, write_take)
    assert [p.name for p in tmp_path.iterdir()] == ["bend.npz"]


def test_a_link_is_followed_not_replaced(tmp_path: Path, take: Take) -> None:
    (tmp_path / "real").mkdir()
    link = tmp_path / "bend.npz"
    link.symlink_to(tmp_path / "real" / "there.npz")
    write_take(link, take)
    assert link.is_symlink()
    assert (tmp_path / "real" / "there.npz").stat().st_size > 1000


def test_an_older_file_survives_a_failed_bake(tmp_path: Path, take: Take) -> None:
    target = tmp_path / "bend.npz"
    target.write_bytes(b"precious")

    def failing(_path: Path, _take: Take) -> None:
        raise RuntimeError("the writer broke")

    with pytest.raises(RuntimeError, match="the writer broke"):
        bake(target, take, failing)
    assert target.read_bytes() == b"precious"


def test_progress_counts_every_frame_of_both_stages(tmp_path: Path, take: Take) -> None:
    told: list[tuple[str, int, int]] = []
    bake(tmp_path / "bend.npz", take, write_take, lambda *step: told.append(step))
    total = 3 * FRAMES_A_CHUNK
    assert ("bake", total, total) in told
    assert ("write", total, total) in told
    assert [t[1] for t in told if t[0] == "bake"] == [0, FRAMES_A_CHUNK, 2 * FRAMES_A_CHUNK, total]


@pytest.mark.parametrize("suffix", [".npz", ".pc2", ".usdc", ".usda", ".glb", ".x3d"])
def test_the_same_bytes_twice(tmp_path: Path, take: Take, suffix: str) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        bake(tmp_path / name / f"bend{suffix}", take, write_take)
    one, two = (tmp_path / name / f"bend{suffix}" for name in ("one", "two"))
    assert one.read_bytes() == two.read_bytes()


class Watched:
    """Frames that watch how many of them are alive at once."""

    def __init__(self, frames: Frames) -> None:
        self.frames, self.times, self.most = frames, frames.times, 0
        self.alive: weakref.WeakSet[Frame] = weakref.WeakSet()

    def __len__(self) -> int:
        return len(self.frames)

    def __getitem__(self, index: int) -> Frame:
        frame = self.frames[index]
        self.alive.add(frame)
        self.most = max(self.most, len(self.alive))
        return frame


@pytest.mark.parametrize("suffix", [".npz", ".pc2", ".usdc", ".glb", ".x3d"])
def test_frames_stream_through_bounded_memory(tmp_path: Path, take: Take, suffix: str) -> None:
    assert take.frames is not None
    watched = Watched(take.frames)
    write_take(tmp_path / f"bend{suffix}", Take(take.character, take.motion, watched))
    assert watched.most <= 6
