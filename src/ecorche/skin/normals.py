"""Normals of posed surfaces: recomputed from the faces, true to what the file's author drew.

A normal is the sum of the vector areas of the faces that `smoothing` gives it, so large faces count more
and a polygon counts the same however it is cut. Authored normals are kept as an offset from that, carried
by a frame F that rides on the surface (the recomputed normal, the direction of one edge, and the third):
with l the authored normal a in that frame at bind, and k = F l at bind,

    n = a + (F l − k),   scaled to the length of a.

At bind n is a, bit for bit; a rigid motion turns n rigidly. Where the surface collapses to no area, the
normal keeps its bind direction. Everything is gathered, never scattered into: the result does not depend
on the number of threads.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from numba import njit, prange

from ecorche.base.lanes import (
    WIDTH,
    broadcast,
    gather_points,
    larger,
    load,
    rows_of_lanes,
    scatter_points,
    square_root,
    where_less,
)
from ecorche.base.mesh import Mesh
from ecorche.base.threads import threads_for
from ecorche.errors import MeshError
from ecorche.skin.smoothing import Numbers, Smoothing, Vectors, place_count, smoothing


class Normals:
    """Normals of some meshes that are posed together, ready to be recomputed frame after frame.

    Args:
        meshes: The surfaces at bind. Subdivision cages get no normals: their limit surface decides.
    """

    def __init__(self, meshes: Sequence[Mesh]) -> None:
        self._meshes = tuple(meshes)
        shaded = [m for m in meshes if m.subdivision == "none"]
        points = _stacked([m.points for m in shaded])
        self._borders = np.cumsum([0, *(place_count(m) for m in shaded)])
        self._smoothing = smoothing(shaded)
        self._rows = _Rows(self._smoothing)
        authored, has_authored = _authored(shaded)

        # the surface's own frame at bind: three directions at each place
        frame = [self._frame_vector(points, axis) for axis in range(3)]
        flat = ~np.any(frame[0], axis=1)
        authored[~has_authored] = frame[0][~has_authored]
        authored[~has_authored & flat] = [0.0, 1.0, 0.0]
        local = np.stack([np.sum(f * authored, axis=1) for f in frame], axis=1)
        local[~has_authored] = [1.0, 0.0, 0.0]
        local[flat] = 0.0
        nothing = np.zeros_like(authored)
        at_bind = self._evaluate(points, *map(self._rows.arranged, (local, nothing, nothing)), scaled=False)
        self._kept = tuple(map(self._rows.arranged, (local, at_bind, authored)))

    def apply(self, points: Sequence[Vectors]) -> tuple[Vectors | None, ...]:
        """Unit normals of posed points [m], one array (vertices, 3) a mesh.

        A normal a vertex, or a corner where the authored normals are; None for a subdivision cage.
        """
        for mesh, posed in zip(self._meshes, points, strict=True):
            if posed.shape != mesh.points.shape:
                raise MeshError(
                    f"posed points have shape {posed.shape} for {mesh.vertex_count} vertices",
                    where=f"mesh {mesh.name!r}",
                    remedy="Give one point a vertex",
                )
        shaded = [m.subdivision == "none" for m in self._meshes]
        stacked = _stacked([p for p, yes in zip(points, shaded, strict=True) if yes])
        normals = self._evaluate(stacked, *self._kept, scaled=True)
        parts = iter(np.split(normals, self._borders[1:-1]))
        return tuple(next(parts) if yes else None for yes in shaded)

    def _frame_vector(self, points: Vectors, axis: int) -> Vectors:
        """One direction of the surface's frame at every place, shape (places, 3); zero where flat."""
        unit = np.zeros((len(self._smoothing.vertices), 3), np.float32)
        nothing = np.zeros_like(unit)
        unit[:, axis] = 1.0
        return self._evaluate(points, *map(self._rows.arranged, (unit, nothing, nothing)), scaled=False)

    def _evaluate(
        self, points: Vectors, local: Vectors, at_bind: Vectors, authored: Vectors, *, scaled: bool
    ) -> Vectors:
        """``authored + (F local − at_bind)`` at every place, shape (places, 3)."""
        rows = self._rows
        out = np.empty((len(self._smoothing.vertices), 3), np.float32)
        with threads_for(len(rows.places)):
            _normals(
                points,
                rows.places,
                rows.vertices,
                rows.neighbours,
                rows.starts,
                rows.pairs,
                local,
                at_bind,
                authored,
                scaled,
                out,
            )
        return out


