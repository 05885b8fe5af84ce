"""The fat between skin and fascia as voxels, held where it meets what lies beneath.

Thesis, 5.4.4. The layer is given as a depth below every vertex of the skin, down to which there is fat, and a
share of how far a vertex belongs to the region that moves. A voxel is fat whose middle lies less deep than
that, under skin of the region. Nodes that also border on a part of the body that is no such voxel are held:
they go with the skin they lie under, as it is without any dynamics (`below_skin`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import ndimage

from ecorche.base.closest_point import TriangleSurface
from ecorche.base.signed_distance import SignedSurface
from ecorche.errors import EcorcheError
from ecorche.fat.grid_layout import touched

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

_MOST = 4_000_000
"""Voxels that are looked at, at most."""


@dataclass(frozen=True, eq=False, repr=False)
class FatVoxels:
    """A region of fat at bind.

    Attributes:
        voxels: Which are there, (X, Y, Z).
        held: Which nodes are held, (X + 1, Y + 1, Z + 1).
        corner: Where node (0, 0, 0) lies in the frame [m], (3,).
        dropped: How many voxels were left out because nothing holds them.
    """

    voxels: Flags
    held: Flags
    corner: Floats
    dropped: int


class SkinSurface:
    """A skin at bind to ask where it is nearest and how deep below it a place is; made once for all regions.

    Args:
        points: In the frame voxels are aligned with [m], (vertices, 3).
        triangles: Outwards, (triangles, 3).
    """

    def __init__(self, points: npt.ArrayLike, triangles: npt.ArrayLike) -> None:
        self.points, self.triangles = np.asarray(points, np.float64), np.asarray(triangles, np.int64)
        self.nearest = TriangleSurface(self.points, self.triangles)
        self.signed = SignedSurface(self.points, self.triangles)


def fat_voxels(
    skin: SkinSurface,
    depth: npt.ArrayLike,
    region: npt.ArrayLike,
    size: float,
) -> FatVoxels:
    """The fat under a region of a skin.

    Args:
        skin: The skin.
        depth: Down to which there is fat below each vertex [m], (vertices,).
        region: How far each vertex belongs to the region, 0 to 1, (vertices,); more than half is within.
        size: Of a voxel [m].
    """
    at, faces = skin.points, skin.triangles
    deep, share = np.asarray(depth, np.float64), np.asarray(region, np.float64)
    inside = share > 0.5
    if not inside.any():
        raise EcorcheError("no vertex is in the region", where="fat", remedy="Paint one, or choose another")
    if not size > 0.0:
        raise EcorcheError(f"voxels measure {size:g} m", where="fat", remedy="Give some 0.01 m")
    margin = float(deep[inside].max()) + 2.0 * size
    low, high = at[inside].min(axis=0) - margin, at[inside].max(axis=0) + margin
    shape = np.ceil((high - low) / size).astype(np.int64)
    if shape.prod() > _MOST:
        raise EcorcheError(
            f"voxels of {1e3 * size:g} mm would be {int(shape.prod()):,}",
            where="fat",
            remedy=f"Give at least {1e3 * size * (shape.prod() / _MOST) ** (1 / 3):.1f} mm",
        )
    middles = low + size * (np.stack(np.meshgrid(*map(np.arange, shape), indexing="ij"), axis=-1) + 0.5)
    depth_of, _ = skin.signed.depth(middles)
    hit = skin.nearest.closest(middles.reshape(-1, 3))
    corners = faces[hit.triangles]
    thick = (hit.barycentric * deep[corners]).sum(axis=1).reshape(depth_of.shape)
    moving = (hit.barycentric * share[corners]).sum(axis=1).reshape(depth_of.shape) > 0.5
    body = depth_of > 0.0
    alive = body & (depth_of < thick) & moving
    held = touched(alive) & touched(body & ~alive)
    # a clump that nothing holds would fall out of the body
    clump, count = ndimage.label(alive)
    holding = np.zeros(count + 1, np.bool_)
    for i, j, k in np.ndindex(2, 2, 2):
        corner_held = held[i : i + shape[0], j : j + shape[1], k : k + shape[2]]
        holding[np.unique(clump[corner_held & alive])] = True
    kept = alive & holding[clump]
    if not kept.any():
        raise EcorcheError(
            f"the fat is nowhere thicker than a voxel of {1e3 * size:g} mm",
            where="fat",
            remedy="Give smaller voxels, or leave this region to the height field",
        )
    held &= touched(kept)
    box = ndimage.find_objects(kept.astype(np.int8))[0]
    nodes = tuple(slice(s.start, s.stop + 1) for s in box)
    start = np.array([s.start for s in box])
    return FatVoxels(kept[box], held[nodes], low + size * start, int(alive.sum() - kept.sum()))
