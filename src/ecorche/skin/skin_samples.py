"""Places on a skin, as close together where it is coarse as where it is fine.

The nearest vertices of a coarse skin tell little of what lies below a triangle as long as a hand. So
triangles with long edges are divided, and every place knows the corners it lies between.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ecorche.base.rotations import normalise

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

SPACING = 0.004
"""No edge is left longer than this share of the skin's diagonal, as far as `MOST` allows."""
MOST = 24
"""An edge is divided by so much at most."""
ALIKE = 1e-6
"""Places nearer than this share of the diagonal are one."""


@dataclass(frozen=True, eq=False, repr=False)
class SkinSamples:
    """Places on triangles of a skin.

    Attributes:
        points: Where they are [m], (S, 3).
        normals: Outward, (S, 3).
        corners: The vertices each lies between, (S, 3).
        shares: Of these vertices, together 1, (S, 3).
    """

    points: Floats
    normals: Floats
    corners: Ints
    shares: Floats


def skin_samples(points: Floats, triangles: Ints) -> SkinSamples:
    """Places on a skin (V, 3) [m], or on some of its triangles, (T, 3)."""
    used = points[triangles]
    size = float(np.linalg.norm(np.ptp(points, axis=0)))
    longest = np.linalg.norm(used - np.roll(used, 1, axis=1), axis=-1).max(axis=1)
    times = np.clip(np.ceil(longest / max(SPACING * size, 1e-300)), 1, MOST).astype(np.int64)
    corners, shares = [np.zeros((0, 3), np.int64)], [np.zeros((0, 3))]
    for count in np.unique(times):
        own = triangles[times == count]
        a, b = np.nonzero(np.tri(count + 1)[::-1])  # a + b ≤ count
        within = np.stack([a, b, count - a - b], axis=1) / count
        corners.append(np.repeat(own, len(within), axis=0))
        shares.append(np.tile(within, (len(own), 1)))
    between, of_each = np.concatenate(corners), np.concatenate(shares)
    places = np.einsum("sk,skx->sx", of_each, points[between])
    # those on edges and corners come with every triangle there
    _, first = np.unique(np.round(places / max(ALIKE * size, 1e-300)), axis=0, return_index=True)
    first.sort()
    between, of_each = between[first], of_each[first]
    normals = np.einsum("sk,skx->sx", of_each, vertex_normals(points, triangles)[between])
    return SkinSamples(places[first], normalise(normals), between, of_each)


def vertex_normals(points: Floats, triangles: Ints) -> Floats:
    """Unit normals of vertices (V, 3), zero of those without a triangle."""
    a, b, c = (points[triangles[:, k]] for k in range(3))
    face, total = np.cross(b - a, c - a), np.zeros_like(points)
    for k in range(3):
        np.add.at(total, triangles[:, k], face)
    return normalise(total)
