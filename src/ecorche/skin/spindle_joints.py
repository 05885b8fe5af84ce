"""A template's muscles as joints: what sliding skin does, played by skinning alone.

Text 001, "Skin Deformation", lets joints along a muscle turn and dilate and blends them with the skeleton's.
A joint that rode with the muscle would fight the skin wherever skin is blended between two limbs, by more
than any muscle moves it. So here a muscle joint rides *rigidly with the skeleton's joint it hangs on*, and
there is one for every limb a part of the muscle's skin follows. It takes its weight from that joint: of a
vertex with the weight w_j on joint j, and the share ``W = Σ w² / Σ w`` of its muscles (`sliding`), it takes
``w_j W h``, h a hat along the muscle. With muscle joints at their bind place under their parents the skin is
plain skinning, whatever the pose.

What a muscle joint does beyond that is fitted, a pose at a time. A vertex that sliding skin displaces by d
should be carried by ``d / W``, which is the mean of δ S_d of its muscles. In the frame of the posed parent
and of the joint (x along, y out, z side), with l the vertices' places about their mean and u their
displacements about theirs, all means by weight,

    H = ⟨(l + u) lᵀ⟩ + p I,     R S ≈ H ⟨l lᵀ + p I⟩⁻¹,     S = diag(1, s_y, s_z):

R is the rotation next to ``H S``, ``s = (Rᵀ H)_aa / (⟨l_a²⟩ + p)``, in turns, and the joint moves by the mean
displacement. ``p = PRIOR r²``, r the muscle's greatest half-width, holds a joint with little skin to
no turn and no dilation. At bind d is zero bit for bit, and so is the difference: what rounding leaves of R S
there is subtracted.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
from numba import njit

from ecorche.errors import EcorcheError
from ecorche.muscles.muscle_joints import MuscleJoints
from ecorche.muscles.musculature import Musculature
from ecorche.muscles.sections import Sections
from ecorche.skin.hybrid_weights import MuscleWeights
from ecorche.skin.influence import Influences
from ecorche.skin.layout import Points
from ecorche.skin.sliding import SlidingSkin
from ecorche.skin.weights import SkinWeights

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

JOINTS_PER_MUSCLE = 2
"""At most so many joints along a muscle on each limb that its skin follows."""
VERTICES_PER_JOINT = 4
"""A joint needs at least so many vertices; a muscle with fewer has fewer joints."""
LEAST_LIMB = 0.1
"""A limb that holds less than this of a muscle's skin gets no joint of it."""
PRIOR = 0.02
"""How firmly a joint is held to no turn and no dilation, see above."""
LONGEST_NAME = 60
"""Bytes of a joint's name: Blender keeps 63 of them, and two of one name get a number."""
TURNS = 4
"""So often rotation and dilation are found in turns."""


class SpindleJoints:
    """The joints of a character's spindles, and how its skin hangs on them.

    Args:
        musculature: The muscles.
        influences: Which vertices they move.
        sliding: How they move them.
        skinned: Plain skinned points [m], (vertices, 3) float32, of ``M − I`` of the character's joints.
        points: The skin at bind [m], (vertices, 3).
        weights: Its skin weights.
        joint_count: How many joints the character has.
        joints_per_muscle: At most so many along a muscle on each limb.
    """

    def __init__(
        self,
        musculature: Musculature,
        influences: Influences,
        sliding: SlidingSkin,
        skinned: Callable[[Floats], Points],
        points: npt.NDArray[np.floating],
        weights: SkinWeights,
        joint_count: int,
        *,
        joints_per_muscle: int = JOINTS_PER_MUSCLE,
    ) -> None:
        if joints_per_muscle < 1:
            raise EcorcheError(
                f"{joints_per_muscle} joints a muscle were asked for", remedy="Give one or more"
            )
        self._musculature, self._sliding, self._skinned = musculature, sliding, skinned
        self._plan = musculature.plan(sliding.stations_read)
        still = musculature.sections(np.zeros((joint_count, 4, 4)))
        rows = _joint_rows(influences, weights, joints_per_muscle)
        self._starts, self._vertices, self._weights = rows.starts, rows.vertices, rows.weights
        self._over_share = 1.0 / np.maximum(rows.share, 1e-30)
        where = points[rows.vertices].astype(np.float64)
        joint = np.repeat(np.arange(len(rows.muscles)), np.diff(rows.starts))
        total = np.bincount(joint, rows.weights, minlength=len(rows.muscles))
        self._mean = np.stack(
            [np.bincount(joint, rows.weights * where[:, k], len(total)) / total for k in range(3)], axis=1
        )
        self._prior = PRIOR * still.thickness.max(axis=(1, 2))[rows.muscles] ** 2
        bind = _frames(still, rows.muscles, self._mean)
        self._turn = np.ascontiguousarray(bind[:, :3, :3])
        self._places = np.einsum("eji,ej->ei", self._turn[joint], where - self._mean[joint])
        self.joints = MuscleJoints(
            _names(musculature.names, rows.muscles),
            rows.muscles,
            rows.parents,
            bind,
        )
        self.weights = MuscleWeights(self._vertices, joint, self._weights, from_parent=True)
        self._rest = self._fitted(np.zeros((len(joint), 3)))[0]

    def __repr__(self) -> str:
        return f"SpindleJoints({self.joints})"

    def difference(self, skeleton_difference: Floats, bulge: Floats) -> Floats:
        """``M − I`` of the muscle joints, (K, 4, 4): see `JointedMuscles`."""
        given = np.ascontiguousarray(skeleton_difference, np.float64)
        plain = self._skinned(given)
        packed = self._musculature.packed(self._plan, given, np.ascontiguousarray(bulge, np.float64))
        moved = self._sliding.apply(packed, plain)[self._vertices].astype(np.float64) - plain[self._vertices]
        parent = given[self.joints.parents]
        # into the frame of the posed parent at bind, and then into the joint's own
        to_joint = np.swapaxes(np.linalg.inv(np.eye(3) + parent[:, :3, :3]), -1, -2) @ self._turn
        to_entry = np.repeat(to_joint, np.diff(self._starts), axis=0)
        local = np.einsum("eji,ej->ei", to_entry, moved * self._over_share[:, None])
        linear, shift = self._fitted(local)
        change = np.zeros((len(linear), 4, 4))
        change[:, :3, :3] = self._turn @ (linear - self._rest) @ np.swapaxes(self._turn, -1, -2)
        change[:, :3, 3] = np.einsum("kij,kj->ki", self._turn, shift) - np.einsum(
            "kij,kj->ki", change[:, :3, :3], self._mean
        )
        return parent + change + parent @ change

    def _fitted(self, moved: Floats) -> tuple[Floats, Floats]:
        """R S and the shift of every joint of local displacements (entries, 3)."""
        count = len(self._starts) - 1
        linear, shift = np.empty((count, 3, 3)), np.empty((count, 3))
        _fit(self._starts, self._weights, self._places, moved, self._prior, linear, shift)
        return linear, shift


