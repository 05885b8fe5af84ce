"""The bones of a character as meshes, each fixed to a joint: read from a rig, and posed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from ecorche.base.ray_tree import RayTree
from ecorche.body.spelled_joints import joint_number
from ecorche.document.bones import BoneSurfaces
from ecorche.document.files import Rig
from ecorche.muscles.bone import Bone
from ecorche.skeleton.skeleton import Skeleton
from ecorche.skin.height_field import nearest_beneath

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int32]


@dataclass(frozen=True, eq=False, repr=False)
class BodyBones:
    """All bones of one character; constant over time.

    Attributes:
        bones: Each of them, at bind.
    """

    bones: tuple[Bone, ...]

    def __repr__(self) -> str:
        return f"BodyBones({len(self.bones)} bones, {len(self.bind)} vertices)"

    @property
    def names(self) -> tuple[str, ...]:
        """Of the bones."""
        return tuple(bone.name for bone in self.bones)

    @cached_property
    def bind(self) -> Floats:
        """Vertices of all bones at bind [m], (V, 3)."""
        return np.concatenate([bone.points for bone in self.bones])

    @cached_property
    def triangles(self) -> Ints:
        """Numbers of these vertices, (T, 3)."""
        first = np.cumsum([0, *(len(bone.points) for bone in self.bones[:-1])])
        return np.concatenate([b.triangles + f for b, f in zip(self.bones, first, strict=True)]).astype(
            np.int32
        )

    @cached_property
    def part(self) -> Ints:
        """Number of the bone that each triangle belongs to, (T,)."""
        return np.repeat(np.arange(len(self.bones)), [len(b.triangles) for b in self.bones]).astype(np.int32)

    @cached_property
    def joint(self) -> Ints:
        """Number of the joint that each vertex goes with, (V,)."""
        sizes = [len(bone.points) for bone in self.bones]
        return np.repeat([bone.joint for bone in self.bones], sizes).astype(np.int32)

    def points(self, moved: Floats) -> Floats:
        """Vertices of all bones in a pose [m], (V, 3), of ``M − I`` of the joints (joints, 4, 4)."""
        matrix = moved[self.joint]
        return np.asarray(
            self.bind + (np.einsum("vij,vj->vi", matrix[:, :3, :3], self.bind) + matrix[:, :3, 3])
        )


def bones_beneath(
    bones: BodyBones,
    skin: npt.NDArray[np.float32],
    normals: npt.NDArray[np.float32],
    muscles: npt.NDArray[np.float32],
    triangles: Ints,
    reach: float,
) -> BodyBones | None:
    """The bones that skin lies over at bind, with no muscle between; None where it lies over none.

    Args:
        bones: All of them.
        skin, normals: Vertices of the skin at bind [m] and unit, (vertices, 3).
        muscles: Points of the muscles at bind [m], (points, 3).
        triangles: Theirs, outwards, (triangles, 3).
        reach: How far below the skin anything is looked for [m].
    """
    tree = RayTree(
        np.concatenate([muscles, bones.bind.astype(np.float32)]),
        np.concatenate([triangles, bones.triangles + len(muscles)]),
    )
    hit = nearest_beneath(skin, normals, tree, reach).triangles - len(triangles)
    seen = np.unique(bones.part[hit[hit >= 0]]).tolist()
    return BodyBones(tuple(bones.bones[row] for row in seen)) if seen else None


def compile_bones(rig: Rig, skeleton: Skeleton) -> BodyBones | None:
    """The bones of a rig; None where it has none. Unknown joints are refused with the nearest name."""
    if rig.bones is None:
        return None
    held = rig.bones
    first = np.searchsorted(held.bone, np.arange(len(held.names) + 1))
    owner = held.bone[held.triangles[:, 0]]
    return BodyBones(
        tuple(
            Bone(
                name,
                joint_number(rig, joint, skeleton.names, ("bones", name)),
                held.points[first[row] : first[row + 1]].astype(np.float64),
                (held.triangles[owner == row] - first[row]).astype(np.int32),
            )
            for row, (name, joint) in enumerate(zip(held.names, held.joints, strict=True))
        )
    )


def bone_surfaces(bones: Sequence[Bone], skeleton: Skeleton) -> BoneSurfaces:
    """Bones as a rig holds them; `compile_bones` reads them back, rounded to single precision."""
    body = BodyBones(tuple(bones))
    return BoneSurfaces(
        body.names,
        tuple(skeleton.names[bone.joint] for bone in bones),
        body.bind.astype(np.float32),
        np.repeat(np.arange(len(bones)), [len(bone.points) for bone in bones]).astype(np.int32),
        body.triangles,
    )
