"""A character's identity: the same for the same shape, whatever the file; another for any change."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from characters import tube
from ecorche.base.mesh import triangle_mesh
from ecorche.body.character import Character, SkinnedMesh
from ecorche.body.identity import bind_shape, changes, identify
from ecorche.body.take import Take
from ecorche.document.files import read_rig
from ecorche.document.spec import BindHash
from ecorche.io.formats import WriteOptions, read_character, write_take
from ecorche.skeleton.skeleton import Skeleton, local_from_world


def identity(character: Character) -> BindHash:
    return identify(bind_shape(character))


def two_meshes() -> Character:
    one = tube()
    other = SkinnedMesh(triangle_mesh("patch", np.eye(3), [[0, 1, 2]]), None)
    return replace(one, meshes=(*one.meshes, other))


def with_points(character: Character, change: Callable[[np.ndarray], None]) -> Character:
    mesh = character.meshes[0].mesh
    points = mesh.points.copy()
    change(points)
    return replace(
        character,
        meshes=(replace(character.meshes[0], mesh=replace(mesh, points=points)), *character.meshes[1:]),
    )


def reordered(character: Character, order: list[int]) -> Character:
    """The same joints in another order, parents first."""
    old = character.skeleton
    world = old.bind_world[order]
    parents = np.array(
        [-1 if old.parents[j] < 0 else order.index(int(old.parents[j])) for j in order], np.int32
    )
    local = local_from_world(parents, world)
    names = tuple(old.names[j] for j in order)
    return replace(character, skeleton=Skeleton(names, parents, local, local, old.tails[order]))


def test_order_and_names_of_meshes_do_not_matter() -> None:
    character = two_meshes()
    a, b = character.meshes
    renamed = replace(b, mesh=replace(b.mesh, name="other"))
    assert identity(replace(character, meshes=(renamed, a))) == identity(character)


def test_the_order_of_joints_does_not_matter(data: Path) -> None:
    man = read_character(data / "human" / "male_average_cmu_mb.glb")
    depth = [0] * man.skeleton.joint_count
    for joint, parent in enumerate(man.skeleton.parents):
        depth[joint] = depth[parent] + 1 if parent >= 0 else 0
    order = sorted(range(len(depth)), key=lambda j: (depth[j], -j))
    assert order != list(range(len(depth)))
    assert identity(reordered(man, order)) == identity(man)


def test_minus_zero_is_zero() -> None:
    character = with_points(tube(), lambda p: p.__setitem__((0, 1), 0.0))
    negative = with_points(tube(), lambda p: p.__setitem__((0, 1), -0.0))
    assert identity(character) == identity(negative)


def renamed_joint(character: Character) -> Character:
    skeleton = replace(character.skeleton, names=("lower", "top"))
    return replace(character, skeleton=skeleton)


def moved_joint(character: Character) -> Character:
    local = character.skeleton.bind_local.copy()
    local[1, 1, 3] += 1e-6
    return replace(character, skeleton=replace(character.skeleton, bind_local=local))


def turned_face(character: Character) -> Character:
    mesh = character.meshes[0].mesh
    indices = mesh.face_indices.copy()
    indices[:3] = np.roll(indices[:3], 1)
    return replace(
        character, meshes=(replace(character.meshes[0], mesh=replace(mesh, face_indices=indices)),)
    )


@pytest.mark.parametrize(
    ("change", "parts"),
    [
        (lambda c: with_points(c, lambda p: p.__setitem__((5, 2), np.nextafter(p[5, 2], 2))), ["points"]),
        (turned_face, ["topology"]),
        (renamed_joint, ["joints"]),
        (moved_joint, ["joints"]),
        (lambda c: replace(c, meshes=two_meshes().meshes), ["points", "topology"]),
    ],
)
def test_each_change_shows_in_its_own_hash(
    change: Callable[[Character], Character], parts: list[str]
) -> None:
    assert changes(identity(tube()), identity(change(tube()))) == parts


def test_fixed_for_ever() -> None:
    """Rigs in the world hold these hashes: another machine or version has to find the same."""
    rig = read_rig(Path(__file__).parent / "fixtures" / "tube-version-1.ecorche")
    assert identify(rig.bind) == rig.spec.character.hash


def test_people_of_one_topology_share_that_hash_alone(data: Path) -> None:
    average, slim = (read_character(data / "human" / f"male_{n}_cmu_mb.glb") for n in ("average", "slim"))
    assert changes(identity(average), identity(slim)) == ["points", "joints"]
    cmu, mixamo = (read_character(data / "human" / f"male_muscular_{n}.glb") for n in ("cmu_mb", "mixamo"))
    assert changes(identity(cmu), identity(mixamo)) == ["joints"]


@pytest.mark.parametrize("name", ["male_average_cmu_mb", "male_dressed_mixamo"])
def test_a_journey_through_formats_changes_nothing(data: Path, tmp_path: Path, name: str) -> None:
    original = read_character(data / "human" / f"{name}.glb")
    step = original
    for number, suffix in enumerate((".glb", ".usdc", ".glb")):
        path = tmp_path / f"{number}{suffix}"
        write_take(path, Take(step), WriteOptions(usd_as="skeleton"))
        step = read_character(path)
        assert changes(identity(original), identity(step)) == [], path.name
