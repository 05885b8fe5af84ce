"""Where a limb folds at a hinge its halves meet in a plane through the joint and the line where they touch.

With ``back`` and ``on`` the unit directions of both bones from the joint, and their skin at the distances d₁
and d₂ from them in the crook, that line is in the direction ``d₁ on + d₂ back``: of halves that are as thick
as each other the plane halves the angle between them, else it leans towards the thinner one. Skin of the
upper arm that would be on the forearm's side of that plane is laid onto it, and the other way
round: both press each other flat and the crease is clean. Only skin in the crook is laid so, from some angle
on, and the more the clearer it belongs to one half; on the outer side of the joint nothing meets. The volume
that is pressed in comes out beside (`keep_volume`).
"""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit, prange

from ecorche.base.rotations import normalise
from ecorche.base.smooth_step import smooth_step
from ecorche.base.threads import threads_for
from ecorche.skeleton.skeleton import Skeleton
from ecorche.skin.limb_segments import LimbSegment, limb_joints
from ecorche.skin.limb_thickness import COLUMNS, thickness_round, thickness_towards
from ecorche.skin.weights import SkinWeights

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

BEGINS, AFTER_BIND, GROWS = np.radians(50.0), np.radians(15.0), np.radians(50.0)
"""From which bend on halves meet, but not before so much more than at bind, and over how much more bend they
come to do so wholly [rad]."""
_CLEARLY = 0.2
"""By how much more weight one half must have than the other for skin to belong to it clearly."""
_NEAR = 0.35
"""How far from the joint, as a share of the bone's length, the thickness of its halves is measured."""
_UP = 0.5
"""How far up the trunk belly folds over thigh, as a share of the thigh's length."""
_FROM_MIDDLE = 0.8
"""After which share of the way from the body's middle to a hip it folds wholly; in the middle not at all."""
_WITHIN = 0.008
"""How far inside the crook, from the joint on, skin begins to be laid onto the plane [m]; and how far before
the plane it begins to give way."""
_HELD = 4.0
"""How far before the plane skin is held by it, in the lengths above."""
# columns of a fold's plane in a pose: how far halves meet, where the joint is, the plane's normal, and into
# the crook
_SHARE, _HEAD, _ACROSS, _INTO, _PLANE = 0, 1, 4, 7, 10


@dataclass(frozen=True, eq=False, repr=False)
class Fold:
    """Skin that folds at a joint.

    Attributes:
        joint: Its number.
        before: From the joint back to the middle of the half before it, at bind, unit, (3,); the joint above
            turns it.
        behind: From the joint on along the half behind it, at bind, unit, (3,).
        thickness: Of both halves, see `thickness_round`, (2, COLUMNS).
        vertices: Of the skin, (n,).
        sides: −1 of the half before the joint to 1 of that behind, 0 for skin that does not fold, (n,).
    """

    joint: int
    before: Floats
    behind: Floats
    thickness: Floats
    vertices: Ints
    sides: Floats


def limb_folds(
    points: npt.ArrayLike, segments: Iterable[LimbSegment], weights: SkinWeights, skeleton: Skeleton
) -> list[Fold]:
    """Folds at elbows and knees of a skin at bind [m], (vertices, 3), by its limbs: see `limb_segments`."""
    heads, tips, found = skeleton.bind_world[:, :3, 3], skeleton.tail_positions(), []
    at = np.asarray(points, np.float64)
    for segment in segments:
        joint, own = segment.joint, segment.vertices
        head, sides = heads[joint], _sides(weights, limb_joints(skeleton, joint)[1])[own]
        back, on = heads[skeleton.parents[joint]] - head, tips[joint] - head
        thickness = _thickness(at[own], sides, head, back, on)
        found.append(Fold(joint, normalise(back), normalise(on), thickness, own, sides))
    return found


