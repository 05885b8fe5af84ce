"""PC2 point caches: byte layout, round trip, and files that must fail."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ecorche.base.mesh import triangle_mesh
from ecorche.body.character import Character, SkinnedMesh
from ecorche.body.frames import Frame, MemoryFrames
from ecorche.body.take import Take
from ecorche.errors import EcorcheError, ReadError, WriteError
from ecorche.io.formats import WriteOptions, write_take
from ecorche.io.pc2 import read_frames
from ecorche.skeleton.skeleton import Skeleton

EYE = np.eye(4)[None]
ONE_JOINT = Skeleton(("root",), np.array([-1], np.int32), EYE, EYE, np.zeros((1, 3)))


@pytest.fixture
def take() -> Take:
    mesh = triangle_mesh("cloth", np.eye(3), [[0, 1, 2]])
    rng = np.random.default_rng(4)
    frames = [
        Frame(i / 30.0, (rng.normal(size=(3, 3)).astype(np.float32),), (np.zeros((3, 3), np.float32),))
        for i in range(5)
    ]
    return Take(Character("thing", ONE_JOINT, (SkinnedMesh(mesh, None),)), frames=MemoryFrames(frames))


def test_layout_is_the_published_one(tmp_path: Path, take: Take) -> None:
    path = tmp_path / "a.pc2"
    written = write_take(path, take)
    assert written.notes == ("PC2 holds no time: play mesh 'cloth' at 30 frames a second.",)
    data = path.read_bytes()
    assert struct.unpack("<12siiffi", data[:32]) == (b"POINTCACHE2\0", 1, 3, 0.0, 1.0, 5)
    points = np.frombuffer(data[32:], "<f4").reshape(5, 3, 3)
    assert take.frames is not None
    for i in range(5):
        np.testing.assert_array_equal(points[i], take.frames[i].points[0])


def test_read_back_bit_for_bit(tmp_path: Path, take: Take) -> None:
    write_take(tmp_path / "a.pc2", take)
    frames = read_frames(tmp_path / "a.pc2", rate=30.0)
    assert take.frames is not None
    assert len(frames) == 5
    np.testing.assert_allclose(frames.times, take.frames.times)
    for i in (0, 4, -1):
        np.testing.assert_array_equal(frames[i].points[0], take.frames[i].points[0])
    with pytest.raises(IndexError):
        frames[5]


def test_uneven_times_and_other_meshes_are_said(tmp_path: Path, take: Take) -> None:
    assert take.frames is not None
    first = take.frames[0]
    late = [Frame(t, first.points * 2, first.normals * 2) for t in (0.0, 0.1, 0.5)]
    two = (take.character.meshes[0], SkinnedMesh(triangle_mesh("bone", np.eye(3), [[0, 1, 2]]), None))
    uneven = Take(Character("two", ONE_JOINT, two), frames=MemoryFrames(late))
    notes = write_take(tmp_path / "a.pc2", uneven, WriteOptions(mesh="bone")).notes
    assert any("not evenly spaced" in note for note in notes)
    assert "PC2 holds one mesh: 'bone' was written." in notes


def test_still_take_is_one_sample_at_bind(tmp_path: Path, take: Take) -> None:
    write_take(tmp_path / "a.pc2", Take(take.character))
    frames = read_frames(tmp_path / "a.pc2")
    assert len(frames) == 1
    np.testing.assert_array_equal(frames[0].points[0], np.eye(3))


def test_a_missing_folder_is_refused(tmp_path: Path, take: Take) -> None:
    with pytest.raises(WriteError, match="does not exist"):
        write_take(tmp_path / "none" / "a.pc2", take)


HEAD = struct.Struct("<12siiffi")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "does not begin as a PC2 file does"),
        (b"POINTCACHE3\0" + bytes(20), "does not begin as a PC2 file does"),
        (HEAD.pack(b"POINTCACHE2\0", 2, 0, 0, 1, 1), "is of PC2 version 2"),
        (HEAD.pack(b"POINTCACHE2\0", 1, 2**31 - 1, 0, 1, 2**31 - 1), "promises 2147483647 samples"),
        (HEAD.pack(b"POINTCACHE2\0", 1, 1, 0, 1, 2) + bytes(12), "promises 2 samples of 1 points"),
        (HEAD.pack(b"POINTCACHE2\0", 1, 1, 0, 0, 1) + bytes(12), "with 0.0 frames a sample"),
        (HEAD.pack(b"POINTCACHE2\0", 1, -1, 0, 1, 1), "promises 1 samples of -1 points"),
    ],
)
def test_damaged_files_are_refused(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "a.pc2"
    path.write_bytes(content)
    with pytest.raises(ReadError, match=message):
        read_frames(path)


def test_a_point_that_is_no_number_is_named(tmp_path: Path) -> None:
    path = tmp_path / "a.pc2"
    points = np.zeros((2, 2, 3), "<f4")
    points[1, 1, 2] = np.nan
    path.write_bytes(HEAD.pack(b"POINTCACHE2\0", 1, 2, 0, 1, 2) + points.tobytes())
    frames = read_frames(path)
    frames[0]
    with pytest.raises(ReadError, match="in sample 1, the position of vertex 1 is not a finite number"):
        frames[1]


def test_no_rate_is_refused(tmp_path: Path, take: Take) -> None:
    write_take(tmp_path / "a.pc2", take)
    with pytest.raises(EcorcheError, match="no rate"):
        read_frames(tmp_path / "a.pc2", rate=0.0)


def test_mutated_files_raise_only_our_errors(tmp_path: Path) -> None:
    path = tmp_path / "m.pc2"
    whole = HEAD.pack(b"POINTCACHE2\0", 1, 2, 0, 1, 2) + bytes(48)

    @settings(max_examples=100)
    @given(
        st.lists(st.tuples(st.integers(0, len(whole) - 1), st.integers(0, 255)), max_size=5),
        st.integers(0, 9),
    )
    def mutate(changes: list[tuple[int, int]], cut: int) -> None:
        data = bytearray(whole)
        for place, value in changes:
            data[place] = value
        path.write_bytes(bytes(data[: len(data) - cut]))
        try:
            frames = read_frames(path)
            for i in range(len(frames)):
                frames[i]
        except EcorcheError:
            return

    mutate()
