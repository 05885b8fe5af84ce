"""What is firm under the skin of a character: its bones, or what stands in for them where it has none."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt
from scipy.spatial import ConvexHull

from ecorche.body.bones import compile_bones
from ecorche.body.character import Character, SkinnedMesh
from ecorche.document.files import Rig
from ecorche.skeleton.naming.recognise import Naming
from ecorche.skeleton.skeleton import Skeleton
from ecorche.skin.weights import SkinWeights, one_joint_each, weights_from_table

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

ENOUGH = 0.5
"""Meshes fixed to joints are taken for the bones where they are on at least this share of the joints."""
ROD, THINNEST = 0.1, 0.01
"""Radius of a rod that stands in for a bone, share of its length; none is shorter than this share of all."""
CAGE, FILLED = 10.0, 0.9
"""Bones of one joint whose convex hull holds so many times their own volume are a cage, as ribs are: viscera
fill this share of its breadth."""


@dataclass(frozen=True, eq=False)
class FirmParts:
    """Bones, or what stands in for them, at bind.

    Attributes:
        points: Vertices [m], (V, 3).
        triangles: Counter-clockwise from outside, (T, 3).
        weights: What moves each vertex.
        carries: Whether skin above a vertex moves with it, (V,).
        names: Of the parts.
        part: Number of the part of each vertex, (V,).
        told: Where they come from, a sentence without its full stop.
        meshes: Meshes of the character that they are.
    """

    points: Floats
    triangles: Ints
    weights: SkinWeights
    carries: npt.NDArray[np.bool_]
    names: tuple[str, ...]
    part: Ints
    told: str
    meshes: tuple[SkinnedMesh, ...] = ()

    def posed(self, moved: Floats) -> Floats:
        """Vertices in a pose [m], (V, 3), of ``M − I`` of the joints (joints, 4, 4)."""
        joints, shares = self.weights.padded()
        matrix = np.einsum("vk,vkij->vij", shares.astype(np.float64), moved[joints])
        return np.asarray(
            self.points + np.einsum("vij,vj->vi", matrix[:, :3, :3], self.points) + matrix[:, :3, 3]
        )


def firm_parts(character: Character, rig: Rig | None, naming: Naming) -> FirmParts:
    """A character's bones: those of its rig, its own meshes, the built-in figure's, or rods."""
    skeleton = character.skeleton
    bones = None if rig is None else compile_bones(rig, skeleton)
    fixed = _fixed_meshes(character, rig)
    if bones is not None:
        sizes = [len(bone.points) for bone in bones.bones]
        joints = np.repeat([bone.joint for bone in bones.bones], sizes)
        return _rigid(
            bones.bind,
            bones.triangles.astype(np.int64),
            joints,
            bones.names,
            np.repeat(np.arange(len(sizes)), sizes),
            skeleton,
            f"{len(sizes)} bones of the rig",
            fixed,
        )
    if fixed:
        starts = np.cumsum([0, *(mesh.mesh.vertex_count for mesh in fixed)])
        faces = [mesh.mesh.triangles() + first for mesh, first in zip(fixed, starts, strict=False)]
        carriers = [mesh.weights.joints for mesh in fixed if mesh.weights is not None]
        return _rigid(
            np.concatenate([mesh.mesh.points for mesh in fixed]).astype(np.float64),
            np.concatenate(faces).astype(np.int64),
            np.concatenate(carriers),
            tuple(mesh.name for mesh in fixed),
            np.repeat(np.arange(len(fixed)), np.diff(starts)),
            skeleton,
            f"meshes of the character that are bones: {', '.join(mesh.name for mesh in fixed[:4])}"
            + (f" and {len(fixed) - 4} more" if len(fixed) > 4 else ""),
            fixed,
        )
    from ecorche.body.figure.carried import carried_parts

    carried = carried_parts(skeleton, naming)
    if carried is not None:
        return FirmParts(
            carried.points,
            carried.triangles,
            carried.weights,
            carried.carries,
            ("bones",),
            np.zeros(len(carried.points), np.int64),
            "it has none; those of the built-in figure, with its face, hands, feet and viscera, stand in"
            " for them",
        )
    return _rods(skeleton)


def _fixed_meshes(character: Character, rig: Rig | None) -> tuple[SkinnedMesh, ...]:
    """Meshes that are bones: those the rig names, else all that are fixed to joints, if they are enough."""
    if rig is not None and rig.spec.coupling.bones:
        return tuple(character.mesh(name) for name in rig.spec.coupling.bones)
    body = character.body(None if rig is None else rig.spec.body)
    found = [
        mesh
        for mesh in character.meshes
        if mesh is not body and mesh.weights is not None and one_joint_each(mesh.weights)
    ]
    on = {
        int(joint) for mesh in found if mesh.weights is not None for joint in np.unique(mesh.weights.joints)
    }
    return tuple(found) if len(on) >= ENOUGH * character.skeleton.joint_count else ()


def _rigid(
    points: Floats,
    triangles: Ints,
    joints: npt.NDArray[np.integer],
    names: tuple[str, ...],
    part: npt.NDArray[np.integer],
    skeleton: Skeleton,
    told: str,
    meshes: tuple[SkinnedMesh, ...] = (),
) -> FirmParts:
    """Bones that each move with one joint (V,), and what fills those that are a cage."""
    bones, filled = len(points), []
    for joint in np.unique(joints):
        viscera = _viscera(points[:bones], triangles[joints[triangles[:, 0]] == joint])
        if viscera is None:
            continue
        inner, faces = viscera
        filled.append(skeleton.names[joint])
        part = np.concatenate([part, np.full(len(inner), len(names))])
        names = (*names, f"viscera of {skeleton.names[joint]}")
        triangles = np.concatenate([triangles, faces + len(points)])
        points = np.concatenate([points, inner])
        joints = np.concatenate([joints, np.full(len(inner), joint)])
    if filled:
        told += f"; viscera fill those of {', '.join(filled)}"
    weights = weights_from_table(
        joints[:, None], np.ones((len(joints), 1)), skeleton.joint_count, "bones beneath the skin"
    )
    carries = np.arange(len(points)) < bones
    return FirmParts(points, triangles, weights, carries, names, part.astype(np.int64), told, meshes)


def _viscera(points: Floats, triangles: Ints) -> tuple[Floats, Ints] | None:
    """Vertices [m] (n, 3) and triangles of what bones of one joint hold; None where they are no cage."""
    used = np.unique(triangles)
    if len(used) < 4 or np.ptp(points[used], axis=0).min() < 1e-9:
        return None
    hull = ConvexHull(points[used])
    a, b, c = (points[triangles[:, k]] - points[used[0]] for k in range(3))
    if hull.volume < CAGE * abs(float(np.sum(np.cross(a, b) * c))) / 6.0:
        return None
    corners = points[used][hull.vertices]
    number = np.full(len(used), -1, np.int64)
    number[hull.vertices] = np.arange(len(corners))
    faces = number[hull.simplices]
    a, b, c = (corners[faces[:, k]] for k in range(3))
    inwards = np.sum(np.cross(b - a, c - a) * hull.equations[:, :3], axis=1) < 0.0
    faces[inwards] = faces[inwards][:, ::-1]
    middle = corners.mean(axis=0)
    return middle + FILLED * (corners - middle), faces


def _rods(skeleton: Skeleton) -> FirmParts:
    """A rod from each joint to the tip of its bone."""
    from ecorche.body.figure.bone_mesh import tube_surface
    from ecorche.body.figure.solids import rod

    heads, tips = skeleton.bind_world[:, :3, 3], skeleton.tail_positions()
    length = np.linalg.norm(tips - heads, axis=1)
    long = np.flatnonzero(length > THINNEST * np.ptp(heads, axis=0).max())
    surfaces = [tube_surface(rod(np.linspace(heads[j], tips[j], 6), ROD * float(length[j]))) for j in long]
    starts = np.cumsum([0, *(len(points) for points, _ in surfaces)])
    sizes = np.diff(starts)
    return _rigid(
        np.concatenate([points for points, _ in surfaces]),
        np.concatenate([faces + a for (_, faces), (a, _) in zip(surfaces, pairwise(starts), strict=True)]),
        np.repeat(long, sizes),
        tuple(skeleton.names[j] for j in long),
        np.repeat(np.arange(len(long)), sizes),
        skeleton,
        f"it has none, and is no humanoid: {len(long)} rods along its joints stand in for them, a tenth"
        " as thick as long",
    )
