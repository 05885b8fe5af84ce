"""The node tree of a glTF file: who hangs on whom, and where everything stands at rest."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ecorche.base.rotations import normalise
from ecorche.base.transforms import compose, decompose
from ecorche.io.gltf.file import GltfFile, Json

Floats = npt.NDArray[np.float64]

SCENE_ROOT = "ecorche_scene_root"
"""Extra of a node that only exists because glTF wants one root above several."""


@dataclass(frozen=True, eq=False)
class NodeTree:
    """All nodes of a file.

    Attributes:
        entries: The nodes' JSON.
        parents: Parent of each node, -1 at a root.
        order: All nodes, parents first.
        local, world: ``parent_from_node`` and ``world_from_node`` at rest, shape (nodes, 4, 4).
        in_scene: Whether the file's default scene shows the node.
    """

    entries: list[Json]
    parents: list[int]
    order: list[int]
    local: Floats
    world: Floats
    in_scene: list[bool]

    def ancestors(self, node: int) -> list[int]:
        """The nodes above, nearest first; not those only made to hold several roots together."""
        found = []
        while (node := self.parents[node]) >= 0:
            if not _is_scene_root(self.entries[node]):
                found.append(node)
        return found

    def parts(self, node: int) -> tuple[Floats, Floats, Floats]:
        """Translation, rotation xyzw and scale of a node at rest."""
        entry = self.entries[node]
        if "matrix" in entry:
            return decompose(self.local[node])
        return (
            np.array(entry.get("translation", [0.0, 0.0, 0.0]), np.float64),
            normalise(entry.get("rotation", [0.0, 0.0, 0.0, 1.0])),
            np.array(entry.get("scale", [1.0, 1.0, 1.0]), np.float64),
        )


def read_nodes(file: GltfFile) -> NodeTree:
    """The node tree; a node with two parents, or below itself, is refused."""
    entries = file.entries("nodes")
    parents = [-1] * len(entries)
    children: list[list[int]] = []
    for index, entry in enumerate(entries):
        file.reading = f"node {index} ({file.name(entry, 'unnamed')})"
        below = entry.get("children", [])
        if not isinstance(below, list):
            raise file.error("'children' is not a list")
        for child in below:
            file.item("nodes", child)
            if parents[child] >= 0:
                raise file.error(f"node {child} hangs on it and on node {parents[child]} at once")
            parents[child] = index
        children.append(below)
    order = [n for n, parent in enumerate(parents) if parent < 0]
    for node in order:  # grows while it is walked
        order.extend(children[node])
    if len(order) < len(entries):
        raise _cycle(file, parents, set(range(len(entries))) - set(order))

    local = np.empty((len(entries), 4, 4))
    world = np.empty((len(entries), 4, 4))
    for node in order:
        file.reading = f"node {node} ({file.name(entries[node], 'unnamed')})"
        local[node] = _local(file, entries[node])
        world[node] = local[node] if parents[node] < 0 else world[parents[node]] @ local[node]
    return NodeTree(entries, parents, order, local, world, _in_scene(file, children))


def _cycle(file: GltfFile, parents: list[int], loose: set[int]) -> Exception:
    """Nodes no root leads to go round in a circle somewhere above them."""
    node = min(loose)
    seen: list[int] = []
    while node not in seen:
        seen.append(node)
        node = parents[node]
    names = [file.name(file.entries("nodes")[n], str(n)) for n in [*seen[seen.index(node) :], node]]
    file.reading = "its nodes"
    return file.error(f"the node tree has a cycle: {' → '.join(reversed(names))}", "Give one another parent")


def _local(file: GltfFile, entry: Json) -> Floats:
    if "matrix" in entry:
        matrix = file.floats(entry, "matrix", 16, []).reshape(4, 4).T
        if not np.allclose(matrix[3], [0.0, 0.0, 0.0, 1.0], atol=1e-6):
            raise file.error("its matrix is not affine: the last row must be 0 0 0 1")
    else:
        rotation = file.floats(entry, "rotation", 4, [0.0, 0.0, 0.0, 1.0])
        if not np.linalg.norm(rotation) > 1e-6:
            raise file.error("its rotation is a quaternion of length zero")
        matrix = compose(
            file.floats(entry, "translation", 3, [0.0, 0.0, 0.0]),
            normalise(rotation),
            file.floats(entry, "scale", 3, [1.0, 1.0, 1.0]),
        )
    return matrix


def _in_scene(file: GltfFile, children: list[list[int]]) -> list[bool]:
    """Which nodes the default scene shows; all of them where the file has no scene."""
    scenes = file.entries("scenes")
    if not scenes:
        return [True] * len(children)
    file.reading = "its scene"
    todo = list(file.item("scenes", file.json.get("scene", 0)).get("nodes", []))
    shown = [False] * len(children)
    for node in todo:  # grows while it is walked
        file.item("nodes", node)
        if not shown[node]:
            shown[node] = True
            todo.extend(children[node])
    return shown


def _is_scene_root(entry: Json) -> bool:
    extras = entry.get("extras")
    plain = not any(part in entry for part in ("matrix", "translation", "rotation", "scale"))
    return plain and isinstance(extras, dict) and extras.get(SCENE_ROOT) is True
