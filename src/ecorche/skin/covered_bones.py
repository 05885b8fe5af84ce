"""Bones that stay beneath the skin: where one would come out, the skin is lifted over it.

Skin keeps its distance to bones along rays of its own vertices (`height_field`). At a joint that bends far it
slides over a bone by centimetres, and where the bone's tip is narrower than the skin is finely divided, as
the point of a dog's elbow is, no ray meets it; nor does one where skin is gathered in the crease. So places
of the bones look out as well, each along the normal that the skin over it has at bind, turned with the bone.
Where the skin they meet covers them by less than they are due, it is lifted. A place is due half of what
covers it at bind, and not more than some millimetres, so at bind, and near it, nothing moves.

Each place asks for a bump round the point where it meets the skin. Where bumps overlap the skin takes

    u = Σ aᵢᵖ aᵢ / Σ aᵢᵖ,

a mean in which large ones count most: never more than the largest asks for, and without a jolt where another
place becomes the one that asks most. Bumps are measured on the skin at bind, so that what lies across a
crease is not lifted too. As the skin is coarse and curved, something is left, and it is looked again.

What a place meets in a deep fold, where skin lies over skin, may still change at once; like all that moves
skin along its normals, this is filtered in time (`time_filter`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit, prange

import ecorche.base.threads  # noqa: F401  settings that must precede the first parallel kernel
from ecorche.base.ray_tree import RayTree, allowed_parts
from ecorche.base.smooth_step import smooth_step
from ecorche.skin.bone_places import DEEPEST, FREE, apart, held_places, looking_out
from ecorche.skin.two_rings import TwoRings
from ecorche.skin.weights import SkinWeights

Floats = npt.NDArray[np.float64]
Points = npt.NDArray[np.float32]
Singles = npt.NDArray[np.float32]
Ints = npt.NDArray[np.integer[Any]]

_COVER, _OF_BIND = 0.003, 0.5
"""How much skin over it a place is due, at most [m], and as a share of what it has at bind; for a human of
usual size, as all lengths here."""
_SLIDES = 0.05
"""How far from a place at bind the skin is that it may meet, at most [m]; and how far out it looks for skin
that covers it."""
_STILL = 0.5
"""A place does not look out while the skin over it has moved on the bone by less than this share of what it
is covered more than it is due."""
_REACH = 0.02
"""How far out of the skin a place may be [m]."""
_SPAN = 0.025
"""Radius of a bump [m]."""
_PASSES = 3
"""How often it is looked what is covered too little."""
_POWER = 4
"""p above."""
_FADES, _EDGE, _SAME = 0.3, 0.3, 0.5
"""The last share of a reach in which what is found there counts less and less; the cosine between a place's
direction and the skin's normal below which; and that between two normals of the skin at bind below which one
place of it is lifted less with the other."""


class CoveredBones:
    """One skin and the bones beneath it.

    Args:
        points, normals: Of the skin at bind [m] and unit, (vertices, 3).
        triangles: Its triangles, outwards, (triangles, 3).
        rings: Its vertices' neighbours.
        weights: Of its joints.
        bones: Points of the bones at bind [m], (points, 3).
        bone_triangles: Theirs, (n, 3).
        joints: That each of these points goes with, (points,).
        gives: How much of what is asked for each vertex of the skin is lifted, 0 to 1, (vertices,).
        scale: How many times as large as a human the body is.

    Attributes:
        places: Numbers of the points that look out, (places,).
    """

    def __init__(
        self,
        points: Points,
        normals: Points,
        triangles: npt.ArrayLike,
        rings: TwoRings,
        weights: SkinWeights,
        bones: npt.ArrayLike,
        bone_triangles: npt.ArrayLike,
        joints: npt.ArrayLike,
        *,
        gives: Singles,
        scale: float = 1.0,
    ) -> None:
        speaker, at, of = rings.speakers(), np.asarray(bones, np.float64), np.asarray(joints, np.int64)
        self._scale, self._place_count = scale, rings.place_count
        skin, up, shown = points[speaker], normals[speaker], gives[speaker].astype(np.float64)
        corners = rings.place[np.asarray(triangles)].astype(np.int32)
        places, out, over = looking_out(skin, up, corners, shown, at, np.asarray(bone_triangles), of, scale)
        free = ~held_places(skin, weights, speaker, at[places], of[places], _SLIDES * scale)
        places, out, over = places[free], out[free], over[free]
        # skin that no place may ever meet is left out
        met = apart(skin, at[places]) < _SLIDES * scale
        met[over] = True
        faces = corners[met[corners].any(axis=1)]
        self._rows = np.unique(faces)
        self._vertices = speaker[self._rows]
        self._triangles = np.searchsorted(self._rows, faces).astype(np.int32)
        self._bind = np.ascontiguousarray(skin[self._rows]), np.ascontiguousarray(up[self._rows])
        self._gives, self._part = shown[self._rows], weights.strongest()[self._vertices]
        self.places, self._out, self._joint, self._due = places, out, of[places], np.zeros(len(places))
        self._over, self._slack = np.searchsorted(self._rows, over), np.zeros(len(places))
        self._remembered = np.full(len(places), -1, np.int32)
        if not len(places):
            return
        may = np.zeros((len(places), int(self._part.max()) + 1), np.bool_)
        for number in np.unique(self._part).tolist():
            may[:, number] = apart(at[places], self._bind[0][self._part == number]) < _SLIDES * scale
        self._may = allowed_parts(may)
        self._tree = RayTree(self._bind[0], self._triangles, self._part[self._triangles[:, 0]])
        far = np.full(len(places), 2.0 * DEEPEST * scale)
        above, sure, _, _ = self._meet(np.arange(len(places)), *self._bind, at[places], out, far)
        self._due = np.minimum(_COVER * scale, -_OF_BIND * above)
        self._slack = -_STILL * (above + self._due)
        rows = np.flatnonzero((above < 0.0) & (sure > 0.0))
        # in a mouth or an ear, where skin lies over skin, some would ask for more than they have
        rows = np.delete(rows, self._asking(rows, *self._bind, at[places[rows]], out[rows])[0])
        for name in ("places", "_out", "_joint", "_due", "_over", "_slack", "_may", "_remembered"):
            setattr(self, name, getattr(self, name)[rows])

    def __repr__(self) -> str:
        return f"CoveredBones({len(self.places)} places)"

    def lifted(self, skin: Points, normals: Points, bones: npt.ArrayLike, moved: Floats) -> Singles:
        """How far each place of the skin is lifted along its normal [m], (places of the skin,).

        Args:
            skin: Where it is in a pose [m], (vertices, 3).
            normals: Along which it is lifted, unit, (vertices, 3).
            bones: Where the places of bones are that look out [m], (places, 3).
            moved: ``M − I`` of the joints, (joints, 4, 4).
        """
        found = np.zeros(self._place_count, np.float32)
        if not len(self.places):
            return found
        start, up = skin.take(self._vertices, axis=0), normals.take(self._vertices, axis=0)
        rows = _loose(start, self._bind[0], self._over, self._joint, moved, self._slack)
        at, out = np.asarray(bones, np.float64)[rows], self._out[rows]
        out = out + np.einsum("nij,nj->ni", moved[self._joint[rows], :3, :3], out)
        now, total = start, np.zeros(len(start), np.float32)
        self._tree.fit(now)
        for _ in range(_PASSES):
            asking, by, where, way = self._asking(rows, now, up, at, out)
            if not len(asking):
                break
            rows, at, out = rows[asking], at[asking], out[asking]
            more = self._bumps(rows, up, by, where, way, out)
            total += more
            now = start + total[:, None] * up
            self._tree.fit(now, more != 0.0)
        found[self._rows] = total
        return found

    def _asking(
        self, rows: Ints, skin: Points, up: Points, at: Floats, out: Floats
    ) -> tuple[Ints, Floats, Floats, Floats]:
        """Which of some places ask for skin to be lifted, how far [m], and where, see `_meet`."""
        due = self._due[rows]
        above, sure, where, way = self._meet(rows, skin, up, at, out, due)
        by = sure * _ramp(above + due, due)
        some = np.flatnonzero(by > 0.0)
        bare = self._bare(skin, at[some] + np.maximum(-above[some], 0.0)[:, None] * out[some], out[some])
        some, by = some[bare > 0.0], (bare * by[some])[bare > 0.0]
        return some, by, where[some], way[some]

    def _meet(
        self, rows: Ints, skin: Points, up: Points, at: Floats, out: Floats, ahead: Floats
    ) -> tuple[Floats, Floats, Floats, Floats]:
        """How far some places are out of the skin they look through [m], and how sure that is, (n,), (n,).

        It is looked for from so far ahead of them [m] inwards. And where on the skin at bind that is [m], and
        its normal there, (n, 3), (n, 3).
        """
        remembered, reach = self._remembered[rows], _REACH * self._scale
        hits = self._tree.cast(
            (at + ahead[:, None] * out).astype(np.float32), -out.astype(np.float32),
            (ahead + reach).astype(np.float32), facing=True, allowed=self._may[rows], remembered=remembered,
        )  # fmt: skip
        self._remembered[rows] = remembered
        above, sure = np.where(hits.triangles >= 0, hits.distances, 0.0) - ahead, np.zeros(len(rows))
        where, way = np.zeros((len(rows), 3)), np.zeros((len(rows), 3))
        _meet(hits.triangles, self._triangles, skin, up, *self._bind, at, out, reach, above, sure, where, way)
        return above, sure, where, way

    def _bare(self, skin: Points, at: Floats, out: Floats) -> Floats:
        """How far no skin is over some places, 0 to 1, (n,): under other skin nothing needs to be covered."""
        reach, way = _SLIDES * self._scale, out.astype(np.float32)
        far = np.full(len(at), reach, np.float32)
        hits = self._tree.cast((at + FREE * self._scale * out).astype(np.float32), way, far)
        corners = skin[self._triangles[hits.triangles]]
        front = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        over = (hits.triangles >= 0) & (np.einsum("ni,ni->n", front, way) > 0.0)
        away = np.where(over, hits.distances, np.inf) / reach
        return 1.0 - smooth_step((1.0 - away) / _FADES)

    def _bumps(self, rows: Ints, up: Points, by: Floats, where: Floats, way: Floats, out: Floats) -> Singles:
        """How far the skin is lifted [m] for some places that ask for it, (n,)."""
        # those that go with one joint lie together: skin that is far from all of them asks none
        firsts = np.append(np.unique(self._joint[rows], return_index=True)[1], len(rows))
        lifted = np.zeros(len(up), np.float32)
        _bumps(
            *self._bind, up, self._gives, self._part, self._may[rows], firsts, by, where, way, out,
            _SPAN * self._scale, lifted,
        )  # fmt: skip
        return lifted


def _ramp(over: Floats, due: Floats) -> Floats:
    """How far a place asks for skin to be lifted [m], by how much less than it is due it is covered."""
    over = np.maximum(over, 0.0)
    return np.where(over < due, over * over / np.maximum(2.0 * due, 1e-12), over - 0.5 * due)


@njit(forceinline=True)  # type: ignore[untyped-decorator]
def _smooth(x: float) -> float:
    x = min(max(x, 0.0), 1.0)
    return x * x * (3.0 - 2.0 * x)


@njit(cache=True)  # type: ignore[untyped-decorator]
def _loose(skin: Points, bind: Points, over: Ints, joint: Ints, moved: Floats, slack: Floats) -> Ints:
    """Places over which a corner of the skin has moved on their bone by more than its slack [m]."""
    found, many = np.empty(len(over), np.int64), 0
    for row in range(len(over)):
        m, most = moved[joint[row]], 0.0
        for k in range(3):
            corner, square = over[row, k], 0.0
            for axis in range(3):
                held = np.float64(bind[corner, axis]) + m[axis, 3]
                for i in range(3):
                    held += m[axis, i] * bind[corner, i]
                square += (skin[corner, axis] - held) ** 2
            most = max(most, square)
        if most > slack[row] * slack[row]:
            found[many] = row
            many += 1
    return found[:many]


@njit(cache=True, error_model="numpy")  # type: ignore[untyped-decorator]
def _meet(
    hit: Ints,
    triangles: Ints,
    skin: Points,
    up: Points,
    bind: Points,
    bind_up: Points,
    at: Floats,
    out: Floats,
    reach: float,
    above: Floats,
    sure: Floats,
    where: Floats,
    way: Floats,
) -> None:
    """Where rays hit the skin, see `CoveredBones._meet`; of those that do not, nothing is sure."""
    share, here = np.empty(3), np.empty(3)
    for row in range(len(hit)):
        if hit[row] < 0:
            continue
        corner = triangles[hit[row]]
        here[:] = at[row] - above[row] * out[row]
        # weights of the corners: areas that the point cuts the triangle into, seen along the ray
        for k in range(3):
            a, b = corner[(k + 1) % 3], corner[(k + 2) % 3]
            px, py, pz = skin[a, 0] - here[0], skin[a, 1] - here[1], skin[a, 2] - here[2]
            qx, qy, qz = skin[b, 0] - here[0], skin[b, 1] - here[1], skin[b, 2] - here[2]
            area = (py * qz - pz * qy) * out[row, 0] + (pz * qx - px * qz) * out[row, 1]
            share[k] = max(area + (px * qy - py * qx) * out[row, 2], 0.0)
        share /= max(share.sum(), 1e-300)
        here[:] = 0.0
        for axis in range(3):
            for k in range(3):
                here[axis] += share[k] * up[corner[k], axis]
                where[row, axis] += share[k] * bind[corner[k], axis]
                way[row, axis] += share[k] * bind_up[corner[k], axis]
        facing = np.sum(here * out[row]) / max(np.sqrt(np.sum(here**2)), 1e-12)
        way[row] /= max(np.sqrt(np.sum(way[row] ** 2)), 1e-12)
        sure[row] = _smooth(facing / _EDGE) * _smooth((1.0 - above[row] / reach) / _FADES)


@njit(parallel=True, cache=True, error_model="numpy")  # type: ignore[untyped-decorator]
def _bumps(
    bind: Points,
    bind_up: Points,
    up: Points,
    gives: Floats,
    part: Ints,
    may: npt.NDArray[np.uint64],
    firsts: Ints,
    by: Floats,
    where: Floats,
    way: Floats,
    out: Floats,
    span: float,
    lifted: Singles,
) -> None:
    """How far each vertex is lifted by what places round it ask for; those of a joint from first to first."""
    groups = len(firsts) - 1
    low, high = np.full((groups, 3), np.inf), np.full((groups, 3), -np.inf)
    for group in range(groups):
        for row in range(firsts[group], firsts[group + 1]):
            for axis in range(3):
                low[group, axis] = min(low[group, axis], where[row, axis] - span)
                high[group, axis] = max(high[group, axis], where[row, axis] + span)
    for vertex in prange(len(bind)):
        x, y, z = bind[vertex, 0], bind[vertex, 1], bind[vertex, 2]
        word, bit = part[vertex] // 64, np.uint64(part[vertex] % 64)
        total, most = 0.0, 0.0
        for group in range(groups):
            if (
                gives[vertex] == 0.0
                or not low[group, 0] < x < high[group, 0]
                or not low[group, 1] < y < high[group, 1]
                or not low[group, 2] < z < high[group, 2]
            ):
                continue
            for row in range(firsts[group], firsts[group + 1]):
                dx, dy, dz = x - where[row, 0], y - where[row, 1], z - where[row, 2]
                near = 1.0 - (dx * dx + dy * dy + dz * dz) / (span * span)
                if near <= 0.0 or not (may[row, word] >> bit) & np.uint64(1):
                    continue
                same, along = 0.0, 0.0
                for axis in range(3):
                    same += way[row, axis] * bind_up[vertex, axis]
                    along += out[row, axis] * up[vertex, axis]
                asked = by[row] * near * near * _smooth(same / _SAME) * _smooth(along / _EDGE)
                total += asked**_POWER
                most += asked ** (_POWER + 1)
        if total > 0.0:
            lifted[vertex] = gives[vertex] * most / total