class _Rows:
    """Places in groups of sixteen lanes with equally many faces, as far as possible.

    Attributes:
        places: Place of each lane, shape (groups, 16); the last is repeated to fill up.
        vertices, neighbours: Vertex of each lane, and of its edge's far end, shape (groups, 16).
        starts: Borders of each group's rows in ``pairs``, shape (groups + 1,).
        pairs: Vertex pairs to add up, a row a step, shape (rows, 2, 16); a lane that has no more
            repeats its own vertex, which adds nothing.
    """

    def __init__(self, surface: Smoothing) -> None:
        counts = np.diff(surface.starts)
        order = np.argsort(counts, kind="stable")
        order = np.concatenate([order, np.repeat(order[-1:], -len(order) % WIDTH)])
        self.places = order.reshape(-1, WIDTH).astype(np.int32)
        self.vertices = surface.vertices[self.places].astype(np.int32)
        self.neighbours = surface.neighbours[self.places].astype(np.int32)
        most = counts[self.places].max(axis=1, initial=0)
        self.starts = np.concatenate([[0], np.cumsum(most)])
        group = np.repeat(np.arange(len(self.places)), most)
        step = (np.arange(len(group)) - self.starts[group])[:, None]
        lanes = self.places[group]
        entry = np.minimum(surface.starts[lanes] + step, max(len(surface.pairs) - 1, 0))
        self.pairs = np.empty((len(group), 2, WIDTH), np.int32)
        for end in range(2):
            pair = surface.pairs[entry, end]
            self.pairs[:, end] = np.where(step < counts[lanes], pair, self.vertices[group])

    def arranged(self, values: Vectors) -> Vectors:
        """Vectors of the places (places, 3) as lanes (groups, 3, 16)."""
        lanes = rows_of_lanes((len(self.places), 3))
        lanes[...] = values[self.places].transpose(0, 2, 1)
        return lanes


def _stacked(points: Sequence[Vectors]) -> Vectors:
    """All points in one array, counted through."""
    if len(points) == 1:
        return np.ascontiguousarray(points[0], np.float32)
    return np.concatenate([*points, np.zeros((0, 3), np.float32)], dtype=np.float32)


def _authored(meshes: Sequence[Mesh]) -> tuple[Vectors, npt.NDArray[np.bool_]]:
    """Authored normals of every place (places, 3), and which places have one."""
    values, has = [np.zeros((0, 3), np.float32)], [np.zeros(0, bool)]
    for mesh in meshes:
        given = mesh.normals
        values.append(np.zeros((mesh.vertex_count, 3), np.float32) if given is None else given)
        has.append(np.full(len(values[-1]), given is not None))
    return np.concatenate(values), np.concatenate(has)


@njit(parallel=True, cache=True)  # type: ignore[untyped-decorator]
def _normals(
    points: Vectors,
    places: Numbers,
    vertices: Numbers,
    neighbours: Numbers,
    starts: Numbers,
    pairs: Numbers,
    local: Vectors,
    at_bind: Vectors,
    authored: Vectors,
    scaled: bool,
    out: Vectors,
) -> None:
    for group in prange(len(places)):
        zero, one = broadcast(np.float32(0.0)), broadcast(np.float32(1.0))
        px, py, pz = gather_points(points, vertices, group)
        cx, cy, cz = zero, zero, zero
        for row in range(starts[group], starts[group + 1]):
            qx, qy, qz = gather_points(points, pairs, 2 * row)
            rx, ry, rz = gather_points(points, pairs, 2 * row + 1)
            qx, qy, qz = qx - px, qy - py, qz - pz
            rx, ry, rz = rx - px, ry - py, rz - pz
            cx, cy, cz = cx + (qy * rz - qz * ry), cy + (qz * rx - qx * rz), cz + (qx * ry - qy * rx)
        area = square_root(cx * cx + cy * cy + cz * cz)
        scale = one / area
        cx, cy, cz = cx * scale, cy * scale, cz * scale

        # the edge's direction within the tangent plane; where it has none, any across the normal
        qx, qy, qz = gather_points(points, neighbours, group)
        tx, ty, tz = qx - px, qy - py, qz - pz
        along = tx * cx + ty * cy + tz * cz
        tx, ty, tz = tx - along * cx, ty - along * cy, tz - along * cz
        length = square_root(tx * tx + ty * ty + tz * tz)
        steep, bound = larger(cx, -cx), broadcast(np.float32(0.6))
        tx = where_less(zero, length, tx, where_less(steep, bound, zero, -cz))
        ty = where_less(zero, length, ty, where_less(steep, bound, cz, zero))
        tz = where_less(zero, length, tz, where_less(steep, bound, -cy, cx))
        scale = one / square_root(tx * tx + ty * ty + tz * tz)
        tx, ty, tz = tx * scale, ty * scale, tz * scale
        bx, by, bz = cy * tz - cz * ty, cz * tx - cx * tz, cx * ty - cy * tx

        lx, ly, lz = load(local, 3 * group), load(local, 3 * group + 1), load(local, 3 * group + 2)
        kx, ky, kz = load(at_bind, 3 * group), load(at_bind, 3 * group + 1), load(at_bind, 3 * group + 2)
        ax, ay, az = load(authored, 3 * group), load(authored, 3 * group + 1), load(authored, 3 * group + 2)
        # subtracting a difference that is plus zero at bind keeps even a coordinate of minus zero
        nx = ax - (kx - (cx * lx + tx * ly + bx * lz))
        ny = ay - (ky - (cy * lx + ty * ly + by * lz))
        nz = az - (kz - (cz * lx + tz * ly + bz * lz))
        if scaled:
            # both lengths are the same number at bind: their ratio is exactly one
            was = square_root(ax * ax + ay * ay + az * az)
            now = square_root(nx * nx + ny * ny + nz * nz)
            ratio = where_less(zero, now, was / now, one)
            nx, ny, nz = nx * ratio, ny * ratio, nz * ratio
        nx = where_less(zero, area, nx, ax)
        ny = where_less(zero, area, ny, ay)
        nz = where_less(zero, area, nz, az)
        scatter_points(out, places, group, nx, ny, nz)
