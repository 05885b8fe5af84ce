"""Normals: the author's at bind, the surface's when posed, hard edges kept and seams closed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
import trimesh

from ecorche.base import rotations
from ecorche.base.mesh import Mesh, triangle_mesh
from ecorche.base.threads import at_most_threads
from ecorche.errors import MeshError
from ecorche.io.formats import read_character
from ecorche.skin.normals import Normals

Vectors = npt.NDArray[np.float32]

CUBE = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], np.float32)
CUBE_FACES = [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]


def quads(name: str, points: npt.ArrayLike, faces: npt.ArrayLike, normals: Vectors | None = None) -> Mesh:
    table = np.asarray(faces, np.int32)
    counts = np.full(len(table), table.shape[1], np.int32)
    return Mesh(name, np.asarray(points, np.float32), counts, table.reshape(-1), normals)


def the_normals(meshes: list[Mesh], points: list[Vectors] | None = None) -> list[Vectors]:
    found = Normals(meshes).apply([m.points for m in meshes] if points is None else points)
    assert all(n is not None for n in found)
    return [n for n in found if n is not None]


def ball(subdivisions: int = 3) -> Mesh:
    sphere = trimesh.creation.icosphere(subdivisions=subdivisions)
    return triangle_mesh("ball", sphere.vertices, sphere.faces)


def bent(points: Vectors) -> Vectors:
    """A smooth, strong, non-rigid deformation."""
    x, y, z = points.T.astype(np.float64)
    return np.stack([x + 0.3 * np.sin(2 * y), y * (1 + 0.4 * x), z + 0.5 * x * y], axis=1).astype(np.float32)


def test_they_are_the_area_weighted_means_of_the_face_normals() -> None:
    mesh = ball()
    posed = bent(mesh.points)
    found = the_normals([mesh], [posed])[0]
    tri = posed[mesh.triangles()].astype(np.float64)
    area = np.cross(tri[:, 1] - tri[:, 0], tri[:, 2] - tri[:, 0])
    expected = np.zeros((mesh.vertex_count, 3))
    np.add.at(expected, mesh.triangles(), area[:, None])
    np.testing.assert_allclose(found, rotations.normalise(expected), atol=2e-6)


def test_a_polygon_counts_the_same_however_it_is_cut() -> None:
    cube = the_normals([quads("cube", CUBE, CUBE_FACES)])[0]
    outwards = (CUBE - 0.5) / np.sqrt(0.75)
    np.testing.assert_allclose(cube, outwards, atol=1e-6)
    hexagon = np.array([[np.cos(a), np.sin(a), 0] for a in np.arange(6) * np.pi / 3])
    lifted = np.concatenate([hexagon, hexagon * 2 - [0, 0, 1]])
    sides = [[i, i + 6, (i + 1) % 6 + 6, (i + 1) % 6] for i in range(6)]
    corners = np.concatenate([np.arange(6), np.ravel(sides)]).astype(np.int32)
    mesh = Mesh("hat", lifted.astype(np.float32), np.array([6] + [4] * 6, np.int32), corners)
    for turn in range(6):
        other = np.concatenate([np.roll(np.arange(6), turn), np.ravel(sides)]).astype(np.int32)
        turned = replace(mesh, face_indices=other)
        np.testing.assert_allclose(the_normals([turned])[0], the_normals([mesh])[0], atol=1e-6)


def test_bind_gives_back_authored_normals_bit_for_bit_whatever_they_are() -> None:
    rng = np.random.default_rng(0)
    mesh = ball()
    wild = rng.normal(size=(mesh.vertex_count, 3)).astype(np.float32)
    wild[::7] = [0.0, -0.0, 1.0]
    wild[::11] = -0.0
    found = the_normals([replace(mesh, normals=wild)])[0]
    assert found.tobytes() == wild.tobytes()


def test_authored_normals_turn_rigidly_with_the_surface() -> None:
    rng = np.random.default_rng(1)
    mesh = ball()
    wild = rotations.normalise(rng.normal(size=(mesh.vertex_count, 3))).astype(np.float32)
    half_turn = rotations.matrix_from_xyzw([0.0, 1.0, 0.0, 0.0])
    other = rotations.matrix_from_xyzw(rotations.normalise([0.5, -0.2, 0.7, 0.1]))
    plan = Normals([replace(mesh, normals=wild)])
    for turn in (half_turn, other):
        found = plan.apply([(mesh.points @ turn.T + [1.0, 2.0, 3.0]).astype(np.float32)])[0]
        assert found is not None
        np.testing.assert_allclose(found, wild @ turn.T, atol=2e-5)


def test_normals_stay_as_long_as_they_were() -> None:
    mesh = ball()
    found = the_normals([mesh], [bent(mesh.points)])[0]
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1.0, atol=1e-6)


def test_hard_edges_stay_hard() -> None:
    corners = np.ravel(CUBE_FACES)
    flat = quads("cube", CUBE, CUBE_FACES)
    tri = CUBE[np.array(CUBE_FACES)].astype(np.float64)
    per_face = rotations.normalise(np.cross(tri[:, 1] - tri[:, 0], tri[:, 2] - tri[:, 0]))
    hard = replace(flat, normals=np.repeat(per_face, 4, axis=0).astype(np.float32))
    squeezed = CUBE * np.array([1.0, 2.0, 1.0], np.float32)
    squeezed[CUBE[:, 1] == 1.0, 0] += np.float32(0.7)
    found = the_normals([hard], [squeezed])[0]
    assert found.shape == (24, 3)
    tri = squeezed[np.array(CUBE_FACES)].astype(np.float64)
    expected = rotations.normalise(np.cross(tri[:, 1] - tri[:, 0], tri[:, 2] - tri[:, 0]))
    np.testing.assert_allclose(found, np.repeat(expected, 4, axis=0), atol=1e-6)
    # the same cube with smooth authored normals a corner each is smooth everywhere
    smooth = replace(flat, normals=the_normals([flat])[0][corners])
    soft = the_normals([smooth], [squeezed])[0]
    for vertex in range(8):
        assert np.ptp(soft[corners == vertex], axis=0).max() < 1e-6


def test_seams_within_a_mesh_and_between_meshes_stay_closed() -> None:
    mesh = ball()
    triangles = mesh.triangles()
    upper = mesh.points[triangles].mean(axis=1)[:, 1] > 0
    whole = the_normals([mesh], [bent(mesh.points)])[0]

    halves, vertices = [], []
    for part in (triangles[upper], triangles[~upper]):
        used, faces = np.unique(part, return_inverse=True)
        halves.append(triangle_mesh("half", mesh.points[used], faces.reshape(-1, 3)))
        vertices.append(used)
    shared = np.intersect1d(vertices[0], vertices[1]).tolist()
    assert len(shared) > 20
    found = the_normals(halves, [bent(h.points) for h in halves])
    for normals, used in zip(found, vertices, strict=True):
        np.testing.assert_allclose(normals, whole[used], atol=1e-6)
    top, low = (dict(zip(v.tolist(), n.tolist(), strict=True)) for v, n in zip(vertices, found, strict=True))
    assert all(top[v] == low[v] for v in shared)

    split = triangle_mesh(
        "split", mesh.points[triangles].reshape(-1, 3), np.arange(triangles.size).reshape(-1, 3)
    )
    found = the_normals([split], [bent(split.points)])
    np.testing.assert_allclose(found[0], whole[triangles.reshape(-1)], atol=1e-6)


def test_degenerate_faces_open_borders_and_loose_vertices_give_no_nonsense() -> None:
    points = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [2, 0, 0], [5, 5, 5], [1, 0, 0]], np.float32)
    mesh = triangle_mesh("bits", points, [[0, 1, 2], [0, 1, 3], [1, 1, 2], [1, 5, 2]])
    found = the_normals([mesh])[0]
    np.testing.assert_array_equal(found[[0, 1, 2, 5]], np.tile([0, 0, 1], (4, 1)))
    # a vertex with only a face of no area, and one with no face at all, point up
    np.testing.assert_array_equal(found[[3, 4]], np.tile([0, 1, 0], (2, 1)))
    # collapsed to a line, and to a point: the bind normals stay
    for squeeze in ([1, 0, 1], [0, 0, 0]):
        collapsed = the_normals([mesh], [points * np.array(squeeze, np.float32)])[0]
        np.testing.assert_array_equal(collapsed, found)


def test_subdivision_cages_get_none_and_the_others_theirs() -> None:
    cage = replace(quads("cage", CUBE, CUBE_FACES), subdivision="catmullClark")
    mesh = ball()
    found = Normals([cage, mesh, cage]).apply([CUBE, mesh.points, CUBE])
    assert found[0] is None
    assert found[2] is None
    np.testing.assert_array_equal(found[1], the_normals([mesh])[0])
    assert Normals([]).apply([]) == ()


def test_points_of_another_mesh_are_refused() -> None:
    with pytest.raises(MeshError, match=r"mesh 'ball'.*\(3, 3\) for 642 vertices"):
        Normals([ball()]).apply([np.zeros((3, 3), np.float32)])


def test_real_characters_keep_their_normals(data: Path) -> None:
    for name in ("human/male_dressed_mixamo.glb", "mesh2motion/horse-animations.glb"):
        meshes = [m.mesh for m in read_character(data / name).meshes]
        plan = Normals(meshes)
        for mesh, found in zip(meshes, plan.apply([m.points for m in meshes]), strict=True):
            assert found is not None
            assert mesh.normals is not None
            assert found.tobytes() == mesh.normals.tobytes()
        for found in plan.apply([bent(m.points) for m in meshes]):
            assert found is not None
            assert np.isfinite(found).all()


def test_the_same_bits_on_one_thread_and_on_all() -> None:
    mesh = ball(6)
    assert mesh.vertex_count > 40_000  # enough to be shared among threads
    plan, posed = Normals([mesh]), bent(mesh.points)
    everywhere = plan.apply([posed])[0]
    with at_most_threads(1):
        alone = plan.apply([posed])[0]
    assert everywhere is not None
    assert alone is not None
    assert alone.tobytes() == everywhere.tobytes()
