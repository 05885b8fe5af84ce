"""The shape a rig was made for, kept beside the rig: its file may have been overwritten since.

Without this copy nobody could tell where the old skin was, and painted maps could not be moved
to a new mesh.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar, cast

import numpy as np
import numpy.typing as npt

from ecorche.base.names import suggestion
from ecorche.errors import DocumentError

Scalar = TypeVar("Scalar", bound=np.generic)


@dataclass(frozen=True, eq=False)
class BindMesh:
    """One surface at bind: points [m] (vertices, 3), corners of each face, vertex of each corner."""

    name: str
    points: npt.NDArray[np.float32]
    face_counts: npt.NDArray[np.int32]
    face_indices: npt.NDArray[np.int32]

    def same_topology(self, other: BindMesh) -> bool:
        """Whether vertex i here is vertex i there: equal counts and equal faces."""
        return (
            len(self.points) == len(other.points)
            and np.array_equal(self.face_counts, other.face_counts)
            and np.array_equal(self.face_indices, other.face_indices)
        )


@dataclass(frozen=True, eq=False)
class BindShape:
    """A character at bind: its surfaces, and its joints as names, parents and world matrices.

    Attributes:
        meshes: All surfaces, in file order.
        joint_names: Joint names, parents before children.
        joint_parents: Parent number of each joint, -1 at a root, shape (joints,).
        joint_world: ``world_from_joint``, shape (joints, 4, 4).
    """

    meshes: tuple[BindMesh, ...]
    joint_names: tuple[str, ...]
    joint_parents: npt.NDArray[np.int32]
    joint_world: npt.NDArray[np.float64]

    def mesh(self, name: str, where: object = None) -> BindMesh:
        """The mesh of that name."""
        for mesh in self.meshes:
            if mesh.name == name:
                return mesh
        raise DocumentError(
            f"there is no mesh {name!r} in the character the rig was made for",
            where=where,
            remedy=suggestion(name, [m.name for m in self.meshes]),
        )


def arrays_from_bind(bind: BindShape) -> dict[str, npt.NDArray[np.generic]]:
    """A bind shape as named arrays."""
    arrays: dict[str, npt.NDArray[np.generic]] = {
        "bind/mesh_names": np.array([m.name for m in bind.meshes], np.str_),
        "bind/joint_names": np.array(bind.joint_names, np.str_),
        "bind/joint_parents": bind.joint_parents.astype(np.int32, copy=False),
        "bind/joint_world": bind.joint_world.astype(np.float64, copy=False),
    }
    for number, mesh in enumerate(bind.meshes):
        arrays[f"bind/{number}/points"] = mesh.points
        arrays[f"bind/{number}/face_counts"] = mesh.face_counts
        arrays[f"bind/{number}/face_indices"] = mesh.face_indices
    return arrays


def bind_from_arrays(arrays: Mapping[str, npt.NDArray[np.generic]], where: object) -> BindShape:
    """The bind shape in named arrays; what cannot be one is refused."""
    meshes = []
    for number, name in enumerate(_take(arrays, where, "bind/mesh_names", np.str_)):
        points = _take(arrays, where, f"bind/{number}/points", np.float32, (3,))
        counts = _take(arrays, where, f"bind/{number}/face_counts", np.int32)
        indices = _take(arrays, where, f"bind/{number}/face_indices", np.int32)
        if not np.isfinite(points).all():
            raise _broken(f"mesh {str(name)!r} has positions that are not numbers", where)
        if (counts < 3).any() or counts.sum(dtype=np.int64) != len(indices):
            raise _broken(f"mesh {str(name)!r} has faces that do not add up", where)
        if (indices < 0).any() or (indices >= len(points)).any():
            raise _broken(f"mesh {str(name)!r} has faces of vertices that do not exist", where)
        meshes.append(BindMesh(str(name), points, counts, indices))
    joints = tuple(str(n) for n in _take(arrays, where, "bind/joint_names", np.str_))
    parents = _take(arrays, where, "bind/joint_parents", np.int32)
    world = _take(arrays, where, "bind/joint_world", np.float64, (4, 4))
    if not len(joints) == len(parents) == len(world) or not np.isfinite(world).all():
        raise _broken("the joints do not add up", where)
    if (parents < -1).any() or (parents >= np.arange(len(parents))).any():
        raise _broken("a joint stands before its parent", where)
    return BindShape(tuple(meshes), joints, parents, world)


def _take(
    arrays: Mapping[str, npt.NDArray[np.generic]],
    where: object,
    name: str,
    kind: type[Scalar],
    columns: tuple[int, ...] = (),
) -> npt.NDArray[Scalar]:
    """The array of that name, if its rows are of that kind and shape."""
    array = arrays.get(name)
    if array is None or array.ndim == 0 or array.dtype.type is not kind or array.shape[1:] != columns:
        raise _broken(f"{name!r} is missing or of the wrong shape", where)
    return cast(npt.NDArray[Scalar], array)


def _broken(what: str, where: object) -> DocumentError:
    return DocumentError(
        f"does not hold the shape the rig was made for: {what}",
        where=where,
        remedy="Restore the file from version control, or create the rig again",
    )
