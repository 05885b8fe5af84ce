"""Skins that are not what they should be, under commands that bind them to muscles and fat.

Each works where it can and says what it did, or is refused in words with exit code 2, and nothing is written.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
import trimesh

from conftest import Command
from ecorche.base.mesh import triangle_mesh
from ecorche.body.character import Character, SkinnedMesh
from ecorche.body.skin_state import skin_state
from ecorche.body.take import Take
from ecorche.document.coupling_spec import CouplingSpec
from ecorche.document.files import read_rig, write_rig
from ecorche.io.formats import read_character, write_take
from ecorche.skin.weights import SkinWeights, rigid_weights, weights_from_entries

Floats = npt.NDArray[np.float64]
FRAMES = ("--rate", "10", "--frames", "8-8")


@pytest.fixture(scope="module")
def woman(data: Path) -> Character:
    return replace(read_character(data / "human" / "female_average_cmu_mb.glb"), motions=())


@pytest.fixture(scope="module")
def jump(data: Path) -> Path:
    return data / "cmu" / "13_13.bvh"


def written(folder: Path, character: Character) -> Path:
    write_take(folder / "woman.glb", Take(character))
    return folder / "woman.glb"


def skinned(
    character: Character, points: npt.ArrayLike, triangles: npt.ArrayLike, whose: npt.ArrayLike
) -> Character:
    """The character with another body; the weights of its vertices are those of some of the old ones."""
    body = character.meshes[0]
    assert body.weights is not None
    joints, shares = body.weights.padded()
    of = np.asarray(whose, np.int64)
    vertex = np.repeat(np.arange(len(of)), joints.shape[1])
    weights: SkinWeights = weights_from_entries(
        vertex, joints[of].ravel(), shares[of].ravel(), len(of), character.skeleton.joint_count, "test"
    )
    mesh = triangle_mesh("Body", np.asarray(points), np.asarray(triangles))
    return replace(character, meshes=(SkinnedMesh(mesh, weights),))


def damaged(character: Character) -> Character:
    """Holes of 3 cm, fins, doubled and turned faces, faces without area, eyes, a sleeve and loose points."""
    mesh = character.meshes[0].mesh
    points, faces, rng = (
        mesh.points.astype(np.float64),
        mesh.triangles().astype(np.int64),
        np.random.default_rng,
    )
    middles = points[faces].mean(axis=1)
    holes = points[rng(0).integers(0, len(points), 25)]
    kept = faces[np.linalg.norm(middles[:, None] - holes, axis=2).min(axis=1) > 0.03]
    count = len(points)
    more, triangles, of = [points], [kept], [np.arange(count)]

    def add(new: Floats, corners: npt.ArrayLike, whose: npt.ArrayLike) -> None:
        start = sum(map(len, more))
        triangles.append(np.where(np.asarray(corners) >= count, np.asarray(corners) - count + start, corners))
        more.append(new)
        of.append(np.asarray(whose))

    edge = kept[rng(1).integers(0, len(kept), 200)]
    normal = np.cross(points[edge[:, 1]] - points[edge[:, 0]], points[edge[:, 2]] - points[edge[:, 0]])
    normal /= np.linalg.norm(normal, axis=1)[:, None]
    fins = np.stack([edge[:, 0], edge[:, 1], count + np.arange(len(edge))], axis=1)
    add(points[edge[:, 0]] + 0.01 * normal, fins, edge[:, 0])
    add(np.zeros((0, 3)), [*kept[:300], *kept[600:700, ::-1], [7, 7, 8], [9, 9, 9]], [])
    eye = trimesh.creation.icosphere(1, radius=0.012)
    head = int(points[:, 1].argmax())
    for side in (-0.03, 0.03):
        place = points[head] + np.array([side, -0.1, 0.06])
        add(np.asarray(eye.vertices) + place, np.asarray(eye.faces) + count, np.full(len(eye.vertices), head))
    arm = faces[(middles[:, 0] > 0.3) & (middles[:, 0] < 0.4)]
    used, corners = np.unique(arm, return_inverse=True)
    add(points[used] * [1.0, 1.0, 1.0] + [0.0, 0.0, 0.004], corners.reshape(-1, 3) + count, used)
    add(points[:20] + 3.0, np.zeros((0, 3), np.int64), np.arange(20))  # of no face
    return skinned(character, np.concatenate(more), np.concatenate(triangles), np.concatenate(of))


def frame(file: Path) -> Floats:
    """Points of the last frame of a bake."""
    return np.asarray(np.load(file)["points"][-1], np.float64)


def test_a_damaged_skin_moves_as_the_whole_one_and_it_is_said(
    tmp_path: Path, woman: Character, jump: Path, ecorche: Command
) -> None:
    broken = damaged(woman)
    state = skin_state(broken.meshes[0].mesh.points, broken.meshes[0].mesh.triangles())
    assert state.pieces > 3
    assert state.holes > 20
    assert state.tangled > 100
    assert state.flat >= 2
    baked = {}
    for name, character in (("whole", woman), ("broken", broken)):
        folder = tmp_path / name
        folder.mkdir()
        file = written(folder, character)
        rigged = ecorche("rig", file, "--coupling", "fascia", "--coupling", "forearms=height_field")
        moved = ecorche("bake", file.with_suffix(".ecorche"), "-o", folder / "a.npz", "-m", jump, *FRAMES)
        for text in (rigged, moved):
            assert ("holes" in text and "pieces" in text and "without area" in text) == (name == "broken")
        baked[name] = frame(folder / "a.npz")
    count = woman.meshes[0].mesh.vertex_count
    apart = np.linalg.norm(baked["broken"][:count] - baked["whole"], axis=1)
    in_use = np.unique(broken.meshes[0].mesh.face_indices)
    in_use = in_use[in_use < count]
    assert np.isfinite(baked["broken"]).all()
    assert np.percentile(apart[in_use], 99) < 0.002
    assert apart[in_use].max() < 0.03


def test_a_damaged_skin_gets_fat(tmp_path: Path, woman: Character, jump: Path, ecorche: Command) -> None:
    baked = {}
    for name, character in (("whole", woman), ("broken", damaged(woman))):
        folder = tmp_path / name
        folder.mkdir()
        file = written(folder, character)
        told = ecorche("rig", file, "--without-muscles", "--fat", "1", "--bulk", "1.5")
        assert "no muscles that bulk could make thicker" in told
        assert ("holes" in told) == (name == "broken")
        settings = (*FRAMES, "--dynamics", "fat", "--preroll", "0.2")
        text = ecorche("bake", file.with_suffix(".ecorche"), "-o", folder / "a.npz", "-m", jump, *settings)
        assert ("holes" in text) == (name == "broken")
        baked[name] = frame(folder / "a.npz")
    apart = np.linalg.norm(baked["broken"][: len(baked["whole"])] - baked["whole"], axis=1)
    assert np.isfinite(baked["broken"]).all()
    assert np.percentile(apart, 95) < 0.002


def test_a_skin_inside_out_is_turned_and_one_half_turned_is_refused(
    tmp_path: Path, woman: Character, jump: Path, ecorche: Command
) -> None:
    mesh = woman.meshes[0].mesh
    faces = mesh.triangles()
    own = np.arange(mesh.vertex_count)
    settings = ("-m", jump, *FRAMES, "--dynamics", "fat", "--preroll", "0.1")
    points = []
    for name, corners in (("as it is", faces), ("inside out", faces[:, ::-1])):
        folder = tmp_path / name
        folder.mkdir()
        file = written(folder, skinned(woman, mesh.points, corners, own))
        told = ecorche("bake", file, "-o", folder / "a.npz", *settings)
        assert ("inside out" in told) == (name == "inside out")
        told = ecorche("rig", file, "--without-muscles", "--fat", "0.5")
        assert ("inside out" in told) == (name == "inside out")
        assert "+5." in told  # litres
        told = ecorche("check", file, code=int(name == "inside out"))
        assert ("mesh 'Body': the skin is inside out" in told) == (name == "inside out")
        points.append(frame(folder / "a.npz"))
    np.testing.assert_array_equal(points[1], points[0])
    left = mesh.points[faces].mean(axis=1)[:, 0] > 0.0
    file = written(tmp_path, skinned(woman, mesh.points, np.where(left[:, None], faces[:, ::-1], faces), own))
    for command in (
        ("bake", file, "-o", tmp_path / "a.npz", *settings),
        ("rig", file, "--without-muscles", "--fat", "0.5"),
    ):
        told = ecorche(*command, code=2)
        assert "mesh 'Body': 50 % of the skin looks the other way" in told
        assert "Flip those faces" in told
    assert "50 % of the skin looks the other way" in ecorche("check", file, code=1)
    assert [p.name for p in tmp_path.glob("*.*")] == ["woman.glb"]


def test_a_skin_that_is_there_twice_moves_as_once_and_one_with_two_sides_is_refused(
    tmp_path: Path, woman: Character, jump: Path, ecorche: Command
) -> None:
    mesh = woman.meshes[0].mesh
    faces, own, baked = mesh.triangles().astype(np.int64), np.arange(mesh.vertex_count), []
    both = np.concatenate([mesh.points, mesh.points]), np.concatenate([own, own])
    twice = skinned(woman, both[0], np.concatenate([faces, faces + len(own)]), both[1])
    for name, character in (("once", woman), ("twice", twice)):
        folder = tmp_path / name
        folder.mkdir()
        file = written(folder, character)
        told = ecorche("rig", file, "--coupling", "fascia")
        assert ("edges with more than two faces" in told) == (name == "twice")
        ecorche("bake", file.with_suffix(".ecorche"), "-o", folder / "a.npz", "-m", jump, *FRAMES)
        baked.append(frame(folder / "a.npz"))
    np.testing.assert_array_equal(baked[1][len(own) :], baked[1][: len(own)])
    apart = np.linalg.norm(baked[1][: len(own)] - baked[0], axis=1)
    assert np.percentile(apart, 99) < 0.0005
    assert apart.max() < 0.005
    file = written(
        tmp_path, skinned(woman, both[0], np.concatenate([faces, faces[:, ::-1] + len(own)]), both[1])
    )
    told = ecorche("rig", file, "--coupling", "fascia", code=2)
    assert "faces are there twice, once turned round" in told
    assert "Take out the faces that look inwards" in told
    for command in (
        ("bake", file, "-o", tmp_path / "a.npz", "-m", jump, *FRAMES, "--dynamics", "fat"),
        ("rig", file, "--without-muscles", "--fat", "1"),
    ):
        told = ecorche(*command, code=2)
        assert "mesh 'Body': the skin encloses nothing" in told
    assert [p.name for p in tmp_path.glob("*.*")] == ["woman.glb"]


@pytest.mark.parametrize(
    ("factor", "told"),
    [(100.0, "centimetres"), (1.0 / 0.0254, "inches"), (1000.0, "millimetres"), (0.01, "divided by 100")],
)
def test_a_wrong_unit_is_recognised_by_the_bodys_size(
    tmp_path: Path, woman: Character, jump: Path, ecorche: Command, factor: float, told: str
) -> None:
    bind, rest = woman.skeleton.bind_local.copy(), woman.skeleton.rest_local.copy()
    bind[:, :3, 3] *= factor
    rest[:, :3, 3] *= factor
    mesh = woman.meshes[0].mesh
    large = replace(
        woman,
        skeleton=replace(
            woman.skeleton, bind_local=bind, rest_local=rest, tails=factor * woman.skeleton.tails
        ),
        meshes=(replace(woman.meshes[0], mesh=replace(mesh, points=np.float32(factor) * mesh.points)),),
    )
    file = written(tmp_path, large)
    for command in (
        ("rig", file, "--coupling", "fascia"),
        ("rig", file, "--fat", "1"),
        ("rig", file, "--without-muscles", "--fat", "1"),
        ("bake", file, "-o", tmp_path / "a.npz", "-m", jump, *FRAMES, "--dynamics", "fat"),
    ):
        message = ecorche(*command, code=2)
        assert told in message
        assert "scale it by" in message
    assert [p.name for p in tmp_path.iterdir()] == ["woman.glb"]


def test_skin_that_lies_in_a_bone_at_bind_stays_as_deep(
    tmp_path: Path, woman: Character, jump: Path, ecorche: Command
) -> None:
    heads, thigh = woman.skeleton.bind_world[:, :3, 3], woman.skeleton.index("LeftUpLeg")
    ends = [heads[thigh], heads[woman.skeleton.index("LeftLeg")]]
    rod = trimesh.creation.cylinder(radius=0.08, segment=ends, sections=24)
    femur = triangle_mesh("Femur", np.asarray(rod.vertices), np.asarray(rod.faces))
    both = (*woman.meshes, SkinnedMesh(femur, rigid_weights(len(rod.vertices), thigh)))
    file = written(tmp_path, replace(woman, meshes=both))
    rig = file.with_suffix(".ecorche")
    ecorche("rig", file, "--coupling", "height_field")
    ecorche("bake", file, "-o", tmp_path / "plain.npz", "-m", jump, *FRAMES, "--skinning", "contour")
    made = read_rig(rig)
    said = {**made.spec.coupling.model_dump(), "bones": ("Femur",)}
    spec = made.spec.model_copy(update={"coupling": CouplingSpec.model_validate(said)})
    write_rig(rig, replace(made, spec=spec))
    told = ecorche("bake", rig, "-o", tmp_path / "with.npz", "-m", jump, *FRAMES)
    assert "vertices of the skin lie in muscles or bones at bind, by up to" in told
    assert "they stay as deep" in told
    apart = np.linalg.norm(frame(tmp_path / "with.npz") - frame(tmp_path / "plain.npz"), axis=1)
    assert apart.max() < 0.03
    still = ecorche("bake", rig, "-o", tmp_path / "still.npz")
    assert "they stay as deep" in still
    np.testing.assert_array_equal(frame(tmp_path / "still.npz"), woman.meshes[0].mesh.points)
    wrong = {**said, "bones": ("Fibula",)}
    spec = made.spec.model_copy(update={"coupling": CouplingSpec.model_validate(wrong)})
    write_rig(rig, replace(made, spec=spec))
    assert "no mesh 'Fibula' of bones" in ecorche("bake", rig, "-o", tmp_path / "no.npz", code=2)
    wrong = {**said, "bones": ("Body",)}
    spec = made.spec.model_copy(update={"coupling": CouplingSpec.model_validate(wrong)})
    write_rig(rig, replace(made, spec=spec))
    assert "'Body' is the skin itself" in ecorche("bake", rig, "-o", tmp_path / "no.npz", code=2)
    assert "coupling.bones: 'Body' is the skin itself" in ecorche("check", rig, code=1)
    assert not (tmp_path / "no.npz").exists()


def test_without_muscles_there_is_nothing_to_bind_to(
    tmp_path: Path, woman: Character, ecorche: Command
) -> None:
    file = written(tmp_path, woman)
    told = ecorche("rig", file, "--without-muscles", "--coupling", "hands=fascia", code=2)
    assert "there are none" in told
    assert "Make the rig with muscles" in told
    assert [p.name for p in tmp_path.iterdir()] == ["woman.glb"]
    ecorche("rig", file, "--without-muscles", "--coupling", "plain")
    told = ecorche(
        "bake", file.with_suffix(".ecorche"), "-o", tmp_path / "a.npz", "--coupling", "fascia", code=2
    )
    assert "there are none" in told
    told = ecorche("bake", file, "-o", tmp_path / "a.npz", "--coupling", "fascia", code=2)
    assert "Make a rig first" in told
    assert not (tmp_path / "a.npz").exists()
