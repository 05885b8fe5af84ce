"""Which skin follows which muscle found in it, and how much.

Text 001, "Skin Deformation": where the skin is muscular the muscles have the dominating weight, where it is
smooth none. A vertex is told by its place in the nearest section of a muscle: how far it lies outside the
ellipse, which touches the skin where the muscle shows, and on which side of it. The weight is one up to
`OVER` and falls smoothly to zero at `AWAY`, in half-thicknesses of the muscle, so that a broad flat one does
not reach further than a round one; it fades out beyond the first and the last ring, and behind the muscle,
which is the far side of a thin limb. Only places count, no normals: small features of the skin are moved as a
whole. Then the weights are evened over the skin's edges, so that a coarse skin has no steps either.

Along the muscle the weight is shared between the two muscle joints a vertex lies between. Muscle joints take
weight from the joint they hang on alone, so where that has none, they have none.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ecorche.base.mesh import coincident_groups
from ecorche.base.smooth_step import smooth_step
from ecorche.muscles.lofted_posing import Lofts
from ecorche.muscles.posed_lofts import PosedLofts
from ecorche.skin.hybrid_weights import MuscleWeights
from ecorche.skin.weights import SkinWeights

Floats = npt.NDArray[np.float64]

OVER, AWAY = 0.1, 1.3
"""Skin up to the first distance from a muscle is wholly over it, from the second on beside it."""
FADE = 0.3
"""Share of a muscle's length over which its weight fades at either end."""
BEHIND, BEFORE = -0.6, 0.0
"""Cosine of the angle round the ellipse from the side that is towards the skin: none, whole."""
EVENED = 3
"""How often every weight is brought half-way to the mean of those beside it."""
SLIGHT = 0.01
"""Taken off every weight after that, and the rest made up for: what is next to nothing would cost time."""
LEAST_CARRIED = 0.03
"""A joint with a smaller share of the skin over a muscle carries no muscle joints."""
STATIONS = 33
"""Places along a muscle between which a vertex is put."""


@dataclass(frozen=True, eq=False, repr=False)
class SkinOver:
    """The skin over M muscles found in it.

    Attributes:
        place: Where along each muscle every vertex lies, share of its length, (M, V).
        weight: How much of every vertex follows each muscle, 0 to 1, (M, V).
    """

    place: Floats
    weight: Floats


def skin_over(
    points: npt.ArrayLike, triangles: npt.ArrayLike, lofts: Lofts, painted: Mapping[int, Floats]
) -> SkinOver:
    """Which skin lies over which muscle.

    Args:
        points: The skin at bind [m], shape (V, 3).
        triangles: Its triangles, shape (T, 3).
        lofts: The muscles.
        painted: Weights (V,) by muscle, in place of those found.
    """
    skin = np.asarray(points, np.float64)
    evened = _Evening(skin, np.asarray(triangles))
    still = lofts.posed(np.zeros((lofts.curves.joint_count, 4, 4)))
    count = len(lofts.muscles)
    found = SkinOver(np.zeros((count, len(skin))), np.zeros((count, len(skin))))
    for muscle in range(count):
        sections = _Sections(still, muscle)
        wanted = painted[muscle] if muscle in painted else evened(sections.weights(skin))
        moved = np.flatnonzero(wanted > 0.0)
        found.weight[muscle] = wanted
        found.place[muscle, moved] = sections.places(skin[moved])[0]
    return found


def carriers(over: SkinOver, weights: SkinWeights, lofts: Lofts) -> list[tuple[int, ...]]:
    """The joints that carry the skin over each muscle, of those it may move: each has muscle joints.

    A joint that has less than `LEAST_CARRIED` of the skin over a muscle is left out.
    """
    found = []
    vertex = np.repeat(np.arange(weights.vertex_count), np.diff(weights.starts))
    for muscle, wanted in zip(lofts.muscles, over.weight, strict=True):
        carried = np.bincount(weights.joints, weights.weights * wanted[vertex], lofts.curves.joint_count)
        enough = LEAST_CARRIED * carried.sum()
        mine = [joint for joint in muscle.reach if carried[joint] > enough]
        found.append(tuple(mine) or (muscle.carrier,))
    return found


def loft_weights(over: SkinOver, lofts: Lofts) -> MuscleWeights:
    """What the muscle joints of lofts take of each vertex of a skin."""
    vertices, joints = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    weights = [np.zeros(0)]
    for muscle, (u, wanted) in enumerate(zip(over.place, over.weight, strict=True)):
        moved = np.flatnonzero(wanted > 0.0)
        for joint, share in _between_joints(lofts, muscle, u[moved]):
            has = share > 0.0
            vertices.append(moved[has])
            joints.append(np.full(int(has.sum()), joint, np.int64))
            weights.append((wanted[moved] * share)[has])
    entries = np.concatenate(vertices), np.concatenate(joints), np.concatenate(weights)
    return MuscleWeights(*entries, from_parent=True)


