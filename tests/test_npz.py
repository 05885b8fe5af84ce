"""NPZ: plain arrays that numpy itself loads, the same bytes every time, in bounded memory."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from characters import bending, tube
from ecorche.base.mesh import Mesh, triangle_mesh
from ecorche.body.character import Character, SkinnedMesh
from ecorche.body.frames import Frame, MemoryFrames
from ecorche.body.perform import perform
from ecorche.body.take import Take
from ecorche.errors import MeshError, ReadError
from ecorche.io.formats import WriteOptions, read_character, write_take
from ecorche.io.npz import read_frames
from ecorche.skeleton.skeleton import Skeleton

EYE = np.eye(4)[None]
ONE_JOINT = Skeleton(("root",), np.array([-1], np.int32), EYE, EYE, np.zeros((1, 3)))


def _mixed() -> Mesh:
    points = np.arange(15, dtype=np.float32).reshape(5, 3) ** 2
    return Mesh("mixed", points, np.array([4, 3], np.int32), np.array([0, 1, 2, 3, 1, 4, 2], np.int32))


def _take(*meshes: Mesh, frames: int = 4, normals: bool = True) -> Take:
    rng = np.random.default_rng(1)
    moments = [
        Frame(
            0.25 * i,
            tuple(rng.normal(size=m.points.shape).astype(np.float32) for m in meshes),
            tuple(rng.normal(size=m.points.shape).astype(np.float32) if normals else None for m in meshes),
        )
        for i in range(frames)
    ]
    character = Character("thing", ONE_JOINT, tuple(SkinnedMesh(m, None) for m in meshes))
    return Take(character, frames=MemoryFrames(moments))


def test_one_mesh_has_plain_names(tmp_path: Path) -> None:
    take = _take(triangle_mesh("cloth", np.eye(3), [[0, 1, 2]]))
    assert write_take(tmp_path / "a.npz", take).notes == ()
    assert take.frames is not None
    with np.load(tmp_path / "a.npz", allow_pickle=False) as found:
        assert set(found) == {"points", "normals", "times", "faces"}
        assert found["points"].dtype == np.float32
        np.testing.assert_array_equal(found["points"], [take.frames[i].points[0] for i in range(4)])
        np.testing.assert_array_equal(found["normals"], [take.frames[i].normals[0] for i in range(4)])
        np.testing.assert_array_equal(found["times"], [0.0, 0.25, 0.5, 0.75])
        np.testing.assert_array_equal(found["faces"], [[0, 1, 2]])


def test_mixed_polygons_are_given_whole_and_as_triangles(tmp_path: Path) -> None:
    write_take(tmp_path / "a.npz", _take(_mixed(), normals=False))
    with np.load(tmp_path / "a.npz") as found:
        assert "normals" not in found
        np.testing.assert_array_equal(found["faces"], _mixed().triangles())
        np.testing.assert_array_equal(found["face_counts"], [4, 3])
        np.testing.assert_array_equal(found["face_indices"], _mixed().face_indices)


def test_all_meshes_are_prefixed_with_their_names(tmp_path: Path) -> None:
    take = _take(triangle_mesh("cloth", np.eye(3), [[0, 1, 2]]), _mixed())
    write_take(tmp_path / "a.npz", take, WriteOptions(mesh="*"))
    with np.load(tmp_path / "a.npz") as found:
        assert {"times", "cloth/points", "cloth/faces", "mixed/points", "mixed/normals"} <= set(found)
        assert found["mixed/points"].shape == (4, 5, 3)
    notes = write_take(tmp_path / "b.npz", take, WriteOptions(mesh="mixed")).notes
    assert notes == ("Mesh 'mixed' was written; the name \"*\" instead writes all.",)


def test_same_take_same_bytes(tmp_path: Path) -> None:
    for name in ("a.npz", "b.npz"):
        write_take(tmp_path / name, _take(_mixed()))
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()


def test_memory_does_not_grow_with_length(tmp_path: Path) -> None:
    points = np.random.default_rng(0).normal(size=(20_000, 3)).astype(np.float32)
    mesh = triangle_mesh("big", points, np.arange(18_000).reshape(-1, 3))

    class Endless:
        times = np.arange(200) / 24.0

        def __len__(self) -> int:
            return 200

        def __getitem__(self, index: int) -> Frame:
            return Frame(index / 24.0, (points + np.float32(index),), (points,))

    take = Take(Character("big", ONE_JOINT, (SkinnedMesh(mesh, None),)), frames=Endless())
    tracemalloc.start()
    try:
        write_take(tmp_path / "a.npz", take)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 8_000_000 < (tmp_path / "a.npz").stat().st_size / 10
    with np.load(tmp_path / "a.npz") as found:
        np.testing.assert_array_equal(found["points"][199], points + np.float32(199))


def test_a_failing_frame_leaves_no_file(tmp_path: Path) -> None:
    take = _take(_mixed())

    class Broken(MemoryFrames):
        def __getitem__(self, index: int) -> Frame:
            if index == 2:
                raise KeyboardInterrupt
            return super().__getitem__(index)

    assert take.frames is not None
    broken = Take(take.character, frames=Broken([take.frames[i] for i in range(4)]))
    with pytest.raises(KeyboardInterrupt):
        write_take(tmp_path / "a.npz", broken)
    assert list(tmp_path.iterdir()) == []


def test_unknown_mesh_and_reading_are_refused(tmp_path: Path) -> None:
    with pytest.raises(MeshError, match=r"there is no mesh 'mixxed'\. Did you mean 'mixed'"):
        write_take(tmp_path / "a.npz", _take(_mixed()), WriteOptions(mesh="mixxed"))
    (tmp_path / "b.npz").write_bytes(b"")
    with pytest.raises(ReadError, match=r"\.npz files are not something to read a character from"):
        read_character(tmp_path / "b.npz")


def test_frames_are_read_back_bit_for_bit(tmp_path: Path) -> None:
    character = tube()
    take = perform(character, bending(character)).take
    assert take.frames is not None
    write_take(tmp_path / "bend.npz", take, WriteOptions())
    frames = read_frames(tmp_path / "bend.npz")
    assert len(frames) == 5
    for index in range(5):
        np.testing.assert_array_equal(frames[index].points[0], take.frames[index].points[0])
        assert np.array_equal(frames[index].normals[0], take.frames[index].normals[0])  # type: ignore[arg-type]


def test_arrays_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "odd.npz"
    np.savez(path, times=np.arange(3.0), points=np.zeros((2, 4, 3), np.float32), faces=np.zeros((1, 3), int))
    with pytest.raises(ReadError, match="do not fit together"):
        read_frames(path)
    np.savez(path, times=np.arange(3.0))
    with pytest.raises(ReadError, match="no array 'points'"):
        read_frames(path)
