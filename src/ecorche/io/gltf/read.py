"""A glTF file as a character: the parts put together, and what was found on the way."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ecorche.base.names import unique
from ecorche.base.transforms import inverse
from ecorche.body.character import Character, SkinnedMesh
from ecorche.errors import MotionError, ReadError
from ecorche.io.gltf.file import GltfFile
from ecorche.io.gltf.materials import read_images, read_materials
from ecorche.io.gltf.meshes import Surface, placed, read_surface
from ecorche.io.gltf.motion import clip_names, moved_nodes, read_motions
from ecorche.io.gltf.nodes import NodeTree, read_nodes
from ecorche.io.gltf.skeleton import Rig, SkinBinding, read_rig
from ecorche.skeleton.motion import Motion
from ecorche.skin.weights import SkinWeights, rigid_weights, weights_from_table


def character_of(file: GltfFile) -> Character:
    """Everything an opened file says about a character."""
    tree = read_nodes(file)
    holders = _mesh_nodes(file, tree)
    skins = sorted({tree.entries[n]["skin"] for n in holders if "skin" in tree.entries[n]})
    unbound = not skins  # a skeleton, and meshes that know nothing of it
    skins = skins or list(range(len(file.entries("skins"))))
    if not skins:
        raise ReadError(
            "no mesh in it has a skin: there is no skeleton to move it",
            where=file.path.name,
            remedy="Bind a mesh to a skeleton and export it with its weights",
        )
    moved = moved_nodes(file)
    rigid = [n for n in holders if "skin" not in tree.entries[n]]
    rig = read_rig(file, tree, skins, _moving_rigid(tree, rigid, moved))

    meshes: list[SkinnedMesh] = []
    morphs: dict[int, list[tuple[str, str]]] = {}
    taken: set[str] = set()
    for node in holders:
        entry = tree.entries[node]
        fallback = file.name(file.item("meshes", entry["mesh"]), f"mesh_{entry['mesh']}")
        name = unique(file.name(entry, fallback), taken)
        surface = read_surface(file, entry, name)
        if surface is None:
            continue
        file.reading = f"mesh {name!r}"
        if "skin" in entry:
            binding = rig.bindings[entry["skin"]]
            mesh = _skinned(file, surface, binding, rig.skeleton.joint_count)
            if mesh.weights is not None:
                _note_idle_joints(file, rig.skeleton.names, binding, mesh.weights, name)
        elif unbound:
            mesh = SkinnedMesh(placed(surface.mesh, _clean(tree.world[node])), None)
        else:
            mesh = _rigid(surface, node, tree, rig)
        meshes.append(mesh)
        morphs[node] = [(name, m.name) for m in mesh.mesh.morphs]
    images, image_numbers = read_images(file)
    materials = read_materials(file, image_numbers)
    motions = read_motions(file, tree, rig, morphs)
    made = Character(
        name=file.path.stem,
        skeleton=rig.skeleton,
        meshes=tuple(meshes),
        motions=tuple(motions),
        materials=materials,
        images=images,
        notes=tuple(file.notes),
        source=str(file.path),
    )
    if any(mesh.weights is not None for mesh in meshes):
        return made
    from ecorche.body.automatic_weights import with_automatic_weights

    return with_automatic_weights(made)


def motion_of(file: GltfFile, clip: str | None) -> Motion:
    """One clip of an opened file; a file without any mesh is welcome."""
    tree = read_nodes(file)
    rig = read_rig(file, tree, range(len(file.entries("skins"))), sorted(moved_nodes(file)))
    morphs: dict[int, list[tuple[str, str]]] = {}
    for node in _mesh_nodes(file, tree):
        surface = read_surface(file, tree.entries[node], file.name(tree.entries[node], f"mesh_{node}"))
        if surface is not None:
            morphs[node] = [(surface.mesh.name, m.name) for m in surface.mesh.morphs]
    names = clip_names(file)
    if not names:
        raise MotionError("it holds no animation", where=file.path.name, remedy="Export it with one")
    listed = ", ".join(map(repr, names))
    if clip is None and len(names) > 1:
        raise MotionError(
            f"it holds {len(names)} clips", where=file.path.name, remedy=f"Choose one: {listed}"
        )
    if clip is not None and clip not in names:
        raise MotionError(
            f"there is no clip {clip!r}", where=file.path.name, remedy=f"Choose one of {listed}"
        )
    motions = read_motions(file, tree, rig, morphs, clip)
    if not motions:
        raise MotionError(
            f"its clip {clip or names[0]!r} moves no joint", where=file.path.name, remedy="Choose another"
        )
    return motions[0]


def _mesh_nodes(file: GltfFile, tree: NodeTree) -> list[int]:
    """Nodes of the default scene that hold a mesh; others are noted."""
    found = []
    for node, entry in enumerate(tree.entries):
        if "mesh" not in entry:
            continue
        file.reading = f"node {node} ({file.name(entry, 'unnamed')})"
        file.item("meshes", entry["mesh"])
        if "skin" in entry:
            file.item("skins", entry["skin"])
        if tree.in_scene[node]:
            found.append(node)
        else:
            file.notes.append(
                f"mesh node {file.name(entry, str(node))!r} is not in the scene and is left out"
            )
    return found


def _moving_rigid(tree: NodeTree, rigid: list[int], moved: set[int]) -> list[int]:
    """Nodes that must be joints because a mesh without a skin moves with them."""
    return sorted({n for mesh in rigid for n in [mesh, *tree.ancestors(mesh)] if n in moved})


def _skinned(file: GltfFile, surface: Surface, binding: SkinBinding, joint_count: int) -> SkinnedMesh:
    if (surface.joints is None or surface.weights is None) and binding.own_bind is None:
        return SkinnedMesh(placed(surface.mesh, binding.place), None)
    if surface.joints is None or surface.weights is None:
        raise file.error("it has a skin but no JOINTS_0 and WEIGHTS_0", "Export it with its skin weights")
    used = surface.weights > 0.0
    beyond = used & (surface.joints >= len(binding.joints))
    if beyond.any():
        vertex = int(np.argmax(beyond.any(axis=1)))
        raise file.error(
            f"vertex {vertex} follows joint {int(surface.joints[beyond][0])}, but the skin has only"
            f" {len(binding.joints)} joints"
        )
    joints = binding.joints[np.where(used, surface.joints, 0)]
    weights = weights_from_table(joints, surface.weights, joint_count, file.where())
    if weights.normalised:
        file.notes.append(
            f"mesh {surface.mesh.name!r}: the weights of {weights.normalised} vertices did not sum to one"
            " and were normalised"
        )
    return SkinnedMesh(placed(surface.mesh, binding.place), weights, binding.own_bind)


def _rigid(surface: Surface, node: int, tree: NodeTree, rig: Rig) -> SkinnedMesh:
    """A mesh without a skin: fixed to the joint above it, or standing still."""
    joint = next(
        (rig.joint_of_node[n] for n in [node, *tree.ancestors(node)] if n in rig.joint_of_node), None
    )
    if joint is None:
        return SkinnedMesh(placed(surface.mesh, _clean(tree.world[node])), None)
    below = inverse(tree.world[rig.nodes[joint]]) @ tree.world[node]
    place = _clean(rig.skeleton.bind_world[joint] @ below)
    weights = rigid_weights(surface.mesh.vertex_count, joint)
    return SkinnedMesh(placed(surface.mesh, place), weights)


def _clean(place: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """The identity where rounding alone keeps ``place`` from it."""
    return np.eye(4) if np.abs(place - np.eye(4)).max() < 1e-7 else place


def _note_idle_joints(
    file: GltfFile, names: tuple[str, ...], binding: SkinBinding, weights: SkinWeights, mesh: str
) -> None:
    """Joints a mesh's skin lists although they move none of its vertices."""
    idle = [names[j] for j in np.setdiff1d(binding.joints, weights.joints)]
    if idle:
        listed = ", ".join(idle[:8]) + (" …" if len(idle) > 8 else "")
        file.notes.append(
            f"mesh {mesh!r}: {len(idle)} of the {len(binding.joints)} joints of its skin move no vertex"
            f" ({listed})"
        )
