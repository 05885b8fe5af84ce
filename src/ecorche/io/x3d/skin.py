"""The meshes of an H-Anim humanoid: its continuous skin, the shapes on its segments, and scenery.

The skin is one set of points; each joint lists the points it moves and how much. The shapes of
the skin only join these points to faces. A file of ours notes which points belong to which
mesh; in another's file the skin is one mesh, with a subset of faces a shape.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ecorche.base.mesh import Attribute, FaceSubset, Mesh
from ecorche.base.names import unique
from ecorche.base.transforms import transform_points
from ecorche.body.character import SkinnedMesh
from ecorche.io.x3d.nodes import (
    DISPLACERS,
    HUMANOIDS,
    MOST_NODES,
    Floats,
    Node,
    Scene,
    metadata,
    strings_of,
)
from ecorche.io.x3d.shapes import Ints, Looks, Polygons, points_of, polygons, shape_name, uv_attribute
from ecorche.io.x3d.skeleton import Humanoid
from ecorche.skin.weights import SkinWeights, weights_from_entries

Entries = tuple[Ints, Ints, Floats]
"""Points of the skin, joints that move them, and how much."""


@dataclass(frozen=True, eq=False)
class _Part:
    """A shape of the skin, over points ``start`` to ``start + count`` of it."""

    shape: Node
    faces: Polygons
    start: int
    count: int
    written: bool  # by us, with these notes
    subset: str | None  # the name of the subset it was
    places: Ints | None  # the number each face had in its mesh


def read_meshes(
    scene: Scene, humanoid: Humanoid, looks: Looks
) -> tuple[tuple[SkinnedMesh, ...], tuple[SkinnedMesh, ...]]:
    """The skin's meshes, without weights where no joint lists its points; and all others.

    These are first the shapes on segments, then what stands about in the scene.
    """
    taken: set[str] = set()
    skin = _skin_meshes(scene, humanoid, looks, taken)
    meshes: list[SkinnedMesh] = []
    joints = humanoid.skeleton.joint_count
    for shape, joint, place in humanoid.shapes:
        name = shape_name(shape) or (humanoid.skeleton.names[joint] if joint >= 0 else "shape")
        mesh = _plain_mesh(scene, humanoid, looks, shape, place, unique(name, taken))
        if mesh is None:
            continue
        weights = None
        if joint >= 0:
            count = mesh.vertex_count
            weights = weights_from_entries(
                np.arange(count), np.full(count, joint), np.ones(count), count, joints, scene.path.name
            )
        meshes.append(SkinnedMesh(mesh, weights))
    unit = np.diag([scene.metres_per_unit] * 3 + [1.0])
    for node, world in scene.walk():
        if node.kind == "Shape":
            name = unique(shape_name(node) or "shape", taken)
            mesh = _plain_mesh(scene, humanoid, looks, node, unit @ world, name)
            if mesh is not None:
                meshes.append(SkinnedMesh(mesh, None))
    return tuple(skin), tuple(meshes)


def _plain_mesh(
    scene: Scene, humanoid: Humanoid, looks: Looks, shape: Node, place: Floats, name: str
) -> Mesh | None:
    """A shape with points of its own, brought to its place in the world."""
    geometry = shape.first("geometry")
    faces = None if geometry is None else polygons(scene, geometry)
    if geometry is None or faces is None:
        kind = "empty" if geometry is None else geometry.kind
        humanoid.notes.append(f"the {kind} shape in line {shape.line} is no polygon mesh and was not read")
        return None
    points = points_of(scene, faces.coordinates)
    _require_points(scene, faces, 0, len(points), shape)
    _tell_dropped(humanoid, faces, geometry)
    if np.linalg.det(place[:3, :3]) < 0.0:
        humanoid.notes.append(f"mesh {name!r} stands in a mirroring transform; its faces look inwards")
    return Mesh(
        name,
        transform_points(place, points).astype(np.float32),
        faces.counts.astype(np.int32),
        faces.corners.astype(np.int32),
        uv=None if faces.uv is None else uv_attribute(faces.uv, faces.corners, len(points)),
        material=looks.number(shape),
    )


def _tell_dropped(humanoid: Humanoid, faces: Polygons, geometry: Node) -> None:
    if faces.dropped:
        humanoid.notes.append(
            f"{faces.dropped} faces with fewer than three corners were left out (line {geometry.line})"
        )


def _require_points(scene: Scene, faces: Polygons, start: int, count: int, shape: Node) -> None:
    bad = (faces.corners < start) | (faces.corners >= start + count)
    if bad.any():
        first, last = int(faces.corners[np.argmax(bad)]), start + count - 1
        raise scene.error(f"a face wants point {first}, but only {start} to {last} exist", shape.line)


def _skin_meshes(scene: Scene, humanoid: Humanoid, looks: Looks, taken: set[str]) -> list[SkinnedMesh]:
    coordinates = humanoid.node.first("skinCoord")
    if coordinates is None:
        return []
    points = transform_points(humanoid.world, points_of(scene, coordinates)).astype(np.float32)
    if not len(points):
        return []
    entries = _entries(scene, humanoid, len(points))
    parts = _parts(scene, humanoid, coordinates, len(points))
    meshes = []
    groups = sorted({(p.start, p.count) for p in parts}) or [(0, len(points))]
    for start, count in groups:
        own = [p for p in parts if (p.start, p.count) == (start, count)]
        skin = None if entries is None else _weights(scene, humanoid, entries, start, count)
        name = (shape_name(own[0].shape) if own and (len(own) == 1 or own[0].written) else None) or "skin"
        if skin is not None and skin.normalised:
            humanoid.notes.append(
                f"the weights of {skin.normalised} vertices of {name!r} did not sum to one: normalised"
            )
        normals = _normals(scene, humanoid, start, count, len(points))
        mesh = _skin_mesh(looks, own, points[start : start + count], start, unique(name, taken), normals)
        meshes.append(SkinnedMesh(mesh, skin))
    return meshes


def _weights(scene: Scene, humanoid: Humanoid, entries: Entries, start: int, count: int) -> SkinWeights:
    """Those of some points of the skin that follow each other."""
    vertices, joints, weights = entries
    own = (vertices >= start) & (vertices < start + count)
    joint_count = humanoid.skeleton.joint_count
    return weights_from_entries(
        vertices[own] - start, joints[own], weights[own], count, joint_count, scene.path.name
    )


def _entries(scene: Scene, humanoid: Humanoid, count: int) -> Entries | None:
    """Every (point, joint, weight) of the skin; points no joint moves are given to the root.

    None where no joint moves any.
    """
    rows: list[Ints] = []
    joints: list[Ints] = []
    weights: list[Floats] = []
    for number, joint in enumerate(humanoid.joints):
        index = scene.integers(joint, "skinCoordIndex")
        weight = scene.floats(joint, "skinCoordWeight", 1)[:, 0]
        if not len(weight):
            weight = np.ones(len(index))
        _require_entries(scene, joint, humanoid.skeleton.names[number], index, weight, count)
        rows.append(index)
        joints.append(np.full(len(index), number))
        weights.append(weight)
    vertex, weight = np.concatenate(rows), np.concatenate(weights)
    if not weight.any():
        return None
    alone = np.flatnonzero(np.bincount(vertex, weights=weight, minlength=count) <= 0.0)
    if len(alone):
        humanoid.notes.append(
            f"{len(alone)} points of the skin are moved by no joint and were given to the root"
        )
    return (
        np.concatenate([vertex, alone]),
        np.concatenate([*joints, np.zeros(len(alone), np.int64)]),
        np.concatenate([weight, np.ones(len(alone))]),
    )


def _require_entries(scene: Scene, joint: Node, name: str, index: Ints, weight: Floats, count: int) -> None:
    """Refuse a joint's list of points and weights that does not fit the skin."""
    if len(index) != len(weight):
        raise scene.error(f"joint {name!r} lists {len(index)} points but {len(weight)} weights", joint.line)
    bad = (index < 0) | (index >= count)
    if bad.any():
        first = int(index[np.argmax(bad)])
        raise scene.error(f"joint {name!r} moves point {first}, but only 0 to {count - 1} exist", joint.line)
    if (weight < 0.0).any():
        raise scene.error(f"joint {name!r} has a negative weight", joint.line, "Repaint the weights")