def hip_folds(
    points: npt.ArrayLike, weights: SkinWeights, skeleton: Skeleton, hips: Iterable[int], chest: int
) -> list[Fold]:
    """Folds between thighs and belly.

    Each reaches as far up the trunk as half a thigh is long, and to the middle of the body.

    Args:
        points: The skin at bind [m], (vertices, 3).
        weights: Of the skin.
        skeleton: It hangs on.
        hips: Joints.
        chest: A joint up the trunk.
    """
    at, heads, tips = np.asarray(points, np.float64), skeleton.bind_world[:, :3, 3], skeleton.tail_positions()
    each, found = list(hips), []
    middle = heads[each].mean(axis=0)
    for hip in each:
        above, thigh = int(skeleton.parents[hip]), limb_joints(skeleton, hip)[1]
        trunk = _line(skeleton, chest, above)
        belongs = np.abs(_sides(weights, thigh | trunk, clearly=1.0)) * (_sides(weights, thigh | trunk) > 0.0)
        length = float(np.linalg.norm(tips[hip] - heads[hip]))
        upwards = normalise(heads[chest] - middle)
        aside = normalise((heads[hip] - middle) - ((heads[hip] - middle) @ upwards) * upwards)
        away = at - heads[hip]
        width = float((heads[hip] - middle) @ aside)
        near = np.asarray(smooth_step((away @ aside + width) / (_FROM_MIDDLE * width)))
        near *= 1.0 - np.clip((away @ upwards / (_UP * length) - 1.0), 0.0, 1.0)
        side = _sides(weights, thigh) * near * np.clip(2.0 * belongs, 0.0, 1.0)
        own, thigh_bone = np.flatnonzero(side != 0.0), tips[hip] - heads[hip]
        thickness = _thickness(at[own], side[own], heads[hip], length * upwards, thigh_bone)
        found.append(Fold(hip, upwards, normalise(thigh_bone), thickness, own, side[own]))
    return found


def _thickness(points: Floats, sides: Floats, head: Floats, back: Floats, on: Floats) -> Floats:
    """Of both halves of a fold near the joint, (2, COLUMNS); ``back`` and ``on`` are as long as the bones."""
    told = []
    for side, bone in ((-1.0, back), (1.0, on)):
        along = (points - head) @ bone / (bone @ bone)
        counts = np.clip(side * sides, 0.0, 1.0) * ((along > 0.0) & (along < _NEAR))
        told.append(thickness_round(points, head, normalise(bone), counts))
    return np.array(told)


def _sides(weights: SkinWeights, joints: set[int], clearly: float = _CLEARLY) -> Floats:
    """From −1 where joints move the skin less than half to 1 where they move it more, (vertices,)."""
    vertex = np.repeat(np.arange(weights.vertex_count), np.diff(weights.starts))
    own = weights.weights * np.isin(weights.joints, list(joints))
    share = np.bincount(vertex, own, weights.vertex_count)
    return np.asarray(np.clip((2.0 * share - 1.0) / clearly, -1.0, 1.0))


def _line(skeleton: Skeleton, joint: int, above: int) -> set[int]:
    """Joints from one up to, and with, another above it; all above where that is not among them."""
    found = {above}
    while joint >= 0 and joint != above:
        found.add(joint)
        joint = int(skeleton.parents[joint])
    return found


class _Sides(NamedTuple):
    """Which halves of which folds vertices belong to, in rows: each gathers what its folds ask for.

    Attributes:
        vertices: Those that fold, rising, (n,).
        starts: Of their rows, (n + 1,).
        folds: Number of each entry's fold, rising in a row, (entries,).
        sides: Of each entry, see `Fold`, (entries,).
    """

    vertices: Ints
    starts: Ints
    folds: Ints
    sides: Floats


def _by_vertex(vertices: Ints, folds: Ints, sides: Floats) -> _Sides:
    """Sides (entries,) of vertices in folds; in any order."""
    order = np.lexsort((folds, vertices))
    own, starts = np.unique(vertices[order], return_index=True)
    return _Sides(own, np.append(starts, len(order)), folds[order], sides[order])


