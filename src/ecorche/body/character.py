"""A rigged character as files hold it: one skeleton, the meshes on it, motions, materials."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from ecorche.base.mesh import Mesh
from ecorche.base.names import suggestion
from ecorche.body.frames import Frames
from ecorche.errors import MeshError
from ecorche.skeleton.motion import Motion
from ecorche.skeleton.skeleton import Skeleton
from ecorche.skin.weights import SkinWeights


@dataclass(frozen=True, eq=False)
class Image:
    """A texture's bytes as the file held them."""

    name: str
    mime_type: str  # "image/png" or "image/jpeg"
    data: bytes


@dataclass(frozen=True, eq=False)
class Material:
    """How a surface looks; what we do not understand travels along in ``extra``.

    ``extra`` holds the source format's own description under that format's name, such as
    ``{"gltf": {...}}``, where texture references are numbers into the character's images.
    """

    name: str
    base_color: tuple[float, float, float, float] = (0.8, 0.8, 0.8, 1.0)
    metallic: float = 0.0
    roughness: float = 0.7
    base_color_image: int | None = None
    double_sided: bool = False
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class SkinnedMesh:
    """A mesh and how it hangs on the skeleton.

    A mesh without weights stands still. A mesh fixed to one joint has weight 1 there.

    Attributes:
        mesh: The surface at bind, in the character's space.
        weights: Its skin weights, or None.
        own_bind: ``bind_world · inverse_bind`` of every joint, shape (joints, 4, 4), where this
            mesh was bound in another pose than the character; else None.
        skinning: The skinning method the file asks for, or None where it does not say.
        scope: What it stands under in files that have groups, such as ``"Muscles"``; None for the top.
    """

    mesh: Mesh
    weights: SkinWeights | None
    own_bind: npt.NDArray[np.float64] | None = None
    skinning: str | None = None
    scope: str | None = None

    @property
    def name(self) -> str:
        """The mesh's name."""
        return self.mesh.name


@dataclass(frozen=True, eq=False, repr=False)
class Character:
    """Everything a character file says, in metres, +Y up.

    Attributes:
        name: Usually the file's stem.
        skeleton: The joint tree.
        meshes: All surfaces, in file order.
        motions: The clips the file carries, on this skeleton.
        materials, images: Looks, referred to by number.
        cache: Points per frame, where the file holds a posed cache; it replaces our skinning.
        notes: What was found and mended while reading, a sentence each.
        source: The file it came from, for messages.
        metres_per_unit: What the file's length unit was.
        up_axis: The file's up axis, ``"Y"`` or ``"Z"``.
    """

    name: str
    skeleton: Skeleton
    meshes: tuple[SkinnedMesh, ...]
    motions: tuple[Motion, ...] = ()
    materials: tuple[Material, ...] = ()
    images: tuple[Image, ...] = ()
    cache: Frames | None = None
    notes: tuple[str, ...] = ()
    source: str = ""
    metres_per_unit: float = 1.0
    up_axis: str = "Y"

    def __repr__(self) -> str:
        vertices = sum(m.mesh.vertex_count for m in self.meshes)
        return (
            f"Character({self.name!r}, {len(self.meshes)} meshes, {vertices} vertices,"
            f" {self.skeleton.joint_count} joints, {len(self.motions)} motions)"
        )

    def mesh(self, name: str) -> SkinnedMesh:
        """The mesh of that name."""
        for mesh in self.meshes:
            if mesh.name == name:
                return mesh
        raise MeshError(
            f"there is no mesh {name!r}",
            where=self.source or self.name,
            remedy=suggestion(name, [m.name for m in self.meshes]),
        )

    def body(self, name: str | None = None) -> SkinnedMesh:
        """The mesh that is the body: the one named, else the skinned one that covers most joints.

        A joint counts as covered in proportion to the surface it moves; ties go to the larger
        surface. Garments cover fewer joints than the body they are worn on.
        """
        if name is not None:
            return self.mesh(name)
        skinned = [m for m in self.meshes if m.weights is not None]
        if not skinned:
            raise MeshError(
                "no mesh is skinned",
                where=self.source or self.name,
                remedy="Bind a mesh to the skeleton and export it with its weights",
            )
        return max(skinned, key=lambda m: _coverage(m))


def _coverage(mesh: SkinnedMesh) -> tuple[int, float]:
    assert mesh.weights is not None
    corners = mesh.mesh.points[mesh.mesh.triangles()].astype(np.float64)
    area = (
        0.5
        * np.linalg.norm(
            np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=-1
        ).sum()
    )
    strong = mesh.weights.weights > 0.5
    return len(np.unique(mesh.weights.joints[strong])), float(area)
