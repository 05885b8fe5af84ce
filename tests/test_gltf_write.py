"""glTF out: what we write comes back, says its error, and is the same bytes every time."""

from __future__ import annotations

import json
import struct
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from characters import bending, tube
from ecorche.base import rotations
from ecorche.base.mesh import Mesh, Morph
from ecorche.body.character import Image, Material
from ecorche.body.compile import compile_body
from ecorche.body.frames import Frame, MemoryFrames
from ecorche.body.live_frames import LiveFrames
from ecorche.body.take import Take
from ecorche.errors import WriteError
from ecorche.io.formats import WriteOptions, read_character, write_take
from ecorche.io.gltf.file import open_gltf
from ecorche.skeleton.kinematics import difference_from_bind
from ecorche.skeleton.motion import Motion
from gltf_takes import CHARACTERS, SEAM, SQUARE, many_influences, real_take, squares, twisted, two_roots


def content_of(path: Path) -> dict[str, Any]:
    """The JSON of a .glb file."""
    data = path.read_bytes()
    (size,) = struct.unpack_from("<I", data, 12)
    found: dict[str, Any] = json.loads(data[20 : 20 + size])
    return found


def bits(values: Any) -> bytes | None:
    return None if values is None else values.tobytes()


def assert_same_mesh(a: Mesh, b: Mesh) -> None:
    assert a.name == b.name
    for name in ("points", "face_counts", "face_indices"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name))
    assert bits(a.normals) == bits(b.normals)
    assert bits(a.uv and a.uv.values) == bits(b.uv and b.uv.values)
    assert len(a.attributes) == len(b.attributes)
    for x, y in zip(a.attributes, b.attributes, strict=True):
        assert (x.name, x.interpolation, x.file_type) == (y.name, y.interpolation, y.file_type)
        assert x.values.dtype == y.values.dtype
        assert x.values.tobytes() == y.values.tobytes()
    assert [(s.name, s.material) for s in a.subsets] == [(s.name, s.material) for s in b.subsets]
    for s, t in zip(a.subsets, b.subsets, strict=True):
        np.testing.assert_array_equal(s.faces, t.faces)
    for m, n in zip(a.morphs, b.morphs, strict=True):
        assert (m.name, m.weight) == (n.name, n.weight)
        np.testing.assert_array_equal(m.vertices, n.vertices)
        np.testing.assert_array_equal(m.offsets, n.offsets)
    assert (a.material, a.double_sided) == (b.material, b.double_sided)


@pytest.mark.parametrize("suffix", [".glb", ".gltf"])
@pytest.mark.parametrize("name", CHARACTERS)
def test_a_character_comes_back_bit_for_bit(data: Path, tmp_path: Path, name: str, suffix: str) -> None:
    before = read_character(data / name)
    path = tmp_path / f"again{suffix}"
    write_take(path, Take(before))
    after = read_character(path)
    assert after.skeleton.names == before.skeleton.names
    np.testing.assert_array_equal(after.skeleton.parents, before.skeleton.parents)
    np.testing.assert_allclose(after.skeleton.bind_world, before.skeleton.bind_world, atol=1e-9)
    np.testing.assert_allclose(after.skeleton.rest_world, before.skeleton.rest_world, atol=1e-6)
    np.testing.assert_array_equal(after.skeleton.tails, before.skeleton.tails)
    for a, b in zip(before.meshes, after.meshes, strict=True):
        assert_same_mesh(a.mesh, b.mesh)
        assert a.weights is not None
        assert b.weights is not None
        for part in ("starts", "joints", "weights"):
            np.testing.assert_array_equal(getattr(a.weights, part), getattr(b.weights, part))
    assert [m.extra for m in after.materials] == [m.extra for m in before.materials]
    assert [(i.mime_type, i.data) for i in after.images] == [(i.mime_type, i.data) for i in before.images]
    for x, y in zip(before.motions, after.motions, strict=True):
        assert x.name == y.name
        np.testing.assert_array_equal(x.times.astype(np.float32), y.times.astype(np.float32))
        np.testing.assert_allclose(x.local, y.local, atol=1e-6)


def test_the_same_take_gives_the_same_bytes(data: Path, tmp_path: Path) -> None:
    for name in ("a.glb", "b.glb"):
        write_take(tmp_path / name, real_take(data, "human/male_dressed_mixamo.glb", "dual_quaternion"))
    assert (tmp_path / "a.glb").read_bytes() == (tmp_path / "b.glb").read_bytes()


