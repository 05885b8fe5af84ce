"""PLY polygons, text and binary, with every property of vertices and faces.

Read here and not by trimesh, which cuts polygons into triangles and forgets what it does not know.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ecorche.errors import ReadError

KINDS = {
    **dict.fromkeys(("char", "int8"), "i1"),
    **dict.fromkeys(("uchar", "uint8"), "u1"),
    **dict.fromkeys(("short", "int16"), "i2"),
    **dict.fromkeys(("ushort", "uint16"), "u2"),
    **dict.fromkeys(("int", "int32"), "i4"),
    **dict.fromkeys(("uint", "uint32"), "u4"),
    **dict.fromkeys(("float", "float32"), "f4"),
    **dict.fromkeys(("double", "float64"), "f8"),
}
ENCODINGS = {"ascii": "", "binary_little_endian": "<", "binary_big_endian": ">"}
DAMAGED = "The file is damaged: export it again"


@dataclass(frozen=True)
class Property:
    """A named value of an element; a list where ``length_kind`` is given."""

    name: str
    kind: str
    length_kind: str | None = None


@dataclass(frozen=True)
class Lists:
    """Lists of differing lengths, one after another."""

    lengths: npt.NDArray[np.int64]
    values: npt.NDArray[np.generic]


Columns = dict[str, "npt.NDArray[np.generic] | Lists"]


def parse_ply(data: bytes, where: object) -> dict[str, Columns]:
    """Every element's properties by name, as the file gives them."""
    encoding, elements, start = _header(data, where)
    body = memoryview(data)[start:]
    found: dict[str, Columns] = {}
    reader = _TextReader(bytes(body), where) if encoding == "" else _BinaryReader(body, encoding, where)
    for name, count, properties in elements:
        found[name] = reader.element(name, count, properties)
    return found


def _header(data: bytes, where: object) -> tuple[str, list[tuple[str, int, list[Property]]], int]:
    if not data.startswith(b"ply"):
        raise ReadError("does not begin with 'ply'", where=where, remedy="Give a PLY file")
    end = data.find(b"end_header")
    if end < 0:
        raise ReadError("has no 'end_header'", where=where, remedy=DAMAGED)
    start = data.find(b"\n", end) + 1 or len(data)
    encoding: str | None = None
    elements: list[tuple[str, int, list[Property]]] = []
    for line in data[:end].decode("utf-8", errors="replace").splitlines()[1:]:
        words = line.split()
        try:
            if not words or words[0] in ("comment", "obj_info"):
                continue
            if words[0] == "format":
                encoding = ENCODINGS[words[1]]
            elif words[0] == "element":
                count = int(words[2])
                if not 0 <= count <= len(data):  # each element takes at least a byte
                    raise ReadError(f"promises {count} of {words[1]!r}", where=where, remedy=DAMAGED)
                elements.append((words[1], count, []))
            elif words[0] == "property" and words[1] == "list":
                elements[-1][2].append(Property(words[4], KINDS[words[3]], KINDS[words[2]]))
            elif words[0] == "property":
                elements[-1][2].append(Property(words[2], KINDS[words[1]]))
            else:
                raise ValueError
        except (KeyError, IndexError, ValueError):
            raise ReadError(f"has the header line {line[:60]!r}", where=where, remedy=DAMAGED) from None
    if encoding is None:
        raise ReadError("names no format in its header", where=where, remedy=DAMAGED)
    return encoding, elements, start


