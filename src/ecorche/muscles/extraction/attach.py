"""From rings in space to a muscle: where it is attached, what it bends round, how its rings lie on that.

Text 001, "Muscle Deformation": the root curve goes on at both ends to the nearest point of a bone. The text
leaves open to which bone; on its own bone alone a muscle would never change its length. Here a muscle that
shows up to near a joint goes on across it, to the next bone, within a stated distance of the joint and on the
side of it where the muscle lies: behind the elbow, at the heel. It bends over a sphere at one hinge it
crosses, on its own side; one that winds round its bone bends round a cylinder along it. Both radii are a
stated share of the skin's distance from the bone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from ecorche.base.rotations import normalise
from ecorche.muscles.extraction.laying import NO_RINGS, laid
from ecorche.muscles.extraction.limbs import LimbBone
from ecorche.muscles.extraction.rings import SpaceRings
from ecorche.muscles.lofted import LoftedMuscle, Wrap
from ecorche.skeleton.skeleton import Skeleton

Floats = npt.NDArray[np.float64]

NEAR = 0.2
"""A muscle crosses a joint if it shows up to within this share of its bone of where its region ends there."""
BEYOND_BALL, BEYOND_HINGE = (0.06, 0.3), ((0.0, 0.03), (0.05, 0.15))
"""How far beyond a joint it is attached, from and to, in lengths of its own bone; origins hardly beyond a
hinge, for condyles and epicondyles lie on its axis: further up they would draw a forearm's muscles out at the
crook."""
IN_BEND = 0.15, 0.2
"""The same of insertions inside a bend, in lengths of the bone beyond: the biceps' at the radius, 4 to 5 cm
below the elbow. Nearer ones would lose their lever as the joint closes."""
Crossing = Literal["ball", "bends", "free"]
"""How a muscle crosses a joint: the ball a limb begins with; a hinge that it bends round; another hinge."""
NEXT = 5
"""So many rings next to an end tell on which side of the bone it lies."""
SURFACE = 0.3
"""A bone's surface lies at this share of the skin's distance from its axis."""
OBSTACLE = 0.5
"""Radius of sphere and cylinder, share of the skin's distance from the bone's axis."""
LEVER = 0.6
"""How far beside a joint it crosses freely a muscle is attached at most, share of the skin's distance."""
BENT = np.sin(np.radians(12.0))
"""Sine of the angle between two bones that tells which way their joint bends."""
IN_THE_BEND = 0.5
"""A muscle that lies to the bend's inside or outside by this cosine is attached there."""
WINDING = np.radians(75.0)
"""A muscle that turns about its bone by more winds round it."""


@dataclass(frozen=True, eq=False)
class Attachment:
    """One end of a muscle: the joint it moves with and where it is [m], shape (3,)."""

    joint: int
    place: Floats


def limb_muscle(
    name: str, bone: LimbBone, rings: SpaceRings, region: tuple[float, float], skeleton: Skeleton, first: bool
) -> LoftedMuscle:
    """The muscle of rings across one bone of a limb.

    Args:
        name: Its name.
        bone: The bone.
        rings: Its ellipses, from the bone's start to its end.
        region: Where the bone's sections begin and end, shares of the bone.
        skeleton: The character's joints.
        first: Whether the bone is its limb's first: then its hinge is its end, else its start.
    """
    sides = (
        _mean_direction(bone, rings.top if first else rings.top[:NEXT]),
        _mean_direction(bone, rings.top[-NEXT:]),
    )
    skin = _from_axis(bone, rings.top)
    crosses = (
        bone.before >= 0 and rings.along[0] <= max(region[0], 0.0) + NEAR,
        bone.after >= 0 and rings.along[-1] >= min(region[1], 1.0) - 1.5 * NEAR,
    )
    if not any(crosses):
        nearer_start = bone.after < 0 or rings.along[0] - region[0] < region[1] - rings.along[-1]
        crosses = bone.before >= 0 and nearer_start, bone.after >= 0 and not nearer_start
    bends_at_end = bool(crosses[1] and (first or not crosses[0]))
    kinds: tuple[Crossing, Crossing] = ("free", "bends") if bends_at_end else ("bends", "free")
    ends = (
        _end(bone, rings, skeleton, sides[0], skin, 0, crosses[0], "ball" if first else kinds[0]),
        _end(bone, rings, skeleton, sides[1], skin, -1, crosses[1], kinds[1]),
    )
    wrap, crossing = _obstacle(bone, rings, sides[bends_at_end], skin, any(crosses), bends_at_end, skeleton)
    reach = dict.fromkeys((*bone.joints, ends[0].joint, ends[1].joint))
    return on_root_curve(name, bone.full_name, ends, rings, wrap, crossing, tuple(reach))


def _from_axis(bone: LimbBone, points: Floats) -> Floats:
    """Distances of points from a bone's axis [m]."""
    away = points - bone.start
    away = away - (away @ bone.axis)[:, None] * bone.axis
    return np.asarray(np.linalg.norm(away, axis=1))


def _mean_direction(bone: LimbBone, points: Floats) -> Floats:
    away = points - bone.start
    away = normalise(away - (away @ bone.axis)[:, None] * bone.axis)
    mean: Floats = away.mean(axis=0)
    return normalise(mean) if np.linalg.norm(mean) > 1e-6 else bone.front


