"""Skin weights for a character whose file has a skeleton and surfaces, and nothing that joins them.

The body is the surface that most of the bones lie in; its weights are those of heat (`skin.heat_weights`).
All others, such as eyes and clothes, take those of the nearest place of the body.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from ecorche.base.closest_point import TriangleSurface
from ecorche.base.mesh import Mesh, coincident_groups
from ecorche.body.character import Character, SkinnedMesh
from ecorche.errors import ReadError
from ecorche.skeleton.skeleton import Skeleton
from ecorche.skin.heat_weights import bones_within, heat_weights
from ecorche.skin.weights import SkinWeights, weights_from_entries

Floats = npt.NDArray[np.float64]
Bones = tuple[Floats, npt.NDArray[np.int64]]

NONE = "no skin weights"
"""How the note begins that says so."""


def with_automatic_weights(character: Character) -> Character:
    """A character whose meshes follow no joints, with weights; refused where no bone lies in one."""
    found = _body(character)
    if found is None:
        raise ReadError(
            "no mesh is bound to its skeleton, and no bone lies within one, so that weights could be found",
            where=character.source or character.name,
            remedy="Export it with its weights, or with its skeleton where the skin is, in one unit",
        )
    return _weighted(character, *found)


def weighted_if_bones_lie_in_it(character: Character) -> Character:
    """A character with weights where a mesh without any has bones in it; else as it was."""
    found = _body(character)
    return character if found is None else _weighted(character, *found)


def reweighted(character: Character) -> Character:
    """A character with weights by heat in place of those it has.

    Bones and other meshes that hang on one joint keep theirs.
    """
    return with_automatic_weights(replace(character, meshes=tuple(map(_without, character.meshes))))


def _without(mesh: SkinnedMesh) -> SkinnedMesh:
    """The mesh without its weights, if they are of more than one joint and it is bound where all are."""
    if mesh.weights is None or mesh.own_bind is not None or len(np.unique(mesh.weights.joints)) < 2:
        return mesh
    return replace(mesh, weights=None)


def _body(character: Character) -> tuple[int, Bones] | None:
    """Number of the mesh without weights that most of the bones lie in, and these; None where none do."""
    best: tuple[int, Bones] | None = None
    for number, mesh in enumerate(character.meshes):
        if mesh.weights is not None or not len(mesh.mesh.face_counts) or not len(mesh.mesh.points):
            continue
        bones = _bones(character.skeleton, mesh.mesh)
        if len(bones[0]) and (best is None or len(bones[0]) > len(best[1][0])):
            best = number, bones
    return best


def _bones(skeleton: Skeleton, mesh: Mesh) -> Bones:
    if skeleton.joint_count < 2:
        return np.zeros((0, 2, 3)), np.zeros(0, np.int64)
    return bones_within(skeleton, mesh.points, mesh.triangles())


def _weighted(character: Character, number: int, bones: Bones) -> Character:
    body, count = character.meshes[number].mesh, character.skeleton.joint_count
    weights = heat_weights(body.points, body.triangles(), *bones, count, where=f"mesh {body.name!r}")
    taken = _Taken(body, weights, count)
    meshes = tuple(
        mesh
        if mesh.weights is not None
        else replace(mesh, weights=weights if at == number else taken.by(mesh.mesh))
        for at, mesh in enumerate(character.meshes)
    )
    others = sum(mesh.weights is None for mesh in character.meshes) - 1
    note = f"{NONE}: those of {body.name!r} are found by heat from {len(bones[0])} bones that lie in it"
    if (still := count - len(np.unique(weights.joints))) > 0:
        note += f", and {still} of {count} joints move no skin"
    if (pieces := _pieces(body)) > 1:
        note += f"; it is in {pieces} pieces, and those without a bone follow the nearest"
    if others:
        note += (
            f"; {others} other mesh{'es take' if others > 1 else ' takes'} those of the skin nearest to it"
        )
    return replace(character, meshes=meshes, notes=(*character.notes, note))


def _pieces(mesh: Mesh) -> int:
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    place = coincident_groups(mesh.points)
    faces = place[mesh.triangles()]
    row, column = faces[:, [0, 1]].ravel(), faces[:, [1, 2]].ravel()
    size = int(place.max()) + 1
    used = np.unique(faces)
    label = connected_components(
        coo_matrix((np.ones(len(row)), (row, column)), (size, size)), directed=False
    )[1]
    return len(np.unique(label[used]))


class _Taken:
    """Weights of the body for what lies on or in it."""

    def __init__(self, body: Mesh, weights: SkinWeights, joint_count: int) -> None:
        self._surface, self._corners = TriangleSurface(body.points, body.triangles()), body.triangles()
        self._joints, self._weights = weights.padded()
        self._joint_count = joint_count

    def by(self, mesh: Mesh) -> SkinWeights:
        """Of another mesh."""
        near = self._surface.closest(mesh.points.astype(np.float64))
        corners = self._corners[near.triangles]
        shares = near.barycentric[:, :, None] * self._weights[corners]
        vertex = np.repeat(np.arange(len(corners)), shares[0].size)
        flat, joints = shares.ravel(), self._joints[corners].ravel()
        kept = flat > 0.0
        return weights_from_entries(
            vertex[kept], joints[kept], flat[kept], len(corners), self._joint_count, mesh.name
        )
