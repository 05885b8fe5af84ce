"""A polygon mesh of fixed topology, with everything a file said about it.

Faces may be triangles, quads or larger polygons; vertices are never merged, dropped or
reordered. What we do not understand travels along as named attributes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from ecorche.base.checks import require_finite, require_indices
from ecorche.errors import MeshError

Interpolation = Literal["constant", "uniform", "vertex", "corner"]
"""One value for the mesh, a face, a vertex, or a face corner (USD: faceVarying)."""


@dataclass(frozen=True, eq=False)
class Attribute:
    """Named values carried through from file to file: UVs, colours, painted masks.

    ``indices`` optionally selects rows of ``values`` per element, as USD primvars do.
    ``file_type`` is the type name the file used, so that it can be written back as it was.
    """

    name: str
    values: npt.NDArray[np.generic]  # (elements, components) or (elements,)
    interpolation: Interpolation = "vertex"
    indices: npt.NDArray[np.int32] | None = None
    file_type: str | None = None

    def flat(self) -> npt.NDArray[np.generic]:
        """The values with indices applied: one row an element."""
        return self.values if self.indices is None else self.values[self.indices]


@dataclass(frozen=True, eq=False)
class FaceSubset:
    """Some faces of a mesh, usually those of one material (glTF primitive, USD GeomSubset)."""

    name: str
    faces: npt.NDArray[np.int32]  # (n,) face numbers, ascending
    material: int | None = None  # index into the character's materials


@dataclass(frozen=True, eq=False)
class Morph:
    """A blend shape: bind-space offsets of some vertices, evaluated before skinning."""

    name: str
    vertices: npt.NDArray[np.int32]  # (n,) vertex numbers, ascending
    offsets: npt.NDArray[np.float32]  # (n, 3) [m]
    weight: float = 0.0  # the file's resting weight


@dataclass(frozen=True, eq=False, repr=False)
class Mesh:
    """Points, polygons and attributes of one surface, at bind, in metres and +Y up.

    Attributes:
        points: Vertex positions [m], shape (vertices, 3), float32.
        face_counts: Corners of each face, shape (faces,).
        face_indices: Vertex of each corner, faces one after another, shape (corners,).
        normals: Authored unit normals a vertex (vertices, 3) or a corner (corners, 3), or None.
        uv: The primary texture coordinates, an attribute a vertex or a corner, or None. The
            origin is at the lower left (USD's convention; glTF's v is flipped at the door).
        attributes: Everything else the file carried.
        subsets: Faces by material; together they need not cover the mesh.
        morphs: Blend shapes.
        subdivision: ``"none"`` or a USD subdivision scheme: then the points are a control cage.
    """

    name: str
    points: npt.NDArray[np.float32]
    face_counts: npt.NDArray[np.int32]
    face_indices: npt.NDArray[np.int32]
    normals: npt.NDArray[np.float32] | None = None
    uv: Attribute | None = None
    attributes: tuple[Attribute, ...] = ()
    subsets: tuple[FaceSubset, ...] = ()
    morphs: tuple[Morph, ...] = ()
    subdivision: str = "none"
    material: int | None = None
    double_sided: bool = False

    def __post_init__(self) -> None:
        where = f"mesh {self.name!r}"
        if self.points.ndim != 2 or self.points.shape[1] != 3 or self.points.dtype != np.float32:
            raise MeshError(
                f"points are {self.points.dtype} of shape {self.points.shape}",
                where=where,
                remedy="Give float32 of shape (vertices, 3)",
            )
        require_finite(self.points, "the position of vertex", where, MeshError)
        if int(self.face_counts.sum()) != len(self.face_indices):
            raise MeshError(
                f"the faces need {int(self.face_counts.sum())} corners but {len(self.face_indices)}"
                " are given",
                where=where,
                remedy="The file is damaged: export it again",
            )
        if len(self.face_counts) and int(self.face_counts.min()) < 3:
            raise MeshError(
                f"face {int(np.argmin(self.face_counts))} has fewer than three corners",
                where=where,
                remedy="Remove such faces and export again",
            )
        require_indices(self.face_indices, len(self.points), "corner", where, MeshError)
        if self.normals is not None and len(self.normals) not in (len(self.points), len(self.face_indices)):
            raise MeshError(
                f"{len(self.normals)} normals fit neither the {len(self.points)} vertices nor the"
                f" {len(self.face_indices)} corners",
                where=where,
                remedy="The file is damaged: export it again",
            )

    def __repr__(self) -> str:
        return f"Mesh({self.name!r}, {self.vertex_count} vertices, {len(self.face_counts)} faces)"

    @property
    def vertex_count(self) -> int:
        """How many vertices the mesh has."""
        return len(self.points)

    def triangles(self) -> npt.NDArray[np.int32]:
        """Vertex triples (triangles, 3): polygons cut as fans from their first corner."""
        return self.face_indices[triangle_corners(self.face_counts)]


def triangle_corners(face_counts: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
    """Corner triples (triangles, 3) that cut each polygon as a fan from its first corner."""
    starts = np.cumsum(face_counts, dtype=np.int64) - face_counts
    fans = face_counts - 2
    start = np.repeat(starts, fans)
    step = np.arange(int(fans.sum())) - np.repeat(np.cumsum(fans) - fans, fans)
    return np.stack([start, start + step + 1, start + step + 2], axis=1).astype(np.int32)


def triangle_mesh(name: str, points: npt.ArrayLike, triangles: npt.ArrayLike) -> Mesh:
    """A plain triangle mesh of points [m] (vertices, 3) and vertex triples (triangles, 3)."""
    faces = np.ascontiguousarray(triangles, np.int32)
    return Mesh(
        name=name,
        points=np.ascontiguousarray(points, np.float32),
        face_counts=np.full(len(faces), 3, np.int32),
        face_indices=faces.reshape(-1),
    )


def coincident_groups(*columns: npt.NDArray[np.generic]) -> npt.NDArray[np.int32]:
    """A group number a row, equal for rows that agree bit for bit in all given arrays.

    Numbers count up in order of first appearance, so the result does not depend on the values'
    order. Minus zero counts as zero.
    """
    count = len(columns[0])
    rows = np.concatenate(
        [np.ascontiguousarray(c.reshape(count, -1), np.float64) + 0.0 for c in columns], axis=1
    )
    _, first, group = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    rank = np.empty(len(first), np.int32)
    rank[np.argsort(first)] = np.arange(len(first), dtype=np.int32)
    return rank[group.reshape(-1)]
