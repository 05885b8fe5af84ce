"""Tangents equal those of Blender, whose MikkTSpace is the one that bakers and renderers share."""

from __future__ import annotations

import os
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from conftest import ROOT, skip_or_fail
from ecorche.base.mesh import Attribute, Mesh
from ecorche.errors import MeshError
from ecorche.io.formats import read_character
from ecorche.skin.tangents import Tangents, vertex_tangents

BLENDER = """
import sys
import bpy, numpy as np
given = np.load(sys.argv[-2])
counts, corners = given["counts"], given["corners"]
mesh = bpy.data.meshes.new("mesh")
mesh.vertices.add(len(given["points"]))
mesh.vertices.foreach_set("co", given["points"].ravel())
mesh.loops.add(len(corners))
mesh.loops.foreach_set("vertex_index", corners)
mesh.polygons.add(len(counts))
mesh.polygons.foreach_set("loop_start", (np.cumsum(counts) - counts).astype(np.int32))
mesh.update(calc_edges=True)
mesh.uv_layers.new(name="uv").data.foreach_set("uv", given["uv"].astype(np.float32).ravel())
mesh.polygons.foreach_set("use_smooth", np.ones(len(counts), bool))
mesh.calc_tangents(uvmap="uv")
found = {"normal": 3, "tangent": 3, "bitangent_sign": 1}
for name, size in found.items():
    values = np.empty(size * len(corners), np.float32)
    mesh.loops.foreach_get(name, values)
    found[name] = values.reshape(-1, size)
np.savez(sys.argv[-1], **found)
"""


def by_blender(mesh: Mesh, folder: Path) -> dict[str, npt.NDArray[np.float32]]:
    """Blender's smooth corner normals and its tangents for them."""
    python = Path(os.environ.get("ECORCHE_BPY", ROOT / ".venv-bpy" / "bin" / "python"))
    if not python.exists():
        skip_or_fail("no Blender: run tools/setup-peers, or set ECORCHE_BPY to a Python that has bpy")
    assert mesh.uv is not None
    uv = mesh.uv.flat()
    (folder / "program.py").write_text(BLENDER)
    np.savez(
        folder / "given.npz",
        points=mesh.points,
        counts=mesh.face_counts,
        corners=mesh.face_indices,
        uv=uv if mesh.uv.interpolation == "corner" else uv[mesh.face_indices],
    )
    done = subprocess.run(
        [python, folder / "program.py", folder / "given.npz", folder / "found.npz"],
        capture_output=True,
        text=True,
        check=False,
    )
    if "No module named 'bpy'" in done.stderr:
        skip_or_fail("no Blender: run tools/setup-peers, or set ECORCHE_BPY to a Python that has bpy")
    assert done.returncode == 0, done.stderr
    with np.load(folder / "found.npz") as found:
        return dict(found)


def share_within_a_degree(ours: npt.NDArray[np.float32], theirs: dict[str, npt.NDArray[np.float32]]) -> float:
    along = np.sum(ours[:, :3] * theirs["tangent"], axis=1)
    same = (along > np.cos(np.radians(1.0))) & (ours[:, 3] == theirs["bitangent_sign"][:, 0])
    return float(np.mean(same))


@pytest.mark.parametrize("name", ["human/male_dressed_mixamo.glb", "mesh2motion/human-male.glb"])
def test_real_characters_get_blenders_tangents(data: Path, tmp_path: Path, name: str) -> None:
    for skinned in read_character(data / name).meshes:
        theirs = by_blender(skinned.mesh, tmp_path)
        ours = Tangents(replace(skinned.mesh, normals=theirs["normal"])).apply(
            skinned.mesh.points, theirs["normal"]
        )
        assert share_within_a_degree(ours, theirs) > 0.9999


