"""Muscles, bones and fat beside the skin in USD: which prims, of what kind and purpose, and their motion."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pxr import Usd, UsdGeom

from anatomy_shapes import ball
from characters import bending, tube
from conftest import Command
from ecorche.base.mesh import Mesh
from ecorche.body.bake import bake
from ecorche.body.bones import bone_surfaces
from ecorche.body.character import Character
from ecorche.body.muscle_meshes import with_muscle_meshes
from ecorche.body.perform import perform
from ecorche.body.rig import create_rig
from ecorche.body.take import Take
from ecorche.document.files import Rig, read_rig
from ecorche.errors import EcorcheError
from ecorche.io.formats import read_character, write_take
from ecorche.io.usd import compliance_problems
from ecorche.muscles.bone import Bone
from rigged_people import person, rigged
from soft_ball import ball as fat_ball
from soft_ball import hopping, soft_rig
from tube_document import FIXTURE
from usd_takes import swinging


def whole_rig(character: Character) -> Rig:
    """The tube's rig with meshes on lines and with bones."""
    made = create_rig(character, "tube.glb", "tube.ecorche", muscles=False)
    kept = read_rig(FIXTURE)
    muscles = kept.spec.muscles.model_copy(update={"named": {}, "lofted": {}, "gains": {}})
    spec = made.spec.model_copy(update={"muscles": muscles, "body_type": kept.spec.body_type})
    shapes = [ball(character.skeleton.bind_world[j, :3, 3], np.full(3, 0.02), rings=7) for j in (0, 1)]
    bones = [Bone(f"bone {j}", j, s.points, s.triangles.astype(np.int32)) for j, s in enumerate(shapes)]
    return replace(made, spec=spec, surfaces=kept.surfaces, bones=bone_surfaces(bones, character.skeleton))


def stage_of(path: Path, take: Take) -> Any:
    bake(path, take, lambda file, whole: write_take(file, whole))
    assert compliance_problems(path) == []
    return Usd.Stage.Open(str(path))


def volume(mesh: Mesh) -> float:
    a, b, c = np.moveaxis(mesh.points[mesh.triangles()].astype(np.float64), 1, 0)
    return float(np.einsum("ti,ti->", a, np.cross(b, c)) / 6.0)


def test_groups_beside_the_skin_have_kinds_purposes_and_samples(tmp_path: Path) -> None:
    character = tube()
    take, notes = with_muscle_meshes(perform(character, bending(character), rig=whole_rig(character)).take)
    assert notes == ("no fat moves by itself, so none is written; --dynamics fat moves it",)
    assert take.frames is not None
    stage = stage_of(tmp_path / "tube.usdc", take)
    root = stage.GetDefaultPrim()
    assert Usd.ModelAPI(root).GetKind() == "component"
    assert UsdGeom.GetStageMetersPerUnit(stage) == 1.0
    assert UsdGeom.GetStageUpAxis(stage) == "Y"
    for scope, count in (("Muscles", 3), ("Bones", 2)):
        prim = root.GetChild(scope)
        assert Usd.ModelAPI(prim).GetKind() == "subcomponent"
        assert len(prim.GetChildren()) == count
        for child in prim.GetChildren():
            assert UsdGeom.Imageable(child).ComputePurpose() == "guide"
            assert UsdGeom.Mesh(child).GetPointsAttr().GetNumTimeSamples() == len(take.frames)
            assert UsdGeom.Mesh(child).GetVelocitiesAttr().GetNumTimeSamples() == len(take.frames)
    body = UsdGeom.Imageable(root.GetChild("tube_2") or root.GetChild("tube"))
    assert body.ComputePurpose() == "default"
    # a bone goes rigidly with its joint
    bone = UsdGeom.Mesh(root.GetChild("Bones").GetChildren()[1]).GetPointsAttr()
    rest, last = np.array(bone.Get(0)), np.array(bone.Get(bone.GetTimeSamples()[-1]))
    assert np.abs(last - rest).max() > 0.01
    spread = [np.linalg.norm(p - p.mean(axis=0), axis=1) for p in (rest, last)]
    np.testing.assert_allclose(spread[0], spread[1], atol=1e-6)
    # what lies beneath is no part of the character that is read back, and that is told
    back = read_character(tmp_path / "tube.usdc")
    assert [m.name for m in back.meshes] == [m.name for m in character.meshes]
    assert "5 meshes are left out: the purpose is 'guide'" in back.notes


