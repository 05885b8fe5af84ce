"""BVH files: the tree, the numbers, the unit, and what a damaged file is told."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ecorche.errors import EcorcheError, MotionError, ReadError
from ecorche.io.bvh import metres_per_unit, read_motion
from ecorche.io.formats import read_motion as read_any_motion

CLIPS = ("02_01", "02_03", "13_13", "13_39")
SMALL = """HIERARCHY
# a comment, blank lines and odd spacing are harmless

ROOT Hips {
  OFFSET 0 90 0
  CHANNELS 6 Yrotation Xposition Xrotation Zposition Zrotation Yposition
  JOINT Chest
  {
    OFFSET 0 50 0 CHANNELS 1 Zrotation
    End Site { OFFSET 0 80 0 }
  }
  JOINT Tail { OFFSET 0 -10 -5
    CHANNELS 0
  }
}
MOTION
Frames: 2
Frame Time: 0.0333
10 1 20 3 30 2 40
0 0 0 0 0 90 0
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "clip.bvh"
    path.write_text(text)
    return path


def about(axis: int, degrees: float) -> np.ndarray:
    a = np.radians(degrees)
    i, j = (axis + 1) % 3, (axis + 2) % 3
    m = np.eye(3)
    m[i, i] = m[j, j] = np.cos(a)
    m[j, i], m[i, j] = np.sin(a), -np.sin(a)
    return m


@pytest.mark.parametrize("clip", CLIPS)
def test_positions_agree_with_pybvh(data: Path, clip: str) -> None:
    """An independent reader puts every joint of every frame where we put it."""
    pybvh = pytest.importorskip("pybvh")
    path = data / "cmu" / f"{clip}.bvh"
    theirs = pybvh.read_bvh_file(path, world_up="+y")
    ours = read_motion(path)
    unit = 0.0254 / 0.45
    order = [theirs.joint_names.index(name) for name in ours.skeleton.names]
    expected = np.asarray(theirs.joint_positions())[:, order] * unit
    assert np.abs(ours.world()[..., :3, 3] - expected).max() < 1e-9
    assert ours.frame_count == theirs.frame_count
    assert ours.times[-1] == pytest.approx((theirs.frame_count - 1) / 120.0, abs=1e-12)


def test_channels_in_any_order_and_number(tmp_path: Path) -> None:
    motion = read_motion(written(tmp_path, SMALL))
    assert motion.skeleton.names == ("Hips", "Chest", "Tail")
    assert motion.skeleton.parents.tolist() == [-1, 0, 0]
    hips, chest, tail = motion.local[0]
    np.testing.assert_allclose(hips[:3, :3], about(1, 10) @ about(0, 20) @ about(2, 30), atol=1e-15)
    np.testing.assert_allclose(hips[:3, 3], [0.01, 0.02, 0.03])
    np.testing.assert_allclose(chest[:3, :3], about(2, 40), atol=1e-15)
    np.testing.assert_allclose(tail, motion.skeleton.bind_local[2])
    np.testing.assert_allclose(motion.skeleton.tails[1], [0, 0.8, 0])
    assert np.isnan(motion.skeleton.tails[2]).all()


def test_zero_angles_are_the_bind_pose_bit_for_bit(tmp_path: Path) -> None:
    motion = read_motion(written(tmp_path, SMALL))
    assert (motion.local[1] == motion.skeleton.bind_local).all()


@pytest.mark.parametrize(
    ("extent", "unit"),
    [(1.7, 1.0), (30.0, 0.0254 / 0.45), (68.0, 0.0254), (172.0, 0.01), (1720.0, 0.001), (7.0, 1.0)],
)
def test_the_unit_is_the_one_that_makes_a_person(extent: float, unit: float) -> None:
    assert metres_per_unit(extent) == unit


def test_cut_frame_times_are_whole_rates(tmp_path: Path) -> None:
    assert read_motion(written(tmp_path, SMALL)).times[1] == 1.0 / 30.0
    odd = SMALL.replace("0.0333", "0.04170833")  # 23.976 a second is not 24
    assert read_motion(written(tmp_path, odd)).times[1] == 0.04170833


