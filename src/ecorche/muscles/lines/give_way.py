"""Muscles give way to bones that press into them.

A mesh on action lines knows of bones only what bends its lines. Here every vertex that lies deeper in a bone
than it did at bind is moved out and takes its surroundings along: displacements u of a muscle's vertices make

    Σ |uᵢ − uⱼ|² + Σ (a / ℓ)² |uᵢ|²     small, over neighbours and vertices, a being the length of edges,

while no vertex is deeper in bones than at bind, and what a bone holds stays on it. So a dent fades over the
way ℓ. The two sides of a sheet are neighbours too, and a bone pushes it in as a whole. In the first rounds
vertices go only a part of their way: where a bone stands in the midst of a sheet they would leave it by both
sides, and so the greater part of them takes the others along. A triangle that would be turned over in the
end goes with the mean of its corners.

Limits: bones that enter each other leave no room for what lies between, which then lies in both, and beside
what is held a muscle cannot give way fully. A sheet that a bone has passed by more than half comes out behind
it, and changes its side there within a degree or so. To keep it where it lay at bind was tried: whatever
tells the side for a patch of it does so by yes or no, and muscles flickered ten times as much.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from ecorche.base.distance_grid import DistanceGrid, distance_grid
from ecorche.muscles.bone import Bone
from ecorche.muscles.lines.flesh_surface import Surface, fading_shares
from ecorche.muscles.lines.give_way_bones import Flesh, Grids, Near
from ecorche.muscles.lines.give_way_passes import find_near, relax

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


class GivingWay:
    """The muscles of a body among its bones.

    Args:
        bones: All bones, at least one.
        surface: Of the muscles.
    """

    def __init__(self, bones: Sequence[Bone], surface: Surface) -> None:
        bind = surface.bind
        self.bones = tuple(bones)
        self.joints = np.array([bone.joint for bone in bones], np.int32)
        low = np.array([bone.points.min(axis=0) for bone in bones])
        high = np.array([bone.points.max(axis=0) for bone in bones])
        all_of_it = np.concatenate([low, high, bind])
        self._extent = float(np.linalg.norm(np.ptp(all_of_it, axis=0)))
        self._middle, self._half = 0.5 * (low + high), 0.5 * (high - low) + MARGIN * self._extent
        self._grids: dict[int, DistanceGrid] = {}
        self._packed = _packed([])
        self._flesh = _flesh(surface, self._extent)
        at_bind = self._depths(bind, np.zeros((int(self.joints.max()) + 1, 4, 4)))[1]
        self._flesh = self._flesh._replace(allowed=at_bind + SLACK * self._extent)

    def displacement(self, points: Floats, moved: Floats) -> Floats | None:
        """How far vertices give way [m], (V, 3); None where no bone presses on any.

        Args:
            points: All vertices in a pose [m], (V, 3).
            moved: ``M − I`` of the joints, (joints, 4, 4).
        """
        near, depth = self._depths(points, moved)
        if not (depth > self._flesh.allowed).any():
            return None
        out = np.zeros_like(points)
        relax(self._flesh, self._packed, *near, depth, points, out)
        return out

    def _depths(self, points: Floats, moved: Floats) -> tuple[Near, Floats]:
        """What bones are near, and how deep each vertex lies in the deepest [m], (V,)."""
        matrix, extent = moved[self.joints], self._extent
        middle = self._middle + matrix[:, :3, 3] + np.einsum("bij,bj->bi", matrix[:, :3, :3], self._middle)
        half = np.einsum("bij,bj->bi", np.abs(np.eye(3) + matrix[:, :3, :3]), self._half)
        begin = self._flesh.starts[:-1]
        low, high = np.minimum.reduceat(points, begin), np.maximum.reduceat(points, begin)
        meet = ((low[:, None] < middle + half) & (high[:, None] > middle - half)).all(axis=2)
        self._make_grids(np.flatnonzero(meet.any(axis=0)).tolist())
        made = sorted(self._grids)
        # from the world into cells of each grid
        frames = np.ascontiguousarray(np.linalg.inv(np.eye(4) + matrix[made])[:, :3], np.float64)
        frames[:, :, 3] -= self._packed.low
        frames /= self._packed.spacing[:, None, None]
        chunks = len(self._flesh.muscle)
        near = Near(frames, np.zeros(chunks, np.int32), np.zeros((chunks, len(made)), np.int32))
        depth = np.zeros(len(points))
        meet = np.ascontiguousarray(meet[:, made])
        find_near(self._flesh, self._packed, meet, MARGIN * extent, points, *near, depth)
        return near, depth

    def _make_grids(self, numbers: Sequence[int]) -> None:
        """A bone gets its grid when it first comes near a muscle."""
        new = [number for number in numbers if number not in self._grids]
        for number in new:
            bone = self.bones[number]
            self._grids[number] = distance_grid(bone.points, bone.triangles, self._extent / CELLS)
        if new:
            self._packed = _packed([self._grids[n] for n in sorted(self._grids)])


def _packed(grids: Sequence[DistanceGrid]) -> Grids:
    return Grids(
        np.concatenate([np.zeros(0, np.float32), *(grid.values.ravel() for grid in grids)]),
        np.cumsum([0, *(grid.values.size for grid in grids)])[:-1].astype(np.int64),
        np.array([grid.values.shape for grid in grids], np.int32).reshape(-1, 3),
        np.array([grid.low for grid in grids]).reshape(-1, 3),
        np.array([grid.spacing for grid in grids], np.float64),
    )


def _flesh(surface: Surface, extent: float) -> Flesh:
    bind, count = surface.bind, len(surface.bind)
    ranges = list(pairwise(surface.starts.tolist()))
    in_order = np.concatenate([_near_each_other(bind[a:b]) + a for a, b in ranges])
    cuts = [np.arange(a, b, CHUNK) for a, b in ranges]
    chunks = np.concatenate([*cuts, [count]])
    chunk = np.empty(count, np.int32)
    chunk[in_order] = np.repeat(np.arange(len(chunks) - 1), np.diff(chunks))
    return Flesh(
        surface.starts,
        surface.place,
        surface.near_starts,
        surface.near,
        surface.counts,
        fading_shares(surface, FADES * extent),
        surface.held,
        np.zeros(count),
        in_order.astype(np.int32),
        chunks.astype(np.int32),
        np.repeat(np.arange(len(cuts)), [len(cut) for cut in cuts]).astype(np.int32),
        chunk,
        surface.triangle_starts,
        surface.triangles,
    )


def _near_each_other(points: Floats) -> npt.NDArray[np.int64]:
    """Numbers of vertices so that each `CHUNK` of them lies close together, (V,)."""
    if len(points) <= CHUNK:
        return np.arange(len(points))
    axis = int(np.ptp(points, axis=0).argmax())
    rank = np.argsort(points[:, axis], kind="stable")
    half = CHUNK * max(1, round(len(points) / (2 * CHUNK)))
    return np.concatenate([part[_near_each_other(points[part])] for part in (rank[:half], rank[half:])])