class _Rows:
    """Entries of muscle joints in rows: joint k owns ``starts[k]`` to ``starts[k+1]``."""

    def __init__(
        self, starts: Ints, vertices: Ints, weights: Floats, share: Floats, muscles: Ints, parents: Ints
    ) -> None:
        self.starts, self.vertices, self.weights, self.share = starts, vertices, weights, share
        self.muscles, self.parents = muscles, parents


def _joint_rows(influences: Influences, weights: SkinWeights, most: int) -> _Rows:
    """Which vertices each muscle joint takes how much of, and from which joint."""
    vertex, w = influences.vertices(), influences.weights.astype(np.float64)
    share = w**2 / np.bincount(vertex, w, influences.vertex_count)[vertex]
    whole = np.bincount(vertex, share, influences.vertex_count)
    # every influence with every joint its vertex follows
    counts = np.diff(weights.starts)[vertex]
    entry = np.repeat(np.arange(len(vertex)), counts)
    within = np.arange(len(entry)) - np.repeat(np.cumsum(counts) - counts, counts)
    own = weights.starts[vertex[entry]] + within
    muscle, limb = influences.muscles[entry].astype(np.int64), weights.joints[own].astype(np.int64)
    taken = share[entry] * weights.weights[own]
    along = influences.t[entry].astype(np.float64)
    of_muscle = np.bincount(muscle, taken)
    rows: list[tuple[Ints, Floats, int, int]] = []
    order = np.lexsort((entry, limb, muscle))
    edges = np.flatnonzero(np.diff(muscle[order]) | np.diff(limb[order])) + 1
    for part in np.split(order, edges) if len(order) else []:
        this, on = int(muscle[part[0]]), int(limb[part[0]])
        if taken[part].sum() >= LEAST_LIMB * of_muscle[this]:
            for hat in _hats(along[part], taken[part], min(most, len(part) // VERTICES_PER_JOINT)):
                used = np.flatnonzero(hat > 0.0)
                rows.append((vertex[entry[part[used]]], taken[part[used]] * hat[used], this, on))
    starts = np.concatenate([[0], np.cumsum([len(v) for v, _, _, _ in rows])]).astype(np.int64)
    vertices = np.concatenate([np.zeros(0, np.int64), *(v for v, _, _, _ in rows)])
    return _Rows(
        starts,
        vertices,
        np.concatenate([np.zeros(0), *(w for _, w, _, _ in rows)]),
        whole[vertices],
        np.array([m for _, _, m, _ in rows], np.int64),
        np.array([p for _, _, _, p in rows], np.int64),
    )


def _hats(along: Floats, weight: Floats, count: int) -> list[Floats]:
    """Hats over places along a muscle that add up to one, each about as much of the weight."""
    count = max(count, 1)
    order = np.argsort(along, kind="stable")
    passed = np.cumsum(weight[order]) - 0.5 * weight[order]
    knots = np.interp((np.arange(count) + 0.5) / count * weight.sum(), passed, along[order])
    knots = np.unique(knots)
    return [np.interp(along, knots, peak) for peak in np.eye(len(knots))]


def _frames(bind: Sections, muscles: Ints, places: Floats) -> Floats:
    """``world_from_joint`` at bind (K, 4, 4): on the muscle's line below a place (K, 3)."""
    frames = np.zeros((len(muscles), 4, 4))
    frames[:, 3, 3] = 1.0
    for number, muscle in enumerate(muscles):
        line = None if bind.lines is None else bind.lines.line_of(int(muscle))
        at = places[number : number + 1]
        if bind.lines is not None and line is not None:
            found = bind.lines.places(line, at, bind.lines.find(line, at))
            foot, out, side = found.foot[0], found.out[0], found.side[0]
        else:
            along = bind.along[muscle]
            foot = bind.origin[muscle] + along * ((at[0] - bind.origin[muscle]) @ along)
            out, side = bind.out[muscle], bind.side[muscle]
        along = np.cross(out, side)
        along /= np.linalg.norm(along)
        frames[number, :3, :3] = np.stack([along, out, np.cross(along, out)], axis=1)
        frames[number, :3, 3] = foot
    return frames


def _names(muscles: tuple[str, ...], muscle: Ints) -> tuple[str, ...]:
    """``"biceps, left, 2"``: the muscle, and the joint's number in it."""
    names: list[str] = []
    so_far = [0] * len(muscles)
    for m in muscle.tolist():
        so_far[m] += 1
        number = f", {so_far[m]}"
        kept = muscles[m].encode()[: LONGEST_NAME - len(number)].decode(errors="ignore")
        names.append(kept + number)
    return tuple(names)


@njit(inline="always")  # type: ignore[untyped-decorator]
def _determinant(m: Floats) -> float:
    """Of a 3 × 3 matrix."""
    return float(
        m[0, 0] * (m[1, 1] * m[2, 2] - m[1, 2] * m[2, 1])
        - m[0, 1] * (m[1, 0] * m[2, 2] - m[1, 2] * m[2, 0])
        + m[0, 2] * (m[1, 0] * m[2, 1] - m[1, 1] * m[2, 0])
    )


@njit(inline="always")  # type: ignore[untyped-decorator]
def _rotation_next_to(h: Floats, r: Floats) -> None:
    """The rotation nearest to a matrix of positive determinant, by Newton's iteration."""
    r[:] = h
    for _ in range(60):
        c = np.empty((3, 3))
        for i in range(3):
            a, b = (i + 1) % 3, (i + 2) % 3
            for j in range(3):
                d, e = (j + 1) % 3, (j + 2) % 3
                c[i, j] = r[a, d] * r[b, e] - r[a, e] * r[b, d]
        det = r[0, 0] * c[0, 0] + r[0, 1] * c[0, 1] + r[0, 2] * c[0, 2]
        # brought to size first, it converges in a few steps from anywhere
        size = np.sqrt(np.sqrt(np.sum(c * c)) / (np.sqrt(np.sum(r * r)) * det))
        change = 0.0
        for i in range(3):
            for j in range(3):
                new = 0.5 * (size * r[i, j] + c[i, j] / (det * size))
                change = max(change, abs(new - r[i, j]))
                r[i, j] = new
        if change < 1e-15:
            break


@njit(cache=True)  # type: ignore[untyped-decorator]
def _fit(
    starts: Ints, weights: Floats, places: Floats, moved: Floats, prior: Floats, linear: Floats, shift: Floats
) -> None:
    for k in range(len(starts) - 1):
        first, last = starts[k], starts[k + 1]
        total = 0.0
        mean = np.zeros(3)
        for e in range(first, last):
            total += weights[e]
            mean += weights[e] * moved[e]
        mean /= total
        rest, change = np.zeros((3, 3)), np.zeros((3, 3))
        for e in range(first, last):
            for i in range(3):
                for j in range(3):
                    rest[i, j] += weights[e] / total * places[e, i] * places[e, j]
                    change[i, j] += weights[e] / total * (moved[e, i] - mean[i]) * places[e, j]
        for i in range(3):
            rest[i, i] += prior[k]
        h = rest + change
        while _determinant(h) <= 1e-3 * _determinant(rest):
            # skin turned inside out: no rotation is next to it. Half as much is the best that can be said
            change *= 0.5
            h = rest + change
        dilation = np.ones(3)
        r = np.empty((3, 3))
        for _ in range(TURNS):
            _rotation_next_to(h * dilation, r)
            for i in range(1, 3):
                along = r[0, i] * h[0, i] + r[1, i] * h[1, i] + r[2, i] * h[2, i]
                dilation[i] = max(along / rest[i, i], 1e-3)
        linear[k] = r * dilation
        shift[k] = mean
