"""Groups of muscles on the trunk, the surfaces that cut each, and the skin each may read.

Text 001, "Profile Curves of Skin Model": the torso has muscle groups that follow different directions, two
centred at the shoulders, one round the neck, one along the abdomen, each with cutting surfaces of its own.

- Shoulders and hips: spheres about the joint; muscles of chest, back and haunch converge on it.
- Limb roots, "caps": the muscle over the joint (deltoid) turns with the limb; planes fan from the girdle to
  the limb. Where the limb folds in the midplane's direction, as a dog's, planes across its first bone.
- Neck: planes across it; left and right of it planes fan from the skull's base out to the shoulder.
- Abdomen: parallel planes along the trunk's axis.

The text leaves open what part of the skin a group may read. Here: skin of the trunk's own joints (by its
largest weight), on the group's side of the midplane and a little beyond, within its reach.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from ecorche.muscles.extraction.cutting_surfaces import (
    CuttingSurfaces,
    fan_along,
    planes_along,
    spheres_about,
)
from ecorche.muscles.extraction.pieces import pieces_of
from ecorche.muscles.extraction.trunk_plan import LimbRoot, TrunkPlan
from ecorche.skeleton.skeleton import Skeleton

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

BEYOND_MIDDLE = 0.25
"""How far over the midplane a side's sections go on, in half-widths, so that their ends are sure."""
WIDE = 2.2
"""How far from the bones skin of a neck or limb root is read, as a multiple of its thickness there."""
FEWEST_VERTICES = 60
"""Regions with less skin are left to plain skinning."""


@dataclass(frozen=True, eq=False)
class MuscleGroup:
    """What makes a region: see `TrunkRegion`; the vertices it may read, and between which levels."""

    surfaces: CuttingSurfaces
    within: Bools
    reach: tuple[float, float]
    width: float
    goals: tuple[int, int] = (-1, -1)
    round: bool = False
    cap: Floats | None = None


class TrunkSkin:
    """The skin of a trunk, measured."""

    def __init__(
        self, points: Floats, triangles: Ints, dominant: Ints, skeleton: Skeleton, plan: TrunkPlan
    ) -> None:
        self.points, self.triangles, self.plan = points, _outside_out(points, triangles), plan
        self.heads: Floats = skeleton.bind_world[:, :3, 3]
        self.part: Ints = plan.part[dominant]
        self.normals = _normals(points, self.triangles)
        self.pieces = pieces_of(triangles, len(points))
        self.side: Floats = (points - plan.start) @ plan.left
        own = points[self.part == 0]
        self.width = typical_distance(own, plan.start, plan.end)

    def on_side(self, side: int) -> Bools:
        """Vertices on a side, with those a little beyond the midplane."""
        beyond: Bools = side * self.side > -BEYOND_MIDDLE * self.width
        return beyond


def muscle_groups(skin: TrunkSkin) -> list[tuple[str, int, MuscleGroup | str]]:
    """Every group of muscles by its name and side: surfaces, vertices, levels, half-width; or why not."""
    plan = skin.plan
    groups: list[tuple[str, int, MuscleGroup | str]] = []
    shoulders = [r for r in plan.roots if r.kind == "shoulder"]
    for root in plan.roots:
        groups.append((root.name, root.side, _about(skin, root)))
        groups.append((f"{root.name} cap", root.side, _over(skin, root)))
    for side, name in ((1, "left"), (-1, "right")):
        groups += [
            (f"{name} neck to shoulder", side, _neck_to_shoulder(skin, r))
            for r in shoulders
            if r.side == side
        ]
        groups.append((f"{name} neck", side, _neck(skin)))
        groups.append((f"{name} abdomen", side, _abdomen(skin)))
    return groups


def _about(skin: TrunkSkin, root: LimbRoot) -> MuscleGroup | str:
    """Spheres about a shoulder or hip."""
    plan, points = skin.plan, skin.points
    ball, following = skin.heads[root.ball], skin.heads[root.next]
    bone = float(np.linalg.norm(following - ball))
    if bone < 1e-6 * skin.width:
        return "the limb's first bone has no length"
    limb = skin.part == plan.limb(root)
    down = (points - ball) @ (following - ball) / bone
    inner = root.side * (ball - plan.start) @ plan.left
    if inner < 0.05 * skin.width:
        return "the joint lies in the midplane"
    within = ((skin.part == 0) | (skin.part == 1) | (limb & (down < 0.25 * bone))) & skin.on_side(root.side)
    pole = plan.start + ((ball - plan.start) @ plan.axis) * plan.axis - ball
    length = float(np.linalg.norm(plan.end - plan.start))
    surfaces = spheres_about(ball, pole, plan.axis)
    # muscles of chest and back go to the shoulder from afar; above a hip those of the abdomen begin
    far = 1.2 if root.kind == "shoulder" else 0.6
    reach = 0.3 * inner, min(0.65 * length, inner + far * skin.width)
    return MuscleGroup(surfaces, within, reach, skin.width, (root.ball, -1))


