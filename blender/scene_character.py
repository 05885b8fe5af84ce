"""An armature and the meshes on it as a character: metres, +Y up, whatever scale and place they have.

Lengths are those of the scene: an armature's even scale and the scene's unit count. The character's space is
the armature's own, turned upright, so that moving the armature as a whole changes nothing.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from .joint_tree import joint_parents
from .messages import SceneError, package

Y_UP = np.array([[1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.0, -1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]])
"""From Blender's axes, z up, to ours."""
EVEN = 1e-4
"""How far an even scale may be from even."""
DEFORMING = {
    *(
        "ARMATURE",
        "CAST",
        "CORRECTIVE_SMOOTH",
        "CURVE",
        "DISPLACE",
        "HOOK",
        "LAPLACIANDEFORM",
        "LAPLACIANSMOOTH",
    ),
    *(
        "LATTICE",
        "MESH_CACHE",
        "MESH_DEFORM",
        "SHRINKWRAP",
        "SIMPLE_DEFORM",
        "SMOOTH",
        "SURFACE_DEFORM",
        "WARP",
    ),
    *("WAVE", "NORMAL_EDIT", "WEIGHTED_NORMAL", "UV_PROJECT", "UV_WARP", "VERTEX_WEIGHT_EDIT"),
    *("VERTEX_WEIGHT_MIX", "VERTEX_WEIGHT_PROXIMITY", "DATA_TRANSFER"),
}
"""Modifiers that keep every vertex."""


@dataclass(frozen=True, eq=False)
class SceneCharacter:
    """A character and where it comes from.

    Attributes:
        armature: The armature object.
        meshes: The mesh objects, in the order of the character's meshes.
        bones: Names of the bones that are joints.
        scale: Metres in a unit of the armature's own space.
        character: The character.
        notes: What a person should know, a sentence each.
    """

    armature: Any
    meshes: tuple[Any, ...]
    bones: tuple[str, ...]
    scale: float
    character: Any
    notes: tuple[str, ...]

    def joint_world(self, armature: Any) -> np.ndarray:
        """Where the joints are in a posed armature [m], (joints, 4, 4), in the order of ``bones``."""
        return joint_matrices(np.array([armature.pose.bones[bone].matrix for bone in self.bones]), self.scale)

    def offsets_in(self, thing: Any, offsets: np.ndarray) -> np.ndarray:
        """Offsets of the character [m] (n, 3) in a mesh object's own space."""
        linear = self.object_from_character(thing)[:3, :3]
        return np.asarray(offsets, np.float64) @ linear.T

    def object_from_character(self, thing: Any, armature_moved: np.ndarray | None = None) -> np.ndarray:
        """From the character's space [m] to a mesh object's own, (4, 4).

        ``armature_moved`` is where the armature was when the character's space was said to be that of its
        first frame.
        """
        world = matrix(self.armature.matrix_world) if armature_moved is None else armature_moved
        back = np.linalg.inv(Y_UP) @ np.diag([1 / self.scale] * 3 + [1.0])
        return np.linalg.inv(matrix(thing.matrix_world)) @ world @ back


def matrix(value: Any) -> np.ndarray:
    """One of Blender's matrices, (4, 4)."""
    return np.array(value, np.float64)


def joint_matrices(bones: np.ndarray, scale: float) -> np.ndarray:
    """Matrices in the armature's space (..., 4, 4) as joints in metres, +Y up."""
    world = Y_UP @ np.asarray(bones, np.float64)
    world[..., :3, 3] *= scale
    return world


def armature_of(context: Any) -> Any:
    """The armature that is meant: the active object, or the one whose Armature modifier it has."""
    thing = context.object
    if thing is not None and thing.type == "ARMATURE":
        return thing
    if thing is not None and thing.type == "MESH":
        for modifier in thing.modifiers:
            if modifier.type == "ARMATURE" and modifier.object is not None:
                return modifier.object
    raise SceneError("no armature is active", "Select one, or a mesh that an Armature modifier moves")


