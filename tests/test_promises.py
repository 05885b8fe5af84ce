"""What every skinning method and every character must keep."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from characters import bending, mirrored, mirrored_matrices, tube
from ecorche.base import rotations, transforms
from ecorche.body.character import Character
from ecorche.body.compile import compile_body
from ecorche.body.evaluate import Pose, evaluate
from ecorche.body.live_frames import LiveFrames
from ecorche.io.formats import read_character, read_motion
from ecorche.skeleton.motion import Motion
from ecorche.skeleton.retarget import retarget
from ecorche.skin.methods import SKINNING

METHODS = sorted(SKINNING)
REAL = (
    "human/male_average_cmu_mb.glb",
    "human/male_dressed_mixamo.glb",
    "mesh2motion/human-male.glb",
    "mesh2motion/horse-animations.glb",
    "dog/dog.xml",
)


@pytest.fixture(scope="module")
def man(data: Path) -> Character:
    return read_character(data / "human" / "male_average_cmu_mb.glb")


@pytest.fixture(scope="module")
def walk(data: Path, man: Character) -> Motion:
    return retarget(read_motion(data / "cmu" / "02_01.bvh"), man.skeleton).motion


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", REAL)
def test_bind_in_bind_out_bit_for_bit(data: Path, name: str, method: str) -> None:
    character = read_character(data / name)
    frame = evaluate(compile_body(character, skinning=method), Pose(character.skeleton.bind_local))
    for mesh, points, normals in zip(character.meshes, frame.points, frame.normals, strict=True):
        assert points.tobytes() == mesh.mesh.points.tobytes()
        if mesh.mesh.normals is not None:
            assert normals is not None
            assert normals.tobytes() == mesh.mesh.normals.tobytes()


@pytest.mark.parametrize("method", METHODS)
def test_a_pose_close_to_bind_gives_a_skin_close_to_bind(man: Character, method: str) -> None:
    body = compile_body(man, skinning=method)
    elbow = man.skeleton.index("LeftForeArm")
    local = man.skeleton.bind_local.copy()
    tiny = 1e-6
    local[elbow] = local[elbow] @ transforms.compose(
        np.zeros(3), rotations.xyzw_from_axis_angle([0.0, 0.0, 1.0], tiny)
    )
    moved = evaluate(body, Pose(local)).points[0].astype(np.float64) - man.meshes[0].mesh.points
    reach = np.linalg.norm(man.meshes[0].mesh.points - man.skeleton.bind_world[elbow, :3, 3], axis=1)
    # no vertex moves farther than the full rotation would take it, up to float32 rounding
    assert (np.linalg.norm(moved, axis=1) <= tiny * reach + 2.5e-7).all()
    assert np.abs(moved).max() > 0.0


@pytest.mark.parametrize("method", METHODS)
def test_rigid_root_motion_commutes_with_skinning(man: Character, walk: Motion, method: str) -> None:
    body = compile_body(man, skinning=method)
    rigid = transforms.compose([0.3, -0.2, 1.1], rotations.xyzw_from_rotation_vector([0.4, 2.0, -0.7]))
    for index in (40, 200):
        local = walk.local[index].copy()
        there = evaluate(body, Pose(local)).points[0]
        local[0] = rigid @ local[0]
        moved_first = evaluate(body, Pose(local)).points[0]
        np.testing.assert_allclose(moved_first, transforms.transform_points(rigid, there), atol=2e-6)


@pytest.mark.parametrize("method", METHODS)
def test_a_mirrored_character_in_the_mirrored_pose_has_the_mirrored_skin(
    man: Character, walk: Motion, method: str
) -> None:
    twin = mirrored(man)
    body, twin_body = compile_body(man, skinning=method), compile_body(twin, skinning=method)
    for index in (0, 100, 300):
        skin = evaluate(body, Pose(walk.local[index])).points[0]
        image = evaluate(twin_body, Pose(mirrored_matrices(walk.local[index]))).points[0]
        np.testing.assert_allclose(image, skin * np.array([-1, 1, 1], np.float32), atol=1e-5)


def test_borders_of_two_primitives_stay_closed(data: Path) -> None:
    character = read_character(data / "human" / "male_dressed_mixamo.glb")
    motion = retarget(read_motion(data / "cmu" / "02_03.bvh"), character.skeleton).motion
    frames = LiveFrames(compile_body(character), motion)
    mesh = character.meshes[0].mesh
    order = np.lexsort(mesh.points.T)
    same = (np.diff(mesh.points[order], axis=0) == 0.0).all(axis=1)
    assert same.sum() > 500
    posed = frames[60].points[0][order]
    np.testing.assert_array_equal(posed[1:][same], posed[:-1][same])


def test_morph_targets_act_before_skinning(data: Path) -> None:
    character = read_character(data / "human" / "male_dressed_mixamo.glb")
    body = compile_body(character)
    morph = character.meshes[0].mesh.morphs[0]
    frame = evaluate(body, Pose(character.skeleton.bind_local, morph_weights={f"Body/{morph.name}": 0.5}))
    expected = character.meshes[0].mesh.points.copy()
    expected[morph.vertices] += np.float32(0.5) * morph.offsets
    np.testing.assert_array_equal(frame.points[0], expected)


@pytest.mark.parametrize("method", METHODS)
def test_twisting_half_way_round_keeps_the_tube_except_linearly(method: str) -> None:
    character = tube(rings=33)
    local = character.skeleton.bind_local.copy()
    local[1] = local[1] @ transforms.compose(np.zeros(3), [0.0, 1.0, 0.0, 0.0])
    points = evaluate(compile_body(character, skinning=method), Pose(local)).points[0]
    narrowest = np.hypot(points[:, 0], points[:, 2]).min() / 0.1
    assert narrowest < 0.05 if method == "linear" else narrowest > 0.99


def test_the_same_bits_on_one_thread_and_on_all(data: Path) -> None:
    """On the dog: its skin is large enough that all threads take part."""
    import numba

    dog = read_character(data / "dog" / "dog.xml")
    local = dog.skeleton.bind_local.copy()
    turn = rotations.xyzw_from_rotation_vector([0.1, -0.2, 0.05])
    local[1:] = local[1:] @ transforms.compose(np.zeros(3), turn)

    def digest() -> list[bytes]:
        found = []
        for method in METHODS:
            frame = evaluate(compile_body(dog, skinning=method), Pose(local))
            normals = frame.normals[0]
            assert normals is not None
            found.append(frame.points[0].tobytes() + normals.tobytes())
        return found

    everything = digest()
    numba.set_num_threads(1)
    try:
        assert digest() == everything
    finally:
        numba.set_num_threads(numba.config.NUMBA_NUM_THREADS)


def test_bending_starts_exactly_at_bind() -> None:
    character = tube()
    frames = LiveFrames(compile_body(character), bending(character))
    np.testing.assert_array_equal(frames[0].points[0], character.meshes[0].mesh.points)
    assert np.abs(frames[4].points[0] - character.meshes[0].mesh.points).max() > 0.3
