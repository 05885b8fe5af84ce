"""Muscles found in the skin, changed as a person asks: made larger, attached elsewhere, two made one.

Text 001, "Muscle Extraction": the user may merge and edit what was found. A muscle is taken into space as it
lies at bind, changed there, and laid on a root curve again.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from ecorche.base.rotations import normalise
from ecorche.errors import EcorcheError
from ecorche.muscles.extraction.attach import Attachment
from ecorche.muscles.extraction.laying import laid
from ecorche.muscles.extraction.rings import SpaceRings
from ecorche.muscles.loft import loft
from ecorche.muscles.loft_frames import bind_axes
from ecorche.muscles.lofted import LoftedMuscle, Wrap
from ecorche.skeleton.skeleton import Skeleton

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

STATIONS, SIDES = 65, 48
"""Of a muscle's surface when it is made one with another."""
PLANES = 15
"""Across two muscles that become one."""


def space_rings_of(muscle: LoftedMuscle) -> SpaceRings:
    """The rings of a muscle in space, as it lies at bind."""
    rings = muscle.rings
    axes = bind_axes(muscle, rings.u)
    basis = np.stack([axes.out, axes.side], axis=1)
    cosine, sine = np.cos(rings.angle), np.sin(rings.angle)
    turn = np.stack([np.stack([cosine, -sine], axis=-1), np.stack([sine, cosine], axis=-1)], axis=-2)
    form = (turn * rings.half_axes[:, None, :] ** 2) @ np.swapaxes(turn, -1, -2)
    centre = axes.points + np.einsum("rk,rkx->rx", rings.centre, basis)
    top = centre + np.sqrt(form[:, 0, 0])[:, None] * axes.out
    return SpaceRings(top, centre, np.einsum("rkx,rkl,rly->rxy", basis, form, basis), axes.out, rings.u)


def resized(muscle: LoftedMuscle, factor: float) -> LoftedMuscle:
    """The muscle so many times as thick; its outer face stays where it is, under the skin."""
    rings = muscle.rings
    cosine, sine = np.cos(rings.angle), np.sin(rings.angle)
    out = np.hypot(rings.half_axes[:, 0] * cosine, rings.half_axes[:, 1] * sine)
    centre = rings.centre + np.column_stack([(1.0 - factor) * out, np.zeros(len(out))])
    return replace(muscle, rings=replace(rings, centre=centre, half_axes=factor * rings.half_axes))


def reattached(muscle: LoftedMuscle, which: Literal[0, 1], joint: int, skeleton: Skeleton) -> LoftedMuscle:
    """The muscle with its origin (0) or insertion (1) on another bone, as high over it as over its own.

    The end goes to the bone's point that is nearest to the muscle's last ring; the rings stay where they are.
    """
    ends = [Attachment(j, place) for j, place in zip(muscle.joints, muscle.ends, strict=True)]
    rings = space_rings_of(muscle)
    last = rings.centre[-which]
    place = on_bone(last, joint, skeleton)
    old = on_bone(ends[which].place, ends[which].joint, skeleton)
    height = float(np.linalg.norm(ends[which].place - old))
    out = rings.outward[-which]
    ends[which] = Attachment(joint, place + min(height, 0.5 * float(np.linalg.norm(last - place))) * out)
    return redrawn(muscle, (ends[0], ends[1]), rings, skeleton)


def redrawn(
    muscle: LoftedMuscle, ends: tuple[Attachment, Attachment], rings: SpaceRings, skeleton: Skeleton
) -> LoftedMuscle:
    """The muscle with other ends or rings: it bends over the joint it crosses as it did before."""
    hinge = crossed_joint(
        (ends[0].joint, ends[1].joint), bind_axes(muscle, [muscle.crossing]).points[0], skeleton
    )
    wrap = muscle.wrap
    if wrap is not None and wrap.shape != "cylinder":
        is_ball, socket = wrap.shape == "ball", int(skeleton.parents[hinge])
        wrap = sphere_over(hinge, wrap.radius, rings, ends, skeleton)
        if wrap is not None and is_ball and socket >= 0:
            wrap = replace(wrap, shape="ball", joint=socket)
    reach = tuple(dict.fromkeys((*muscle.reach, ends[0].joint, ends[1].joint)))
    made = laid(
        replace(
            muscle,
            joints=(ends[0].joint, ends[1].joint),
            ends=np.stack([ends[0].place, ends[1].place]),
            outward=rings.outward.mean(axis=0),
            wrap=wrap,
            reach=reach,
        ),
        rings,
        skeleton.bind_world[hinge, :3, 3],
    )
    if not len(made.rings.u):
        raise EcorcheError(
            "none of its rings lies between its ends",
            where=f"muscle {muscle.name!r}",
            remedy="Choose an end on the other side of its belly",
        )
    return made


