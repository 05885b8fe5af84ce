"""From glTF skins to one skeleton: joints, bind and rest poses.

A glTF skin states ``world_from_joint · inverse_bind`` per joint and never says where the mesh
stands while bound. With ``C_j = rest_world_j · inverse_bind_j``, the mesh stands at bind where the
rest pose puts it: all C_j agree where rest and bind are one pose. Where they do not, the C of the
topmost joint is taken. Any choice moves the skin alike; this one leaves points untouched wherever
C is the identity.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ecorche.base.checks import require_finite
from ecorche.base.names import unique
from ecorche.base.transforms import inverse
from ecorche.errors import ReadError
from ecorche.io.gltf.file import GltfFile
from ecorche.io.gltf.nodes import NodeTree
from ecorche.skeleton.skeleton import Skeleton, local_from_world, parents_first

Floats = npt.NDArray[np.float64]

SAME_PLACE = 1e-4
"""C matrices this close name one place; only which place is chosen depends on it."""

SAME_BIND = 1e-5
"""Another skin's bind matrices this close [m] to the character's are the same bind pose."""

AT_BIND = "ecorche_at_bind"
"""Extra of a skin whose points already stand where they should at bind: our own writer says so."""


@dataclass(frozen=True, eq=False)
class SkinBinding:
    """How a skin's mesh hangs on the skeleton.

    Attributes:
        joints: Our number of each joint the skin lists.
        place: ``character_from_mesh``, shape (4, 4).
        own_bind: See `SkinnedMesh`; None where the skin shares the character's bind pose.
    """

    joints: npt.NDArray[np.int64]
    place: Floats
    own_bind: Floats | None


@dataclass(frozen=True, eq=False)
class Rig:
    """The skeleton, which node each joint is, and each skin's binding."""

    skeleton: Skeleton
    nodes: list[int]
    joint_of_node: dict[int, int]
    bindings: dict[int, SkinBinding]


def read_rig(file: GltfFile, tree: NodeTree, skins: Sequence[int], moving: Iterable[int]) -> Rig:
    """The skeleton under the given skins, with every node above a joint or in ``moving``."""
    listed = {skin: _joint_nodes(file, skin) for skin in skins}
    wanted: dict[int, None] = {}
    for nodes in listed.values():
        wanted.update(dict.fromkeys(nodes))
    wanted.update(dict.fromkeys(moving))
    for node in list(wanted):
        wanted.update(dict.fromkeys(tree.ancestors(node)))
    chosen = list(wanted)
    number = {node: i for i, node in enumerate(chosen)}
    above = [next((number[a] for a in tree.ancestors(node)), -1) for node in chosen]
    order = parents_first(above, [str(n) for n in chosen])
    nodes = [chosen[i] for i in order]
    joint_of_node = {node: joint for joint, node in enumerate(nodes)}
    parents = np.array(
        [next((joint_of_node[a] for a in tree.ancestors(node)), -1) for node in nodes], np.int32
    )
    rest_world = tree.world[nodes]
    bind_world = np.full((len(nodes), 4, 4), np.nan)
    bindings = {}
    for skin, members in listed.items():
        file.reading = _skin_name(file, skin)
        joints = np.array([joint_of_node[n] for n in members], np.int64)
        extras = file.item("skins", skin).get("extras")
        at_bind = isinstance(extras, dict) and extras.get(AT_BIND) is True
        bindings[skin] = _bind(joints, _inverse_binds(file, skin, joints), rest_world, bind_world, at_bind)
    for joint, parent in enumerate(parents):
        if np.isnan(bind_world[joint]).any():
            rest = tree.local[nodes[joint]]
            bind_world[joint] = rest if parent < 0 else bind_world[parent] @ rest

    file.reading = "its joints"
    skeleton = Skeleton(
        names=_unique_names(file, tree, nodes),
        parents=parents,
        bind_local=local_from_world(parents, bind_world),
        rest_local=tree.local[nodes],
        tails=np.array([_tail(file, tree, node) for node in nodes]).reshape(-1, 3),
    )
    return Rig(skeleton, nodes, joint_of_node, bindings)


