"""What an anatomy folder holds: muscles, bones and, where somebody marked them, attachment sites.

All are surfaces in the character's frame at bind. Reading the files is `io.anatomy_folder`; here they are
plain values. Which joint a bone moves with is decided once, for all muscles, by `joints_of_bones`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
import numpy.typing as npt

from ecorche.base.checks import require_finite, require_indices
from ecorche.base.closest_point import TriangleSurface
from ecorche.errors import MeshError
from ecorche.skeleton.skeleton import Skeleton

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

TOUCHING = 0.0025
"""A muscle touches a bone that is nearer than this share of the anatomy's extent: 2.5 mm for a metre."""
NEIGHBOUR = 0.02
"""A bone lies next to another that is nearer on average than this share of all bones' extent."""


@dataclass(frozen=True, eq=False, repr=False)
class AnatomyMesh:
    """One surface of the folder: open, tangled or in pieces, as it comes.

    Attributes:
        name: As its file is named.
        points: Vertices [m], shape (vertices, 3).
        triangles: Vertex numbers, shape (triangles, 3).
    """

    name: str
    points: Floats
    triangles: Ints

    def __post_init__(self) -> None:
        where = f"{self.name!r}"
        require_finite(self.points, "Vertex", where, MeshError)
        require_indices(self.triangles, len(self.points), "Triangle corner", where, MeshError)
        corners = self.points[self.triangles]
        across = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        if not (np.abs(across) > 0.0).any():
            raise MeshError("it has no triangle with an area", where=where, remedy="Export it as a surface")

    def __repr__(self) -> str:
        return f"AnatomyMesh({self.name!r}, {len(self.points)} vertices)"

    @cached_property
    def surface(self) -> TriangleSurface:
        """The surface, to ask for closest points."""
        return TriangleSurface(self.points, self.triangles)

    @cached_property
    def centre(self) -> Floats:
        """The mean of its surface [m], shape (3,)."""
        corners = self.points[self.triangles]
        across = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        area = np.linalg.norm(across, axis=1)
        return np.asarray(area @ corners.mean(axis=1) / area.sum())


@dataclass(frozen=True, eq=False, repr=False)
class AnatomyFolder:
    """The surfaces of one body.

    Attributes:
        muscles, bones, sites: The surfaces, each kind in the order of its names.
        notes: What could not be read, a sentence each.
    """

    muscles: tuple[AnatomyMesh, ...]
    bones: tuple[AnatomyMesh, ...]
    sites: tuple[AnatomyMesh, ...] = ()
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for kind, remedy in (("muscles", "Put surfaces of muscles"), ("bones", "Put surfaces of bones")):
            if not getattr(self, kind):
                raise MeshError(f"the anatomy has no {kind}", remedy=f"{remedy} into its folder {kind}/")

    def __repr__(self) -> str:
        return f"AnatomyFolder({len(self.muscles)} muscles, {len(self.bones)} bones, {len(self.sites)} sites)"

    @property
    def extent(self) -> float:
        """The diagonal of everything [m]."""
        every = np.concatenate([mesh.points for mesh in (*self.muscles, *self.bones)])
        return float(np.linalg.norm(np.ptp(every, axis=0)))