def follows(thing: Any, armature: Any) -> bool:
    """Whether an armature moves a mesh object."""
    if thing.type != "MESH":
        return False
    return any(m.type == "ARMATURE" and m.object == armature for m in thing.modifiers) or (
        thing.parent == armature and thing.parent_type == "ARMATURE"
    )


def armature_place(thing: Any, armature: Any) -> int:
    """Number of the modifier by which an armature moves a mesh, -1 where parenting alone does."""
    return next(
        (n for n, m in enumerate(thing.modifiers) if m.type == "ARMATURE" and m.object == armature), -1
    )


def read_scene_character(armature: Any, scene: Any) -> SceneCharacter:
    """The character that an armature and the meshes on it are."""
    ecorche = package()
    if armature.library is not None:
        raise SceneError(
            f"the armature {armature.name!r} is linked from another file", "Make it local, or append it"
        )
    if armature.mode == "EDIT":
        raise SceneError(f"the armature {armature.name!r} is in edit mode", "Leave it first: Tab")
    scale = metres_per_unit(armature, scene)
    bones = [bone for bone in armature.data.bones if bone.use_deform]
    if not bones:
        raise SceneError(
            f"no bone of the armature {armature.name!r} deforms", "Switch Deform on for those that move skin"
        )
    number = {bone.name: n for n, bone in enumerate(bones)}
    things = sorted((o for o in scene.objects if follows(o, armature)), key=lambda o: o.name)
    if not things:
        raise SceneError(
            f"no mesh follows the armature {armature.name!r}",
            "Parent one to it with weights: Ctrl P › Armature Deform",
        )
    notes: list[str] = []
    meshes = [_mesh(ecorche, thing, armature, number, scale, notes) for thing in things]
    rest = joint_matrices(np.array([bone.matrix_local for bone in bones]), scale)
    tails = np.array([bone.tail_local for bone in bones]) @ Y_UP[:3, :3].T * scale
    character = ecorche.character_from_arrays(
        armature.name,
        joints=[bone.name for bone in bones],
        parents=joint_parents(bones, list(armature.data.bones)),
        bind_world=rest,
        tails=tails,
        meshes=meshes,
        up_axis="Z",
        metres_per_unit=scale,
        source=armature.name,
    )
    if curved := bendy_bones(armature):
        notes.append(f"{len(curved)} bendy bones count as straight for muscles: {', '.join(curved[:3])}")
    return SceneCharacter(
        armature, tuple(things), tuple(bone.name for bone in bones), scale, character, tuple(notes)
    )


def bendy_bones(armature: Any) -> list[str]:
    """Names of the deforming bones that curve."""
    return [bone.name for bone in armature.data.bones if bone.use_deform and bone.bbone_segments > 1]


def metres_per_unit(armature: Any, scene: Any) -> float:
    """Metres in a unit of an armature's own space; an uneven scale is refused."""
    linear = matrix(armature.matrix_world)[:3, :3]
    lengths = np.linalg.norm(linear, axis=0)
    mean = float(lengths.mean())
    apply = "Apply it to armature and meshes: Object › Apply › Scale (Ctrl A)"
    if mean == 0.0 or np.linalg.det(linear) <= 0.0:
        raise SceneError(f"the armature {armature.name!r} is mirrored or has no size", apply)
    if np.abs(linear.T @ linear / mean**2 - np.eye(3)).max() > EVEN:
        told = " × ".join(f"{length:.4g}" for length in lengths)
        raise SceneError(f"the armature {armature.name!r} has an uneven scale, {told}", apply)
    units = scene.unit_settings
    return mean * (1.0 if units.system == "NONE" else units.scale_length)


