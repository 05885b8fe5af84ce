"""Meshes that look alike, drawn as one: a skeleton of two hundred bones costs no more than a garment."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from ecorche.base.mesh import Mesh, triangle_mesh
from ecorche.body.character import Character, SkinnedMesh
from ecorche.body.frames import Frame
from ecorche.render.layers import Look
from ecorche.skin.weights import is_rigid

Colours = npt.NDArray[np.uint8]
_Number = TypeVar("_Number", bound=np.generic)


class DrawnMeshes:
    """A character's meshes as they are drawn: those of one plain material together.

    Meshes with a texture, with several materials or with hard edges stay alone, and so does the body.

    Attributes:
        meshes: What is drawn.
        body: Which of them is the body; None for a character without skin.
        solid: Numbers of those fixed to joints, such as bones: they stay opaque under translucent skin.
    """

    def __init__(self, character: Character) -> None:
        skinned = any(m.weights is not None for m in character.meshes)
        body = character.body().mesh if skinned else None
        groups: dict[Hashable, list[int]] = {}
        for number, skin in enumerate(character.meshes):
            mesh = skin.mesh
            if len(mesh.face_counts):
                alone = mesh is body or not _is_plain(mesh, character)
                groups.setdefault((number,) if alone else mesh.material, []).append(number)
        self._groups = list(groups.values())
        self.meshes = [_joined([character.meshes[n].mesh for n in group]) for group in self._groups]
        self.body = next((mesh for mesh in self.meshes if mesh is body), None)
        self.solid = frozenset(
            place
            for place, group in enumerate(self._groups)
            if self.meshes[place] is not self.body and all(_is_fixed(character.meshes[n]) for n in group)
        )

    def look(self, look: Look) -> Look:
        """What a frame of the character looks like, for the meshes that are drawn."""
        return replace(
            look,
            frame=self._frame(look.frame),
            paint=self._paint(look.paint),
            other=None if look.other is None else self._frame(look.other),
            other_paint=self._paint(look.other_paint),
        )

    def _frame(self, frame: Frame) -> Frame:
        points, normals = [], []
        for group in self._groups:
            own = [frame.normals[n] for n in group]
            points.append(_together([frame.points[n] for n in group]))
            known = [n for n in own if n is not None]
            normals.append(_together(known) if len(known) == len(own) else None)
        return Frame(frame.time, tuple(points), tuple(normals))

    def _paint(self, paint: tuple[Colours, ...] | None) -> tuple[Colours, ...] | None:
        return None if paint is None else tuple(_together([paint[n] for n in g]) for g in self._groups)


def _is_fixed(skin: SkinnedMesh) -> bool:
    return skin.weights is not None and is_rigid(skin.weights)


def _is_plain(mesh: Mesh, character: Character) -> bool:
    """Whether a mesh has one look all over, and a normal for each vertex."""
    textured = mesh.material is not None and character.materials[mesh.material].base_color_image is not None
    hard = mesh.normals is not None and len(mesh.normals) != len(mesh.points)
    return not (mesh.subsets or textured or hard)


def _joined(meshes: Sequence[Mesh]) -> Mesh:
    """One mesh of all vertices in order; a mesh alone is itself."""
    if len(meshes) == 1:
        return meshes[0]
    starts = np.cumsum([0, *(m.vertex_count for m in meshes)])
    triangles = [m.triangles() + start for m, start in zip(meshes, starts, strict=False)]
    points = np.concatenate([m.points for m in meshes])
    whole = triangle_mesh(meshes[0].name, points, np.concatenate(triangles))
    return replace(whole, material=meshes[0].material)


def _together(arrays: Sequence[npt.NDArray[_Number]]) -> npt.NDArray[_Number]:
    return arrays[0] if len(arrays) == 1 else np.concatenate(arrays)
