"""The skin round joints between two bones, such as elbows and knees, closed by caps.

A segment of a limb goes from the bone before a joint to the bone behind it, as far on both as `REACH` says.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ecorche.base.rotations import normalise
from ecorche.skeleton.skeleton import Skeleton
from ecorche.skin.weights import SkinWeights

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

REACH = 0.6
"""How far along both bones a segment goes, as a share of their lengths."""
_OWN = 0.9
"""From which share of weight on the two bones skin belongs to them."""
_BONY = 0.25
"""Where on its arch, which ends at the cap, the profile begins at the joint."""
_LEAST = 8
"""Triangles of a segment, else there is none."""


@dataclass(frozen=True, eq=False, repr=False)
class LimbSegment:
    """Skin round one joint, and what closes it.

    Attributes:
        joint: Its number.
        vertices: Of the skin, (n,).
        triangles: Of it, numbered within ``vertices``, (triangles, 3).
        borders: Edges of each cap, numbered so, as the caps run round them, each (edges, 2).
        profile: How much each vertex comes out, 0 at the caps, (n,).
    """

    joint: int
    vertices: Ints
    triangles: Ints
    borders: tuple[Ints, ...]
    profile: Floats


def limb_segments(
    points: npt.ArrayLike,
    triangles: npt.ArrayLike,
    place: npt.NDArray[np.integer],
    weights: SkinWeights,
    skeleton: Skeleton,
    joints: Iterable[int],
) -> list[LimbSegment]:
    """Segments of a skin at bind round joints between two bones; those without enough skin are left out.

    Args:
        points: [m], (vertices, 3).
        triangles: Outwards, (triangles, 3).
        place: Number of the place each vertex is at: those at one place are one, (vertices,).
        weights: Of the skin.
        skeleton: It hangs on.
        joints: Such as elbows and knees.
    """
    at, faces = np.asarray(points, np.float64), np.asarray(triangles, np.int64)
    first = np.unique(place, return_index=True)[1][place]
    heads, tips = skeleton.bind_world[:, :3, 3], skeleton.tail_positions()
    vertex = np.repeat(np.arange(len(at)), np.diff(weights.starts))
    found = []
    for joint in joints:
        above, own = int(skeleton.parents[joint]), set().union(*limb_joints(skeleton, joint))
        share = np.bincount(vertex, weights.weights * np.isin(weights.joints, list(own)), len(at))
        before, behind = heads[joint] - heads[above], tips[joint] - heads[joint]
        # −1 to 1 from cap to cap
        back = (at - heads[joint]) @ before / (before @ before) / REACH
        on = (at - heads[joint]) @ behind / (behind @ behind) / REACH
        inside = (share > _OWN) & (back > -1.0) & (on < 1.0)
        kept = faces[inside[faces].all(axis=1)]
        if len(kept) < _LEAST:
            continue
        used, numbered = np.unique(first[kept], return_inverse=True)
        corners = numbered.reshape(-1, 3)
        # of faces that lie in each other one counts, else a skin that is there twice has no open edge
        corners = corners[np.sort(np.unique(np.sort(corners, axis=1), axis=0, return_index=True)[1])]
        borders = _borders(corners)
        axis = normalise(before) + normalise(behind)
        far = np.maximum(np.where((at - heads[joint]) @ axis < 0.0, -back, on), 0.0)[used]
        profile = np.where(far < 1.0, np.sin(np.pi * (_BONY + (1.0 - _BONY) * far)) ** 2, 0.0)
        for edges in borders:
            profile[edges] = 0.0
        # every vertex of a place moves alike
        everyone = np.flatnonzero(np.isin(first, used))
        found.append(_spread(joint, everyone, first, used, corners, borders, profile))
    return found


def limb_joints(skeleton: Skeleton, joint: int) -> tuple[set[int], set[int]]:
    """Joints of the bone before a joint and of the bone behind it, helpers among them."""
    below = joints_below(skeleton, joint)
    for child in skeleton.children[joint]:
        if skeleton.children[child]:
            below = below - joints_below(skeleton, child)
    return joints_below(skeleton, int(skeleton.parents[joint])) - joints_below(skeleton, joint), below


def _spread(
    joint: int,
    everyone: Ints,
    first: Ints,
    used: Ints,
    corners: Ints,
    borders: tuple[Ints, ...],
    profile: Floats,
) -> LimbSegment:
    """The segment with all vertices at its places; the faces go by the first of each."""
    row = np.searchsorted(everyone, used)
    renamed = tuple(row[edges] for edges in borders)
    return LimbSegment(
        joint, everyone, row[corners], renamed, profile[np.searchsorted(used, first[everyone])]
    )


def joints_below(skeleton: Skeleton, joint: int) -> set[int]:
    """A joint and all below it."""
    found = {joint}
    for child in skeleton.children[joint]:
        found |= joints_below(skeleton, child)
    return found


def _borders(triangles: Ints) -> tuple[Ints, ...]:
    """Edges of the caps: those of one triangle alone, turned round, one array a loop."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    edges = np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]])
    _, which, count = np.unique(np.sort(edges, axis=1), axis=0, return_inverse=True, return_counts=True)
    open_edges = edges[count[which.ravel()] == 1][:, ::-1]
    if not len(open_edges):
        return ()
    size = int(triangles.max()) + 1
    joined = coo_matrix((np.ones(len(open_edges)), (open_edges[:, 0], open_edges[:, 1])), (size, size))
    _, loop = connected_components(joined, directed=False)
    of_edge = loop[open_edges[:, 0]]
    return tuple(open_edges[of_edge == number] for number in np.unique(of_edge))
