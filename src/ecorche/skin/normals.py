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
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit, prange

from ecorche.base.lanes import (
    WIDTH,
    all_less,
    broadcast,
    gather_points,
    larger,
    load,
    multiply_add,
    rows_of_lanes,
    scatter_points,
    square_root,
    where_less,
)
from ecorche.base.mesh import Mesh
from ecorche.base.threads import threads_for
from ecorche.errors import MeshError
from ecorche.skin.smoothing import Numbers, Smoothing, Vectors, place_count, smoothing

STEEP = 0.6
"""Where a place's edge gives no direction: one across a normal that is steeper than this along x, or not."""
_STEEP = np.float32(STEEP)


class NormalPlaces(NamedTuple):
    """Places that have a normal each: vertices, or corners of a mesh whose normals are told by corners.

    Attributes:
        vertices: Vertex of each place, counted through the meshes that have normals, (places,).
        starts: Borders of the places' pairs, (places + 1,).
        pairs: Vertices whose vector areas with the place's own add up, (pairs, 2).
        neighbours: The far end of the edge that gives the surface's frame a direction, (places,).
        local: The authored normal in that frame at bind, (places, 3).
        at_bind: What that frame makes of it at bind, (places, 3).
        authored: The authored normal, (places, 3).
    """

    vertices: Numbers
    starts: Numbers
    pairs: Numbers
    neighbours: Numbers
    local: Vectors
    at_bind: Vectors
    authored: Vectors


class Normals:
    """Normals of some meshes that are posed together, ready to be recomputed frame after frame.

    Args:
        meshes: The surfaces at bind. Subdivision cages get no normals: their limit surface decides.

    Attributes:
        places: The same place by place, for programs that treat one at a time.
        borders: Where the places of each mesh that has normals begin, and the end, (meshes + 1,).
    """

    def __init__(self, meshes: Sequence[Mesh]) -> None:
        self._meshes = tuple(meshes)
        shaded = [m for m in meshes if m.subdivision == "none"]
        points = _stacked([m.points for m in shaded])
        self.borders = np.cumsum([0, *(place_count(m) for m in shaded)])
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
        of = self._smoothing
        self.places = NormalPlaces(of.vertices, of.starts, of.pairs, of.neighbours, local, at_bind, authored)
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
        normals = self.of_all(stacked)
        parts = iter(np.split(normals, self.borders[1:-1]))
        return tuple(next(parts) if yes else None for yes in shaded)

    def of_all(self, points: Vectors, out: Vectors | None = None) -> Vectors:
        """Unit normals (places, 3) of all meshes that have them, whose points (vertices, 3) are one array."""
        return self._evaluate(points, *self._kept, scaled=True, out=out)

    def _frame_vector(self, points: Vectors, axis: int) -> Vectors:
        """One direction of the surface's frame at every place, shape (places, 3); zero where flat."""
        unit = np.zeros((len(self._smoothing.vertices), 3), np.float32)
        nothing = np.zeros_like(unit)
        unit[:, axis] = 1.0
        return self._evaluate(points, *map(self._rows.arranged, (unit, nothing, nothing)), scaled=False)

    def _evaluate(
        self,
        points: Vectors,
        local: Vectors,
        at_bind: Vectors,
        authored: Vectors,
        *,
        scaled: bool,
        out: Vectors | None = None,
    ) -> Vectors:
        """``authored + (F local − at_bind)`` at every place, shape (places, 3)."""
        rows = self._rows
        out = np.empty((len(self._smoothing.vertices), 3), np.float32) if out is None else out
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


@njit(forceinline=True)  # type: ignore[untyped-decorator]
def _square(a: Any) -> Any:
    return multiply_add(a[0], a[0], multiply_add(a[1], a[1], a[2] * a[2]))


@njit(forceinline=True)  # type: ignore[untyped-decorator]
def shaded(area: Any, edge: Any, local: Any, at_bind: Any, authored: Any, scaled: bool) -> Any:
    """``authored + (F local − at_bind)`` of lanes, for vector areas and an edge each; in kernels."""
    zero, one = broadcast(np.float32(0.0)), broadcast(np.float32(1.0))
    square = _square(area)
    scale = one / square_root(square)
    cx, cy, cz = area[0] * scale, area[1] * scale, area[2] * scale
    # the edge's direction within the tangent plane; where it has none, any across the normal
    along = -multiply_add(edge[0], cx, multiply_add(edge[1], cy, edge[2] * cz))
    tx, ty, tz = (
        multiply_add(along, cx, edge[0]),
        multiply_add(along, cy, edge[1]),
        multiply_add(along, cz, edge[2]),
    )
    long = _square((tx, ty, tz))
    if not all_less(zero, long):
        steep, bound = larger(cx, -cx), broadcast(_STEEP)
        tx = where_less(zero, long, tx, where_less(steep, bound, zero, -cz))
        ty = where_less(zero, long, ty, where_less(steep, bound, cz, zero))
        tz = where_less(zero, long, tz, where_less(steep, bound, -cy, cx))
        long = _square((tx, ty, tz))
    scale = one / square_root(long)
    tx, ty, tz = tx * scale, ty * scale, tz * scale
    bx = multiply_add(cy, tz, -(cz * ty))
    by = multiply_add(cz, tx, -(cx * tz))
    bz = multiply_add(cx, ty, -(cy * tx))
    lx, ly, lz = local
    ax, ay, az = authored
    # subtracting a difference that is plus zero at bind keeps even a coordinate of minus zero
    nx = ax - (at_bind[0] - multiply_add(cx, lx, multiply_add(tx, ly, bx * lz)))
    ny = ay - (at_bind[1] - multiply_add(cy, lx, multiply_add(ty, ly, by * lz)))
    nz = az - (at_bind[2] - multiply_add(cz, lx, multiply_add(tz, ly, bz * lz)))
    if scaled:
        # both squares are the same number at bind: the root of their ratio is exactly one
        now = _square((nx, ny, nz))
        ratio = where_less(zero, now, square_root(_square(authored) / now), one)
        nx, ny, nz = nx * ratio, ny * ratio, nz * ratio
    return (
        where_less(zero, square, nx, ax),
        where_less(zero, square, ny, ay),
        where_less(zero, square, nz, az),
    )


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
        zero = broadcast(np.float32(0.0))
        px, py, pz = gather_points(points, vertices, group)
        cx, cy, cz = zero, zero, zero
        for row in range(starts[group], starts[group + 1]):
            qx, qy, qz = gather_points(points, pairs, 2 * row)
            rx, ry, rz = gather_points(points, pairs, 2 * row + 1)
            qx, qy, qz = qx - px, qy - py, qz - pz
            rx, ry, rz = rx - px, ry - py, rz - pz
            cx = multiply_add(-qz, ry, multiply_add(qy, rz, cx))
            cy = multiply_add(-qx, rz, multiply_add(qz, rx, cy))
            cz = multiply_add(-qy, rx, multiply_add(qx, ry, cz))
        qx, qy, qz = gather_points(points, neighbours, group)
        local_lanes = load(local, 3 * group), load(local, 3 * group + 1), load(local, 3 * group + 2)
        bind_lanes = load(at_bind, 3 * group), load(at_bind, 3 * group + 1), load(at_bind, 3 * group + 2)
        own = load(authored, 3 * group), load(authored, 3 * group + 1), load(authored, 3 * group + 2)
        edge = qx - px, qy - py, qz - pz
        nx, ny, nz = shaded((cx, cy, cz), edge, local_lanes, bind_lanes, own, scaled)
        scatter_points(out, places, group, nx, ny, nz)
