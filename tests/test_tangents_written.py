"""Tangents in the files we write: glTF at bind, NPZ and USD a corner in every frame."""

from __future__ import annotations

import os
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from pxr import Usd, UsdGeom

from characters import bending, tube
from conftest import ROOT, skip_or_fail
from ecorche.base.mesh import Attribute
from ecorche.body.character import Character
from ecorche.body.perform import perform
from ecorche.body.take import Take
from ecorche.io.formats import WriteOptions, read_character, write_take
from ecorche.io.gltf.file import open_gltf
from ecorche.skin.normals import Normals
from ecorche.skin.tangents import Tangents

ASKED = WriteOptions(tangents=True)


def unwrapped(interpolation: str = "vertex") -> Character:
    """A tube with normals, its UVs mirrored on one half as artists do to paint a side once."""
    character = tube(rings=9, around=12)
    mesh = character.meshes[0].mesh
    (normals,) = Normals([mesh]).apply([mesh.points])
    angle = np.arctan2(mesh.points[:, 2], mesh.points[:, 0])
    uv = np.stack([np.abs(angle) / np.pi, mesh.points[:, 1] * 0.37], axis=1).astype(np.float32)
    if interpolation == "corner":
        uv = uv[mesh.face_indices]
    mesh = replace(mesh, normals=normals, uv=Attribute("st", uv, interpolation))  # type: ignore[arg-type]
    return replace(character, meshes=(replace(character.meshes[0], mesh=mesh),))


def performed(character: Character) -> Take:
    return perform(character, bending(character, frames=4)).take


def expected(take: Take) -> npt.NDArray[np.float32]:
    """Tangents of the first mesh in every frame (frames, corners, 4)."""
    assert take.frames is not None
    maker = Tangents(take.character.meshes[0].mesh)
    found = []
    for index in range(len(take.frames)):
        normals = take.frames[index].normals[0]
        assert normals is not None
        found.append(maker.apply(take.frames[index].points[0], normals))
    return np.stack(found)


def test_npz_holds_them_a_corner_in_every_frame(tmp_path: Path) -> None:
    take = performed(unwrapped())
    assert write_take(tmp_path / "a.npz", take, ASKED).notes == ()
    with np.load(tmp_path / "a.npz") as found:
        np.testing.assert_array_equal(found["tangents"], expected(take))
        assert set(found["tangents"][..., 3].ravel()) == {-1.0, 1.0}
    write_take(tmp_path / "b.npz", take)
    with np.load(tmp_path / "b.npz") as found:
        assert "tangents" not in found


def test_usd_points_hold_them_and_reading_leaves_them_out(tmp_path: Path) -> None:
    take = performed(unwrapped("corner"))
    path = tmp_path / "a.usdc"
    assert write_take(path, take, ASKED).notes == ()
    stage = Usd.Stage.Open(str(path))
    (mesh,) = [p for p in stage.Traverse() if p.IsA(UsdGeom.Mesh)]
    primvar = UsdGeom.PrimvarsAPI(mesh).GetPrimvar("tangents")
    assert primvar.GetInterpolation() == "faceVarying"
    samples = [np.array(primvar.Get(code)) for code in primvar.GetAttr().GetTimeSamples()]
    np.testing.assert_array_equal(samples, expected(take))
    again = read_character(path)
    assert [a.name for a in again.meshes[0].mesh.attributes] == []
    assert any("tangents over time are left out" in note for note in again.notes)