class _Sections:
    """Sections of one muscle at bind, close to one another."""

    def __init__(self, still: PosedLofts, muscle: int) -> None:
        self._stations = np.linspace(0.0, 1.0, STATIONS)[1:-1]  # the ends have no section
        self._axes, self._stretch, centre = still.sections(muscle, self._stations)
        self._middle = self._axes.points + centre[:, :1] * self._axes.out + centre[:, 1:] * self._axes.side
        knots = still.lofts.shapes[muscle].knots
        self._begins = max(knots[1] - 0.5 * FADE, 0.0)
        self._ends = min(knots[-2] + 0.5 * FADE, 1.0)

    def weights(self, skin: Floats) -> Floats:
        """How much every vertex (V, 3) is over the muscle, (V,)."""
        reach = (1.0 + AWAY) * float(np.linalg.norm(self._stretch, ord=2, axis=(1, 2)).max())
        low, high = self._middle.min(axis=0) - reach, self._middle.max(axis=0) + reach
        near = np.flatnonzero(((skin >= low) & (skin <= high)).all(axis=1))
        found = np.zeros(len(skin))
        if len(near):
            found[near] = self._weights(skin[near])
        return found

    def _weights(self, skin: Floats) -> Floats:
        u, before, share = self.places(skin)

        def between(values: Floats) -> Floats:
            part = share.reshape(-1, *(1,) * (values.ndim - 1))
            return np.asarray((1.0 - part) * values[before] + part * values[before + 1])

        away = skin - between(self._middle)
        axes = between(self._axes.out), between(self._axes.side)
        flat = np.stack([(away * axis).sum(axis=1) for axis in axes], axis=1)
        form = between(self._stretch)
        on_circle = np.linalg.solve(form, flat[..., None])[..., 0]
        radius = np.maximum(np.linalg.norm(on_circle, axis=1), 1e-9)
        thickness = np.linalg.eigvalsh(form)[:, 0]
        outside = (1.0 - 1.0 / radius) * np.linalg.norm(flat, axis=1) / thickness
        beside = 1.0 - smooth_step((outside - OVER) / (AWAY - OVER))
        # well inside the ellipse there are no sides
        towards_skin = on_circle[:, 0] / np.maximum(radius, 0.3)
        before_it = smooth_step((towards_skin - BEHIND) / (BEFORE - BEHIND))
        along = smooth_step((u - self._begins) / FADE) * smooth_step((self._ends - u) / FADE)
        return np.asarray(beside * before_it * along)

    def places(self, skin: Floats) -> tuple[Floats, npt.NDArray[np.int64], Floats]:
        """The nearest place on the line of the sections' middles of points (P, 3), each (P,).

        Share of the muscle's length; the section before; and the share of the way to the next.
        """
        middle, stations = self._middle, self._stations
        step = np.diff(middle, axis=0)
        squared = np.maximum((step * step).sum(axis=1), 1e-30)
        share = np.clip(np.einsum("vsk,sk->vs", skin[:, None] - middle[None, :-1], step) / squared, 0.0, 1.0)
        foot = middle[None, :-1] + share[..., None] * step
        nearest = np.argmin(((skin[:, None] - foot) ** 2).sum(axis=2), axis=1)
        part = share[np.arange(len(skin)), nearest]
        u = (1.0 - part) * stations[nearest] + part * stations[nearest + 1]
        return u, nearest, part


class _Evening:
    """Weights of a skin evened over its edges; vertices that are one place have one weight."""

    def __init__(self, points: Floats, triangles: npt.NDArray[np.integer]) -> None:
        from scipy import sparse

        self._place = coincident_groups(points)
        self._count = int(self._place.max(initial=-1)) + 1
        a, b, c = self._place[triangles].reshape(-1, 3).T
        ends = np.concatenate([np.stack(pair) for pair in ((a, b), (b, c), (c, a))], axis=1)
        here, there = np.unique(np.concatenate([ends, ends[::-1]], axis=1), axis=1)
        number = np.maximum(np.bincount(here, minlength=self._count), 1)
        shape = (self._count, self._count)
        self._mean = sparse.csr_matrix((1.0 / number[here], (here, there)), shape)
        self._alone = np.bincount(here, minlength=self._count) == 0
        self._first = np.zeros(self._count, np.int64)
        self._first[self._place[::-1]] = np.arange(len(points))[::-1]

    def __call__(self, weights: Floats) -> Floats:
        """The weights (V,), evened."""
        found = weights[self._first]
        for _ in range(EVENED):
            found = np.where(self._alone, found, 0.5 * (found + self._mean @ found))
        return np.asarray(np.maximum(found - SLIGHT, 0.0)[self._place] / (1.0 - SLIGHT))


def _between_joints(lofts: Lofts, muscle: int, u: Floats) -> list[tuple[int, Floats]]:
    """The muscle joints of a muscle with their shares of vertices at u (V,), for every carrier by itself."""
    found = []
    mine = np.flatnonzero(lofts.joints.muscles == muscle)
    for carrier in dict.fromkeys(lofts.joints.parents[mine].tolist()):
        row = mine[lofts.joints.parents[mine] == carrier]
        places = lofts.joint_places[row]
        for number, joint in enumerate(row.tolist()):
            hat = np.zeros(len(row))
            hat[number] = 1.0
            found.append((joint, np.interp(u, places, hat)))
    return found
