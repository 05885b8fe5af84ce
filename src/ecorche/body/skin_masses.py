"""The masses on a body's skin: how heavy, how firmly held, and fewer of them for real time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ecorche.base.rotations import normalise
from ecorche.body.skin_patches import SkinPatches, skin_patches
from ecorche.body.spring_places import areas_with_none_empty, edges_of
from ecorche.document.springs_spec import SpringsSpec

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

MUSCLE, SKIN, FAT = 1060.0, 1100.0, 920.0
"""Densities [kg/m³]."""
SKIN_THICKNESS, DEEPEST, NEAREST = 0.002, 0.04, 0.004
"""Of a person [m]: the skin; how much tissue at most moves with it; no tissue is taken for thinner."""
DEPTH = 0.01
"""Of a person [m]: depth of a usual muscle."""
ALL_ROUND = 0.15
"""Share of what holds skin that holds it in all directions, at its own place: springs to few points, as over
the end of a bone, would let it slip aside or turn inside out."""
FIRM = 0.5
"""Skin that belongs to head, hands or feet by more than this share goes with its bone in real time."""


@dataclass(frozen=True, eq=False)
class SkinMasses:
    """Masses on the skin of a body at bind.

    Attributes:
        points, normals: Where they are [m], and unit normals there, (n, 3).
        area: Of the skin that each stands for [m²], (n,).
        masses: [kg], (n,).
        held: How stiffly it is held by what is below [N/m], (n,).
        all_round: How much of that holds it in all directions [N/m], (n,).
        firmly: How far it belongs to head, hands or feet, (n,).
        edges: Neighbours, (E, 2).
        broad: Mean area of the vertices of the mesh there [m²], (n,): the skin is as stiff along itself as
            its mesh has it, however many vertices a mass stands for.
    """

    points: Floats
    normals: Floats
    area: Floats
    masses: Floats
    held: Floats
    all_round: Floats
    firmly: Floats
    edges: Ints
    broad: Floats


def skin_masses(
    points: Floats,
    triangles: Ints,
    firmly: Floats,
    depth_of: Callable[[Floats], Floats],
    spec: SpringsSpec,
    size: float,
) -> SkinMasses:
    """A mass on each vertex.

    Args:
        points: Vertices of the skin at bind [m], (n, 3).
        triangles: Outwards, (T, 3).
        firmly: How far each belongs to head, hands or feet, (n,).
        depth_of: How far points are from the nearest muscle or bone [m].
        spec: What the rig says.
        size: Times a person.
    """
    depth = depth_of(points)
    # there skin is tight, over bones that few rigs know
    depth += firmly * (np.minimum(depth, NEAREST * size) - depth)
    area = areas_with_none_empty(points, triangles, np.zeros(len(points), np.int64))
    tissue = np.clip(depth - SKIN_THICKNESS * size, 0.0, DEEPEST * size)
    held = spec.tissue * area / np.maximum(depth, NEAREST * size)
    return SkinMasses(
        points,
        _normals(points, triangles),
        area,
        area * (SKIN * SKIN_THICKNESS * size + 0.5 * FAT * tissue),
        held,
        (ALL_ROUND + (1.0 - ALL_ROUND) * firmly) * held,
        firmly,
        edges_of(triangles),
        area,
    )


def in_patches(skin: SkinMasses, apart: float) -> tuple[SkinMasses, SkinPatches]:
    """The same with a mass on each patch, whose middles are about so far apart [m]; none where it is firm."""
    patches = skin_patches(skin.points, skin.edges, apart, skin.firmly > FIRM)
    gathered = patches.follows.T.tocsr()
    area = gathered @ skin.area
    return SkinMasses(
        skin.points[patches.centres],
        skin.normals[patches.centres],
        area,
        gathered @ skin.masses,
        gathered @ skin.held,
        gathered @ skin.all_round,
        skin.firmly[patches.centres],
        patches.edges,
        (gathered @ skin.area**2) / area,
    ), patches


def _normals(points: Floats, triangles: Ints) -> Floats:
    """Unit normals a vertex, (vertices, 3)."""
    a, b, c = (points[triangles[:, k]] for k in range(3))
    area = np.cross(b - a, c - a)
    total = np.stack(
        [np.bincount(triangles.ravel(), np.repeat(area[:, x], 3), len(points)) for x in range(3)], axis=1
    )
    return np.asarray(normalise(total))