def sphere_over(
    joint: int,
    radius: float,
    rings: SpaceRings,
    ends: tuple[Attachment, Attachment],
    skeleton: Skeleton,
) -> Wrap | None:
    """The sphere at a joint that a muscle bends over on its own side; None where no side can be told."""
    chord = normalise(ends[1].place - ends[0].place)
    axis = np.cross(rings.outward.mean(axis=0), chord)
    if np.linalg.norm(axis) < 0.1 or radius <= 0.0:
        return None
    return Wrap("sphere", joint, skeleton.bind_world[joint, :3, 3].copy(), normalise(axis), radius)


def on_bone(place: Floats, joint: int, skeleton: Skeleton) -> Floats:
    """The point of a joint's bone that is nearest to a place [m], shape (3,)."""
    start, end = skeleton.bind_world[joint, :3, 3], skeleton.tail_positions()[joint]
    along = end - start
    share = float(np.clip((place - start) @ along / max(float(along @ along), 1e-18), 0.0, 1.0))
    return np.asarray(start + share * along)


def crossed_joint(joints: tuple[int, int], near: Floats, skeleton: Skeleton) -> int:
    """Of the joints between two others, the one nearest to a place."""
    above = [_up(joint, skeleton) for joint in joints]
    between = [j for j in above[0] if j not in above[1]] + [j for j in above[1] if j not in above[0]]
    gaps = np.linalg.norm(skeleton.bind_world[between, :3, 3] - near, axis=1)
    return between[int(np.argmin(gaps))]


def _up(joint: int, skeleton: Skeleton) -> list[int]:
    """A joint and all above it."""
    found = []
    while joint >= 0:
        found.append(joint)
        joint = int(skeleton.parents[joint])
    return found


def merged(one: LoftedMuscle, other: LoftedMuscle, name: str, skeleton: Skeleton) -> LoftedMuscle:
    """One muscle in place of two: in each of some planes across both, the smallest ellipse that covers them.

    It is what the larger of the two was; it has the outermost ends of both, and the force of both.
    """
    large, small = sorted(
        (one, other), key=lambda m: -float(loft(m.rings).moments[0]) * np.linalg.norm(np.ptp(m.ends, axis=0))
    )
    way = normalise(large.ends[1] - large.ends[0])
    reverse = (small.ends[1] - small.ends[0]) @ way < 0.0
    far = small.ends[::-1] if reverse else small.ends
    way = normalise(way + normalise(far[1] - far[0]))
    ends = [Attachment(j, p) for j, p in zip(large.joints, large.ends, strict=True)]
    others = [Attachment(j, p) for j, p in zip(small.joints, small.ends, strict=True)]
    others = others[::-1] if reverse else others
    outer = [
        min(ends[0], others[0], key=lambda a: float(a.place @ way)),
        max(ends[1], others[1], key=lambda a: float(a.place @ way)),
    ]
    if outer[0].joint == outer[1].joint:  # a muscle on one bone alone would never change its length
        outer = ends
    rings = _covering((large, small), way)
    joined = replace(
        large,
        name=name,
        muscle=name if large.muscle == large.name else large.muscle,
        max_force=large.max_force + small.max_force,
        largest_bulge=max(large.largest_bulge, small.largest_bulge),
        prominence=max(large.prominence, small.prominence),
        wrap=large.wrap or small.wrap,
        reach=tuple(dict.fromkeys((*large.reach, *small.reach))),
        joins="",
        painted="",
        actions=(),
    )
    return redrawn(joined, (outer[0], outer[1]), rings, skeleton)


