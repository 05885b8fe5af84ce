"""Bones stay beneath the skin: where one would come out it is lifted, without a jolt, and only there."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import igl
import numpy as np
import numpy.typing as npt
import pytest
import trimesh
from benchmarks import line_muscle_bodies

from ecorche.base.mesh import Mesh, triangle_mesh
from ecorche.base.signed_distance import SignedSurface
from ecorche.base.threads import at_most_threads
from ecorche.body.bones import BodyBones
from ecorche.body.compile import Body, compile_body
from ecorche.body.evaluate import Pose, evaluate
from ecorche.skeleton.kinematics import difference_from_bind
from ecorche.skin.covered_bones import CoveredBones
from ecorche.skin.normals import Normals
from ecorche.skin.two_rings import two_rings
from ecorche.skin.weights import weights_from_table

Floats = npt.NDArray[np.float64]

RADIUS, DEPTH = 0.05, 0.004
"""Of a ball of skin, and how deep in it the tip of a bone ends [m]."""


class Ball:
    """A ball of coarse skin that a joint holds, and a bone with a thin tip in it that another moves."""

    def __init__(self, *, shell: bool = False) -> None:
        ball = trimesh.creation.icosphere(subdivisions=3, radius=RADIUS)
        points, triangles = np.asarray(ball.vertices), np.asarray(ball.faces)
        if shell:  # other skin over it
            triangles = np.concatenate([triangles, triangles + len(points)])
            points = np.concatenate([points, 1.5 * points])
        self.points, self.triangles = points.astype(np.float32), triangles.astype(np.int32)
        # the first joint holds the skin, the other has a little share in it far from the tip
        share = (points[:, 2] < -0.9 * RADIUS).astype(np.float64)
        weights = weights_from_table(
            np.tile([0, 1], (len(points), 1)), np.stack([1.0 - 0.1 * share, 0.1 * share], 1), 2, "ball"
        )
        tip = trimesh.creation.cone(radius=0.006, height=0.03, sections=16).subdivide().subdivide()
        self.bone = np.asarray(tip.vertices) + np.array([0.0, 0.0, RADIUS - DEPTH - 0.03])
        self.normals = Normals([triangle_mesh("ball", self.points, self.triangles)])
        (up,) = self.normals.apply([self.points])
        assert up is not None
        self.up, self.rings = up, two_rings(self.points, self.triangles)
        self.covered = CoveredBones(
            self.points, up, self.triangles, self.rings, weights, self.bone, tip.faces,
            np.ones(len(self.bone), np.int32), gives=np.ones(len(points), np.float32),
        )  # fmt: skip

    def lifted(self, up: float, turned: Floats | None = None) -> npt.NDArray[np.float32]:
        """How far skin is lifted where the bone has come up so far [m]; all may be turned besides."""
        moved = np.zeros((2, 4, 4))
        moved[1, 2, 3] = up
        skin, normals = self.points, self.up
        if turned is not None:
            moved = turned @ (moved + np.eye(4)) - np.eye(4)
            skin = (skin @ turned[:3, :3].T + turned[:3, 3]).astype(np.float32)
            normals = (normals @ turned[:3, :3].T).astype(np.float32)
        bone = self.bone @ (moved[1, :3, :3] + np.eye(3)).T + moved[1, :3, 3]
        return self.covered.lifted(skin, normals, bone[self.covered.places], moved)

    def out(self, up: float, lifted: npt.NDArray[np.float32]) -> float:
        """How far the bone is out of the skin [m], at most."""
        skin = self.points + lifted[self.rings.place][:, None] * self.up
        return float(
            -SignedSurface(skin, self.triangles).depth(self.bone + np.array([0.0, 0.0, up]))[0].min()
        )


@pytest.fixture(scope="module")
def ball() -> Ball:
    return Ball()


def test_a_tip_that_comes_out_is_covered(ball: Ball) -> None:
    for up in (0.004, 0.008, 0.012):
        lifted = ball.lifted(up)
        assert ball.out(up, np.zeros_like(lifted)) == pytest.approx(up - DEPTH, abs=0.0015)
        assert ball.out(up, lifted) < 0.0
        # never by more than it is out, and what it is due
        assert lifted.min() >= 0.0
        assert lifted.max() < 1.5 * (up - DEPTH + 0.004)
        # a bump round the tip, and nothing elsewhere
        away = np.linalg.norm(ball.points - [0.0, 0.0, RADIUS], axis=1)
        assert (lifted[ball.rings.place][away > 0.035] == 0.0).all()


def test_at_bind_and_near_it_nothing_moves(ball: Ball) -> None:
    for up in (0.0, -0.01, 0.25 * DEPTH):
        assert not ball.lifted(up).any()


def test_a_little_more_is_a_little_more(ball: Ball) -> None:
    steps = np.linspace(0.0, 0.014, 281)
    lifts = np.array([ball.lifted(float(up)) for up in steps])
    change = np.abs(np.diff(lifts, axis=0)).max(axis=1) / (steps[1] - steps[0])
    assert change.max() < 4.0
    assert lifts.max() > 0.005


def test_all_turned_together_it_is_lifted_alike(ball: Ball) -> None:
    turned = np.eye(4)
    turned[:3, :3], turned[:3, 3] = trimesh.transformations.rotation_matrix(0.7, [1, 2, 3])[:3, :3], [1, 0, 2]
    assert np.abs(ball.lifted(0.008, turned) - ball.lifted(0.008)).max() < 2e-5
    with at_most_threads(1):
        assert ball.lifted(0.008).tobytes() == Ball().lifted(0.008).tobytes()


def test_under_other_skin_nothing_needs_to_be_covered() -> None:
    inner = Ball(shell=True)
    assert len(inner.covered.places)
    assert not inner.lifted(0.008).any()


def test_no_bone_that_may_move_asks_nothing(ball: Ball) -> None:
    # bones far beneath the skin
    deep = CoveredBones(
        ball.points, ball.up, ball.triangles, ball.rings,
        weights_from_table(np.zeros((len(ball.points), 1)), np.ones((len(ball.points), 1)), 1, "ball"),
        0.1 * ball.bone, np.array([[0, 1, 2]]), np.zeros(len(ball.bone), np.int32),
        gives=np.ones(len(ball.points), np.float32),
    )  # fmt: skip
    assert not len(deep.places)
    assert not deep.lifted(ball.points, ball.up, np.zeros((0, 3)), np.zeros((1, 4, 4))).any()


def _out(at: Floats, skin: npt.NDArray[np.float32], mesh: Mesh) -> float:
    """How far places are out of a skin, at most [m]; told by winding numbers."""
    points, triangles = skin.astype(np.float64), mesh.triangles().astype(np.int64)
    outside = igl.fast_winding_number(points, triangles, at) < 0.5
    return float(np.sqrt(igl.point_mesh_squared_distance(at, points, triangles)[0][outside].max(initial=0.0)))


def test_a_dogs_elbow_stays_in_its_skin(data: Path) -> None:
    pytest.importorskip("mujoco")
    assert data.resolve() == line_muscle_bodies.DATA.resolve()
    animal = line_muscle_bodies.dog(frozenset({"biceps"}))
    body = compile_body(animal.character, rig=animal.rig)
    assert body.coupling is not None
    assert body.lines is not None
    assert body.lines.bones is not None
    forearm = BodyBones(tuple(b for b in body.lines.bones.bones if "Ulna" in b.name or "Radius" in b.name))
    mesh = animal.character.meshes[body.coupling.skin].mesh
    bare = replace(body, coupling=replace(body.coupling, covered=None))

    def out(one: Body, local: Floats) -> float:
        """How far bones of the forearms are out of the skin, at most [m]."""
        assert one.coupling is not None
        at = forearm.points(difference_from_bind(animal.character.skeleton, local))
        return _out(at, evaluate(one, Pose(local)).points[one.coupling.skin], mesh)

    at_bind = evaluate(body, Pose(animal.character.skeleton.bind_local)).points[body.coupling.skin]
    assert at_bind.tobytes() == mesh.points.tobytes()
    for share, before, after in ((0.5, 0.002, 0.001), (1.0, 0.005, 0.002)):
        local = animal.posed({"shoulder": -share, "elbow": -share})
        assert out(bare, local) > before
        assert out(body, local) < after
    # what takes skin off a bone afterwards, as fat does, is mended too
    local = animal.posed({"shoulder": -1.0, "elbow": -1.0})
    moved = difference_from_bind(animal.character.skeleton, local)
    sunk = evaluate(bare, Pose(local)).points
    lifted = body.coupling.over_bones(sunk, moved)[body.coupling.skin]
    assert _out(forearm.points(moved), lifted, mesh) < 0.5 * _out(
        forearm.points(moved), sunk[body.coupling.skin], mesh
    )
    still = evaluate(body, Pose(animal.character.skeleton.bind_local)).points
    same = body.coupling.over_bones(still, np.zeros_like(moved))[body.coupling.skin]
    assert same.tobytes() == still[body.coupling.skin].tobytes()
