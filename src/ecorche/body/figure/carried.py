"""The built-in figure's bones, and what fills it beside them, carried to the joints of another humanoid.

Parts of the body are told in the frames of `muscles.template.segments`, which mean the same on anybody: what
is firm in the figure goes from its frames to those of the other. Parts that the other has no joints for are
left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt

from ecorche.base.rotations import matrix_from_xyzw, normalise, shortest_arc_xyzw
from ecorche.body.figure.axial_bones import axial_bones
from ecorche.body.figure.bone_mesh import bone_surface
from ecorche.body.figure.ecorche import Ecorche, figure_firm
from ecorche.body.figure.limb_bones import limb_bones
from ecorche.body.figure.skeleton import figure_skeleton
from ecorche.body.fit_for_muscles import times_a_person
from ecorche.muscles.template.segments import segment_frames, segments
from ecorche.skeleton.naming.recognise import Naming, recognise
from ecorche.skeleton.skeleton import Skeleton
from ecorche.skin.weights import SkinWeights, weights_from_table

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

_SEGMENTS = {"humanoid_root": "sacroiliac", "vt7": "vt1", "vc7": "vt1"}
"""By which segment a joint's parts go, where it is not the one of its name."""
_KNUCKLES = tuple(f"metacarpophalangeal_{ray}" for ray in (2, 3, 4, 5))
NEAREST, FALLS = 3, 6
"""Pads of hands and feet go with so many bones of the figure, the less the farther, with this power."""


@dataclass(frozen=True, eq=False)
class CarriedParts:
    """What is firm in a humanoid that has no bones of its own.

    Attributes:
        points: Vertices at bind [m], (V, 3).
        triangles: (T, 3).
        weights: What moves each vertex.
        carries: Whether skin above a vertex moves with it, (V,).
    """

    points: Floats
    triangles: Ints
    weights: SkinWeights
    carries: npt.NDArray[np.bool_]


def carried_parts(skeleton: Skeleton, naming: Naming) -> CarriedParts | None:
    """The figure's firm parts at a humanoid's joints; None where it has no part of the body we know."""
    figure, firm = figure_skeleton(), _firm()
    maps, joints = _maps(figure, skeleton, naming)
    known = np.array([name in maps for name in figure.names])
    own = np.array([figure.index(name) for name in firm.joints])
    kept = known[own[firm.triangles]].all(axis=1)
    if not kept.any():
        return None
    used = np.unique(firm.triangles[kept])
    number = np.full(len(own), -1)
    number[used] = np.arange(len(used))
    carriers, shares = _shares(figure, firm, own, known)
    carriers, shares = carriers[used], shares[used]
    table = np.stack([maps.get(name, np.eye(4)) for name in figure.names])
    blended = np.einsum("vk,vkij->vij", shares, table[carriers])
    points = np.einsum("vij,vj->vi", blended[:, :3, :3], firm.points[used]) + blended[:, :3, 3]
    to = np.array([joints.get(name, 0) for name in figure.names])
    weights = weights_from_table(to[carriers], shares, skeleton.joint_count, "carried bones")
    return CarriedParts(points, number[firm.triangles[kept]], weights, firm.carries[used])


@cache
def _firm() -> Ecorche:
    figure = figure_skeleton()
    heads = dict(zip(figure.names, figure.bind_world[:, :3, 3], strict=True))
    tips = dict(zip(figure.names, figure.tail_positions(), strict=True))
    return figure_firm(figure, bone_surface([*axial_bones(heads), *limb_bones(heads, tips)]))