class Bones:
    """The bones with the joints they move with, to ask for distances.

    Args:
        meshes: The bones.
        joints: The joint of each bone, shape (bones,).
        touching: How near a muscle touches a bone [m].
    """

    def __init__(self, meshes: Sequence[AnatomyMesh], joints: npt.ArrayLike, touching: float) -> None:
        self.meshes = tuple(meshes)
        self.names = tuple(mesh.name for mesh in meshes)
        self.joints = np.asarray(joints, np.int64)
        self.touching = touching
        self._low = np.array([mesh.points.min(axis=0) for mesh in meshes])
        self._high = np.array([mesh.points.max(axis=0) for mesh in meshes])
        self._owner = np.repeat(np.arange(len(meshes)), [len(mesh.triangles) for mesh in meshes])

    @cached_property
    def _all(self) -> TriangleSurface:
        firsts = np.cumsum([0, *(len(mesh.points) for mesh in self.meshes[:-1])])
        triangles = [mesh.triangles + first for mesh, first in zip(self.meshes, firsts, strict=True)]
        return TriangleSurface(
            np.concatenate([mesh.points for mesh in self.meshes]), np.concatenate(triangles)
        )

    def nearest(self, points: Floats) -> tuple[Ints, Floats]:
        """The bone nearest to each point [m] (points, 3), and how far it is [m]."""
        hit = self._all.closest(points)
        return self._owner[hit.triangles], hit.distances

    def distances(self, bone: int, points: Floats) -> Floats:
        """How far points [m] (points, 3) are from one bone's surface [m]."""
        return self.meshes[bone].surface.closest(points).distances

    def touched(self, points: Floats, within: float) -> dict[int, Floats]:
        """Distances (points,) to each bone that some point is nearer to than ``within`` [m]."""
        low, high = points.min(axis=0) - within, points.max(axis=0) + within
        boxes = np.flatnonzero((self._low <= high).all(axis=1) & (self._high >= low).all(axis=1))
        found = {int(bone): self.distances(int(bone), points) for bone in boxes}
        return {bone: distances for bone, distances in found.items() if distances.min() < within}


def joints_of_bones(
    bones: Sequence[AnatomyMesh], skeleton: Skeleton, known: Mapping[str, int]
) -> tuple[Ints, tuple[str, ...]]:
    """The joint each bone moves with, shape (bones,), and a note for each that had to be guessed.

    A bone that the character itself carries fixed to a joint moves with that joint (``known``, by the bone's
    name, with or without the folder's prefix). Else a joint of its name; else, where it lies next to a bone
    so known (`NEIGHBOUR`), with that one; else the joint whose stretch from head to tail lies nearest to
    its surface on average.
    """
    joints = np.full(len(bones), -1, np.int64)
    by_name = {spelled: joint for name, joint in known.items() if (spelled := squashed(name))}
    named = {squashed(name): joint for joint, name in enumerate(skeleton.names)}
    for row, bone in enumerate(bones):
        key = squashed(bone.name)
        joints[row] = known.get(bone.name, by_name.get(key, named.get(key, -1)))
    notes = []
    extent = float(np.linalg.norm(np.ptp(np.concatenate([bone.points for bone in bones]), axis=0)))
    sure = np.flatnonzero(joints >= 0)
    heads, tails = skeleton.bind_world[:, :3, 3], skeleton.tail_positions()
    near = Bones([bones[int(b)] for b in sure], joints[sure], 0.0) if len(sure) else None
    for row in np.flatnonzero(joints < 0).tolist():
        points = bones[row].points
        neighbour, far_off = near.nearest(points) if near is not None else (joints[:0], np.array([np.inf]))
        if near is not None and far_off.mean() < NEIGHBOUR * extent:
            best = int(np.bincount(neighbour).argmax())
            joints[row] = near.joints[best]
            off = 1e3 * float(far_off[neighbour == best].mean())
            reason = f"with its nearest neighbour {near.names[best]!r}, {off:.0f} mm off"
        else:
            far = [float(_from_segment(points, a, b).mean()) for a, b in zip(heads, tails, strict=True)]
            joints[row] = int(np.argmin(far))
            reason = f"as the nearest, {1e3 * min(far):.0f} mm off on average"
        notes.append(f"Bone {bones[row].name!r} moves with joint {skeleton.names[joints[row]]!r}: {reason}.")
    return joints, tuple(notes)


PREFIXES = ("muscle", "musc", "bone", "site")
"""Words for the kind of a thing that its name may begin with."""


@cache
def squashed(name: str) -> str:
    """A name as it is compared: lower case, letters and digits only, no word for its kind before it."""
    bare = "".join(c for c in name.casefold() if c.isalnum())
    for prefix in PREFIXES:
        if bare.startswith(prefix) and len(bare) > len(prefix):
            return bare[len(prefix) :]
    return bare


def _from_segment(points: Floats, head: Floats, tail: Floats) -> Floats:
    along = tail - head
    share = np.clip((points - head) @ along / max(float(along @ along), 1e-18), 0.0, 1.0)
    return np.asarray(np.linalg.norm(points - head - share[:, None] * along, axis=1))