def test_gltf_holds_them_at_bind_and_keeps_its_own(tmp_path: Path) -> None:
    character = unwrapped()
    notes = write_take(tmp_path / "a.glb", Take(character), ASKED).notes
    # along the two lines where the mirrored halves meet, faces on either side differ in sign
    assert notes == (
        f"mesh 'tube': around {9 * 2} vertices faces differ in their tangent; the first face's is written",
    )
    again = read_character(tmp_path / "a.glb")
    (attribute,) = again.meshes[0].mesh.attributes
    assert attribute.name == "TANGENT"
    assert np.unique(attribute.values[:, 3]).tolist() == [-1.0, 1.0]
    authored = replace(
        attribute, values=np.tile(np.array([0, 1, 0, 1], np.float32), (len(attribute.values), 1))
    )
    mesh = replace(again.meshes[0].mesh, attributes=(authored,))
    changed = replace(again, meshes=(replace(again.meshes[0], mesh=mesh),))
    assert write_take(tmp_path / "b.glb", Take(changed), ASKED).notes == ()
    kept = read_character(tmp_path / "b.glb").meshes[0].mesh.attributes[0]
    np.testing.assert_array_equal(kept.values, authored.values)


def test_a_mesh_that_cannot_have_them_is_told(tmp_path: Path) -> None:
    bare = tube()
    no_normals = unwrapped()
    mesh = replace(no_normals.meshes[0].mesh, normals=None)
    no_normals = replace(no_normals, meshes=(replace(no_normals.meshes[0], mesh=mesh),))
    for suffix, character, reason in (
        (".glb", bare, "it has no texture coordinates"),
        (".glb", no_normals, "it has no normals"),
        (".npz", bare, "it has no texture coordinates"),
        (".usdc", bare, "it has no texture coordinates"),
    ):
        (note,) = write_take(tmp_path / f"a{suffix}", performed(character), ASKED).notes
        assert "'tube' is written without tangents" in note
        assert reason in note


def by_place(path: Path) -> dict[tuple[float, ...], npt.NDArray[np.float32]]:
    """Tangents of a file's vertices by position, rounded, and texture coordinates."""
    file = open_gltf(path)
    found: dict[tuple[float, ...], npt.NDArray[np.float32]] = {}
    for mesh in file.entries("meshes"):
        for primitive in mesh["primitives"]:
            arrays = primitive["attributes"]
            points, uv, tangents = (file.decoded(arrays[n]) for n in ("POSITION", "TEXCOORD_0", "TANGENT"))
            for point, st, tangent in zip(points, uv, tangents, strict=True):
                found[(*np.round(point.astype(float), 4), *np.round(st.astype(float), 4))] = tangent
    return found


@pytest.mark.parametrize("name", ["mirrored", "human/male_dressed_mixamo.glb"])
def test_they_are_those_of_blenders_exporter(data: Path, tmp_path: Path, name: str) -> None:
    python = Path(os.environ.get("ECORCHE_BPY", ROOT / ".venv-bpy" / "bin" / "python"))
    if not python.exists():
        skip_or_fail("no Blender: run tools/setup-peers, or set ECORCHE_BPY to a Python that has bpy")
    character = unwrapped() if name == "mirrored" else read_character(data / name)
    write_take(tmp_path / "ours.glb", Take(character), ASKED)
    script = ROOT / "tests" / "blender" / "export_tangents.py"
    done = subprocess.run(
        [python, script, tmp_path / "ours.glb", tmp_path / "theirs.glb"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    ours, theirs = by_place(tmp_path / "ours.glb"), by_place(tmp_path / "theirs.glb")
    both = [place for place in ours if place in theirs]
    assert len(both) > 0.95 * len(ours)
    a, b = (np.stack([side[place] for place in both]) for side in (ours, theirs))
    near = np.sum(a[:, :3] * b[:, :3], axis=1) > np.cos(np.radians(1.0))
    if name == "mirrored":
        # where the halves meet Blender splits the vertex in two, of which either is right
        seam = np.isin(np.round([p[3] for p in both], 4), [0.0, 1.0])
        assert set(a[~seam, 3]) == {-1.0, 1.0}
        near, a, b = near[~seam], a[~seam], b[~seam]
    np.testing.assert_array_equal(a[:, 3], b[:, 3])
    assert near.mean() > 0.99