def _maps(figure: Skeleton, skeleton: Skeleton, naming: Naming) -> tuple[dict[str, Floats], dict[str, int]]:
    """Of joints of the figure: from its space to the other's, (4, 4), and the joint there that carries."""
    here, there = segment_frames(figure, recognise(figure)), segments(skeleton, naming)
    heads, tips = figure.bind_world[:, :3, 3], figure.tail_positions()
    other_heads, other_tips = skeleton.bind_world[:, :3, 3], skeleton.tail_positions()
    size = times_a_person(skeleton, naming) / times_a_person(figure, recognise(figure))
    maps: dict[str, Floats] = {}
    joints: dict[str, int] = {}
    for joint, name in enumerate(figure.names):
        segment = _SEGMENTS.get(name, name)
        side, part = name[:2], name[2:]
        above = figure.names[int(figure.parents[joint])]
        digit = "carpal" in part or part.startswith(("metacarpo", "metatarso"))
        fingers = all(naming.joint(side + knuckle) is not None for knuckle in _KNUCKLES)
        mitten = naming.joint(f"{side}{_KNUCKLES[0]}") if part.startswith(_KNUCKLES) and not fingers else None
        same = naming.joint(name)
        if segment in here and segment in there and not (digit and "carp" in part and part != "radiocarpal"):
            maps[name] = _like(there[segment].frame, here[segment], segment, size) @ np.linalg.inv(
                here[segment]
            )
            joints[name] = there[segment].joint if same is None else same
        elif digit and above in maps:
            maps[name], joints[name] = maps[above], joints[above] if mitten is None else mitten
            if same is not None and fingers:
                # the finger's own joint and direction
                turned = maps[above][:3, :3] @ (tips[joint] - heads[joint])
                arc = shortest_arc_xyzw(normalise(turned), normalise(other_tips[same] - other_heads[same]))
                linear = matrix_from_xyzw(arc) @ maps[above][:3, :3]
                maps[name] = np.eye(4)
                maps[name][:3, :3] = linear
                maps[name][:3, 3] = other_heads[same] - linear @ heads[joint]
                joints[name] = same
    return maps, joints


def _like(there: Floats, here: Floats, segment: str, size: float) -> Floats:
    """The other's frame with the breadth and depth of limbs by the body's size, not by their length.

    Rigs put hips and shoulders nearer to each other or farther apart than a person's are; half of that is
    believed of the pelvis.
    """
    frame = there.copy()
    across = np.linalg.norm(here[:3, :3], axis=0) * size / np.linalg.norm(there[:3, :3], axis=0)
    if segment == "sacroiliac":
        frame[:3, 0] *= 0.5 * (1.0 + across[0])
    elif segment[:2] in ("l_", "r_") and not segment.endswith("clavicular"):
        frame[:3, [0, 2]] *= across[[0, 2]]
    return frame


def _shares(figure: Skeleton, firm: Ecorche, own: Ints, known: npt.NDArray[np.bool_]) -> tuple[Ints, Floats]:
    """Which of the figure's joints each vertex goes with, and how much, both (V, 3): bones with one."""
    carriers, shares = np.tile(own[:, None], (1, NEAREST)), np.zeros((len(own), NEAREST))
    shares[:, 0] = 1.0
    heads, tips = figure.bind_world[:, :3, 3], figure.tail_positions()
    for name in ("l_radiocarpal", "r_radiocarpal", "l_talocrural", "r_talocrural"):
        root = figure.index(name)
        below = [root]
        for joint in range(root + 1, figure.joint_count):
            if figure.parents[joint] in below and known[joint]:
                below.append(joint)
        rows = np.flatnonzero((own == root) & ~firm.carries)
        far = np.stack([_distance(firm.points[rows], heads[j], tips[j]) for j in below], axis=1)
        near = np.argsort(far, axis=1, kind="stable")[:, :NEAREST]
        share = np.zeros((len(rows), NEAREST))
        share[:, : near.shape[1]] = np.take_along_axis(np.maximum(far, 1e-4), near, axis=1) ** -FALLS
        carriers[rows[:, None], np.arange(near.shape[1])] = np.array(below)[near]
        shares[rows] = share / share.sum(axis=1, keepdims=True)
    return carriers, shares


def _distance(points: Floats, start: Floats, end: Floats) -> Floats:
    """From points (n, 3) to a segment [m], (n,)."""
    way = end - start
    along = np.clip((points - start) @ way / max(float(way @ way), 1e-12), 0.0, 1.0)
    return np.asarray(np.linalg.norm(points - start - along[:, None] * way, axis=1))
