"""A body's skin bound to its écorché as its rig says.

Every vertex belongs to regions as much as their joints move it, so that couplings blend where regions meet.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from ecorche.base.mesh import triangle_mesh
from ecorche.base.names import suggestion
from ecorche.body.bones import BodyBones, bones_beneath
from ecorche.body.character import Character
from ecorche.body.compile import Body
from ecorche.body.coupling import BodyCoupling
from ecorche.body.coupling_shares import coupling_shares
from ecorche.body.ecorche_surfaces import EcorcheSurfaces, points_at_bind, surfaces_of
from ecorche.body.fit_for_muscles import times_a_person
from ecorche.body.frames import PointSet
from ecorche.body.garments import garment_transfers
from ecorche.body.hinges import hinges
from ecorche.body.painting import painted_values
from ecorche.body.regions import by_joint
from ecorche.body.skin_state import outward
from ecorche.body.wrinkles import compile_wrinkles, too_coarse_for
from ecorche.document.coupling_spec import CouplingSpec
from ecorche.document.files import Rig
from ecorche.errors import DocumentError, MeshError
from ecorche.skeleton.naming.recognise import Naming, recognise
from ecorche.skeleton.naming.vocabulary import TRUNK
from ecorche.skeleton.skeleton import Skeleton
from ecorche.skin.contact import SkinContact
from ecorche.skin.covered_bones import CoveredBones
from ecorche.skin.crumpled import Crumpled
from ecorche.skin.even_stretch import EvenStretch
from ecorche.skin.fold_planes import Fold, FoldPlanes, hip_folds, limb_folds
from ecorche.skin.limb_segments import limb_segments
from ecorche.skin.normals import Normals
from ecorche.skin.over_ecorche import Reach, SkinOverEcorche
from ecorche.skin.turned_over import TurnedOver
from ecorche.skin.two_rings import TwoRings, two_rings
from ecorche.skin.weights import SkinWeights
from ecorche.skin.widened_limbs import WidenedLimbs

Floats = npt.NDArray[np.float64]

RINGS, SIDES = 24, 12
"""How finely muscles are divided that the skin keeps its distance to."""
THICKEST = 0.05
"""What 1 means in a painted map of thickness [m]."""
MARGIN = 4
"""So many edges beyond the skin that is over the écorché its neighbours count."""
DEEP = 0.001
"""Skin that is less deep in a muscle or bone lies on it [m], on a person."""


def is_coupled(rig: Rig) -> bool:
    """Whether a rig's skin does more than follow muscles in their own ways."""
    said = {rig.spec.coupling.everywhere, *rig.spec.coupling.regions.values()}
    return said != {"muscles"} or bool(rig.spec.wrinkles)


