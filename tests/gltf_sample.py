"""Small glTF files written byte by byte in the tests, so that the reader is not tested by our writer."""

from __future__ import annotations

import base64
import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ecorche.body.character import Character, SkinnedMesh
from ecorche.skeleton.kinematics import difference_from_bind

CODES = {"i1": 5120, "u1": 5121, "i2": 5122, "u2": 5123, "u4": 5125, "f4": 5126}
KINDS = {1: "SCALAR", 2: "VEC2", 3: "VEC3", 4: "VEC4", 16: "MAT4"}

Json = dict[str, Any]


class Sample:
    """A glTF document under construction; ``json`` may be changed at will before it is saved."""

    def __init__(self) -> None:
        self.json: Json = {
            "asset": {"version": "2.0"},
            "accessors": [],
            "bufferViews": [],
            "buffers": [{}],
        }
        self.data = b""

    def view(self, data: bytes, **more: Any) -> int:
        self.json["bufferViews"].append(
            {"buffer": 0, "byteOffset": len(self.data), "byteLength": len(data), **more}
        )
        self.data += data + b"\0" * (-len(data) % 4)
        return len(self.json["bufferViews"]) - 1

    def accessor(self, values: npt.ArrayLike, kind: str = "f4", **more: Any) -> int:
        array = np.asarray(values)
        array = array.reshape(len(array), -1).astype(f"<{kind}")
        return self.entry(
            len(array), KINDS[array.shape[1]], kind, bufferView=self.view(array.tobytes()), **more
        )

    def entry(self, count: int, shape: str, kind: str, **more: Any) -> int:
        self.json["accessors"].append({"componentType": CODES[kind], "count": count, "type": shape, **more})
        return len(self.json["accessors"]) - 1

    def add(self, kind: str, entry: Json) -> int:
        self.json.setdefault(kind, []).append(entry)
        return len(self.json[kind]) - 1

    def save(self, path: Path) -> Path:
        """Write .glb; or .gltf with a .bin beside it, or with a data URI for ``….uri.gltf``."""
        self.json["buffers"][0]["byteLength"] = len(self.data)
        if path.suffix == ".gltf":
            if path.name.endswith(".uri.gltf"):
                text = base64.b64encode(self.data).decode()
                self.json["buffers"][0]["uri"] = f"data:application/octet-stream;base64,{text}"
            else:
                self.json["buffers"][0]["uri"] = f"{path.stem}%20part.bin"
                path.with_name(f"{path.stem} part.bin").write_bytes(self.data)
            path.write_text(json.dumps(self.json))
            return path
        head = json.dumps(self.json).encode()
        head += b" " * (-len(head) % 4)
        size = 28 + len(head) + len(self.data)
        path.write_bytes(
            struct.pack("<4sIII4s", b"glTF", 2, size, len(head), b"JSON")
            + head
            + struct.pack("<I4s", len(self.data), b"BIN\0")
            + self.data
        )
        return path


POINTS = np.array([[0, 0, 0], [0.1, 0, 0], [0, 0.5, 0], [0.1, 0.5, 0], [0, 1, 0], [0.1, 1, 0]], np.float32)
TRIANGLES = np.array([[0, 1, 2], [2, 1, 3], [2, 3, 4], [4, 3, 5]])
STRIP = np.arange(6)
JOINTS = np.array([[0, 1, 0, 0]] * 6)
WEIGHTS = np.array(
    [[1, 0, 0, 0], [1, 0, 0, 0], [0.5, 0.5, 0, 0], [0.25, 0.75, 0, 0], [0, 1, 0, 0], [0, 1, 0, 0]]
)


def inverse_binds() -> npt.NDArray[np.float64]:
    """Of a lower joint at the origin and an upper one half a metre above, (2, 4, 4)."""
    matrices = np.tile(np.eye(4), (2, 1, 1))
    matrices[1, 1, 3] = -0.5
    return matrices


def columns(matrices: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Matrices as glTF stores them, column after column, (n, 16)."""
    return matrices.transpose(0, 2, 1).reshape(-1, 16)


def strip_of_two_bones() -> Sample:
    """A strip of four triangles on two joints: nodes 0 lower, 1 upper, 2 the mesh."""
    sample = Sample()
    attributes = {
        "POSITION": sample.accessor(POINTS),
        "JOINTS_0": sample.accessor(JOINTS, "u1"),
        "WEIGHTS_0": sample.accessor(WEIGHTS),
    }
    indices = sample.accessor(TRIANGLES.reshape(-1), "u2")
    sample.add("meshes", {"name": "strip", "primitives": [{"attributes": attributes, "indices": indices}]})
    sample.add("nodes", {"name": "lower", "children": [1]})
    sample.add("nodes", {"name": "upper", "translation": [0.0, 0.5, 0.0]})
    sample.add("nodes", {"name": "strip", "mesh": 0, "skin": 0})
    sample.add("skins", {"joints": [0, 1], "inverseBindMatrices": sample.accessor(columns(inverse_binds()))})
    sample.add("scenes", {"nodes": [0, 2]})
    return sample


def primitive(sample: Sample) -> dict[str, Any]:
    found: dict[str, Any] = sample.json["meshes"][0]["primitives"][0]
    return found


def skinned(character: Character, mesh: SkinnedMesh, local: npt.NDArray[np.float64]) -> npt.NDArray[Any]:
    """Linear skinning straight from its definition, shape (vertices, 3)."""
    moved = np.eye(4) + difference_from_bind(character.skeleton, local)
    if mesh.own_bind is not None:
        moved = moved @ mesh.own_bind
    assert mesh.weights is not None
    joints, weights = mesh.weights.padded()
    blended = np.einsum("vk,vkij->vij", weights.astype(np.float64), moved[joints])
    return np.asarray(np.einsum("vij,vj->vi", blended[:, :3, :3], mesh.mesh.points) + blended[:, :3, 3])
