"""Weights on muscle joints: taken from limbs, never more than there is."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecorche.errors import MeshError
from ecorche.skeleton.skeleton import Skeleton
from ecorche.skin.hybrid import HybridSkinning
from ecorche.skin.hybrid_weights import MuscleWeights, hybrid_weights
from ecorche.skin.weights import SkinWeights, weights_from_table

JOINTS, PARENTS = 3, np.array([0, 0, 1, 1, 2])
"""Three joints; five muscle joints that hang on them."""
LIMBS = np.concatenate([np.arange(JOINTS), PARENTS])


def some_weights(rng: np.random.Generator, vertices: int) -> SkinWeights:
    table = rng.dirichlet(np.ones(JOINTS), vertices)
    return weights_from_table(np.tile(np.arange(JOINTS), (vertices, 1)), table, JOINTS, "test")


def taken(rng: np.random.Generator, vertices: int, *, from_parent: bool) -> MuscleWeights:
    amounts = rng.uniform(0.0, 0.6, (vertices, len(PARENTS)))
    vertex, joint = np.nonzero(amounts > 0.2)
    return MuscleWeights(vertex, joint, amounts[vertex, joint], from_parent)


def dense(weights: SkinWeights, joints: int) -> np.ndarray:
    table = np.zeros((weights.vertex_count, joints))
    table[np.repeat(np.arange(weights.vertex_count), np.diff(weights.starts)), weights.joints] = (
        weights.weights
    )
    return table


@given(st.integers(0, 40))
def test_a_limb_keeps_its_weight_with_its_muscle_joints(seed: int) -> None:
    rng = np.random.default_rng(seed)
    plain = some_weights(rng, 30)
    found = dense(hybrid_weights(plain, taken(rng, 30, from_parent=True), PARENTS, JOINTS), len(LIMBS))
    np.testing.assert_allclose(found.sum(axis=1), 1.0, atol=1e-6)
    assert (found >= 0.0).all()
    of_limb = np.stack([found[:, limb == LIMBS].sum(axis=1) for limb in range(JOINTS)], axis=1)
    np.testing.assert_allclose(of_limb, dense(plain, JOINTS), atol=3e-5)


@given(st.integers(0, 40))
def test_taken_from_all_joints_alike_their_proportions_stay(seed: int) -> None:
    rng = np.random.default_rng(seed)
    plain = some_weights(rng, 30)
    found = dense(hybrid_weights(plain, taken(rng, 30, from_parent=False), PARENTS, JOINTS), len(LIMBS))
    np.testing.assert_allclose(found.sum(axis=1), 1.0, atol=1e-6)
    left = found[:, :JOINTS].sum(axis=1)
    some = left > 1e-2
    np.testing.assert_allclose(found[some, :JOINTS] / left[some, None], dense(plain, JOINTS)[some], atol=2e-3)


@pytest.mark.parametrize("method", ["linear", "dual_quaternion", "contour"])
@pytest.mark.parametrize("from_parent", [True, False])
def test_hybrid_skinning_is_exact_at_bind_and_agrees_between_methods(method: str, from_parent: bool) -> None:
    rng = np.random.default_rng(2)
    points = rng.normal(size=(50, 3)).astype(np.float32)
    points[0, 0] = -0.0
    local = np.tile(np.eye(4), (JOINTS, 1, 1))
    local[1:, 1, 3] = 0.5
    skeleton = Skeleton(
        ("a", "b", "c"), np.array([-1, 0, 1], np.int32), local, local, np.full((JOINTS, 3), np.nan)
    )
    plain, muscles = some_weights(rng, 50), taken(rng, 50, from_parent=from_parent)
    skinning = HybridSkinning(points, plain, muscles, PARENTS, skeleton, method)
    still = np.zeros((len(LIMBS), 4, 4))
    assert skinning.apply(still).tobytes() == points.tobytes()
    # limbs that only travel: every method skins them alike, so what muscle joints do is linear skinning's
    moved = still.copy()
    moved[:, :3, 3] = [0.1, 0.2, 0.3]
    moved[JOINTS:, :3, :] += rng.normal(0.0, 0.1, (len(PARENTS), 3, 4))
    linear = HybridSkinning(points, plain, muscles, PARENTS, skeleton)
    np.testing.assert_allclose(skinning.apply(moved), linear.apply(moved), atol=2e-4)
    with pytest.raises(MeshError, match="shape"):
        skinning.apply(still[:-1])
