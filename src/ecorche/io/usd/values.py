"""Values of any USD type as NumPy arrays and back, so that what we do not understand survives."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from pxr import Sdf, Tf, Usd, UsdGeom, Vt

from ecorche.base.mesh import Attribute, Interpolation
from ecorche.errors import MeshError

OURS_FROM_USD: dict[str, Interpolation] = {
    "constant": "constant",
    "uniform": "uniform",
    "vertex": "vertex",
    "varying": "vertex",
    "faceVarying": "corner",
}
USD_FROM_OURS = {"constant": "constant", "uniform": "uniform", "vertex": "vertex", "corner": "faceVarying"}

SCHEMA_PREFIX = "usd:"
"""Attributes of this prefix are the mesh schema's own, such as ``usd:creaseIndices``."""

SCHEMA_ATTRIBUTES = (
    "holeIndices",
    "cornerIndices",
    "cornerSharpnesses",
    "creaseIndices",
    "creaseLengths",
    "creaseSharpnesses",
    "interpolateBoundary",
    "faceVaryingLinearInterpolation",
    "triangleSubdivisionRule",
)
"""Properties of a UsdGeomMesh that we carry along as they are."""

_PLAIN_TYPES = {"f": "float", "i": "int", "u": "int", "b": "bool", "U": "string"}
"""NumPy kind to the USD type that holds it where the attribute does not name one."""

TANGENTS = "tangents"
"""Primvar our writer samples over time; any writer can make it anew, so it is not carried along."""

ORIGIN = "ecorche"
"""Custom data of a primvar: name, type and number format it had in another file format."""


def steady_value(attribute: Any) -> Any:
    """An attribute's value apart from animation: the default, else its earliest sample, else None."""
    value = attribute.Get(Usd.TimeCode.Default())
    return attribute.Get(Usd.TimeCode.EarliestTime()) if value is None else value


def floats3(value: Any, what: str, where: str) -> npt.NDArray[np.float32]:
    """A ``float3[]`` value as (n, 3) float32."""
    array = np.array(value, np.float32) if value is not None and len(value) else np.zeros((0, 3), np.float32)
    if array.ndim != 2 or array.shape[1] != 3:
        raise MeshError(f"{what} have shape {array.shape}", where=where, remedy="Export the file again")
    return array


def integers(value: Any) -> npt.NDArray[np.int32]:
    """An ``int[]`` value as (n,) int32; empty where there is none."""
    return np.zeros(0, np.int32) if value is None else np.array(value, np.int32).reshape(-1)


def attribute_from_primvar(primvar: Any, counts: dict[str, int], notes: list[str], where: str) -> Attribute:
    """A primvar with its type, interpolation and indices.

    Args:
        primvar: The primvar.
        counts: How many elements each of our interpolations has on the mesh.
        notes: Told when the primvar is animated: its steady value is kept.
        where: The mesh, for messages.
    """
    name = str(primvar.GetPrimvarName())
    interpolation = str(primvar.GetInterpolation())
    kind = str(primvar.GetTypeName())
    if primvar.ValueMightBeTimeVarying():
        notes.append(f"{where}: primvar {name!r} is animated; only its steady value is kept")
    values = numbers(steady_value(primvar.GetAttr()), int(primvar.GetElementSize()))
    indices = None
    if primvar.IsIndexed():
        indices = integers(steady_value(primvar.GetIndicesAttr()))
        if len(indices) and (indices.min() < 0 or indices.max() >= len(values)):
            raise MeshError(
                f"primvar {name!r} has an index outside its {len(values)} values",
                where=where,
                remedy="The file is damaged: export it again",
            )
    ours = OURS_FROM_USD.get(interpolation)
    if ours is None:
        raise MeshError(f"primvar {name!r} has interpolation {interpolation!r}", where=where)
    size = len(values) if indices is None else len(indices)
    if ours != "constant" and size != counts[ours]:
        raise MeshError(
            f"primvar {name!r} has {size} values for {counts[ours]} elements ({interpolation})",
            where=where,
            remedy="The file is damaged: export it again",
        )
    file_type: str | None = f"{kind} varying" if interpolation == "varying" else kind
    origin = primvar.GetAttr().GetCustomDataByKey(ORIGIN)
    if isinstance(origin, dict):
        name = str(origin.get("name", name))
        if "dtype" in origin:
            values = values.astype(str(origin["dtype"]))
            file_type = str(origin["type"]) if "type" in origin else None
    return Attribute(name, values, ours, indices, file_type)


def numbers(value: Any, element_size: int = 1) -> npt.NDArray[np.generic]:
    """Any value, scalar or array, as an array of (elements,) or (elements, components)."""
    if hasattr(value, "__len__") and not isinstance(value, str) and type(value).__name__.endswith("Array"):
        array = _named(value) if _is_text(value) else np.array(value)
    else:
        array = np.array([str(value)]) if not _is_numeric(value) else np.array(value)[None]
    if element_size > 1 and array.ndim == 1 and len(array) % element_size == 0:
        array = array.reshape(-1, element_size)
    return array


def _is_text(value: Any) -> bool:
    return isinstance(value, (Vt.StringArray, Vt.TokenArray, Sdf.AssetPathArray, Vt.TimeCodeArray))