def test_fat_is_a_closed_mesh_that_swings(tmp_path: Path) -> None:
    character = fat_ball()
    motion = hopping(character, 0.3)
    made = perform(character, motion, rig=soft_rig(character), dynamics="fat").take
    take, notes = with_muscle_meshes(made)
    assert notes == ("the rig has no meshes of bones, so none are written",)
    shells = [mesh.mesh for mesh in take.character.meshes if mesh.scope == "Fat"]
    assert shells
    for shell in shells:
        # every voxel counts once: the volume inside is a whole number of them, and faces look outwards
        edges = shell.face_indices.reshape(-1, 4)
        pairs = np.stack([edges, np.roll(edges, -1, axis=1)], axis=-1).reshape(-1, 2)
        forwards = {(a, b) for a, b in pairs.tolist()}
        assert all((b, a) in forwards for a, b in forwards)
        edge = np.linalg.norm(shell.points[edges[0, 0]] - shell.points[edges[0, 1]])
        assert volume(shell) / edge**3 == pytest.approx(round(volume(shell) / edge**3), abs=0.02)
        assert volume(shell) > 0.0
    stage = stage_of(tmp_path / "ball.usdc", take)
    mesh = UsdGeom.Mesh(stage.GetDefaultPrim().GetChild("Fat").GetChildren()[0])
    samples = np.array([mesh.GetPointsAttr().Get(t) for t in mesh.GetPointsAttr().GetTimeSamples()])
    assert len(samples) == motion.frame_count
    away = samples - samples[:, :1]
    assert np.ptp(away, axis=0).max() > 1e-3  # it is no rigid thing


def test_muscles_of_the_template_keep_their_names_within_the_skin(data: Path, tmp_path: Path) -> None:
    path = data / "human" / "male_average_cmu_mb.glb"
    character, rig = person(path), rigged(path)
    made = perform(character, swinging(character.skeleton, 2), rig=rig).take
    take, _ = with_muscle_meshes(made)
    names = [mesh.name for mesh in take.character.meshes if mesh.scope == "Muscles"]
    assert "biceps brachii, long head, right" in names
    assert len(names) == len(set(names)) > 100
    stage = stage_of(tmp_path / "man.usdc", take)
    scope = stage.GetDefaultPrim().GetChild("Muscles")
    assert [child.GetDisplayName() for child in scope.GetChildren()] == names
    assert take.frames is not None
    frame = take.frames[1]
    first = len(character.meshes)
    box = np.stack([frame.points[0].min(axis=0), frame.points[0].max(axis=0)])
    muscles = np.concatenate(frame.points[first:])
    assert (muscles > box[0]).all()
    assert (muscles < box[1]).all()
    written = UsdGeom.Mesh(scope.GetChildren()[3]).GetPointsAttr()
    np.testing.assert_array_equal(np.array(written.Get(written.GetTimeSamples()[1])), frame.points[first + 3])


def test_a_character_without_anything_beneath_is_refused(tmp_path: Path, ecorche: Command) -> None:
    character = tube()
    with pytest.raises(EcorcheError, match="no muscles, bones or fat beneath its skin"):
        with_muscle_meshes(perform(character, bending(character)).take)
    write_take(tmp_path / "tube.glb", Take(replace(character, motions=(bending(character),))))
    said = ecorche("bake", tmp_path / "tube.glb", "-o", tmp_path / "a.usdc", "--with-muscles", code=2)
    assert "ecorche rig CHARACTER" in " ".join(said.split())
