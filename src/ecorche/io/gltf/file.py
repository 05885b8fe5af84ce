"""A glTF file as it lies on disk: the container, its JSON, its buffers and its accessors.

After the glTF 2.0 specification of the Khronos Group. The JSON is read with the standard library:
``pygltflib`` builds an object for each entry, which took 3.8 s for a horse with 14 clips (2038
accessors) against 13 ms here, and forgets fields it does not know.
"""

from __future__ import annotations

import base64
import binascii
import json
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import unquote

import numpy as np
import numpy.typing as npt

from ecorche.base.checks import require_indices
from ecorche.base.confined import require_within
from ecorche.errors import ReadError

Json: TypeAlias = dict[str, Any]

COMPONENT_DTYPES: Mapping[int, str] = {
    5120: "<i1",
    5121: "<u1",
    5122: "<i2",
    5123: "<u2",
    5125: "<u4",
    5126: "<f4",
}
"""glTF component type to NumPy's."""

TYPE_SIZES: Mapping[str, int] = {
    "SCALAR": 1,
    "VEC2": 2,
    "VEC3": 3,
    "VEC4": 4,
    "MAT2": 4,
    "MAT3": 9,
    "MAT4": 16,
}
"""glTF element type to its number of components."""

UNDERSTOOD_EXTENSIONS = (
    "KHR_mesh_quantization",
    "KHR_texture_transform",
    "KHR_materials_",
    "EXT_texture_webp",
)
"""Extensions a file may require: we read their numbers, or carry them along with the material."""

REMEDIES = {
    "KHR_draco_mesh_compression": "Export again without Draco compression",
    "EXT_meshopt_compression": "Export again without meshopt compression",
    "KHR_texture_basisu": "Export again with PNG or JPEG textures",
}

LARGEST_ZERO_ACCESSOR = 1 << 26
"""An accessor without bytes may ask for any number of zeros: more than this is damage."""


