"""Meshes of a glTF file: primitives joined to one mesh whose vertices keep their order.

Primitives that share their vertex arrays share vertices; others stand one after another.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ecorche.base.checks import require_finite, require_indices
from ecorche.base.mesh import Attribute, FaceSubset, Mesh, Morph
from ecorche.base.names import unique
from ecorche.base.rotations import normalise
from ecorche.base.transforms import transform_points
from ecorche.errors import MeshError
from ecorche.io.gltf.file import GltfFile, Json, decode

Floats32 = npt.NDArray[np.float32]

DEFAULTS = {"COLOR": 1.0}
"""What glTF assumes for a missing attribute, by the first part of its name; else zero."""

ATTRIBUTES_EXTRA = "ecorche_attributes"
"""Mesh extra that holds attributes glTF has no arrays for: one value a face, or for all."""


@dataclass(frozen=True, eq=False)
class Surface:
    """A mesh as the file holds it, with the joint and weight tables of a skin, if any.

    ``joints`` and ``weights`` are (vertices, influences); joints count in the skin's own list.
    """

    mesh: Mesh
    joints: npt.NDArray[np.int64] | None
    weights: Floats32 | None


def read_surface(file: GltfFile, node: Json, name: str) -> Surface | None:
    """The mesh of a node in its own space; None, with a note, where it has no faces to show."""
    entry = file.item("meshes", node["mesh"])
    element = f"mesh {name!r}"
    file.reading = element
    primitives = entry.get("primitives")
    if not isinstance(primitives, list) or not all(isinstance(p, dict) for p in primitives):
        raise file.error("it has no list of primitives")
    blocks: dict[str, int] = {}  # vertex arrays in use → first vertex
    kept: list[tuple[Json, int]] = []  # one primitive a block of vertices, and its size
    faces: list[npt.NDArray[np.int64]] = []
    shown: list[tuple[int, Json]] = []
    total = 0
    for number, primitive in enumerate(primitives):
        file.reading = f"{element}, primitive {number}"
        if primitive.get("mode", 4) in (0, 1, 2, 3):
            file.notes.append(f"{element}: primitive {number} is points or lines and is left out")
            continue
        arrays = primitive.get("attributes")
        if not isinstance(arrays, dict) or "POSITION" not in arrays:
            raise file.error("it has no POSITION")
        key = json.dumps([arrays, primitive.get("targets")], sort_keys=True)
        if key not in blocks:
            count = file.number(file.item("accessors", arrays["POSITION"]), "count")
            for array in arrays.values():
                if file.item("accessors", array).get("count") != count:
                    raise file.error(f"its vertex arrays differ in length ({count} positions)")
            blocks[key] = total
            kept.append((primitive, count))
            total += count
        faces.append(_triangles(file, primitive) + blocks[key])
        shown.append((number, primitive))
    if not shown or total == 0:
        file.notes.append(f"{element} has no faces and is left out")
        return None
    file.reading = element
    mesh, joints, weights = _joined(file, kept, element)
    triangles = np.concatenate(faces).astype(np.int32)
    subsets, materials = _subsets(file, shown, [len(f) for f in faces])
    mesh = replace(
        mesh,
        name=name,
        face_counts=np.full(len(triangles), 3, np.int32),
        face_indices=triangles.reshape(-1),
        attributes=mesh.attributes + _extra_attributes(file, entry, len(triangles), element),
        subsets=subsets,
        morphs=_morphs(file, kept, entry, node, element),
        material=materials[0] if len(set(materials)) == 1 else None,
        double_sided=all(
            m is not None and file.item("materials", m).get("doubleSided") is True for m in materials
        ),
    )
    return Surface(_with_all_normals(file, mesh, kept, element), joints, weights)


def _subsets(
    file: GltfFile, shown: list[tuple[int, Json]], sizes: list[int]
) -> tuple[tuple[FaceSubset, ...], list[int | None]]:
    """The faces of each primitive, named after their material."""
    first, taken = 0, set[str]()
    subsets: list[FaceSubset] = []
    materials: list[int | None] = []
    for (number, primitive), size in zip(shown, sizes, strict=True):
        material = primitive.get("material")
        name = f"primitive_{number}"
        if material is not None:
            name = file.name(file.item("materials", material), name)
        extras = primitive.get("extras")
        if isinstance(extras, dict) and isinstance(extras.get("name"), str):
            name = extras["name"]
        subsets.append(
            FaceSubset(unique(name, taken), np.arange(first, first + size, dtype=np.int32), material)
        )
        materials.append(material)
        first += size
    return tuple(subsets), materials


def _triangles(file: GltfFile, primitive: Json) -> npt.NDArray[np.int64]:
    """Vertex triples (triangles, 3) of one primitive; strips and fans are cut up."""
    vertices = file.number(file.item("accessors", primitive["attributes"]["POSITION"]), "count")
    if "indices" in primitive:
        table = file.accessor(primitive["indices"])
        if table.shape[1] != 1 or table.dtype.kind != "u":
            raise file.error("its indices are not whole numbers of at least zero")
        corners = table[:, 0].astype(np.int64)
        require_indices(corners, vertices, "corner", file.where(), MeshError)
    else:
        corners = np.arange(vertices, dtype=np.int64)
    mode = primitive.get("mode", 4)
    if mode == 4:
        if len(corners) % 3:
            raise file.error(f"{len(corners)} corners are not a multiple of three")
        return corners.reshape(-1, 3)
    if mode not in (5, 6):
        raise file.error(f"its mode {mode!r} is none that glTF knows")
    step = np.arange(max(len(corners) - 2, 0))
    odd = step % 2 if mode == 5 else np.zeros_like(step)
    if mode == 5:
        picks = np.stack([step, step + 1 + odd, step + 2 - odd], axis=1)
    else:
        picks = np.stack([step + 1, step + 2, np.zeros_like(step)], axis=1)
    return corners[picks]


def _joined(
    file: GltfFile, kept: list[tuple[Json, int]], element: str
) -> tuple[Mesh, npt.NDArray[np.int64] | None, Floats32 | None]:
    """Vertex arrays of all blocks, one after another."""
    columns = _Columns(file, kept, element)
    points = columns.decoded("POSITION", 3)
    assert points is not None
    raw_uv = columns.raw("TEXCOORD_0")
    uv: Attribute | None = None
    attributes: list[Attribute] = []
    if raw_uv is not None:
        values = decode(raw_uv.values, _is_normalised(raw_uv))
        flipped = flipped_v(values)
        uv = Attribute("TEXCOORD_0", flipped, file_type="FLOAT VEC2")
        # 1 - (1 - v) is not always v: where bits would be lost, the file's own values go along
        if raw_uv.values.dtype != np.float32 or not np.array_equal(_bits(flipped_v(flipped)), _bits(values)):
            attributes.append(raw_uv)
    special = ("POSITION", "NORMAL", "TEXCOORD_0")
    for name in columns.names:
        if name not in special and not name.startswith(("JOINTS_", "WEIGHTS_")):
            attribute = columns.raw(name)
            assert attribute is not None
            attributes.append(attribute)
    joints, weights = columns.influences()
    mesh = Mesh(
        name=element,
        points=points,
        face_counts=np.zeros(0, np.int32),
        face_indices=np.zeros(0, np.int32),
        normals=columns.decoded("NORMAL", 3, fill_note=False),
        uv=uv,
        attributes=tuple(attributes),
    )
    return mesh, joints, weights


def flipped_v(uv: Floats32) -> Floats32:
    """Texture coordinates with the origin moved between upper and lower left."""
    turned = uv.copy()
    turned[:, 1] = np.float32(1.0) - uv[:, 1]
    return turned


def _bits(values: Floats32) -> npt.NDArray[np.uint32]:
    return np.ascontiguousarray(values).view(np.uint32)


def _is_normalised(attribute: Attribute) -> bool:
    return (attribute.file_type or "").startswith("NORMALISED")


class _Columns:
    """Vertex arrays by name over all blocks of a mesh."""

    def __init__(self, file: GltfFile, kept: list[tuple[Json, int]], element: str) -> None:
        self.file, self.kept, self.element = file, kept, element
        self.names = list(dict.fromkeys(name for primitive, _ in kept for name in primitive["attributes"]))

    def raw(self, name: str, *, fill_note: bool = True) -> Attribute | None:
        """One array as the file types it; parts that lack it are filled and noted."""
        if name not in self.names:
            return None
        held = [p["attributes"].get(name) for p, _ in self.kept]
        kinds = {
            (self.file.item("accessors", a).get("componentType"), self.file.normalised(a))
            for a in held
            if a is not None
        }
        parts: list[npt.NDArray[Any] | None] = []
        for accessor in held:
            if accessor is None:
                parts.append(None)
            else:
                values = self.file.accessor(accessor)
                if values.dtype == np.float32:
                    require_finite(values, f"{name} of vertex", self.file.where(), MeshError)
                parts.append(values if len(kinds) == 1 else decode(values, self.file.normalised(accessor)))
        sample = next(p for p in parts if p is not None)
        width = max(p.shape[1] for p in parts if p is not None)
        normalised = len(kinds) == 1 and next(iter(kinds))[1]
        fill = DEFAULTS.get(name.split("_")[0], 0.0)
        one = np.iinfo(sample.dtype).max if normalised else 1
        table = np.full((sum(c for _, c in self.kept), width), fill * one, sample.dtype)
        row = missing = 0
        for (_, count), part in zip(self.kept, parts, strict=True):
            if part is None:
                missing += count
            else:
                table[row : row + count, : part.shape[1]] = part
                table[row : row + count, part.shape[1] :] = one
            row += count
        if missing and fill_note:
            self.file.notes.append(
                f"{self.element}: {missing} vertices have no {name}; they got {fill:g} there"
            )
        if len({p.shape[1] for p in parts if p is not None}) > 1:
            self.file.notes.append(f"{self.element}: {name} has {width} components on all its parts now")
        dtype = {"f": "FLOAT", "u": "UNSIGNED", "i": "SIGNED"}[table.dtype.kind]
        label = f"{'NORMALISED ' if normalised else ''}{dtype} {8 * table.itemsize} x {width}"
        return Attribute(name, table, file_type=label)

    def decoded(self, name: str, width: int, *, fill_note: bool = True) -> Floats32 | None:
        """One array as float32 of a given number of components."""
        attribute = self.raw(name, fill_note=fill_note)
        if attribute is None:
            return None
        if attribute.values.shape[1] != width:
            raise self.file.error(f"{name} has {attribute.values.shape[1]} components, not {width}")
        return decode(attribute.values, _is_normalised(attribute))

    def influences(self) -> tuple[npt.NDArray[np.int64] | None, Floats32 | None]:
        """All JOINTS_n and WEIGHTS_n side by side."""
        joints: list[npt.NDArray[np.int64]] = []
        weights: list[Floats32] = []
        for n in range(len(self.names)):
            if f"JOINTS_{n}" not in self.names and f"WEIGHTS_{n}" not in self.names:
                break
            who, how = (
                self.raw(f"JOINTS_{n}", fill_note=False),
                self.decoded(f"WEIGHTS_{n}", 4, fill_note=False),
            )
            if who is None or how is None:
                raise self.file.error(f"it has only one of JOINTS_{n} and WEIGHTS_{n}")
            if who.values.shape[1] != 4 or who.values.dtype.kind != "u":
                raise self.file.error(f"JOINTS_{n} does not hold four whole numbers a vertex")
            joints.append(who.values.astype(np.int64))
            weights.append(how)
        if not joints:
            return None, None
        return np.concatenate(joints, axis=1), np.concatenate(weights, axis=1)


def _morphs(
    file: GltfFile, kept: list[tuple[Json, int]], entry: Json, node: Json, element: str
) -> tuple[Morph, ...]:
    """Blend shapes of a mesh, with their names and resting weights."""
    counts = {len(p.get("targets") or []) for p, _ in kept}
    if len(counts) != 1:
        raise file.error("its primitives have different numbers of morph targets")
    count = counts.pop()
    if not count:
        return ()
    extras = entry.get("extras")
    names = extras.get("targetNames") if isinstance(extras, dict) else None
    named = isinstance(names, list) and len(names) == count
    resting = file.floats(
        {"weights": node.get("weights", entry.get("weights", [0.0] * count))}, "weights", count, []
    )
    taken: set[str] = set()
    morphs = []
    vertices = sum(c for _, c in kept)
    for target in range(count):
        offsets = np.zeros((vertices, 3), np.float32)
        row = 0
        for primitive, size in kept:
            arrays = primitive["targets"][target]
            if "POSITION" in arrays:
                part = file.decoded(arrays["POSITION"], "VEC3")
                if len(part) != size:
                    raise file.error(f"morph target {target} has {len(part)} offsets for {size} vertices")
                offsets[row : row + size] = part
            row += size
        require_finite(offsets, f"morph target {target}, the offset of vertex", file.where(), MeshError)
        touched = np.flatnonzero(offsets.any(axis=1)).astype(np.int32)
        name = str(names[target]) if named and names is not None else f"morph_{target}"
        morphs.append(Morph(unique(name, taken), touched, offsets[touched], float(resting[target])))
    if any(set(t) - {"POSITION"} for p, _ in kept for t in p["targets"]):
        file.notes.append(f"{element}: normals of its morph targets are left out; they follow the surface")
    return tuple(morphs)


def _extra_attributes(file: GltfFile, entry: Json, triangles: int, element: str) -> tuple[Attribute, ...]:
    """Attributes a face or for the whole mesh, which Ecorche writes into the mesh's extras."""
    extras = entry.get("extras")
    held = extras.get(ATTRIBUTES_EXTRA) if isinstance(extras, dict) else None
    if not isinstance(held, list):
        return ()
    found = []
    for item in held:
        values = np.array(item["values"], np.dtype(str(item["dtype"])))
        interpolation = item["interpolation"]
        if interpolation not in ("uniform", "constant") or (
            interpolation == "uniform" and len(values) != triangles
        ):
            raise file.error(f"{element}: the extra attribute {item.get('name')!r} does not fit its faces")
        found.append(Attribute(str(item["name"]), values, interpolation, file_type=item.get("file_type")))
    return tuple(found)


