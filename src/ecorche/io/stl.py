"""STL triangles, binary and text.

The format has no shared vertices: corners that agree bit for bit are made one vertex, in order
of first appearance, because a surface needs neighbours. Nothing else is merged, and no triangle
is dropped. Facet normals follow from the corners and are not kept.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ecorche.errors import ReadError

RECORD = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
HEADER = 80

Corners = npt.NDArray[np.float32]


def parse_stl(data: bytes, where: object) -> tuple[Corners, npt.NDArray[np.int32]]:
    """Points (vertices, 3) and vertex triples (triangles, 3) of an STL file, in its own units."""
    corners = _text(data, where) if _is_text(data) else _binary(data, where)
    # as integers, minus zero being zero: equal bits sort together
    bits = (corners.reshape(-1, 3) + np.float32(0.0)).view(np.uint32)
    order = np.lexsort(bits.T)
    fresh = np.ones(len(order), bool)
    fresh[1:] = (bits[order[1:]] != bits[order[:-1]]).any(axis=1)
    group = np.empty(len(order), np.int64)
    group[order] = np.cumsum(fresh) - 1
    first = order[fresh]  # lexsort is stable: the earliest corner of each group
    rank = np.empty(len(first), np.int32)
    rank[np.argsort(first, kind="stable")] = np.arange(len(first), dtype=np.int32)
    return corners.reshape(-1, 3)[np.sort(first)], rank[group].reshape(-1, 3)


def _is_text(data: bytes) -> bool:
    """Many binary files begin with "solid" too: the promised size decides."""
    if not data[:HEADER].lstrip().startswith(b"solid"):
        return False
    if len(data) < HEADER + 4:
        return True
    count = int.from_bytes(data[HEADER : HEADER + 4], "little")
    return len(data) != HEADER + 4 + RECORD.itemsize * count


def _binary(data: bytes, where: object) -> Corners:
    if len(data) < HEADER + 4:
        raise ReadError("is too short for an STL file", where=where, remedy="Export it again")
    count = int.from_bytes(data[HEADER : HEADER + 4], "little")
    needed = HEADER + 4 + RECORD.itemsize * count
    if len(data) != needed:
        raise ReadError(
            f"promises {count} triangles, which is {needed} bytes, but has {len(data)}",
            where=where,
            remedy="The file is damaged or no STL file: export it again",
        )
    return np.frombuffer(data, RECORD, count, HEADER + 4)["corners"].astype(np.float32)


def _text(data: bytes, where: object) -> Corners:
    words = data.split()
    places = [i for i, word in enumerate(words) if word == b"vertex"]
    try:
        numbers = [words[i + 1 : i + 4] for i in places]
        corners = np.array(numbers, np.float32).reshape(-1, 3, 3)
    except ValueError:
        raise ReadError(
            "is not STL text: a 'vertex' has no three numbers, or a facet no three vertices",
            where=where,
            remedy="The file is damaged: export it again",
        ) from None
    if not any(word == b"endsolid" for word in words):
        raise ReadError("ends before 'endsolid'", where=where, remedy="The file is damaged: export it again")
    return corners


def stl_bytes(points: Corners, triangles: npt.NDArray[np.int32]) -> bytes:
    """A binary STL file of points (vertices, 3) and vertex triples (triangles, 3)."""
    records = np.zeros(len(triangles), RECORD)
    records["corners"] = points[triangles]
    across = np.cross(
        records["corners"][:, 1] - records["corners"][:, 0],
        records["corners"][:, 2] - records["corners"][:, 0],
    )
    length = np.linalg.norm(across, axis=1, keepdims=True)
    records["normal"] = across / np.where(length > 0.0, length, 1.0)
    header = b"STL, metres, +Y up".ljust(HEADER, b" ")
    return header + len(triangles).to_bytes(4, "little") + records.tobytes()
