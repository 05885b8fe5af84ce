"""The bones as one mesh: closed surfaces, each wholly on one joint, the right side the left one's image."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ecorche.base.surface_nets import surface_net
from ecorche.body.figure.bone import Bone
from ecorche.body.figure.solids import Tube, distance, packed
from ecorche.skeleton.naming.vocabulary import mirrored

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

SPACING = 0.0062
"""Of the grid on which grown-together bones are sampled [m]."""
SOFTNESS = 0.0028
"""How softly the parts of a bone grow together [m]."""
SIDES = 8
"""Vertices round a bone that is one tube."""
CAP_RINGS = 2


@dataclass(frozen=True, eq=False)
class BoneSurface:
    """All bones.

    Attributes:
        points: Vertices [m], shape (vertices, 3).
        triangles: Vertex triples, counter-clockwise from outside, shape (triangles, 3).
        joints: The joint each vertex moves with, by name.
    """

    points: Floats
    triangles: Ints
    joints: tuple[str, ...]


def bone_surface(bones: list[Bone]) -> BoneSurface:
    """The surface of the left side's bones, of the middle's, and their mirror images."""
    points: list[Floats] = []
    triangles: list[Ints] = []
    joints: list[str] = []

    def add(places: Floats, faces: Ints, joint: str) -> None:
        triangles.append(faces + sum(map(len, points)))
        points.append(places)
        joints.extend([joint] * len(places))

    for bone in bones:
        middle = bone.joint[:2] not in ("l_", "r_")
        grown = bone.joined and len(bone.parts) > 1
        if grown and middle:
            add(*grown_surface(bone, both_sides=True), bone.joint)
            continue
        parts = [grown_surface(bone)] if grown else [tube_surface(part) for part in bone.parts]
        for places, faces in parts:
            add(places, faces, bone.joint)
            if not (middle and np.abs(places[:, 0]).min() < 1e-3 and abs(places[:, 0].mean()) < 1e-6):
                add(places * (-1.0, 1.0, 1.0), faces[:, ::-1], mirrored(bone.joint))
    return BoneSurface(np.concatenate(points), np.concatenate(triangles), tuple(joints))


def grown_surface(
    bone: Bone, spacing: float = SPACING, softness: float = SOFTNESS, *, both_sides: bool = False
) -> tuple[Floats, Ints]:
    """The parts of a bone as one surface; of the middle, with its other half.

    Args:
        bone: Its parts, and what is carved out of them.
        spacing: Of the grid on which they are sampled [m].
        softness: How softly they grow together [m].
        both_sides: Whether it lies in the middle.
    """
    solids = packed(bone.parts)
    low = (solids.bounds[:, :3] - solids.bounds[:, 3:]).min(axis=0) - 2.0 * spacing
    high = (solids.bounds[:, :3] + solids.bounds[:, 3:]).max(axis=0) + 2.0 * spacing
    if both_sides:
        high[0] = max(high[0], -low[0])
        low[0] = -spacing * (np.ceil(high[0] / spacing) + 0.5)
        high[0] = -low[0]
    count = np.ceil((high - low) / spacing - 1e-6).astype(int) + 1
    nodes = low + spacing * np.indices(count).reshape(3, -1).T
    if both_sides:
        nodes[:, 0] = np.abs(nodes[:, 0])
    field = distance(solids, nodes, softness)
    if bone.carved:
        field = np.maximum(field, -distance(packed(bone.carved), nodes, softness))
    net = surface_net(field.reshape(count))
    quads = net.quads
    return low + spacing * net.points, np.concatenate([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]])


def tube_surface(tube: Tube, sides: int = SIDES) -> tuple[Floats, Ints]:
    """A tube's own closed surface: rings on its stations, and rounded ends."""
    along = np.cross(tube.first, tube.second)
    along /= np.linalg.norm(along, axis=1, keepdims=True)
    step = np.diff(tube.centres, axis=0)
    forwards = 1.0 if len(step) == 0 or float((along[:-1] * step).sum()) > 0.0 else -1.0
    along = forwards * along
    slope = 0.5 * np.pi * np.arange(1, CAP_RINGS + 1) / (CAP_RINGS + 1)
    rows = [(0, -np.sin(a) * tube.cap[0], np.cos(a)) for a in slope[::-1]]
    rows += [(k, 0.0, 1.0) for k in range(len(tube.centres))]
    rows += [(-1, np.sin(a) * tube.cap[1], np.cos(a)) for a in slope]
    turn = 2.0 * np.pi * np.arange(sides) / sides * forwards
    rings = [
        tube.centres[k]
        + shift * along[k]
        + size * (np.cos(turn)[:, None] * tube.first[k] + np.sin(turn)[:, None] * tube.second[k])
        for k, shift, size in rows
    ]
    ends = [tube.centres[0] - tube.cap[0] * along[0], tube.centres[-1] + tube.cap[1] * along[-1]]
    points = np.concatenate([*rings, np.array(ends)])
    i, after = np.arange(sides), (np.arange(sides) + 1) % sides
    faces = []
    for ring in range(len(rows) - 1):
        a, b = ring * sides, (ring + 1) * sides
        faces += [
            np.stack([a + i, a + after, b + after], axis=1),
            np.stack([a + i, b + after, b + i], axis=1),
        ]
    first, last = len(rows) * sides, len(rows) * sides + 1
    faces.append(np.stack([np.full(sides, first), after, i], axis=1))
    top = (len(rows) - 1) * sides
    faces.append(np.stack([np.full(sides, last), top + i, top + after], axis=1))
    return points, np.concatenate(faces)
