"""Which shape a character has: hashes of its bind points, its topology and its joints.

Not of the file's bytes: saved again, or saved in another format, a character stays itself as
long as its float32 numbers do. Three hashes, because each can change without the others and a
person wants to know which did.

The bytes that are hashed (SHA-256, little-endian, every text with its length before it):

- points: of each mesh its points as float32; meshes in the order of their own hashes, so that
  neither their order nor their names matter;
- topology: of each mesh its vertex count, the corners of its faces and their vertices as int32;
  meshes ordered likewise;
- joints: by rising name: name, parent's name, and the inverse bind matrix as float32, the
  precision every format keeps. Rounding noise, less than 1e-7, counts as zero, and minus zero too.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterable

import numpy as np

from ecorche.base import transforms
from ecorche.body.character import Character
from ecorche.document.bind import BindMesh, BindShape
from ecorche.document.spec import BindHash

PREFIX = "ecorche1:"
NOISE = np.float32(1e-7)


def bind_shape(character: Character) -> BindShape:
    """A character's shape at bind: what a rig keeps of it."""
    return BindShape(
        meshes=tuple(
            BindMesh(m.name, m.mesh.points, m.mesh.face_counts, m.mesh.face_indices) for m in character.meshes
        ),
        joint_names=character.skeleton.names,
        joint_parents=np.asarray(character.skeleton.parents, np.int32),
        joint_world=character.skeleton.bind_world,
    )


def identify(shape: BindShape) -> BindHash:
    """The three hashes of a shape."""
    return BindHash(
        points=_combined(_points(m) for m in shape.meshes),
        topology=_combined(_topology(m) for m in shape.meshes),
        joints=PREFIX + hashlib.sha256(_joints(shape)).hexdigest(),
    )


def changes(old: BindHash, new: BindHash) -> list[str]:
    """Which of ``"points"``, ``"topology"`` and ``"joints"`` differ."""
    return [part for part in ("points", "topology", "joints") if getattr(old, part) != getattr(new, part)]


def _combined(parts: Iterable[bytes]) -> str:
    return PREFIX + hashlib.sha256(b"".join(sorted(hashlib.sha256(p).digest() for p in parts))).hexdigest()


def _points(mesh: BindMesh) -> bytes:
    return (mesh.points + np.float32(0.0)).astype("<f4").tobytes()  # adding zero turns -0 into 0


def _topology(mesh: BindMesh) -> bytes:
    counts, indices = mesh.face_counts.astype("<i4"), mesh.face_indices.astype("<i4")
    sizes = struct.pack("<3q", len(mesh.points), len(counts), len(indices))
    return sizes + counts.tobytes() + indices.tobytes()


def _joints(shape: BindShape) -> bytes:
    inverse = transforms.inverse(shape.joint_world).astype("<f4")
    inverse = np.where(np.abs(inverse) < NOISE, np.float32(0.0), inverse).astype("<f4")
    rows = []
    for joint in sorted(range(len(shape.joint_names)), key=lambda j: shape.joint_names[j]):
        parent = int(shape.joint_parents[joint])
        above = "" if parent < 0 else shape.joint_names[parent]
        rows.append(_text(shape.joint_names[joint]) + _text(above) + inverse[joint, :3].tobytes())
    return b"".join(rows)


def _text(text: str) -> bytes:
    data = text.encode("utf-8", "surrogatepass")
    return struct.pack("<q", len(data)) + data