@dataclass
class GltfFile:
    """The parsed file. ``reading`` always says which part is being read, for messages."""

    path: Path
    json: Json
    chunk: bytes | None
    reading: str = "its header"
    notes: list[str] = field(default_factory=list)
    _buffers: dict[int, bytes] = field(default_factory=dict)
    _checked: dict[str, list[Json]] = field(default_factory=dict)

    def where(self, element: str | None = None) -> str:
        """The file's name and the element concerned."""
        return f"{self.path.name}, {element or self.reading}"

    def error(self, what: str, remedy: str = "The file is damaged: export it again") -> ReadError:
        """An error about the part being read."""
        return ReadError(what, where=self.where(), remedy=remedy)

    def entries(self, kind: str) -> list[Json]:
        """All entries of a top-level list such as ``"nodes"``; empty where the file has none."""
        if kind not in self._checked:
            entries = self.json.get(kind, [])
            if not isinstance(entries, list) or not all(isinstance(e, dict) for e in entries):
                raise self.error(f"{kind!r} is not a list of objects")
            self._checked[kind] = entries
        return self._checked[kind]

    def item(self, kind: str, index: object) -> Json:
        """Entry ``index`` of a top-level list, or an error that names both."""
        entries = self.entries(kind)
        if not isinstance(index, int) or isinstance(index, bool) or not 0 <= index < len(entries):
            raise self.error(
                f"it refers to number {_short(index)} of {kind!r}, which has {len(entries)} entries"
            )
        return entries[index]

    def number(self, holder: Json, key: str, default: int | None = None) -> int:
        """A whole number at least zero."""
        value = holder.get(key, default)
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            raise self.error(f"{key!r} is {_short(value)}, not a whole number of at least zero")
        return value

    def floats(self, holder: Json, key: str, size: int, default: list[float]) -> npt.NDArray[np.float64]:
        """A list of ``size`` finite numbers."""
        values = holder.get(key, default)
        if (
            not isinstance(values, list)
            or len(values) != size
            or not all(isinstance(v, int | float) and abs(v) < 1e30 for v in values)
        ):
            raise self.error(f"{key!r} is not a list of {size} finite numbers")
        return np.array(values, np.float64)

    def name(self, holder: Json, fallback: str) -> str:
        """The entry's name, or the fallback where it has none."""
        name = holder.get("name")
        return name if isinstance(name, str) and name else fallback

    # ---- bytes ----

    def buffer(self, index: int) -> bytes:
        """The bytes of one buffer: the binary chunk, a data URI, or a file beside this one."""
        if index not in self._buffers:
            entry = self.item("buffers", index)
            length = self.number(entry, "byteLength")
            if "uri" in entry:
                data = self.uri(entry["uri"])
            elif index == 0 and self.chunk is not None:
                data = self.chunk
            else:
                raise self.error(f"buffer {index} has neither bytes in the file nor a 'uri'")
            if len(data) < length:
                raise self.error(
                    f"buffer {index} should hold {length} bytes but only {len(data)} are there",
                    "The file is cut off: copy or export it again",
                )
            self._buffers[index] = data
        return self._buffers[index]

    def uri(self, uri: object) -> bytes:
        """The bytes behind a data URI or a path beside the file."""
        if not isinstance(uri, str):
            raise self.error("a 'uri' is not a text")
        if uri.startswith("data:"):
            head, comma, body = uri.partition(",")
            if not comma:
                raise self.error("a data URI has no data")
            try:
                if head.endswith(";base64"):
                    return base64.b64decode(body, validate=True)
                return unquote(body).encode("latin-1")
            except (binascii.Error, ValueError) as error:
                raise self.error("a data URI cannot be decoded") from error
        if "://" in uri or "\0" in uri:
            raise self.error(
                f"it refers to {uri[:80]!r}, which is not a file beside it", "Keep all parts in one folder"
            )
        beside = self.path.parent / unquote(uri)
        require_within(beside, self.path)
        try:
            return beside.read_bytes()
        except OSError as error:
            raise self.error(
                f"its part {unquote(uri)[:120]!r} is missing or cannot be read",
                f"Put it beside {self.path.name}, or export as .glb",
            ) from error

    def view(self, index: object) -> tuple[memoryview, int | None]:
        """The bytes of a buffer view, and its stride where it states one."""
        entry = self.item("bufferViews", index)
        data = self.buffer(self.number(entry, "buffer"))
        start, length = self.number(entry, "byteOffset", 0), self.number(entry, "byteLength")
        if start + length > len(data):
            raise self.error(
                f"buffer view {index} covers bytes {start} to {start + length} of a buffer of {len(data)}"
            )
        stride = self.number(entry, "byteStride") if "byteStride" in entry else None
        return memoryview(data)[start : start + length], stride

    # ---- numbers ----

    def accessor(self, index: object) -> npt.NDArray[Any]:
        """An accessor's numbers as the file types them, shape (count, components)."""
        entry = self.item("accessors", index)
        component, kind = entry.get("componentType"), entry.get("type")
        if not isinstance(component, int) or not isinstance(kind, str):
            raise self.error(f"accessor {index} does not state its type")
        if component not in COMPONENT_DTYPES or kind not in TYPE_SIZES:
            raise self.error(f"accessor {index} has the unknown type {component} {kind!r}")
        dtype, size = np.dtype(COMPONENT_DTYPES[component]), TYPE_SIZES[kind]
        count = self.number(entry, "count")
        if "bufferView" in entry:
            values = self._strided(
                entry["bufferView"],
                self.number(entry, "byteOffset", 0),
                (count, size),
                dtype,
                f"accessor {index}",
                kind,
            )
        else:
            if count * size > LARGEST_ZERO_ACCESSOR:
                raise self.error(f"accessor {index} asks for {count} elements without giving bytes")
            values = np.zeros((count, size), dtype)
        if "sparse" in entry:
            values = self._with_sparse(values, entry["sparse"], index, kind)
        return values

    def _strided(
        self, view: object, offset: int, shape: tuple[int, int], dtype: np.dtype[Any], what: str, kind: str
    ) -> npt.NDArray[Any]:
        """Rows of numbers read out of a buffer view, interleaved or packed."""
        data, stride = self.view(view)
        count, size = shape
        columns = _column_padding(kind, dtype.itemsize)
        row = columns[1] if columns else size * dtype.itemsize
        step = row if stride is None else stride
        if step < row:
            raise self.error(f"{what} has rows of {row} bytes in a view with a stride of {step}")
        needed = offset + (count - 1) * step + row if count else offset
        if needed > len(data):
            raise self.error(f"{what} needs {needed} bytes of a view of {len(data)}")
        if count == 0:
            return np.zeros(shape, dtype)
        table = np.ndarray((count, row), np.uint8, buffer=data, offset=offset, strides=(step, 1))
        if columns:
            table = table[:, columns[0]]
        return np.ascontiguousarray(table).view(dtype)

    def _with_sparse(
        self, values: npt.NDArray[Any], sparse: object, index: object, kind: str
    ) -> npt.NDArray[Any]:
        if not isinstance(sparse, dict):
            raise self.error(f"accessor {index} has a malformed 'sparse' part")
        count = self.number(sparse, "count")
        places, news = sparse.get("indices"), sparse.get("values")
        if not isinstance(places, dict) or not isinstance(news, dict):
            raise self.error(f"accessor {index} has a malformed 'sparse' part")
        if places.get("componentType") not in (5121, 5123, 5125):
            raise self.error(f"the sparse part of accessor {index} has indices of an unknown type")
        at = self._strided(
            places.get("bufferView"),
            self.number(places, "byteOffset", 0),
            (count, 1),
            np.dtype(COMPONENT_DTYPES[places["componentType"]]),
            f"the sparse part of accessor {index}",
            "SCALAR",
        )[:, 0].astype(np.int64)
        require_indices(at, len(values), f"sparse index of accessor {index}, number", self.where(), ReadError)
        filled = values.copy()
        filled[at] = self._strided(
            news.get("bufferView"),
            self.number(news, "byteOffset", 0),
            (count, values.shape[1]),
            values.dtype,
            f"the sparse part of accessor {index}",
            kind,
        )
        return filled

    def normalised(self, index: object) -> bool:
        """Whether the accessor's whole numbers stand for fractions."""
        return self.item("accessors", index).get("normalized") is True

    def decoded(self, index: object, kind: str | None = None) -> npt.NDArray[np.float32]:
        """An accessor's numbers as float32, normalised whole numbers turned into fractions.

        ``kind`` refuses another element type than, say, ``"VEC3"``.
        """
        if kind is not None and self.item("accessors", index).get("type") != kind:
            raise self.error(f"accessor {index} is {self.item('accessors', index).get('type')!r}, not {kind}")
        return decode(self.accessor(index), self.normalised(index))


