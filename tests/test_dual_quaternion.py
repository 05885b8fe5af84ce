"""Dual quaternion skinning: UsdSkel's answers, exact at bind, no shrinking when twisted."""

from __future__ import annotations

import numpy as np
import pytest
from pxr import UsdSkel

from ecorche.base import rotations, transforms
from ecorche.skin.dual_quaternion import DualQuaternionSkinning
from ecorche.skin.linear import LinearSkinning
from ecorche.skin.rigid import rigid_parts
from ecorche.skin.weights import weights_from_table
from test_linear import by_usd, random_motion, random_skin


@pytest.mark.parametrize("stretch", [0.0, 0.05, 0.4])
@pytest.mark.parametrize("influences", [1, 4, 7])
def test_it_equals_usdskel_with_and_without_scale_and_shear(influences: int, stretch: float) -> None:
    points, weights = random_skin(3000, 17, influences, seed=influences)
    difference = random_motion(17, seed=2, stretch=stretch)
    expected = by_usd(UsdSkel.Tokens.dualQuaternion, points, weights, difference)
    moved = DualQuaternionSkinning(points, weights).apply(difference)
    np.testing.assert_allclose(moved, expected, atol=1e-5)
    assert np.abs(moved - points).max() > 1.0


def test_a_mirroring_joint_equals_usdskel() -> None:
    points, weights = random_skin(500, 5, 3)
    difference = random_motion(5)
    difference[2] = np.diag([-2.0, 0.0, 0.0, 0.0])
    expected = by_usd(UsdSkel.Tokens.dualQuaternion, points, weights, difference)
    np.testing.assert_allclose(DualQuaternionSkinning(points, weights).apply(difference), expected, atol=1e-5)


def test_a_joint_scaled_to_nothing_draws_its_vertices_to_a_point() -> None:
    points, weights = random_skin(100, 1, 1)
    flat = transforms.compose([1.0, 2.0, 3.0], [0.0, 0.0, 0.0, 1.0], [0.0, 0.0, 0.0]) - np.eye(4)
    moved = DualQuaternionSkinning(points, weights).apply(flat[None])
    np.testing.assert_allclose(moved, np.tile([1.0, 2.0, 3.0], (100, 1)), atol=1e-6)


def test_where_one_joint_moves_a_vertex_it_equals_linear_skinning() -> None:
    points, weights = random_skin(1000, 9, 1)
    difference = random_motion(9, stretch=0.2)
    linear = LinearSkinning(points, weights).apply(difference)
    np.testing.assert_allclose(DualQuaternionSkinning(points, weights).apply(difference), linear, atol=5e-6)


@pytest.mark.parametrize("zero", [0.0, -0.0])
def test_bind_gives_back_every_bit(zero: float) -> None:
    points, weights = random_skin(500, 9, 4)
    points[::5], points[1::5], points[2::5] = -0.0, 1e-43, 0.0
    moved = DualQuaternionSkinning(points, weights).apply(np.full((9, 4, 4), zero))
    assert moved.tobytes() == points.tobytes()


def test_bits_do_not_depend_on_company() -> None:
    points, weights = random_skin(2000, 13, 4)
    difference = random_motion(13, stretch=0.1)
    whole = DualQuaternionSkinning(points, weights).apply(difference)
    joints, table = weights.padded()
    some = weights_from_table(joints[5:300:7], table[5:300:7], 13, "part")
    part = DualQuaternionSkinning(points[5:300:7], some).apply(difference)
    assert part.tobytes() == whole[5:300:7].tobytes()


def test_a_small_turn_is_not_drowned_in_rounding() -> None:
    points, weights = random_skin(1000, 2, 2)
    for angle in (1e-3, 1e-5, 1e-7):
        turn = transforms.compose(np.zeros(3), rotations.xyzw_from_axis_angle([0.0, 0.0, 1.0], angle))
        difference = np.stack([turn, turn]) - np.eye(4)
        moved = DualQuaternionSkinning(np.float32(1e-3) * points, weights).apply(difference)
        step = moved.astype(np.float64) - np.float32(1e-3) * points
        expected = points.astype(np.float64) @ difference[0, :3, :3].T * 1e-3
        np.testing.assert_allclose(step, expected, atol=3e-10)


def test_rotation_and_stretch_make_up_the_motion() -> None:
    difference = random_motion(200, stretch=0.4)
    parts = rigid_parts(difference)
    rotation = rotations.matrix_from_xyzw(parts.rotation_xyzw)
    stretch = parts.stretch_difference + np.eye(3)
    np.testing.assert_allclose(rotation @ stretch, difference[:, :3, :3] + np.eye(3), atol=1e-12)
    np.testing.assert_allclose(stretch, stretch.transpose(0, 2, 1), atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(parts.rotation_xyzw, axis=1), 1.0, atol=1e-14)
    assert parts.stretched
    # all eigenvalues of a stretch have the sign of the motion's determinant
    signs = np.sign(np.linalg.det(difference[:, :3, :3] + np.eye(3)))
    assert (np.linalg.eigvalsh(stretch) * signs[:, None] > 0.0).all()


def test_pure_rotations_are_not_stretched_at_any_scale_of_angle() -> None:
    angles = np.concatenate([[0.0], np.logspace(-9, 0, 10), [3.0, np.pi]])
    turned = rotations.xyzw_from_axis_angle(rotations.normalise([1.0, -2.0, 0.5]), angles)
    difference = transforms.compose(np.zeros(3), turned) - np.eye(4)
    parts = rigid_parts(difference)
    assert not parts.stretched
    aligned = parts.rotation_xyzw * np.sign(np.sum(parts.rotation_xyzw * turned, axis=1, keepdims=True))
    np.testing.assert_allclose(aligned, turned, atol=1e-14)
    assert parts.rotation_xyzw[0].tolist() == [0.0, 0.0, 0.0, 1.0]
    assert not parts.stretch_difference[0].any()


def test_large_and_small_scales_are_taken_apart_too() -> None:
    scales = np.array([1e-4, 1e-2, 30.0, 1e4])
    turned = rotations.xyzw_from_axis_angle([0.0, 1.0, 0.0], 0.7)
    difference = transforms.compose(
        np.zeros(3), turned, scales[:, None] * np.array([1.0, 2.0, 0.5])
    ) - np.eye(4)
    parts = rigid_parts(difference)
    np.testing.assert_allclose(parts.rotation_xyzw, np.tile(turned, (4, 1)), atol=1e-12)
    expected = scales[:, None, None] * np.diag([1.0, 2.0, 0.5])
    np.testing.assert_allclose(parts.stretch_difference + np.eye(3), expected, rtol=1e-10, atol=1e-9)