def _bind(
    joints: npt.NDArray[np.int64], inverse_bind: Floats, rest: Floats, bind: Floats, at_bind: bool
) -> SkinBinding:
    """Place one skin; fills the rows of ``bind`` (joints, 4, 4) nobody has filled before."""
    known = ~np.isnan(bind[joints, 0, 0])
    root = int(np.argmin(joints))
    own, tolerance = False, SAME_PLACE
    place = np.eye(4) if at_bind else rest[joints[root]] @ inverse_bind[root]
    if known.any():
        stands = bind[joints[known]] @ inverse_bind[known]
        own, tolerance = not _agree(stands, SAME_BIND), SAME_BIND
        place = place if own else stands[0]
    place = _snapped(place, tolerance)
    bind[joints[~known]] = place @ inverse(inverse_bind[~known])
    if not own:
        return SkinBinding(joints, place, None)
    own_bind = np.tile(np.eye(4), (len(bind), 1, 1))
    own_bind[joints] = bind[joints] @ inverse_bind @ inverse(place)
    return SkinBinding(joints, place, own_bind)


def _agree(matrices: Floats, tolerance: float) -> bool:
    return bool(np.abs(matrices - matrices[0]).max() <= tolerance)


def _snapped(place: Floats, tolerance: float) -> Floats:
    """The identity where ``place`` is within rounding of it, so that points keep their bits."""
    return np.eye(4) if np.abs(place - np.eye(4)).max() <= tolerance else place


def _skin_name(file: GltfFile, skin: int) -> str:
    return f"skin {skin} ({file.name(file.item('skins', skin), 'unnamed')})"


def _joint_nodes(file: GltfFile, skin: int) -> list[int]:
    file.reading = _skin_name(file, skin)
    joints = file.item("skins", skin).get("joints")
    if not isinstance(joints, list) or not joints:
        raise file.error("it lists no joints")
    for node in joints:
        file.item("nodes", node)
    if len(set(joints)) < len(joints):
        raise file.error("it lists a joint twice")
    return joints


def _inverse_binds(file: GltfFile, skin: int, joints: npt.NDArray[np.int64]) -> Floats:
    entry = file.item("skins", skin)
    if "inverseBindMatrices" not in entry:
        return np.tile(np.eye(4), (len(joints), 1, 1))
    flat = file.decoded(entry["inverseBindMatrices"], "MAT4")
    if len(flat) < len(joints):
        raise file.error(f"it has {len(flat)} inverse bind matrices for {len(joints)} joints")
    require_finite(flat, "inverse bind matrix", file.where(), ReadError)
    matrices = flat[: len(joints)].reshape(-1, 4, 4).transpose(0, 2, 1).astype(np.float64)
    if not np.allclose(matrices[:, 3], [0.0, 0.0, 0.0, 1.0], atol=1e-5):
        raise file.error("an inverse bind matrix is not affine: its last row must be 0 0 0 1")
    flat_joint = np.abs(np.linalg.det(matrices[:, :3, :3])) < 1e-18
    if flat_joint.any():
        raise file.error(
            f"inverse bind matrix {int(np.argmax(flat_joint))} has zero scale",
            "Give the joint a scale other than zero and export again",
        )
    return matrices


def _unique_names(file: GltfFile, tree: NodeTree, nodes: list[int]) -> tuple[str, ...]:
    """Joint names; one that appears twice gets a number, which is noted."""
    names: list[str] = []
    taken: set[str] = set()
    for node in nodes:
        name = unique(file.name(tree.entries[node], f"node_{node}"), taken)
        if name != tree.entries[node].get("name"):
            file.notes.append(
                f"joint node {node} is called {name!r}: its own name is missing or not its alone"
            )
        names.append(name)
    return tuple(names)


def _tail(file: GltfFile, tree: NodeTree, node: int) -> Floats:
    """The bone's tip, where the node's extras tell it."""
    extras = tree.entries[node].get("extras")
    if not isinstance(extras, dict) or "tail" not in extras:
        return np.full(3, np.nan)
    file.reading = f"the extras of node {node} ({file.name(tree.entries[node], 'unnamed')})"
    return file.floats(extras, "tail", 3, [])
