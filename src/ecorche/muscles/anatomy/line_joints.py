"""Which joint each node of an action line goes with at bind."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ecorche.muscles.anatomy.folder import Bones
from ecorche.muscles.lines.admissible_plan import joints_between
from ecorche.skeleton.skeleton import Skeleton

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


def node_joints(nodes: Floats, start: int, end: int, bones: Bones, skeleton: Skeleton) -> tuple[Ints, Floats]:
    """The joint of each node (n,), and how far the nearest of its bones is [m], shape (n,).

    The first node goes with ``start``, the last with ``end``. Between them the joints of the path are passed
    in order, so that the sum of the nodes' distances from their joints' bones is smallest.
    """
    path = joints_between(start, end, skeleton)
    far = np.full((len(path), len(nodes)), np.inf)
    for row, joint in enumerate(path):
        for bone in np.flatnonzero(bones.joints == joint):
            far[row] = np.minimum(far[row], bones.distances(int(bone), nodes))
    clear = far.copy()
    far[0, 0], far[-1, -1] = -1e3, -1e3  # the ends are given
    cost = np.full_like(far, np.inf)
    came = np.zeros(far.shape, np.int64)
    cost[0, 0] = far[0, 0]
    for node in range(1, len(nodes)):
        for row in range(len(path)):
            before = int(np.argmin(cost[: row + 1, node - 1]))
            cost[row, node], came[row, node] = cost[before, node - 1] + far[row, node], before
    rows = np.zeros(len(nodes), np.int64)
    rows[-1] = len(path) - 1
    for node in range(len(nodes) - 1, 0, -1):
        rows[node - 1] = came[rows[node], node]
    return np.array(path)[rows], clear[rows, np.arange(len(nodes))]
