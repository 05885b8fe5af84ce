"""Muscles found in the skin, compiled: joints beside the skeleton's that every mesh is skinned to as well.

The body's skin follows the muscles it was found over; garments, hair and other meshes take of every muscle
joint as much as the skin below them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
import numpy.typing as npt

from ecorche.body.character import Character
from ecorche.body.frames import PointSet
from ecorche.body.garments import garment_transfers
from ecorche.body.lofted_specs import lofted_muscles_of
from ecorche.body.painting import painted_values
from ecorche.document.files import Rig
from ecorche.muscles.activation import bulge_from_activation
from ecorche.muscles.lofted_posing import JOINTS_PER_MUSCLE, Lofts
from ecorche.skin.delta_transfer import DeltaTransfer
from ecorche.skin.flesh_binding import flesh_binding
from ecorche.skin.flesh_weights import SkinRound, flesh_round
from ecorche.skin.hybrid import HybridSkinning
from ecorche.skin.hybrid_weights import MuscleWeights, hybrid_weights
from ecorche.skin.loft_weights import SkinOver, carriers, loft_weights, skin_over
from ecorche.skin.methods import Skinning

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class BodyLofts:
    """Muscles found in a skin, joined to the meshes of one character; constant over time.

    Attributes:
        lofts: The muscles, which know their joints.
        skin: Number of the mesh that is the body.
        over: Which of its vertices lie over which muscle.
        entries: What muscle joints take of every mesh; None for meshes they do not move.
    """

    lofts: Lofts
    skin: int
    over: SkinOver
    entries: tuple[MuscleWeights | None, ...]

    def __repr__(self) -> str:
        return f"BodyLofts({self.lofts})"

    def bulge(self, activation: Floats | None) -> Floats:
        """The bulge T of every muscle, (M,), of its activation (M,); without one they are at rest."""
        if activation is None:
            return np.ones(len(self.lofts.muscles))
        return bulge_from_activation(activation, self._largest_bulge)

    @cached_property
    def _largest_bulge(self) -> Floats:
        return np.array([muscle.largest_bulge for muscle in self.lofts.muscles])

    def extended(self, moved: Floats, activation: Floats | None) -> Floats:
        """``M − I`` of the skeleton's joints and then of the muscle joints, (J + K, 4, 4)."""
        return self.lofts.extended(moved, activation)

    def at_rest(self, moved: Floats) -> Floats:
        """The same with muscle joints that only go with the joints they hang on: plain skinning."""
        return np.concatenate([moved, moved[self.lofts.joints.parents]])

    def feed(self, update: Callable[[bytes], object]) -> None:
        """Give everything that the skinning depends on to a hash, so that a bake knows its own."""
        for muscle in self.lofts.muscles:
            rings = muscle.rings
            for array in (muscle.ends, muscle.outward, rings.u, rings.centre, rings.half_axes, rings.angle):
                update(np.ascontiguousarray(array).tobytes())
            wrap = muscle.wrap
            told = None if wrap is None else (wrap.shape, wrap.joint, *wrap.centre, *wrap.axis, wrap.radius)
            update(repr((muscle.joints, muscle.reach, muscle.crossing, muscle.largest_bulge, told)).encode())
        update(self.lofts.gains.tobytes())
        for entry in self.entries:
            if entry is not None:
                update(entry.vertices.tobytes() + entry.joints.tobytes() + entry.weights.tobytes())


def compile_lofts(
    character: Character,
    rig: Rig,
    bind: Sequence[PointSet],
    methods: Sequence[str] | None = None,
    *,
    joints_per_muscle: int = JOINTS_PER_MUSCLE,
) -> BodyLofts | None:
    """Join a rig's muscles that were found in the skin to a character; None where it has none.

    Args:
        character: The character the rig was made for.
        rig: The rig.
        bind: Skinned points of every mesh in the skeleton's bind pose [m].
        methods: How each mesh is skinned, and the flesh of muscles with the body's; None is linear.
        joints_per_muscle: How many joints a muscle has on each limb that carries it.
    """
    muscles = lofted_muscles_of(rig, character.skeleton)
    if not muscles:
        return None
    body = character.body(rig.spec.body)
    skin = character.meshes.index(body)
    painted = {
        number: painted_values(
            rig, ("muscles", "lofted", muscle.name, "influence", "painted"), muscle.painted, body.name
        )
        for number, muscle in enumerate(muscles)
        if muscle.painted
    }
    assert body.weights is not None  # body() gives skinned meshes only, and a rig names no other
    shapes = Lofts(muscles, character.skeleton)
    over = skin_over(bind[skin], body.mesh.triangles(), shapes, painted)
    lofts = Lofts(
        muscles,
        character.skeleton,
        joints_per_muscle=joints_per_muscle,
        carriers=carriers(over, body.weights, shapes),
        gains=[rig.spec.muscles.gains.get(muscle.group, 1.0) for muscle in muscles],
    )
    found = loft_weights(over, lofts)
    entries = worn_entries(found, skin, garment_transfers(character, skin, bind))
    hybrid = hybrid_weights(body.weights, found, lofts.joints.parents, character.skeleton.joint_count)
    method = "linear" if methods is None else methods[skin]
    binding = flesh_binding(method, character.skeleton, lofts.joints.parents)
    around = SkinRound(bind[skin], body.mesh.triangles(), hybrid, binding=binding)
    drawn = lofts.within(partial(flesh_round, around, lofts))
    return BodyLofts(drawn, skin, over, entries)


def worn_entries(
    found: MuscleWeights, skin: int, garments: Sequence[DeltaTransfer | None]
) -> tuple[MuscleWeights | None, ...]:
    """What muscle joints take of every mesh: of what is worn, as much as of the skin below it.

    Args:
        found: What they take of the body's skin.
        skin: Number of the body's mesh.
        garments: How every other mesh follows the body.
    """
    from scipy import sparse

    entries: list[MuscleWeights | None] = []
    for number, garment in enumerate(garments):
        if number == skin:
            entries.append(found)
        elif garment is None:
            entries.append(None)
        else:
            shape = (garment.matrix.shape[1], int(found.joints.max(initial=-1)) + 1)
            on_skin = sparse.csr_matrix((found.weights, (found.vertices, found.joints)), shape)
            worn = (garment.matrix @ on_skin).tocoo()
            order = np.lexsort((worn.col, worn.row))
            entries.append(
                MuscleWeights(
                    worn.row[order].astype(np.int64),
                    worn.col[order].astype(np.int64),
                    worn.data[order].astype(np.float64),
                    found.from_parent,
                )
            )
    return tuple(entries)


def lofted_skinnings(
    character: Character, lofts: BodyLofts, plain: Sequence[Skinning | None], methods: Sequence[str]
) -> tuple[Skinning | None, ...]:
    """How every mesh follows skeleton and muscle joints; those that no muscle moves as before."""
    parents = lofts.lofts.joints.parents
    return tuple(
        before
        if before is None or mesh.weights is None or entries is None or len(entries.vertices) == 0
        else HybridSkinning(
            mesh.mesh.points,
            mesh.weights,
            entries,
            parents,
            character.skeleton,
            method,
            posed_with=lofts.lofts,
        )
        for mesh, before, entries, method in zip(character.meshes, plain, lofts.entries, methods, strict=True)
    )
