"""At most so many influences a vertex: no other choice moves the skin more nearly as all do."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import LinearConstraint, minimize

from ecorche.body.as_joints import jointed_character, skinned_as
from ecorche.body.sample_poses import sample_poses
from ecorche.errors import MeshError
from ecorche.skin.influence_budget import limited
from ecorche.skin.linear import LinearSkinning
from ecorche.skin.weights import SkinWeights, weights_from_table
from extracted_people import extracted

JOINTS = 7
APART = np.arange(JOINTS)
"""Every joint a limb of its own: more limbs than the budget has influences."""
LIMBS = np.array([0, 1, 2, 0, 0, 1, 2])
"""Three limbs; four muscle joints hang on them."""


def some_weights(rng: np.random.Generator, vertices: int) -> SkinWeights:
    table = rng.dirichlet(np.ones(JOINTS), vertices)
    return weights_from_table(np.tile(np.arange(JOINTS), (vertices, 1)), table, JOINTS, "test")


def poses(rng: np.random.Generator, count: int = 6) -> np.ndarray:
    moved = np.zeros((count, JOINTS, 4, 4))
    moved[:, :, :3] = rng.normal(0.0, 0.3, (count, JOINTS, 3, 4))
    return moved


def dense(weights: SkinWeights) -> np.ndarray:
    joints, table = weights.padded()
    full = np.zeros((weights.vertex_count, JOINTS))
    np.add.at(full, (np.arange(len(joints))[:, None], joints), table)
    return full


def carried(points: np.ndarray, moved: np.ndarray) -> np.ndarray:
    """Where each joint carries each point in all poses, (vertices, joints, 3 · poses)."""
    homogeneous = np.concatenate([points, np.ones((len(points), 1))], axis=1)
    placed = np.einsum("fjab,vb->vjfa", moved[:, :, :3], homogeneous)
    return np.asarray(placed).reshape(len(points), moved.shape[1], -1)


@given(st.integers(0, 20), st.sampled_from([1, 2, 3, 4]))
def test_the_budget_holds_and_nothing_is_lost(seed: int, most: int) -> None:
    rng = np.random.default_rng(seed)
    few = limited(some_weights(rng, 15), most, APART, rng.normal(size=(15, 3)), poses(rng))
    assert np.diff(few.starts).max() <= most
    assert (few.weights >= 0.0).all()
    np.testing.assert_allclose(dense(few).sum(axis=1), 1.0, atol=1e-6)


def test_what_is_within_the_budget_stays_bit_for_bit() -> None:
    rng = np.random.default_rng(1)
    weights = some_weights(rng, 20)
    assert limited(weights, JOINTS, APART, rng.normal(size=(20, 3)), poses(rng)) is weights
    with pytest.raises(MeshError, match="influences"):
        limited(weights, 0, APART, rng.normal(size=(20, 3)), poses(rng))


def test_nearly_all_choices_are_the_best_of_all_and_none_is_far_off() -> None:
    rng = np.random.default_rng(4)
    weights, points, moved = some_weights(rng, 20), rng.normal(size=(20, 3)), poses(rng)
    few, all_of = dense(limited(weights, 3, APART, points, moved)), dense(weights)
    worse = []
    for vertex, where in enumerate(carried(points, moved)):
        goal = all_of[vertex] @ where
        ours = float(np.linalg.norm(few[vertex] @ where - goal))
        best = min(_nearest(where[list(some)] - goal) for some in combinations(range(JOINTS), 3))
        worse.append(ours / best)
    assert min(worse) > 1.0 - 1e-4  # the brute force is no worse than ours
    assert np.mean(np.array(worse) < 1.001) > 0.7
    assert max(worse) < 1.15


def _nearest(away: np.ndarray) -> float:
    """Length of the shortest mean of rows, by a solver of another kind."""
    count = len(away)
    square = away @ away.T
    found = minimize(  # type: ignore[call-overload]
        lambda w: float(w @ square @ w),
        np.full(count, 1.0 / count, np.float64),
        jac=lambda w: np.asarray(2.0 * square @ w),
        bounds=[(0.0, 1.0)] * count,
        constraints=LinearConstraint(np.ones((1, count)), 1.0, 1.0),
        method="SLSQP",
        tol=1e-14,
    )
    return float(np.sqrt(max(found.fun, 0.0)))


@given(st.integers(0, 25), st.sampled_from([3, 4, 5]))
def test_limbs_keep_their_weight_where_the_budget_has_room_for_them(seed: int, most: int) -> None:
    rng = np.random.default_rng(seed)
    weights, points, moved = some_weights(rng, 15), rng.normal(size=(15, 3)), poses(rng)
    few = dense(limited(weights, most, LIMBS, points, moved))
    for limb in range(3):
        of_limb = [w[:, limb == LIMBS].sum(axis=1) for w in (dense(weights), few)]
        np.testing.assert_allclose(of_limb[0], of_limb[1], atol=1e-4)


def test_no_fold_within_a_limb_is_better() -> None:
    rng = np.random.default_rng(4)
    weights, points, moved = some_weights(rng, 12), rng.normal(size=(12, 3)), poses(rng)
    table, few = dense(weights), dense(limited(weights, JOINTS - 1, LIMBS, points, moved))
    for own, kept, where in zip(table, few, carried(points, moved), strict=True):
        folds = [
            np.linalg.norm(own[giver] * (where[taker] - where[giver]))
            for giver in range(JOINTS)
            for taker in range(JOINTS)
            if giver != taker and LIMBS[giver] == LIMBS[taker]
        ]
        assert np.linalg.norm((kept - own) @ where) <= min(folds) * 1.001


def test_joints_that_move_as_one_lose_nothing() -> None:
    rng = np.random.default_rng(7)
    moved = poses(rng)
    moved[:, 3:] = moved[:, 2:3]
    weights, points = some_weights(rng, 10), rng.normal(size=(10, 3))
    few = dense(limited(weights, 3, APART, points, moved))
    where = carried(points, moved)
    lost = np.einsum("vj,vjx->vx", few - dense(weights), where)
    assert np.abs(lost).max() < 1e-5


def test_four_influences_leave_little_of_a_skin_that_follows_eleven(data: Path) -> None:
    """The dog's; 24 mm and 0.8 mm rms were left when the weakest were dropped."""
    character, rig = extracted(data / "dog" / "dog.xml")
    whole = jointed_character(character, rig, influences=None)
    few = whole.limited(4, sample_poses(character, rig, 48, seed=1))
    skins = [made.character.meshes[made.skin] for made in (whole, few)]
    assert skins[1].weights is not None
    assert np.diff(skins[1].weights.starts).max() <= 4
    made = [LinearSkinning(skin.mesh.points, skin.weights) for skin in skins if skin.weights is not None]
    off = []
    for local in sample_poses(character, rig, 24, seed=2, motions=()).local:
        moved = skinned_as(skins[0], whole.difference(local))
        off.append(np.linalg.norm(made[0].apply(moved) - made[1].apply(moved), axis=1))
    assert np.max(off) < 0.013
    assert np.sqrt(np.mean(np.square(off))) < 0.0005
