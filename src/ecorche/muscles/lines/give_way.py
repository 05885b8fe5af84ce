"""Muscles give way to bones that press into them.

A mesh on action lines knows of bones only what bends its lines. Here every vertex that lies deeper in a bone
than it did at bind is moved out and takes its surroundings along: displacements u of a muscle's vertices make

    Σ |uᵢ − uⱼ|² + Σ (a / ℓ)² |uᵢ|²     small, over neighbours and vertices, a being the length of edges,

while no vertex is deeper in bones than at bind, and what a bone holds stays on it. So a dent fades over the
way ℓ. The two sides of a sheet are neighbours too, and a bone pushes it in as a whole. In the first rounds
vertices go only a part of their way: where a bone stands in the midst of a sheet they would leave it by both
sides, and so the greater part of them takes the others along. Of a bone that came from elsewhere, a patch
leaves as a whole by the side on which it lay at bind, see `give_way_sides`. A triangle that would be turned
over in the end goes with the mean of its corners.

Limits: bones that enter each other leave no room for what lies between, which then lies in both, and beside
what is held a muscle cannot give way fully. A sheet that a bone goes through altogether changes its side at
once, when it would have to give way by more than its thickness and `REACH`.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt
from scipy.spatial import cKDTree

from ecorche.base.distance_grid import DistanceGrid, distance_grid
from ecorche.muscles.bone import Bone
from ecorche.muscles.lines.give_way_bones import Flesh, Grids, Near
from ecorche.muscles.lines.give_way_passes import find_near, relax
from ecorche.muscles.lines.muscle_on_lines import MuscleOnLines
from ecorche.muscles.lines.surface_graph import SurfaceGraph

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int32]

CELLS = 500
"""Cells of the bones' grids over the extent of bones and muscles: of 2 mm for a metre."""
FADES = 0.015
"""ℓ, as a share of that extent."""
SLACK = 4e-4
"""How much deeper than at bind a vertex may lie, as a share of that extent."""
MARGIN = 0.003
"""How far vertices may move at least until a bone that was not near is, as a share of that extent."""
CHUNK = 32
"""Vertices for which is asked together what bones are near."""
FIRMNESS = 3
"""As so many neighbours, both ways, counts who faces away on the other side of a sheet."""
FACING = -0.5
"""Cosine between normals below which two vertices face away from each other."""


BESIDE = 0.007
"""How near to a muscle a bone lies beside it at bind, on whatever side, as a share of that extent."""
MARKS = 8
"""Parts of a bone that tell where it was at bind."""
REACH = 0.007
"""How far a muscle goes to keep its side of a bone, as a share of that extent, beyond its own thickness."""


