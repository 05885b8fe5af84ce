"""Muscles and bones made by code, whose centre lines and sizes are known."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ecorche.muscles.anatomy.folder import AnatomyMesh
from ecorche.skeleton.skeleton import Skeleton, local_from_world

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


def tube(
    centre: Floats, wide: Floats, thick: Floats, name: str = "muscle", around: int = 24, closed: bool = True
) -> AnatomyMesh:
    """Elliptic rings about a curve in the xy plane, their radii ``wide`` along z and ``thick`` in it."""
    rings = len(centre)
    along = np.gradient(centre, axis=0)
    along /= np.linalg.norm(along, axis=1, keepdims=True)
    side = np.array([0.0, 0.0, 1.0])
    out = np.cross(side, along)
    angle = np.linspace(0.0, 2.0 * np.pi, around, endpoint=False)
    points = (
        centre[:, None]
        + thick[:, None, None] * np.cos(angle)[None, :, None] * out[:, None]
        + wide[:, None, None] * np.sin(angle)[None, :, None] * side
    ).reshape(-1, 3)
    ring, spoke = np.meshgrid(np.arange(rings - 1), np.arange(around), indexing="ij")
    a, b = ring * around + spoke, ring * around + (spoke + 1) % around
    c, d = a + around, b + around
    triangles = np.concatenate(
        [np.stack([a, b, c], -1).reshape(-1, 3), np.stack([b, d, c], -1).reshape(-1, 3)]
    )
    if closed:
        first, last = len(points), len(points) + 1
        points = np.vstack([points, centre[0], centre[-1]])
        k = np.arange(around)
        start = np.stack([(k + 1) % around, k, np.full(around, first)], -1)
        row = (rings - 1) * around
        stop = np.stack([row + k, row + (k + 1) % around, np.full(around, last)], -1)
        triangles = np.concatenate([triangles, start, stop])
    return AnatomyMesh(name, points, triangles.astype(np.int64))


def straight(length: float = 0.2, rings: int = 41, start: Floats | None = None) -> Floats:
    """A straight curve along x."""
    curve = np.zeros((rings, 3))
    curve[:, 0] = np.linspace(0.0, length, rings)
    return curve + (0.0 if start is None else start)


def ball(centre: Floats, radii: Floats, name: str = "bone", rings: int = 25) -> AnatomyMesh:
    """An ellipsoid along the axes."""
    angle = np.linspace(0.02, np.pi - 0.02, rings)
    axis = np.zeros((rings, 3))
    axis[:, 0] = -np.cos(angle)
    mesh = tube(axis, np.sin(angle), np.sin(angle), name)
    return AnatomyMesh(name, mesh.points * radii + centre, mesh.triangles)


def joined(name: str, *meshes: AnatomyMesh) -> AnatomyMesh:
    """Several surfaces as one."""
    firsts = np.cumsum([0, *(len(mesh.points) for mesh in meshes[:-1])])
    triangles = [mesh.triangles + first for mesh, first in zip(meshes, firsts, strict=True)]
    return AnatomyMesh(name, np.concatenate([mesh.points for mesh in meshes]), np.concatenate(triangles))


def shuffled(mesh: AnatomyMesh, name: str, seed: int = 0) -> AnatomyMesh:
    """The same surface with its vertices in another order."""
    order = np.random.default_rng(seed).permutation(len(mesh.points))
    return AnatomyMesh(name, mesh.points[order], np.argsort(order)[mesh.triangles])


def chain(*heads: tuple[float, float, float]) -> Skeleton:
    """Joints one below the other at these places."""
    world = np.tile(np.eye(4), (len(heads), 1, 1))
    world[:, :3, 3] = heads
    parents = np.arange(-1, len(heads) - 1).astype(np.int32)
    local = local_from_world(parents, world)
    names = tuple(f"joint_{k}" for k in range(len(heads)))
    return Skeleton(names, parents, local, local.copy(), np.full((len(heads), 3), np.nan))
