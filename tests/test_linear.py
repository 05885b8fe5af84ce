"""Linear skinning: exact at bind, equal to the textbook sum, the same bits however it is laid out."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from pxr import Gf, UsdSkel, Vt

from ecorche.base import rotations
from ecorche.base.threads import at_most_threads
from ecorche.errors import MeshError
from ecorche.skeleton.skeleton import Skeleton
from ecorche.skin.layout import group_vertices
from ecorche.skin.linear import LinearSkinning
from ecorche.skin.methods import SKINNING, make_skinning
from ecorche.skin.weights import SkinWeights, weights_from_entries, weights_from_table

Floats = npt.NDArray[np.float64]


def random_skin(
    vertices: int, joints: int, influences: int, seed: int = 0
) -> tuple[npt.NDArray[np.float32], SkinWeights]:
    """Points and weights in which a vertex has one to ``influences`` joints, any of them."""
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(vertices, 3)).astype(np.float32)
    count = rng.integers(1, influences + 1, vertices)
    vertex = np.repeat(np.arange(vertices), count)
    joint = np.concatenate([rng.choice(joints, n, replace=False) for n in count])
    weight = rng.random(len(vertex)) + 0.05
    weight /= np.bincount(vertex, weight)[vertex]
    return points, weights_from_entries(vertex, joint, weight, vertices, joints, "test")


def random_motion(joints: int, seed: int = 0, stretch: float = 0.0) -> Floats:
    """``M − I`` of joints turned and moved at random."""
    rng = np.random.default_rng(seed)
    matrices = np.tile(np.eye(4), (joints, 1, 1))
    turned = rotations.matrix_from_xyzw(rotations.normalise(rng.normal(size=(joints, 4))))
    matrices[:, :3, :3] = turned @ (np.eye(3) + stretch * rng.normal(size=(joints, 3, 3)))
    matrices[:, :3, 3] = rng.normal(size=(joints, 3))
    return np.asarray(matrices - np.eye(4))


def chain(joints: int) -> Skeleton:
    """Joints one after another along y."""
    local = np.tile(np.eye(4), (joints, 1, 1))
    local[1:, 1, 3] = 1.0
    parents = np.arange(-1, joints - 1, dtype=np.int32)
    names = tuple(f"joint {j}" for j in range(joints))
    return Skeleton(names, parents, local, local, np.full((joints, 3), np.nan))


def by_usd(method: str, points: npt.NDArray[np.float32], weights: SkinWeights, difference: Floats) -> Floats:
    """The same skinning by UsdSkel."""
    joints, table = weights.padded()
    moved = Vt.Vec3fArray.FromNumpy(points.copy())
    matrices = np.ascontiguousarray((difference + np.eye(4)).transpose(0, 2, 1))
    assert UsdSkel.SkinPoints(
        method,
        Gf.Matrix4d(1.0),
        Vt.Matrix4dArray.FromNumpy(matrices),
        Vt.IntArray.FromNumpy(joints.reshape(-1)),
        Vt.FloatArray.FromNumpy(table.reshape(-1)),
        joints.shape[1],
        moved,
    )
    return np.asarray(moved, np.float64)


@pytest.mark.parametrize("influences", [1, 2, 4, 11])
def test_it_is_the_textbook_sum_for_any_number_of_influences(influences: int) -> None:
    points, weights = random_skin(1000, 23, influences)
    difference = random_motion(23, stretch=0.3)
    joints, table = weights.padded()
    assert joints.shape[1] == influences
    homogeneous = np.concatenate([points, np.ones((len(points), 1))], axis=1)
    moved = np.einsum("vk,vkij,vj->vi", table, (difference + np.eye(4))[joints], homogeneous)[:, :3]
    np.testing.assert_allclose(LinearSkinning(points, weights).apply(difference), moved, atol=3e-6)


def test_it_equals_usdskel() -> None:
    points, weights = random_skin(3000, 17, 4)
    difference = random_motion(17, stretch=0.3)
    expected = by_usd(UsdSkel.Tokens.classicLinear, points, weights, difference)
    np.testing.assert_allclose(LinearSkinning(points, weights).apply(difference), expected, atol=3e-6)


@pytest.mark.parametrize("zero", [0.0, -0.0])
def test_bind_gives_back_every_bit(zero: float) -> None:
    points, weights = random_skin(500, 9, 4)
    points[::5], points[1::5], points[2::5] = -0.0, 1e-43, 0.0
    points[3::5] *= np.float32(1e18)
    moved = LinearSkinning(points, weights).apply(np.full((9, 4, 4), zero))
    assert moved.tobytes() == points.tobytes()


def test_equal_vertices_move_alike_in_any_company() -> None:
    points, weights = random_skin(2000, 13, 4)
    difference = random_motion(13)
    whole = LinearSkinning(points, weights).apply(difference)
    joints, table = weights.padded()
    rng = np.random.default_rng(5)
    for size in (1, 7, 16, 333):
        chosen = rng.choice(2000, size, replace=False)
        alone = weights_from_table(joints[chosen], table[chosen], 13, "part")
        part = LinearSkinning(points[chosen], alone).apply(difference)
        assert part.tobytes() == whole[chosen].tobytes()


def test_other_points_are_skinned_as_if_they_were_the_bind_points() -> None:
    points, weights = random_skin(700, 9, 3)
    difference = random_motion(9)
    morphed = points + np.float32(0.25)
    given = LinearSkinning(points, weights).apply(difference, morphed)
    assert given.tobytes() == LinearSkinning(morphed, weights).apply(difference).tobytes()


@pytest.mark.parametrize("method", sorted(SKINNING))
def test_the_same_bits_on_one_thread_and_into_a_given_array(method: str) -> None:
    points, weights = random_skin(40_000, 5, 4)
    skinning, difference = make_skinning(method, points, weights, chain(5)), random_motion(5, stretch=0.1)
    assert len(group_vertices(weights).vertices) > 2000  # enough to be shared among threads
    everywhere = skinning.apply(difference)
    out = np.empty_like(points)
    with at_most_threads(1):
        assert skinning.apply(difference, out=out) is out
    assert out.tobytes() == everywhere.tobytes()


@pytest.mark.parametrize("vertices", [0, 1, 15, 16, 17])
def test_any_number_of_vertices(vertices: int) -> None:
    points, weights = random_skin(40, 5, 2)
    joints, table = weights.padded()
    few = weights_from_table(joints[:vertices], table[:vertices], 5, "few")
    moved = LinearSkinning(points[:vertices], few).apply(random_motion(5))
    np.testing.assert_array_equal(moved, LinearSkinning(points, weights).apply(random_motion(5))[:vertices])


def test_an_array_that_cannot_be_written_to_is_refused() -> None:
    points, weights = random_skin(20, 3, 2)
    skinning = LinearSkinning(points, weights)
    with pytest.raises(MeshError, match=r"float64 of shape \(20, 3\). Give C-contiguous float32"):
        skinning.apply(random_motion(3), out=np.empty((20, 3)))  # type: ignore[arg-type]
    with pytest.raises(MeshError, match=r"Give C-contiguous float32 of shape \(20, 3\)"):
        skinning.apply(random_motion(3), out=np.empty((21, 3), np.float32))


@pytest.mark.parametrize("method", sorted(SKINNING))
def test_joints_and_points_that_do_not_fit_are_refused(method: str) -> None:
    points, weights = random_skin(200, 5, 2)
    skeleton = chain(5)
    with pytest.raises(MeshError, match=r"200 vertices have weights, but the points have shape \(201, 3\)"):
        make_skinning(method, np.zeros((201, 3), np.float32), weights, skeleton)
    skinning = make_skinning(method, points, weights, skeleton)
    with pytest.raises(MeshError, match=r"shape \(4, 4, 4\).*Give one 4 × 4 matrix a joint"):
        skinning.apply(random_motion(4))
    with pytest.raises(MeshError, match=r"the points have shape \(199, 3\). Give 200 points"):
        skinning.apply(random_motion(5), points[1:])


def test_groups_hold_every_vertex_once_and_all_its_weights() -> None:
    _, weights = random_skin(1003, 7, 4)
    groups = group_vertices(weights)
    flat = groups.vertices.reshape(-1)
    assert len(groups.vertices) == 63
    assert set(flat.tolist()) == set(range(1003))
    assert (np.diff(groups.vertices, axis=1) >= 0).all()
    table = np.zeros((1003, 7), np.float32)
    for group, (start, end) in enumerate(zip(groups.starts[:-1], groups.starts[1:], strict=True)):
        assert (np.diff(groups.joints[start:end]) > 0).all()
        for row in range(start, end):
            table[groups.vertices[group], groups.joints[row]] = groups.weights[row]
    expected = np.zeros_like(table)
    expected[np.repeat(np.arange(1003), np.diff(weights.starts)), weights.joints] = weights.weights
    np.testing.assert_array_equal(table, expected)


def test_most_groups_share_one_joint_set() -> None:
    points = np.zeros((16 * 100, 3), np.float32)
    joint = np.repeat(np.arange(10), 160)
    weights = weights_from_table(np.stack([joint, joint + 1], 1), np.full((1600, 2), 0.5), 11, "rows")
    groups = group_vertices(weights)
    assert len(groups.vertices) == 100
    assert (np.diff(groups.starts) == 2).all()
    assert LinearSkinning(points, weights).apply(np.zeros((11, 4, 4))).tobytes() == points.tobytes()