def compile_coupling(body: Body, rig: Rig, bind: Sequence[PointSet]) -> BodyCoupling | None:
    """Bind a body's skin as its rig says; None where every muscle moves it in its own way alone.

    Args:
        body: The body with its muscles.
        rig: The rig.
        bind: Skinned points of every mesh in the skeleton's bind pose [m].
    """
    spec, character = rig.spec.coupling, body.character
    if not is_coupled(rig):
        return None
    mesh = character.body(rig.spec.body)
    skin, weights = character.meshes.index(mesh), mesh.weights
    assert weights is not None  # body() gives skinned meshes only
    naming = recognise(character.skeleton, rig.spec.skeleton.mapping or None)
    share = coupling_shares(spec, character, naming, weights, f"{rig.source}, coupling.regions")
    points = bind[skin]
    triangles, state = outward(
        points, mesh.mesh.triangles(), f"{character.source or character.name}, mesh {mesh.name!r}"
    )
    normals = Normals([triangle_mesh(mesh.name, points, triangles)])
    (up,) = normals.apply([points])
    assert up is not None
    rings = two_rings(points, triangles)
    scale = times_a_person(character.skeleton, naming)
    over = None
    limbs = limb_segments(
        points, triangles, rings.place, weights, character.skeleton,
        hinges(points, weights, character.skeleton, naming),
    )  # fmt: skip
    folds = FoldPlanes(
        points,
        [
            *limb_folds(points, limbs, weights, character.skeleton),
            *_hip_folds(points, weights, character.skeleton, naming),
        ],
        character.skeleton,
        scale,
    )
    surfaces = surfaces_of(body, folds=folds, rings=RINGS, sides=SIDES)
    bones = tuple(_bone(character, name, rig) for name in spec.bones)
    by_heights = share["height_field"] + share["fascia"]
    shown = rings.around(by_heights[rings.speakers()] > 0.0, MARGIN)
    rig_bones = None
    if by_heights.any():
        rig_bones = _rig_bones(body, points, up, rings.speakers()[shown], surfaces, scale)
        over = _over(
            body, rig, points, up, rings, shown, surfaces, bones, rig_bones, bind, share["fascia"], scale
        )
    touching = SkinContact(
        points, up, triangles, rings, reach=0.05 * scale, span=0.015 * scale, gives=by_heights > 0.0
    )
    intensity = _painted(spec.intensity, "intensity", rig, mesh.name, len(points))
    visible = (by_heights * intensity).astype(np.float32)
    covered = None
    if by_heights.any() and (bones or rig_bones is not None):
        at, corners, joints = _bone_points(character, bones, rig_bones, bind)
        covered = CoveredBones(
            points, up, triangles, rings, weights, at, corners, joints, gives=visible, scale=scale
        )
    return BodyCoupling(
        spec=spec,
        skin=skin,
        by_muscles=share["muscles"].astype(np.float32),
        by_heights=visible,
        part=rings.speakers()[shown],
        over=over,
        surfaces=surfaces,
        bones=bones,
        rig_bones=rig_bones,
        rings=rings,
        normals=normals,
        volume=WidenedLimbs(points, limbs, folds, rings, visible),
        folds=folds,
        contact=touching if spec.contact and by_heights.any() else None,
        covered=covered,
        stretch=EvenStretch(
            points, up, rings, by_heights * _painted(spec.slide, "slide", rig, mesh.name, len(points))
        ),
        crumpled=Crumpled(points, triangles, rings, by_heights[rings.speakers()] > 0.0),
        turned=TurnedOver(up, weights, rings),
        wrinkles=compile_wrinkles(character, rig),
        garments=garment_transfers(character, skin, bind),
        notes=(
            *state.told(mesh.name),
            *_within(over, by_heights[rings.speakers()[shown]], scale),
            *too_coarse_for(character, rig),
        ),
        scale=scale,
    )


def require_regions(
    spec: CouplingSpec, character: Character, mapping: Mapping[str, str], where: object
) -> None:
    """Refuse regions and joints that the character has not."""
    by_joint(
        spec.regions,
        spec.everywhere,
        character.skeleton,
        recognise(character.skeleton, mapping or None),
        where,
    )


def _hip_folds(points: PointSet, weights: SkinWeights, skeleton: Skeleton, naming: Naming) -> list[Fold]:
    """Folds at both hips; none where hips or a joint of the chest are not known."""
    hips = [joint for side in "lr" if (joint := naming.joint(f"{side}_hip")) is not None]
    chest = next((j for n in reversed(TRUNK) if (j := naming.joint(n)) is not None), None)
    if len(hips) < 2 or chest is None:
        return []
    return hip_folds(points, weights, skeleton, hips, chest)


def _rig_bones(
    body: Body,
    points: PointSet,
    up: PointSet,
    part: npt.NDArray[np.int32],
    surfaces: EcorcheSurfaces,
    scale: float,
) -> BodyBones | None:
    """Bones of the rig that the skin lies over."""
    if body.lines is None or body.lines.bones is None:
        return None
    muscles, reach = points_at_bind(surfaces, body), Reach().scaled(scale).deepest
    return bones_beneath(body.lines.bones, points[part], up[part], muscles, surfaces.triangles, reach)


