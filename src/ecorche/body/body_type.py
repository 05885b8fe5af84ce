"""A body of another type: more or less muscular, leaner or heavier, and its skin with it.

A rig has two numbers (`body_type`), and a body of another type is another character: the same joints, faces,
weights and blend shapes, with other points at bind. Everything after sees that character.

- **Bulk** makes muscles thicker about their paths; attachments stay. The skin rises with them.
- **Fat** thickens the layer between muscles and skin, by region. Below zero it thins it, as far as there is
  any: where muscles lie just below the skin nothing can be lost, and a slimmer body needs less bulk too.

What is worn follows the skin (`skin_shape` says how). A bulk of 1 and a fat of 0 change nothing, bit for bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from ecorche.body.character import Character, SkinnedMesh
from ecorche.body.ecorche_surfaces import EcorcheSurfaces
from ecorche.body.fat_layer import fat_layer
from ecorche.body.fit_for_muscles import require_size, times_a_person
from ecorche.body.garments import garment_transfers
from ecorche.body.lines import compile_lines
from ecorche.body.lofted_specs import lofted_muscles_of
from ecorche.body.muscle_specs import muscles_of
from ecorche.body.skin_shape import Beneath, SkinShape
from ecorche.body.skin_state import outward
from ecorche.document.files import Rig
from ecorche.document.line_spec import BodyTypeSpec
from ecorche.document.lofted_spec import LoftedMuscleSpec
from ecorche.document.muscle_spec import MuscleSpec
from ecorche.document.problems import told_as_document_error
from ecorche.muscles.lofted_posing import Lofts
from ecorche.muscles.musculature import musculature
from ecorche.skeleton.naming.recognise import Naming, recognise
from ecorche.skeleton.standing import STATURE
from ecorche.skin.normals import Normals

Floats = npt.NDArray[np.float64]
Points = npt.NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Shaped:
    """A character of the type its rig says.

    Attributes:
        character: The character; the one that was given where the type is the one it was modelled with.
        rig: The rig, its muscles as thick as they are.
        muscle, fat: What the skin's volume gained by either [m³].
        notes: What a person should know, a sentence each.
    """

    character: Character
    rig: Rig
    muscle: float = 0.0
    fat: float = 0.0
    notes: tuple[str, ...] = ()

    def lines(self) -> list[str]:
        """What was gained and lost, in sentences."""
        litres = f"{1e3 * self.muscle:+.1f} litres by muscle, {1e3 * self.fat:+.1f} by fat"
        return [f"the body's volume changed by {litres}", *self.notes]


@lru_cache(maxsize=1)  # a command asks for it several times
def shaped(character: Character, rig: Rig) -> Shaped:
    """A character and its muscles as bulk and fat of its rig make them."""
    said = rig.spec.body_type
    if said.bulk == 1.0 and said.fat == 0.0:
        return Shaped(character, rig)
    from ecorche.body.compile import compile_body, skinned_points

    still = np.zeros((character.skeleton.joint_count, 4, 4))
    bind = skinned_points(compile_body(character), still, (None,) * len(character.meshes))
    body, thick = character.body(rig.spec.body), with_bulk(rig)
    assert body.weights is not None  # a rig's body is skinned
    skin = character.meshes.index(body)
    naming = recognise(character.skeleton, rig.spec.skeleton.mapping or None)
    require_size(character, naming)
    where = f"{character.source or character.name}, mesh {body.name!r}"
    faces, state = outward(bind[skin], body.mesh.triangles(), where)
    notes = list(state.told(body.name))
    size = _size(character, naming, bind[skin])
    shape = SkinShape(bind[skin], faces, size)
    muscles = _beneath(character, rig, thick)
    if said.bulk != 1.0 and muscles is None:
        notes.append("there are no muscles that bulk could make thicker")
    start = muscular = shape.points
    if said.bulk != 1.0 and muscles is not None:
        muscular = shape.over_muscles(muscular, muscles)
    final = muscular
    if said.fat != 0.0:
        layer, human = fat_layer(
            muscular,
            faces,
            shape.normals(muscular),
            body.weights,
            character.skeleton,
            naming,
            size,
        )
        final = shape.with_fat(muscular, said.fat, layer, muscles)
        if not human:
            notes.append("the joints tell no human body: fat is even over what is thick")
    if character.cache is not None:
        notes.append("the frames that the file holds are of the body as modelled, and are left out")
    points = list(bind)
    points[skin] = final.astype(np.float32)
    for number, worn in enumerate(garment_transfers(character, skin, bind)):
        if worn is not None:
            points[number] = worn.apply(points[skin] - bind[skin], bind[number])
    volumes = [shape.volume(at) for at in (start, muscular, final)]
    return Shaped(
        _with_points(character, bind, points),
        thick,
        muscle=volumes[1] - volumes[0],
        fat=volumes[2] - volumes[1],
        notes=tuple(notes),
    )


def _size(character: Character, naming: Naming, points: Points) -> float:
    """How many times the size of a person a body is: by its limbs, or by its extent where we know none."""
    if naming.joint("l_hip") is None or naming.joint("l_shoulder") is None:
        return float(np.ptp(points, axis=0).max()) / STATURE
    return times_a_person(character.skeleton, naming)


def with_type(rig: Rig, *, bulk: float | None = None, fat: float | None = None) -> Rig:
    """The rig with other numbers; None keeps those it has."""
    said = rig.spec.body_type
    with told_as_document_error(rig.source):
        new = BodyTypeSpec(
            bulk=said.bulk if bulk is None else float(bulk), fat=said.fat if fat is None else float(fat)
        )
    return replace(rig, spec=rig.spec.model_copy(update={"body_type": new}))


def with_bulk(rig: Rig) -> Rig:
    """The rig with its muscles as thick as its bulk says; meshes on lines become so when compiled."""
    bulk, muscles = rig.spec.body_type.bulk, rig.spec.muscles
    if bulk == 1.0:
        return rig
    thick = muscles.model_copy(
        update={
            "named": {name: _thick(one, bulk) for name, one in muscles.named.items()},
            "lofted": {name: _thick_loft(one, bulk) for name, one in muscles.lofted.items()},
        }
    )
    return replace(rig, spec=rig.spec.model_copy(update={"muscles": thick}))


def _thick(muscle: MuscleSpec, bulk: float) -> MuscleSpec:
    """A spindle, thicker between its ends."""
    (a, b, c, d), (e, f, g, h) = muscle.thickness
    thickness = (a, bulk * b, bulk * c, bulk * d), (bulk * e, bulk * f, bulk * g, h)
    return muscle.model_copy(update={"thickness": thickness})


def _thick_loft(muscle: LoftedMuscleSpec, bulk: float) -> LoftedMuscleSpec:
    """Its ellipses larger; the ends, to which it tapers, stay."""
    rings = tuple(
        ring.model_copy(update={"half_axes": (bulk * ring.half_axes[0], bulk * ring.half_axes[1])})
        for ring in muscle.rings
    )
    return muscle.model_copy(update={"rings": rings})


def _beneath(character: Character, rig: Rig, thick: Rig) -> Beneath | None:
    """Surfaces of all muscles at bind, as they were and as they are; None where there are none."""
    if not rig.spec.muscles.count:
        return None
    skeleton = character.skeleton
    still, points = np.zeros((skeleton.joint_count, 4, 4)), []
    lines = compile_lines(character, rig)
    for one in (rig, thick):
        muscles, scapulae = muscles_of(one, skeleton)
        lofted = lofted_muscles_of(one, skeleton)
        surfaces = EcorcheSurfaces(
            musculature(muscles, skeleton, scapulae) if muscles else None,
            Lofts(lofted, skeleton) if lofted else None,
            None if lines is None else lines.musculature,
        )
        meshes = None
        if lines is not None:
            # compiled, they have the rig's bulk; as designed they have none
            held = lines.musculature.muscles if one is rig else lines.musculature.meshes.muscles
            meshes = np.concatenate([muscle.points for muscle in held])
        points.append(surfaces.points(still, np.ones(len(muscles) + len(lofted)), meshes))
    parts = surfaces.muscle[surfaces.triangles[:, 0]].astype(np.int32)
    return Beneath(points[0], points[1], surfaces.triangles, parts)


def _with_points(character: Character, bind: Sequence[Points], points: Sequence[Points]) -> Character:
    """The character with other points at bind, and normals with them; meshes that did not move stay."""
    normals = Normals([mesh.mesh for mesh in character.meshes]).apply(list(points))
    meshes = []
    for mesh, old, new, drawn in zip(character.meshes, bind, points, normals, strict=True):
        if old is new or np.array_equal(old, new):
            meshes.append(mesh)
            continue
        at = mesh.mesh.points + _in_own_bind(mesh, new.astype(np.float64) - old)
        surface = replace(
            mesh.mesh,
            points=at.astype(np.float32),
            normals=None if mesh.mesh.normals is None else drawn,
        )
        meshes.append(replace(mesh, mesh=surface))
    return replace(character, meshes=tuple(meshes), cache=None)


def _in_own_bind(mesh: SkinnedMesh, moved: Floats) -> Floats:
    """Displacements (vertices, 3) at the character's bind, as seen from the pose a mesh was bound in."""
    if mesh.own_bind is None or mesh.weights is None:
        return moved
    vertex = np.repeat(np.arange(len(moved)), np.diff(mesh.weights.starts))
    turn = np.zeros((len(moved), 3, 3))
    np.add.at(turn, vertex, mesh.weights.weights[:, None, None] * mesh.own_bind[mesh.weights.joints, :3, :3])
    return np.asarray(np.linalg.solve(turn, moved[..., None])[..., 0])
