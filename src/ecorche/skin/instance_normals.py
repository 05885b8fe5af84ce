"""Normals of sixteen instances at once, a place at a time: the arithmetic of `normals`, in the same order."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit, prange

from ecorche.base.lanes import WIDTH, broadcast, load, multiply_add, store
from ecorche.skin.instance_skin import TILE, write_instances
from ecorche.skin.normals import NormalPlaces, shaded
from ecorche.skin.smoothing import Vectors


@njit(inline="always")  # type: ignore[untyped-decorator]
def _three(vectors: Vectors, row: int) -> Any:
    return broadcast(vectors[row, 0]), broadcast(vectors[row, 1]), broadcast(vectors[row, 2])


@njit(parallel=True, cache=True)  # type: ignore[untyped-decorator]
def shade_instances(places: NormalPlaces, at: Vectors, out: npt.NDArray[np.float32]) -> None:
    """Unit normals of sixteen instances.

    Args:
        places: What has a normal.
        at: Positions [m], (3 vertices, 16).
        out: Where to write, instance by instance, (instances up to 16, 3 places).
    """
    vertices, starts, pairs, neighbours, local, at_bind, authored = places
    count = len(vertices)
    for tile in prange(-(-count // TILE)):
        first, last = TILE * tile, min(TILE * tile + TILE, count)
        found, turned = np.empty((3 * TILE, WIDTH), np.float32), np.empty((WIDTH, 3 * TILE), np.float32)
        for place in range(first, last):
            zero = broadcast(np.float32(0.0))
            vertex = 3 * np.int64(vertices[place])
            px, py, pz = load(at, vertex), load(at, vertex + 1), load(at, vertex + 2)
            cx, cy, cz = zero, zero, zero
            for pair in range(starts[place], starts[place + 1]):
                q, r = 3 * np.int64(pairs[pair, 0]), 3 * np.int64(pairs[pair, 1])
                qx, qy, qz = load(at, q) - px, load(at, q + 1) - py, load(at, q + 2) - pz
                rx, ry, rz = load(at, r) - px, load(at, r + 1) - py, load(at, r + 2) - pz
                cx = multiply_add(-qz, ry, multiply_add(qy, rz, cx))
                cy = multiply_add(-qx, rz, multiply_add(qz, rx, cy))
                cz = multiply_add(-qy, rx, multiply_add(qx, ry, cz))
            q = 3 * np.int64(neighbours[place])
            edge = load(at, q) - px, load(at, q + 1) - py, load(at, q + 2) - pz
            nx, ny, nz = shaded(
                (cx, cy, cz),
                edge,
                _three(local, place),
                _three(at_bind, place),
                _three(authored, place),
                True,
            )
            row = 3 * (place - first)
            store(found, row, nx)
            store(found, row + 1, ny)
            store(found, row + 2, nz)
        write_instances(found, 3 * (last - first), turned, out, 3 * first)
