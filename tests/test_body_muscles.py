"""Muscles in the body: exact at bind, driven by joints and curves, carried by blend shapes and caches."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import numba
import numpy as np
import numpy.typing as npt
import pytest

from characters import mirrored, mirrored_matrices
from conftest import ROOT
from ecorche.body.character import Character
from ecorche.body.compile import compile_body, skinned_points
from ecorche.body.evaluate import Pose, evaluate
from ecorche.body.muscle_specs import muscle_specs, muscles_of
from ecorche.body.perform import perform
from ecorche.body.rig import create_rig
from ecorche.document.files import Rig
from ecorche.errors import EcorcheError
from ecorche.io.formats import read_character
from ecorche.io.keyframes import read_keyframes
from ecorche.muscles.activation import Constant, bulge_from_activation
from ecorche.skeleton.kinematics import difference_from_bind

Floats = npt.NDArray[np.float64]

MIRROR = np.array([-1.0, 1.0, 1.0])

PEOPLE = (
    "male_muscular_cmu_mb",
    "male_average_cmu_mb",
    "male_slim_cmu_mb",
    "female_average_cmu_mb",
    "male_dressed_mixamo",
)


@cache
def _rigged(path: Path) -> tuple[Character, Rig]:
    character = read_character(path)
    return character, create_rig(character, path, path.with_suffix(".ecorche"))


@pytest.mark.parametrize("name", PEOPLE)
@pytest.mark.parametrize("method", ["linear", "dual_quaternion", "contour"])
def test_bind_is_exact_bit_for_bit(data: Path, name: str, method: str) -> None:
    character, rig = _rigged(data / "human" / f"{name}.glb")
    body = compile_body(character, skinning=method, rig=rig)
    assert body.muscles is not None
    assert body.activation is not None
    assert len(body.muscles.musculature.muscles) >= 150
    pose = Pose(character.skeleton.bind_local)
    with_muscles, plain = evaluate(body, pose), evaluate(compile_body(character, skinning=method), pose)
    for a, b in zip(with_muscles.points, plain.points, strict=True):
        assert a.tobytes() == b.tobytes()


@pytest.mark.parametrize("name", PEOPLE)
def test_a_flexed_arm_moves_skin_and_only_some_of_it(data: Path, name: str) -> None:
    character, rig = _rigged(data / "human" / f"{name}.glb")
    motion = read_keyframes(ROOT / "examples" / "flex.pose", character.skeleton)
    with_muscles = perform(character, motion, rig=rig).take.frames
    plain = perform(character, motion, rig=rig, muscles=False).take.frames
    assert with_muscles is not None
    assert plain is not None
    skin = character.meshes.index(character.body())
    moved = np.linalg.norm(with_muscles[51].points[skin] - plain[51].points[skin], axis=1)
    assert np.isfinite(moved).all()
    assert (moved > 1e-3).sum() > 100
    assert (moved == 0.0).mean() > 0.2  # face and fingers have no muscles of ours
    np.testing.assert_array_equal(with_muscles[0].points[skin], plain[0].points[skin])


def test_activation_alone_bulges_and_rest_at_bind_does_not(data: Path) -> None:
    character, rig = _rigged(data / "human" / "male_muscular_cmu_mb.glb")
    body = compile_body(character, rig=rig)
    assert body.muscles is not None
    assert body.activation is not None
    count = len(body.muscles.musculature.muscles)
    bind = character.meshes[0].mesh
    outward = evaluate(body, Pose(character.skeleton.bind_local)).normals[0]
    assert outward is not None
    full = evaluate(body, Pose(character.skeleton.bind_local, activation=np.ones(count))).points[0]
    out = np.sum((full - bind.points) * outward, axis=1)
    assert out.max() > 2e-3
    assert out.max() > 2.0 * -out.min()  # bulging is outwards; sections narrow a little at their rims


def test_a_root_motion_moves_everything_alike(data: Path) -> None:
    character, rig = _rigged(data / "human" / "male_average_cmu_mb.glb")
    motion = read_keyframes(ROOT / "examples" / "flex.pose", character.skeleton)
    body = compile_body(character, rig=rig)
    assert body.muscles is not None
    assert body.activation is not None
    active = body.activation.over(motion)[40]
    local = motion.local[40].copy()
    there = evaluate(body, Pose(local, activation=active)).points[0].astype(np.float64)
    turn = np.array([[0.0, 0.0, 1.0, 3.0], [0.0, 1.0, 0.0, 1.0], [-1.0, 0.0, 0.0, -2.0], [0, 0, 0, 1]])
    local[0] = turn @ local[0]
    moved = evaluate(body, Pose(local, activation=active)).points[0].astype(np.float64)
    assert np.abs(moved - (there @ turn[:3, :3].T + turn[:3, 3])).max() < 1e-5


def test_a_blend_shape_is_carried_and_not_undone(data: Path) -> None:
    character, rig = _rigged(data / "human" / "male_dressed_mixamo.glb")
    skin = character.body()
    assert skin.mesh.morphs
    morph = skin.mesh.morphs[0]
    number = character.meshes.index(skin)
    body, plain = compile_body(character, rig=rig), compile_body(character)
    assert body.muscles is not None
    assert body.activation is not None
    full = np.ones(len(body.muscles.musculature.muscles))
    weights = {f"{skin.name}/{morph.name}": 1.0 - morph.weight}
    bind = character.skeleton.bind_local
    bulged = [
        evaluate(body, Pose(bind, morph_weights=w, activation=full)).points[number] for w in ({}, weights)
    ]
    shapes = [evaluate(plain, Pose(bind, morph_weights=w)).points[number] for w in ({}, weights)]
    np.testing.assert_allclose(bulged[1] - bulged[0], shapes[1] - shapes[0], atol=1e-6)


def test_same_bytes_on_one_thread_and_on_all(data: Path) -> None:
    character, rig = _rigged(data / "human" / "male_slim_cmu_mb.glb")
    motion = read_keyframes(ROOT / "examples" / "flex.pose", character.skeleton)
    frames = perform(character, motion, rig=rig).take.frames
    assert frames is not None
    before = numba.get_num_threads()
    try:
        numba.set_num_threads(1)
        one = frames[40].points[0].tobytes()
    finally:
        numba.set_num_threads(before)
    assert frames[40].points[0].tobytes() == one


def test_points_are_changed_only_where_they_are_ours(data: Path) -> None:
    character, rig = _rigged(data / "human" / "male_slim_cmu_mb.glb")
    motion = read_keyframes(ROOT / "examples" / "flex.pose", character.skeleton)
    body = compile_body(character, rig=rig)
    assert body.muscles is not None
    assert body.activation is not None
    difference = difference_from_bind(character.skeleton, motion.local[40])
    active = body.activation.over(motion)[40]
    skinned = skinned_points(body, difference, (None,) * len(character.meshes))
    kept = [points.copy() for points in skinned]
    displaced = body.muscles.displaced(skinned, difference, active)
    cached = evaluate(body, Pose(motion.local[40], posed=skinned, activation=active)).points
    for before, after in zip(kept, skinned, strict=True):
        np.testing.assert_array_equal(before, after)
    ours = evaluate(body, Pose(motion.local[40], activation=active)).points
    in_place = body.muscles.displaced(skinned, difference, active, in_place=True)
    assert in_place[body.muscles.skin] is skinned[body.muscles.skin]
    for points in (cached, ours, in_place):
        for a, b in zip(points, displaced, strict=True):
            assert a.tobytes() == b.tobytes()


def test_activation_out_of_range_is_refused_in_words(data: Path) -> None:
    character, rig = _rigged(data / "human" / "male_slim_cmu_mb.glb")
    muscles = compile_body(character, rig=rig).muscles
    assert muscles is not None
    largest = np.array([muscle.largest_bulge for muscle in muscles.musculature.muscles])
    alpha = np.random.default_rng(0).random(len(largest))
    np.testing.assert_array_equal(muscles.bulge(alpha), bulge_from_activation(alpha, largest))
    np.testing.assert_array_equal(muscles.bulge(None), 1.0)
    for wrong in (1.5, -0.1, np.nan):
        alpha[3] = wrong
        with pytest.raises(EcorcheError, match="not between 0 and 1"):
            muscles.bulge(alpha)


def test_a_gain_scales_what_is_seen(data: Path) -> None:
    character, rig = _rigged(data / "human" / "male_muscular_cmu_mb.glb")
    bind = Pose(character.skeleton.bind_local)
    moved = []
    for gain in (0.0, 0.5, 1.0):
        groups = dict.fromkeys({m.group for m in rig.spec.muscles.named.values()}, gain)
        muscles = rig.spec.muscles.model_copy(update={"gains": groups})
        scaled = replace(rig, spec=rig.spec.model_copy(update={"muscles": muscles}))
        body = compile_body(character, rig=scaled, activation=Constant(np.ones(len(muscles.named))))
        assert body.muscles is not None
        assert body.activation is not None
        full = replace(bind, activation=np.ones(len(muscles.named)))
        moved.append(evaluate(body, full).points[0] - character.meshes[0].mesh.points)
    np.testing.assert_array_equal(moved[0], 0.0)
    np.testing.assert_allclose(moved[1], 0.5 * moved[2], atol=1e-6)


def test_a_mirrored_body_in_the_mirrored_pose_has_the_mirrored_skin(data: Path) -> None:
    character, rig = _rigged(data / "human" / "female_average_cmu_mb.glb")
    twin = mirrored(character)
    motion = read_keyframes(ROOT / "examples" / "flex.pose", character.skeleton)
    body, twin_body = (
        compile_body(character, rig=rig),
        compile_body(twin, rig=_mirrored_rig(rig, character, twin)),
    )
    assert body.muscles is not None
    assert body.activation is not None
    active = body.activation.over(motion)
    for index in (20, 51):
        skin = evaluate(body, Pose(motion.local[index], activation=active[index])).points[0]
        there = Pose(mirrored_matrices(motion.local[index]), activation=active[index])
        image = evaluate(twin_body, there).points[0]
        np.testing.assert_allclose(image, skin * MIRROR.astype(np.float32), atol=1e-5)


def _mirrored_rig(rig: Rig, character: Character, twin: Character) -> Rig:
    """The same muscles on the character's mirror image: axes of rotation turn the other way round."""
    muscles, scapulae = muscles_of(rig, character.skeleton)
    seen = [
        replace(
            muscle,
            positions=muscle.positions * MIRROR,
            outward=muscle.outward * MIRROR,
            sweep=muscle.sweep * (1.0, -1.0),  # S is along × S_d, which a mirror reverses
        )
        for muscle in muscles
    ]
    blades = [
        replace(
            blade,
            pivot=blade.pivot * MIRROR,
            axis=-blade.axis * MIRROR,
            hanging=blade.hanging * MIRROR,
            arm_direction=blade.arm_direction * MIRROR,
        )
        for blade in scapulae
    ]
    named, virtual = muscle_specs(seen, blades, twin.skeleton)
    muscles_spec = rig.spec.muscles.model_copy(update={"named": named})
    skeleton = rig.spec.skeleton.model_copy(update={"virtual_scapulae": virtual})
    return replace(rig, spec=rig.spec.model_copy(update={"muscles": muscles_spec, "skeleton": skeleton}))
