"""What is wrong with a character, though it can be read: what a rigger would want to know."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ecorche.base.mesh import Mesh, coincident_groups
from ecorche.body.character import Character, SkinnedMesh
from ecorche.body.skin_state import outward
from ecorche.errors import MeshError
from ecorche.skin.weights import SkinWeights

SHEET = 0.05
"""With more open edges a triangle than this it is a sheet, whose outside nobody can tell."""


def problems(character: Character) -> list[str]:
    """A sentence for each problem found, most serious first; empty when all is well."""
    found: list[str] = []
    for mesh in character.meshes:
        found += [f"mesh {mesh.name!r}: {p}" for p in _mesh_problems(mesh.mesh)]
        if mesh.weights is not None and mesh.weights.normalised:
            found.append(
                f"mesh {mesh.name!r}: the weights of {mesh.weights.normalised:,} vertices did not sum"
                " to one (they were normalised)"
            )
        found += [f"mesh {mesh.name!r}: {p}" for p in _normal_problems(mesh.mesh)]
    found += _border_problems([m for m in character.meshes if m.weights is not None])
    found += _size_problems(character)
    return found + skin_problems(character)


def skin_problems(character: Character, name: str | None = None) -> list[str]:
    """Whether the skin of the body, or of the mesh so named, looks outwards as muscles and fat need it."""
    try:
        mesh = character.body(name)
    except MeshError:
        return []  # nothing is skinned
    try:
        triangles, state = outward(mesh.mesh.points, mesh.mesh.triangles(), None)
    except MeshError as error:
        return [f"mesh {mesh.name!r}: {error.what}. {error.remedy}"]
    if not state.inside_out or state.open_edges > SHEET * len(triangles):
        return []
    return [
        f"mesh {mesh.name!r}: the skin is inside out, its triangles run clockwise seen from outside."
        " Flip its faces, and export again"
    ]


def _mesh_problems(mesh: Mesh) -> list[str]:
    found: list[str] = []
    if mesh.vertex_count == 0 or len(mesh.face_counts) == 0:
        return ["it has no faces"]
    corners = mesh.points[mesh.triangles()].astype(np.float64)
    area = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
    if (area == 0.0).any():
        found.append(
            f"{int((area == 0.0).sum()):,} triangles have no area, such as triangle {int(np.argmin(area))}"
        )
    used = np.zeros(mesh.vertex_count, bool)
    used[mesh.face_indices] = True
    if not used.all():
        found.append(
            f"{int((~used).sum()):,} vertices belong to no face, such as vertex {int(np.argmin(used))}"
        )
    tangled = _edges_with_many_faces(mesh)
    if tangled:
        found.append(f"{tangled:,} edges have more than two faces")
    return found


def _edges_with_many_faces(mesh: Mesh) -> int:
    """Edges shared by more than two triangles, seams closed by position."""
    place = coincident_groups(mesh.points)
    triangles = place[mesh.triangles()]
    edges = np.sort(
        np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]]), axis=1
    )
    edges = edges[edges[:, 0] != edges[:, 1]]
    # a fan cuts a polygon along edges of its own, shared by exactly two of its triangles: fine here
    _, counts = np.unique(edges, axis=0, return_counts=True)
    return int((counts > 2).sum())


def _normal_problems(mesh: Mesh) -> list[str]:
    if mesh.normals is None:
        return []
    length = np.linalg.norm(mesh.normals.astype(np.float64), axis=1)
    off = np.abs(length - 1.0) > 0.01
    if not off.any():
        return []
    return [f"{int(off.sum()):,} normals are not of length one, such as normal {int(np.argmax(off))}"]


def _border_problems(meshes: list[SkinnedMesh]) -> list[str]:
    """Vertices that coincide at bind but are weighted differently: the skin opens there in motion."""
    if not meshes:
        return []
    place = coincident_groups(np.concatenate([m.mesh.points for m in meshes]))
    tables = [_dense_key(m.weights) for m in meshes if m.weights is not None]
    key = np.concatenate(tables)
    order = np.lexsort((key, place))
    same_place = place[order][1:] == place[order][:-1]
    different = same_place & (key[order][1:] != key[order][:-1])
    if not different.any():
        return []
    owner = np.repeat(np.arange(len(meshes)), [m.mesh.vertex_count for m in meshes])
    names = sorted({meshes[owner[i]].name for i in order[1:][different]})
    return [
        f"{int(different.sum()):,} vertices coincide with another but are weighted differently, so the skin"
        f" opens there in motion (mesh {', '.join(map(repr, names))})"
    ]


def _dense_key(weights: SkinWeights) -> npt.NDArray[np.int64]:
    """A number a vertex that is equal for equal influences."""
    joints, table = weights.padded()
    rows = np.concatenate(
        [np.where(table > 0, joints + 1, 0), np.round(table * 65535).astype(np.int64)], axis=1
    )
    # a polynomial in a fixed odd base, modulo 2**64: the padding of narrower tables adds nothing
    multiplier = np.int64(6364136223846793005)
    key = np.zeros(len(rows), np.int64)
    half = joints.shape[1]
    with np.errstate(over="ignore"):
        for column in range(half):
            entry = rows[:, column] * multiplier + rows[:, half + column]
            key += np.where(rows[:, column] > 0, (entry ^ (entry >> 29)) * multiplier, 0)
    return key


def _size_problems(character: Character) -> list[str]:
    points = [m.mesh.points for m in character.meshes if m.mesh.vertex_count]
    if not points:
        return []
    extent = float(np.max(np.max(np.concatenate(points), axis=0) - np.min(np.concatenate(points), axis=0)))
    if extent > 30.0 or extent < 0.02:
        return [
            f"the character is {extent:.3g} m large: its unit may be wrong"
            f" (the file says {character.metres_per_unit:g} m a unit)"
        ]
    return []
