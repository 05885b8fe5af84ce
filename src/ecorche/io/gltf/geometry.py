"""A mesh as glTF wants it: triangles, and one value of everything a vertex.

Vertex i stays vertex i. Where a mesh has values a corner that differ around a vertex (USD's
faceVarying), glTF needs that vertex once for each value: the copies are added after the last one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from ecorche.base.mesh import Attribute, Mesh, triangle_corners
from ecorche.base.rotations import normalise
from ecorche.io.gltf.buffer import COMPONENTS, INDICES, VERTICES, BufferWriter
from ecorche.io.gltf.file import Json, decode
from ecorche.io.gltf.meshes import ATTRIBUTES_EXTRA, flipped_v
from ecorche.io.playback import influence_columns
from ecorche.skin.weights import SkinWeights

Floats32 = npt.NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Geometry:
    """A mesh cut to triangles with one value a vertex.

    Attributes:
        source: Vertex of the mesh behind each written vertex; starts with 0, 1, 2 …
        corners: Written vertex of each corner of the mesh.
        triangles: Corner triples (triangles, 3), and the face each was cut from.
        columns: Values a written vertex by glTF name, and whether they are normalised integers.
        extras: Attributes glTF has no arrays for.
        notes: What had to change.
    """

    source: npt.NDArray[np.int64]
    corners: npt.NDArray[np.int32]
    triangles: npt.NDArray[np.int32]
    faces: npt.NDArray[np.int64]
    columns: dict[str, tuple[npt.NDArray[np.generic], bool]]
    extras: list[Json] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def geometry_of(mesh: Mesh) -> Geometry:
    """Prepare a mesh: every attribute named, typed and laid out as glTF allows."""
    notes: list[str] = []
    extras: list[Json] = []
    held: dict[str, tuple[npt.NDArray[Any], bool, bool]] = {}  # values, normalised, one a corner
    faces = np.repeat(np.arange(len(mesh.face_counts)), mesh.face_counts - 2)
    if mesh.normals is not None:
        normals = _unit_normals(mesh, notes)
        held["NORMAL"] = (normals, False, len(normals) != mesh.vertex_count)
    if mesh.uv is not None and mesh.uv.interpolation in ("vertex", "corner"):
        values, normalised = _texture_coordinates(mesh)
        held["TEXCOORD_0"] = (values, normalised, mesh.uv.interpolation == "corner")
    elif mesh.uv is not None:
        extras.append(_extra(mesh.uv, faces))
    for attribute in mesh.attributes:
        if attribute.name == "TEXCOORD_0" and "TEXCOORD_0" in held:
            continue  # the exact bits behind mesh.uv, used above
        if attribute.interpolation in ("constant", "uniform"):
            extras.append(_extra(attribute, faces))
            continue
        typed = _typed(attribute, mesh.name, notes)
        if typed is None:
            extras.append(_extra(attribute, faces))
        else:
            name = _gltf_name(attribute.name, typed, held)
            held[name] = (*typed, attribute.interpolation == "corner")
    if mesh.subdivision != "none":
        notes.append(f"mesh {mesh.name!r} is a {mesh.subdivision} cage; glTF shows the cage itself")
    if (mesh.face_counts > 3).any():
        notes.append(f"mesh {mesh.name!r}: its polygons are cut to triangles, which is all glTF knows")
    source, corners = _split(mesh, [v for v, _, corner in held.values() if corner])
    if len(source) > mesh.vertex_count:
        notes.append(
            f"mesh {mesh.name!r}: {len(source) - mesh.vertex_count} vertices are repeated after the last one,"
            " because glTF has one texture coordinate and normal a vertex"
        )
    first_corner = first_corners(corners, len(source))
    columns = {
        name: (values[first_corner] if corner else values[source], normalised)
        for name, (values, normalised, corner) in held.items()
    }
    return Geometry(source, corners, triangle_corners(mesh.face_counts), faces, columns, extras, notes)


def add_tangents(mesh: Mesh, geometry: Geometry) -> None:
    """Add tangents at bind; those a file came with are kept. Where a mesh can have none, a note."""
    # compiled code is only loaded where it is asked for
    from ecorche.skin.tangents import Tangents, no_tangents, vertex_tangents

    if "TANGENT" in geometry.columns:
        return
    reason = no_tangents(mesh, mesh.normals is not None)
    if reason is not None:
        geometry.notes.append(f"mesh {mesh.name!r} is written without tangents: {reason}")
        return
    assert mesh.normals is not None
    corner_tangents = Tangents(mesh).apply(mesh.points, mesh.normals)
    values, agree = vertex_tangents(geometry.corners, len(geometry.source), corner_tangents)
    geometry.columns["TANGENT"] = (values, False)
    if not agree.all():
        geometry.notes.append(
            f"mesh {mesh.name!r}: around {int((~agree).sum())} vertices faces differ in their tangent;"
            " the first face's is written"
        )


def _unit_normals(mesh: Mesh, notes: list[str]) -> Floats32:
    assert mesh.normals is not None
    length = np.linalg.norm(mesh.normals.astype(np.float64), axis=1)
    off = np.abs(length - 1.0) > 1e-3
    if not off.any():
        return mesh.normals
    normals = mesh.normals.copy()
    normals[off] = normalise(mesh.normals[off])
    normals[length < 1e-12] = (0.0, 1.0, 0.0)
    notes.append(
        f"mesh {mesh.name!r}: {int(off.sum())} normals were not of length one and are now"
        + (f"; {int((length < 1e-12).sum())} had no direction and point up" if (length < 1e-12).any() else "")
    )
    return normals


def _texture_coordinates(mesh: Mesh) -> tuple[npt.NDArray[Any], bool]:
    """The primary texture coordinates, origin upper left; the bits a glTF file once had, if known."""
    assert mesh.uv is not None
    lower_left = np.asarray(mesh.uv.flat(), np.float32).reshape(-1, 2)
    for attribute in mesh.attributes:
        if attribute.name == "TEXCOORD_0" and attribute.values.dtype.kind in "fu":
            raw, normalised = attribute.flat(), _normalised(attribute)
            if raw.shape == lower_left.shape and raw.dtype in COMPONENTS:
                same = flipped_v(decode(raw, normalised))
                if np.array_equal(same, lower_left):
                    return raw, normalised
    return flipped_v(lower_left), False


def _normalised(attribute: Attribute) -> bool:
    integer = attribute.values.dtype.kind in "iu" and attribute.values.dtype.itemsize <= 2
    return integer and (attribute.file_type or "").startswith("NORMALISED")


def _typed(attribute: Attribute, mesh: str, notes: list[str]) -> tuple[npt.NDArray[Any], bool] | None:
    """Values in a type glTF has for vertices, or None where it has none."""
    values = np.asarray(attribute.flat())
    values = values.reshape(len(values), -1)
    if values.dtype.kind not in "fiub" or not 1 <= values.shape[1] <= 4:
        return None
    if values.dtype in COMPONENTS and values.dtype != np.uint32:
        return values, _normalised(attribute)
    narrow = values.astype(np.float32)
    if not np.array_equal(narrow.astype(values.dtype), values):
        notes.append(f"mesh {mesh!r}: {attribute.name!r} is written as 32-bit float and loses digits")
    return narrow, False


def _gltf_name(name: str, typed: tuple[npt.NDArray[Any], bool], taken: dict[str, Any]) -> str:
    """A name glTF allows: its own where type and number fit, else one that starts with ``_``."""
    values, normalised = typed
    fraction = values.dtype == np.float32 or (normalised and values.dtype.kind == "u")
    known = re.fullmatch(r"(TEXCOORD|COLOR)_(\d+)", name)
    if name == "TANGENT" and values.shape[1] == 4 and values.dtype == np.float32 and "NORMAL" in taken:
        return name
    if known and fraction:
        kind, number = known[1], int(known[2])
        fits = values.shape[1] == 2 if kind == "TEXCOORD" else values.shape[1] in (3, 4)
        if fits and (number == 0 or f"{kind}_{number - 1}" in taken):
            return name
    base = re.sub(r"[^A-Za-z0-9_]", "_", name)
    base = base if base.startswith("_") else f"_{base}"
    return next(n for n in (base, *(f"{base}_{i}" for i in range(2, 1000))) if n not in taken)


def _extra(attribute: Attribute, faces: npt.NDArray[np.int64]) -> Json:
    values = np.asarray(attribute.flat())
    if attribute.interpolation == "uniform":
        values = values[faces]  # a value a triangle
    return {
        "name": attribute.name,
        "interpolation": attribute.interpolation,
        "dtype": values.dtype.str,
        "values": values.tolist(),
        **({"file_type": attribute.file_type} if attribute.file_type else {}),
    }


def _split(mesh: Mesh, tables: list[npt.NDArray[Any]]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]:
    """Written vertices and the one of each corner, for values a corner that may differ at a vertex."""
    every = np.arange(mesh.vertex_count)
    if not tables:
        return every, mesh.face_indices
    rows = np.concatenate(
        [mesh.face_indices[:, None].astype(np.float64)]
        + [t.reshape(len(t), -1).astype(np.float64) for t in tables],
        axis=1,
    )
    _, first, group = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    group = group.reshape(-1)
    vertex_of_group = mesh.face_indices[first]
    order = np.lexsort((first, vertex_of_group))
    leads = np.ones(len(order), bool)
    leads[1:] = vertex_of_group[order][1:] != vertex_of_group[order][:-1]
    number = np.empty(len(order), np.int64)
    number[order[leads]] = vertex_of_group[order[leads]]
    extra = np.sort(order[~leads])
    extra = extra[np.argsort(first[extra], kind="stable")]
    number[extra] = mesh.vertex_count + np.arange(len(extra))
    return np.concatenate([every, vertex_of_group[extra]]), number[group].astype(np.int32)


def first_corners(corners: npt.NDArray[np.int32], count: int) -> npt.NDArray[np.int64]:
    """A corner that shows each written vertex; 0 for one no face uses."""
    found = np.zeros(count, np.int64)
    used, first = np.unique(corners, return_index=True)
    found[used] = first
    return found


def write_primitives(
    buffer: BufferWriter,
    mesh: Mesh,
    geometry: Geometry,
    weights: SkinWeights | None,
    targets: list[Json],
    material_number: dict[tuple[int, bool], int],
) -> Json:
    """The mesh's glTF entry: one primitive a subset, all on the same vertex arrays."""
    arrays: dict[str, int] = {
        "POSITION": buffer.accessor(mesh.points[geometry.source], VERTICES, bounds=True)
    }
    for name, (values, normalised) in geometry.columns.items():
        arrays[name] = buffer.accessor(values, VERTICES, normalised=normalised)
    for n, (joints, table) in enumerate(influence_columns(weights) if weights is not None else []):
        arrays[f"JOINTS_{n}"] = buffer.accessor(joints[geometry.source], VERTICES)
        arrays[f"WEIGHTS_{n}"] = buffer.accessor(table[geometry.source], VERTICES)
    primitives = []
    for part, faces, material in parts(mesh):
        chosen = np.isin(geometry.faces, faces) if faces is not None else slice(None)
        triangles = geometry.corners[geometry.triangles[chosen]].reshape(-1, 1)
        wide = len(geometry.source) > 65535
        primitive: Json = {
            "attributes": dict(arrays),
            "indices": buffer.accessor(triangles.astype(np.uint32 if wide else np.uint16), INDICES),
        }
        if material is not None:
            primitive["material"] = material_number[material, mesh.double_sided]
        if targets:
            primitive["targets"] = targets
        if part is not None:
            primitive["extras"] = {"name": part}
        primitives.append(primitive)
    entry: Json = {"name": mesh.name, "primitives": primitives}
    if geometry.extras:
        entry["extras"] = {ATTRIBUTES_EXTRA: geometry.extras}
    return entry


def parts(mesh: Mesh) -> list[tuple[str | None, npt.NDArray[np.int32] | None, int | None]]:
    """Name, faces and material of each primitive; faces in no subset come last, None means all."""
    if not mesh.subsets:
        return [(None, None, mesh.material)]
    found: list[tuple[str | None, npt.NDArray[np.int32] | None, int | None]] = [
        (s.name, s.faces, mesh.material if s.material is None else s.material)
        for s in mesh.subsets
        if len(s.faces)
    ]
    covered = np.zeros(len(mesh.face_counts), bool)
    for subset in mesh.subsets:
        covered[subset.faces] = True
    if not covered.all():
        found.append((None, np.flatnonzero(~covered).astype(np.int32), mesh.material))
    return found
