"""Meshes of bones in the arrays file: all in one, with the bone of each vertex and the joint of each bone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ecorche.errors import DocumentError

PREFIX = "bones/"


@dataclass(frozen=True, eq=False, repr=False)
class BoneSurfaces:
    """The bones of a character at bind, each fixed to a joint.

    Attributes:
        names: Of the bones.
        joints: Name of the joint that each moves with.
        points: Vertices of all bones [m], shape (vertices, 3), float32.
        bone: Number of the bone that each vertex belongs to, rising, shape (vertices,), int32.
        triangles: Shape (triangles, 3), int32; each of vertices of one bone.
    """

    names: tuple[str, ...]
    joints: tuple[str, ...]
    points: npt.NDArray[np.float32]
    bone: npt.NDArray[np.int32]
    triangles: npt.NDArray[np.int32]

    def __repr__(self) -> str:
        return f"BoneSurfaces({len(self.names)} bones, {len(self.points)} vertices)"

    def checked(self, where: object) -> BoneSurfaces:
        """Itself; what cannot be bones is refused."""
        count, corners = len(self.points), self.triangles
        if len(self.joints) != len(self.names) or len(self.bone) != count:
            raise _broken("names, joints and vertices do not add up", where)
        if not np.isfinite(self.points).all():
            vertex = int(np.argmax(~np.isfinite(self.points).all(axis=1)))
            raise _broken(f"the position of vertex {vertex} is not a number", where)
        number = np.arange(len(self.names))
        if not np.array_equal(np.unique(self.bone), number) or (np.diff(self.bone) < 0).any():
            raise _broken("vertices are not in the order of their bones", where)
        if (corners < 0).any() or (corners >= count).any():
            raise _broken("there are triangles of vertices that do not exist", where)
        owner = self.bone[corners]
        if (owner != owner[:, :1]).any():
            raise _broken("a triangle joins two bones", where)
        if not np.array_equal(np.unique(owner), number):
            name = self.names[int(np.setdiff1d(number, owner)[0])]
            raise _broken(f"the bone {name!r} has no triangles", where)
        return self


def arrays_from_bones(bones: BoneSurfaces | None) -> dict[str, npt.NDArray[np.generic]]:
    """Bones as named arrays; none without bones."""
    if bones is None:
        return {}
    return {
        f"{PREFIX}names": np.array(bones.names, np.str_),
        f"{PREFIX}joints": np.array(bones.joints, np.str_),
        f"{PREFIX}points": bones.points.astype(np.float32, copy=False),
        f"{PREFIX}bone": bones.bone.astype(np.int32, copy=False),
        f"{PREFIX}triangles": bones.triangles.astype(np.int32, copy=False),
    }


def bones_from_arrays(arrays: Mapping[str, npt.NDArray[np.generic]], where: object) -> BoneSurfaces | None:
    """The bones in named arrays; None where there are none, arrays that are no bones are refused."""
    if not any(name.startswith(PREFIX) for name in arrays):
        return None
    kinds = {
        "names": ("U", 1),
        "joints": ("U", 1),
        "points": ("f", 2),
        "bone": ("i", 1),
        "triangles": ("i", 2),
    }
    for part, (kind, axes) in kinds.items():
        array = arrays.get(f"{PREFIX}{part}")
        if (
            array is None
            or array.dtype.kind != kind
            or array.ndim != axes
            or array.shape[1:] not in ((), (3,))
        ):
            raise _broken(f"their {part} are missing or of the wrong shape", where)
    return BoneSurfaces(
        tuple(str(name) for name in arrays[f"{PREFIX}names"]),
        tuple(str(name) for name in arrays[f"{PREFIX}joints"]),
        np.asarray(arrays[f"{PREFIX}points"], np.float32),
        np.asarray(arrays[f"{PREFIX}bone"], np.int32),
        np.asarray(arrays[f"{PREFIX}triangles"], np.int32),
    ).checked(where)


def _broken(what: str, where: object) -> DocumentError:
    return DocumentError(
        f"the bones are no meshes: {what}",
        where=where,
        remedy="Restore the arrays file from version control, or create the rig again",
    )
