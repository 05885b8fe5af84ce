"""Read one UsdGeomMesh: surface, attributes, subsets, and where it stands at bind.

A mesh under a SkelRoot is skinned in its skeleton's space, where the geomBindTransform puts it;
any other mesh stands where its own transform puts it. A posed mesh (one with sampled points) may
carry its binding outside a SkelRoot, as OpenUSD's own skinning bake leaves it, or in ``ecorche:``
attributes, as our writer leaves it: USD does not skin it a second time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from pxr import UsdGeom

from ecorche.base.mesh import Attribute, FaceSubset, Mesh
from ecorche.body.character import SkinnedMesh
from ecorche.errors import MeshError
from ecorche.io.usd.shapes import Shape, read_shapes
from ecorche.io.usd.skeleton import Rig
from ecorche.io.usd.skin import (
    MeshPrim,
    has_influences,
    inherited,
    read_method,
    read_own_bind,
    read_weights,
)
from ecorche.io.usd.stage import Space, matrix_of, move_points, prim_title, turn_normals, world_from_prim
from ecorche.io.usd.values import (
    TANGENTS,
    attribute_from_primvar,
    floats3,
    integers,
    numbers,
    schema_attributes,
    steady_value,
)

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ReadMesh:
    """A mesh as read, and how it came from its prim.

    Attributes:
        source: The prim.
        skinned: The mesh in our space.
        ours_from_prim: Matrix that took its points from the prim's space to bind, shape (4, 4).
        skinned_by_usd: Whether USD itself skins it.
        corner_order: Where the faces were reversed, the file's corner of each of ours; else None.
        shapes: Blend shapes by token.
    """

    source: MeshPrim
    skinned: SkinnedMesh
    ours_from_prim: Floats
    skinned_by_usd: bool
    corner_order: npt.NDArray[np.int64] | None
    shapes: dict[str, Shape]


def read_usd_mesh(
    source: MeshPrim, rig: Rig | None, space: Space, material_of: Any, notes: list[str]
) -> ReadMesh:
    """Read a mesh, on the rig where it is bound to it.

    Args:
        source: The mesh prim.
        rig: The character's rig, or None to read a surface alone.
        space: The stage's units.
        material_of: Function from a prim to the number of its material, or None.
        notes: Told of what was mended.
    """
    prim, where = source.prim, source.where
    schema = UsdGeom.Mesh(prim)
    for attribute in (schema.GetFaceVertexIndicesAttr(), schema.GetFaceVertexCountsAttr()):
        if attribute.GetNumTimeSamples() > 1:
            raise MeshError(
                "its faces change over time", where=where, remedy="Export it with a fixed topology"
            )
    points = floats3(steady_value(schema.GetPointsAttr()), "points", where)
    if not len(points):
        raise MeshError("it has no points", where=where, remedy="Remove it, or export it again")
    counts = integers(steady_value(schema.GetFaceVertexCountsAttr()))
    indices = integers(steady_value(schema.GetFaceVertexIndicesAttr()))
    if len(counts) and (counts.min() < 0 or int(counts.sum(dtype=np.int64)) != len(indices)):
        raise MeshError(
            f"its faces need {int(counts.sum(dtype=np.int64))} corners but {len(indices)} are given",
            where=where,
            remedy="The file is damaged: export it again",
        )

    bound = rig is not None and rig.prim is not None and source.skeleton == rig.prim
    kept = prim.HasRelationship("ecorche:skeleton")  # our writer's sign that USD shall not skin it
    by_usd = bound and source.under_root and has_influences(prim) and not kept
    weights = read_weights(source, rig, len(points), notes) if bound and rig is not None else None
    geometry = inherited(prim, "primvars:skel:geomBindTransform")
    if weights is not None and rig is not None and (has_influences(prim) or (kept and geometry is not None)):
        placed = np.eye(4) if geometry is None else matrix_of(steady_value(geometry))
        matrix = rig.ours_from_skeleton @ placed
    else:
        matrix = space.ours_from_stage @ world_from_prim(prim)
    if not np.isfinite(matrix).all() or abs(np.linalg.det(matrix[:3, :3])) < 1e-24:
        raise MeshError(
            "its transform has zero scale", where=where, remedy="Give it a scale and export again"
        )

    left_handed = steady_value(schema.GetOrientationAttr()) == "leftHanded"
    corner_order = None
    if left_handed != bool(np.linalg.det(matrix[:3, :3]) < 0.0):
        notes.append(f"{where} is left-handed or mirrored: its faces are reversed")
        corner_order = reversed_corners(counts)
        indices = indices[corner_order]

    sizes = {"constant": 1, "uniform": len(counts), "vertex": len(points), "corner": len(indices)}
    uv, attributes = _primvars(prim, sizes, corner_order, notes, where)
    shapes = read_shapes(source, matrix, len(points), notes)
    mesh = Mesh(
        name=source.name,
        points=move_points(matrix, points),
        face_counts=counts,
        face_indices=indices,
        normals=_normals(schema, indices, len(points), matrix, corner_order, notes, where),
        uv=uv,
        attributes=(*attributes, *schema_attributes(schema)),
        subsets=_subsets(schema, len(counts), material_of, notes, where),
        morphs=tuple(morph for shape in shapes.values() for morph in shape.morphs),
        subdivision=str(steady_value(schema.GetSubdivisionSchemeAttr()) or "none"),
        material=material_of(prim),
        double_sided=bool(steady_value(schema.GetDoubleSidedAttr())),
    )
    skinned = SkinnedMesh(
        mesh, weights, read_own_bind(prim, rig), read_method(prim) if weights is not None else None
    )
    return ReadMesh(source, skinned, matrix, by_usd, corner_order, shapes)


def reversed_corners(counts: npt.NDArray[np.int32]) -> npt.NDArray[np.int64]:
    """Corner numbers that turn every face over, keeping its first corner."""
    starts = np.repeat(np.cumsum(counts, dtype=np.int64) - counts, counts)
    step = np.arange(len(starts)) - starts
    order: npt.NDArray[np.int64] = starts + np.where(step == 0, 0, np.repeat(counts, counts) - step)
    return order


# --- attributes ------------------------------------------------------------------------------


def _primvars(
    prim: Any,
    sizes: dict[str, int],
    corner_order: npt.NDArray[np.int64] | None,
    notes: list[str],
    where: str,
) -> tuple[Attribute | None, list[Attribute]]:
    """The primary texture coordinates, and all other primvars."""
    uv: Attribute | None = None
    others: list[Attribute] = []
    found = [
        p
        for p in UsdGeom.PrimvarsAPI(prim).FindPrimvarsWithInheritance()
        if p.HasAuthoredValue() and not str(p.GetPrimvarName()).startswith("skel:")
    ]
    by_name = {str(p.GetPrimvarName()): p for p in found}
    coordinates = [n for n, p in by_name.items() if _is_uv(p)]
    primary = "st" if "st" in by_name else min(coordinates, default="")
    for name in sorted(by_name):
        if name == "normals":  # overrides the schema's normals; read there
            continue
        if name == TANGENTS and by_name[name].ValueMightBeTimeVarying():
            notes.append(f"{where}: its tangents over time are left out; they can be written anew")
            continue
        attribute = attribute_from_primvar(by_name[name], sizes, notes, where)
        if attribute.interpolation == "corner" and corner_order is not None:
            attribute = _reordered(attribute, corner_order)
        is_pair = attribute.values.ndim == 2 and attribute.values.shape[1] == 2
        if name == primary and is_pair and attribute.interpolation in ("vertex", "corner"):
            uv = attribute
        else:
            others.append(attribute)
    return uv, others


def _is_uv(primvar: Any) -> bool:
    return primvar.GetTypeName().role == "TextureCoordinate" and str(primvar.GetTypeName()).startswith(
        "texCoord2"
    )


def _reordered(attribute: Attribute, order: npt.NDArray[np.int64]) -> Attribute:
    if attribute.indices is not None:
        return Attribute(
            attribute.name, attribute.values, "corner", attribute.indices[order], attribute.file_type
        )
    return Attribute(attribute.name, attribute.values[order], "corner", None, attribute.file_type)


def _normals(
    schema: Any,
    face_indices: npt.NDArray[np.int32],
    vertex_count: int,
    matrix: Floats,
    corner_order: npt.NDArray[np.int64] | None,
    notes: list[str],
    where: str,
) -> npt.NDArray[np.float32] | None:
    """Authored normals at bind, a vertex or a corner each; None where there are none we can use."""
    prim = schema.GetPrim()
    # where the points have a default, which is bind, the samples' normals belong to other poses
    default_only = schema.GetPointsAttr().Get() is not None
    primvar = UsdGeom.PrimvarsAPI(prim).GetPrimvar("normals")
    kept = prim.GetAttribute("ecorche:bind:normals").Get()
    own = schema.GetNormalsAttr()
    if kept is not None:
        values = floats3(kept, "normals", where)
        interpolation = "vertex" if len(values) == vertex_count else "faceVarying"
    elif primvar and primvar.HasAuthoredValue():
        values = numbers(steady_value(primvar.GetAttr())).astype(np.float32)
        if primvar.IsIndexed():
            values = values[integers(steady_value(primvar.GetIndicesAttr()))]
        interpolation = str(primvar.GetInterpolation())
    elif (found := own.Get() if default_only else steady_value(own)) is not None:
        values = floats3(found, "normals", where)
        interpolation = str(schema.GetNormalsInterpolation())
    else:
        return None
    if not np.isfinite(values).all():
        notes.append(f"{where}: its normals are not finite numbers and are left out")
        return None
    ordered = normals_in_order(values, interpolation, face_indices, vertex_count, corner_order)
    if ordered is None:
        notes.append(f"{where}: its {len(values)} {interpolation} normals fit no vertex or corner; left out")
        return None
    return turn_normals(matrix, ordered)


def normals_in_order(
    values: npt.NDArray[np.float32],
    interpolation: str,
    face_indices: npt.NDArray[np.int32],
    vertex_count: int,
    corner_order: npt.NDArray[np.int64] | None,
) -> npt.NDArray[np.float32] | None:
    """A file's normals (n, 3) a vertex or a corner of ours; None where they fit neither.

    A `Mesh` tells the two by their number; with as many corners as vertices it is a vertex each.
    """
    corner_count = len(face_indices)
    if interpolation in ("vertex", "varying") and len(values) == vertex_count:
        return values
    if interpolation != "faceVarying" or len(values) != corner_count:
        return None
    if corner_order is not None:
        values = values[corner_order]
    if corner_count != vertex_count:
        return values
    if len(np.unique(face_indices)) != corner_count:
        return None
    by_vertex = np.empty_like(values)
    by_vertex[face_indices] = values
    return by_vertex


def _subsets(
    schema: Any, face_count: int, material_of: Any, notes: list[str], where: str
) -> tuple[FaceSubset, ...]:
    """Face subsets of the mesh, with their materials."""
    found = []
    for subset in UsdGeom.Subset.GetAllGeomSubsets(schema):
        name = prim_title(subset.GetPrim())
        if str(subset.GetElementTypeAttr().Get()) != "face":
            notes.append(f"{where}: subset {name!r} is not of faces and is left out")
            continue
        faces = np.unique(integers(steady_value(subset.GetIndicesAttr())))
        if len(faces) and (faces[0] < 0 or faces[-1] >= face_count):
            raise MeshError(
                f"subset {name!r} holds face {int(faces[-1])}, but only 0 to {face_count - 1} exist",
                where=where,
                remedy="The file is damaged: export it again",
            )
        found.append(FaceSubset(name, faces.astype(np.int32), material_of(subset.GetPrim())))
    return tuple(found)