def _parts(scene: Scene, humanoid: Humanoid, coordinates: Node, count: int) -> list[_Part]:
    """The shapes of the skin that join the skin's own points."""
    parts = []
    pile = list(reversed(humanoid.node.below("skin")))
    seen = 0
    while pile:
        node = pile.pop()
        seen += 1
        if seen > MOST_NODES:
            raise scene.error("the skin unfolds to too many nodes", node.line)
        if node.kind in (*HUMANOIDS, *DISPLACERS):
            continue
        if node.kind != "Shape":
            pile.extend(reversed(node.below("children")))
            continue
        geometry = node.first("geometry")
        faces = None if geometry is None else polygons(scene, geometry)
        if geometry is None or faces is None or faces.coordinates is not coordinates:
            humanoid.notes.append(
                f"the shape in line {node.line} of the skin does not use the skin's points and was not read"
            )
            continue
        _tell_dropped(humanoid, faces, geometry)
        part = _part(scene, node, geometry, faces, count)
        _require_points(scene, faces, part.start, part.count, node)
        parts.append(part)
    return parts


def _part(scene: Scene, shape: Node, geometry: Node, faces: Polygons, count: int) -> _Part:
    """A shape of the skin with what our own writer noted: its points, subset and face numbers."""
    points, numbers, subset = (metadata(geometry, what) for what in ("points", "faces", "subset"))
    start, number, places = 0, count, None
    if points is not None:
        given = scene.integers(points, "value")
        if len(given) != 2 or given[0] < 0 or given[1] < 1 or given[0] + given[1] > count:
            raise scene.error("the points noted for this mesh do not exist", points.line)
        start, number = int(given[0]), int(given[1])
    if numbers is not None:
        places = scene.integers(numbers, "value")
        if len(places) != len(faces.counts):
            raise scene.error(f"{len(places)} numbers are noted for {len(faces.counts)} faces", numbers.line)
    name = None if subset is None else next(iter(strings_of(subset, "value")), None)
    return _Part(shape, faces, start, number, points is not None, name, places)


