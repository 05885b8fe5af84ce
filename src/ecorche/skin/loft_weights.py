"""Which skin follows which muscle found in it, and how much.

Text 001, "Skin Deformation": where the skin is muscular the muscles have the dominating weight, where it is
smooth none. A vertex is told by its place in the nearest section of a muscle: with the ellipse as unit circle
it lies at the radius ρ, 1 on the ellipse, which touches the skin where the muscle shows. The weight is one up
to `OVER` and falls smoothly to zero at `AWAY`; it fades out beyond the first and the last ring, and where
the skin faces away from the muscle, as it does on the far side of a thin limb. Along the muscle it is shared
between the two muscle joints a vertex lies between. Muscle joints take weight from the joint they hang on
alone, so where that has none, they have none.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ecorche.base.mesh import coincident_groups
from ecorche.base.rotations import normalise
from ecorche.base.smooth_step import smooth_step
from ecorche.muscles.lofted_posing import Lofts
from ecorche.skin.hybrid_weights import MuscleWeights
from ecorche.skin.weights import SkinWeights

Floats = npt.NDArray[np.float64]

OVER, AWAY = 1.1, 1.9
"""Skin up to the first radius is wholly over a muscle, from the second on beside it."""
FADE = 0.2
"""Share of a muscle's length over which its weight fades at either end."""
FACING = 0.0, 0.5
"""Cosine of the angle between the skin's normal and the way out of the muscle: none, whole."""
LEAST_CARRIED = 0.03
"""A joint with a smaller share of the skin over a muscle carries no muscle joints."""
STATIONS = 33
"""Places along a muscle between which a vertex is put."""


@dataclass(frozen=True, eq=False, repr=False)
class SkinOver:
    """The skin over M muscles found in it.

    Attributes:
        place: Where along each muscle every vertex lies, share of its length, (M, V).
        weight: How much of every vertex follows each muscle, 0 to 1, (M, V).
    """

    place: Floats
    weight: Floats


def skin_over(
    points: npt.ArrayLike, triangles: npt.ArrayLike, lofts: Lofts, painted: Mapping[int, Floats]
) -> SkinOver:
    """Which skin lies over which muscle.

    Args:
        points: The skin at bind [m], shape (V, 3).
        triangles: Its triangles, shape (T, 3).
        lofts: The muscles.
        painted: Weights (V,) by muscle, in place of those found.
    """
    skin = np.asarray(points, np.float64)
    normals = _normals(skin, np.asarray(triangles))
    count = len(lofts.muscles)
    found = SkinOver(np.zeros((count, len(skin))), np.zeros((count, len(skin))))
    for muscle in range(count):
        found.place[muscle], found.weight[muscle] = _over(lofts, muscle, skin, normals)
        if muscle in painted:
            found.weight[muscle] = painted[muscle]
    return found


def carriers(over: SkinOver, weights: SkinWeights, lofts: Lofts) -> list[tuple[int, ...]]:
    """The joints that carry the skin over each muscle, of those it may move: each has muscle joints.

    A joint that has less than `LEAST_CARRIED` of the skin over a muscle is left out.
    """
    found = []
    vertex = np.repeat(np.arange(weights.vertex_count), np.diff(weights.starts))
    for muscle, wanted in zip(lofts.muscles, over.weight, strict=True):
        carried = np.bincount(weights.joints, weights.weights * wanted[vertex], lofts.curves.joint_count)
        enough = LEAST_CARRIED * carried.sum()
        mine = [joint for joint in muscle.reach if carried[joint] > enough]
        found.append(tuple(mine) or (muscle.carrier,))
    return found


def loft_weights(over: SkinOver, lofts: Lofts) -> MuscleWeights:
    """What the muscle joints of lofts take of each vertex of a skin."""
    vertices, joints = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    weights = [np.zeros(0)]
    for muscle, (u, wanted) in enumerate(zip(over.place, over.weight, strict=True)):
        moved = np.flatnonzero(wanted > 0.0)
        for joint, share in _between_joints(lofts, muscle, u[moved]):
            has = share > 0.0
            vertices.append(moved[has])
            joints.append(np.full(int(has.sum()), joint, np.int64))
            weights.append((wanted[moved] * share)[has])
    entries = np.concatenate(vertices), np.concatenate(joints), np.concatenate(weights)
    return MuscleWeights(*entries, from_parent=True)


