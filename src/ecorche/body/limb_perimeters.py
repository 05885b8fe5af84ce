"""How far it is round a limb: what a tape measure would say, level by level along each bone.

Text 004 shows how muscles swell as the increase of the upper arm's perimeter, from yellow to red (figure 5).
The tape lies in a plane across the bone, at fixed places along it, and goes round that bone's own skin alone:
where a plane would run into the trunk or another part of the limb the curve does not close, and nothing is
measured there. So the number is nobody's guess, and joints stay blank.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from ecorche.base.contours import contours
from ecorche.base.rotations import normalise
from ecorche.body.character import Character
from ecorche.errors import EcorcheError
from ecorche.skeleton.naming import recognise
from ecorche.skeleton.skeleton import Skeleton
from ecorche.skin.limb_segments import joints_below

Floats = npt.NDArray[np.float64]

LEVELS = np.linspace(0.0, 1.0, 51)
"""Where along a bone the tape is laid, as a share of its length."""
_OWN = 0.5
"""From which share of its weights skin belongs to a bone."""
_LIMBS = (("shoulder", "elbow", "radiocarpal"), ("hip", "knee", "talocrural"))


@dataclass(frozen=True, eq=False)
class _Bone:
    """A bone of a limb: joints at its ends, its vertices, and the triangles of them alone."""

    head: int
    tail: int
    vertices: npt.NDArray[np.int64]
    triangles: npt.NDArray[np.int64]


class LimbPerimeters:
    """Perimeters of a character's limbs.

    Args:
        character: With a skin on a skeleton.
        mesh: Number of the mesh to measure.
        bones: Joints at both ends of each bone; None takes those of arms and legs, by their names.

    Attributes:
        names: Of the joint at the head of each bone.
    """

    def __init__(
        self, character: Character, mesh: int, bones: Sequence[tuple[int, int]] | None = None
    ) -> None:
        skeleton, skin = character.skeleton, character.meshes[mesh]
        found = limb_bones(skeleton) if bones is None else tuple(bones)
        if skin.weights is None or not found:
            raise EcorcheError(
                "has no arms or legs that can be measured",
                where=character.name,
                remedy="Give joints that are named, see `ecorche info`, and a skin that hangs on them",
            )
        points = np.asarray(skin.mesh.points, np.float64)
        # vertices at one place, as along seams of textures, are one
        _, self._first, same = np.unique(points, axis=0, return_index=True, return_inverse=True)
        self._one = same.ravel()
        faces = self._one[skin.mesh.triangles()]
        faces = faces[np.ptp(faces, axis=1) > 0]
        row = np.repeat(np.arange(len(points)), np.diff(skin.weights.starts))
        self._bones = []
        for head, tail in found:
            own = sorted(joints_below(skeleton, head) - joints_below(skeleton, tail))
            share = np.bincount(row, skin.weights.weights * np.isin(skin.weights.joints, own), len(points))
            inside = share > _OWN
            kept = faces[inside[self._first][faces].all(axis=1)]
            self._bones.append(_Bone(head, tail, np.flatnonzero(inside), kept))
        self.names = tuple(skeleton.names[bone.head] for bone in self._bones)

    def measure(self, points: npt.ArrayLike, world: Floats) -> Floats:
        """Perimeters [m] of every bone at its `LEVELS`, (bones, levels); NaN where there is none.

        Args:
            points: Of the skin [m], (vertices, 3).
            world: ``world_from_joint`` matrices, (joints, 4, 4).
        """
        at = np.asarray(points, np.float64)[self._first]
        found = np.full((len(self._bones), len(LEVELS)), np.nan)
        for row, bone in enumerate(self._bones):
            along = _along(at, bone, world)
            for level, curves in enumerate(contours(at, bone.triangles, along, LEVELS).levels):
                found[row, level] = max((c.length() for c in curves if c.closed), default=np.nan)
        return found

    def at_vertices(self, points: npt.ArrayLike, world: Floats, values: Floats) -> Floats:
        """Numbers (bones, levels) at each vertex by the level it is at, (vertices,); NaN where there is none.

        Points and world are those of `measure`. Where the numbers are NaN the vertices are.
        """
        at = np.asarray(points, np.float64)
        found = np.full(len(at), np.nan)
        for bone, own in zip(self._bones, values, strict=True):
            # np.interp takes NaN on either side for NaN, which is what is wanted
            along = _along(at[bone.vertices], bone, world)
            found[bone.vertices] = np.interp(along, LEVELS, own, left=np.nan, right=np.nan)
        return found


def limb_bones(skeleton: Skeleton) -> tuple[tuple[int, int], ...]:
    """Joints at both ends of the bones of arms and legs, those that are recognised."""
    naming = recognise(skeleton)
    pairs = [
        (naming.joint(f"{side}_{head}"), naming.joint(f"{side}_{tail}"))
        for side in "rl"
        for limb in _LIMBS
        for head, tail in pairwise(limb)
    ]
    return tuple((head, tail) for head, tail in pairs if head is not None and tail is not None)


def _along(points: Floats, bone: _Bone, world: Floats) -> Floats:
    """How far along a bone points lie, 0 at its head and 1 at its tail, (points,)."""
    head, tail = world[bone.head, :3, 3], world[bone.tail, :3, 3]
    return np.asarray((points - head) @ normalise(tail - head) / np.linalg.norm(tail - head))