def _end(
    bone: LimbBone,
    rings: SpaceRings,
    skeleton: Skeleton,
    side: Floats,
    skin: Floats,
    which: int,
    crosses: bool,
    kind: Crossing,
) -> Attachment:
    """Origin (which = 0) or insertion (−1): the extended line of centres' nearest point of the bone.

    Over a joint that it bends round, a muscle ends close to the bone; over a hinge that it crosses freely, as
    far beside it as it lies beside its own bone: so it keeps its lever.
    """
    last, onward = rings.centre[which], _onward(rings, which)
    height = SURFACE * float(skin[which])
    if not crosses:
        hinge = bone.end if which else bone.start
        place = _nearest_on_segment(last, onward, bone.start, bone.end, bone.length)
        if (place - last) @ (hinge - last) <= 0.0:  # not back under the belly
            place = 0.5 * (hinge + bone.start + ((last - bone.start) @ bone.axis) * bone.axis)
        return Attachment(bone.joints[0], place + height * side)
    joint = bone.after if which else bone.before
    hinge = bone.end if which else bone.start
    tip = skeleton.tail_positions()[joint] if which else skeleton.bind_world[joint, :3, 3]
    direction = tip - hinge
    reach = float(np.linalg.norm(direction))
    if kind == "free":
        height = max(height, min(float(_from_axis(bone, last[None])[0]), LEVER * float(skin[which])))
    if reach < 1e-6:
        return Attachment(joint, hinge + height * side)
    direction = direction / reach
    inside = 0.0
    if kind != "ball":  # which bends every way
        side, inside = _side_of_bend(side, bone.axis if which else -bone.axis, direction)
    beyond = BEYOND_BALL if kind == "ball" else BEYOND_HINGE[which]
    low, high = (
        min(share * bone.length, limit * reach) for share, limit in zip(beyond, (0.3, 0.8), strict=True)
    )
    if which and inside > 0.0:
        low, high = max(low, IN_BEND[0] * reach), max(high, IN_BEND[1] * reach)
    # a bone that turns away from the muscle's side is met behind the joint, as the heel is
    away = float(side @ direction)
    onto = direction - min(away, 0.0) * side
    place = _nearest_on_segment(last, onward, hinge + low * onto, hinge + high * onto, bone.length)
    out = side - max(away, 0.0) * direction
    out = normalise(out) if np.linalg.norm(out) > 0.1 else side
    return Attachment(joint, place + height * out)


def _side_of_bend(side: Floats, along: Floats, onward: Floats) -> tuple[Floats, float]:
    """On which side of a joint a muscle is attached that lies on one side of its own bone.

    Where bones (``along`` up to the joint, ``onward`` behind it) stand at an angle it is the inside (1) or
    the outside (−1) of the bend, as olecranon and heel are; one that lies square to it stays beside (0).
    """
    inside = onward - (onward @ along) * along
    if np.linalg.norm(inside) < BENT:
        return side, 0.0
    inside = normalise(inside)
    share = float(side @ inside)
    sign = float(np.sign(share)) if abs(share) >= IN_THE_BEND else 0.0
    return (sign * inside if sign else side), sign


def _nearest_on_segment(point: Floats, onward: Floats, start: Floats, end: Floats, reach: float) -> Floats:
    """The point of a segment that is nearest to a line drawn on from a point by so much [m]."""
    shares = np.linspace(0.0, 1.0, 65)[:, None]
    places = start + shares * (end - start)
    ahead = np.clip((places - point) @ onward, 0.0, reach)
    gaps = np.linalg.norm(places - point - ahead[:, None] * onward, axis=1)
    nearest: Floats = places[int(np.argmin(gaps))]
    return nearest


def _obstacle(
    bone: LimbBone,
    rings: SpaceRings,
    side: Floats,
    skin: Floats,
    crosses: bool,
    at_end: bool,
    skeleton: Skeleton,
) -> tuple[Wrap | None, Floats]:
    """What the root curve bends round, and the hinge it crosses [m]."""
    hinge = bone.end if at_end else bone.start
    radius = OBSTACLE * float(skin[-1] if at_end else skin[0])
    away = rings.top - bone.start
    angle = np.unwrap(np.arctan2(away @ np.cross(bone.axis, bone.front), away @ bone.front))
    if abs(angle[-1] - angle[0]) > WINDING:
        sense = float(np.sign(angle[-1] - angle[0]))
        round_bone = Wrap(
            "cylinder", bone.joints[0], bone.start, sense * bone.axis, OBSTACLE * float(skin.min())
        )
        return round_bone, hinge
    if not crosses:
        return None, hinge
    # the axis a hinge bends about belongs to the bone above, whatever twists below
    above = int(skeleton.parents[bone.after if at_end else bone.joints[0]])
    return Wrap("sphere", above, hinge, np.cross(side, bone.axis), radius), hinge


def _onward(rings: SpaceRings, which: int) -> Floats:
    """Unit vector along which the line of centres goes on beyond its first (0) or last (−1) ring."""
    inner = int(np.clip(2 if which == 0 else -3, -len(rings.centre), len(rings.centre) - 1))
    way = rings.centre[which] - rings.centre[inner]
    whole = rings.centre[-1] - rings.centre[0]
    if np.linalg.norm(way) < 1e-9:
        way = whole if which else -whole
    return normalise(way)


def on_root_curve(
    name: str,
    group: str,
    ends: tuple[Attachment, Attachment],
    rings: SpaceRings,
    wrap: Wrap | None,
    hinge: Floats,
    reach: tuple[int, ...],
) -> LoftedMuscle:
    """The muscle whose root curve runs between two ends, with its rings laid on that curve."""
    places = np.stack([ends[0].place, ends[1].place])
    joints, outward = (ends[0].joint, ends[1].joint), rings.outward.mean(axis=0)
    bare = LoftedMuscle(name, name, group, joints, places, outward, NO_RINGS, wrap, reach=reach)
    return laid(bare, rings, hinge)
