"""Skin weights for a character that has none: bones are warm, and the skin carries heat.

Each bone in turn is kept at one and all others at zero; the skin takes heat from the bone nearest to it, the
more the closer it is, and passes it on to its neighbours. Where all is at rest the heat that bone has given
is its weight (Baran and Popović 2007):

    (L + A H) w = A H p,   H = 1 / d²,

with the Laplacian L and the areas A of the skin, d the distance to the nearest bone, and p one where that is
the bone in question. Weights are smooth, add up to one and need no settings. A bone that cannot be seen from
a vertex without leaving the body, such as the arm's from the chest beside it, gives it no heat.

The Laplacian is that of `robust_laplacian`, which takes any triangles, also where three meet at an edge.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.sparse.linalg import splu

from ecorche.base.mesh import coincident_groups
from ecorche.base.ray_tree import RayTree
from ecorche.base.signed_distance import SignedSurface
from ecorche.errors import MeshError
from ecorche.skeleton.skeleton import Skeleton
from ecorche.skin.weights import SkinWeights, weights_from_entries

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

SMALLEST = 0.01
"""Weights below are left out."""
_SHORTEST = 1e-6
"""A bone that is shorter is none [m]."""
_TIE = 1.0001
"""Bones this much farther than the nearest are as near."""
_LEFT = 0.02
"""How far before its end a look at a bone stops, as a share of the way: a bone may lie in the skin itself."""
_LEAST = 1e-9
"""Area of vertices that no triangle has, as a share of the largest: they go with the bone nearest to them."""
_COLD = 1e-6
"""Heat that a vertex that sees no bone, with no neighbour who does, takes from the nearest."""


def heat_weights(
    points: npt.ArrayLike,
    triangles: npt.ArrayLike,
    bones: npt.ArrayLike,
    joints: npt.ArrayLike,
    joint_count: int,
    *,
    where: object = "skin weights",
) -> SkinWeights:
    """Weights of a skin on joints.

    Args:
        points: Of the skin at bind [m], (vertices, 3).
        triangles: Of the skin, (triangles, 3).
        bones: Where bones begin and end [m], (bones, 2, 3).
        joints: The joint that moves each, (bones,).
        joint_count: Of the skeleton.
        where: What is skinned, for messages.
    """
    from robust_laplacian import mesh_laplacian

    at, ends, moves = (np.asarray(a, np.float64) for a in (points, bones, joints))
    faces = np.asarray(triangles, np.int64)
    if not len(ends):
        raise MeshError(
            "there are no bones to hang the skin on",
            where=where,
            remedy="Give a skeleton of two joints or more",
        )
    if not len(faces):
        raise MeshError("the skin has no triangles", where=where, remedy="Give weights, or a surface")
    place = coincident_groups(np.asarray(points, np.float32)).astype(np.int64)
    count = int(place.max()) + 1
    welded = np.zeros((count, 3))
    welded[place] = at
    kept = place[faces]
    kept = kept[(kept[:, 0] != kept[:, 1]) & (kept[:, 1] != kept[:, 2]) & (kept[:, 2] != kept[:, 0])]
    stiffness, mass = mesh_laplacian(welded, kept)
    distance, towards = _distances(welded, ends)
    seen = _in_sight(welded, kept, distance, towards)
    heat, share = _heat(distance, seen)
    area = np.asarray(mass.diagonal())
    area = np.maximum(area, _LEAST * area.max())
    matrix = sparse.csc_matrix(stiffness + sparse.diags(area * heat))
    of_bones = splu(matrix).solve(np.ascontiguousarray((area * heat)[:, None] * share))
    on_joints = np.zeros((count, joint_count))
    np.add.at(on_joints.T, moves.astype(np.int64), np.maximum(of_bones, 0.0).T)
    on_joints /= on_joints.sum(axis=1, keepdims=True)
    on_joints[on_joints < SMALLEST] = 0.0
    table = on_joints[place]
    vertex, joint = np.nonzero(table)
    return weights_from_entries(vertex, joint, table[vertex, joint], len(at), joint_count, where)


def bones_within(
    skeleton: Skeleton, points: npt.ArrayLike, triangles: npt.ArrayLike
) -> tuple[Floats, npt.NDArray[np.int64]]:
    """Bones of a skeleton that lie in a skin [m], (bones, 2, 3), and the joint that moves each, (bones,).

    From each joint to each below it, and from the last ones to their tips. A bone whose middle lies outside
    the skin, such as that from the floor to the hips, holds no flesh.
    """
    heads, tips = skeleton.bind_world[:, :3, 3], skeleton.tail_positions()
    pairs = [
        (joint, end)
        for joint, below in enumerate(skeleton.children)
        for end in (heads[list(below)] if below else tips[joint : joint + 1])
        if np.linalg.norm(end - heads[joint]) > _SHORTEST
    ]
    bones = np.array([(heads[joint], end) for joint, end in pairs]).reshape(-1, 2, 3)
    within = SignedSurface(np.asarray(points, np.float64), triangles).depth(bones.mean(axis=1))[0] > 0.0
    return bones[within], np.array([joint for joint, _ in pairs], np.int64)[within]


def _distances(points: Floats, ends: Floats) -> tuple[Floats, Floats]:
    """Distances of points from bones [m] (points, bones), and the places nearest on them (…, 3)."""
    begin, along = ends[:, 0], ends[:, 1] - ends[:, 0]
    square = np.maximum((along**2).sum(axis=1), 1e-18)
    share = np.clip(np.einsum("pbx,bx->pb", points[:, None] - begin, along) / square, 0.0, 1.0)
    nearest = begin + share[..., None] * along
    return np.asarray(np.linalg.norm(nearest - points[:, None], axis=2)), nearest


def _in_sight(points: Floats, triangles: Ints, distance: Floats, nearest: Floats) -> npt.NDArray[np.bool_]:
    """Whether the way from each point to each of its nearest bones stays within the skin, (points, bones)."""
    tree = RayTree(points, triangles)
    asked = distance <= 2.0 * distance.min(axis=1, keepdims=True) + 1e-9
    point, bone = np.nonzero(asked)
    way = nearest[point, bone] - points[point]
    length = np.maximum(np.linalg.norm(way, axis=1), 1e-12)
    direction = way / length[:, None]
    # it begins a little within, so that it does not meet the skin it comes from
    start = points[point] + 1e-3 * length[:, None] * direction
    hits = tree.cast(
        start.astype(np.float32), direction.astype(np.float32), ((1.0 - _LEFT) * length).astype(np.float32)
    )
    seen = np.zeros(distance.shape, np.bool_)
    seen[point, bone] = hits.triangles < 0
    return seen


def _heat(distance: Floats, seen: npt.NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """H [1/m²] (points,), and how the bones share in it (points, bones)."""
    near = np.where(seen, distance, np.inf)
    nearest = near.min(axis=1)
    blind = ~np.isfinite(nearest)
    near[blind], nearest[blind] = distance[blind], distance[blind].min(axis=1)
    share = (near <= _TIE * nearest[:, None]).astype(np.float64)
    share /= share.sum(axis=1, keepdims=True)
    heat = 1.0 / np.maximum(nearest, 1e-4) ** 2
    heat[blind] *= _COLD
    return heat, share
