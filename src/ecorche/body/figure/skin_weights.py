"""Skin weights from bones by heat, with distances measured inside the body.

I. Baran and J. Popović, "Automatic Rigging and Animation of 3D Characters", 2007: every vertex is heated by
its nearest bone, the more the nearer, and heat spreads over the skin; in equilibrium ``(L + M H) w = M H p``.
Changed here: the nearest bone is found by the shortest way *inside* the body, along a grid's nodes from the
bones' own surfaces, so that an arm beside the flank heats no flank; bones are ten times as warm, because
skin that follows two limbs over a hand's breadth leaves the muscles below it when they bend; and vertices
keep at most four joints by taking the fifth largest weight off all, which fades without a jump.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.sparse.csgraph import dijkstra
from scipy.sparse.linalg import splu
from scipy.spatial import cKDTree

from ecorche.base.smooth_step import smooth_step
from ecorche.body.figure.skin import SkinSurface
from ecorche.skeleton.naming.vocabulary import mirrored
from ecorche.skeleton.skeleton import Skeleton
from ecorche.skin.weights import SkinWeights, weights_from_table

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

REACH = 1.2
"""Added to distances from bones, in edges of the skin, which are short where forms are small: how far heat
spreads where a bone lies right under the skin."""
WARMTH = 10.0
"""Heat of a bone; the skin passes from one to the next over a width that falls with its root."""
ACROSS = 0.06
"""How far beyond the middle plane limbs of the other side move the skin [m]."""
INFLUENCES = 4
LEAST = 0.004
"""Weights below this are left out."""


def figure_weights(
    surface: SkinSurface, skeleton: Skeleton, sources: npt.ArrayLike, joints: Sequence[str]
) -> SkinWeights:
    """Weights of a skin; mirrored vertices have mirrored weights, bit for bit.

    Args:
        surface: The skin.
        skeleton: Its joints.
        sources: Points on bones [m], shape (n, 3).
        joints: The joint each of them moves with, by name.
    """
    places = np.asarray(sources, np.float64)
    named = np.array([skeleton.index(name) for name in joints])
    left = places[:, 0] > -1e-3
    count = len(surface.points)
    half = np.flatnonzero(surface.mirror >= np.arange(count))  # the left half and the middle come first
    distance, owner = _inner_distance(surface, surface.points[half], places[left], named[left])

    other = np.array([skeleton.index(mirrored(name)) for name in skeleton.names])
    far, bone = np.empty(count), np.empty(count, np.int64)
    far[half], bone[half] = distance, owner
    far[surface.mirror[half]], bone[surface.mirror[half]] = distance, other[owner]
    middle = surface.mirror == np.arange(count)
    bone[middle] = owner[middle[half]]

    stiffness, mass = _laplacian(surface.points, surface.quads)
    edge = np.sqrt(mass)
    near = abs(stiffness)
    for _ in range(3):
        edge = (near @ edge) / (near @ np.ones(count))
    heat = WARMTH * mass / (far + REACH * edge) ** 2
    # joints of the right heat the mirror image of what those of the left do: only these are solved for
    solved = np.flatnonzero(other >= np.arange(len(other)))
    column = np.full(len(other), -1)
    column[solved] = np.arange(len(solved))
    own = np.flatnonzero(column[bone] >= 0)
    wanted = sparse.coo_array((heat[own], (own, column[bone[own]])), (count, len(solved))).toarray()
    warmth = np.maximum(splu((stiffness + sparse.diags_array(heat)).tocsc()).solve(wanted), 0.0)
    table = np.zeros((len(half), skeleton.joint_count))
    table[:, other[solved]] = warmth[surface.mirror[half]]
    table[:, solved] = warmth[half]
    sided = np.array([name.startswith("r_") for name in skeleton.names])
    table[:, sided] *= 1.0 - smooth_step(surface.points[half, :1] / ACROSS)
    table = _fewest(table)
    whole = np.empty((count, skeleton.joint_count))
    whole[half] = table
    whole[surface.mirror[half]] = table[:, other]
    whole[half] = table
    return weights_from_table(
        np.tile(np.arange(skeleton.joint_count), (count, 1)), whole, skeleton.joint_count, "the figure's skin"
    )


def _fewest(table: Floats) -> Floats:
    """Weights with at most `INFLUENCES` to a vertex, summing to one."""
    if table.shape[1] > INFLUENCES:
        fifth = np.partition(table, -INFLUENCES - 1, axis=1)[:, -INFLUENCES - 1]
        table = np.maximum(table - np.maximum(fifth, LEAST)[:, None], 0.0)
    return np.asarray(table / table.sum(axis=1, keepdims=True), np.float64)


def _inner_distance(
    surface: SkinSurface, points: Floats, sources: Floats, joints: Ints
) -> tuple[Floats, Ints]:
    """How far points of the skin are from the nearest bone on a way inside the body [m], and its joint."""
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
    return distance[last:], joints[source[last:] - first]


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