def _mesh(
    ecorche: Any, thing: Any, armature: Any, number: dict[str, int], scale: float, notes: list[str]
) -> Any:
    """One mesh object as arrays in the character's space."""
    mesh = thing.data
    if mesh.library is not None:
        raise SceneError(f"the mesh of {thing.name!r} is linked from another file", "Make it local")
    if thing.mode == "EDIT":
        raise SceneError(f"{thing.name!r} is in edit mode", "Leave it first: Tab")
    if len(mesh.polygons) == 0:
        raise SceneError(f"{thing.name!r} has no faces", "Remove its Armature modifier, or give it a surface")
    place = armature_place(thing, armature)
    for modifier in thing.modifiers[: max(place, 0)]:
        if modifier.show_viewport and modifier.type not in DEFORMING:
            raise SceneError(
                f"the modifier {modifier.name!r} of {thing.name!r} makes other vertices before the armature"
                " moves them",
                "Apply it, or move it below the Armature modifier",
            )
    character_from_object = np.diag([scale] * 3 + [1.0]) @ Y_UP @ np.linalg.inv(matrix(armature.matrix_world))
    character_from_object = character_from_object @ matrix(thing.matrix_world)
    linear = character_from_object[:3, :3]
    if abs(np.linalg.det(linear)) < 1e-18:
        raise SceneError(f"{thing.name!r} has no size in some direction", "Give it a scale other than 0")
    keys = mesh.shape_keys
    points = _coordinates(mesh.vertices if keys is None else keys.reference_key.data, len(mesh.vertices))
    counts, corners = np.empty(len(mesh.polygons), np.int32), np.empty(len(mesh.loops), np.int32)
    mesh.polygons.foreach_get("loop_total", counts)
    mesh.loops.foreach_get("vertex_index", corners)
    if np.linalg.det(linear) < 0.0:  # a mirrored object shows its faces turned round
        counts, corners = counts[::-1], corners[::-1]
    modifier = thing.modifiers[place] if place >= 0 else None
    if modifier is not None and modifier.use_bone_envelopes:
        notes.append(f"{thing.name!r}: bone envelopes are left to Blender, muscles know vertex groups alone")
    preserve = modifier is not None and modifier.use_deform_preserve_volume
    return ecorche.MeshArrays(
        thing.name,
        points @ linear.T + character_from_object[:3, 3],
        counts,
        corners,
        _weights(thing, number),
        skinning="dual_quaternion" if preserve else None,
        shapes=_shapes(keys, points, linear),
    )


def _coordinates(items: Any, count: int) -> np.ndarray:
    flat = np.empty(3 * count, np.float32)
    items.foreach_get("co", flat)
    return flat.reshape(-1, 3).astype(np.float64)


def _weights(thing: Any, number: dict[str, int]) -> tuple[list[int], list[int], list[float]]:
    """Vertices, joints and weights of the groups that have a deforming bone's name."""
    joint = {group.index: number[group.name] for group in thing.vertex_groups if group.name in number}
    vertices: list[int] = []
    joints: list[int] = []
    weights: list[float] = []
    bare = 0
    for vertex in thing.data.vertices:
        total = 0.0
        for entry in vertex.groups:
            if entry.group in joint and entry.weight > 0.0:
                vertices.append(vertex.index)
                joints.append(joint[entry.group])
                weights.append(entry.weight)
                total += entry.weight
        bare += total <= 0.0
    if bare:
        raise SceneError(
            f"{bare} of {len(thing.data.vertices)} vertices of {thing.name!r} follow no bone",
            "Give them weights: in edit mode Select › All by Trait › Ungrouped Vertices shows those without"
            " any group",
        )
    return vertices, joints, weights


def _shapes(keys: Any, points: np.ndarray, linear: np.ndarray) -> dict[str, np.ndarray]:
    """Offsets of a mesh's shape keys in the character's space [m], by name."""
    if keys is None or not keys.use_relative:
        return {}
    found = {}
    for block in keys.key_blocks:
        if block == keys.reference_key or block.name.startswith("Ecorche "):
            continue
        base = _coordinates(block.relative_key.data, len(points))
        found[block.name] = (_coordinates(block.data, len(points)) - base) @ linear.T
    return found