def _skin_mesh(
    looks: Looks,
    parts: Sequence[_Part],
    points: npt.NDArray[np.float32],
    start: int,
    name: str,
    normals: npt.NDArray[np.float32] | None,
) -> Mesh:
    """One mesh of one or more shapes, faces in the order they had when we wrote them."""
    materials = [looks.number(p.shape) for p in parts]
    empty = np.zeros(0, np.int64)
    counts = np.concatenate([empty, *(p.faces.counts for p in parts)])
    corners = np.concatenate([empty, *(p.faces.corners - start for p in parts)])
    order = np.arange(len(counts))
    noted = [p.places for p in parts if p.places is not None]
    if parts and len(noted) == len(parts):
        places = np.concatenate(noted)
        if np.array_equal(np.sort(places), np.arange(len(counts))):
            order = np.argsort(places)
    place_of = np.argsort(order)
    shuffle = _corner_order(counts, order)
    borders = np.cumsum([0, *(len(p.faces.counts) for p in parts)])
    subsets: list[FaceSubset] = []
    material = None
    for i, (part, look) in enumerate(zip(parts, materials, strict=True)):
        faces = np.sort(place_of[borders[i] : borders[i + 1]]).astype(np.int32)
        called = part.subset
        if called is None and not part.written and len(parts) > 1:
            called = shape_name(part.shape) or f"shape_{i}"
        if called is None:
            material = look
        else:
            subsets.append(FaceSubset(called, faces, look))
    return Mesh(
        name,
        points,
        counts[order].astype(np.int32),
        corners[shuffle].astype(np.int32),
        normals=normals,
        uv=_skin_uv(parts, corners, shuffle, len(points)),
        subsets=tuple(subsets),
        material=material,
        double_sided=bool(materials)
        and all(m is not None and looks.materials[m].double_sided for m in materials),
    )


def _corner_order(counts: Ints, order: Ints) -> Ints:
    """Places of all corners when whole faces are put in another order."""
    starts = np.cumsum(counts) - counts
    sizes = counts[order]
    begin = np.repeat(starts[order], sizes)
    step = np.arange(int(sizes.sum())) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    places: Ints = begin + step
    return places


def _skin_uv(parts: Sequence[_Part], corners: Ints, shuffle: Ints, vertices: int) -> Attribute | None:
    found = [p.faces.uv for p in parts]
    if not found or any(uv is None for uv in found):
        return None
    tables = [uv[0] for uv in found if uv is not None]
    shared = all(np.array_equal(table, tables[0]) for table in tables)
    offsets = np.zeros(len(tables), np.int64) if shared else np.cumsum([0, *map(len, tables[:-1])])
    values = tables[0] if shared else np.concatenate(tables)
    chosen = np.concatenate([uv[1] + o for uv, o in zip(found, offsets, strict=True) if uv is not None])
    return uv_attribute((values, chosen[shuffle]), corners[shuffle], vertices)


def _normals(
    scene: Scene, humanoid: Humanoid, start: int, count: int, total: int
) -> npt.NDArray[np.float32] | None:
    """The skin's own normals, one a point, where the file gives them."""
    node = humanoid.node.first("skinNormal")
    if node is None:
        return None
    vectors = scene.floats(node, "vector", 3)
    if len(vectors) != total:
        return None
    turned = vectors @ np.linalg.inv(humanoid.world[:3, :3])
    length = np.linalg.norm(turned, axis=1, keepdims=True)
    if (length <= 0.0).any():
        return None
    identity = np.array_equal(humanoid.world, np.eye(4))
    result: npt.NDArray[np.float32] = (vectors if identity else turned / length)[
        start : start + count
    ].astype(np.float32)
    return result