class GivingWay:
    """The muscles of a body among its bones.

    Args:
        bones: All bones, at least one.
        muscles: Bound to lines.
        starts: Vertices of muscle m are ``starts[m]`` to ``starts[m + 1] − 1``, (M + 1,).
        bind: All vertices at bind [m], (V, 3).
    """

    def __init__(
        self, bones: Sequence[Bone], muscles: Sequence[MuscleOnLines], starts: Ints, bind: Floats
    ) -> None:
        self.bones = tuple(bones)
        self.joints = np.array([bone.joint for bone in bones], np.int32)
        low = np.array([bone.points.min(axis=0) for bone in bones])
        high = np.array([bone.points.max(axis=0) for bone in bones])
        all_of_it = np.concatenate([low, high, bind])
        self._extent = float(np.linalg.norm(np.ptp(all_of_it, axis=0)))
        self._middle, self._half = 0.5 * (low + high), 0.5 * (high - low) + MARGIN * self._extent
        self._grids: dict[int, DistanceGrid] = {}
        self._packed = _packed([], [])
        self._flesh = _flesh(muscles, starts, bind, self._extent)
        at_bind = self._depths(bind, np.zeros((int(self.joints.max()) + 1, 4, 4)))[1]
        self._flesh = self._flesh._replace(allowed=at_bind + SLACK * self._extent)
        self._beside = _beside(self.bones, muscles, BESIDE * self._extent)

    def displacement(self, points: Floats, moved: Floats) -> Floats | None:
        """How far vertices give way [m], (V, 3); None where no bone presses on any.

        Args:
            points: All vertices in a pose [m], (V, 3).
            moved: ``M − I`` of the joints, (joints, 4, 4).
        """
        near, depth, presses = self._depths(points, moved)
        if not (depth > self._flesh.allowed).any():
            return None
        out = np.zeros_like(points)
        relax(
            self._flesh,
            self._packed,
            self._beside[:, sorted(self._grids)],
            *near,
            depth,
            presses,
            points,
            out,
        )
        return out

    def _depths(self, points: Floats, moved: Floats) -> tuple[Near, Floats, Ints]:
        """What bones are near, how deep each vertex lies in the deepest [m], (V,), and in which, (V,)."""
        matrix, extent = moved[self.joints], self._extent
        middle = self._middle + matrix[:, :3, 3] + np.einsum("bij,bj->bi", matrix[:, :3, :3], self._middle)
        half = np.einsum("bij,bj->bi", np.abs(np.eye(3) + matrix[:, :3, :3]), self._half)
        begin = self._flesh.starts[:-1]
        low, high = np.minimum.reduceat(points, begin), np.maximum.reduceat(points, begin)
        meet = ((low[:, None] < middle + half) & (high[:, None] > middle - half)).all(axis=2)
        self._make_grids(np.flatnonzero(meet.any(axis=0)).tolist())
        made = sorted(self._grids)
        # from the world into cells of each grid
        frames = np.asarray(np.linalg.inv(np.eye(4) + matrix[made])[:, :3], np.float64)
        frames[:, :, 3] -= self._packed.low
        frames /= self._packed.spacing[:, None, None]
        chunks = len(self._flesh.muscle)
        near = Near(frames, np.zeros(chunks, np.int32), np.zeros((chunks, len(made)), np.int32))
        depth, presses = np.zeros(len(points)), np.full(len(points), -1, np.int32)
        meet = np.ascontiguousarray(meet[:, made])
        find_near(self._flesh, self._packed, meet, MARGIN * extent, points, *near, depth, presses)
        return near, depth, presses

    def _make_grids(self, numbers: Sequence[int]) -> None:
        """A bone gets its grid when it first comes near a muscle."""
        new = [number for number in numbers if number not in self._grids]
        for number in new:
            bone = self.bones[number]
            self._grids[number] = distance_grid(bone.points, bone.triangles, self._extent / CELLS)
        if new:
            made = sorted(self._grids)
            self._packed = _packed([self._grids[n] for n in made], [self.bones[n] for n in made])


def _beside(bones: Sequence[Bone], muscles: Sequence[MuscleOnLines], near: float) -> npt.NDArray[np.bool_]:
    """Whether a bone moves with a joint that holds the muscle, or lies so near to it at bind [m], (M, B)."""
    found = np.zeros((len(muscles), len(bones)), bool)
    trees = [cKDTree(bone.points) for bone in bones]
    low = np.array([bone.points.min(axis=0) for bone in bones]) - near
    high = np.array([bone.points.max(axis=0) for bone in bones]) + near
    for m, muscle in enumerate(muscles):
        holds = np.unique(muscle.held[muscle.hold > 0.0])
        boxes = (muscle.points.min(axis=0) < high) & (muscle.points.max(axis=0) > low)
        for b in np.flatnonzero(np.all(boxes, axis=1)):
            inside = muscle.points[np.all((muscle.points > low[b]) & (muscle.points < high[b]), axis=1)]
            far = trees[b].query(inside, distance_upper_bound=near)[0]
            found[m, b] = bool(np.any(far < near))
        found[m] |= np.isin([bone.joint for bone in bones], holds)
    return found


def _packed(grids: Sequence[DistanceGrid], bones: Sequence[Bone]) -> Grids:
    return Grids(
        np.concatenate([np.zeros(0, np.float32), *(grid.values.ravel() for grid in grids)]),
        np.cumsum([0, *(grid.values.size for grid in grids)])[:-1].astype(np.int64),
        np.array([grid.values.shape for grid in grids], np.int32).reshape(-1, 3),
        np.array([grid.low for grid in grids]).reshape(-1, 3),
        np.array([grid.spacing for grid in grids], np.float64),
        np.array([_marks(bone.points) for bone in bones]).reshape(-1, MARKS, 3),
    )


def _marks(points: Floats) -> Floats:
    """Middles of the parts of a bone along its longest direction [m], (MARKS, 3)."""
    order = np.argsort(points[:, int(np.ptp(points, axis=0).argmax())], kind="stable")
    which = np.linspace(0, len(points), MARKS + 1).astype(int)
    parts = [order[min(a, len(order) - 1) : max(b, a + 1)] for a, b in pairwise(which.tolist())]
    return np.array([points[part].mean(axis=0) for part in parts])


