"""Muscle joints posed in the call that skins: the same skin, exact at bind, far away and scaled alike."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from conftest import Figure
from ecorche.base.threads import at_most_threads
from ecorche.base.transforms import compose
from ecorche.body.character import Character
from ecorche.errors import EcorcheError, MeshError
from ecorche.muscles.lofted_posing import Lofts
from ecorche.skeleton.kinematics import difference_from_bind
from ecorche.skin.active import ActiveSkinning
from ecorche.skin.linear import LinearSkinning
from ecorche.skin.weights import SkinWeights
from lofted_arms import Arm, person, random_poses

Floats = npt.NDArray[np.float64]


@pytest.fixture(scope="module")
def man(data: Path) -> Character:
    return person(data / "human" / "male_muscular_cmu_mb.glb")


@pytest.fixture(scope="module")
def lofts(man: Character) -> Lofts:
    muscles = [muscle for side in "rl" for muscle in Arm(man.skeleton, side).muscles]
    return Lofts(muscles, man.skeleton, gains=[1.0, 1.4, 1.0, 1.0])


@pytest.fixture(scope="module")
def skinning(man: Character, lofts: Lofts) -> LinearSkinning:
    """Every vertex on a muscle joint and on a joint of the skeleton."""
    rng, count = np.random.default_rng(5), 4000
    points = man.meshes[0].mesh.points[:count]
    first, joints = man.skeleton.joint_count, len(lofts.joint_places)
    named = np.stack([rng.integers(0, first, count), first + rng.integers(0, joints, count)], axis=1)
    share = rng.random(count)
    weights = np.stack([share, 1.0 - share], axis=1).astype(np.float32)
    starts = np.arange(0, 2 * count + 1, 2, dtype=np.int32)
    return LinearSkinning(points, SkinWeights(starts, named.ravel().astype(np.int32), weights.ravel()))


def _poses(man: Character) -> list[Floats]:
    """Bent ones; far from the origin; with joints that are scaled."""
    poses = list(random_poses(man.skeleton, 30, 0.6))
    far = poses[0].copy()
    far[:, :3, 3] += [30.0, -20.0, 10.0]
    stretched = man.skeleton.bind_local @ compose(np.zeros(3), [0.0, 0.0, 0.0, 1.0], [1.2, 0.8, 1.1])
    return [*poses, far, difference_from_bind(man.skeleton, stretched)]


def test_the_skin_is_that_of_muscle_joints_at_hand(
    man: Character, lofts: Lofts, skinning: LinearSkinning, figure: Figure
) -> None:
    posed = ActiveSkinning(skinning, lofts)
    active, worst = np.linspace(0.0, 1.0, 4), 0.0
    for moved in _poses(man):
        wanted = skinning.apply(lofts.extended(moved, active))
        there = posed.apply(moved, active)
        # a float32 number is so exact where the character is
        worst = max(worst, float(np.abs(there - wanted).max() / max(1.0, np.abs(wanted).max())))
    figure("skin by muscle joints of float32 from that of float64", 1e6 * worst, 3.0, "µm a metre")
    assert worst < 3e-6


def test_bind_is_exact_and_threads_change_nothing(
    man: Character, lofts: Lofts, skinning: LinearSkinning
) -> None:
    posed, still = ActiveSkinning(skinning, lofts), np.zeros((man.skeleton.joint_count, 4, 4))
    points = man.meshes[0].mesh.points[:4000]
    assert posed.apply(still, None).tobytes() == points.tobytes()
    assert posed.apply(still, np.full(4, 0.5)).tobytes() != points.tobytes()
    moved = _poses(man)[0]
    with at_most_threads(1):
        alone = posed.apply(moved, np.full(4, 0.5))
    assert posed.apply(moved, np.full(4, 0.5)).tobytes() == alone.tobytes()


def test_what_cannot_be_is_refused(man: Character, lofts: Lofts, skinning: LinearSkinning) -> None:
    posed, still = ActiveSkinning(skinning, lofts), np.zeros((man.skeleton.joint_count, 4, 4))
    gone = still.copy()
    gone[lofts.muscles[0].joints[0], :3, :3] = -np.eye(3)
    for difference, activation, message in (
        (still[:3], np.ones(4), "do not fit"),
        (still[0], np.ones(4), "do not fit"),
        (still, np.ones(3), "do not fit"),
        (still, np.array([0.0, 1.5, 0.0, 0.0]), "activation"),
        (still, np.array([0.0, np.nan, 0.0, 0.0]), "activation"),
        (gone, np.ones(4), "scaled to nothing"),
        (np.full_like(still, np.nan), np.ones(4), "not a number"),
    ):
        with pytest.raises(EcorcheError, match=message):
            posed.apply(difference, activation)
    with pytest.raises(MeshError, match="with muscles there are"):
        ActiveSkinning(skinning, Lofts(lofts.muscles[:1], man.skeleton))