class _BinaryReader:
    def __init__(self, body: memoryview, order: str, where: object) -> None:
        self._body, self._order, self._where, self._at = body, order, where, 0

    def element(self, name: str, count: int, properties: list[Property]) -> Columns:
        """All of one element; quick where every list is as long as its first."""
        lengths = self._first_lengths(properties) if count else [0] * len(properties)
        fields: list[tuple[str, str] | tuple[str, str, tuple[int]]] = []
        for number, (prop, length) in enumerate(zip(properties, lengths, strict=True)):
            if prop.length_kind is None:
                fields.append((f"v{number}", self._order + prop.kind))
            else:
                fields.append((f"n{number}", self._order + prop.length_kind))
                fields.append((f"v{number}", self._order + prop.kind, (length,)))
        record = np.dtype(fields)
        if record.itemsize * count <= len(self._body) - self._at:
            rows = np.frombuffer(self._body, record, count, self._at)
            if all(
                p.length_kind is None or (rows[f"n{i}"] == lengths[i]).all() for i, p in enumerate(properties)
            ):
                self._at += record.itemsize * count
                return {
                    p.name: _native(rows[f"v{i}"])
                    if p.length_kind is None
                    else Lists(np.full(count, lengths[i]), _native(rows[f"v{i}"]).reshape(-1))
                    for i, p in enumerate(properties)
                }
        return self._one_by_one(name, count, properties)

    def _first_lengths(self, properties: list[Property]) -> list[int]:
        keep, lengths = self._at, []
        for prop in properties:
            length = 0 if prop.length_kind is None else int(self._take(prop.length_kind, 1)[0])
            lengths.append(length)
            self._take(prop.kind, 1 if prop.length_kind is None else length)
        self._at = keep
        return lengths

    def _one_by_one(self, name: str, count: int, properties: list[Property]) -> Columns:
        parts: list[list[npt.NDArray[np.generic]]] = [[] for _ in properties]
        if not any(p.length_kind for p in properties):
            raise self._short(name)
        for _ in range(count):
            for part, prop in zip(parts, properties, strict=True):
                length = 1 if prop.length_kind is None else int(self._take(prop.length_kind, 1)[0])
                part.append(self._take(prop.kind, length))
        result: Columns = {}
        for part, prop in zip(parts, properties, strict=True):
            values = _native(np.concatenate(part))
            lengths = np.array([len(p) for p in part])
            result[prop.name] = values if prop.length_kind is None else Lists(lengths, values)
        return result

    def _take(self, kind: str, count: int) -> npt.NDArray[np.generic]:
        size = int(kind[1]) * count
        if count < 0 or size > len(self._body) - self._at:
            raise self._short("a list")
        values = np.frombuffer(self._body, self._order + kind, count, self._at)
        self._at += size
        return values

    def _short(self, what: str) -> ReadError:
        return ReadError(f"ends within {what!r}", where=self._where, remedy=DAMAGED)


class _TextReader:
    def __init__(self, body: bytes, where: object) -> None:
        self._lines = [line for line in body.decode("utf-8", errors="replace").splitlines() if line.strip()]
        self._where, self._at = where, 0

    def element(self, name: str, count: int, properties: list[Property]) -> Columns:
        """All of one element, a line each."""
        lines = self._lines[self._at : self._at + count]
        if len(lines) < count:
            raise ReadError(f"ends within {name!r}", where=self._where, remedy=DAMAGED)
        self._at += count
        parts: list[list[str]] = [[] for _ in properties]
        lengths: list[list[int]] = [[] for _ in properties]
        try:
            for line in lines:
                words = iter(line.split())
                for part, found, prop in zip(parts, lengths, properties, strict=True):
                    length = 1 if prop.length_kind is None else int(next(words))
                    if length > len(line):
                        raise ValueError
                    part += [next(words) for _ in range(length)]
                    found.append(length)
            with np.errstate(all="raise"):
                values = [
                    np.array(part, np.float64).astype(p.kind)
                    for p, part in zip(properties, parts, strict=True)
                ]
        except (ValueError, StopIteration, ArithmeticError):
            raise ReadError(f"has a bad line within {name!r}", where=self._where, remedy=DAMAGED) from None
        return {
            p.name: v if p.length_kind is None else Lists(np.array(found, np.int64), v)
            for p, v, found in zip(properties, values, lengths, strict=True)
        }


def _native(values: npt.NDArray[np.generic]) -> npt.NDArray[np.generic]:
    return np.ascontiguousarray(values, values.dtype.newbyteorder("="))


def ply_bytes(
    points: npt.NDArray[np.float32],
    normals: npt.NDArray[np.float32] | None,
    face_counts: npt.NDArray[np.int32],
    face_indices: npt.NDArray[np.int32],
) -> bytes:
    """A binary PLY file of points and optional normals (vertices, 3), and polygons."""
    columns = points if normals is None else np.concatenate([points, normals], axis=1)
    names = ("x", "y", "z") if normals is None else ("x", "y", "z", "nx", "ny", "nz")
    header = [
        "ply",
        "format binary_little_endian 1.0",
        "comment metres, +Y up",
        f"element vertex {len(points)}",
    ]
    header += [f"property float {name}" for name in names]
    header += [f"element face {len(face_counts)}", "property list int int vertex_indices", "end_header", ""]
    faces = np.empty(len(face_counts) + len(face_indices), "<i4")
    starts = np.cumsum(face_counts + 1) - (face_counts + 1)
    is_count = np.zeros(len(faces), bool)
    is_count[starts] = True
    faces[is_count], faces[~is_count] = face_counts, face_indices
    return "\n".join(header).encode() + columns.astype("<f4").tobytes() + faces.tobytes()