def _short(value: object) -> str:
    """What the file says there, cut to fit a message."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}…"


def decode(values: npt.NDArray[Any], normalised: bool) -> npt.NDArray[np.float32]:
    """Stored numbers as float32; normalised ones span 0 … 1 or -1 … 1."""
    if values.dtype == np.float32:
        return values
    if not normalised:
        return values.astype(np.float32)
    fraction = values.astype(np.float64) / np.iinfo(values.dtype).max
    return np.maximum(fraction, -1.0).astype(np.float32)


def _column_padding(kind: str, component: int) -> tuple[npt.NDArray[np.int64], int] | None:
    """Bytes of a small-integer matrix, whose columns start at multiples of four bytes."""
    side = {"MAT2": 2, "MAT3": 3, "MAT4": 4}.get(kind)
    if side is None or (side * component) % 4 == 0:
        return None
    pitch = -(-side * component // 4) * 4
    used = np.arange(side * component)
    return (np.arange(side)[:, None] * pitch + used).reshape(-1), pitch * side


def open_gltf(path: Path) -> GltfFile:
    """Parse a .glb or .gltf file, told apart by its first bytes."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ReadError(f"cannot be read ({error.strerror})", where=path.name) from error
    text, chunk = _chunks(path, data) if data[:4] == b"glTF" else (data, None)
    try:
        content = json.loads(text.decode("utf-8-sig"), parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise ReadError(
            f"is not a glTF file ({str(error)[:120]})" if chunk is None else f"its JSON is damaged ({error})",
            where=path.name,
            remedy="Export it again as .glb or .gltf",
        ) from error
    if not isinstance(content, dict) or not isinstance(content.get("asset"), dict):
        raise ReadError("is not a glTF file: it has no 'asset'", where=path.name, remedy="Export as .glb")
    file = GltfFile(path, content, chunk)
    version = content["asset"].get("version")
    if not isinstance(version, str) or version.split(".")[0] != "2":
        raise file.error(f"it is glTF version {version!r}; only 2 is read", "Export it again as glTF 2.0")
    required = content.get("extensionsRequired", [])
    if not isinstance(required, list):
        raise file.error("'extensionsRequired' is not a list")
    for name in required:
        if not isinstance(name, str) or not name.startswith(UNDERSTOOD_EXTENSIONS):
            raise file.error(
                f"it requires the extension {name!r}, which Ecorche does not read",
                REMEDIES.get(str(name), "Export it again without this extension"),
            )
    return file


def _refuse_constant(text: str) -> float:
    raise ValueError(f"JSON does not know {text}")


def _chunks(path: Path, data: bytes) -> tuple[bytes, bytes | None]:
    """JSON text and binary chunk of a .glb container."""
    cut = "The file is cut off: copy or export it again"
    if len(data) < 20:
        raise ReadError("is a truncated glb file", where=path.name, remedy=cut)
    version, length = struct.unpack_from("<II", data, 4)
    if version != 2:
        raise ReadError(
            f"is glb version {version}; only 2 is read", where=path.name, remedy="Export it as glTF 2.0"
        )
    if length > len(data):
        raise ReadError(
            f"is a truncated glb file: {len(data)} of {length} bytes are there", where=path.name, remedy=cut
        )
    found: list[tuple[bytes, bytes]] = []
    at = 12
    while at + 8 <= length:
        size, kind = struct.unpack_from("<I4s", data, at)
        if at + 8 + size > length:
            raise ReadError("is a glb file with a truncated chunk", where=path.name, remedy=cut)
        found.append((kind, data[at + 8 : at + 8 + size]))
        at += 8 + size
    if not found or found[0][0] != b"JSON":
        raise ReadError("is a glb file without a JSON chunk", where=path.name, remedy=cut)
    binary = next((body for kind, body in found[1:] if kind == b"BIN\0"), None)
    return found[0][1], binary
