"""Where two people of one topology differ: the limbs' vertices, how far they are displaced, and baselines.

*Displaced*: the other is taken to the one's bones (each vertex by its skin weights, bone by bone, so height
and bone lengths are gone); what is left between the two is how far a vertex is displaced.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize
from scipy.stats import rankdata

from ecorche.body.character import Character
from ecorche.skeleton.naming.recognise import recognise

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

LIMBS = ("shoulder", "elbow"), ("elbow", "radiocarpal"), ("hip", "knee"), ("knee", "talocrural")
"""Joints at which the limbs' bones begin and end; the first two are arms."""


@dataclass(frozen=True, eq=False)
class LimbVertices:
    """Vertices of limbs: number, part (0 to 3), distance to the bone [m], position along it, (n,) each."""

    vertices: Ints
    part: Ints
    distance: Floats
    along: Floats


def limb_vertices(character: Character) -> LimbVertices:
    """The vertices that upper arms, forearms, thighs and lower legs move most."""
    body, naming = character.body(), recognise(character.skeleton)
    assert body.weights is not None
    joints, weights = body.weights.padded()
    dominant = joints[np.arange(len(joints)), weights.argmax(axis=1)]
    heads = character.skeleton.bind_world[:, :3, 3]
    rows = []
    for side in "lr":
        for part, names in enumerate(LIMBS):
            start, end = (naming.joint(f"{side}_{name}") for name in names)
            assert start is not None
            assert end is not None
            own = np.flatnonzero(dominant == start)
            bone = heads[end] - heads[start]
            away = body.mesh.points[own].astype(np.float64) - heads[start]
            along = away @ bone / (bone @ bone)
            distance = np.linalg.norm(away - along[:, None] * bone, axis=1)
            rows.append((own, np.full(len(own), part), distance, along))
    return LimbVertices(*(np.concatenate(column) for column in zip(*rows, strict=True)))


def displaced(one: Character, other: Character) -> Floats:
    """How far the other's skin is from the one's once it stands on the one's bones [m], (V, 3)."""
    body = one.body()
    assert body.weights is not None
    joints, weights = body.weights.padded()
    moved = one.skeleton.bind_world @ np.linalg.inv(other.skeleton.bind_world)
    points = np.column_stack([other.body().mesh.points, np.ones(len(joints))])
    expected = np.einsum("vk,vkxy,vy->vx", weights, moved[joints][..., :3, :], points)
    return np.asarray(body.mesh.points - expected, np.float64)


def area_under_curve(score: Floats, true: Bools) -> float:
    """The chance that a true one has a higher score than a false one, equal ones counted half."""
    ranks, count = rankdata(score), int(true.sum())
    return float((ranks[true].sum() - count * (count + 1) / 2) / (count * (len(true) - count)))


def most_displaced(size: Floats) -> Bools:
    """The third of the vertices with the largest size."""
    return np.asarray(size >= np.quantile(size, 2.0 / 3.0))


def regression(features: Floats, true: Bools, asked: Floats) -> Floats:
    """Logistic regression learnt on some rows and asked about others."""
    middle, spread = features.mean(axis=0), features.std(axis=0)
    learnt = np.column_stack([np.ones(len(features)), (features - middle) / spread])

    def loss(w: Floats) -> tuple[float, Floats]:
        z = learnt @ w
        slope = learnt.T @ (1.0 / (1.0 + np.exp(-z)) - true) / len(true) + 2e-4 * w
        return float(np.mean(np.logaddexp(0.0, z) - true * z) + 1e-4 * w @ w), slope

    best = minimize(loss, np.zeros(learnt.shape[1]), jac=True, method="BFGS").x
    return np.asarray(np.column_stack([np.ones(len(asked)), (asked - middle) / spread]) @ best)
