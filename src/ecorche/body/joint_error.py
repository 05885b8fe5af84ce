"""How far muscles as joints are from the muscles they stand for, at the skin, in millimetres.

Told for each budget of influences, because engines differ in how many they read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ecorche.base import transforms
from ecorche.body.as_joints import JointedCharacter, skinned_as
from ecorche.body.compile import skinned_points
from ecorche.body.evaluate import Pose, posed_points
from ecorche.body.frames import PointSet
from ecorche.skeleton.kinematics import difference_from_bind
from ecorche.skeleton.motion import Motion
from ecorche.skin.linear import LinearSkinning

Floats = npt.NDArray[np.float64]

MOVED = 6e-6
"""Vertices that muscles move by more than this share of the character's size in some frame are counted: 10 µm
on a grown person."""
BUDGETS = (4, 8, None)
"""Four and eight influences, and all there are."""


@dataclass(frozen=True, eq=False, repr=False)
class JointError:
    """The distance between the skin by joints and the skin by muscles, over frames.

    Attributes:
        influences: The budget; None for all.
        worst: Of each vertex of all skinned meshes, its largest distance [m], shape (vertices,).
        rms, percentile, largest: Over the vertices that muscles move: root mean square, the distance that 99
            in 100 stay below, and the largest [m].
        displaced: Root mean square and largest of what the muscles themselves do there [m].
    """

    influences: int | None
    worst: Floats
    rms: float
    percentile: float
    largest: float
    displaced: tuple[float, float]

    def __str__(self) -> str:
        budget = "all influences" if self.influences is None else f"{self.influences} influences"
        return (
            f"{budget}: {1e3 * self.rms:.2f} mm rms, 99 % below {1e3 * self.percentile:.2f} mm, at most"
            f" {1e3 * self.largest:.1f} mm; the muscles move that skin by {1e3 * self.displaced[0]:.2f} mm"
            f" rms, {1e3 * self.displaced[1]:.1f} mm at most"
        )


def joint_errors(
    jointed: JointedCharacter,
    motion: Motion,
    poses: Motion,
    *,
    budgets: Sequence[int | None] = BUDGETS,
    activation: Floats | None = None,
) -> tuple[JointError, ...]:
    """The error of each budget over a motion.

    Args:
        jointed: The character with its muscles as joints.
        motion: Over which it is measured, on the character's own skeleton.
        poses: Poses that decide what is folded.
        budgets: How many influences; None for all.
        activation: Of each muscle, (frames, muscles); None takes what the rig says of the motion.
    """
    active = jointed.activation(motion) if activation is None else activation
    used = [number for number, weights in enumerate(jointed.unlimited) if weights is not None]
    players = [_players(jointed, used, budget, poses) for budget in budgets]
    distances: list[list[Floats]] = [[] for _ in budgets]
    displaced: list[Floats] = []
    for local, alpha in zip(motion.local, active, strict=True):
        plain, full = muscled_points(jointed, local, alpha)
        goal = [full[number] for number in used]
        displaced.append(_distances(goal, [plain[number] for number in used]))
        moved = jointed.difference(local, alpha)
        seen = [skinned_as(jointed.character.meshes[number], moved) for number in used]
        for kept, skinnings in zip(distances, players, strict=True):
            shown = [skinning.apply(m) for skinning, m in zip(skinnings, seen, strict=True)]
            kept.append(_distances(shown, goal))
    by_muscles = np.stack(displaced)
    touched = by_muscles.max(axis=0) > least_move(jointed)
    return tuple(
        _summed_up(budget, np.stack(kept), by_muscles, touched)
        for budget, kept in zip(budgets, distances, strict=True)
    )


def least_move(jointed: JointedCharacter) -> float:
    """By how much muscles must move a vertex to be counted [m]."""
    return MOVED * float(np.ptp(jointed.character.meshes[jointed.skin].mesh.points, axis=0).max())


def half_scale_error(jointed: JointedCharacter, motion: Motion) -> float:
    """How far half precision of the joints' scales, as UsdSkel has it, moves the skin at most [m].

    Args:
        jointed: The character with its muscles as joints.
        motion: On its skeleton, muscle joints included.
    """
    skeleton, worst = jointed.character.skeleton, 0.0
    skinned = [mesh for mesh in jointed.character.meshes if mesh.weights is not None]
    players = [LinearSkinning(m.mesh.points, m.weights) for m in skinned if m.weights is not None]
    for local in motion.local:
        translation, turn, scale = transforms.decompose(local)
        coarse = scale.copy()
        count = jointed.body.character.skeleton.joint_count  # a constant scale of limbs is written otherwise
        coarse[count:] = scale[count:].astype(np.float16)
        exact, rounded = (
            difference_from_bind(skeleton, transforms.compose(translation, turn, s)) for s in (scale, coarse)
        )
        for mesh, player in zip(skinned, players, strict=True):
            apart = player.apply(skinned_as(mesh, rounded)) - player.apply(skinned_as(mesh, exact))
            worst = max(worst, float(np.linalg.norm(apart, axis=1).max(initial=0.0)))
    return worst


def _players(
    jointed: JointedCharacter, used: Sequence[int], budget: int | None, poses: Motion
) -> list[LinearSkinning]:
    """Linear skinning of some meshes by a budget of influences."""
    weights = list(jointed.unlimited)
    if budget is not None:
        made = jointed if budget == jointed.influences else jointed.limited(budget, poses)
        weights = [mesh.weights for mesh in made.character.meshes]
    players = []
    for number in used:
        found = weights[number]
        assert found is not None
        players.append(LinearSkinning(jointed.character.meshes[number].mesh.points, found))
    return players


def muscled_points(
    jointed: JointedCharacter, local: Floats, activation: Floats
) -> tuple[tuple[PointSet, ...], tuple[PointSet, ...]]:
    """Points of every mesh [m] in a pose by plain skinning, and as the muscles themselves move them."""
    body = jointed.body
    moved = difference_from_bind(body.character.skeleton, local)
    at_rest = moved if body.lofts is None else body.lofts.at_rest(moved)
    plain = skinned_points(body, at_rest, (None,) * len(jointed.character.meshes))
    return plain, posed_points(body, Pose(local, activation=activation), moved)


def _distances(a: Sequence[PointSet], b: Sequence[PointSet]) -> Floats:
    difference = np.concatenate([*a]).astype(np.float64) - np.concatenate([*b])
    return np.asarray(np.linalg.norm(difference, axis=1))


def _summed_up(
    budget: int | None, distance: Floats, displaced: Floats, touched: npt.NDArray[np.bool_]
) -> JointError:
    if not touched.any():
        return JointError(budget, distance.max(axis=0), 0.0, 0.0, float(distance.max()), (0.0, 0.0))
    there, moved = distance[:, touched], displaced[:, touched]
    return JointError(
        influences=budget,
        worst=distance.max(axis=0),
        rms=float(np.sqrt(np.mean(there**2))),
        percentile=float(np.quantile(there, 0.99)),
        largest=float(distance.max()),
        displaced=(float(np.sqrt(np.mean(moved**2))), float(moved.max())),
    )
