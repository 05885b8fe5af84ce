"""What the parts of a body weigh: the flesh inside its skin, shared out to the joints that move it.

Places inside the skin, evenly spread, weigh as much as the volume between them; each goes with the joints by
the weights of the skin nearest to it. Flesh, bone and fat count alike.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ecorche.base.signed_distance import SignedSurface
from ecorche.errors import MeshError
from ecorche.skin.weights import SkinWeights

Floats = npt.NDArray[np.float64]

DENSITY = 1050.0
"""Of a body without its breath [kg/m³]."""
_PLACES = 60_000
"""How many places of the skin's box are looked at."""


class SegmentMasses(NamedTuple):
    """Parts of a body, one a joint.

    Attributes:
        masses: [kg], (joints,).
        centres: Of mass at bind [m], (joints, 3); the joint's own place where it has no flesh.
        inertias: About these, in world axes at bind [kg m²], (joints, 3, 3).
    """

    masses: Floats
    centres: Floats
    inertias: Floats


def segment_masses(
    points: npt.ArrayLike,
    triangles: npt.ArrayLike,
    weights: SkinWeights,
    heads: Floats,
    density: float = DENSITY,
) -> SegmentMasses:
    """Masses of the parts of a body.

    Args:
        points: Its skin at bind [m], (vertices, 3).
        triangles: Outwards, (triangles, 3).
        weights: Of the skin.
        heads: Places of the joints at bind [m], (joints, 3).
        density: Of what is inside [kg/m³].
    """
    from scipy.spatial import cKDTree

    at = np.asarray(points, np.float64)
    low, high = at.min(axis=0), at.max(axis=0)
    step = float(np.prod(np.maximum(high - low, 1e-9)) / _PLACES) ** (1.0 / 3.0)
    axes = [np.arange(a + 0.5 * step, b, step) for a, b in zip(low, high, strict=True)]
    grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
    inside = grid[SignedSurface(at, triangles).depth(grid)[0] > 0.0]
    if not len(inside):
        raise MeshError(
            "nothing is inside the skin, so nothing has a mass", remedy="Close it, or turn its faces outwards"
        )
    joints, table = weights.padded()
    nearest = np.asarray(cKDTree(at).query(inside)[1])
    mass = density * step**3 * table[nearest].astype(np.float64)
    joint, count = joints[nearest].ravel(), len(heads)
    masses = np.asarray(np.bincount(joint, mass.ravel(), count), np.float64)
    each = np.repeat(inside, joints.shape[1], axis=0)
    firsts = np.stack([np.bincount(joint, mass.ravel() * each[:, k], count) for k in range(3)], axis=1)
    has = masses > 0.0
    centres = np.where(has[:, None], firsts / np.where(has, masses, 1.0)[:, None], heads)
    away = each - centres[joint]
    inertias = np.zeros((count, 3, 3))
    square = np.sum(away**2, axis=1) + step**2 / 6.0  # a cube's own part
    for i in range(3):
        for k in range(3):
            share = (square if i == k else 0.0) - away[:, i] * away[:, k]
            inertias[:, i, k] = np.bincount(joint, mass.ravel() * share, count)
    return SegmentMasses(masses, centres, inertias)
