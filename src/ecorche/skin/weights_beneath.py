"""Skin weights from what lies beneath, by heat, with distances measured inside the body.

I. Baran and J. Popović, "Automatic Rigging and Animation of 3D Characters", 2007: every vertex is heated by
its nearest bone, the more the nearer, and heat spreads over the skin; in equilibrium ``(L + M H) w = M H p``.
Changed here: the nearest is found by the shortest way *inside* the body, along a grid's nodes from the
surfaces beneath, so that an arm beside the flank heats no flank; p are the weights of the place found, not of
one bone alone; what is beneath is sixteen times as warm, because skin that follows two limbs over a hand's
breadth leaves the muscles below it when they bend; and vertices keep few joints by taking the next largest
weight off all, which fades without a jump.

Where a skin has no grid inside (`skin.heat_weights`), bones are lines and rays tell which are seen.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.sparse.csgraph import dijkstra
from scipy.sparse.linalg import splu
from scipy.spatial import cKDTree

from ecorche.base.smooth_step import smooth_step
from ecorche.errors import MeshError
from ecorche.skeleton.naming.vocabulary import mirrored
from ecorche.skeleton.skeleton import Skeleton
from ecorche.skin.extract_skin import SkinSurface
from ecorche.skin.weights import SkinWeights, weights_from_table

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

REACH = 1.2
"""Added to distances from what is beneath, in edges of the skin, which are short where forms are small: how
far heat spreads where a bone lies right under the skin."""
WARMTH = 16.0
"""Heat of what is beneath; the skin passes from bone to bone over a width that falls with its root."""
ACROSS = 0.06
"""How far beyond the middle plane limbs of the other side move a symmetric skin [m]."""
LEAST = 0.004
"""Weights below this are left out."""


def weights_beneath(
    surface: SkinSurface,
    skeleton: Skeleton,
    sources: npt.ArrayLike,
    carriers: SkinWeights,
    *,
    influences: int = 8,
) -> SkinWeights:
    """Weights of an extracted skin.

    Args:
        surface: The skin. Of a symmetric one mirrored vertices get mirrored weights, bit for bit; its joints
            bear canonical names.
        skeleton: Its joints.
        sources: Vertices of what lies beneath [m], (n, 3).
        carriers: What moves each of them.
        influences: How many joints move a vertex at most.
    """
    places = np.asarray(sources, np.float64)
    if not len(places) or carriers.vertex_count != len(places):
        raise MeshError(
            f"{len(places)} places beneath the skin have {carriers.vertex_count} weights",
            where="skin weights from what lies beneath",
            remedy="Give weights for each of them, and at least one",
        )
    count, joint_count = len(surface.points), skeleton.joint_count
    own = np.arange(count)
    symmetric = bool((surface.mirror != own).any())
    half = np.flatnonzero(
        surface.mirror >= own
    )  # of a symmetric skin the left half and the middle come first
    other = np.arange(joint_count)
    near = np.arange(len(places))
    if symmetric:
        other = np.array([skeleton.index(mirrored(name)) for name in skeleton.names])
        near = np.flatnonzero(places[:, 0] > -1e-3)
    distance, source = _inner_distance(surface, surface.points[half], places[near])
    joints, shares = carriers.padded()
    beneath = np.zeros((len(half), joint_count))
    np.add.at(beneath, (np.arange(len(half))[:, None], joints[near[source]]), shares[near[source]])

    def whole(table: Floats) -> Floats:
        everywhere = np.empty((count, joint_count))
        everywhere[surface.mirror[half]] = table[:, other]
        everywhere[half] = table
        return everywhere

    far = np.empty(count)
    far[surface.mirror[half]] = far[half] = distance
    stiffness, mass = _laplacian(surface.points, surface.quads)
    edge = np.sqrt(mass)
    around = abs(stiffness)
    for _ in range(3):
        edge = (around @ edge) / (around @ np.ones(count))
    heat = WARMTH * mass / (far + REACH * edge) ** 2
    moving = np.flatnonzero(whole(beneath).any(axis=0))
    solved = splu((stiffness + sparse.diags_array(heat)).tocsc()).solve(
        np.ascontiguousarray(heat[:, None] * whole(beneath)[:, moving])
    )
    table = np.zeros((len(half), joint_count))
    table[:, moving] = np.maximum(solved[half], 0.0)
    if symmetric:
        right = (other != np.arange(joint_count)) & (skeleton.bind_world[:, 0, 3] < 0.0)
        table[:, right] *= 1.0 - smooth_step(surface.points[half, :1] / ACROSS)
        middle = surface.mirror[half] == half
        table[middle] = 0.5 * (table[middle] + table[middle][:, other])
    every = whole(_fewest(table, influences))
    return weights_from_table(
        np.tile(np.arange(joint_count), (count, 1)), every, joint_count, "skin weights from what lies beneath"
    )


def _fewest(table: Floats, influences: int) -> Floats:
    """Weights with at most so many to a vertex, summing to one."""
    if table.shape[1] > influences:
        next_largest = np.partition(table, -influences - 1, axis=1)[:, -influences - 1]
        table = np.maximum(table - np.maximum(next_largest, LEAST)[:, None], 0.0)
    return np.asarray(table / table.sum(axis=1, keepdims=True), np.float64)


def _inner_distance(surface: SkinSurface, points: Floats, sources: Floats) -> tuple[Floats, Ints]:
    """How far points of the skin are from the nearest source on a way inside the body [m], and which."""
    inner, links = surface.inner, surface.links
    tree = cKDTree(inner)
    first, last = len(inner), len(inner) + len(sources)
    total = last + len(points)
    near, at = (np.asarray(found).ravel() for found in tree.query(sources))
    skin_near, skin_at = (np.asarray(found).ravel() for found in tree.query(points, k=4))
    rows = np.concatenate([links[:, 0], np.arange(first, last), np.repeat(np.arange(last, total), 4)])
    columns = np.concatenate([links[:, 1], at, skin_at])
    lengths = np.concatenate(
        [np.linalg.norm(inner[links[:, 0]] - inner[links[:, 1]], axis=1), near, skin_near]
    )
    graph = sparse.coo_array((np.maximum(lengths, 1e-9), (rows, columns)), (total, total)).tocsr()
    distance, _, source = dijkstra(
        graph, directed=False, indices=np.arange(first, last), min_only=True, return_predecessors=True
    )
    return distance[last:], np.asarray(source[last:] - first, np.int64)


def _laplacian(points: Floats, quads: Ints) -> tuple[sparse.csr_array, Floats]:
    """The cotangent Laplacian, positive, and the area [m²] of each vertex; quads are halved both ways."""
    count = len(points)
    triangles = quads[:, [[0, 1, 2], [0, 2, 3], [1, 2, 3], [1, 3, 0]]].reshape(-1, 3)
    rows, columns, values, mass = [], [], [], np.zeros(count)
    for corner in range(3):
        i, j, k = triangles[:, corner], triangles[:, (corner + 1) % 3], triangles[:, (corner + 2) % 3]
        u, v = points[j] - points[i], points[k] - points[i]
        double = np.linalg.norm(np.cross(u, v), axis=1)
        # half for the mean of both halvings; obtuse corners would cool their neighbours
        cotangent = 0.5 * np.maximum(np.sum(u * v, axis=1) / np.maximum(double, 1e-12), 0.0) * 0.5
        rows += [j, k, j, k]
        columns += [k, j, j, k]
        values += [-cotangent, -cotangent, cotangent, cotangent]
        mass += 0.5 * np.bincount(i, double / 6.0, count)
    stiffness = sparse.coo_array(
        (np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))), (count, count)
    ).tocsr()
    return stiffness, mass
