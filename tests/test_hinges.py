"""Joints that limbs fold at, on people by name and on creatures by shape."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ecorche.body.character import Character
from ecorche.body.hinges import hinges
from ecorche.io.formats import read_character
from ecorche.skeleton.naming.recognise import recognise


def folding(character: Character) -> set[str]:
    mesh = max((m for m in character.meshes if m.weights is not None), key=lambda m: m.mesh.vertex_count)
    if any(m.name == "skin" for m in character.meshes):
        mesh = next(m for m in character.meshes if m.name == "skin")
    assert mesh.weights is not None
    skeleton = character.skeleton
    found = hinges(mesh.mesh.points, mesh.weights, skeleton, recognise(skeleton, None))
    return {skeleton.names[joint] for joint in found}


def test_a_person_folds_at_elbows_and_knees(data: Path) -> None:
    man = read_character(data / "human" / "male_muscular_cmu_mb.glb")
    assert folding(man) == {"LeftForeArm", "RightForeArm", "LeftLeg", "RightLeg"}


def test_a_dog_folds_at_elbows_stifles_and_hocks(data: Path) -> None:
    pytest.importorskip("mujoco")
    dog = read_character(data / "dog" / "dog.xml")
    wanted = {f"{name}_{side}" for name in ("lower_arm", "lower_leg", "foot") for side in "LR"}
    assert folding(dog) == wanted


def test_a_horse_folds_at_legs_and_not_at_tail_neck_or_ears(data: Path) -> None:
    horse = read_character(data / "mesh2motion" / "horse-animations.glb")
    wanted = {f"{name}_{side}" for name in ("front_leg_lower", "back_leg_ankle") for side in "lr"}
    assert folding(horse) == wanted


def test_other_names_turned_and_grown_it_is_the_same(data: Path) -> None:
    horse = read_character(data / "mesh2motion" / "horse-animations.glb")
    turn = np.array([[0.0, 0.0, 1.0, 0.3], [1.0, 0.0, 0.0, 2.0], [0.0, 1.0, 0.0, -1.0], [0.0, 0.0, 0.0, 1.0]])
    bind = horse.skeleton.bind_local.copy()
    roots = np.flatnonzero(horse.skeleton.parents < 0)
    bind[:, :3, 3] *= 2.0
    bind[roots] = turn @ bind[roots]
    names = tuple(f"bone {number}" for number in range(horse.skeleton.joint_count))
    tails = 2.0 * horse.skeleton.tails
    skeleton = replace(horse.skeleton, names=names, bind_local=bind, tails=tails)
    meshes = tuple(
        replace(
            m,
            mesh=replace(
                m.mesh, points=(2.0 * m.mesh.points @ turn[:3, :3].T + turn[:3, 3]).astype(np.float32)
            ),
        )
        for m in horse.meshes
    )
    found = folding(replace(horse, skeleton=skeleton, meshes=meshes))
    before = folding(horse)
    assert found == {names[horse.skeleton.names.index(name)] for name in before}