def _named(value: Any) -> npt.NDArray[np.generic]:
    if isinstance(value, Vt.TimeCodeArray):
        return np.array([float(v) for v in value])
    return np.array([v.path if isinstance(v, Sdf.AssetPath) else str(v) for v in value], dtype=np.str_)


def _is_numeric(value: Any) -> bool:
    return not isinstance(value, (str, Sdf.AssetPath)) and np.array(value).dtype.kind in "fiub"


def usd_type(attribute: Attribute) -> tuple[Any, bool, bool]:
    """The USD type to write an attribute as, whether it is ``varying``, and whether the type is its own.

    A type of another file format, or none, is answered by the plain type that holds the values.
    """
    name, _, varying = (attribute.file_type or "").partition(" ")
    own = Sdf.ValueTypeNames.Find(name) if name else None
    if own:
        return own, varying == "varying", True
    values = attribute.values
    plain = _PLAIN_TYPES.get(values.dtype.kind, "float")
    components = 1 if values.ndim == 1 else int(values.shape[1])
    if plain in ("float", "int") and 2 <= components <= 4:
        plain = f"{plain}{components}"
    return Sdf.ValueTypeNames.Find(f"{plain}[]"), False, False


def usd_value(values: npt.NDArray[np.generic], kind: Any) -> Any:
    """An array as a value of a USD type; the inverse of `numbers`."""
    default = kind.defaultValue
    if not kind.isArray:
        return _scalar(values[0], default)
    maker = type(default)
    if values.dtype.kind in "US":
        return maker([str(v) for v in values.reshape(-1)])
    if maker is Vt.TimeCodeArray:
        return maker([Sdf.TimeCode(float(v)) for v in values.reshape(-1)])
    wanted = np.array(maker(1))
    shaped = values.reshape(-1) if wanted.ndim == 1 else values.reshape(-1, *wanted.shape[1:])
    return maker.FromNumpy(np.ascontiguousarray(shaped, wanted.dtype))


def _scalar(value: Any, default: Any) -> Any:
    if isinstance(default, (bool, int, float, str)):
        return type(default)(value)
    if isinstance(default, Sdf.AssetPath):
        return Sdf.AssetPath(str(value))
    if np.array(default).ndim == 1 and type(default).__name__.startswith("Quat"):
        x, y, z, w = (float(v) for v in value)
        return type(default)(w, x, y, z)
    if np.array(default).ndim == 0:
        return type(default)(float(value))
    return type(default)(*(v.item() for v in np.asarray(value).reshape(-1)))


def schema_attributes(mesh: Any) -> list[Attribute]:
    """Holes, creases and subdivision rules of a UsdGeomMesh, as attributes of our own naming."""
    found = []
    for name in SCHEMA_ATTRIBUTES:
        attribute = mesh.GetPrim().GetAttribute(name)
        if attribute.HasAuthoredValue() and (value := steady_value(attribute)) is not None:
            values = numbers(value)
            found.append(
                Attribute(SCHEMA_PREFIX + name, values, "constant", file_type=str(attribute.GetTypeName()))
            )
    return found


def write_attribute(prim: Any, attribute: Attribute, name: str | None = None) -> str | None:
    """Write an attribute as a primvar, or as the schema's property it was; a note if it cannot be.

    Args:
        prim: The mesh.
        attribute: What to write.
        name: The primvar's name, where it is not the attribute's own.
    """
    kind, varying, own_type = usd_type(attribute)
    try:
        value = usd_value(attribute.values, kind)
    except (TypeError, ValueError) as error:
        return f"attribute {attribute.name!r} cannot be held by USD and is left out ({error})"
    if attribute.name.startswith(SCHEMA_PREFIX):
        prim.GetAttribute(attribute.name.removeprefix(SCHEMA_PREFIX)).Set(value)
        return None
    name = name or ":".join(valid_name(part) for part in attribute.name.split(":"))
    interpolation = "varying" if varying else USD_FROM_OURS[attribute.interpolation]
    primvar = UsdGeom.PrimvarsAPI(prim).CreatePrimvar(name, kind, interpolation)
    primvar.Set(value)
    if kind.isArray and attribute.values.ndim == 2 and np.array(type(kind.defaultValue)(1)).ndim == 1:
        primvar.SetElementSize(int(attribute.values.shape[1]))
    if attribute.indices is not None:
        primvar.SetIndices(Vt.IntArray.FromNumpy(np.ascontiguousarray(attribute.indices, np.int32)))
    origin = {}
    if name != attribute.name:
        origin["name"] = attribute.name
    if not own_type:
        origin["dtype"] = str(attribute.values.dtype)
        if attribute.file_type is not None:
            origin["type"] = attribute.file_type
    if origin:
        primvar.GetAttr().SetCustomDataByKey(ORIGIN, origin)
    return None


def valid_name(name: str) -> str:
    """The name itself where USD allows it, else the nearest it allows."""
    if Sdf.Path.IsValidIdentifier(name):
        return name
    return str(Tf.MakeValidIdentifier(name)) if name else "unnamed"


def unique_names(names: list[str]) -> list[str]:
    """Names USD allows, each once, in the same order."""
    taken: set[str] = set()
    result = []
    for name in names:
        base = candidate = valid_name(name)
        number = 1
        while candidate in taken:
            number += 1
            candidate = f"{base}_{number}"
        taken.add(candidate)
        result.append(candidate)
    return result
