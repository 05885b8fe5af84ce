"""The order in which skinning visits vertices: sixteen at a time, moved by the same joints.

A kernel that treats sixteen vertices as lanes loads each joint's matrix once for all of them. A real
body has few distinct sets of joints (115 to 196 on a human), so most groups of sixteen share one set
exactly. What is left over of each set is packed together under the union of its sets, weight zero
where a joint is not a vertex's own: adding zero times something leaves the sum's bits as they are, so
a vertex moves alike whatever group it is in.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit, prange

from ecorche.base.lanes import WIDTH, gather_points, load, rows_of_lanes, scatter_points, store, store_points
from ecorche.errors import MeshError
from ecorche.skin.weights import SkinWeights

Points = npt.NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Groups:
    """Vertices in groups of sixteen, and the joints each group shares.

    Attributes:
        vertex_count: How many vertices there are.
        joint_count: How many joints the weights name, the highest number plus one.
        vertices: Vertex of each lane, rising within a group, shape (groups, 16), int32; the last
            group taken repeats its highest vertex to fill up.
        starts: Borders of each group's rows in ``joints`` and ``weights``, shape (groups + 1,).
        joints: Joint of each row, rising within a group, shape (rows,), int32.
        weights: Weight of that joint in each lane, shape (rows, 16), float32.
    """

    vertex_count: int
    joint_count: int
    vertices: npt.NDArray[np.int32]
    starts: npt.NDArray[np.int64]
    joints: npt.NDArray[np.int32]
    weights: npt.NDArray[np.float32]

    def gather(self, points: Points) -> Points:
        """Points (vertices, 3) in the order of the groups, as x, y, z lanes (groups, 3, 16)."""
        if points.shape != (self.vertex_count, 3):
            raise MeshError(
                f"{self.vertex_count} vertices have weights, but the points have shape {points.shape}",
                remedy="Give one point a vertex",
            )
        grouped = rows_of_lanes((len(self.vertices), 3))
        _gather(np.ascontiguousarray(points, np.float32), self.vertices, grouped)
        return grouped


def group_vertices(weights: SkinWeights) -> Groups:
    """Group vertices by the set of joints that moves them."""
    vertices = _groups_of_sixteen(_joint_set_ranks(weights))
    # every (lane, joint, weight) of every group, lanes numbered through all groups
    counts = np.diff(weights.starts)[vertices].reshape(-1)
    lane = np.repeat(np.arange(vertices.size), counts)
    within = np.arange(len(lane)) - np.repeat(np.cumsum(counts) - counts, counts)
    entry = weights.starts[vertices.reshape(-1)][lane] + within
    joint_count = int(weights.joints.max(initial=-1)) + 1
    rows, row = np.unique((lane // WIDTH) * joint_count + weights.joints[entry], return_inverse=True)
    table = rows_of_lanes((len(rows),))
    table[row, lane % WIDTH] = weights.weights[entry]
    starts = np.searchsorted(rows // joint_count, np.arange(len(vertices) + 1))
    joints = (rows % joint_count).astype(np.int32)
    return Groups(weights.vertex_count, joint_count, vertices, starts, joints, table)


def _joint_set_ranks(weights: SkinWeights) -> npt.NDArray[np.int64]:
    """A number a vertex, equal for equal sets of joints; sets that share their last joints are neighbours.

    Muscle joints are last and tell most: who shares one shares limbs too, not the other way round.
    """
    counts = np.diff(weights.starts)
    joint_count = int(weights.joints.max(initial=0)) + 1
    rank = np.zeros(weights.vertex_count, np.int64)
    for slot in range(int(counts.max(initial=0))):
        joint = np.zeros(weights.vertex_count, np.int64)  # 0: the set has ended
        has = counts > slot
        joint[has] = weights.joints[weights.starts[1:][has] - 1 - slot] + 1
        rank = np.unique(rank * (joint_count + 1) + joint, return_inverse=True)[1]
    return rank


def _groups_of_sixteen(ranks: npt.NDArray[np.int64]) -> npt.NDArray[np.int32]:
    """Vertices (groups, 16): whole groups of one joint set, then what is left over, packed."""
    if len(ranks) == 0:
        return np.zeros((0, WIDTH), np.int32)
    order = np.argsort(ranks, kind="stable")
    sizes = np.bincount(ranks)
    place = np.arange(len(ranks)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    whole = place < np.repeat(sizes // WIDTH * WIDTH, sizes)
    missing = -len(ranks) % WIDTH
    order = np.concatenate([order[whole], order[~whole]])
    order = np.concatenate([order, np.repeat(order[missing - WIDTH :].max(), missing)])
    groups = np.sort(order.reshape(-1, WIDTH), axis=1)
    # neighbours in the file stay neighbours in memory
    return groups[np.argsort(groups[:, 0], kind="stable")].astype(np.int32)


@njit(inline="always")  # type: ignore[untyped-decorator]
def write_group(out: Points, vertices: npt.NDArray[np.int32], group: int, x: Any, y: Any, z: Any) -> None:
    """Write a group's sixteen points to where its vertices are; within kernels."""
    first, last = vertices[group, 0], vertices[group, WIDTH - 1]
    # a group that is filled up ends with its last vertex twice, and may have a gap where another's vertex is
    if last - first == WIDTH - 1 and vertices[group, WIDTH - 2] < last:
        store_points(out, first, x, y, z)  # they are neighbours: one straight run
    else:
        scatter_points(out, vertices, group, x, y, z)


@njit(parallel=True, cache=True)  # type: ignore[untyped-decorator]
def _gather(points: Points, vertices: npt.NDArray[np.int32], grouped: Points) -> None:
    for group in prange(len(vertices)):
        x, y, z = gather_points(points, vertices, group)
        store(grouped, 3 * group, x)
        store(grouped, 3 * group + 1, y)
        store(grouped, 3 * group + 2, z)


@njit(inline="always")  # type: ignore[untyped-decorator]
def read_group(bind: Points, given: Points, vertices: npt.NDArray[np.int32], group: int) -> Any:
    """A group's x, y, z lanes: of the given points, or if there are none of the bind points; in kernels."""
    if len(given) > 0:
        x, y, z = gather_points(given, vertices, group)
    else:
        x, y, z = load(bind, 3 * group), load(bind, 3 * group + 1), load(bind, 3 * group + 2)
    return x, y, z
