"""Wavefront OBJ text: points, polygons, UVs and normals in the file's own order.

Read here and not by trimesh, which cuts polygons into triangles and reorders vertices at UV
seams; fixed topology is a promise of this package.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from ecorche.base.checks import require_finite, require_indices
from ecorche.base.mesh import Mesh
from ecorche.errors import ReadError

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class ObjText:
    """What an OBJ file says, in its own units; lines, points and free-form curves are no surface.

    Attributes:
        points: Positions, shape (vertices, 3).
        colours: Vertex colours where every ``v`` line carries them, shape (vertices, 3), or None.
        uv: Texture coordinates, shape (n, 2); normals: (m, 3), as listed.
        face_counts: Corners of each face, shape (faces,).
        corners: Indices of point, UV and normal of each corner, -1 where absent, shape (corners, 3).
        groups: The ``g`` name each face stands under, by face number ranges ``(name, first, last + 1)``.
        materials: The same for ``usemtl``.
        object_name: The first ``o`` name, or None.
    """

    points: Floats
    colours: Floats | None
    uv: Floats
    normals: Floats
    face_counts: Integers
    corners: Integers
    groups: tuple[tuple[str, int, int], ...]
    materials: tuple[tuple[str, int, int], ...]
    object_name: str | None


@dataclass
class _Runs:
    """Names that hold from one face on until the next name."""

    runs: list[tuple[str, int]] = field(default_factory=list)

    def closed(self, end: int) -> tuple[tuple[str, int, int], ...]:
        stops = [*(start for _, start in self.runs[1:]), end]
        runs = zip(self.runs, stops, strict=False)  # no name at all leaves one stop over
        return tuple((name, start, stop) for (name, start), stop in runs if stop > start)


def parse_obj(text: str, where: object) -> ObjText:
    """Read the text of an OBJ file."""
    rows: dict[str, list[list[str]]] = {"v": [], "vt": [], "vn": []}
    counts: list[int] = []
    corners: list[int] = []
    groups, materials = _Runs(), _Runs()
    object_name: str | None = None
    for number, line in enumerate(text.replace("\\\n", " ").splitlines(), start=1):
        words = line.partition("#")[0].split()
        if not words:
            continue
        key = words[0]
        if key in rows:
            rows[key].append(words[1:])
        elif key == "f":
            counts.append(len(words) - 1)
            sizes = (len(rows["v"]), len(rows["vt"]), len(rows["vn"]))
            for word in words[1:]:
                corners += _corner(word, sizes, number, where)
        elif key == "g":
            groups.runs.append((" ".join(words[1:]) or "default", len(counts)))
        elif key == "usemtl":
            materials.runs.append((" ".join(words[1:]), len(counts)))
        elif key == "o" and object_name is None:
            object_name = " ".join(words[1:])
    coloured = bool(rows["v"]) and all(len(r) == 6 for r in rows["v"])
    table = np.array(corners, np.int64).reshape(-1, 3)
    points = _table(rows["v"], 6 if coloured else 3, "v", where)
    result = ObjText(
        points=points[:, :3],
        colours=points[:, 3:] if coloured else None,
        uv=_table(rows["vt"], 2, "vt", where),
        normals=_table(rows["vn"], 3, "vn", where),
        face_counts=np.array(counts, np.int64),
        corners=table,
        groups=groups.closed(len(counts)),
        materials=materials.closed(len(counts)),
        object_name=object_name,
    )
    for column, (values, what) in enumerate(
        ((result.points, "vertex"), (result.uv, "texture coordinate"), (result.normals, "normal"))
    ):
        present = table[:, column] if column == 0 else table[table[:, column] >= 0, column]
        require_indices(present, len(values), f"the {what} of corner", where, ReadError)
    return result


def _corner(word: str, sizes: tuple[int, int, int], line: int, where: object) -> list[int]:
    """Zero-based point, UV and normal of ``7/2/3``, ``7//3``, ``-1/-1``; -1 where absent."""
    parts = word.split("/")
    found = [-1, -1, -1]
    try:
        if len(parts) > 3:
            raise ValueError
        for slot, part in enumerate(parts):
            if part or slot == 0:
                value = int(part)
                found[slot] = value - 1 if value > 0 else sizes[slot] + value
                if value == 0 or not 0 <= found[slot] < 2**31:
                    raise ValueError
    except ValueError:
        raise ReadError(
            f"line {line} has a face corner {word[:40]!r} that is no reference into the file",
            where=where,
            remedy="The file is damaged: export it again",
        ) from None
    return found


def _table(rows: list[list[str]], width: int, key: str, where: object) -> Floats:
    """The first ``width`` numbers of every row; a UV may leave its second out."""
    if not rows:
        return np.zeros((0, width))
    try:
        if key == "vt":
            rows = [r if len(r) > 1 else [*r, "0"] for r in rows]
        values = np.array([r[:width] for r in rows], np.float64)
        if values.shape != (len(rows), width):
            raise ValueError
    except ValueError:
        raise ReadError(
            f"a {key!r} line does not hold {width} numbers",
            where=where,
            remedy="The file is damaged: export it again",
        ) from None
    require_finite(values, f"{key!r} line", where, ReadError)
    return values


def obj_text(mesh: Mesh, points: npt.NDArray[np.float32], normals: npt.NDArray[np.float32] | None) -> str:
    """OBJ text of a mesh with posed points [m] (vertices, 3) and normals a vertex or a corner.

    Numbers have nine digits, which give every float32 back bit for bit.
    """
    lines = ["# metres, +Y up", f"o {mesh.name}"]
    lines += ["v {:.9g} {:.9g} {:.9g}".format(*p) for p in points.tolist()]
    corner = np.arange(len(mesh.face_indices), dtype=np.int32)
    columns: list[npt.NDArray[np.integer]] = [mesh.face_indices + 1]
    form = "{}"
    uv = mesh.uv if mesh.uv is not None and mesh.uv.interpolation in ("vertex", "corner") else None
    if uv is not None:
        lines += ["vt {:.9g} {:.9g}".format(*t[:2]) for t in np.asarray(uv.values, np.float64).tolist()]
        element = mesh.face_indices if uv.interpolation == "vertex" else corner
        columns.append((element if uv.indices is None else uv.indices[element]) + 1)
        form += "/{}"
    if normals is not None:
        lines += ["vn {:.9g} {:.9g} {:.9g}".format(*n) for n in normals.tolist()]
        columns.append((mesh.face_indices if len(normals) == len(points) else corner) + 1)
        form += "/{}" if uv is not None else "//{}"
    words = [form.format(*row) for row in np.stack(columns, axis=1).tolist()]
    starts = np.cumsum(mesh.face_counts) - mesh.face_counts
    label = np.full(len(starts), -1)
    for number, subset in enumerate(mesh.subsets):
        label[subset.faces] = number
    current = -1
    for face, (start, count) in enumerate(zip(starts.tolist(), mesh.face_counts.tolist(), strict=True)):
        if label[face] != current:
            current = int(label[face])
            lines.append(f"usemtl {mesh.subsets[current].name if current >= 0 else 'default'}")
        lines.append("f " + " ".join(words[start : start + count]))
    return "\n".join(lines) + "\n"
