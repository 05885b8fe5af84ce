"""Skin that is crumpled goes with the skin round it."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ecorche.base.mesh import triangle_mesh
from ecorche.skin.crumpled import Crumpled
from ecorche.skin.normals import Normals
from ecorche.skin.turned_over import TurnedOver
from ecorche.skin.two_rings import two_rings
from ecorche.skin.weights import weights_from_table

COUNT = 21


def sheet() -> tuple[npt.NDArray[np.float32], npt.NDArray[np.int32]]:
    x, y = np.meshgrid(np.arange(COUNT), np.arange(COUNT), indexing="ij")
    points = 0.01 * np.stack([x, y, np.zeros_like(x)], -1).reshape(-1, 3).astype(np.float32)
    a = np.arange(COUNT * COUNT).reshape(COUNT, COUNT)[:-1, :-1].ravel()
    faces = [np.stack([a, a + COUNT, a + 1], 1), np.stack([a + 1, a + COUNT, a + COUNT + 1], 1)]
    return points, np.concatenate(faces).astype(np.int32)


def test_skin_that_is_not_crumpled_moves_as_it_is_told_to_the_last_bit() -> None:
    points, triangles = sheet()
    crumpled = Crumpled(points, triangles, two_rings(points, triangles))
    told = np.random.default_rng(2).normal(size=points.shape).astype(np.float32)
    bent = points.copy()
    bent[:, 2] = 0.3 * bent[:, 0] ** 2
    for pose in (points, bent):
        assert (crumpled.trust(pose) == 1.0).all()
        assert crumpled.evened(told, pose).tobytes() == told.tobytes()


def test_where_skin_turns_over_nothing_leaps() -> None:
    points, triangles = sheet()
    rings, middle = two_rings(points, triangles), COUNT * COUNT // 2
    crumpled, normals = Crumpled(points, triangles, rings), Normals([triangle_mesh("s", points, triangles)])
    told, evened, trust = [], [], []
    # what is round the middle is wavy and turned over, from side to side
    away = points - points[middle]
    ring = np.abs(away).max(axis=1) < 0.015
    for share in np.linspace(0.0, 1.0, 161):
        pose = points.copy()
        pose[ring, 0] -= np.float32(2.0 * share) * away[ring, 0]
        pose[ring, 2] += np.float32(30.0) * (away[ring, 0] ** 2 - away[ring, 1] ** 2)
        (up,) = normals.apply([pose])
        told.append(np.float32(0.004) * np.asarray(up))
        evened.append(crumpled.evened(told[-1], pose))
        trust.append(crumpled.trust(pose)[rings.place[middle]])
    leaps = [np.linalg.norm(np.diff(v, axis=0), axis=-1)[:, middle].max() for v in (told, evened)]
    assert min(trust) == 0.0
    assert leaps[0] > 0.004
    assert leaps[1] < 0.2 * leaps[0]


def test_far_from_what_moves_nothing_is_asked_for_and_nothing_changes() -> None:
    points, triangles = sheet()
    rings, rng = two_rings(points, triangles), np.random.default_rng(5)
    moving = points[:, 0] < 0.05
    told = (rng.normal(size=points.shape) * moving[:, None]).astype(np.float32)
    pose = (points + 0.01 * rng.normal(size=points.shape)).astype(np.float32)
    all_of_it, part = Crumpled(points, triangles, rings), Crumpled(points, triangles, rings, moving)
    wanted = all_of_it.evened(told, pose)
    np.testing.assert_array_equal(part.evened(told, pose), wanted)
    assert (wanted != told).any()
    assert (part.trust(pose) == 1.0).sum() > (all_of_it.trust(pose) == 1.0).sum()


def test_a_patch_that_turns_over_altogether_goes_with_the_skin_round_it() -> None:
    points, triangles = sheet()
    rings, middle = two_rings(points, triangles), COUNT * COUNT // 2
    crumpled, normals = Crumpled(points, triangles, rings), Normals([triangle_mesh("s", points, triangles)])
    away = points - points[middle]
    patch = np.abs(away).max(axis=1) < 0.035
    # the patch is turned over, and no joint has done that
    weights = weights_from_table(np.where(patch, 1, 0)[:, None], np.ones((len(points), 1)), 2, "here")
    (up,) = normals.apply([points])
    assert up is not None
    turned, told, evened, still = TurnedOver(up, weights, rings), [], [], np.zeros((2, 4, 4))
    assert (turned.upright(up, still) == 1.0).all()
    for share in np.linspace(0.0, 1.0, 161):
        pose = points.copy()
        cosine, sine = np.cos(np.pi * share) - 1.0, np.sin(np.pi * share)
        pose[patch] += (away[patch, :1] * np.array([cosine, 0.0, sine])).astype(np.float32)
        (up,) = normals.apply([pose])
        assert up is not None
        told.append(np.float32(0.004) * up)
        evened.append(crumpled.evened(told[-1], pose, turned.upright(up, still)))
    assert crumpled.trust(pose)[rings.place[middle]] > 0.99
    assert told[-1][middle, 2] < -0.0039
    assert turned.upright(up, still)[rings.place[middle]] == 0.0
    assert evened[-1][middle, 2] > 0.0
    assert np.linalg.norm(np.diff(evened, axis=0), axis=-1)[:, middle].max() < 5e-4


def test_joints_that_turn_skin_do_not_turn_it_over() -> None:
    points, triangles = sheet()
    rings = two_rings(points, triangles)
    normals = Normals([triangle_mesh("s", points, triangles)])
    (up,) = normals.apply([points])
    assert up is not None
    weights = weights_from_table(np.tile([0, 1], (len(points), 1)), np.full((len(points), 2), 0.5), 2, "here")
    turned = TurnedOver(up, weights, rings)
    for angle in np.linspace(0.0, np.pi, 19):
        cosine, sine = np.cos(angle), np.sin(angle)
        moved = np.zeros((2, 4, 4))
        moved[1, :3, :3] = np.array([[cosine, 0.0, sine], [0.0, 1.0, 0.0], [-sine, 0.0, cosine]]) - np.eye(3)
        # skinning takes the normal half as far; half a turn tells nothing of it
        half = np.array([np.sin(0.5 * angle), 0.0, np.cos(0.5 * angle)], np.float32)
        assert turned.upright(np.tile(half, (len(points), 1)), moved).min() > 1.0 - 1e-6