def _flesh(muscles: Sequence[MuscleOnLines], starts: Ints, bind: Floats, extent: float) -> Flesh:
    fades = FADES * extent
    place, ends, stays, held, order, cuts, owner, faces = [], [], [], [], [], [], [], []
    for number, (muscle, (a, b)) in enumerate(zip(muscles, pairwise(starts.tolist()), strict=True)):
        points = bind[a:b]
        graph = SurfaceGraph(points, muscle.triangles)
        first = np.unique(graph.merged, return_index=True)[1]
        own = first[graph.merged]
        edges = first[graph.edges].reshape(-1, 2)
        facing = _across(points, muscle.triangles, own, _lengths(points, edges))
        pairs = np.concatenate([edges, np.repeat(facing, FIRMNESS, axis=0)])
        pairs = np.concatenate([pairs, pairs[:, ::-1]])
        pairs = pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]
        sits = np.bincount(own, (muscle.hold >= 1.0 - 1e-12).any(axis=1), b - a)[own] > 0.0
        # the mean over neighbours differs by a quarter of Δu times the mean square of the edges
        square = np.bincount(pairs[:, 0], _lengths(points, pairs) ** 2, b - a)
        place.append(own + a)
        faces.append(own[muscle.triangles] + a)
        ends.append(pairs + a)
        stays.append(square / (4.0 * fades**2))
        held.append(sits)
        order.append(_near_each_other(points) + a)
        cuts.append(np.arange(a, b, CHUNK))
        owner.append(np.full(len(cuts[-1]), number))
    ways, chunks = np.concatenate(ends), np.concatenate([*cuts, [len(bind)]])
    in_order = np.concatenate(order)
    chunk = np.empty(len(bind), np.int32)
    chunk[in_order] = np.repeat(np.arange(len(chunks) - 1), np.diff(chunks))
    return Flesh(
        starts,
        np.concatenate(place).astype(np.int32),
        np.searchsorted(ways[:, 0], np.arange(len(bind) + 1)).astype(np.int32),
        ways[:, 1].astype(np.int32),
        np.concatenate(stays),
        np.concatenate(held),
        np.zeros(len(bind)),
        bind,
        np.array([_thickness(muscle) for muscle in muscles]) + REACH * extent,
        in_order.astype(np.int32),
        chunks.astype(np.int32),
        np.concatenate(owner).astype(np.int32),
        chunk,
        np.cumsum([0, *map(len, faces)]).astype(np.int32),
        np.concatenate(faces).astype(np.int32),
    )


def _thickness(muscle: MuscleOnLines) -> float:
    """Of a sheet with the muscle's volume and surface [m]; 0 where it encloses nothing."""
    a, b, c = np.moveaxis(muscle.points[muscle.closed] - muscle.points[0], 1, 0)
    area = 0.5 * float(np.linalg.norm(np.cross(b - a, c - a), axis=1).sum())
    return abs(float(np.sum(a * np.cross(b, c)))) / (3.0 * max(area, 1e-300))


def _lengths(points: Floats, pairs: npt.NDArray[np.int64]) -> Floats:
    return np.asarray(np.linalg.norm(points[pairs[:, 0]] - points[pairs[:, 1]], axis=1))


def _across(
    points: Floats, triangles: npt.NDArray[np.integer], own: npt.NDArray[np.int64], edges: Floats
) -> npt.NDArray[np.int64]:
    """Each vertex of a sheet with the nearest that faces the other way, (n, 2): within a mean edge."""
    corners = points[triangles]
    area = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normals = np.zeros(points.shape)
    for axis in range(3):
        normals[:, axis] = np.bincount(own[triangles].ravel(), np.repeat(area[:, axis], 3), len(points))
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-300)
    used = np.unique(own[triangles])
    if not len(edges):
        return np.zeros((0, 2), np.int64)
    found = used[cKDTree(points[used]).query_pairs(float(edges.mean()), output_type="ndarray")].reshape(-1, 2)
    found = found[np.sum(normals[found[:, 0]] * normals[found[:, 1]], axis=1) < FACING]
    found = np.concatenate([found, found[:, ::-1]])
    found = found[np.lexsort((found[:, 1], _lengths(points, found), found[:, 0]))]
    return np.asarray(found[np.unique(found[:, 0], return_index=True)[1]], np.int64)


def _near_each_other(points: Floats) -> npt.NDArray[np.int64]:
    """Numbers of vertices so that each `CHUNK` of them lies close together, (V,)."""
    if len(points) <= CHUNK:
        return np.arange(len(points))
    axis = int(np.ptp(points, axis=0).argmax())
    rank = np.argsort(points[:, axis], kind="stable")
    half = CHUNK * max(1, round(len(points) / (2 * CHUNK)))
    return np.concatenate([part[_near_each_other(points[part])] for part in (rank[:half], rank[half:])])
