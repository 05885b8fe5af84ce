"""From a character to a body: everything that stays the same from frame to frame, made once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ecorche.body.character import Character, SkinnedMesh
from ecorche.body.frames import PointSet
from ecorche.body.kept_parts import KeptParts
from ecorche.document.files import Rig
from ecorche.document.line_spec import BodyTypeSpec
from ecorche.errors import MeshError
from ecorche.skin.hybrid import HybridSkinning
from ecorche.skin.methods import Skinning, make_skinning
from ecorche.skin.normals import Normals
from ecorche.skin.weights import is_rigid

if TYPE_CHECKING:
    from ecorche.body.coupling import BodyCoupling
    from ecorche.body.fat import BodyFat
    from ecorche.body.lines import BodyLines
    from ecorche.body.lofts import BodyLofts
    from ecorche.body.muscles import BodyMuscles
    from ecorche.body.springs import BodySprings
    from ecorche.muscles.activation import ActivationSource
    from ecorche.muscles.line_muscle import LineMuscle
    from ecorche.muscles.lofted import LoftedMuscle
    from ecorche.muscles.muscle import Muscle

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Body:
    """A compiled character, constant over time.

    Attributes:
        character: What it was compiled from.
        skinnings: How each mesh follows the skeleton; None for a mesh that stands still.
        normals: The plan for recomputing normals of all meshes together, so that borders that
            coincide stay closed.
        muscles: The muscles below the skin over which it slides; None for a body without.
        lofts: The muscles found in the skin, which it follows as joints; None for a body without.
        activation: How active all muscles are over a motion: ``muscles``, then ``lofts``, then ``lines``.
        limb_skinnings: How each mesh follows the skeleton alone, where muscle joints move it too; None for a
            body without ``lofts``.
        lines: The muscles that are meshes on action lines, which move the skin by `coupling` alone; None for
            a body without.
        coupling: How the skin is bound to what lies beneath; None where muscles move it, each kind in its own
            way.
        fat: The fat that swings between muscles and skin; None where it goes with them.
        springs: The masses and springs as which muscles and skin jiggle; None where they do not.
    """

    character: Character
    skinnings: tuple[Skinning | None, ...]
    normals: Normals
    muscles: BodyMuscles | None = None
    lofts: BodyLofts | None = None
    activation: ActivationSource | None = None
    limb_skinnings: tuple[Skinning | None, ...] | None = None
    lines: BodyLines | None = None
    coupling: BodyCoupling | None = None
    fat: BodyFat | None = None
    springs: BodySprings | None = None

    def without_muscles(self) -> Body:
        """The same character by plain skinning."""
        skinnings = self.skinnings if self.limb_skinnings is None else self.limb_skinnings
        return Body(self.character, skinnings, self.normals)

    def activations(self, of_all: Floats | None) -> tuple[Floats | None, Floats | None, Floats | None]:
        """The activation of all muscles as those of ``muscles``, of ``lofts`` and of ``lines``."""
        if of_all is None or (self.lofts is None and self.lines is None):
            return of_all, None, None
        first = 0 if self.muscles is None else len(self.muscles.musculature.muscles)
        second = first + (0 if self.lofts is None else len(self.lofts.lofts.muscles))
        return of_all[:first], of_all[first:second], of_all[second:]

    @property
    def muscle_names(self) -> tuple[str, ...]:
        """Names of all muscles, in the order in which activations are given."""
        return (
            *(() if self.muscles is None else self.muscles.musculature.names),
            *(() if self.lofts is None else self.lofts.lofts.names),
            *(() if self.lines is None else (muscle.name for muscle in self.lines.designed)),
        )

    def bulge(self, activation: Floats | None) -> Floats:
        """The bulge T of the muscles that move the skin, first ``muscles`` and then ``lofts``, (M,)."""
        kinds = zip((self.muscles, self.lofts), self.activations(activation)[:2], strict=True)
        return np.concatenate([np.zeros(0), *(kind.bulge(a) for kind, a in kinds if kind is not None)])

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
    kept: KeptParts | None = None,
) -> Body:
    """Compile a character for evaluation.

    Args:
        character: The character.
        skinning: ``"linear"``, ``"dual_quaternion"`` or ``"contour"`` for every mesh; None takes
            what the rig says, else what the file asks for each mesh, else linear; contour where skin keeps
            its distance to what lies beneath, which then moves as the skin does.
        rig: Whose muscles and whose body type the body gets; None for a body without muscles.
        activation: How active the muscles are; None takes what the rig says.
        kept: What was found when the body was compiled before, and will be the next time: an edited rig is
            then soon compiled. The body is the same.
    """
    kept = KeptParts() if kept is None else kept
    _require_distinct_names(character)
    character, rig = of_its_type(character, rig)
    methods = _methods(character, skinning, rig)
    plain = kept.part("plain", (character, *methods), lambda: _plain(character, methods))
    if rig is None:
        return plain
    from ecorche.body.compile_coupling import compile_coupling, is_coupled

    if not (rig.spec.muscles.count or is_coupled(rig)):
        return plain
    from ecorche.body.lines import compile_lines_again
    from ecorche.body.lofts import compile_lofts, lofted_skinnings
    from ecorche.body.muscles import compile_muscles, rig_activation

    still = np.zeros((character.skeleton.joint_count, 4, 4))
    bind = kept.part("bind", (plain,), lambda: skinned_points(plain, still, (None,) * len(character.meshes)))
    muscles = compile_muscles(character, rig, bind, methods, kept)
    lofts = compile_lofts(character, rig, bind, methods)
    lines = compile_lines_again(character, rig, kept)
    skinnings, limb_skinnings = plain.skinnings, None
    if lofts is not None:
        skinnings, limb_skinnings = lofted_skinnings(character, lofts, skinnings, methods), skinnings
    if activation is None:
        all_muscles: list[Muscle | LoftedMuscle | LineMuscle] = [
            *(() if muscles is None else muscles.musculature.muscles),
            *(() if lofts is None else lofts.lofts.muscles),
            *(() if lines is None else lines.designed),
        ]
        activation = rig_activation(character, rig, all_muscles)
    body = replace(
        plain,
        skinnings=skinnings,
        muscles=muscles,
        lofts=lofts,
        activation=activation,
        limb_skinnings=limb_skinnings,
        lines=lines,
    )
    return replace(body, coupling=compile_coupling(body, rig, bind))


def _plain(character: Character, methods: Sequence[str]) -> Body:
    """The character by skinning alone."""
    return Body(
        character=character,
        skinnings=tuple(map(partial(_mesh_skinning, character), character.meshes, methods)),
        normals=Normals([mesh.mesh for mesh in character.meshes]),
    )


def of_its_type(character: Character, rig: Rig | None) -> tuple[Character, Rig | None]:
    """The character and its rig as the rig's bulk and fat make them, which mostly is as they are."""
    if rig is None or rig.spec.body_type == BodyTypeSpec():
        return character, rig
    from ecorche.body.body_type import shaped

    made = shaped(character, rig)
    return made.character, made.rig


