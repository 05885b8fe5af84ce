"""Tangents for normal maps, by the MikkTSpace convention that renderers and bakers share.

Mikkelsen, "Simulation of wrinkled surfaces revisited" (2008), and the conventions of his reference
implementation: corners are welded where position, normal and UV are equal; each triangle has one direction
of rising u; around a welded vertex the triangles connected by edges and of equal UV orientation form a
group; the tangent of a group is the mean of its triangles' directions within the vertex's tangent plane,
weighted by the corner angles. Triangles without UV area take part in their neighbours' groups without a
say; triangles without area copy from a neighbour.

Changed here: computed in double precision; polygons of more than four corners, which the reference
implementation skips, are cut as fans.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit

from ecorche.base.mesh import Mesh, coincident_groups, triangle_corners
from ecorche.errors import MeshError

Floats = npt.NDArray[np.float64]
Numbers = npt.NDArray[np.integer]
Vectors = npt.NDArray[np.float32]

_TINY = float(np.finfo(np.float32).tiny)


class Tangents:
    """Tangents of one mesh, frame after frame.

    Which corners share a tangent is decided once, by what coincides at bind: in motion nothing can
    come together or part by chance.

    Args:
        mesh: Topology, UVs, and points and normals at bind.
    """

    def __init__(self, mesh: Mesh) -> None:
        self._corners, self._vertex_count = mesh.face_indices, mesh.vertex_count
        self._uv = _corner_uv(mesh)
        position = self._at_corners(mesh.points)
        same = [position, self._uv] + ([] if mesh.normals is None else [self._at_corners(mesh.normals)])
        self._weld = coincident_groups(*same)
        self._triangles, self._partner = _triangles(mesh, self._uv, position)
        self._neighbours = _neighbours(self._weld[self._triangles])

    def apply(self, points: Vectors, normals: Vectors) -> Vectors:
        """Tangent and sign (x, y, z, w) of each corner, shape (corners, 4), float32.

        The bitangent is ``w · normal × tangent``, along rising v with the origin of UVs at the lower
        left: this is also the w that glTF files hold.

        Args:
            points: Positions [m], shape (vertices, 3).
            normals: Unit normals, a vertex each (vertices, 3) or a corner each (corners, 3).
        """
        found = _tangents(
            self._triangles,
            self._partner,
            self._weld,
            self._at_corners(points),
            self._at_corners(normals),
            self._uv,
            self._neighbours,
        )
        return np.asarray(found, np.float32)

    def _at_corners(self, values: Vectors) -> Floats:
        """Values a vertex or a corner as values a corner, in double precision."""
        return (values[self._corners] if len(values) == self._vertex_count else values).astype(np.float64)


def vertex_tangents(
    corners: Numbers, vertex_count: int, corner_tangents: Vectors
) -> tuple[Vectors, npt.NDArray[np.bool_]]:
    """Tangents a vertex (vertices, 4), and at which vertices all corners agree within a degree.

    A vertex takes the tangent of its first corner; one without a face gets (1, 0, 0, 1).

    Args:
        corners: Vertex of each corner.
        vertex_count: How many vertices there are.
        corner_tangents: Tangents (corners, 4).
    """
    result = np.zeros((vertex_count, 4), np.float32)
    result[:] = [1.0, 0.0, 0.0, 1.0]
    used, first = np.unique(corners, return_index=True)
    result[used] = corner_tangents[first]
    along = np.sum(result[corners, :3] * corner_tangents[:, :3], axis=1)
    same = (along > np.cos(np.radians(1.0))) & (result[corners, 3] == corner_tangents[:, 3])
    return result, np.bincount(corners[~same], minlength=vertex_count) == 0


def no_tangents(mesh: Mesh, has_normals: bool) -> str | None:
    """Why a mesh cannot have tangents, or None where it can."""
    if mesh.uv is None or mesh.uv.interpolation not in ("vertex", "corner"):
        return "it has no texture coordinates"
    if mesh.subdivision != "none":
        return "the normals of a subdivision surface are its limit's"
    return None if has_normals else "it has no normals"


def _corner_uv(mesh: Mesh) -> Floats:
    """Texture coordinates of each corner (corners, 2)."""
    if mesh.uv is None:
        raise MeshError(
            "tangents need texture coordinates, and there are none",
            where=f"mesh {mesh.name!r}",
            remedy="Unwrap the mesh and export it with its UVs",
        )
    values = np.asarray(mesh.uv.flat(), np.float64)[:, :2]
    if mesh.uv.interpolation == "corner":
        return values
    if mesh.uv.interpolation == "vertex":
        return values[mesh.face_indices]
    raise MeshError(
        f"texture coordinates are one a {mesh.uv.interpolation} value",
        where=f"mesh {mesh.name!r}",
        remedy="Give one a vertex or a corner",
    )


def _triangles(mesh: Mesh, uv: Floats, position: Floats) -> tuple[Numbers, Numbers]:
    """Corner triples (triangles, 3), and the other half of each triangle's quad or -1 (triangles,).

    Quads are cut along the diagonal that is shorter in UV space, or if equal, in space.
    """
    triangles = triangle_corners(mesh.face_counts)
    partner = np.full(len(triangles), -1)
    counts = mesh.face_counts
    quads = np.flatnonzero(counts == 4)
    start = (np.cumsum(counts) - counts)[quads]
    half = (np.cumsum(counts - 2) - (counts - 2))[quads]
    partner[half], partner[half + 1] = half + 1, half

    def squared(values: Floats, a: int, b: int) -> Floats:
        return np.asarray(np.sum((values[start + a] - values[start + b]) ** 2, axis=1), np.float64)

    uv_02, uv_13 = squared(uv, 0, 2), squared(uv, 1, 3)
    other = (uv_13 < uv_02) | ((uv_13 == uv_02) & (squared(position, 1, 3) < squared(position, 0, 2)))
    triangles[half[other]] = start[other, None] + [0, 1, 3]
    triangles[half[other] + 1] = start[other, None] + [1, 2, 3]
    return triangles, partner


def _neighbours(vertices: Numbers) -> Numbers:
    """The triangle across each edge (triangles, 3), or -1: edge i runs from corner i to the next.

    Edges match in opposite directions, each once, in the order of the triangles.
    """
    a, b = vertices.reshape(-1), np.roll(vertices, -1, axis=1).reshape(-1)
    low, high = np.minimum(a, b), np.maximum(a, b)
    order = np.lexsort((np.arange(len(a)), high, low))
    return np.asarray(_matched(order, low, high, a < b), np.int64).reshape(-1, 3)


@njit(cache=True)  # type: ignore[untyped-decorator]
def _matched(order: Numbers, low: Numbers, high: Numbers, forward: npt.NDArray[np.bool_]) -> Numbers:
    found = np.full(len(order), -1)
    for i in range(len(order)):
        edge = order[i]
        if found[edge] >= 0 or low[edge] == high[edge]:
            continue
        for j in range(i + 1, len(order)):
            other = order[j]
            if low[other] != low[edge] or high[other] != high[edge]:
                break
            if found[other] < 0 and forward[other] != forward[edge]:
                found[edge] = other // 3
                found[other] = edge // 3
                break
    return found


@njit(cache=True)  # type: ignore[untyped-decorator]
def _dot(a: Floats, b: Floats) -> float:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]  # type: ignore[no-any-return]


@njit(cache=True)  # type: ignore[untyped-decorator]
def _across(direction: Floats, normal: Floats, out: Floats) -> None:
    """Write the unit direction within the plane across ``normal``; zero if there is none."""
    along = _dot(direction, normal)
    for axis in range(3):
        out[axis] = direction[axis] - along * normal[axis]
    _normalise(out)


@njit(cache=True)  # type: ignore[untyped-decorator]
def _normalise(vector: Floats) -> None:
    length = np.sqrt(_dot(vector, vector))
    for axis in range(3):
        vector[axis] = vector[axis] / length if length > _TINY else 0.0


@njit(cache=True)  # type: ignore[untyped-decorator]
def _directions(
    triangles: Numbers, position: Floats, uv: Floats, direction: Floats, uv_area: Floats
) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """Write each triangle's unit direction of rising u and its signed UV area (twice).

    Returned: which triangles have no say (no UV area), and which are empty (two corners in one place).
    """
    silent = np.ones(len(triangles), np.bool_)
    empty = np.zeros(len(triangles), np.bool_)
    for t in range(len(triangles)):
        a, b, c = triangles[t, 0], triangles[t, 1], triangles[t, 2]
        s1, t1 = uv[b, 0] - uv[a, 0], uv[b, 1] - uv[a, 1]
        s2, t2 = uv[c, 0] - uv[a, 0], uv[c, 1] - uv[a, 1]
        area = s1 * t2 - t1 * s2
        uv_area[t] = area
        length_v, ab, ac, bc = 0.0, 0.0, 0.0, 0.0
        for axis in range(3):
            d1 = position[b, axis] - position[a, axis]
            d2 = position[c, axis] - position[a, axis]
            ab, ac, bc = max(ab, abs(d1)), max(ac, abs(d2)), max(bc, abs(d1 - d2))
            direction[t, axis] = (t2 * d1 - t1 * d2) * (1.0 if area > 0.0 else -1.0)
            length_v += (s1 * d2 - s2 * d1) ** 2
        empty[t] = ab == 0.0 or ac == 0.0 or bc == 0.0
        length_u = np.sqrt(_dot(direction[t], direction[t]))
        if abs(area) > _TINY:
            silent[t] = not (length_u > _TINY * abs(area) and np.sqrt(length_v) > _TINY * abs(area))
        _normalise(direction[t])
    return silent, empty


@njit(cache=True)  # type: ignore[untyped-decorator]
def _groups(
    triangles: Numbers,
    weld: Numbers,
    neighbours: Numbers,
    silent: npt.NDArray[np.bool_],
    empty: npt.NDArray[np.bool_],
    upright: npt.NDArray[np.bool_],
) -> tuple[Numbers, Numbers]:
    """Row borders and members (3 · triangle + corner) of the groups that share a tangent.

    A silent triangle takes the orientation of the first group that reaches it.
    """
    count = len(triangles)
    taken = np.zeros((count, 3), np.bool_)
    members = np.empty(3 * count, np.int64)
    starts = np.zeros(3 * count + 1, np.int64)
    stack = np.empty(6 * count + 2, np.int64)
    groups, filled = 0, 0
    for seed in range(3 * count):
        if empty[seed // 3] or silent[seed // 3] or taken[seed // 3, seed % 3]:
            continue
        vertex, orientation = weld[triangles[seed // 3, seed % 3]], upright[seed // 3]
        stack[0], top = seed // 3, 1
        while top > 0:
            top -= 1
            t = stack[top]
            i = 0
            while weld[triangles[t, i]] != vertex:
                i += 1
            if empty[t] or taken[t, i]:
                continue
            if silent[t] and not (taken[t, 0] or taken[t, 1] or taken[t, 2]):
                upright[t] = orientation
            if upright[t] != orientation:
                continue
            taken[t, i] = True
            members[filled] = 3 * t + i
            filled += 1
            for edge in ((i + 2) % 3, i):
                if neighbours[t, edge] >= 0:
                    stack[top] = neighbours[t, edge]
                    top += 1
        groups += 1
        starts[groups] = filled
    return starts[: groups + 1], members[:filled]


@njit(cache=True)  # type: ignore[untyped-decorator]
def _tangents(
    triangles: Numbers,
    partner: Numbers,
    weld: Numbers,
    position: Floats,
    normal: Floats,
    uv: Floats,
    neighbours: Numbers,
) -> Floats:
    direction, uv_area = np.zeros((len(triangles), 3)), np.zeros(len(triangles))
    silent, empty = _directions(triangles, position, uv, direction, uv_area)
    upright = uv_area > 0.0
    # both halves of a quad get one orientation: that of the half with more UV area
    for t in range(len(triangles)):
        p = partner[t]
        if p > t and not empty[t] and not empty[p] and upright[t] != upright[p]:
            if silent[p] or abs(uv_area[t]) >= abs(uv_area[p]):
                upright[p] = upright[t]
            else:
                upright[t] = upright[p]
    starts, members = _groups(triangles, weld, neighbours, silent, empty, upright)

    result = np.zeros((len(weld), 4))
    mean, v1, v2 = np.zeros(3), np.zeros(3), np.zeros(3)
    for g in range(len(starts) - 1):
        mean[:] = 0.0
        for m in range(starts[g], starts[g + 1]):
            t, i = members[m] // 3, members[m] % 3
            if silent[t]:
                continue
            here, n = triangles[t, i], normal[triangles[t, i]]
            _across(position[triangles[t, (i + 2) % 3]] - position[here], n, v1)
            _across(position[triangles[t, (i + 1) % 3]] - position[here], n, v2)
            angle = np.arccos(min(1.0, max(-1.0, _dot(v1, v2))))
            _across(direction[t], n, v1)
            for axis in range(3):
                mean[axis] += angle * v1[axis]
        _normalise(mean)
        for m in range(starts[g], starts[g + 1]):
            corner = triangles[members[m] // 3, members[m] % 3]
            # a quad's corner may lie in both its triangles: then it gets the mean of both
            for axis in range(3):
                result[corner, axis] += mean[axis]
            _normalise(result[corner, :3])
            result[corner, 3] = 1.0 if upright[members[m] // 3] else -1.0
    _fill_the_rest(weld, normal, result)
    return result


@njit(cache=True)  # type: ignore[untyped-decorator]
def _fill_the_rest(weld: Numbers, normal: Floats, result: Floats) -> None:
    """Corners without a group take the tangent of the first corner welded to them, or any direction."""
    first = np.full(len(weld), -1)
    for corner in range(len(weld)):
        if result[corner, 3] != 0.0 and first[weld[corner]] < 0:
            first[weld[corner]] = corner
    for corner in range(len(weld)):
        if result[corner, 3] == 0.0:
            result[corner, 3] = 1.0
            if first[weld[corner]] >= 0:
                result[corner] = result[first[weld[corner]]]
        if _dot(result[corner], result[corner]) == 0.0:
            steep = abs(normal[corner, 0]) > 0.9
            axis = np.array([0.0 if steep else 1.0, 1.0 if steep else 0.0, 0.0])
            _across(axis, normal[corner], result[corner])