def _with_all_normals(file: GltfFile, mesh: Mesh, kept: list[tuple[Json, int]], element: str) -> Mesh:
    """Normals for parts that lack them, from their faces; noted."""
    lacking = [("NORMAL" not in p["attributes"]) for p, _ in kept]
    if mesh.normals is None or not any(lacking):
        return mesh
    corners = mesh.points[mesh.triangles()].astype(np.float64)
    across = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    sums = np.zeros((mesh.vertex_count, 3))
    for corner in range(3):
        for axis in range(3):
            sums[:, axis] += np.bincount(
                mesh.triangles()[:, corner], weights=across[:, axis], minlength=mesh.vertex_count
            )
    normals = mesh.normals.copy()
    without = np.repeat(lacking, [c for _, c in kept])
    normals[without] = normalise(sums[without])
    file.notes.append(
        f"{element}: {int(without.sum())} vertices had no normals; they got those of their faces"
    )
    return replace(mesh, normals=normals)


def placed(mesh: Mesh, place: npt.NDArray[np.float64]) -> Mesh:
    """The mesh moved into another space; bit for bit the same where ``place`` is the identity."""
    if np.array_equal(place, np.eye(4)):
        return mesh
    linear = place[:3, :3]
    turn = np.linalg.inv(linear).T  # normals stay square to the surface
    mirrored = np.linalg.det(linear) < 0.0
    normals = mesh.normals
    if normals is not None:
        normals = normalise(normals @ turn.T).astype(np.float32)
    attributes = []
    for attribute in mesh.attributes:
        if attribute.name == "TANGENT" and attribute.values.dtype == np.float32:
            tangents = attribute.values.astype(np.float64)
            tangents[:, :3] = normalise(tangents[:, :3] @ linear.T)
            tangents[:, 3:] *= -1.0 if mirrored else 1.0
            attribute = replace(attribute, values=tangents.astype(np.float32))
        attributes.append(attribute)
    faces = mesh.face_indices.reshape(-1, 3)
    return replace(
        mesh,
        points=transform_points(place, mesh.points).astype(np.float32),
        normals=normals,
        attributes=tuple(attributes),
        face_indices=np.ascontiguousarray(faces[:, ::-1] if mirrored else faces).reshape(-1),
        morphs=tuple(replace(m, offsets=(m.offsets @ linear.T).astype(np.float32)) for m in mesh.morphs),
    )