def test_wrapped_frames_are_read(tmp_path: Path) -> None:
    wrapped = SMALL.replace("10 1 20 3 30 2 40\n0 0", "10 1 20 3\n30 2 40 0\n0")
    a, b = read_motion(written(tmp_path, SMALL)), read_motion(written(tmp_path, wrapped))
    assert (a.local == b.local).all()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("HIERARCHY", "HIERARCHIE", "does not begin with HIERARCHY"),
        ("MOTION", "", "none of ROOT, JOINT|no MOTION part"),
        ("Frames: 2", "Frames: 0", "it has no frames"),
        ("10 1 20 3 30 2 40\n0 0 0 0 0 90 0\n", "", "it has no frames"),
        ("Frames: 2", "Frames: 3", "says 3 frames and holds 2"),
        ("Frames: 2", "Frames: many", "is not a count"),
        ("Frames: 2\n", "", "not followed by 'Frames: N'"),
        ("0.0333", "0", "'Frame Time: 0' is not a time above zero"),
        ("0.0333", "-1", "is not a time above zero"),
        ("30 2 40", "30 2", "line 19: frame 1 has 6 values where the joints have 7 channels"),
        ("30 2 40", "30 nan 40", "value 6 of frame 1 is not a finite number"),
        ("30 2 40", "30 2 forty", "value 7 of frame 1 is not a finite number"),
        ("}\nMOTION", "MOTION", "line 14: 1 opening brace.* never closed"),
        ("}\nMOTION", "}}\nMOTION", "closing brace has no opening one"),
        ("OFFSET 0 50 0", "OFFSET 0 50", "line 9: OFFSET needs 3 finite numbers"),
        ("OFFSET 0 50 0", "", "joint 'Chest' has no OFFSET"),
        ("1 Zrotation", "1 Wrotation", "CHANNELS of 'Chest' are not 1 different"),
        ("1 Zrotation", "2 Zrotation", "CHANNELS of 'Chest' are not 2 different"),
        ("JOINT Tail", "JOINT Chest", "two joints are named 'Chest'"),
        ("JOINT Tail", "JOINT", "JOINT has no name"),
        ("JOINT Tail", "BONE Tail", "'BONE' is none of ROOT"),
    ],
)
def test_damage_is_named(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in SMALL
    with pytest.raises(ReadError, match=message):
        read_motion(written(tmp_path, SMALL.replace(old, new)))


def test_no_channels_and_no_text(tmp_path: Path) -> None:
    still = "HIERARCHY\nROOT A { OFFSET 0 0 0 CHANNELS 0 }\nMOTION\nFrames: 1\nFrame Time: 1\n"
    with pytest.raises(ReadError, match="no joint has channels"):
        read_motion(written(tmp_path, still))
    path = tmp_path / "binary.bvh"
    path.write_bytes(b"glTF\xff\xfe\x00\x81")
    with pytest.raises(ReadError, match="not a text file"):
        read_motion(path)


def test_another_clip_is_refused(data: Path) -> None:
    assert read_any_motion(data / "cmu" / "02_01.bvh", "02_01").name == "02_01"
    with pytest.raises(MotionError, match=r"no clip '02_02'\. Did you mean '02_01'"):
        read_any_motion(data / "cmu" / "02_01.bvh", "02_02")


def test_any_damage_ends_in_one_message(tmp_path: Path) -> None:
    """Cut, doubled or overwritten text never hangs and never ends in another kind of error."""
    random = np.random.default_rng(7)
    refused = 0
    for _ in range(400):
        text = list(SMALL)
        for _ in range(int(random.integers(1, 6))):
            at = int(random.integers(len(text)))
            choice = int(random.integers(3))
            if choice == 0:
                del text[at : at + int(random.integers(1, 30))]
            elif choice == 1:
                text[at:at] = text[at : at + int(random.integers(1, 30))]
            else:
                text[at] = chr(int(random.integers(32, 127)))
        try:
            read_motion(written(tmp_path, "".join(text)))
        except EcorcheError:
            refused += 1
    assert refused > 100
