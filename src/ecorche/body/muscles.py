"""The muscles of a body, compiled: from joints and activations to what they do to every mesh.

The body's own skin slides over the muscles; garments, hair and other meshes take over what moved below them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from ecorche.base.signed_distance import SignedSurface
from ecorche.body.character import Character
from ecorche.body.displacement import Displacement, bulge_in_frame
from ecorche.body.frames import PointSet
from ecorche.body.garments import garment_transfers
from ecorche.body.kept_parts import KeptParts
from ecorche.body.muscle_specs import muscles_of
from ecorche.body.painting import painted_values
from ecorche.document.files import Rig
from ecorche.errors import EcorcheError
from ecorche.muscles.activation import (
    ActivationSource,
    Anticipating,
    Constant,
    JointDriven,
    bulge_from_activation,
)
from ecorche.muscles.activation_from_motion import MotionDriven
from ecorche.muscles.centre_lines import stations
from ecorche.muscles.line_muscle import LineMuscle
from ecorche.muscles.lofted import LoftedMuscle
from ecorche.muscles.muscle import Muscle
from ecorche.muscles.musculature import Musculature, musculature
from ecorche.skeleton.naming.recognise import recognise
from ecorche.skin.delta_transfer import DeltaTransfer
from ecorche.skin.flesh_binding import flesh_binding
from ecorche.skin.flesh_weights import CLOSEST, SkinRound
from ecorche.skin.influence import Influences, Template, influence
from ecorche.skin.neighbourhood import suitable_neighbourhoods
from ecorche.skin.path_carriers import PathCarriers
from ecorche.skin.sliding import SlidingSkin
from ecorche.skin.spacing import edge_squares

Floats = npt.NDArray[np.float64]

BY_JOINTS: dict[str, type[JointDriven | MotionDriven | Anticipating]] = {
    "joints": JointDriven,
    "motion": MotionDriven,
    "anticipating": Anticipating,
}
"""By the joints' angles, by how they move, or before they move."""


@dataclass(frozen=True, eq=False, repr=False)
class BodyMuscles:
    """Muscles joined to the meshes of one character; constant over time.

    Attributes:
        musculature: The muscles.
        skin: Number of the mesh that is the body.
        influences: Which muscles move which of its vertices.
        sliding: The body's skin over the muscles.
        garments: For every mesh, how it follows the body's skin; None for the body itself and for meshes
            that stand still.
        gains: How much of each muscle's effect is shown, (M,).
        skin_round: The body's skin at bind, which tells where the flesh of a muscle goes.
    """

    musculature: Musculature
    skin: int
    influences: Influences
    sliding: SlidingSkin
    garments: tuple[DeltaTransfer | None, ...]
    gains: Floats
    skin_round: SkinRound

    def __repr__(self) -> str:
        return f"BodyMuscles({len(self.musculature.muscles)} muscles, {self.influences})"

    @cached_property
    def largest_bulge(self) -> Floats:
        """T of every muscle at full activation, (M,)."""
        return np.array([muscle.largest_bulge for muscle in self.musculature.muscles])

    @cached_property
    def _displacement(self) -> Displacement:
        return Displacement(self.musculature, self.sliding, self.largest_bulge)

    @cached_property
    def _has_garments(self) -> bool:
        return any(garment is not None for garment in self.garments)

    def bulge(self, activation: npt.ArrayLike | None) -> Floats:
        """The bulge T of every muscle, (M,), of its activation (M,); without one they are at rest."""
        largest = self.largest_bulge
        if activation is None:
            return np.ones(len(largest))
        bulge, alpha = np.empty(len(largest)), np.asarray(activation, np.float64)
        if alpha.shape == bulge.shape and bulge_in_frame(alpha, largest, bulge):
            return bulge
        if alpha.shape != bulge.shape:
            raise EcorcheError(
                f"there are activations of shape {alpha.shape} for {len(largest)} muscles",
                remedy="Give one a muscle, in the muscles' order",
            )
        # what cannot be is refused in words there
        return bulge_from_activation(activation, largest)

    def displaced(
        self,
        points: Sequence[PointSet],
        difference: Floats,
        activation: Floats | None,
        *,
        in_place: bool = False,
    ) -> tuple[PointSet, ...]:
        """Skinned points of every mesh [m] after the muscles below have moved them.

        Args:
            points: Skinned points without blend shapes, each (vertices, 3).
            difference: ``M − I`` of the character's joints, (joints, 4, 4).
            activation: Of each muscle, (M,), 0 to 1; None for muscles at rest.
            in_place: Whether the given arrays may be changed.
        """
        moved, skin = list(points), points[self.skin]
        # garments take over what has changed, and for that the skin as it was is needed
        same = in_place and not self._has_garments
        slid = skin if same else skin.copy()
        if not self._displacement.apply(slid, difference, activation):
            # what cannot be is refused in words there
            posed = self.musculature.sections(difference, self.bulge(activation))
            slid = self.sliding.apply(posed, skin, skin if same else None)
        moved[self.skin] = slid
        if self._has_garments:
            deltas = moved[self.skin] - skin
            for number, garment in enumerate(self.garments):
                if garment is not None:
                    moved[number] = garment.apply(deltas, points[number])
        return tuple(moved)

    def feed(self, update: Callable[[bytes], object]) -> None:
        """Give everything that the displacement depends on to a hash, so that a bake knows its own."""
        paths, spindles, found = self.musculature.frames.paths, self.musculature.spindles, self.influences
        arrays: tuple[npt.NDArray[np.generic], ...] = (
            paths.joints, paths.bind_points, self.musculature.frames.out, spindles.thickness, spindles.sweep,
            spindles.belly, spindles.scale, self.largest_bulge, found.starts, found.muscles, found.weights,
            self.gains,
            *(v for s in self.musculature.scapulae for v in (s.pivot, s.axis, s.hanging, s.arm_direction)),
        )  # fmt: skip
        for array in arrays:
            update(array.tobytes())
        update(self.musculature.volume.encode())


