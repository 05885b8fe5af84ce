"""A body that follows muscles found in its skin: exact at bind, whole in motion, alike on any machine."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest
from benchmarks.muscle_people import CAPTURED, PEOPLE, motion_file

from conftest import Figure
from ecorche.base.threads import at_most_threads
from ecorche.body.compile import Body, compile_body
from ecorche.body.evaluate import Pose, evaluate
from ecorche.body.live_frames import LiveFrames
from ecorche.body.perform import perform
from ecorche.io.formats import read_motion
from ecorche.skin.hybrid import HybridSkinning
from extracted_people import both_skins, extracted, hybrid_body

METHODS = ("linear", "dual_quaternion", "contour")


def _person(data: Path, name: str) -> Path:
    return data / "human" / f"{PEOPLE[name]}.glb"


@cache
def _by(path: Path, method: str) -> Body:
    character, rig = extracted(path)
    return compile_body(character, rig=rig, skinning=method)


@pytest.mark.parametrize("person", PEOPLE)
def test_the_bind_pose_is_exact_by_every_skinning_method(data: Path, person: str) -> None:
    for method in METHODS:
        body = _by(_person(data, person), method)
        assert body.lofts is not None
        assert len(body.lofts.lofts.muscles) >= 8
        still = Pose(body.character.skeleton.bind_local)
        bare = evaluate(body.without_muscles(), still)
        for mesh, ours, plain in zip(
            body.character.meshes, evaluate(body, still).points, bare.points, strict=True
        ):
            assert ours.tobytes() == plain.tobytes(), (method, mesh.name)
            if mesh.own_bind is None:
                assert ours.tobytes() == mesh.mesh.points.tobytes(), (method, mesh.name)


@pytest.mark.parametrize("person", PEOPLE)
def test_muscles_move_the_skin_by_every_skinning_method_by_about_as_much(data: Path, person: str) -> None:
    path = _person(data, person)
    hybrid, _ = both_skins(path, data, "squat")
    assert hybrid.activation is not None
    pose = Pose(hybrid.motion.local[60], activation=hybrid.activation[60])
    moved = {}
    for method in METHODS:
        body = _by(path, method)
        assert body.lofts is not None
        skin = body.lofts.skin
        plain = evaluate(body.without_muscles(), pose).points[skin]
        moved[method] = (evaluate(body, pose).points[skin] - plain).astype(np.float64)
        assert np.linalg.norm(moved[method], axis=1).max() > 3e-3, method
    for method in METHODS[1:]:
        np.testing.assert_allclose(moved[method], moved["linear"], atol=1e-5)


def test_without_muscles_is_the_body_that_never_had_any(data: Path) -> None:
    path = _person(data, "dressed man")
    hybrid, plain = both_skins(path, data, "curl")
    bare = LiveFrames(compile_body(hybrid.body.character), hybrid.motion)
    for ours, theirs in zip(plain[60].points, bare[60].points, strict=True):
        assert ours.tobytes() == theirs.tobytes()


def test_garments_follow_the_skin_below_them(data: Path, figure: Figure) -> None:
    """The tights of the dressed man move with his thighs: as the nearest skin does, and never through it."""
    from scipy.spatial import cKDTree

    path = _person(data, "dressed man")
    hybrid, plain = both_skins(path, data, "squat")
    body = hybrid.body
    assert body.lofts is not None
    skin = body.lofts.skin
    worn = [n for n, m in enumerate(body.character.meshes) if n != skin and "tights" in m.name.lower()]
    assert worn
    moved, below = (hybrid[60].points[n].astype(np.float64) - plain[60].points[n] for n in (worn[0], skin))
    bind = [m.mesh.points.astype(np.float64) for m in body.character.meshes]
    found = cKDTree(bind[skin]).query(bind[worn[0]])
    distance, nearest = np.asarray(found[0]), np.asarray(found[1])
    close = distance < 0.01
    lag = np.linalg.norm(moved[close] - below[nearest[close]], axis=1)
    assert np.linalg.norm(moved, axis=1).max() > 3e-3
    assert np.percentile(lag, 95) < 1.5e-3
    figure(
        "hybrid: garment behind the skin below it, 95th percentile", 1e3 * np.percentile(lag, 95), 1.5, "mm"
    )
    assert isinstance(body.skinnings[worn[0]], HybridSkinning)


@pytest.mark.parametrize("person", PEOPLE)
def test_motions_stay_finite_and_muscles_move_the_skin_by_little_more_than_a_finger(
    data: Path, person: str, figure: Figure
) -> None:
    most = 0.0
    for name in CAPTURED:
        hybrid, plain = both_skins(_person(data, person), data, name)
        assert hybrid.body.lofts is not None
        skin = hybrid.body.lofts.skin
        for index in range(0, len(hybrid), 10):
            frame, bare = hybrid[index], plain[index]
            for points in frame.points:
                assert np.isfinite(points).all()
            for normals in frame.normals:
                assert normals is None or np.isfinite(normals).all()
            apart = np.linalg.norm(frame.points[skin] - bare.points[skin], axis=1)
            most = max(most, float(apart.max()))
    figure(f"hybrid: largest displacement over four motions, {person}", 1e3 * most, 30.0, "mm")
    assert 2e-3 < most < 0.03


def test_a_part_of_a_take_is_the_part_of_the_whole(data: Path) -> None:
    character, rig = extracted(_person(data, "muscular man"))
    motion = read_motion(motion_file(data, "second jump"))
    whole = perform(character, motion, rig=rig).take.frames
    part = perform(character, motion, rig=rig, frames=(100, 104)).take.frames
    assert whole is not None
    assert part is not None
    assert len(part) == 5
    for index in range(5):
        for ours, theirs in zip(part[index].points, whole[100 + index].points, strict=True):
            assert ours.tobytes() == theirs.tobytes()


@pytest.mark.parametrize("method", METHODS)
def test_the_number_of_threads_changes_no_byte(data: Path, method: str) -> None:
    path = _person(data, "dressed man")
    body = _by(path, method)
    hybrid, _ = both_skins(path, data, "squat")
    assert hybrid.activation is not None
    pose = Pose(hybrid.motion.local[60], activation=hybrid.activation[60])
    with at_most_threads(1):
        alone = evaluate(body, pose)
    with at_most_threads(2):
        together = evaluate(body, pose)
    for ours, theirs in zip(alone.points, together.points, strict=True):
        assert ours.tobytes() == theirs.tobytes()


def test_compiling_twice_gives_the_same_bytes(data: Path) -> None:
    path = _person(data, "muscular man")
    character, rig = extracted(path)
    with at_most_threads(1):
        again = compile_body(character, rig=rig).lofts
    first = hybrid_body(path).lofts
    assert first is not None
    assert again is not None
    assert first.over.weight.tobytes() == again.over.weight.tobytes()
    for ours, theirs in zip(first.entries, again.entries, strict=True):
        assert (ours is None) == (theirs is None)
        if ours is not None and theirs is not None:
            assert ours.weights.tobytes() == theirs.weights.tobytes()
            assert ours.joints.tobytes() == theirs.joints.tobytes()
