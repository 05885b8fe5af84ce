"""Characters and motions of plain arrays: the door for programs that hold a rig in memory, say Blender."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from ecorche.base.mesh import Mesh, Morph
from ecorche.body.character import Character, SkinnedMesh
from ecorche.errors import MeshError, MotionError, SkeletonError
from ecorche.skeleton.motion import Motion
from ecorche.skeleton.skeleton import Skeleton, local_from_world, parents_first
from ecorche.skin.weights import SkinWeights, weights_from_entries

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class MeshArrays:
    """A surface and its skin weights as arrays.

    Attributes:
        name: Its name, unique in the character.
        points: Vertices at bind [m], +Y up, (vertices, 3).
        face_counts: Corners of each face, (faces,).
        face_indices: Vertex of each corner, faces one after another, (corners,).
        weights: Vertices, joints and weights of all influences in any order, (entries,) each; None for a mesh
            that stands still. Joints are numbers into the names that the character is made with.
        skinning: The method it is skinned by; None where it does not matter.
        shapes: Offsets of blend shapes at bind [m], (vertices, 3) each, by name.
    """

    name: str
    points: npt.ArrayLike
    face_counts: npt.ArrayLike
    face_indices: npt.ArrayLike
    weights: tuple[npt.ArrayLike, npt.ArrayLike, npt.ArrayLike] | None
    skinning: str | None = None
    shapes: Mapping[str, npt.ArrayLike] = field(default_factory=dict)


def character_from_arrays(
    name: str,
    *,
    joints: Sequence[str],
    parents: Sequence[int],
    bind_world: npt.ArrayLike,
    meshes: Sequence[MeshArrays],
    tails: npt.ArrayLike | None = None,
    up_axis: str = "Y",
    metres_per_unit: float = 1.0,
    source: str = "",
) -> Character:
    """A character of joints and meshes that a program holds, in metres, +Y up.

    Args:
        name: Its name.
        joints: Names of the joints, in any order.
        parents: Number of each joint's parent, -1 at a root.
        bind_world: ``world_from_joint`` at bind, (joints, 4, 4).
        meshes: Its surfaces.
        tails: Tip of each bone at bind [m], (joints, 3); None where nobody knows.
        up_axis: The program's own up axis, ``"Y"`` or ``"Z"``: that of files that belong to the character.
        metres_per_unit: What the program's length unit is, likewise.
        source: Where it comes from, for messages.
    """
    world = np.asarray(bind_world, np.float64)
    count, where = len(joints), source or name
    if count == 0 or len(parents) != count or world.shape != (count, 4, 4):
        raise SkeletonError(
            f"{len(parents)} parents and matrices of shape {world.shape} for {count} joints",
            where=where,
            remedy=f"Give one joint or more, and shape ({count}, 4, 4)",
        )
    order = parents_first(parents, joints)
    number = np.empty(count + 1, np.int64)
    number[order], number[-1] = np.arange(count), -1
    above = number[np.asarray(parents, np.int64)[order]].astype(np.int32)
    local = local_from_world(above, world[order])
    tips = np.full((count, 3), np.nan)
    if tails is not None:
        ends = np.asarray(tails, np.float64)[order] - world[order, :3, 3]
        tips = np.einsum("jab,jb->ja", np.linalg.inv(world[order, :3, :3]), ends)
    skeleton = Skeleton(tuple(joints[j] for j in order), above, local, local, tips)
    return Character(
        name=name,
        skeleton=skeleton,
        meshes=tuple(_skinned(mesh, number, where) for mesh in meshes),
        source=source,
        metres_per_unit=metres_per_unit,
        up_axis=up_axis,
    )


def motion_from_arrays(
    character: Character,
    *,
    joints: Sequence[str],
    world: npt.ArrayLike,
    times: npt.ArrayLike,
    name: str = "motion",
    shape_weights: Mapping[str, npt.ArrayLike] | None = None,
) -> Motion:
    """A motion on a character's own skeleton.

    Args:
        character: Who moves.
        joints: Names of all its joints, in the order of ``world``.
        world: ``world_from_joint`` [m], (frames, joints, 4, 4).
        times: Seconds, rising, (frames,).
        name: The motion's name.
        shape_weights: Weight of blend shapes over time by ``"mesh/shape"``, (frames,) each.
    """
    skeleton, matrices = character.skeleton, np.asarray(world, np.float64)
    if sorted(joints) != sorted(skeleton.names) or matrices.shape[1:] != (len(joints), 4, 4):
        raise MotionError(
            f"matrices of shape {matrices.shape} for {len(joints)} names are no motion of the"
            f" {skeleton.joint_count} joints",
            where=f"motion {name!r}",
            remedy="Name each joint of the character once",
        )
    place = {joint: number for number, joint in enumerate(joints)}
    ordered = matrices[:, [place[joint] for joint in skeleton.names]]
    weights = {key: np.asarray(values, np.float64) for key, values in (shape_weights or {}).items()}
    local = local_from_world(skeleton.parents, ordered)
    return Motion(name, skeleton, np.asarray(times, np.float64), local, weights)


def _skinned(mesh: MeshArrays, number: npt.NDArray[np.int64], where: object) -> SkinnedMesh:
    points = np.ascontiguousarray(mesh.points, np.float32)
    spot = f"{where}, mesh {mesh.name!r}"
    weights: SkinWeights | None = None
    if mesh.weights is not None:
        vertices, joints, shares = mesh.weights
        named = np.asarray(joints, np.int64)
        count = len(number) - 1
        if ((named < 0) | (named >= count)).any():
            raise MeshError("a weight is of a joint that is not there", where=spot, remedy="Leave it out")
        weights = weights_from_entries(vertices, number[named], shares, len(points), count, spot)
    surface = Mesh(
        name=mesh.name,
        points=points,
        face_counts=np.ascontiguousarray(mesh.face_counts, np.int32),
        face_indices=np.ascontiguousarray(mesh.face_indices, np.int32),
        morphs=tuple(_morph(name, offsets, len(points), spot) for name, offsets in mesh.shapes.items()),
    )
    return SkinnedMesh(surface, weights, skinning=mesh.skinning)


def _morph(name: str, offsets: npt.ArrayLike, count: int, where: str) -> Morph:
    moved = np.asarray(offsets, np.float32)
    if moved.shape != (count, 3):
        raise MeshError(f"blend shape {name!r} has shape {moved.shape}", where=where, remedy="Give (n, 3)")
    used = np.flatnonzero(np.any(moved != 0.0, axis=1))
    return Morph(name, used.astype(np.int32), np.ascontiguousarray(moved[used]))
