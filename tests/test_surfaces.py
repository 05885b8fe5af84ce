"""OBJ, PLY and STL: all real files, independent readers, round trips, and files that must fail."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import pyvista
import trimesh
from hypothesis import given, settings
from hypothesis import strategies as st

from ecorche.base.mesh import Attribute, FaceSubset, Mesh, triangle_mesh
from ecorche.body.character import Character, SkinnedMesh
from ecorche.body.take import Take
from ecorche.errors import EcorcheError, ReadError
from ecorche.io.formats import WriteOptions, read_mesh, write_take
from ecorche.io.surfaces import guess_metres_per_unit
from ecorche.io.surfaces import read_mesh as read_surface
from ecorche.skeleton.skeleton import Skeleton

EYE = np.eye(4)[None]
ONE_JOINT = Skeleton(("root",), np.array([-1], np.int32), EYE, EYE, np.zeros((1, 3)))


def _take(mesh: Mesh) -> Take:
    return Take(Character("thing", ONE_JOINT, (SkinnedMesh(mesh, None),)))


def _quads() -> Mesh:
    """Two quads and a triangle with corner UVs and two materials."""
    points = np.array(
        [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [2, 0, 0.1], [2, 1, 1 / 3], [3, 0, 0]], np.float32
    )
    return Mesh(
        name="patch",
        points=points,
        face_counts=np.array([4, 4, 3], np.int32),
        face_indices=np.array([0, 1, 2, 3, 1, 4, 5, 2, 4, 6, 5], np.int32),
        uv=Attribute("st", np.linspace(0, 1, 22, dtype=np.float32).reshape(-1, 2), "corner"),
        subsets=(FaceSubset("red", np.array([0, 2], np.int32)), FaceSubset("blue", np.array([1], np.int32))),
    )


def test_every_dog_file_reads_and_agrees_with_trimesh(data: Path) -> None:
    files = sorted((data / "dog").rglob("*.stl"))
    assert len(files) == 823
    meshes = [read_mesh(file) for file in files]
    for file, mesh in list(zip(files, meshes, strict=True))[::40]:
        oracle = trimesh.load_mesh(file, process=False, merge_norm=False)
        np.testing.assert_array_equal(
            mesh.points[mesh.triangles()], oracle.vertices[oracle.faces].astype(np.float32)
        )
        assert len(np.unique(mesh.points, axis=0)) == mesh.vertex_count


def test_dog_skin_is_one_closed_surface_again(data: Path) -> None:
    skin = read_mesh(data / "dog" / "SKINbody.stl")
    assert skin.vertex_count == 16_952
    first_use = np.full(skin.vertex_count, len(skin.face_indices))
    np.minimum.at(first_use, skin.face_indices, np.arange(len(skin.face_indices)))
    assert (np.diff(first_use) > 0).all()  # numbered in order of first appearance


def test_millimetres_are_told_and_guessed(data: Path) -> None:
    femur = data / "leg" / "bone_femur_FMA24474.stl"
    raw, scaled = read_surface(femur), read_surface(femur, metres_per_unit=0.001)
    size = float(np.ptp(raw.points, axis=0).max())
    guess = guess_metres_per_unit(size, expected=0.45)
    assert guess.metres_per_unit == 0.001
    assert "taken as millimetres" in guess.reason
    np.testing.assert_allclose(scaled.points, raw.points * 0.001, rtol=1e-6)
    assert 0.35 < np.ptp(scaled.points, axis=0).max() < 0.55
    assert guess_metres_per_unit(0.0).reason == "the surface has no extent: taken as metres"


def test_obj_round_trip_keeps_everything_bit_for_bit(tmp_path: Path) -> None:
    mesh, path = _quads(), tmp_path / "patch.obj"
    write_take(path, _take(mesh))
    again = read_mesh(path)
    assert again.name == "patch"
    np.testing.assert_array_equal(again.points, mesh.points)
    np.testing.assert_array_equal(again.face_counts, mesh.face_counts)
    np.testing.assert_array_equal(again.face_indices, mesh.face_indices)
    assert again.uv is not None
    assert mesh.uv is not None
    np.testing.assert_array_equal(again.uv.flat(), mesh.uv.flat())
    assert [(s.name, s.faces.tolist()) for s in again.subsets] == [("red", [0, 2]), ("blue", [1])]
    assert again.normals is not None
    assert again.normals.shape == (11, 3)


@pytest.mark.parametrize("suffix", [".ply", ".obj"])
def test_polygons_survive_and_vtk_reads_what_we_write(tmp_path: Path, suffix: str) -> None:
    mesh, path = _quads(), tmp_path / f"patch{suffix}"
    write_take(path, _take(mesh))
    again = read_mesh(path)
    np.testing.assert_array_equal(again.points, mesh.points)
    np.testing.assert_array_equal(again.face_counts, mesh.face_counts)
    np.testing.assert_array_equal(again.face_indices, mesh.face_indices)
    oracle = pyvista.read(path)
    counts, corners = np.diff(oracle.GetPolys().GetOffsetsArray()), oracle.GetPolys().GetConnectivityArray()
    np.testing.assert_array_equal(counts, mesh.face_counts)
    seen = oracle.points[np.asarray(corners)].astype(np.float32)
    np.testing.assert_array_equal(seen, mesh.points[mesh.face_indices])


def test_stl_round_trip(tmp_path: Path) -> None:
    mesh, path = _quads(), tmp_path / "patch.stl"
    write_take(path, _take(mesh))
    again = read_mesh(path)
    np.testing.assert_array_equal(again.points[again.triangles()], mesh.points[mesh.triangles()])
    oracle = trimesh.load_mesh(path, process=False)
    np.testing.assert_allclose(oracle.face_normals[0], (0.0, 0.0, 1.0), atol=1e-6)


def test_several_meshes_are_one_written_and_said(tmp_path: Path) -> None:
    two = tuple(SkinnedMesh(triangle_mesh(n, np.eye(3), [[0, 1, 2]]), None) for n in ("bone", "muscle"))
    take = Take(Character("leg", ONE_JOINT, two))
    written = write_take(tmp_path / "one.ply", take, WriteOptions(mesh="muscle"))
    assert written.notes == (".ply holds one mesh: 'muscle' was written.",)


def test_text_ply_with_colours_and_mixed_polygons(tmp_path: Path) -> None:
    path = tmp_path / "a.ply"
    path.write_text(
        "ply\nformat ascii 1.0\ncomment made by hand\nelement vertex 5\nproperty float x\nproperty float y\n"
        "property float z\nproperty uchar red\nelement face 2\nproperty list uchar int vertex_indices\n"
        "property int part\nend_header\n0 0 0 255\n"
        "1 0 0 128\n1 1 0 0\n0 1 0 7\n2 0 0 9\n4 0 1 2 3 5\n3 1 4 2 6\n"
    )
    mesh = read_mesh(path)
    np.testing.assert_array_equal(mesh.face_counts, [4, 3])
    np.testing.assert_array_equal(mesh.face_indices, [0, 1, 2, 3, 1, 4, 2])
    red, part = mesh.attributes
    assert (red.name, red.values.dtype.name, red.values.tolist()) == ("red", "uint8", [255, 128, 0, 7, 9])
    assert (part.name, part.interpolation, part.values.tolist()) == ("part", "uniform", [5, 6])


@pytest.mark.parametrize("encoding", ["binary", "ascii"])
def test_ply_of_trimesh_is_read_in_its_order(tmp_path: Path, encoding: str) -> None:
    oracle = trimesh.creation.icosphere(subdivisions=2)
    path = tmp_path / "ball.ply"
    path.write_bytes(trimesh.exchange.ply.export_ply(oracle, encoding=encoding))
    mesh = read_mesh(path)
    np.testing.assert_allclose(mesh.points, oracle.vertices, atol=1e-6)
    np.testing.assert_array_equal(mesh.triangles(), oracle.faces)


def test_big_endian_ply(tmp_path: Path) -> None:
    head = (
        "ply\nformat binary_big_endian 1.0\nelement vertex 3\nproperty double x\nproperty double y\n"
        "property double z\nelement face 1\nproperty list uchar uint vertex_index\nend_header\n"
    )
    path = tmp_path / "b.ply"
    path.write_bytes(
        head.encode()
        + np.arange(9).astype(">f8").tobytes()
        + b"\x03"
        + np.array([2, 0, 1]).astype(">u4").tobytes()
    )
    mesh = read_mesh(path)
    np.testing.assert_array_equal(mesh.points, np.arange(9, dtype=np.float32).reshape(3, 3))
    np.testing.assert_array_equal(mesh.face_indices, [2, 0, 1])


def test_obj_with_negative_indices_missing_uv_and_continued_lines(tmp_path: Path) -> None:
    path = tmp_path / "a.obj"
    path.write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nvt .5 .25\nf -3/1 \\\n-2 -1 # a comment\nl 1 2\n")
    mesh = read_mesh(path)
    np.testing.assert_array_equal(mesh.face_indices, [0, 1, 2])
    assert mesh.uv is not None
    np.testing.assert_array_equal(mesh.uv.flat(), np.array([[0.5, 0.25], [0, 0], [0, 0]], np.float32))


TRIANGLE = "v 0 0 0\nv 1 0 0\nv 0 1 0\n"


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.stl", b"", "is too short for an STL file"),
        ("a.stl", b"x" * 80 + (2**31).to_bytes(4, "little"), "promises 2147483648 triangles"),
        ("a.stl", b"solid a\nfacet\nvertex 0 0\nendsolid", "no three numbers"),
        ("a.stl", b"solid a\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\n", "ends before 'endsolid'"),
        (
            "a.stl",
            b"solid a\nvertex nan 0 0\nvertex 1 0 0\nvertex 0 1 0\nendsolid",
            "vertex 0 is not a finite",
        ),
        ("a.ply", b"glTF", "does not begin with 'ply'"),
        ("a.ply", b"ply\nformat ascii 1.0\n", "has no 'end_header'"),
        ("a.ply", b"ply\nformat klingon 1.0\nend_header\n", "has the header line 'format klingon 1.0'"),
        ("a.ply", b"ply\nformat ascii 1.0\nelement vertex 99999999\nend_header\n", "promises 99999999"),
        (
            "a.ply",
            b"ply\nformat ascii 1.0\nelement vertex 1\nproperty float w\nend_header\n1\n",
            "no vertices with x",
        ),
        ("a.obj", (TRIANGLE + "f 1 2 4\n").encode(), "the vertex of corner 2 is 3, but only 0 to 2 exist"),
        ("a.obj", (TRIANGLE + "f 1 2 0\n").encode(), "line 4 has a face corner '0'"),
        ("a.obj", (TRIANGLE + "f 1 2\n").encode(), "fewer than three corners"),
        ("a.obj", b"v 0 0 x\n", "a 'v' line does not hold 3 numbers"),
        ("a.obj", b"v 0 0 inf\n", "'v' line 0 is not a finite number"),
        ("a.obj", b"v 0 0 1e300\n", "position of vertex 0 is not a finite"),
    ],
)
def test_damaged_files_are_refused_by_name(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(ReadError, match=message) as caught:
        read_mesh(path)
    assert str(path) in str(caught.value)


def test_a_unit_must_be_a_length(tmp_path: Path) -> None:
    with pytest.raises(EcorcheError, match=r"0\.0 metres a unit are no length"):
        read_surface(tmp_path / "a.obj", metres_per_unit=0.0)


@pytest.mark.parametrize("suffix", [".obj", ".ply", ".stl"])
def test_mutated_files_raise_only_our_errors(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"m{suffix}"
    write_take(path, _take(_quads()))
    whole = path.read_bytes()

    @settings(max_examples=150)
    @given(
        st.lists(st.tuples(st.integers(0, len(whole) - 1), st.integers(0, 255)), max_size=6),
        st.integers(0, 40),
    )
    def mutate(changes: list[tuple[int, int]], cut: int) -> None:
        data = bytearray(whole)
        for place, value in changes:
            data[place] = value
        path.write_bytes(bytes(data[: len(data) - cut]))
        try:
            mesh = read_mesh(path)
        except EcorcheError:
            return
        assert np.isfinite(mesh.points).all()

    mutate()
