"""Parts of a shot, baked apart and put together, are the bytes of one bake."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from characters import bending, tube
from conftest import Command
from ecorche.body.bake import bake
from ecorche.body.frames import Frame, Frames
from ecorche.body.history import history
from ecorche.body.perform import perform
from ecorche.body.take import Take
from ecorche.farm.parts import (
    MissingPartsError,
    bake_part,
    part_path,
    parts_folder,
    ranges_of,
    read_part,
    stitched,
)
from ecorche.io.formats import write_take
from farm_people import stage as stage


@pytest.mark.parametrize(
    ("suffix", "options"),
    [
        ("usdc", ()),
        ("npz", ("--samples", 2)),
        ("pc2", ("--rate", 30)),
        ("glb", ("--feet", "planted", "--limits")),
        # its filter in time looks around, across the border of a part
        ("usdc", ("--coupling", "height_field", "--activation", "anticipating")),
    ],
)
def test_stitched_parts_are_the_bytes_of_one_bake(
    stage: Path, tmp_path: Path, ecorche: Command, suffix: str, options: tuple[object, ...]
) -> None:
    whole, target = tmp_path / f"whole.{suffix}", tmp_path / f"parts.{suffix}"
    shot = ("bake", stage / "man.ecorche", "-m", stage / "walk.bvh", "--frames", "20-29", *options)
    ecorche(*shot, "-o", whole, "--threads", 1)
    told = ecorche(*shot, "-o", target, "--split", 5)
    assert told.splitlines() == ["20-24", "25-29"]
    for frames in reversed(told.split()):
        ecorche(*shot, "-o", target, "--part", frames)
    ecorche(*shot, "-o", target, "--stitch")
    assert target.read_bytes() == whole.read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == [target.name, whole.name]


def test_what_remembers_is_told_to_be_baked_whole_and_its_parts_are_exact_all_the_same(
    stage: Path, tmp_path: Path
) -> None:
    from ecorche.document.files import read_rig
    from ecorche.io.formats import read_character, read_motion

    whole, target = tmp_path / "whole.pc2", tmp_path / "parts.pc2"
    man, rig = read_character(stage / "man.glb"), read_rig(stage / "man.ecorche")
    jump = read_motion(stage / "jump.bvh")
    take = perform(man, jump, rig=rig, frames=(140, 143), dynamics="springs", preroll=0.02).take
    assert history(take) == ("masses swing on springs",)
    ranges = ranges_of(take, (140, 143))
    for part in ((142, 143), (140, 141)):
        bake_part(target, take, ranges, *part)
    write_take(target, stitched(target, take, ranges)[0])
    bake(whole, take, write_take)
    assert target.read_bytes() == whole.read_bytes()


def test_missing_damaged_and_foreign_parts_are_told_with_exit_code_one(
    stage: Path, tmp_path: Path, ecorche: Command
) -> None:
    target = tmp_path / "walk.npz"
    shot = ("bake", stage / "man.ecorche", "-m", stage / "walk.bvh", "--frames", "0-11", "-o", target)
    for frames in ("0-3", "8-11"):
        ecorche(*shot, "--part", frames)
    ecorche(*shot, "--without-muscles", "--part", "4-7")

    def refused() -> str:
        take = perform_walk(stage)
        with pytest.raises(MissingPartsError) as error:
            stitched(target, take, ranges_of(take, (0, 11)))
        return str(error.value)

    assert "frames 4-7 are missing; of the parts there are 1 of another bake or version" in refused()
    ecorche(*shot, "--stitch", code=1)
    assert not target.exists()
    part = part_path(target, 8, 11)
    part.write_bytes(part.read_bytes()[:-100])
    assert "frames 4-11 are missing; of the parts there are 1 damaged and 1 of another bake" in refused()
    for frames in ("4-7", "8-11"):
        assert "already" not in ecorche(*shot, "--part", frames)
        assert "4 frames were there already" in ecorche(*shot, "--part", frames)
    ecorche(*shot, "--stitch")
    assert target.exists()


def perform_walk(stage: Path) -> Take:
    """The shot of the test above."""
    from ecorche.body.finer_skin import with_finer_skin
    from ecorche.document.files import read_rig
    from ecorche.io.formats import read_character, read_motion

    man, rig = read_character(stage / "man.glb"), read_rig(stage / "man.ecorche")
    take = perform(man, read_motion(stage / "walk.bvh"), rig=rig, frames=(0, 11)).take
    return with_finer_skin(take)


def test_jobs_that_make_no_sense_are_refused(stage: Path, tmp_path: Path, ecorche: Command) -> None:
    shot = ("bake", stage / "man.glb", "-m", stage / "walk.bvh", "--frames", "5-9", "-o", tmp_path / "w.npz")
    assert "--split and --stitch exclude each other" in ecorche(*shot, "--split", 2, "--stitch", code=2)
    assert "the shot has frames 5-9" in ecorche(*shot, "--part", "0-6", code=2)
    assert "--part: 'all' is not a range of frames" in ecorche(*shot, "--part", "all", code=2)
    assert list(tmp_path.iterdir()) == []


class Counted:
    """Frames that count how often each is computed, and stop once at a chosen one."""

    def __init__(self, frames: Frames, stop_at: int | None) -> None:
        self.frames, self.stop_at, self.computed = frames, stop_at, [0] * len(frames)
        self.times = frames.times

    def __len__(self) -> int:
        return len(self.frames)

    def __getitem__(self, index: int) -> Frame:
        if index == self.stop_at:
            raise OSError(5, "the network went away")
        self.computed[index] += 1
        return self.frames[index]


def test_a_part_that_failed_goes_on_and_says_where_it_was(tmp_path: Path) -> None:
    character = tube()
    take = perform(character, bending(character, frames=60)).take
    target, ranges = tmp_path / "bend.npz", ranges_of(take, None)
    assert take.frames is not None
    with pytest.raises(Exception, match="the network went away") as failed:
        bake_part(target, replace(take, frames=Counted(take.frames, 40)), ranges, 10, 59)
    assert failed.value.__notes__ == ["while baking moments 16-31 of 50"]
    again = Counted(take.frames, None)
    assert bake_part(target, replace(take, frames=again), ranges, 10, 59)
    assert again.computed == [0] * 10 + [1] + [0] * 15 + [1] * 34
    (path,) = parts_folder(target).iterdir()
    part = read_part(path)
    assert part is not None
    assert (part.start, part.stop) == (10, 60)


def test_parts_from_a_processor_that_rounds_otherwise_are_taken_and_told(tmp_path: Path) -> None:
    character = tube()
    motion = bending(character, frames=6)
    take, target = perform(character, motion).take, tmp_path / "bend.npz"
    rounded = replace(motion, local=motion.local * (1.0 + 2e-16))
    changed = replace(motion, local=motion.local.copy())
    changed.local[5, 1, 0, 3] += 1e-4
    ranges = ranges_of(take, None)
    bake_part(target, take, ranges, 0, 2)
    bake_part(target, perform(character, rounded).take, ranges, 3, 5)
    _, notes = stitched(target, take, ranges)
    assert any("the same within 1e-6" in note for note in notes) == bool(
        (rounded.local != motion.local).any()
    )
    part_path(target, 3, 5).unlink()
    bake_part(target, perform(character, changed).take, ranges, 3, 5)
    with pytest.raises(MissingPartsError, match="frames 3-5 are missing"):
        stitched(target, take, ranges)