def _over(
    body: Body,
    rig: Rig,
    points: PointSet,
    up: PointSet,
    rings: TwoRings,
    shown: npt.NDArray[np.bool_],
    surfaces: EcorcheSurfaces,
    bones: Sequence[int],
    rig_bones: BodyBones | None,
    bind: Sequence[PointSet],
    bridged: Floats,
    scale: float,
) -> SkinOverEcorche:
    character, spec, count, part = body.character, rig.spec.coupling, len(points), rings.speakers()[shown]
    mesh = character.body(rig.spec.body).name
    beneath, triangles = [points_at_bind(surfaces, body)], [surfaces.triangles]
    parts: list[npt.NDArray[np.integer]] = [surfaces.muscle[surfaces.triangles[:, 0]]]
    for number, bone in enumerate(bones):
        corners = character.meshes[bone].mesh.triangles()
        triangles.append(corners + sum(map(len, beneath)))
        beneath.append(bind[bone])
        parts.append(np.full(len(corners), len(surfaces.names) + number))
    if rig_bones is not None:
        triangles.append(rig_bones.triangles + sum(map(len, beneath)))
        beneath.append(rig_bones.bind.astype(np.float32))
        parts.append(rig_bones.part + len(surfaces.names) + len(bones))
    if not sum(map(len, triangles)):
        raise DocumentError(
            "the skin shall keep its distance to muscles and bones, and there are none",
            where=f"{rig.source}, coupling",
            remedy="Give it muscles with `ecorche rig`, name its bones in coupling.bones, or write plain",
        )
    thickness = None
    if spec.thickness is not None:
        unit = THICKEST if isinstance(spec.thickness, str) else 1.0
        thickness = unit * _painted(spec.thickness, "thickness", rig, mesh, count)[part]
    return SkinOverEcorche(
        points[part],
        up[part],
        rings.part(shown),
        np.concatenate(beneath),
        np.concatenate(triangles),
        np.concatenate(parts).astype(np.int32),
        bridged=bridged[part],
        stiffness=_painted(spec.stiffness, "stiffness", rig, mesh, count)[part],
        thickness=thickness,
        reach=Reach().scaled(scale),
    )


def _bone_points(
    character: Character, bones: Sequence[int], rig_bones: BodyBones | None, bind: Sequence[PointSet]
) -> tuple[PointSet, npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """Vertices of all bones at bind [m], as `_over` has them, their triangles, and the joint of each vertex.

    That of a mesh is the one that moves a vertex most.
    """
    at, corners, joints = (
        [np.zeros((0, 3), np.float32)],
        [np.zeros((0, 3), np.int32)],
        [np.zeros(0, np.int32)],
    )
    for bone in bones:
        corners.append(character.meshes[bone].mesh.triangles() + sum(map(len, at)))
        at.append(bind[bone])
        weights = character.meshes[bone].weights
        joints.append(np.zeros(len(bind[bone]), np.int32) if weights is None else weights.strongest())
    if rig_bones is not None:
        corners.append(rig_bones.triangles + sum(map(len, at)))
        at.append(rig_bones.bind.astype(np.float32))
        joints.append(rig_bones.joint)
    return np.concatenate(at), np.concatenate(corners).astype(np.int32), np.concatenate(joints)


def _within(over: SkinOverEcorche | None, shown: Floats, scale: float) -> tuple[str, ...]:
    """That skin lies in muscles or bones at bind, a sentence; plain skin does not count."""
    if over is None:
        return ()
    deep = over.heights[(over.heights < -DEEP * scale) & (shown > 0.0)]
    if not len(deep):
        return ()
    most = -1e3 * float(deep.min())
    return (
        f"{len(deep):,} {'vertex' if len(deep) == 1 else 'vertices'} of the skin"
        f" {'lies' if len(deep) == 1 else 'lie'} in muscles or bones at bind, by up to {most:.0f} mm:"
        f" {'it stays' if len(deep) == 1 else 'they stay'} as deep",
    )


def _painted(value: float | str, field: str, rig: Rig, mesh: str, count: int) -> Floats:
    """A number for all vertices, or that of each from a map, (vertices,)."""
    if not isinstance(value, str):
        return np.full(count, float(value))
    return painted_values(rig, ("coupling", field), value, mesh)


def _bone(character: Character, name: str, rig: Rig) -> int:
    names = [mesh.name for mesh in character.meshes]
    if name not in names:
        raise MeshError(
            f"there is no mesh {name!r} of bones",
            where=f"{rig.source}, coupling.bones",
            remedy=suggestion(name, names),
        )
    if name == character.body(rig.spec.body).name:
        raise MeshError(
            f"{name!r} is the skin itself, no bone beneath it",
            where=f"{rig.source}, coupling.bones",
            remedy="Name meshes that lie under the skin",
        )
    return names.index(name)
