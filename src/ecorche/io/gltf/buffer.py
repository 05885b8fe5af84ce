"""The bytes of a glTF file under construction: buffer views, accessors, and the two containers."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ecorche.base.files import whole_file
from ecorche.errors import WriteError
from ecorche.io.gltf.file import COMPONENT_DTYPES, Json

VERTICES, INDICES = 34962, 34963
"""What a buffer view is for, as glTF numbers it."""

TYPES = {1: "SCALAR", 2: "VEC2", 3: "VEC3", 4: "VEC4", 16: "MAT4"}
COMPONENTS = {np.dtype(d): number for number, d in COMPONENT_DTYPES.items()}

SPARSE_BELOW = 0.4
"""Morph targets that touch a smaller part of their mesh are stored by touched vertex."""


class BufferWriter:
    """Collects arrays as accessors of one buffer."""

    def __init__(self) -> None:
        self.views: list[Json] = []
        self.accessors: list[Json] = []
        self._parts: list[bytes] = []
        self._length = 0

    def view(self, data: bytes, target: int | None = None, stride: int | None = None) -> int:
        """Store bytes, aligned to four; their buffer view."""
        entry: Json = {"buffer": 0, "byteOffset": self._length, "byteLength": len(data)}
        if stride is not None:
            entry["byteStride"] = stride
        if target is not None:
            entry["target"] = target
        padding = b"\0" * (-len(data) % 4)
        self._parts += [data, padding]
        self._length += len(data) + len(padding)
        self.views.append(entry)
        return len(self.views) - 1

    def accessor(
        self,
        values: npt.NDArray[np.generic],
        target: int | None = None,
        *,
        normalised: bool = False,
        bounds: bool = False,
    ) -> int:
        """Store an array (elements, components) of a type glTF knows; its accessor."""
        entry = self._entry(values, normalised=normalised, bounds=bounds)
        table = np.ascontiguousarray(values.reshape(len(values), -1))
        row = table.shape[1] * table.itemsize
        stride = None
        if target == VERTICES and row % 4:  # vertex arrays start every element at a multiple of four
            stride = row + -row % 4
            padded = np.zeros((len(table), stride), np.uint8)
            padded[:, :row] = table.view(np.uint8).reshape(len(table), row)
            table = padded
        entry = {"bufferView": self.view(table.tobytes(), target, stride), **entry}
        self.accessors.append(entry)
        return len(self.accessors) - 1

    def offsets(self, vertices: npt.NDArray[np.int32], offsets: npt.NDArray[np.float32], count: int) -> int:
        """Store offsets (n, 3) of some of ``count`` vertices, all others zero; their accessor."""
        dense = np.zeros((count, 3), np.float32)
        dense[vertices] = offsets
        if not 0 < len(vertices) < SPARSE_BELOW * count:
            return self.accessor(dense, VERTICES, bounds=True)
        entry = self._entry(dense, normalised=False, bounds=True)
        places = vertices.astype(np.uint16 if count <= 65535 else np.uint32)
        entry["sparse"] = {
            "count": len(vertices),
            "indices": {
                "bufferView": self.view(places.tobytes()),
                "componentType": COMPONENTS[places.dtype],
            },
            "values": {"bufferView": self.view(np.ascontiguousarray(offsets, np.float32).tobytes())},
        }
        self.accessors.append(entry)
        return len(self.accessors) - 1

    @staticmethod
    def _entry(values: npt.NDArray[np.generic], *, normalised: bool, bounds: bool) -> Json:
        table = values.reshape(len(values), -1)
        entry: Json = {
            "componentType": COMPONENTS[table.dtype],
            "count": len(table),
            "type": TYPES[table.shape[1]],
        }
        if normalised:
            entry["normalized"] = True
        if bounds:
            entry["min"] = np.min(table, axis=0).tolist()
            entry["max"] = np.max(table, axis=0).tolist()
        return entry

    def bytes(self) -> bytes:
        """All stored bytes."""
        return b"".join(self._parts)


def write_container(path: Path, content: Json, buffer: BufferWriter) -> None:
    """Write a .glb, or a .gltf with its .bin beside it; the .gltf comes last and completes them."""
    data = buffer.bytes()
    if path.suffix.lower() == ".gltf":
        beside = path.with_suffix(".bin")
        content["buffers"] = [{"byteLength": len(data), "uri": _quoted(beside.name)}]
        text = json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False)
        with whole_file(beside) as partial:
            partial.write_bytes(data)
        with whole_file(path) as partial:
            partial.write_text(text + "\n", encoding="utf-8")
        return
    content["buffers"] = [{"byteLength": len(data)}]
    head = json.dumps(content, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()
    head += b" " * (-len(head) % 4)
    total = 12 + 8 + len(head) + 8 + len(data)
    if total >= 1 << 32:
        raise WriteError(
            f"a .glb holds at most 4 GB, this take needs {total / 2**30:.1f}",
            where=path,
            remedy="Write fewer frames or morph targets, or USD",
        )
    with whole_file(path) as partial, partial.open("wb") as out:
        out.write(struct.pack("<4sII", b"glTF", 2, total))
        out.write(struct.pack("<I4s", len(head), b"JSON") + head)
        out.write(struct.pack("<I4s", len(data), b"BIN\0") + data)


def _quoted(name: str) -> str:
    from urllib.parse import quote

    return quote(name)