def played(path: Path) -> list[npt.NDArray[np.float32]]:
    """Every mesh of a file, linearly skinned with its own clip: (frames, vertices, 3) each."""
    character = read_character(path)
    (motion,) = character.motions
    frames = LiveFrames(compile_body(character, skinning="linear"), motion)
    return [np.stack([frames[i].points[m] for i in range(len(frames))]) for m in range(len(character.meshes))]


def shown(take: Take) -> list[npt.NDArray[np.float32]]:
    frames = take.frames
    assert frames is not None
    return [
        np.stack([frames[i].points[m] for i in range(len(frames))]) for m in range(len(take.character.meshes))
    ]


def test_a_linear_take_needs_no_targets(data: Path, tmp_path: Path) -> None:
    take = real_take(data, "human/male_dressed_mixamo.glb")
    written = write_take(tmp_path / "linear.glb", take)
    assert written.notes == ()
    content = content_of(tmp_path / "linear.glb")
    assert [m.get("extras", {}).get("targetNames") for m in content["meshes"]] == [["muscular"], None]
    assert content["asset"]["generator"].startswith("ecorche ")
    for a, b in zip(played(tmp_path / "linear.glb"), shown(take), strict=True):
        np.testing.assert_allclose(a, b, atol=2e-6)


@pytest.mark.parametrize("most", [0, 1, 6, 32])
def test_skin_that_is_not_linear_becomes_targets_with_a_stated_error(
    data: Path, tmp_path: Path, most: int
) -> None:
    take = real_take(data, "human/male_dressed_mixamo.glb", "dual_quaternion")
    path = tmp_path / "curved.glb"
    written = write_take(path, take, WriteOptions(morph_targets=most))
    stated = content_of(path)["asset"]["extras"]["ecorche"]["skin"]
    for mesh, a, b in zip(take.character.meshes, played(path), shown(take), strict=True):
        error = np.linalg.norm(a.astype(np.float64) - b, axis=-1)
        said = stated[mesh.name]
        assert said["morph_targets"] <= most
        # skinning twice in float32 adds about a micrometre
        assert abs(1e3 * error.max() - said["max_error_mm"]) < 2e-3
        assert abs(1e3 * np.sqrt(np.mean(error**2)) - said["rms_error_mm"]) < 1e-3
        assert any(f"mesh {mesh.name!r}: its skin departs" in n for n in written.notes)
        if most == 32:
            assert said["max_error_mm"] <= 0.01
            assert said["max_error_of_linear_skinning_mm"] > 1.0
    weights = [m.get("weights", []) for m in content_of(path)["meshes"]]
    assert all(0.0 <= w <= 1.0 for row in weights for w in row)
    if most > 1:  # Blender clamps weights beyond these
        for curve in read_character(path).motions[0].morph_weights.values():
            assert 0.0 <= curve.min() <= curve.max() <= 1.0


def test_targets_rest_at_the_bind_mesh(data: Path, tmp_path: Path) -> None:
    take = real_take(data, "human/male_dressed_mixamo.glb", "dual_quaternion")
    write_take(tmp_path / "curved.glb", take)
    for mesh in read_character(tmp_path / "curved.glb").meshes:
        moved = mesh.mesh.points.astype(np.float64)
        for morph in mesh.mesh.morphs:
            moved[morph.vertices] += morph.weight * morph.offsets.astype(np.float64)
        np.testing.assert_allclose(moved, mesh.mesh.points, atol=1e-7)


def test_normals_of_targets_bring_shading_closer(tmp_path: Path) -> None:
    take = twisted()
    assert take.motion is not None
    assert take.frames is not None
    path = tmp_path / "twist.glb"
    write_take(path, take)
    character = read_character(path)
    body, (motion,) = character.meshes[0], character.motions
    assert body.mesh.normals is not None
    assert body.weights is not None
    file = open_gltf(path)
    targets = content_of(path)["meshes"][0]["primitives"][0]["targets"]
    offsets = np.stack([file.decoded(t["NORMAL"]) for t in targets]).astype(np.float64)
    joints, weights = body.weights.padded()
    off_with: list[npt.NDArray[np.float64]] = []
    off_without: list[npt.NDArray[np.float64]] = []
    for frame in range(motion.frame_count):
        moved = np.eye(4) + difference_from_bind(character.skeleton, motion.local[frame])
        blended = np.einsum("vk,vkij->vij", weights, moved[joints])[:, :3, :3]
        now = np.array([motion.morph_weights[f"tube/{m.name}"][frame] for m in body.mesh.morphs])
        truth = take.frames[frame].normals[0]
        assert truth is not None
        for off, added in ((off_with, np.einsum("k,kvi->vi", now, offsets)), (off_without, 0.0)):
            shaded = rotations.normalise(np.einsum("vij,vj->vi", blended, body.mesh.normals + added))
            off.append(np.arccos(np.clip(np.sum(shaded * truth, axis=1), -1.0, 1.0)))
    assert np.mean(off_with) < 0.5 * np.mean(off_without)


