"""Contour skinning: sections turn without shrinking, twist is spread along long bones."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from ecorche.base import rotations, transforms
from ecorche.errors import MeshError
from ecorche.io.formats import read_character
from ecorche.skeleton.kinematics import difference_from_bind
from ecorche.skeleton.skeleton import Skeleton
from ecorche.skin.contour import ContourSkinning, twist_spread
from ecorche.skin.linear import LinearSkinning
from ecorche.skin.methods import SKINNING, make_skinning
from ecorche.skin.weights import SkinWeights, weights_from_table

Floats = npt.NDArray[np.float64]

RINGS, AROUND, RADIUS = 93, 24, 0.2
NAMES = ("root", "upper", "fore", "hand", "finger")
ROOT, UPPER, FORE, HAND, FINGER = range(5)
X, Z = [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]


@pytest.fixture(scope="module")
def skeleton() -> Skeleton:
    """An arm along x: bones of length 1 from 0 to 2, then a short hand."""
    local = np.tile(np.eye(4), (5, 1, 1))
    local[:, 0, 3] = [-0.5, 0.5, 1.0, 1.0, 0.3]
    return Skeleton(NAMES, np.arange(-1, 4, dtype=np.int32), local, local, np.full((5, 3), np.nan))


@pytest.fixture(scope="module")
def arm() -> tuple[npt.NDArray[np.float32], SkinWeights]:
    """A cylinder round that arm, its weights blending over a short way at elbow and wrist."""
    along = np.repeat(np.linspace(0.0, 2.3, RINGS), AROUND)
    angle = np.tile(np.arange(AROUND) * 2.0 * np.pi / AROUND, RINGS)
    points = np.stack([along, RADIUS * np.cos(angle), RADIUS * np.sin(angle)], axis=1).astype(np.float32)
    fore, hand = np.clip((along - 0.8) / 0.4, 0.0, 1.0), np.clip((along - 1.85) / 0.3, 0.0, 1.0)
    table = np.stack([1.0 - fore, fore * (1.0 - hand), fore * hand], axis=1)
    joints = np.tile([UPPER, FORE, HAND], (len(points), 1))
    return points, weights_from_table(joints, table, 5, "arm")


def turned(skeleton: Skeleton, joint: int, axis: list[float], degrees: float) -> Floats:
    local = skeleton.bind_local.copy()
    turn = rotations.xyzw_from_axis_angle(axis, np.radians(degrees))
    local[joint] = local[joint] @ transforms.compose(np.zeros(3), turn)
    return difference_from_bind(skeleton, local)


def widths(points: npt.NDArray[np.float32]) -> npt.NDArray[np.float64]:
    return np.asarray(np.hypot(points[:, 1], points[:, 2]) / RADIUS, np.float64)


@pytest.mark.parametrize("joint", [UPPER, FORE, HAND])
@pytest.mark.parametrize("degrees", [30.0, 120.0, 180.0])
def test_twisting_keeps_the_radius_where_linear_skinning_collapses(
    skeleton: Skeleton,
    arm: tuple[npt.NDArray[np.float32], SkinWeights],
    joint: int,
    degrees: float,
) -> None:
    difference = turned(skeleton, joint, X, degrees)
    width = widths(ContourSkinning(*arm, skeleton).apply(difference))
    assert np.abs(width - 1.0).max() < 1e-5
    if joint != UPPER and degrees == 180.0:
        assert widths(LinearSkinning(*arm).apply(difference)).min() < 0.05


def test_twist_rises_along_the_bone_while_swing_follows_the_weights(
    skeleton: Skeleton, arm: tuple[npt.NDArray[np.float32], SkinWeights]
) -> None:
    points = ContourSkinning(*arm, skeleton).apply(turned(skeleton, FORE, X, 90.0))
    ring = points.reshape(RINGS, AROUND, 3)[:, 0]
    angle = np.degrees(np.arctan2(ring[:, 2], ring[:, 1]))
    along = np.linspace(0.0, 2.3, RINGS)
    assert np.abs(angle[along < 0.75]).max() < 1e-3
    assert angle[np.argmin(np.abs(along - 1.5))] == pytest.approx(45.0, abs=1.0)
    assert angle[along > 2.2] == pytest.approx(90.0, abs=1e-3)
    assert (np.diff(angle) > -1e-3).all()
    # swing: beyond the blend at the elbow the forearm is where its joint takes it
    difference = turned(skeleton, FORE, Z, 70.0)
    bent = ContourSkinning(*arm, skeleton).apply(difference)
    beyond = arm[0][:, 0] > 1.25
    rigid = transforms.transform_points(difference[FORE] + np.eye(4), arm[0][beyond])
    np.testing.assert_allclose(bent[beyond], rigid, atol=1e-6)


def test_without_spread_a_twist_follows_the_weights(
    skeleton: Skeleton, arm: tuple[npt.NDArray[np.float32], SkinWeights]
) -> None:
    difference = turned(skeleton, FORE, X, 90.0)
    points = ContourSkinning(*arm, skeleton, np.zeros(5)).apply(difference)
    beyond = arm[0][:, 0] > 1.25
    rigid = transforms.transform_points(difference[FORE] + np.eye(4), arm[0][beyond])
    np.testing.assert_allclose(points[beyond], rigid, atol=1e-6)
    assert np.abs(widths(points) - 1.0).max() < 1e-5


def test_bending_keeps_the_inside_and_the_outside_smooth(
    skeleton: Skeleton, arm: tuple[npt.NDArray[np.float32], SkinWeights]
) -> None:
    for degrees in (45.0, 90.0):
        bent = ContourSkinning(*arm, skeleton).apply(turned(skeleton, FORE, Z, degrees))
        steps = np.diff(bent.reshape(RINGS, AROUND, 3), axis=0)
        # neighbouring rings never tear apart, and along the middle line they never turn back
        assert np.linalg.norm(steps, axis=2).max() < 3.0 * 2.3 / (RINGS - 1)
        centre = np.diff(bent.reshape(RINGS, AROUND, 3).mean(axis=1), axis=0)
        assert (np.sum(centre[1:] * centre[:-1], axis=1) > 0.0).all()


def test_a_scaled_joint_scales_its_section(
    skeleton: Skeleton, arm: tuple[npt.NDArray[np.float32], SkinWeights]
) -> None:
    local = skeleton.bind_local.copy()
    local[FORE] = local[FORE] @ np.diag([1.0, 1.5, 1.5, 1.0])
    points = ContourSkinning(*arm, skeleton).apply(difference_from_bind(skeleton, local))
    along = arm[0][:, 0]
    assert widths(points)[along < 0.75] == pytest.approx(1.0, abs=1e-6)
    assert widths(points)[(along > 1.25) & (along < 1.8)] == pytest.approx(1.5, abs=1e-6)
    np.testing.assert_allclose(points[:, 0], along, atol=1e-6)


@pytest.mark.parametrize("zero", [0.0, -0.0])
def test_bind_gives_back_every_bit(
    skeleton: Skeleton, arm: tuple[npt.NDArray[np.float32], SkinWeights], zero: float
) -> None:
    points = arm[0].copy()
    points[::5], points[1::5], points[2::5, 1] = -0.0, 1e-43, 0.0
    moved = ContourSkinning(points, arm[1], skeleton).apply(np.full((5, 4, 4), zero))
    assert moved.tobytes() == points.tobytes()


def test_close_to_bind_it_moves_by_no_more_than_it_should(
    skeleton: Skeleton, arm: tuple[npt.NDArray[np.float32], SkinWeights]
) -> None:
    skinning = ContourSkinning(*arm, skeleton)
    for axis in (X, Z):
        moved = skinning.apply(turned(skeleton, FORE, axis, np.degrees(1e-6))) - arm[0]
        reach = np.linalg.norm(arm[0] - skeleton.bind_world[FORE, :3, 3], axis=1)
        assert (np.linalg.norm(moved, axis=1) <= 1e-6 * reach + 2.5e-7).all()


def test_bits_do_not_depend_on_company(
    skeleton: Skeleton, arm: tuple[npt.NDArray[np.float32], SkinWeights]
) -> None:
    points, weights = arm
    difference = turned(skeleton, FORE, X, 77.0) + 0.3 * turned(skeleton, HAND, Z, 40.0)
    whole = ContourSkinning(points, weights, skeleton).apply(difference)
    joints, table = weights.padded()
    chosen = np.arange(3, len(points), 7)[::-1]
    some = weights_from_table(joints[chosen], table[chosen], 5, "part")
    part = ContourSkinning(points[chosen], some, skeleton).apply(difference)
    assert part.tobytes() == whole[chosen].tobytes()


def test_twist_is_spread_over_the_long_bones_of_real_people(data: Path) -> None:
    for name, limbs, others in (
        (
            "human/male_average_cmu_mb.glb",
            ("Arm", "ForeArm", "UpLeg", "Leg"),
            ("Hips", "Head", "Neck", "Spine1", "LeftHand", "RightFoot"),
        ),
        (
            "human/male_muscular_mixamo.glb",
            ("Arm", "ForeArm", "UpLeg", "Leg"),
            ("Hips", "Head", "Neck", "Spine2", "LeftHand", "LeftHandIndex1", "RightFoot"),
        ),
    ):
        skeleton = read_character(data / name).skeleton
        spread = dict(zip((n.split(":")[-1] for n in skeleton.names), twist_spread(skeleton), strict=True))
        for limb in limbs:
            assert spread[f"Left{limb}"] == spread[f"Right{limb}"] == 1.0
        for other in others:
            assert spread[other] == 0.0


def test_an_unknown_method_is_refused_with_the_choices(
    skeleton: Skeleton, arm: tuple[npt.NDArray[np.float32], SkinWeights]
) -> None:
    with pytest.raises(MeshError, match=r"no skinning method 'cubic'.*linear, dual_quaternion, contour"):
        make_skinning("cubic", *arm, skeleton)
    for name in SKINNING:
        assert make_skinning(name, *arm, skeleton).apply(np.zeros((5, 4, 4))).tobytes() == arm[0].tobytes()
