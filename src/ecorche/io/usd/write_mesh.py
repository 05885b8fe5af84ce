"""Write what stays the same of a mesh: faces, bind points, attributes, looks, blend shapes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from pxr import Gf, Sdf, UsdGeom, UsdShade, UsdSkel, Vt

from ecorche.base.mesh import Mesh
from ecorche.io.usd.materials import uv_primvar_name
from ecorche.io.usd.values import unique_names, write_attribute


def vectors(array: npt.NDArray[np.floating]) -> Any:
    """An (n, 3) array as USD's float3 array."""
    return Vt.Vec3fArray.FromNumpy(np.ascontiguousarray(array, np.float32))


def whole_numbers(array: npt.NDArray[np.integer]) -> Any:
    """An (n,) array as USD's int array."""
    return Vt.IntArray.FromNumpy(np.ascontiguousarray(array, np.int32))


def extent(points: npt.NDArray[np.floating]) -> Any:
    """The box around points: USD's pair of corners."""
    if not len(points):
        return Vt.Vec3fArray([Gf.Vec3f(0.0), Gf.Vec3f(0.0)])
    return vectors(np.stack([points.min(axis=0), points.max(axis=0)]))


def write_mesh(
    stage: Any, path: Any, mesh: Mesh, materials: Sequence[Any], doubles: Sequence[bool], notes: list[str]
) -> tuple[Any, list[Any]]:
    """Define a mesh at bind; the UsdGeomMesh, and the path of each of its blend shapes.

    Normals are left to the caller, who knows whether they change over time.

    Args:
        stage: The stage.
        path: Where to define it.
        mesh: The mesh.
        materials: UsdShade materials by number.
        doubles: Whether each material shows both sides.
        notes: Told of what USD cannot hold.
    """
    schema = UsdGeom.Mesh.Define(stage, path)
    prim = schema.GetPrim()
    if path.name != mesh.name:
        prim.SetDisplayName(mesh.name)
    schema.CreatePointsAttr(vectors(mesh.points))
    schema.CreateFaceVertexCountsAttr(whole_numbers(mesh.face_counts))
    schema.CreateFaceVertexIndicesAttr(whole_numbers(mesh.face_indices))
    schema.CreateExtentAttr(extent(mesh.points))
    schema.CreateSubdivisionSchemeAttr(mesh.subdivision)
    used = [mesh.material, *(subset.material for subset in mesh.subsets)]
    if mesh.double_sided or any(doubles[m] for m in used if m is not None):
        schema.CreateDoubleSidedAttr(True)
    if mesh.uv is not None:
        _note(write_attribute(prim, mesh.uv, uv_primvar_name(mesh.uv.name)), mesh, notes)
    for attribute in mesh.attributes:
        _note(write_attribute(prim, attribute), mesh, notes)
    _bind(prim, mesh.material, materials)
    names = unique_names([*(s.name for s in mesh.subsets), *(m.name for m in mesh.morphs)])
    _write_subsets(schema, mesh, names, materials)
    shapes = [path.AppendChild(name) for name in names[len(mesh.subsets) :]]
    _write_shapes(stage, mesh, shapes)
    return schema, shapes


def _note(note: str | None, mesh: Mesh, notes: list[str]) -> None:
    if note is not None:
        notes.append(f"mesh {mesh.name!r}: {note}")


def _bind(prim: Any, material: int | None, materials: Sequence[Any]) -> None:
    if material is not None:
        UsdShade.MaterialBindingAPI.Apply(prim).Bind(materials[material])


def _write_subsets(schema: Any, mesh: Mesh, names: list[str], materials: Sequence[Any]) -> None:
    for name, subset in zip(names, mesh.subsets, strict=False):
        family = "" if subset.material is None else "materialBind"
        written = UsdGeom.Subset.CreateGeomSubset(
            schema, name, UsdGeom.Tokens.face, whole_numbers(subset.faces), family
        )
        if name != subset.name:
            written.GetPrim().SetDisplayName(subset.name)
        _bind(written.GetPrim(), subset.material, materials)
    if any(subset.material is not None for subset in mesh.subsets):
        UsdShade.MaterialBindingAPI(schema.GetPrim()).SetMaterialBindSubsetsFamilyType("nonOverlapping")


def _write_shapes(stage: Any, mesh: Mesh, paths: list[Any]) -> None:
    for path, morph in zip(paths, mesh.morphs, strict=True):
        shape = UsdSkel.BlendShape.Define(stage, path)
        shape.CreateOffsetsAttr(vectors(morph.offsets))
        shape.CreatePointIndicesAttr(whole_numbers(morph.vertices))
        if path.name != morph.name:
            shape.GetPrim().SetDisplayName(morph.name)
        if morph.weight != 0.0:
            kept = shape.GetPrim().CreateAttribute("ecorche:restWeight", Sdf.ValueTypeNames.Float, True)
            kept.Set(float(morph.weight))


def write_bind_normals(schema: Any, mesh: Mesh) -> None:
    """Write authored normals as USD's own; not on a subdivision mesh, whose limit surface has them."""
    if mesh.normals is None:
        return
    if mesh.subdivision != "none":
        keep_bind_normals(schema, mesh)
        return
    schema.CreateNormalsAttr(vectors(mesh.normals))
    schema.SetNormalsInterpolation("vertex" if len(mesh.normals) == mesh.vertex_count else "faceVarying")


def keep_bind_normals(schema: Any, mesh: Mesh) -> None:
    """Keep authored normals for the way back, where USD must not use them."""
    if mesh.normals is not None:
        kept = schema.GetPrim().CreateAttribute(
            "ecorche:bind:normals", Sdf.ValueTypeNames.Normal3fArray, True
        )
        kept.Set(vectors(mesh.normals))