def compile_muscles(
    character: Character,
    rig: Rig,
    bind: Sequence[PointSet],
    methods: Sequence[str],
    kept: KeptParts | None = None,
) -> BodyMuscles | None:
    """Join a rig's muscles to a character; None for a rig without muscles.

    Args:
        character: The character the rig was made for.
        rig: The rig.
        bind: Skinned points of every mesh in the skeleton's bind pose [m].
        methods: How each mesh is skinned, and the flesh of muscles with the body's.
        kept: What was found before, see `KeptParts`.
    """
    kept = KeptParts() if kept is None else kept
    muscles, scapulae = muscles_of(rig, character.skeleton)
    if not muscles:
        return None
    spec = rig.spec.muscles
    joined = musculature(muscles, character.skeleton, scapulae, volume=spec.volume)
    body = character.body(rig.spec.body)
    skin = character.meshes.index(body)
    assert body.weights is not None  # body() gives skinned meshes only, and a rig names no other
    triangles, weights = body.mesh.triangles(), body.weights
    still = joined.sections(np.zeros((character.skeleton.joint_count, 4, 4)))
    found = influence(
        bind[skin],
        body.weights,
        still,
        [muscle.reach.joints for muscle in muscles],
        template=_neighbourhoods(joined, bind[skin], body.mesh.triangles()),
        weighting=[muscle.reach.weighting for muscle in muscles],
        radius=_radii(muscles),
        painted={
            number: painted_values(
                rig,
                ("muscles", "named", muscle.name, "influence", "painted"),
                muscle.reach.painted,
                body.name,
            )
            for number, muscle in enumerate(muscles)
            if muscle.reach.painted
        },
        names=joined.names,
        carriers=_carriers(joined),
        squares=kept.part("squares", (bind[skin], body), lambda: edge_squares(bind[skin], triangles)),
        found_before=kept.found,
    )
    gains = np.array([spec.gains.get(muscle.group, 1.0) for muscle in muscles])
    return BodyMuscles(
        musculature=joined,
        skin=skin,
        influences=found,
        sliding=SlidingSkin(bind[skin], still, found, gains=gains),
        garments=kept.part(
            "garments", (character, bind, body), lambda: garment_transfers(character, skin, bind)
        ),
        gains=gains,
        skin_round=kept.part(
            "skin round",
            (character, bind, body, methods[skin]),
            lambda: SkinRound(
                bind[skin],
                triangles,
                weights,
                CLOSEST,
                flesh_binding(methods[skin], character.skeleton),
            ),
        ),
    )


def rig_activation(
    character: Character, rig: Rig, muscles: Sequence[Muscle | LoftedMuscle | LineMuscle]
) -> ActivationSource:
    """How active the muscles are by what the rig says."""
    said = rig.spec.muscles.activation
    if said.source == "constant":
        return Constant(np.full(len(muscles), said.value))
    return named_activation(said.source, character, rig, muscles)


def named_activation(
    source: str, character: Character, rig: Rig, muscles: Sequence[Muscle | LoftedMuscle | LineMuscle]
) -> JointDriven | MotionDriven | Anticipating:
    """Activation by the joints the muscles act on: one of `BY_JOINTS`."""
    naming = recognise(character.skeleton, rig.spec.skeleton.mapping or None)
    return BY_JOINTS[source](character.skeleton, naming, [muscle.actions for muscle in muscles])


def _carriers(muscles: Musculature) -> PathCarriers:
    """The character's joints that carry each station; a virtual scapula counts as what it rides on."""
    paths = muscles.frames.paths
    node, share = stations(muscles.frames)
    rides_on = np.arange(paths.skeleton.joint_count)
    for number, scapula in enumerate(muscles.scapulae):
        rides_on[paths.skeleton.joint_count - len(muscles.scapulae) + number] = scapula.girdle
    joints = rides_on[paths.joints]
    return PathCarriers(np.stack([joints[node - 1], joints[node]], axis=-1), share)


def _neighbourhoods(
    muscles: Musculature, points: PointSet, triangles: npt.NDArray[np.int32]
) -> list[Template]:
    """The neighbourhood of each muscle: the one it names, or the one that suits it."""
    named = [muscle.reach.neighbourhood for muscle in muscles.muscles]
    asked = np.array([number for number, name in enumerate(named) if name == "automatic"], np.int64)
    chosen: dict[int, Template] = {}
    if len(asked):
        shapes = muscles.spindles
        centres, along, out = (v[:, 0] for v in muscles.frames.bind.at(shapes.belly[:, None]))
        swept = shapes.sweep_at(shapes.belly[:, None])[:, 0]
        centres = centres + swept[:, :1] * out + swept[:, 1:] * np.cross(along, out)
        half = shapes.scale * shapes.thickness[:, 0, 3]
        surface = SignedSurface(points, triangles)
        found = suitable_neighbourhoods(centres[asked], out[asked], half[asked], surface)
        chosen = dict(zip(asked.tolist(), found, strict=True))
    return [chosen[number] if name == "automatic" else name for number, name in enumerate(named)]


def _radii(muscles: Sequence[Muscle]) -> Floats:
    """The reach of radial neighbourhoods [m], (M,); half as much again as the muscle where none is said."""
    return np.array(
        [
            1.5 * muscle.thickness.max() * max(muscle.scale, 1.0)
            if muscle.reach.radius is None
            else muscle.reach.radius
            for muscle in muscles
        ]
    )