def _over(lofts: Lofts, muscle: int, skin: Floats, normals: Floats) -> tuple[Floats, Floats]:
    """Place along a muscle (V,) and weight (V,) of every vertex."""
    still = lofts.posed(np.zeros((lofts.curves.joint_count, 4, 4)))
    stations = np.linspace(0.0, 1.0, STATIONS)[1:-1]  # the ends have no section
    axes, stretch, centre = still.sections(muscle, stations)
    middle = axes.points + centre[:, :1] * axes.out + centre[:, 1:] * axes.side
    reach = AWAY * float(np.linalg.norm(stretch, ord=2, axis=(1, 2)).max())
    low, high = middle.min(axis=0) - reach, middle.max(axis=0) + reach
    near = np.flatnonzero(((skin >= low) & (skin <= high)).all(axis=1))
    u, weight = np.zeros(len(skin)), np.zeros(len(skin))
    if len(near) == 0:
        return u, weight
    u[near], before, share = _places(skin[near], middle, stations)

    def between(values: Floats) -> Floats:
        part = share.reshape(-1, *(1,) * (values.ndim - 1))
        return np.asarray((1.0 - part) * values[before] + part * values[before + 1])

    away = skin[near] - between(middle)
    flat = np.stack([(away * between(axes.out)).sum(1), (away * between(axes.side)).sum(1)], axis=1)
    on_circle = np.linalg.solve(between(stretch), flat[..., None])[..., 0]
    radius = np.linalg.norm(on_circle, axis=1)
    beside = 1.0 - smooth_step((radius - OVER) / (AWAY - OVER))
    facing = (normals[near] * normalise(away)).sum(axis=1)
    outside = smooth_step((facing - FACING[0]) / (FACING[1] - FACING[0]))
    knots = lofts.shapes[muscle].knots
    first, last = max(knots[1] - 0.5 * FADE, 0.0), min(knots[-2] + 0.5 * FADE, 1.0)
    along = smooth_step((u[near] - first) / FADE) * smooth_step((last - u[near]) / FADE)
    weight[near] = beside * outside * along
    return u, weight


def _places(points: Floats, middle: Floats, stations: Floats) -> tuple[Floats, npt.NDArray[np.int64], Floats]:
    """Nearest places on a line of section middles: u, the station before, and the share beyond it."""
    step = np.diff(middle, axis=0)
    squared = np.maximum((step * step).sum(axis=1), 1e-30)
    share = np.clip(np.einsum("vsk,sk->vs", points[:, None] - middle[None, :-1], step) / squared, 0.0, 1.0)
    foot = middle[None, :-1] + share[..., None] * step
    nearest = np.argmin(((points[:, None] - foot) ** 2).sum(axis=2), axis=1)
    rows = np.arange(len(points))
    part = share[rows, nearest]
    u = (1.0 - part) * stations[nearest] + part * stations[nearest + 1]
    return u, nearest, part


def _between_joints(lofts: Lofts, muscle: int, u: Floats) -> list[tuple[int, Floats]]:
    """The muscle joints of a muscle with their shares of vertices at u (V,), for every carrier by itself."""
    found = []
    mine = np.flatnonzero(lofts.joints.muscles == muscle)
    for carrier in dict.fromkeys(lofts.joints.parents[mine].tolist()):
        row = mine[lofts.joints.parents[mine] == carrier]
        places = lofts.joint_places[row]
        for number, joint in enumerate(row.tolist()):
            hat = np.zeros(len(row))
            hat[number] = 1.0
            found.append((joint, np.interp(u, places, hat)))
    return found


def _normals(points: Floats, triangles: npt.NDArray[np.integer]) -> Floats:
    """Unit normals of the vertices, by the triangles' areas, shape (V, 3); seams have one normal."""
    which = coincident_groups(points)
    a, b, c = (points[triangles[:, k]] for k in range(3))
    across = np.repeat(np.cross(b - a, c - a), 3, axis=0)
    corners, count = which[triangles.ravel()], int(which.max(initial=-1)) + 1
    total = np.stack([np.bincount(corners, across[:, k], minlength=count) for k in range(3)], axis=1)
    return normalise(total)[which]