def test_a_cache_without_joints_plays_through_targets(tmp_path: Path) -> None:
    character = tube()
    points = character.meshes[0].mesh.points
    times = np.linspace(0.0, 1.0, 7)
    lift = np.float32(0.2) * np.sin(3.0 * points[:, 1])[:, None] * np.array([0, 0, 1], np.float32)
    frames = MemoryFrames([Frame(t, ((points + np.float32(np.sin(6 * t)) * lift),), (None,)) for t in times])
    take = Take(character, None, frames)
    path = tmp_path / "cache.glb"
    write_take(path, take)
    content = content_of(path)
    assert [c["target"]["path"] for c in content["animations"][0]["channels"]] == ["weights"]
    assert len(content["meshes"][0]["weights"]) == 2  # one shape, and what takes its rest back
    np.testing.assert_allclose(played(path)[0], shown(take)[0], atol=1e-6)


def test_corner_values_repeat_vertices_after_the_last(tmp_path: Path) -> None:
    path = tmp_path / "squares.glb"
    written = write_take(path, Take(squares()))
    assert any("2 vertices are repeated after the last" in n for n in written.notes)
    after = read_character(path).meshes[0].mesh
    np.testing.assert_array_equal(after.points[:6], SQUARE)
    np.testing.assert_array_equal(after.points[6:], SQUARE[[1, 2]])
    assert after.uv is not None
    corners = after.face_indices.reshape(-1, 3)
    # the faces of the subset come first, then the rest
    np.testing.assert_array_equal(after.points[corners[0]], SQUARE[[1, 4, 5]])
    np.testing.assert_array_equal(after.uv.values[corners[0]], SEAM[[4, 5, 6]])
    np.testing.assert_array_equal(after.uv.values[corners[2]], SEAM[[0, 1, 2]])
    assert [(s.name, s.material) for s in after.subsets] == [("right", 0), ("primitive_1", None)]
    held = {a.name: a for a in after.attributes}
    np.testing.assert_array_equal(held["displayColor"].values, [[1.0, 0, 0]])
    np.testing.assert_array_equal(held["_pressure"].values[:6, 0], np.arange(6.0) / 8)
    assert sorted(held["part"].values.tolist()) == [7, 7, 8, 8]


def test_every_influence_is_kept_and_the_strongest_come_first(tmp_path: Path) -> None:
    character = many_influences()
    weights = character.meshes[0].weights
    assert weights is not None
    _, table = weights.padded()
    path = tmp_path / "many.glb"
    written = write_take(path, Take(character))
    assert any("some vertices follow 11 joints" in n for n in written.notes)
    content = content_of(path)
    assert {"JOINTS_2", "WEIGHTS_2"} <= set(content["meshes"][0]["primitives"][0]["attributes"])
    after = read_character(path).meshes[0].weights
    assert after is not None
    np.testing.assert_array_equal(after.joints, weights.joints)
    np.testing.assert_allclose(after.weights, weights.weights, atol=1e-6)
    first = content["accessors"][content["meshes"][0]["primitives"][0]["attributes"]["WEIGHTS_0"]]
    view = content["bufferViews"][first["bufferView"]]
    blob = path.read_bytes()[28 + struct.unpack_from("<I", path.read_bytes(), 12)[0] :]
    written_first = np.frombuffer(blob, np.float32, 4 * first["count"], view["byteOffset"]).reshape(-1, 4)
    np.testing.assert_allclose(written_first, -np.sort(-table, axis=1)[:, :4], atol=1e-6)


def test_several_roots_another_rest_and_an_own_bind_survive(tmp_path: Path) -> None:
    before = two_roots()
    skeleton, own = before.skeleton, before.meshes[1].own_bind
    write_take(tmp_path / "roots.glb", Take(before))
    after = read_character(tmp_path / "roots.glb")
    assert after.skeleton.names == skeleton.names
    np.testing.assert_array_equal(after.skeleton.parents, [-1, -1])
    np.testing.assert_allclose(after.skeleton.rest_local, skeleton.rest_local, atol=1e-12)
    np.testing.assert_allclose(after.skeleton.bind_local, skeleton.bind_local, atol=1e-7)
    assert after.meshes[0].own_bind is None
    assert after.meshes[1].own_bind is not None
    assert own is not None
    np.testing.assert_allclose(after.meshes[1].own_bind, own, atol=1e-6)
    for a, b in zip(before.meshes, after.meshes, strict=True):
        np.testing.assert_array_equal(a.mesh.points, b.mesh.points)