def _over(skin: TrunkSkin, root: LimbRoot) -> MuscleGroup | str:
    """Planes that turn with the muscle over a shoulder or hip."""
    plan, points = skin.plan, skin.points
    ball, following = skin.heads[root.ball], skin.heads[root.next]
    bone = float(np.linalg.norm(following - ball))
    if bone < 1e-6 * skin.width:
        return "the limb's first bone has no length"
    if root.kind == "hip" and abs(float(plan.axis @ (following - ball))) > 0.8 * bone:
        return "the leg goes on along the trunk, so that its own sections show what lies over the hip"
    limb = skin.part == plan.limb(root)
    if int(limb.sum()) < FEWEST_VERTICES:
        return "the limb has no skin"
    thick = typical_distance(
        points[limb & (((points - ball) @ (following - ball)) < 0.7 * bone**2)], ball, following
    )
    width = float(np.sqrt(thick * skin.width))
    before = plan.start + ((ball - plan.start) @ plan.axis) * plan.axis
    fan = fan_along(before, ball, following, 1.5 * thick)
    folds = fan is not None and abs(float(fan.axis @ plan.left)) > 0.7
    way = np.stack([before, ball, following])
    near = distance_from_way(points, *way) < WIDE * thick
    own = ((skin.part == 0) | limb) & skin.on_side(root.side) & near
    if fan is None or folds:
        planes = planes_along(ball, following, root.side * plan.left)
        outer = root.side * (points - ball) @ plan.left > -0.2 * thick
        return MuscleGroup(planes, own & outer, (0.0, 0.8 * bone), width, (-1, root.ball), cap=way)
    within = own & (fan.beside(points) > 0.8 * fan.radius)
    bend = fan.radius * fan.turn
    return MuscleGroup(fan, within, (0.4 * bend, bend + 0.6 * bone), width, (-1, root.ball), cap=way)


def _neck(skin: TrunkSkin) -> MuscleGroup | str:
    """Planes across the neck."""
    measured = _measured_neck(skin)
    if isinstance(measured, str):
        return measured
    base, skull, length, thick = measured
    planes = planes_along(base, skull, skin.plan.left)
    near = distance_from_way(skin.points, base, skull) < WIDE * thick
    steep = np.abs(skin.normals @ planes.frame[2]) > 0.6
    near &= ~(steep & (planes.values(skin.points) > 0.4 * length))  # not the underside of the jaw
    throat = (skin.part == 2) & (
        distance_from_way(skin.points, base, skull) < 1.3 * thick
    )  # moves with the head
    within = ((skin.part <= 1) | throat) & near
    return MuscleGroup(
        planes, within, (-0.2 * length, 0.9 * length), thick, (-1, skin.plan.neck[-1]), round=True
    )


def _neck_to_shoulder(skin: TrunkSkin, root: LimbRoot) -> MuscleGroup | str:
    """Planes across the neck that turn outwards to the shoulder."""
    points = skin.points
    measured = _measured_neck(skin)
    if isinstance(measured, str):
        return measured
    base, skull, length, thick = measured
    shoulder = skin.heads[root.ball]
    fan = fan_along(skull, base, shoulder, 1.6 * thick)
    if fan is None:
        return "the shoulders lie straight below the neck, whose own sections show the muscles to them"
    before = length - fan.radius * float(np.tan(0.5 * fan.turn))
    after = float(np.linalg.norm(shoulder - base)) - (length - before)
    near = distance_from_way(points, skull, base, shoulder) < WIDE * thick
    within = (skin.part <= 1) & skin.on_side(root.side) & near & (fan.beside(points) > 0.2 * fan.radius)
    reach = (-before - 0.3 * thick, fan.radius * fan.turn + max(0.8 * after, 0.0))
    width = float(np.sqrt(thick * skin.width))
    return MuscleGroup(fan, within, reach, width, (skin.plan.neck[-1], -1), round=True)


def _measured_neck(skin: TrunkSkin) -> tuple[Floats, Floats, float, float] | str:
    """The neck's base and the skull's [m], how long and how thick it is [m]; or why there is none."""
    plan = skin.plan
    if len(plan.neck) < 2:
        return "there is no neck between the trunk and the head"
    base, skull = skin.heads[plan.neck[0]], skin.heads[plan.neck[-1]]
    length = float(np.linalg.norm(skull - base))
    if length < 0.05 * skin.width:
        return "the neck has no length"
    thick = typical_distance(skin.points[skin.part == 1], base, skull)
    if thick <= 0.0:
        return "no skin is moved by the neck's joints"
    return base, skull, length, thick


def _abdomen(skin: TrunkSkin) -> MuscleGroup:
    """Parallel planes along the trunk."""
    plan = skin.plan
    length = float(np.linalg.norm(plan.end - plan.start))
    planes = planes_along(plan.start, plan.end, plan.left)
    return MuscleGroup(planes, skin.part == 0, (0.05 * length, 0.6 * length), skin.width)


def _outside_out(points: Floats, triangles: Ints) -> Ints:
    """The triangles, turned where the skin as a whole is inside out."""
    corners = points[triangles]
    corners = corners - corners.reshape(-1, 3).sum(axis=0) / max(3 * len(corners), 1)
    volume = float(np.sum(corners[:, 0] * np.cross(corners[:, 1], corners[:, 2])))
    return triangles if volume >= 0.0 else triangles[:, ::-1]


def _normals(points: Floats, triangles: Ints) -> Floats:
    """Unit normals of the skin's vertices, (V, 3)."""
    corners = points[triangles]
    faces = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normals = np.stack(
        [np.bincount(triangles.ravel(), np.repeat(faces[:, k], 3), len(points)) for k in range(3)], axis=1
    )
    unit: Floats = normals / np.maximum(np.linalg.norm(normals, axis=1), 1e-18)[:, None]
    return unit


def distance_from_way(points: Floats, *way: Floats) -> Floats:
    """How far points are from a polyline [m], (P,)."""
    gaps = []
    for start, end in pairwise(way):
        along = end - start
        share = np.clip((points - start) @ along / max(float(along @ along), 1e-18), 0.0, 1.0)
        gaps.append(np.linalg.norm(points - start - share[:, None] * along, axis=1))
    nearest: Floats = np.min(gaps, axis=0)
    return nearest


def typical_distance(points: Floats, start: Floats, end: Floats) -> float:
    """How far points are from the line between two others, in the middle [m]; 0 where there are none."""
    if len(points) == 0:
        return 0.0
    return float(np.median(distance_from_way(points, start, end)))