class FoldPlanes:
    """The folds of one skin.

    Args:
        points: The skin at bind [m], (vertices, 3).
        folds: Where it folds.
        skeleton: It hangs on.
        scale: How many times as large as a human it is.
    """

    def __init__(
        self, points: npt.ArrayLike, folds: Iterable[Fold], skeleton: Skeleton, scale: float = 1.0
    ) -> None:
        self._within, self._skin = _WITHIN * scale, np.asarray(points, np.float64)
        each = list(folds)
        self._joints = np.array([fold.joint for fold in each], np.int64)
        self._above = np.asarray(skeleton.parents, np.int64)[self._joints]
        self._heads = skeleton.bind_world[self._joints, :3, 3]
        self._before = np.array([fold.before for fold in each]).reshape(-1, 3)
        self._behind = np.array([fold.behind for fold in each]).reshape(-1, 3)
        self._thickness = np.array([fold.thickness for fold in each]).reshape(-1, 2, COLUMNS)
        bent = np.pi - np.arccos(np.clip(np.sum(self._before * self._behind, axis=1), -1.0, 1.0))
        self._begins = np.maximum(BEGINS, bent + AFTER_BIND)
        self._sides = _by_vertex(
            np.concatenate([np.zeros(0, np.int64), *(fold.vertices for fold in each)]),
            np.repeat(np.arange(len(each)), np.array([len(fold.vertices) for fold in each], np.int64)),
            np.concatenate([np.zeros(0), *(fold.sides for fold in each)]),
        )

    def beneath(self, points: npt.ArrayLike) -> FoldPlanes:
        """The same for points beneath at bind [m], (points, 3): each goes with the skin nearest to it."""
        from scipy.spatial import cKDTree

        return self.going_with(np.asarray(cKDTree(self._skin).query(np.asarray(points, np.float64))[1]))

    def going_with(self, vertices: npt.NDArray[np.integer]) -> FoldPlanes:
        """The same for points each of which folds as a vertex of the skin does, (points,)."""
        own, starts, folds, sides = self._sides
        counts = np.zeros(len(self._skin), np.int64)
        firsts = np.zeros(len(self._skin), np.int64)
        counts[own], firsts[own] = np.diff(starts), starts[:-1]
        many = counts[vertices]
        point = np.repeat(np.arange(len(vertices)), many)
        entry = firsts[vertices][point] + np.arange(len(point)) - (np.cumsum(many) - many)[point]
        found = copy(self)
        found._skin, found._sides = self._skin[vertices], _by_vertex(point, folds[entry], sides[entry])
        return found

    def laid(self, points: npt.NDArray[np.float32], difference: Floats) -> npt.NDArray[np.float32]:
        """How far each vertex is moved [m], (vertices, 3), for ``M − I`` of the joints."""
        moved = np.zeros_like(points)
        self._lay(points, difference, moved)
        return moved

    def held(self, points: npt.NDArray[np.float32], difference: Floats) -> npt.NDArray[np.float32]:
        """How firmly each vertex is held between two halves that meet, 0 to 1, (vertices,).

        Wholly on the plane they meet in, not at all some centimetres before it: what is held does not swing.

        Args:
            points: The skin in a pose, laid [m], (vertices, 3).
            difference: ``M − I`` of the joints.
        """
        planes, found = self._planes(difference), np.zeros(len(points), np.float32)
        if planes[:, _SHARE].any():
            _hold(points, *self._sides, planes, self._within, _HELD * self._within, found)
        return found

    def lay(self, points: npt.NDArray[np.float32], difference: Floats) -> None:
        """Move the vertices [m], (vertices, 3), for ``M − I`` of the joints."""
        self._lay(points, difference, points)

    def _lay(
        self, points: npt.NDArray[np.float32], difference: Floats, moved: npt.NDArray[np.float32]
    ) -> None:
        """Add to ``moved`` how far each vertex is moved; it may be the points themselves."""
        planes = self._planes(difference)
        if planes[:, _SHARE].any():
            with threads_for(len(self._sides.vertices) // 16):
                _lay(points, *self._sides, planes, self._within, moved)

    def _planes(self, difference: Floats) -> Floats:
        """The plane of each fold in a pose, (folds, _PLANE)."""
        planes = np.empty((len(self._joints), _PLANE))
        _stand(
            difference, self._joints, self._above, self._heads, self._before, self._behind, self._thickness,
            self._begins, planes,
        )  # fmt: skip
        return planes


@njit(forceinline=True)  # type: ignore[untyped-decorator]
def _smooth(x: float) -> float:
    x = min(max(x, 0.0), 1.0)
    return x * x * (3.0 - 2.0 * x)


@njit(cache=True)  # type: ignore[untyped-decorator]
def _unit(vector: Floats) -> Any:
    return vector / max(np.sqrt(np.sum(vector * vector)), 1e-12)


@njit(cache=True)  # type: ignore[untyped-decorator]
def _turned(difference: Floats, vector: Floats) -> Any:
    """A vector (3,) as ``M − I`` of a joint turns it."""
    found = vector.copy()
    for i in range(3):
        for k in range(3):
            found[i] += difference[i, k] * vector[k]
    return found


@njit(cache=True)  # type: ignore[untyped-decorator]
def _turned_back(difference: Floats, vector: Floats) -> Any:
    """A vector (3,) before ``M − I`` of a joint turned it."""
    found = vector.copy()
    for i in range(3):
        for k in range(3):
            found[i] += difference[k, i] * vector[k]
    return found


@njit(cache=True)  # type: ignore[untyped-decorator]
def _stand(
    difference: Floats,
    joints: Ints,
    above: Ints,
    heads: Floats,
    before: Floats,
    behind: Floats,
    thickness: Floats,
    begins: Floats,
    planes: Floats,
) -> None:
    """The plane of each fold in a pose, in the columns above."""
    for fold in range(len(joints)):
        joint = joints[fold]
        back = _unit(_turned(difference[above[fold]], before[fold]))
        on = _unit(_turned(difference[joint], behind[fold]))
        bend = np.pi - np.arccos(min(max(np.sum(back * on), -1.0), 1.0))
        planes[fold, _SHARE] = _smooth((bend - begins[fold]) / GROWS)
        planes[fold, _HEAD:_ACROSS] = _turned(difference[joint], heads[fold]) + difference[joint, :3, 3]
        first = thickness_towards(thickness[fold, 0], _turned_back(difference[above[fold]], on))
        second = thickness_towards(thickness[fold, 1], _turned_back(difference[joint], back))
        into = _unit(first * on + second * back)
        planes[fold, _INTO:] = into
        planes[fold, _ACROSS:_INTO] = _unit((on - back) - np.sum((on - back) * into) * into)


@njit(parallel=True, cache=True, error_model="numpy")  # type: ignore[untyped-decorator]
def _lay(
    points: npt.NDArray[np.float32],
    vertices: Ints,
    starts: Ints,
    folds: Ints,
    sides: Floats,
    planes: Floats,
    within: float,
    moved: npt.NDArray[np.float32],
) -> None:
    for row in prange(len(vertices)):
        vertex = vertices[row]
        step_x, step_y, step_z = np.float32(0.0), np.float32(0.0), np.float32(0.0)
        for entry in range(starts[row], starts[row + 1]):
            side, share, plane = sides[entry], planes[folds[entry], _SHARE], planes[folds[entry]]
            if share == 0.0:
                continue
            x = points[vertex, 0] - plane[_HEAD]
            y = points[vertex, 1] - plane[_HEAD + 1]
            z = points[vertex, 2] - plane[_HEAD + 2]
            # beyond the plane is positive for either half
            beyond = -np.sign(side) * (x * plane[_ACROSS] + y * plane[_ACROSS + 1] + z * plane[_ACROSS + 2])
            if beyond <= -within:
                continue
            if beyond < within:  # from as far before the plane to as far behind it, without a jolt
                beyond = (beyond + within) ** 2 / (4.0 * within)
            inner = _smooth((x * plane[_INTO] + y * plane[_INTO + 1] + z * plane[_INTO + 2]) / within)
            step = share * side * inner * beyond
            step_x += np.float32(step * plane[_ACROSS])
            step_y += np.float32(step * plane[_ACROSS + 1])
            step_z += np.float32(step * plane[_ACROSS + 2])
        moved[vertex, 0] += step_x
        moved[vertex, 1] += step_y
        moved[vertex, 2] += step_z


@njit(cache=True, error_model="numpy")  # type: ignore[untyped-decorator]
def _hold(
    points: npt.NDArray[np.float32],
    vertices: Ints,
    starts: Ints,
    folds: Ints,
    sides: Floats,
    planes: Floats,
    within: float,
    reach: float,
    held: npt.NDArray[np.float32],
) -> None:
    for row in range(len(vertices)):
        vertex = vertices[row]
        for entry in range(starts[row], starts[row + 1]):
            side, plane = sides[entry], planes[folds[entry]]
            if plane[_SHARE] == 0.0:
                continue
            x = points[vertex, 0] - plane[_HEAD]
            y = points[vertex, 1] - plane[_HEAD + 1]
            z = points[vertex, 2] - plane[_HEAD + 2]
            beyond = -np.sign(side) * (x * plane[_ACROSS] + y * plane[_ACROSS + 1] + z * plane[_ACROSS + 2])
            inner = _smooth((x * plane[_INTO] + y * plane[_INTO + 1] + z * plane[_INTO + 2]) / within)
            firm = plane[_SHARE] * min(abs(side), 1.0) * inner * _smooth(1.0 + beyond / reach)
            held[vertex] = max(held[vertex], np.float32(firm))
