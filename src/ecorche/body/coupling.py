"""The body's skin bound to its écorché, compiled: what it asks of a frame, and how it moves then."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ecorche.body.bones import BodyBones
from ecorche.body.ecorche_surfaces import EcorcheSurfaces
from ecorche.body.frames import PointSet
from ecorche.document.coupling_spec import CouplingSpec
from ecorche.skin.along_normals import along_normals
from ecorche.skin.contact import SkinContact
from ecorche.skin.covered_bones import CoveredBones
from ecorche.skin.crumpled import Crumpled
from ecorche.skin.delta_transfer import DeltaTransfer
from ecorche.skin.even_stretch import EvenStretch
from ecorche.skin.fold_planes import FoldPlanes
from ecorche.skin.normals import Normals
from ecorche.skin.over_ecorche import SkinOverEcorche
from ecorche.skin.turned_over import TurnedOver
from ecorche.skin.two_rings import TwoRings
from ecorche.skin.widened_limbs import WidenedLimbs
from ecorche.skin.wrinkles import FlexionWrinkles

Floats = npt.NDArray[np.float64]
Singles = npt.NDArray[np.float32]


@dataclass(frozen=True, eq=False, repr=False)
class BodyCoupling:
    """How one body's skin is bound; constant over time.

    Attributes:
        spec: What the rig says.
        skin: Number of the mesh that is the body.
        by_muscles: How much each muscle moves the skin in its own way, 0 to 1, (vertices,).
        by_heights: How much of the correction is shown, 0 to 1, (vertices,).
        part: Vertices that are over the écorché and those round them, one a place, (part,).
        over: They over the écorché; None where no region asks for it.
        surfaces: The muscles beneath.
        bones: Numbers of meshes that are bones.
        rig_bones: Bones of the rig that skin lies over; None for none.
        rings: Neighbours of the skin's vertices.
        normals: The plan for the skin's normals.
        volume: Limbs that keep theirs when joints bend.
        folds: Where they meet when they fold.
        contact: Skin against skin; None for none.
        covered: Bones that stay beneath the skin; None for none.
        stretch: Skin along itself.
        crumpled: Skin whose normals cannot be trusted.
        turned: Skin whose normals look the wrong way.
        wrinkles: Folds of the skin at joints; None for none.
        garments: How every other mesh follows the body.
        notes: What is unusual about the skin, a sentence each.
        scale: How many times as large as a human the body is.
    """

    spec: CouplingSpec
    skin: int
    by_muscles: Singles
    by_heights: Singles
    part: npt.NDArray[np.int32]
    over: SkinOverEcorche | None
    surfaces: EcorcheSurfaces
    bones: tuple[int, ...]
    rig_bones: BodyBones | None
    rings: TwoRings
    normals: Normals
    volume: WidenedLimbs
    folds: FoldPlanes
    contact: SkinContact | None
    covered: CoveredBones | None
    stretch: EvenStretch
    crumpled: Crumpled
    turned: TurnedOver
    wrinkles: FlexionWrinkles | None
    garments: tuple[DeltaTransfer | None, ...]
    notes: tuple[str, ...]
    scale: float

    def __repr__(self) -> str:
        return f"BodyCoupling({self.spec.everywhere}, {self.surfaces.vertex_count} points beneath)"

    def correction(
        self,
        points: Sequence[PointSet],
        moved: Floats,
        bulge: Floats,
        meshes: Floats | None,
        up: PointSet | None = None,
    ) -> Singles:
        """How far each place of the skin moves along its normal in a pose [m], (places,), unfiltered in time.

        Args:
            points: Of every mesh by plain skinning.
            moved: ``M − I`` of the character's joints, (joints, 4, 4).
            bulge: T of the muscles that are no meshes.
            meshes: Vertices of those that are.
            up: Unit normals of the skin, where they are at hand, (vertices, 3).
        """
        skin = points[self.skin]
        if up is None:
            up = self.up(skin)
        found, beneath = np.zeros(self.rings.place_count, np.float32), np.zeros((0, 3), np.float32)
        if self.over is not None:
            beneath = self.surfaces.points(moved, bulge, meshes)
            if self.bones:
                beneath = np.concatenate([beneath, *(points[bone] for bone in self.bones)])
            if self.rig_bones is not None:
                beneath = np.concatenate([beneath, self.rig_bones.points(moved).astype(np.float32)])
            found[self.rings.place[self.part]] = self.by_heights[self.part] * self.over.correction(
                skin.take(self.part, axis=0), up.take(self.part, axis=0), beneath
            )
            found = self.volume.widened(found, skin, up, moved)
        if self.contact is not None:
            there = self._folded(skin, up, found, moved)
            found = found + (self.by_heights * self.contact.correction(there, up))[self.rings.speakers()]
        if self.covered is not None:
            bones = beneath.take(self.surfaces.vertex_count + self.covered.places, axis=0)
            found = found + self.covered.lifted(self._folded(skin, up, found, moved), up, bones, moved)
        return found

    def over_bones(self, points: Sequence[PointSet], moved: Floats) -> tuple[PointSet, ...]:
        """Points of every mesh [m] with the skin lifted where something since has taken it off a bone.

        Args:
            points: Of every mesh, the skin as fat has moved it.
            moved: ``M − I`` of the character's joints, (joints, 4, 4).
        """
        if self.covered is None:
            return tuple(points)
        bones = [np.zeros((0, 3), np.float32), *(points[bone] for bone in self.bones)]
        if self.rig_bones is not None:
            bones.append(self.rig_bones.points(moved).astype(np.float32))
        skin, found = points[self.skin], list(points)
        up = self.up(skin)
        lifted = self.covered.lifted(skin, up, np.concatenate(bones)[self.covered.places], moved)
        found[self.skin] = skin + lifted[self.rings.place][:, None] * up
        return tuple(found)

    def _folded(self, skin: PointSet, up: PointSet, correction: Singles, moved: Floats) -> PointSet:
        """The skin as a correction along its normals moves it, laid flat where it folds [m]."""
        there = along_normals(skin, up, correction, self.rings.place)
        there += self.by_heights[:, None] * self.folds.laid(there, moved)
        return there

    def up(self, skin: PointSet) -> PointSet:
        """Unit normals of the skin, one a vertex, (vertices, 3)."""
        (normals,) = self.normals.apply([skin])
        assert normals is not None
        return normals

    def applied(
        self,
        points: Sequence[PointSet],
        plain: Sequence[PointSet],
        muscled: Sequence[PointSet] | None,
        correction: Singles,
        moved: Floats,
        up: PointSet | None = None,
    ) -> tuple[PointSet, ...]:
        """Points of every mesh [m] after muscles and correction have moved them.

        Args:
            points: What is moved: plainly skinned points, with blend shapes.
            plain: The same without blend shapes.
            muscled: The same with what muscles do in their own ways; None where no region asks for it.
            correction: Along the normals, (places,), filtered in time.
            moved: ``M − I`` of the character's joints, (joints, 4, 4).
            up: Unit normals of the plain skin, where they are at hand, (vertices, 3).
        """
        skin = plain[self.skin]
        if up is None:
            up = self.up(skin)
        along = correction[self.rings.place][:, None] * up
        less = np.zeros_like(up)
        if muscled is not None:
            less -= self.by_muscles[:, None] * (muscled[self.skin] - skin)
        along += self.stretch.along(skin - less + along, up)
        if self.over is not None:
            along = self.crumpled.evened(along, skin, self.turned.upright(up, moved))
        less -= along
        less -= self.by_heights[:, None] * self.folds.laid(skin - less, moved)
        if self.wrinkles is not None:
            less += self.wrinkles.depths(moved).astype(np.float32)[:, None] * up
        # subtracted, so that a coordinate that is minus zero keeps its sign at bind
        found = [p if p is not q else p.copy() for p, q in zip(points, plain, strict=True)]
        found[self.skin] = points[self.skin] - (less + np.float32(0.0))
        for number, garment in enumerate(self.garments):
            if garment is not None:
                found[number] = garment.apply(-less, points[number])
        return tuple(found)

    def feed(self, update: Callable[[bytes], object]) -> None:
        """Give everything that the skin's binding depends on to a hash, so that a bake knows its own."""
        update(self.spec.model_dump_json().encode() + self.by_muscles.tobytes() + self.by_heights.tobytes())
        update(self.surfaces.triangles.tobytes() + repr(self.bones).encode())
