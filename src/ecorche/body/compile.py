"""From a character to a body: everything that stays the same from frame to frame, made once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ecorche.body.character import Character, SkinnedMesh
from ecorche.body.frames import PointSet
from ecorche.document.files import Rig
from ecorche.errors import MeshError
from ecorche.skin.methods import Skinning, make_skinning
from ecorche.skin.normals import Normals

if TYPE_CHECKING:
    from ecorche.body.muscles import BodyMuscles
    from ecorche.muscles.activation import ActivationSource


@dataclass(frozen=True, eq=False)
class Body:
    """A compiled character, constant over time.

    Attributes:
        character: What it was compiled from.
        skinnings: How each mesh follows the skeleton; None for a mesh that stands still.
        normals: The plan for recomputing normals of all meshes together, so that borders that
            coincide stay closed.
        muscles: The muscles below the skin; None for a body without.
    """

    character: Character
    skinnings: tuple[Skinning | None, ...]
    normals: Normals
    muscles: BodyMuscles | None = None

    def morph_weights_at_rest(self) -> dict[str, float]:
        """The file's resting weight of every blend shape, by ``"mesh/morph"``."""
        return {
            f"{mesh.name}/{morph.name}": morph.weight
            for mesh in self.character.meshes
            for morph in mesh.mesh.morphs
        }


def compile_body(
    character: Character,
    *,
    skinning: str | None = None,
    rig: Rig | None = None,
    activation: ActivationSource | None = None,
) -> Body:
    """Compile a character for evaluation.

    Args:
        character: The character.
        skinning: ``"linear"``, ``"dual_quaternion"`` or ``"contour"`` for every mesh; None takes
            what the file asks for each mesh, linear where it does not say.
        rig: Whose muscles the body gets; None for a body without muscles.
        activation: How active the muscles are; None takes what the rig says.
    """
    _require_distinct_names(character)
    plain = Body(
        character=character,
        skinnings=tuple(_mesh_skinning(mesh, character, skinning) for mesh in character.meshes),
        normals=Normals([mesh.mesh for mesh in character.meshes]),
    )
    if rig is None or not rig.spec.muscles.named:
        return plain
    from ecorche.body.muscles import compile_muscles

    still = np.zeros((character.skeleton.joint_count, 4, 4))
    bind = skinned_points(plain, still, (None,) * len(character.meshes))
    return replace(plain, muscles=compile_muscles(character, rig, bind, activation))


def skinned_points(
    body: Body,
    moved: npt.NDArray[np.float64],
    morphed: Sequence[PointSet | None],
) -> tuple[PointSet, ...]:
    """Points of every mesh by skinning alone, each (vertices, 3) [m].

    Args:
        body: The body.
        moved: ``M − I`` of every joint, (joints, 4, 4).
        morphed: Bind points after blend shapes of every mesh, None where no shape acts.
    """
    points: list[PointSet] = []
    for mesh, skinning, start in zip(body.character.meshes, body.skinnings, morphed, strict=True):
        if skinning is None:
            points.append(mesh.mesh.points.copy() if start is None else start)
            continue
        difference = moved
        if mesh.own_bind is not None:
            # (I + D) C − I, kept as a difference
            difference = moved @ mesh.own_bind + (mesh.own_bind - np.eye(4))
        points.append(skinning.apply(difference, start))
    return tuple(points)


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
