"""OBJ, PLY and STL: single surfaces, such as bones, muscles and garments.

These formats say neither their unit nor their up axis. Numbers are taken as metres unless
``metres_per_unit`` says otherwise, see `guess_metres_per_unit`; axes stay as they are.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ecorche.base.checks import require_finite
from ecorche.base.files import whole_file
from ecorche.base.mesh import Attribute, FaceSubset, Mesh
from ecorche.body.frames import Frame
from ecorche.body.take import Take
from ecorche.errors import EcorcheError, ReadError, WriteError
from ecorche.io.formats import WriteOptions, Written
from ecorche.io.obj import obj_text, parse_obj
from ecorche.io.ply import Lists, parse_ply, ply_bytes
from ecorche.io.posed import chosen_mesh, frames_of
from ecorche.io.stl import parse_stl, stl_bytes


def read_mesh(path: Path, metres_per_unit: float = 1.0) -> Mesh:
    """The surface in an OBJ, PLY or STL file, its vertices in the file's order.

    STL has no shared vertices: its corners that agree bit for bit become one vertex. Polygons
    stay polygons; OBJ faces of one material (or else group) become subsets; further PLY
    properties become attributes. A corner without a UV in a file that has UVs gets (0, 0).

    Args:
        path: The file.
        metres_per_unit: What the file's numbers mean: 0.001 for millimetres.
    """
    path = Path(path)
    if not (np.isfinite(metres_per_unit) and metres_per_unit > 0.0):
        raise EcorcheError(
            f"{metres_per_unit} metres a unit are no length", where=path, remedy="Give 0.001 for mm"
        )
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ReadError(f"cannot be read ({error.strerror})", where=path) from error
    reader = {".obj": _from_obj, ".ply": _from_ply, ".stl": _from_stl}[path.suffix.lower()]
    try:
        # what is not a number is refused in words once it is in place, not by a warning on the way
        with np.errstate(invalid="ignore", over="ignore"):
            return reader(data, path, metres_per_unit)
    except ReadError:
        raise
    except EcorcheError as error:  # the mesh itself refused: say which file it came from
        raise ReadError(error.what, where=path, remedy=error.remedy) from error


class UnitGuess(NamedTuple):
    """A guessed unit and the sentence that says why."""

    metres_per_unit: float
    reason: str


def guess_metres_per_unit(size: float, expected: float = 1.0) -> UnitGuess:
    """Guess whether numbers are metres, centimetres, millimetres or inches.

    Args:
        size: Largest side of the surface, in file units.
        expected: Roughly how large the thing is in life [m].
    """
    units = {"metres": 1.0, "centimetres": 0.01, "millimetres": 0.001, "inches": 0.0254}
    if not size > 0.0:
        return UnitGuess(1.0, "the surface has no extent: taken as metres")
    name = min(units, key=lambda unit: abs(np.log(size * units[unit] / expected)))
    return UnitGuess(
        units[name],
        f"{size:.4g} units across: taken as {name}, which makes it {size * units[name]:.3g} m",
    )


def _scaled(points: npt.NDArray[np.floating], factor: float, path: Path) -> npt.NDArray[np.float32]:
    with np.errstate(over="ignore"):
        result = np.ascontiguousarray(
            points if factor == 1.0 else points.astype(np.float64) * factor, np.float32
        )
    require_finite(result, "the position of vertex", path, ReadError)
    return result


def _from_obj(data: bytes, path: Path, factor: float) -> Mesh:
    obj = parse_obj(data.decode("utf-8", errors="replace"), path)
    runs = obj.materials or obj.groups
    names = list(dict.fromkeys(name for name, _, _ in runs))
    faces_of = {
        name: np.concatenate([np.arange(a, b) for n, a, b in runs if n == name]).astype(np.int32)
        for name in names
    }
    whole = len(names) == 1 and len(faces_of[names[0]]) == len(obj.face_counts)
    normals = None
    if len(obj.normals) and len(obj.corners) and (obj.corners[:, 2] >= 0).all():
        normals = obj.normals[obj.corners[:, 2]].astype(np.float32)
    attributes: tuple[Attribute, ...] = ()
    if obj.colours is not None:
        attributes = (Attribute("displayColor", obj.colours.astype(np.float32)),)
    return Mesh(
        name=obj.object_name or path.stem,
        points=_scaled(obj.points, factor, path),
        face_counts=obj.face_counts.astype(np.int32),
        face_indices=obj.corners[:, 0].astype(np.int32),
        normals=normals,
        uv=_obj_uv(obj.uv, obj.corners[:, 1]),
        attributes=attributes,
        subsets=() if whole else tuple(FaceSubset(name, np.sort(faces)) for name, faces in faces_of.items()),
    )


def _obj_uv(uv: npt.NDArray[np.float64], index: npt.NDArray[np.int64]) -> Attribute | None:
    if not (index >= 0).any():
        return None
    if (index < 0).any():
        index = np.where(index < 0, len(uv), index)
        uv = np.concatenate([uv, np.zeros((1, 2))])
    return Attribute("st", uv.astype(np.float32), "corner", index.astype(np.int32))


def _from_stl(data: bytes, path: Path, factor: float) -> Mesh:
    points, triangles = parse_stl(data, path)
    return Mesh(
        name=path.stem,
        points=_scaled(points, factor, path),
        face_counts=np.full(len(triangles), 3, np.int32),
        face_indices=triangles.reshape(-1),
    )


def _from_ply(data: bytes, path: Path, factor: float) -> Mesh:
    elements = parse_ply(data, path)
    vertex, face = elements.get("vertex", {}), elements.get("face", {})
    scalars = {name: v for name, v in vertex.items() if not isinstance(v, Lists)}
    if not {"x", "y", "z"} <= scalars.keys():
        raise ReadError("has no vertices with x, y and z", where=path, remedy="Give a PLY file of a surface")
    loops = next((face[n] for n in ("vertex_indices", "vertex_index") if n in face), None)
    if not isinstance(loops, Lists):
        raise ReadError("has no faces with vertex_indices", where=path, remedy="Export it as a polygon mesh")

    def columns(*names: str) -> npt.NDArray[np.float32] | None:
        if not set(names) <= scalars.keys():
            return None
        values = np.stack([np.asarray(scalars.pop(name), np.float32) for name in names], axis=1)
        require_finite(values, f"{names[0]} … {names[-1]} of vertex", path, ReadError)
        return values

    position = np.stack([np.asarray(scalars.pop(n), np.float64) for n in ("x", "y", "z")], axis=1)
    normals = columns("nx", "ny", "nz")
    uv = next(
        (c for n in (("s", "t"), ("u", "v"), ("texture_u", "texture_v")) if (c := columns(*n)) is not None),
        None,
    )
    indices = np.asarray(loops.values, np.int64)
    if len(indices) and not -(2**31) <= indices.min() <= indices.max() < 2**31:
        raise ReadError("a face names a vertex that does not exist", where=path, remedy="Export it again")
    return Mesh(
        name=path.stem,
        points=_scaled(position, factor, path),
        face_counts=loops.lengths.astype(np.int32),
        face_indices=indices.astype(np.int32),
        normals=normals,
        uv=None if uv is None else Attribute("st", uv),
        attributes=(
            *(Attribute(name, values) for name, values in scalars.items()),
            *(Attribute(name, v, "uniform") for name, v in face.items() if not isinstance(v, Lists)),
        ),
    )


def write_take(path: Path, take: Take, options: WriteOptions) -> Written:
    """Write one mesh of the first frame: polygons, UVs and normals as far as the format has them."""
    path = Path(path)
    frames = frames_of(take)
    number = chosen_mesh(take.character, options.mesh)
    mesh = take.character.meshes[number].mesh
    frame = frames[0]
    notes = []
    if len(frames) > 1:
        notes.append(f"{path.suffix} holds one moment: the first of {len(frames)} frames was written.")
    if len(take.character.meshes) > 1:
        notes.append(f"{path.suffix} holds one mesh: {mesh.name!r} was written.")
    data = _encoded(path, mesh, frame, number)
    with whole_file(path) as partial:
        partial.write_bytes(data)
    return Written(tuple(notes))


def _encoded(path: Path, mesh: Mesh, frame: Frame, number: int) -> bytes:
    points, normals = frame.points[number], frame.normals[number]
    suffix = path.suffix.lower()
    if suffix == ".stl":
        return stl_bytes(points, mesh.triangles())
    if suffix == ".ply":
        at_vertices = normals is not None and len(normals) == len(points)
        return ply_bytes(points, normals if at_vertices else None, mesh.face_counts, mesh.face_indices)
    if suffix == ".obj":
        return obj_text(mesh, points, normals).encode()
    raise WriteError(f"{suffix!r} is none of .obj, .ply, .stl", where=path)
