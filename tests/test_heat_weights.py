"""Skin weights for characters that have none."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from ecorche.body.perform import perform
from ecorche.errors import MeshError
from ecorche.io.formats import read_character, read_motion
from ecorche.skeleton.kinematics import difference_from_bind
from ecorche.skin.heat_weights import bones_within, heat_weights
from ecorche.skin.linear import LinearSkinning

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


def tube(radius: float = 0.05, length: float = 1.0, rows: int = 41, sides: int = 16) -> tuple[Floats, Ints]:
    """A closed tube along x, its ends fans."""
    x, angle = np.linspace(0.0, length, rows), 2.0 * np.pi * np.arange(sides) / sides
    ring = np.stack([np.zeros(sides), radius * np.cos(angle), radius * np.sin(angle)], axis=-1)
    points = (ring[None] + x[:, None, None] * [1.0, 0.0, 0.0]).reshape(-1, 3)
    points = np.concatenate([points, [[0.0, 0.0, 0.0], [length, 0.0, 0.0]]])
    a = np.arange(rows * sides).reshape(rows, sides)
    b = np.roll(a, -1, axis=1)
    sides_of = np.concatenate([np.stack([a[:-1], b[:-1], a[1:]], -1), np.stack([b[:-1], b[1:], a[1:]], -1)])
    low = np.stack([a[0], np.full(sides, len(points) - 2), b[0]], -1)
    high = np.stack([a[-1], b[-1], np.full(sides, len(points) - 1)], -1)
    return points, np.concatenate([sides_of.reshape(-1, 3), low, high])


BONES = np.array([[[0.0, 0.0, 0.0], [0.5, 0.0, 0.0]], [[0.5, 0.0, 0.0], [1.0, 0.0, 0.0]]])


def table(points: Floats, triangles: Ints, bones: Floats = BONES) -> Floats:
    weights = heat_weights(points, triangles, bones, np.arange(len(bones)), len(bones))
    full = np.zeros((len(points), len(bones)))
    joints, values = weights.padded()
    np.add.at(full, (np.arange(len(points))[:, None], joints), values)
    return full


def test_along_a_tube_weights_pass_smoothly_from_bone_to_bone() -> None:
    points, triangles = tube()
    weights = table(points, triangles)
    np.testing.assert_allclose(weights.sum(axis=1), 1.0, atol=1e-6)
    x = points[:-2, 0]
    np.testing.assert_allclose(weights[:-2][np.isclose(x, 0.5)], 0.5, atol=0.01)
    # heat that leaks to the sides falls by e over the tube's radius: half of exp(−distance / radius)
    for away in (0.05, 0.1):
        found = weights[:-2, 1][np.isclose(x, 0.5 - away)]
        np.testing.assert_allclose(found, 0.5 * np.exp(-away / 0.05), atol=0.02)
    means = [weights[:-2, 1][np.isclose(x, at)].mean() for at in np.unique(x)]
    assert (np.diff(means) >= -1e-9).all()
    assert means[0] == 0.0
    assert means[-1] == pytest.approx(1.0)


def test_a_bone_behind_the_skin_of_another_part_gives_nothing() -> None:
    # two tubes side by side: the second's bone is nearer to some of the first's skin than its own would be
    points, triangles = tube(radius=0.1)
    beside = points + np.array([0.0, 0.21, 0.0])
    both = np.concatenate([points, beside])
    faces = np.concatenate([triangles, triangles + len(points)])
    bones = np.array([[[0.1, -0.06, 0.0], [0.9, -0.06, 0.0]], [[0.1, 0.15, 0.0], [0.9, 0.15, 0.0]]])
    weights = table(both, faces, bones)
    np.testing.assert_allclose(weights[: len(points), 0], 1.0, atol=1e-6)
    np.testing.assert_allclose(weights[len(points) :, 1], 1.0, atol=1e-6)


def test_seams_flaps_and_triangles_without_area_do_no_harm() -> None:
    points, triangles = tube()
    whole = table(points, triangles)
    # every triangle with corners of its own, one of them twice, one without area
    cut = points[triangles].reshape(-1, 3)
    faces = np.arange(len(cut)).reshape(-1, 3)
    faces = np.concatenate([faces, faces[5:6], [[3, 3, 4]]])
    np.testing.assert_allclose(table(cut, faces), whole[triangles.ravel()], atol=0.02)


def test_what_cannot_be_is_refused() -> None:
    points, triangles = tube()
    with pytest.raises(MeshError, match="no bones"):
        heat_weights(points, triangles, np.zeros((0, 2, 3)), [], 1)
    with pytest.raises(MeshError, match="no triangles"):
        heat_weights(points, triangles[:0], BONES, [0, 1], 2)


@pytest.mark.parametrize("person", ["male_muscular_mixamo", "female_average_cmu_mb"])
def test_people_walk_about_as_with_their_own_weights(data: Path, person: str) -> None:
    character = read_character(data / "human" / f"{person}.glb")
    mesh, skeleton = character.meshes[0], character.skeleton
    assert mesh.weights is not None
    triangles = mesh.mesh.triangles()
    found = heat_weights(
        mesh.mesh.points,
        triangles,
        *bones_within(skeleton, mesh.mesh.points, triangles),
        skeleton.joint_count,
    )
    motion = perform(character, read_motion(data / "cmu" / "02_01.bvh")).take.motion
    assert motion is not None
    ours, own = (LinearSkinning(mesh.mesh.points, weights) for weights in (found, mesh.weights))
    apart = []
    for frame in range(0, motion.frame_count, 60):
        moved = difference_from_bind(skeleton, motion.local[frame])
        apart.append(np.linalg.norm(ours.apply(moved) - own.apply(moved), axis=1))
    assert np.median(apart) < 0.006
    assert np.percentile(apart, 99) < 0.035
    assert np.max(apart) < 0.06