def test_materials_of_other_formats_and_their_images_are_written(tmp_path: Path) -> None:
    character = tube()
    mesh = character.meshes[0]
    look = Material("cloth", (0.1, 0.2, 0.3, 1.0), 0.25, 0.75, base_color_image=0)
    character = replace(
        character,
        meshes=(replace(mesh, mesh=replace(mesh.mesh, material=0, double_sided=True)),),
        materials=(look,),
        images=(Image("weave", "image/png", b"\x89PNG\r\n\x1a\n"),),
    )
    write_take(tmp_path / "look.glb", Take(character))
    after = read_character(tmp_path / "look.glb")
    assert after.meshes[0].mesh.double_sided
    found = after.materials[after.meshes[0].mesh.material or 0]
    assert (found.name, found.base_color, found.metallic, found.roughness) == (
        "cloth",
        look.base_color,
        0.25,
        0.75,
    )
    assert found.base_color_image == 0
    assert after.images[0].data == b"\x89PNG\r\n\x1a\n"


def test_a_webp_texture_keeps_its_extension(tmp_path: Path) -> None:
    character = tube()
    mesh = character.meshes[0]
    character = replace(
        character,
        meshes=(replace(mesh, mesh=replace(mesh.mesh, material=0)),),
        materials=(Material("cloth", base_color_image=0),),
        images=(Image("weave", "image/webp", b"RIFF\0\0\0\0WEBP"),),
    )
    write_take(tmp_path / "webp.glb", Take(character))
    content = content_of(tmp_path / "webp.glb")
    assert content["textures"] == [{"extensions": {"EXT_texture_webp": {"source": 0}}}]
    assert content["extensionsRequired"] == ["EXT_texture_webp"]
    assert read_character(tmp_path / "webp.glb").materials[0].base_color_image == 0


def test_a_morph_of_a_few_vertices_is_stored_sparse(tmp_path: Path) -> None:
    character = tube()
    mesh = character.meshes[0]
    morph = Morph("bump", np.array([3, 40], np.int32), np.full((2, 3), 0.25, np.float32), 0.5)
    character = replace(character, meshes=(replace(mesh, mesh=replace(mesh.mesh, morphs=(morph,))),))
    write_take(tmp_path / "bump.glb", Take(character))
    target = content_of(tmp_path / "bump.glb")["meshes"][0]["primitives"][0]["targets"][0]["POSITION"]
    assert content_of(tmp_path / "bump.glb")["accessors"][target]["sparse"]["count"] == 2
    after = read_character(tmp_path / "bump.glb").meshes[0].mesh.morphs[0]
    np.testing.assert_array_equal(after.vertices, morph.vertices)
    np.testing.assert_array_equal(after.offsets, morph.offsets)


def test_times_before_zero_are_moved_and_told(tmp_path: Path) -> None:
    character = tube()
    motion = bending(character)
    early = Motion("early", motion.skeleton, motion.times - 0.5, motion.local)
    written = write_take(tmp_path / "early.glb", Take(character, early))
    assert any("'early' starts 0.5 s later" in n for n in written.notes)
    (after,) = read_character(tmp_path / "early.glb").motions
    np.testing.assert_allclose(after.times, motion.times, atol=1e-7)


def test_frames_that_do_not_fit_are_refused_and_leave_no_file(tmp_path: Path) -> None:
    character = tube()
    motion = bending(character, frames=2)
    points = character.meshes[0].mesh.points
    short = MemoryFrames([Frame(t, (points[:5],), (None,)) for t in motion.times])
    with pytest.raises(WriteError, match=r"frame 0 has 5 points for the 108 vertices of mesh 'tube'"):
        write_take(tmp_path / "short.glb", Take(character, motion, short))
    with pytest.raises(WriteError, match="2 of joints"):
        write_take(
            tmp_path / "few.glb", Take(character, motion, MemoryFrames([Frame(0.0, (points,), (None,))]))
        )
    with pytest.raises(WriteError, match="does not exist"):
        write_take(tmp_path / "nowhere" / "x.glb", Take(character))
    assert list(tmp_path.iterdir()) == []
