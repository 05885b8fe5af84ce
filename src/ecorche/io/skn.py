"""MuJoCo's binary skin: a triangle mesh and the bones that move it.

Little-endian: four int32 (vertices, texture coordinates, faces, bones); positions, texture
coordinates (float32), vertex triples (int32); then for each bone its body's name in 40 bytes,
bind position and bind quaternion (w first), how many vertices it moves, which, and by what weight.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ecorche.base.checks import require_finite, require_indices
from ecorche.errors import ReadError

NAME_BYTES = 40
DAMAGED = "The file is damaged or no MuJoCo skin: export it again"


@dataclass(frozen=True, eq=False)
class SknBone:
    """A body, where it was at bind in the file's axes, and the vertices it moves."""

    body: str
    position: npt.NDArray[np.float64]  # (3,) [m]
    rotation_wxyz: npt.NDArray[np.float64]  # (4,)
    vertices: npt.NDArray[np.int32]  # (n,)
    weights: npt.NDArray[np.float32]  # (n,)


@dataclass(frozen=True, eq=False)
class SknSkin:
    """A skin as MuJoCo has it; ``uv`` is empty or one row a vertex."""

    points: npt.NDArray[np.float32]  # (vertices, 3) [m]
    uv: npt.NDArray[np.float32]  # (vertices, 2)
    triangles: npt.NDArray[np.int32]  # (faces, 3)
    bones: tuple[SknBone, ...]


class _Reader:
    """Arrays one after another; a count that the rest of the file cannot hold is refused."""

    def __init__(self, data: bytes, where: object) -> None:
        self._data, self._at, self.where = data, 0, where

    def take(self, kind: str, count: int, what: str) -> npt.NDArray[np.generic]:
        size = np.dtype(kind).itemsize * count
        if count < 0 or size > len(self._data) - self._at:
            raise ReadError(f"ends before its {count} {what}", where=self.where, remedy=DAMAGED)
        values = np.frombuffer(self._data, kind, count, self._at)
        self._at += size
        return values

    def floats(self, count: int, width: int, what: str) -> npt.NDArray[np.float32]:
        values = self.take("<f4", count * width, what).astype(np.float32).reshape(-1, width)
        require_finite(values, f"of the {what}, number", self.where, ReadError)
        return values

    def integers(self, count: int, what: str) -> npt.NDArray[np.int32]:
        return self.take("<i4", count, what).astype(np.int32)

    @property
    def left(self) -> int:
        return len(self._data) - self._at


def parse_skn(data: bytes, where: object) -> SknSkin:
    """Read the bytes of a ``.skn`` file."""
    reader = _Reader(data, where)
    vertices, texcoords, faces, bones = reader.integers(4, "counts").tolist()
    if vertices < 1 or faces < 1 or bones < 1 or texcoords not in (0, vertices):
        raise ReadError(
            f"has {vertices} vertices, {texcoords} texture coordinates, {faces} faces and {bones} bones",
            where=where,
            remedy=DAMAGED,
        )
    points = reader.floats(vertices, 3, "vertex positions")
    uv = reader.floats(texcoords, 2, "texture coordinates")
    triangles = reader.integers(3 * faces, "face corners")
    require_indices(triangles, vertices, "face corner", where, ReadError)
    found = tuple(_bone(reader, vertices) for _ in range(bones))
    if reader.left:
        raise ReadError(f"has {reader.left} bytes too many", where=where, remedy=DAMAGED)
    return SknSkin(points, uv, triangles.reshape(-1, 3), found)


def _bone(reader: _Reader, vertex_count: int) -> SknBone:
    name = reader.take("u1", NAME_BYTES, "bytes of a bone's name").tobytes()
    body = name.split(b"\0")[0].decode("utf-8", errors="replace")
    position = reader.floats(1, 3, f"bind position of bone {body!r}")[0].astype(np.float64)
    rotation = reader.floats(1, 4, f"bind rotation of bone {body!r}")[0].astype(np.float64)
    length = float(np.linalg.norm(rotation))
    if abs(length - 1.0) > 1e-2:
        raise ReadError(
            f"the bind rotation of bone {body!r} has length {length:.3g}", where=reader.where, remedy=DAMAGED
        )
    count = int(reader.integers(1, f"vertex count of bone {body!r}")[0])
    vertices = reader.integers(count, f"vertices of bone {body!r}")
    require_indices(vertices, vertex_count, f"of bone {body!r}, vertex", reader.where, ReadError)
    weights = reader.floats(count, 1, f"weights of bone {body!r}")[:, 0]
    return SknBone(body, position, rotation / length, vertices, weights)
