"""Skin that does not pass through skin."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
import trimesh

from ecorche.body.live_frames import LiveFrames
from ecorche.body.perform import perform
from ecorche.io.formats import read_character, read_motion
from ecorche.skin.contact import SkinContact
from ecorche.skin.two_rings import two_rings

Points = npt.NDArray[np.float32]


def volume(points: Points, triangles: npt.NDArray[np.int64]) -> float:
    return float(trimesh.Trimesh(points, triangles, process=False).volume)


def test_two_balls_that_meet_flatten_each_other_and_keep_their_volume() -> None:
    ball = trimesh.creation.icosphere(5, radius=0.06)
    one, faces = np.asarray(ball.vertices, np.float32), np.asarray(ball.faces, np.int64)
    apart = np.array([0.2, 0.0, 0.0], np.float32)
    bind, triangles = np.concatenate([one, one + apart]), np.concatenate([faces, faces + len(one)])
    normals = (np.concatenate([one, one]) / 0.06).astype(np.float32)
    contact = SkinContact(bind, normals, triangles, two_rings(bind, triangles))
    assert not contact.correction(bind, normals).any()
    # pushed together by 16 mm: the flat between them is in the middle
    near = np.concatenate([one, one + np.array([0.104, 0.0, 0.0], np.float32)]).astype(np.float32)
    assert contact.passed(near, normals).max() == pytest.approx(0.016, abs=1e-3)
    moved = near + contact.correction(near, normals)[:, None] * normals
    assert contact.passed(moved, normals).max() < 0.001
    left, right = moved[: len(one)], moved[len(one) :]
    assert left[:, 0].max() < 0.0535
    assert right[:, 0].min() > 0.0505
    for ours in (left, right):
        assert volume(ours, faces) == pytest.approx(volume(one, faces), rel=0.003)
    # beside the flat it bulges, and far away nothing moves
    grown = np.linalg.norm(left, axis=1) - 0.06
    assert 0.0002 < grown.max() < 0.01
    assert np.abs(grown[one[:, 0] < -0.01]).max() < 1e-6


def test_what_does_not_give_way_presses_the_other_side_alone() -> None:
    ball = trimesh.creation.icosphere(4, radius=0.06)
    one, faces = np.asarray(ball.vertices, np.float32), np.asarray(ball.faces, np.int64)
    bind = np.concatenate([one, one + np.array([0.2, 0.0, 0.0], np.float32)])
    triangles = np.concatenate([faces, faces + len(one)])
    normals = (np.concatenate([one, one]) / 0.06).astype(np.float32)
    gives = np.arange(len(bind)) < len(one)
    contact = SkinContact(bind, normals, triangles, two_rings(bind, triangles), rounds=8, gives=gives)
    near = np.concatenate([one, one + np.array([0.11, 0.0, 0.0], np.float32)]).astype(np.float32)
    correction = contact.correction(near, normals)
    assert not correction[~gives].any()
    assert correction.min() < -0.008
    moved = near + correction[:, None] * normals
    assert contact.passed(moved, normals)[gives].max() < 0.001


def test_skin_behind_skin_at_bind_stays_where_it_is_but_goes_no_deeper() -> None:
    ball = trimesh.creation.icosphere(4, radius=0.06)
    one, faces = np.asarray(ball.vertices, np.float32), np.asarray(ball.faces, np.int64)
    triangles = np.concatenate([faces, faces + len(one)])
    normals = (np.concatenate([one, one]) / 0.06).astype(np.float32)

    def apart(far: float) -> Points:
        return np.concatenate([one, one + np.array([far, 0.0, 0.0], np.float32)]).astype(np.float32)

    bind = apart(0.1192)
    contact = SkinContact(bind, normals, triangles, two_rings(bind, triangles))
    assert contact.passed(bind, normals).max() > 0.0007
    assert not contact.correction(bind, normals).any()
    nearer = apart(0.108)
    moved = nearer + contact.correction(nearer, normals)[:, None] * normals
    assert contact.passed(nearer, normals).max() > 0.011
    assert contact.passed(moved, normals).max() < 0.0018


def test_thin_parts_are_left_alone() -> None:
    plate = trimesh.creation.box((0.2, 0.2, 0.01)).subdivide_loop(3)
    points, triangles = np.asarray(plate.vertices, np.float32), np.asarray(plate.faces, np.int64)
    normals = np.asarray(plate.vertex_normals, np.float32)
    contact = SkinContact(points, normals, triangles, two_rings(points, triangles))
    assert not contact.correction(points * np.array([1.0, 1.0, 0.5], np.float32), normals).any()


def test_a_bent_arm_does_not_pass_through_itself(data: Path) -> None:
    character = read_character(data / "human" / "female_average_cmu_mb.glb")
    mesh = character.meshes[0].mesh
    curl = Path(__file__).parents[1] / "examples" / "curl.pose"
    frames = perform(character, read_motion(curl)).take.frames
    assert isinstance(frames, LiveFrames)
    at_bind = np.asarray(frames.body.normals.apply([mesh.points])[0], np.float32)
    contact = SkinContact(mesh.points, at_bind, mesh.triangles(), two_rings(mesh.points, mesh.triangles()))
    frame = frames[len(frames) // 2]
    points, normals = frame.points[0], np.asarray(frame.normals[0], np.float32)
    before = contact.passed(points, normals)
    correction = contact.correction(points, normals)
    after = contact.passed(points + correction[:, None] * normals, normals)
    assert before.max() > 0.01
    assert (after > 0.001).sum() < 0.1 * (before > 0.001).sum()
    assert np.abs(correction).max() < 0.02
    # elsewhere it is the skin it was
    assert (np.abs(correction) < 1e-4).mean() > 0.9
    # a few lines tell where anything is met: asking all of them finds but trifles more
    asked = contact._near_something(points, normals)
    assert len(asked) < 0.5 * len(contact._looking)
    few, every = contact.lines(points, normals), contact._ask(contact._looking, points, normals)[0]
    deep = -1e-4
    np.testing.assert_array_equal(np.sort(few.gaps[few.gaps < deep]), np.sort(every.gaps[every.gaps < deep]))