def skinned_points(
    body: Body,
    moved: npt.NDArray[np.float64],
    morphed: Sequence[PointSet | None],
    active: Floats | None = None,
) -> tuple[PointSet, ...]:
    """Points of every mesh by skinning alone, each (vertices, 3) [m].

    Args:
        body: The body.
        moved: ``M − I`` of every joint and, of a body with muscles found in its skin, after them of every
            muscle joint, (joints, 4, 4); where these are left out they are posed.
        morphed: Bind points after blend shapes of every mesh, None where no shape acts.
        active: Activation of the muscles found in the skin, for posing them; None is at rest.
    """
    points: list[PointSet] = []
    joint_count = body.character.skeleton.joint_count
    for mesh, skinning, start in zip(body.character.meshes, body.skinnings, morphed, strict=True):
        if skinning is None:
            points.append(mesh.mesh.points.copy() if start is None else start)
            continue
        if isinstance(skinning, HybridSkinning) and len(moved) == joint_count and body.lofts is not None:
            if mesh.own_bind is None:
                points.append(skinning.apply_active(moved, active, start))
                continue
            moved = body.lofts.extended(moved, active)
        # meshes that no muscle moves know nothing of muscle joints
        parents = skinning.parents if isinstance(skinning, HybridSkinning) else ()
        difference = moved[: joint_count + len(parents)]
        if mesh.own_bind is not None:
            # (I + D) C − I, kept as a difference; muscle joints are bound as the joints they hang on
            own = np.concatenate([mesh.own_bind, mesh.own_bind[list(parents)]])
            difference = difference @ own + (own - np.eye(4))
        points.append(skinning.apply(difference, start))
    return tuple(points)


def _mesh_skinning(character: Character, mesh: SkinnedMesh, method: str) -> Skinning | None:
    if mesh.weights is None:
        return None
    return make_skinning(method, mesh.mesh.points, mesh.weights, character.skeleton)


def _methods(character: Character, asked: str | None, rig: Rig | None) -> list[str]:
    """How each mesh is skinned; one that hangs on a single joint, such as a bone, stays as stiff as it is."""
    usual = "linear"
    if rig is not None:
        asked, coupling = asked or rig.spec.skinning.method, rig.spec.coupling
        if not {coupling.everywhere, *coupling.regions.values()}.isdisjoint(("height_field", "fascia")):
            usual = "contour"
    return [
        asked or mesh.skinning or ("linear" if mesh.weights and is_rigid(mesh.weights) else usual)
        for mesh in character.meshes
    ]


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