def surface_of(muscle: LoftedMuscle, u: npt.ArrayLike, sides: int = SIDES) -> Floats:
    """Points round the sections of a muscle at bind [m], (K, sides, 3), at shares u (K,) of its length."""
    axes = bind_axes(muscle, u)
    stretch, centre = loft(muscle.rings).at(u)
    angle = 2.0 * np.pi * np.arange(sides) / sides
    circle = np.column_stack([np.cos(angle), np.sin(angle)])
    flat = centre[:, None] + circle @ np.swapaxes(stretch, -1, -2)
    return np.asarray(axes.points[:, None] + flat @ np.stack([axes.out, axes.side], axis=1))


def _covering(muscles: tuple[LoftedMuscle, LoftedMuscle], way: Floats) -> SpaceRings:
    """Ellipses across two muscles, in planes square to ``way``, that cover both."""
    out = sum((np.asarray(normalise(m.outward)) for m in muscles), np.zeros(3))
    x = out - (out @ way) * way
    x = (
        normalise(x)
        if np.linalg.norm(x) > 1e-6
        else normalise(np.cross(way, np.eye(3)[np.abs(way).argmin()]))
    )
    plane = np.stack([x, np.cross(way, x)])
    surfaces = [surface_of(m, np.linspace(0.0, 1.0, STATIONS)[1:-1]) for m in muscles]
    if (muscles[1].ends[1] - muscles[1].ends[0]) @ way < 0.0:
        surfaces[1] = surfaces[1][::-1]
    heights = [np.maximum.accumulate(s @ way, axis=0) for s in surfaces]
    shown = np.concatenate([space_rings_of(m).centre @ way for m in muscles])
    centres, forms, along = [], [], []
    for height in np.linspace(shown.min(), shown.max(), PLANES):
        cut, whole = [], False
        for lines, levels in zip(surfaces, heights, strict=True):
            met = (levels[0] <= height) & (levels[-1] >= height)
            whole |= bool(met.all())
            cut += [
                [np.interp(height, levels[:, k], lines[:, k, axis]) for axis in range(3)]
                for k in np.flatnonzero(met)
            ]
        if not whole:  # between two muscles in a row
            continue
        points = np.array(cut)
        centre, form = enclosing_ellipse(points @ plane.T)
        centres.append(centre @ plane + height * way)
        forms.append(plane.T @ form @ plane)
        along.append(height)
    form, centre = np.stack(forms), np.stack(centres)
    reach = np.sqrt(np.einsum("x,rxy,y->r", x, form, x))
    return SpaceRings(
        centre + reach[:, None] * x, centre, form, np.tile(x, (len(centre), 1)), np.array(along)
    )


def enclosing_ellipse(points: Floats, tolerance: float = 1e-5) -> tuple[Floats, Floats]:
    """The smallest ellipse round points (P, 2): its centre (2,) and ``Σ a² e eᵀ`` of its half-axes (2, 2).

    Khachiyan's method (1996), as Todd and Yildirim (2007) tell it; at the end grown by what its tolerance
    leaves outside.
    """
    places = np.asarray(points, np.float64)
    middle, size = places.mean(axis=0), max(float(np.ptp(places, axis=0).max()), 1e-12)
    local = (places - middle) / size
    lifted = np.column_stack([local, np.ones(len(local))])
    share = np.full(len(local), 1.0 / len(local))
    for _ in range(1000):
        inverse = np.linalg.inv(lifted.T @ (share[:, None] * lifted) + 1e-15 * np.eye(3))
        distance = np.einsum("pi,ij,pj->p", lifted, inverse, lifted)
        farthest = int(np.argmax(distance))
        step = (distance[farthest] - 3.0) / (3.0 * (distance[farthest] - 1.0))
        if step < tolerance:
            break
        share *= 1.0 - step
        share[farthest] += step
    centre = share @ local
    spread = (local - centre).T @ (share[:, None] * (local - centre)) + 1e-12 * np.eye(2)
    away = np.einsum("pi,ij,pj->p", local - centre, np.linalg.inv(spread), local - centre)
    return middle + size * centre, size**2 * float(away.max()) * spread
