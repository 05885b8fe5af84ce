"""Skins that are divided last of all: smoother, through the vertices that were computed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import trimesh
from benchmarks.muscle_people import motion_file, rigged
from scipy.spatial import cKDTree
from typer.testing import CliRunner

from ecorche.base.mesh import Attribute, FaceSubset, Mesh, Morph, triangle_mesh
from ecorche.body.finer_skin import FinerFrames, with_finer_skin
from ecorche.body.perform import perform
from ecorche.body.skin_state import skin_state
from ecorche.cli.main import app
from ecorche.io.formats import read_motion
from ecorche.skin.subdivision import subdivided, subdivision
from test_coupling import MAN, coupled


def cube() -> Mesh:
    points = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], np.float32)
    faces = [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]
    return Mesh("cube", points, np.full(6, 4, np.int32), np.array(faces, np.int32).reshape(-1))


def test_triangles_are_divided_by_loops_rule() -> None:
    ball = trimesh.creation.icosphere(2)
    mesh = triangle_mesh("ball", ball.vertices, ball.faces)
    divided = subdivision(mesh, 2).vertices @ mesh.points.astype(np.float64)
    theirs = ball.subdivide_loop(2).vertices
    assert len(divided) == len(theirs)
    away, _ = cKDTree(theirs).query(divided)
    assert np.max(away) < 1e-6


def test_polygons_are_divided_by_catmull_and_clarks_rule() -> None:
    mesh = cube()
    divided = subdivision(mesh, 1)
    assert divided.face_counts.tolist() == [4] * 24
    fine = np.abs(divided.vertices @ mesh.points.astype(np.float64))
    assert np.allclose(fine[:8], 5.0 / 9.0)
    assert np.allclose(np.sort(fine[8:20], axis=1), [0.0, 0.75, 0.75])
    assert np.allclose(np.sort(fine[20:], axis=1), [0.0, 0.0, 1.0])


def test_a_border_is_a_curve_of_its_own() -> None:
    rows, columns = np.meshgrid(np.arange(5), np.arange(5), indexing="ij")
    first = (5 * rows + columns)[:-1, :-1].reshape(-1, 1)
    triangles = np.concatenate([first + np.array([0, 5, 1]), first + np.array([1, 5, 6])])
    flat = triangle_mesh(
        "sheet", np.stack([rows, columns, 0.1 * rows**2], -1).reshape(-1, 3).astype(float), triangles
    )
    weights = subdivision(flat, 1).vertices
    assert sorted(weights[10].indices) == [5, 10, 15]
    assert np.allclose(np.sort(weights[10].data), [0.125, 0.125, 0.75])
    fine = subdivided(flat, subdivision(flat, 1))
    state = skin_state(fine.points, fine.triangles())
    assert (state.holes, state.open_edges, state.tangled) == (1, 32, 0)


@pytest.mark.parametrize("levels", [1, 2])
@pytest.mark.parametrize("shape", ["triangles", "polygons", "damaged"])
def test_it_goes_through_the_coarse_vertices(shape: str, levels: int) -> None:
    mesh = cube()
    if shape != "polygons":
        mesh = triangle_mesh("cube", mesh.points, mesh.triangles())
    if shape == "damaged":  # a hole, a fin, a triangle without area, a vertex alone
        faces = np.concatenate([mesh.triangles()[1:], [[0, 1, 8], [2, 2, 3]]])
        mesh = triangle_mesh("cube", np.concatenate([mesh.points, [[0, 0, 3], [5, 5, 5]]]), faces)
    fine = subdivision(mesh, levels)
    points = fine.points(mesh.points)
    assert np.isfinite(points).all()
    assert np.array_equal(points[: mesh.vertex_count], mesh.points)
    assert np.allclose(fine.vertices.sum(axis=1), 1.0)
    assert np.bincount(fine.parents).min() == 4**levels


def test_a_ball_stays_as_round_as_its_vertices() -> None:
    """Dividing alone draws it in everywhere; here it is nearer to a ball than straight edges are."""
    ball = trimesh.creation.icosphere(2)
    mesh = triangle_mesh("ball", ball.vertices, ball.faces)
    fine = subdivision(mesh, 2)
    drawn_in = np.linalg.norm(fine.vertices @ mesh.points.astype(np.float64), axis=1)
    through = np.linalg.norm(fine.points(mesh.points), axis=1)
    assert drawn_in.max() < 0.985
    middles = np.linalg.norm(ball.vertices[ball.edges_unique].mean(axis=1), axis=1)
    assert np.abs(through - 1.0).max() < 0.35 * (1.0 - middles.min())


def test_seams_stay_closed_and_what_is_painted_stays_on_its_side() -> None:
    ball = trimesh.creation.icosphere(1)
    upper = ball.vertices[ball.faces].mean(axis=1)[:, 2] > 0.0
    count = len(ball.vertices)
    faces = np.where(upper[:, None], ball.faces + count, ball.faces)
    side = np.repeat([0.0, 1.0], count).astype(np.float32)
    mesh = triangle_mesh("ball", np.concatenate([ball.vertices, ball.vertices]), faces)
    mesh = Mesh(
        mesh.name,
        mesh.points,
        mesh.face_counts,
        mesh.face_indices,
        uv=Attribute("st", np.stack([side, side], axis=1)),
        attributes=(Attribute("label", side.astype(np.int32)), Attribute("face", np.arange(80), "uniform")),
        subsets=(FaceSubset("upper", np.flatnonzero(upper).astype(np.int32)),),
        morphs=(Morph("up", np.array([0], np.int32), np.array([[0.0, 0.0, 0.1]], np.float32)),),
    )
    fine = subdivided(mesh, subdivision(mesh, 1))
    state = skin_state(fine.points, fine.triangles())
    assert (state.pieces, state.open_edges) == (1, 0)
    assert fine.uv is not None
    assert set(np.unique(fine.uv.values)) == {0.0, 1.0}
    label, face = fine.attributes
    assert np.array_equal(label.values, fine.uv.values[:, 0].astype(np.int32))
    assert np.array_equal(face.values, np.repeat(np.arange(80), 4))
    assert len(fine.subsets[0].faces) == 4 * upper.sum()
    assert 0 in fine.morphs[0].vertices
    assert np.allclose(fine.morphs[0].offsets[0], [0.0, 0.0, 0.1])


def test_a_bodys_skin_is_finer_in_every_frame_and_exact_at_bind(data: Path) -> None:
    character, rig = rigged(data / MAN)
    motion = read_motion(motion_file(data, "curl"))
    rig = coupled(rig, everywhere="height_field", subdivision=1)
    coarse = perform(character, motion, rig=rig, frames=(40, 41)).take
    take = with_finer_skin(coarse)
    assert isinstance(take.frames, FinerFrames)
    number = character.meshes.index(character.body())
    fine, skin = take.character.meshes[number], character.meshes[number].mesh
    assert fine.weights is not None
    assert fine.weights.vertex_count == fine.mesh.vertex_count > 3.5 * skin.vertex_count
    assert np.array_equal(fine.mesh.points[: skin.vertex_count], skin.points)
    assert coarse.frames is not None
    before, after = coarse.frames[1], take.frames[1]
    assert np.array_equal(after.points[number][: skin.vertex_count], before.points[number])
    normals = after.normals[number]
    assert normals is not None
    assert np.allclose(np.linalg.norm(normals, axis=1), 1.0, atol=1e-5)
    state = skin_state(after.points[number], fine.mesh.triangles())
    assert (state.pieces, state.open_edges) == (1, 0)


def test_bake_divides_where_it_is_asked_to(data: Path, tmp_path: Path) -> None:
    path = tmp_path / "man.ecorche"
    assert CliRunner().invoke(app, ["rig", str(data / MAN), "-o", str(path)]).exit_code == 0
    bake = ["bake", str(path), "-q", "-o", str(tmp_path / "man.npz"), "--coupling"]
    for wrong in ("1.5", "4", "fine"):
        result = CliRunner().invoke(app, [*bake, f"subdivision={wrong}"])
        assert "Give" in result.output
    assert CliRunner().invoke(app, [*bake, "subdivision=1"]).exit_code == 0
    faces = np.load(tmp_path / "man.npz")["faces"]
    assert len(faces) == 4 * len(rigged(data / MAN)[0].body().mesh.triangles())
