"""From a character to a body: everything that stays the same from frame to frame, made once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ecorche.body.character import Character, SkinnedMesh
from ecorche.errors import MeshError
from ecorche.skin.methods import Skinning, make_skinning
from ecorche.skin.normals import Normals


@dataclass(frozen=True, eq=False)
class Body:
    """A compiled character, constant over time.

    Attributes:
        character: What it was compiled from.
        skinnings: How each mesh follows the skeleton; None for a mesh that stands still.
        normals: The plan for recomputing normals of all meshes together, so that borders that
            coincide stay closed.
    """

    character: Character
    skinnings: tuple[Skinning | None, ...]
    normals: Normals

    def morph_weights_at_rest(self) -> dict[str, float]:
        """The file's resting weight of every blend shape, by ``"mesh/morph"``."""
        return {
            f"{mesh.name}/{morph.name}": morph.weight
            for mesh in self.character.meshes
            for morph in mesh.mesh.morphs
        }


def compile_body(character: Character, *, skinning: str | None = None) -> Body:
    """Compile a character for evaluation.

    Args:
        character: The character.
        skinning: ``"linear"``, ``"dual_quaternion"`` or ``"contour"`` for every mesh; None takes
            what the file asks for each mesh, linear where it does not say.
    """
    _require_distinct_names(character)
    return Body(
        character=character,
        skinnings=tuple(_mesh_skinning(mesh, character, skinning) for mesh in character.meshes),
        normals=Normals([mesh.mesh for mesh in character.meshes]),
    )


def _mesh_skinning(mesh: SkinnedMesh, character: Character, method: str | None) -> Skinning | None:
    if mesh.weights is None:
        return None
    return make_skinning(
        method or mesh.skinning or "linear", mesh.mesh.points, mesh.weights, character.skeleton
    )


def _require_distinct_names(character: Character) -> None:
    names = [mesh.name for mesh in character.meshes]
    for name in names:
        if names.count(name) > 1:
            raise MeshError(
                f"two meshes are named {name!r}", where=character.source, remedy="Rename one of them"
            )


def morphed_points(mesh: SkinnedMesh, weights: Mapping[str, float]) -> npt.NDArray[np.float32] | None:
    """Bind points after blend shapes [m] (vertices, 3), or None where no shape acts.

    Args:
        mesh: The mesh.
        weights: Weight of each shape by ``"mesh/morph"``; a shape not named stays at rest.
    """
    points: npt.NDArray[np.float32] | None = None
    for morph in mesh.mesh.morphs:
        weight = np.float32(weights.get(f"{mesh.name}/{morph.name}", morph.weight))
        if weight != 0.0:
            if points is None:
                points = mesh.mesh.points.copy()
            points[morph.vertices] += weight * morph.offsets
    return points
