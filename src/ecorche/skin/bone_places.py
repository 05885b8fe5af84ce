"""Places of bones that look out at the skin over them, chosen at bind.

Those that lie near beneath skin that may be lifted, with no bone between, the nearest of every small cell;
but not where all skin round them goes with their own joint: it cannot slide off them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.spatial import cKDTree

from ecorche.base.closest_point import TriangleSurface
from ecorche.base.ray_tree import RayTree
from ecorche.base.rotations import normalise
from ecorche.skin.weights import SkinWeights

Floats = npt.NDArray[np.float64]
Points = npt.NDArray[np.float32]
Ints = npt.NDArray[np.integer[Any]]
Bools = npt.NDArray[np.bool_]

DEEPEST = 0.02
"""How deep beneath the skin places of bones look out [m], for a human of usual size, as all lengths here."""
FREE = 0.0002
"""So far from itself a place looks whether something is before it [m]."""
_APART = 0.003
"""One place looks out in every cell of this size [m]."""
_WHOLLY = 0.999
"""From which weight on a joint moves skin alone."""


def apart(points: npt.NDArray[Any], others: npt.NDArray[Any]) -> Floats:
    """How far each point is from the nearest of others [m], infinite where there are none, (points,)."""
    if not len(others):
        return np.full(len(points), np.inf)
    return np.asarray(cKDTree(others).query(points)[0], np.float64)


def looking_out(
    skin: Points,
    normals: Points,
    corners: Ints,
    shown: Floats,
    bones: Floats,
    triangles: Ints,
    joints: Ints,
    scale: float,
) -> tuple[npt.NDArray[np.int64], Floats, Ints]:
    """Points of bones that lie near beneath skin that is lifted, with no bone between, the nearest of a cell.

    By joints; the direction in which each looks out, unit; and the corners of the skin over it, (n,), (n, 3),
    (n, 3).
    """
    if not len(bones) or not len(triangles):
        return np.zeros(0, np.int64), np.zeros((0, 3)), np.zeros((0, 3), np.int64)
    hit = TriangleSurface(skin, corners).closest(bones)
    rows = np.flatnonzero((hit.triangles >= 0) & (hit.distances < DEEPEST * scale))
    own, share = corners[hit.triangles[rows]], hit.barycentric[rows]
    lifts = np.einsum("nk,nk->n", share, shown[own]) > 0.0
    rows, own, share = rows[lifts], own[lifts], share[lifts]
    out = normalise(np.einsum("nk,nki->ni", share, normals[own].astype(np.float64)))
    begin, far = bones[rows] + FREE * scale * out, np.maximum(hit.distances[rows] - FREE * scale, 0.0)
    tree = RayTree(bones, triangles)
    before = tree.cast(begin.astype(np.float32), out.astype(np.float32), far.astype(np.float32)).triangles
    rows, out, own = rows[before < 0], out[before < 0], own[before < 0]
    cells = np.column_stack([joints[rows], np.floor(bones[rows] / (_APART * scale)).astype(np.int64)])
    order = np.lexsort((rows, hit.distances[rows], *cells.T[::-1]))
    chosen = order[np.diff(cells[order], axis=0, prepend=-1 - cells[order[:1]]).any(axis=1)]
    return rows[chosen], out[chosen], own[chosen]


def held_places(
    skin: Points, weights: SkinWeights, speakers: Ints, at: Floats, joints: Ints, reach: float
) -> Bools:
    """Which places (n,) have no skin within reach that any other joint than their own moves."""
    own, shares = (table[speakers] for table in weights.padded())
    held = np.ones(len(at), np.bool_)
    for joint in np.unique(joints).tolist():
        others = skin[np.where(own == joint, shares, 0.0).sum(axis=1) < _WHOLLY]
        held[joints == joint] = apart(at[joints == joint], others) > reach
    return held