def test_quads_mirrored_uvs_and_faces_without_uv_area_too(tmp_path: Path) -> None:
    """A wavy grid of quads and triangles, its UVs mirrored on one half and collapsed in places."""
    rng = np.random.default_rng(0)
    n = 14
    x, y = np.meshgrid(np.linspace(-1, 1, n), np.linspace(-1, 1, n), indexing="ij")
    points = np.stack([x, y, 0.2 * np.sin(5 * x) * np.cos(4 * y)], axis=-1).reshape(-1, 3)
    uv = np.stack([np.abs(x) + 0.1 * y, y], axis=-1).reshape(-1, 2) + rng.normal(size=(n * n, 2)) * 0.03
    i, k = np.meshgrid(np.arange(n - 1), np.arange(n - 1), indexing="ij")
    a = (i * n + k).reshape(-1)
    cells = np.stack([a, a + n, a + n + 1, a + 1], axis=1)
    counts, corners = [], []
    for number, cell in enumerate(cells.tolist()):
        if number % 4 == 3:
            counts += [3, 3]
            corners += [cell[0], cell[1], cell[2], cell[0], cell[2], cell[3]]
        else:
            counts += [4]
            corners += cell
    corner_uv = uv[corners].astype(np.float32)
    collapsed = np.repeat(rng.random(len(counts)) < 0.05, counts)
    corner_uv[collapsed] = corner_uv[collapsed][0]
    mesh = Mesh(
        "grid",
        points.astype(np.float32),
        np.array(counts, np.int32),
        np.array(corners, np.int32),
        uv=Attribute("uv", corner_uv, "corner"),
    )
    theirs = by_blender(mesh, tmp_path)
    ours = Tangents(replace(mesh, normals=theirs["normal"])).apply(mesh.points, theirs["normal"])
    assert set(ours[:, 3]) == {-1.0, 1.0}
    # corners that no triangle with UV area reaches have no tangent; Blender gives them (1, 0, 0)
    assert share_within_a_degree(ours[~collapsed], {k: v[~collapsed] for k, v in theirs.items()}) == 1.0


def test_a_plane_has_the_directions_of_its_uvs() -> None:
    points = np.array([[0, 0, 0], [1, 0, 0], [1, 0, -1], [0, 0, -1]], np.float32)
    normals = np.tile(np.array([0, 1, 0], np.float32), (4, 1))
    uv = np.array([[0, 0], [1, 0], [1, 1], [0, 1]], np.float32)
    counts, corners = np.array([4], np.int32), np.arange(4, dtype=np.int32)
    upright = Mesh("plane", points, counts, corners, uv=Attribute("uv", uv))
    np.testing.assert_allclose(
        Tangents(upright).apply(points, normals), np.tile([1, 0, 0, 1], (4, 1)), atol=1e-7
    )
    flipped = Mesh("plane", points, counts, corners, uv=Attribute("uv", uv * np.array([-1, 1], np.float32)))
    np.testing.assert_allclose(
        Tangents(flipped).apply(points, normals), np.tile([-1, 0, 0, -1], (4, 1)), atol=1e-7
    )


def test_tangents_follow_the_pose(data: Path) -> None:
    mesh = read_character(data / "mesh2motion" / "human-male.glb").meshes[0].mesh
    assert mesh.normals is not None
    turn = np.array([[0, 0, 1], [1, 0, 0], [0, 1, 0]], np.float32)
    bind = Tangents(mesh).apply(mesh.points, mesh.normals)
    posed = Tangents(mesh).apply(mesh.points @ turn.T, mesh.normals @ turn.T)
    np.testing.assert_allclose(posed[:, :3], bind[:, :3] @ turn.T, atol=1e-6)
    np.testing.assert_array_equal(posed[:, 3], bind[:, 3])
    np.testing.assert_allclose(np.linalg.norm(bind[:, :3], axis=1), 1.0, atol=1e-6)
    normals = mesh.normals[mesh.face_indices]
    assert np.abs(np.sum(bind[:, :3] * normals, axis=1)).max() < 1e-5


def test_vertices_take_the_tangent_their_corners_agree_on() -> None:
    points = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [9, 9, 9]], np.float32)
    corners = np.array([0, 1, 2, 0, 2, 3], np.int32)
    values = np.tile(np.array([1, 0, 0, 1], np.float32), (6, 1))
    values[3] = [1, 0, 0, -1]
    found, agree = vertex_tangents(corners, len(points), values)
    np.testing.assert_array_equal(found, np.tile([1, 0, 0, 1], (5, 1)))
    assert agree.tolist() == [False, True, True, True, True]


def test_a_mesh_without_uvs_is_refused() -> None:
    mesh = Mesh("bare", np.eye(3, dtype=np.float32), np.array([3], np.int32), np.arange(3, dtype=np.int32))
    with pytest.raises(MeshError, match=r"mesh 'bare': tangents need texture coordinates.*Unwrap"):
        Tangents(mesh)
